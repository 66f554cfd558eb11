//! Requests from a program to Valgrind, which executes it. Processors ignore them.
//!
//! A request is a sequence of instructions that rotates a register all the way round and exchanges another with itself.
//! Valgrind recognizes it. This is implemented for x86-64 only; elsewhere Valgrind is never detected.

#[cfg(picollo_linux)]
use core::sync::atomic::{AtomicU8, Ordering};

const RUNNING_ON_VALGRIND: u64 = 0x1001;

/// Whether Valgrind executes this, with any tool. It takes about ten instructions.
pub fn is_running() -> bool {
    send(&[RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
}

/// Whether the kernel's counters are refused: Valgrind lets `perf_event_open` through, so they would count Valgrind's
/// own work. `PICOLLO_PERF_UNDER_VALGRIND`, with any value, allows them, for programs that memcheck checks.
#[cfg(picollo_linux)]
pub fn refuses_counters() -> bool {
    // Looked up once: the environment may change under a reader. A lock could be held forever in a forked child.
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

/// Valgrind's answer; 0 without Valgrind.
#[cfg(all(picollo_linux, target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn send(message: &[u64; 6]) -> u64 {
    let mut answer = 0u64;
    // SAFETY: natively, rdi is rotated by 128 bits, which does not change it, and rbx is exchanged with itself; only
    // flags change. Valgrind reads the message and puts its answer into rdx.
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

    /// Natively there is no answer, and nothing happens. (Under Valgrind `c-tests/compare.c` tests it.)
    #[test]
    fn a_processor_does_not_answer() {
        assert!(!is_running());
        #[cfg(picollo_linux)]
        assert!(!refuses_counters());
    }
}
