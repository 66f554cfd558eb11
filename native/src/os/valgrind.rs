//! What a program says to Valgrind, which executes it: requests that a processor takes for nothing.
//!
//! A request is a sequence of instructions that rotate a register all the way round and exchange another with itself. Valgrind knows it
//! when it meets it. It is known here for x86-64 only; elsewhere nobody is found to listen.

use core::ffi::CStr;
#[cfg(picollo_linux)]
use core::sync::atomic::{AtomicU8, Ordering};

const RUNNING_ON_VALGRIND: u64 = 0x1001;
// Callgrind's own: other tools do not listen to them.
const CALLGRIND: u64 = 0x4354_0000;
const ZERO: u64 = CALLGRIND + 1;
const TOGGLE_COLLECT: u64 = CALLGRIND + 2;
const DUMP_AT: u64 = CALLGRIND + 3;

/// Whether Valgrind executes this, with any tool. Some ten instructions.
pub(crate) fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, 0) != 0
}

/// Whether counters of the kernel are refused: under Valgrind, which lets `perf_event_open` through, they would count what Valgrind takes to
/// execute this program. `PICOLLO_PERF_UNDER_VALGRIND`, with any value, allows them, for programs that are checked by memcheck.
#[cfg(picollo_linux)]
pub(crate) fn refuses_counters() -> bool {
    // Looked up once: the environment may change under a reader. No lock: a child forked meanwhile would find it held for ever.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let refuses = is_running() && std::env::var_os("PICOLLO_PERF_UNDER_VALGRIND").is_none();
            KNOWN.store(1 + u8::from(refuses), Ordering::Relaxed);
            refuses
        }
        known => known == 2,
    }
}

/// Forgets what was collected so far, of all threads.
pub(crate) fn zero() {
    request(ZERO, 0);
}

/// From now on the instructions of this thread are collected, or, when they were, no more.
#[inline(always)]
pub(crate) fn toggle() {
    request(TOGGLE_COLLECT, 0);
}

/// Writes what was collected to a file that has this name in it, and forgets it.
pub(crate) fn dump(name: &CStr) {
    request(DUMP_AT, name.as_ptr() as u64);
}

/// A number that only the calling thread has.
pub(crate) fn thread() -> u64 {
    #[cfg(picollo_linux)]
    return super::thread::token();
    #[cfg(not(picollo_linux))]
    0
}

/// What Valgrind answers; 0 where there is none.
#[inline(always)]
fn request(number: u64, argument: u64) -> u64 {
    let message = [number, argument, 0, 0, 0, 0];
    send(&message)
}

#[cfg(all(picollo_linux, target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn send(message: &[u64; 6]) -> u64 {
    let mut answer = 0u64;
    // SAFETY: natively rdi is rotated by 128 bits, which leaves it as it was, and rbx exchanged with itself; only flags change. Valgrind
    // reads the message, and the name that it may lead to, and puts its answer into rdx.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") message.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(all(picollo_linux, target_arch = "x86_64", not(miri))))]
fn send(_: &[u64; 6]) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Natively nobody answers, and nothing happens. (Under Valgrind it is `cli/tests/counted_benchmarks.rs` that tests them.)
    #[test]
    fn a_processor_does_not_answer() {
        assert!(!is_running());
        #[cfg(picollo_linux)]
        assert!(!refuses_counters());
        zero();
        toggle();
        dump(c"nobody reads this");
        assert_eq!(request(TOGGLE_COLLECT, u64::MAX), 0);
    }
}
