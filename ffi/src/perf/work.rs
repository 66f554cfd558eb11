//! Known work: code whose cost is known in advance, to check clocks and counters.

use crate::guard::guard_void;

/// Runs repetitions times 256 dependent additions. Each takes one instruction and, on most processors, one cycle. The
/// loop takes two more instructions per repetition, which run in parallel with the chain.
///
/// Cost: 256 cycles per repetition, on processors that add in one cycle.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_work_add_chain_256(repetitions: u64) {
    guard_void(|| picollo_native::work::add_chain_256(repetitions));
}
