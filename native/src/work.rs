//! Known work: code whose cycles and instructions are known in advance, to check clocks and counters against.

#[cfg(picollo_linux)]
unsafe extern "C" {
    fn picollo_asm_work_add_chain_256(repetitions: u64);
}

/// Runs `repetitions` times 256 dependent additions: one cycle and one instruction each. The loop adds two instructions
/// per repetition, beside the chain. (Except on x86-64 and aarch64, the loop is inside the chain and costs more.)
///
/// It takes no lock and touches no memory. Cost: about `repetitions · 256` cycles.
pub fn add_chain_256(repetitions: u64) {
    // SAFETY: the function takes a plain integer, touches registers only and returns after a finite loop.
    #[cfg(picollo_linux)]
    unsafe {
        picollo_asm_work_add_chain_256(repetitions);
    }
    #[cfg(not(picollo_linux))]
    for _ in 0..repetitions {
        add_256();
    }
}

/// The chain of `asm/work.c`, if C is not compiled. (The shortest jumps of small processors do not reach over 256
/// additions in a row.)
#[cfg(not(picollo_linux))]
fn add_256() {
    // The compiler must not learn that the addend is 1.
    let (mut sum, addend) = (0usize, core::hint::black_box(1usize));
    #[cfg(target_arch = "x86_64")]
    // SAFETY: changes one register and the flags.
    unsafe {
        core::arch::asm!(".rept 256", "add {0}, {1}", ".endr", inout(reg) sum, in(reg) addend, options(nomem, nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for _ in 0..256 {
        sum = core::hint::black_box(sum.wrapping_add(addend));
    }
    core::hint::black_box(sum);
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
