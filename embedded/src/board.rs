//! Everything that a Cortex-M needs to run a program: vectors, startup, critical sections, a timer, and an output.
//!
//! It contains only what the programs here use; a real program uses the crates for its board.

#![no_std]
#![cfg(target_os = "none")]

use core::arch::asm;
use core::fmt;
use core::ptr::{read_volatile, write_volatile};

unsafe extern "C" {
    static mut data_start: u32;
    static data_end: u32;
    static data_source: u32;
    static mut bss_start: u32;
    static bss_end: u32;
    #[cfg(feature = "alloc")]
    static mut heap_start: u8;
    static stack_top: u32;
}

unsafe extern "Rust" {
    /// The program, which returns the number of failed tests.
    safe fn program() -> u32;
    /// The timer calls this.
    safe fn tick();
}

/// An entry of the vector table.
#[repr(C)]
union Vector {
    handler: unsafe extern "C" fn(),
    stack: *const u32,
    none: usize,
}
// SAFETY: it is constant, and only the processor reads it.
unsafe impl Sync for Vector {}

const FAULT: Vector = Vector { handler: fault };
const NONE: Vector = Vector { none: 0 };

#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: [Vector; 16] = [
    Vector { stack: &raw const stack_top },
    Vector { handler: reset },
    FAULT,
    FAULT,
    FAULT,
    FAULT,
    FAULT,
    NONE,
    NONE,
    NONE,
    NONE,
    FAULT,
    NONE,
    NONE,
    FAULT,
    Vector { handler: systick },
];

/// The processor starts here.
///
/// # Safety
/// Only the processor may call it, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reset() {
    // SAFETY: the linker script defines the sections, and nothing has used them yet. This is assembly, because a loop
    // over uninitialized memory has no meaning in Rust.
    unsafe {
        asm!(
            "b 2f", "1: ldm {from}!, {{{word}}}", "stm {to}!, {{{word}}}", "2: cmp {to}, {end}", "blo 1b",
            from = inout(reg) &raw const data_source => _, to = inout(reg) &raw mut data_start => _,
            end = in(reg) &raw const data_end, word = out(reg) _
        );
        asm!(
            "b 2f", "1: stm {to}!, {{{zero}}}", "2: cmp {to}, {end}", "blo 1b",
            to = inout(reg) &raw mut bss_start => _, end = in(reg) &raw const bss_end, zero = in(reg) 0
        );
    }
    exit(program());
}

/// Ends the program with an exit status.
pub fn exit(code: u32) -> ! {
    // This is "Extended exit": it reports the exit of an application, with its status.
    let block = [0x2_0026, code];
    semihosting(0x20, block.as_ptr().addr());
    loop {}
}

extern "C" fn fault() {
    say("FAULT\n");
    exit(99);
}

extern "C" fn systick() {
    tick();
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = fmt::write(&mut Console, format_args!("{info}\n"));
    exit(98);
}

/// Sends a request to the debugger, here the emulator.
fn semihosting(operation: usize, argument: usize) -> usize {
    let answer;
    // SAFETY: the operations used here only read the memory that the argument points to.
    unsafe {
        asm!("bkpt 0xab", inout("r0") operation => answer, in("r1") argument, options(nostack));
    }
    answer
}

/// Prints a text.
fn say(text: &str) {
    // Each piece has at most 63 bytes and a NUL.
    let mut buffer = [0u8; 64];
    for piece in text.as_bytes().chunks(63) {
        buffer[..piece.len()].copy_from_slice(piece);
        buffer[piece.len()] = 0;
        semihosting(0x04, buffer.as_ptr().addr());
    }
}

/// The debugger's console.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        say(text);
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

const SYSTICK: *mut u32 = 0xe000_e010 as *mut u32;

/// Makes the timer call `tick` every `cycles` cycles.
pub fn start_timer(cycles: u32) {
    // SAFETY: these are the registers of the timer, which every Cortex-M here has: reload, current, and control.
    unsafe {
        write_volatile(SYSTICK.add(1), cycles - 1);
        write_volatile(SYSTICK.add(2), 0);
        write_volatile(SYSTICK, 7);
    }
}

/// Stops the timer.
pub fn stop_timer() {
    // SAFETY: as above.
    unsafe {
        write_volatile(SYSTICK, 0);
        let _ = read_volatile(SYSTICK);
        asm!("dsb", "isb", options(nostack));
    }
}

struct Interrupts;
critical_section::set_impl!(Interrupts);

// SAFETY: there is one core, and interrupts are off in between, so nobody else runs.
unsafe impl critical_section::Impl for Interrupts {
    unsafe fn acquire() -> bool {
        let masked: u32;
        // SAFETY: this only reads and sets the mask.
        unsafe { asm!("mrs {0}, PRIMASK", "cpsid i", out(reg) masked, options(nostack)) };
        masked & 1 != 0
    }

    unsafe fn release(was_masked: bool) {
        if !was_masked {
            // SAFETY: interrupts were on before.
            unsafe { asm!("cpsie i", options(nostack)) };
        }
    }
}

/// Memory that is allocated from the bottom and never freed, up to a kilobyte or two below the stack.
#[cfg(feature = "alloc")]
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
