//! What the Rust program needs of a Cortex-M beyond `c/start.c`, which has its vectors and start-up: an output, critical
//! sections, tests, and memory.
//!
//! It contains only what that program uses; a real one uses the crates for its board.

#![no_std]
#![cfg(target_os = "none")]

use core::fmt;

// The program defines `main`, which returns the number of failed tests, and `tick`, which the timer calls.
unsafe extern "C" {
    fn say(text: *const u8);
    fn leave(code: u32) -> !;
    /// Makes the timer call `tick` every so many cycles; 0 stops it.
    pub safe fn start_timer(cycles: u32);
    safe fn picollo_critical_section_enter() -> u32;
    safe fn picollo_critical_section_leave(masked: u32);
    static mut heap_start: u8;
    static stack_top: u32;
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = fmt::write(&mut Console, format_args!("{info}\n"));
    // SAFETY: ends the program.
    unsafe { leave(98) }
}

/// The debugger's console.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Each piece has at most 63 bytes and a NUL.
        for piece in text.as_bytes().chunks(63) {
            let mut buffer = [0u8; 64];
            buffer[..piece.len()].copy_from_slice(piece);
            // SAFETY: it ends with a NUL.
            unsafe { say(buffer.as_ptr()) };
        }
        Ok(())
    }
}

/// Counts passed and failed tests.
#[derive(Default)]
pub struct Tests {
    passed: u32,
    failed: u32,
}

impl Tests {
    /// Notes the outcome of a test, and prints it.
    pub fn check(&mut self, good: bool, what: fmt::Arguments<'_>) {
        *(if good { &mut self.passed } else { &mut self.failed }) += 1;
        let _ = fmt::write(&mut Console, format_args!("{}: {what}\n", if good { "ok" } else { "FAILED" }));
    }

    /// Prints the totals, and returns the number of failed tests.
    pub fn finish(&self) -> u32 {
        let _ = fmt::write(&mut Console, format_args!("{} passed, {} failed\n", self.passed, self.failed));
        self.failed
    }
}

struct Interrupts;
critical_section::set_impl!(Interrupts);

// SAFETY: there is one core, and interrupts are off in between, so nobody else runs.
unsafe impl critical_section::Impl for Interrupts {
    unsafe fn acquire() -> bool {
        picollo_critical_section_enter() & 1 != 0
    }

    unsafe fn release(was_masked: bool) {
        picollo_critical_section_leave(was_masked.into());
    }
}

/// Memory that is allocated from the bottom and never freed, up to a kilobyte or two below the stack.
mod heap {
    use core::alloc::{GlobalAlloc, Layout};
    use core::cell::Cell;
    use core::ptr::null_mut;
    use critical_section::Mutex;

    const FOR_THE_STACK: usize = 4096;

    struct Bump(Mutex<Cell<usize>>);

    #[global_allocator]
    static HEAP: Bump = Bump(Mutex::new(Cell::new(0)));

    // SAFETY: blocks never overlap, because the end only rises, within a critical section.
    unsafe impl GlobalAlloc for Bump {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let limit = (&raw const super::stack_top).addr() - FOR_THE_STACK;
            critical_section::with(|section| {
                let used = self.0.borrow(section);
                let start =
                    ((&raw mut super::heap_start).addr() + used.get()).next_multiple_of(layout.align());
                match start.checked_add(layout.size()) {
                    Some(end) if end <= limit => {
                        used.set(end - (&raw mut super::heap_start).addr());
                        start as *mut u8
                    }
                    _ => null_mut(),
                }
            })
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }
}
