//! What a library without `std` has to provide itself.

/// Panics end here, because nothing can unwind. Recording cannot panic, and no input of a caller leads here.
#[panic_handler]
fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
    // An undefined instruction: a fault handler or a debugger sees it, which an endless loop would hide from them.
    #[cfg(target_arch = "arm")]
    // SAFETY: does not return.
    unsafe {
        core::arch::asm!("udf #0", options(noreturn, nomem, nostack));
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    // SAFETY: does not return.
    unsafe {
        core::arch::asm!("ud2", options(noreturn, nomem, nostack));
    }
    #[cfg(not(any(target_arch = "arm", target_arch = "x86_64", target_arch = "x86")))]
    loop {
        core::hint::spin_loop();
    }
}

// The compiled `core` of hosted targets refers to the personality of unwinding, which is never called. Weak and hidden: a
// program that has the real one keeps it.
#[cfg(target_os = "linux")]
core::arch::global_asm!(".weak rust_eh_personality", ".hidden rust_eh_personality", "rust_eh_personality:");

/// Critical sections, for what the target cannot do in one step: two functions that the program provides. They may
/// nest; `leave` gets what its `enter` returned, such as whether interrupts were on.
#[cfg(feature = "critical-section")]
mod critical {
    unsafe extern "C" {
        fn picollo_critical_section_enter() -> u32;
        fn picollo_critical_section_leave(state: u32);
    }

    struct Provided;
    critical_section::set_impl!(Provided);

    // SAFETY: the program's functions keep everybody else out between them, as docs/embedded.md demands.
    unsafe impl critical_section::Impl for Provided {
        unsafe fn acquire() -> u32 {
            // SAFETY: plain functions without requirements.
            unsafe { picollo_critical_section_enter() }
        }

        unsafe fn release(state: u32) {
            // SAFETY: with what the matching `enter` returned, as the caller promises.
            unsafe { picollo_critical_section_leave(state) }
        }
    }
}
