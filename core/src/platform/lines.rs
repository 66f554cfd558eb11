//! Where code lies.

/// Lets the functions of a section start on a cache line of 64 bytes: a short hot function costs up to half a nanosecond more where
/// it lies across two lines. An exported function has a section of its name (`.text.NAME`); another one is put into one by
/// `link_section`.
///
/// Rust has no attribute for it. A piece of the same section, empty and aligned, aligns the whole section, as long as it is assembled
/// into the same object: so with link-time optimisation or one code unit. Elsewhere it aligns nothing, and does no harm.
/// `ci/cost.sh assembly` looks at the addresses in the shipped library.
#[doc(hidden)]
#[macro_export]
macro_rules! start_on_a_line {
    ($($section:literal),+ $(,)?) => {
        $(
            #[cfg(all(target_os = "linux", not(miri)))]
            ::core::arch::global_asm!(concat!(".pushsection ", $section, ",\"ax\",%progbits\n.p2align 6\n.popsection"));
        )+
    };
}

pub(crate) use start_on_a_line;
