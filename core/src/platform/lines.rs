//! Alignment of code.

/// Starts the functions of a section on a cache line of 64 bytes. A short hot function costs up to half a nanosecond
/// more if it crosses two lines. An exported function has a section of its name (`.text.NAME`); `link_section` puts
/// another function into a section.
///
/// Rust has no attribute for this. An empty, aligned piece of the same section aligns the whole section if it is
/// assembled into the same object: with link-time optimization or one code unit. Otherwise it aligns nothing, and does
/// no harm. `ci/cost.sh assembly` checks the addresses in the shipped library.
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
