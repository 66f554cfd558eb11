//! Known work.
//!
//! Code whose cost is known in advance, to check clocks and counters against.

use crate::guard::guard_void;

/// Runs repetitions times 256 dependent additions: one cycle and one instruction apiece, and two instructions a
/// repetition for the loop, which run beside the chain.
///
/// Cost: 256 cycles a repetition, on processors that add in one cycle.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_work_add_chain_256(repetitions: u64) {
    guard_void(|| picollo_native::work::add_chain_256(repetitions));
}
