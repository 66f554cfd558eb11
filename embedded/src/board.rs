//! What a Cortex-M needs to run a program: vectors, start-up, critical sections, a timer, and a way to say something.
//!
//! Only what the programs here use; a real program takes its board's crates for this.

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
    /// The program, which ends with the number of tests that failed.
    safe fn program() -> u32;
    /// Called by the timer.
    safe fn tick();
}

/// An entry of the vector table.
#[repr(C)]
union Vector {
    handler: unsafe extern "C" fn(),
    stack: *const u32,
    none: usize,
}
// SAFETY: constant, and read by the processor only.
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

/// Where the processor starts.
///
/// # Safety
/// Called by the processor, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reset() {
    // SAFETY: the linker script says where the sections are, and nothing has used them yet. In assembly, since a loop over
    // memory that is not initialised has no meaning in Rust.
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

/// Ends the program with a status.
pub fn exit(code: u32) -> ! {
    // "Extended exit": that of an application, with its status.
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

/// Asks the debugger, here the emulator, for something.
fn semihosting(operation: usize, argument: usize) -> usize {
    let answer;
    // SAFETY: the operations used here read the memory that the argument leads to, and change none.
    unsafe {
        asm!("bkpt 0xab", inout("r0") operation => answer, in("r1") argument, options(nostack));
    }
    answer
}

/// Says something.
fn say(text: &str) {
    // Of at most 63 bytes and a NUL.
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

/// Counts tests.
#[derive(Default)]
pub struct Tests {
    passed: u32,
    failed: u32,
}

impl Tests {
    /// Notes the outcome of a test, and tells it.
    pub fn check(&mut self, good: bool, what: fmt::Arguments<'_>) {
        *(if good { &mut self.passed } else { &mut self.failed }) += 1;
        let _ = fmt::write(&mut Console, format_args!("{}: {what}\n", if good { "ok" } else { "FAILED" }));
    }

    /// Tells the sum; the number of tests that failed.
    pub fn finish(&self) -> u32 {
        let _ = fmt::write(&mut Console, format_args!("{} passed, {} failed\n", self.passed, self.failed));
        self.failed
    }
}

const SYSTICK: *mut u32 = 0xe000_e010 as *mut u32;

/// Lets the timer call `tick` every so many cycles.
pub fn start_timer(cycles: u32) {
    // SAFETY: the registers of the timer, which every Cortex-M here has: reload, current, and control.
    unsafe {
        write_volatile(SYSTICK.add(1), cycles - 1);
        write_volatile(SYSTICK.add(2), 0);
        write_volatile(SYSTICK, 7);
    }
}

/// Stops it.
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

// SAFETY: one core, and interrupts are off in between: nobody else runs.
unsafe impl critical_section::Impl for Interrupts {
    unsafe fn acquire() -> bool {
        let masked: u32;
        // SAFETY: reads and sets the mask.
        unsafe { asm!("mrs {0}, PRIMASK", "cpsid i", out(reg) masked, options(nostack)) };
        masked & 1 != 0
    }

    unsafe fn release(was_masked: bool) {
        if !was_masked {
            // SAFETY: they were on before.
            unsafe { asm!("cpsie i", options(nostack)) };
        }
    }
}

/// Memory that is given out from the bottom and never taken back, up to a kilobyte or two below the stack.
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

    // SAFETY: blocks never overlap, since the end only rises, within a critical section.
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
