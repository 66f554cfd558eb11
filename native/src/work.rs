//! Known work: code whose cycles and instructions are known in advance, to check clocks and counters against.

/// Runs `repetitions` times 256 dependent additions: one cycle and one instruction each. The loop adds two instructions
/// per repetition, beside the chain. (Except on x86-64 and aarch64, the loop is inside the chain and costs more. On
/// processors without stable inline assembly in Rust, the sum is also in memory.)
///
/// It takes no lock and touches no memory. Cost: about `repetitions · 256` cycles.
// It must not be inlined: a known number of repetitions would unroll the loop.
#[inline(never)]
pub fn add_chain_256(repetitions: u64) {
    // The addend is in a register on purpose. Recent Intel cores (Golden Cove and later) add a small immediate when they
    // rename registers, so in a chain of `add $1, reg` each addition takes far less than a cycle.
    let (mut sum, addend) = (0usize, core::hint::black_box(1usize));
    for _ in 0..repetitions {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: changes one register and the flags.
        unsafe {
            core::arch::asm!(".rept 256", "add {0}, {1}", ".endr", inout(reg) sum, in(reg) addend, options(nomem, nostack));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: changes one register.
        unsafe {
            core::arch::asm!(".rept 256", "add {0}, {0}, {1}", ".endr", inout(reg) sum, in(reg) addend, options(nomem, nostack));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        for _ in 0..256 {
            sum = hidden(sum.wrapping_add(addend));
        }
    }
    core::hint::black_box(sum);
}

/// The same number, of which the compiler knows nothing: it cannot merge two additions. `black_box` would do that in
/// memory.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn hidden(mut number: usize) -> usize {
    core::cfg_select! {
        any(target_arch = "x86", target_arch = "arm", target_arch = "riscv64", target_arch = "s390x") => {
            // SAFETY: there is no instruction.
            unsafe {
                core::arch::asm!("/* {0} */", inout(reg) number, options(nomem, nostack, preserves_flags));
            }
        }
        _ => number = core::hint::black_box(number),
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, TimeUnit};

    /// The fastest of many runs, in picoseconds.
    fn best_of(runs: u32, repetitions: u64) -> u64 {
        let one = |_| {
            let start = Clock::Tsc.ticks_ordered();
            add_chain_256(repetitions);
            Clock::Tsc.convert(Clock::Tsc.ticks_ordered().saturating_sub(start), TimeUnit::Picos)
        };
        (0..runs).map(one).min().unwrap_or(0)
    }

    #[test]
    fn time_grows_by_256_cycles_a_repetition() {
        Clock::init();
        add_chain_256(0);
        let (short, long) = (best_of(200, 100), best_of(200, 1100));
        let per_add = (long - short) / (1000 * 256);
        eprintln!("an addition takes {per_add} ps");
        // A cycle between 8 GHz and 400 MHz (an emulator is even slower, never faster).
        assert!(per_add >= 125, "{per_add} ps: the chain is not a chain");
    }
}
