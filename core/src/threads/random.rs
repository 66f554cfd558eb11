//! Random numbers for approximate counting: one generator for each thread, seeded differently in each thread and
//! process. The child of a fork continues with the numbers of its parent.

use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;

/// Returns the next random number, never 0.
#[inline]
pub(crate) fn next() -> u64 {
    #[cfg(feature = "std")]
    if let Some(number) = crate::threads::tables::random().or_else(crate::threads::tables::seed) {
        return number;
    }
    next_of_all()
}

/// For builds without threads, and threads that cannot keep a generator. Two threads that race here may get the same
/// number, which is equally random for each.
fn next_of_all() -> u64 {
    /// 2^64 over the golden ratio.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    #[cfg(loom)]
    loom::lazy_static! { static ref STATE: AtomicU64 = AtomicU64::new(GOLDEN); }
    #[cfg(not(loom))]
    static STATE: AtomicU64 = AtomicU64::new(GOLDEN);
    let number = xorshift(STATE.load(Relaxed));
    STATE.store(number, Relaxed);
    number
}

/// One step of a 64-bit xorshift generator (Marsaglia, 2003): a permutation of the numbers other than 0, in one cycle.
#[inline(always)]
pub(crate) const fn xorshift(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}
