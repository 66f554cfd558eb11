//! Counters of one word that many writers share, and what they trade for speed.
//!
//! | counter | what a writer does | counts |
//! |---|---|---|
//! | [`add_racing`] | load, add, store | too few, without a bound: for comparison |
//! | [`add_interlocked`] | atomic add | all |
//! | [`add_approximately`] | atomic add of `2^k` with probability `2^-k` | about all; σ is about 1 % |
//! | [`add_capped`] | the same with a largest step | more and more exactly once the cap is reached |
//! | [`add_sensing`] | compare-and-swap; only when that fails, the above | all, if writers seldom meet |
//! | [`StripedCounter`](crate::counters::StripedCounter) | atomic add to one of sixteen words | all; reading adds sixteen words |
//!
//! The approximate ones are the scalable statistics counters of Dice, Lev and Moir (2013). A cell counts exactly to a
//! threshold of `2^t`. From there on it counts in steps: with `k = floor(log2 count) - (t - 1)`, an event adds `2^k`
//! with probability `2^-k`, and otherwise writes nothing. So the busier a cell, the less often writers contend for it,
//! while the expected count is exact. The deviation comes from the steps of each power of two: σ is about
//! `2^-((t + 1) / 2) * sqrt(4/3)` of the count, 0.9 % for the default threshold of `2^13`; each additional bit of `t`
//! divides it by `sqrt(2)`.
//!
//! Each thread has a separate random number generator. Counters of 32 and 64 bits count modulo `2^32` and `2^64`: each
//! call returns how often they wrapped.

use crate::cells::cell::Counter;
use crate::threads::random;

/// Cells count exactly below two to this power.
pub const SCALABLE_THRESHOLD_BITS: u32 = 13;

/// Adds regardless of other writers: their concurrent additions get lost. Returns how often the cell wrapped around.
#[inline]
pub fn add_racing<C: Counter>(cell: &C, count: u64) -> u64 {
    cell.add_alone(count)
}

/// Adds exactly, regardless of other writers. Returns how often the cell wrapped around.
#[inline]
pub fn add_interlocked<C: Counter>(cell: &C, count: u64) -> u64 {
    cell.add_shared(count)
}

/// Adds to a cell as one of many writers, by the rule above with a threshold of `2^threshold_bits`, which is clamped to
/// 1 ..= 31. Returns how often the cell wrapped around.
#[inline]
pub fn add_approximately<C: Counter>(cell: &C, count: u64, threshold_bits: u32) -> u64 {
    add_capped(cell, count, threshold_bits, u64::BITS - 1)
}

/// Does the same as [`add_approximately`], with steps of at most `2^cap_bits`: an event writes with a probability of at
/// least `2^-cap_bits`. When the cap is reached, from a count of `2^(threshold_bits + cap_bits)` on, the relative error
/// falls again, as `sqrt(2^cap_bits / count)`. A cap of 10 (1/1024) leaves little contention.
#[inline]
pub fn add_capped<C: Counter>(cell: &C, count: u64, threshold_bits: u32, cap_bits: u32) -> u64 {
    match level(cell.load(), threshold_bits).min(cap_bits) {
        0 => cell.add_shared(count),
        level => add_in_steps(cell, count, level, random::next()),
    }
}

/// Adds exactly unless another writer interferes; then it adds a step as [`add_approximately`] does. So an uncontended
/// counter is exact, and writers do not fight for a contended one. Returns how often the cell wrapped around.
#[inline]
pub fn add_sensing<C: Counter>(cell: &C, count: u64, threshold_bits: u32) -> u64 {
    let seen = cell.load();
    // Drawn before the code knows whether it needs the number. If it was drawn only after a failed exchange, the
    // numbers were not random, and neither were those left to other counters of the thread. Both were off by about 1 %
    // on average when threads met, with this generator and with others. Simulations in which time does not depend on
    // the numbers do not show it. Presumably the exchange changes what processors that run ahead draw.
    let random = if level(seen, threshold_bits) == 0 { None } else { Some(random::next()) };
    match cell.try_add(seen, count) {
        Ok(wraps) => wraps,
        Err(seen) => match level(seen, threshold_bits) {
            0 => cell.add_shared(count),
            level => add_in_steps(cell, count, level, random.unwrap_or_else(random::next)),
        },
    }
}

/// Returns the binary logarithm of the step at a count; 0 if it counts exactly.
#[inline(always)]
const fn level(seen: u64, threshold_bits: u32) -> u32 {
    let threshold_bits = match threshold_bits {
        0 => 1,
        1..=31 => threshold_bits,
        _ => 31,
    };
    if seen >> threshold_bits == 0 { 0 } else { seen.ilog2() + 1 - threshold_bits }
}

/// Adds in steps of `2^level`, with a nonzero `level`: whole steps directly, and for the rest of `count` one step with
/// the probability that makes the expectation correct.
#[inline(always)]
pub(crate) fn add_in_steps<C: Counter>(cell: &C, count: u64, level: u32, random: u64) -> u64 {
    let step = 1u64 << level;
    let rest = count & (step - 1);
    let mut sum = count - rest;
    // The high bits of the generator are its best.
    if random >> (64 - level) < rest {
        match sum.checked_add(step) {
            Some(more) => sum = more,
            // An addition of 2^64 leaves the cell unchanged.
            None => return crate::cells::tallies::wraps_of_64_bits(1, C::BITS),
        }
    }
    if sum == 0 { 0 } else { cell.add_shared(sum) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::histograms::striped::StripedCounter;
    use crate::platform::atomics::Ordering::Relaxed;
    use crate::platform::atomics::{AtomicU32, AtomicU64};
    use std::vec::Vec;

    /// Returns the relative errors of many counters after this many events.
    fn errors(trials: u32, events: u64, add: impl Fn(&AtomicU64)) -> Vec<f64> {
        let trial = |_| {
            let cell = AtomicU64::new(0);
            (0..events).for_each(|_| add(&cell));
            Counter::load(&cell) as f64 / events as f64 - 1.0
        };
        (0..trials).map(trial).collect()
    }

    fn mean_and_deviation(errors: &[f64]) -> (f64, f64) {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let squares = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>();
        (mean, (squares / errors.len() as f64).sqrt())
    }

    #[test]
    fn exact_below_the_threshold() {
        let (wide, narrow) = (AtomicU64::new(0), AtomicU32::new(0));
        for threshold_bits in [1, 8, 13] {
            wide.store(0, Relaxed);
            narrow.store(0, Relaxed);
            for count in 1..=1u64 << threshold_bits {
                add_approximately(&wide, 1, threshold_bits);
                add_capped(&narrow, 1, threshold_bits, 10);
                assert_eq!((Counter::load(&wide), Counter::load(&narrow)), (count, count));
            }
        }
    }

    #[test]
    fn the_expectation_is_right_and_the_deviation_as_stated() {
        for threshold_bits in [6, 9] {
            let errors = errors(300, 100_000, |cell| {
                add_approximately(cell, 1, threshold_bits);
            });
            let (mean, deviation) = mean_and_deviation(&errors);
            let stated = 2f64.powf(-f64::from(threshold_bits + 1) / 2.0) * (4.0f64 / 3.0).sqrt();
            assert!(mean.abs() < 5.0 * stated / 300f64.sqrt(), "{threshold_bits}: mean {mean}");
            assert!(
                (0.5 * stated..1.3 * stated).contains(&deviation),
                "{threshold_bits}: {deviation} {stated}"
            );
        }
    }

    #[test]
    fn a_cap_bounds_the_deviation() {
        let deviation = |cap_bits| {
            let errors = errors(200, 200_000, |cell| {
                add_capped(cell, 1, 4, cap_bits);
            });
            let (mean, deviation) = mean_and_deviation(&errors);
            assert!(mean.abs() < 5.0 * deviation / 200f64.sqrt());
            deviation
        };
        // Nearly all events add 2^4 with probability 2^-4: the deviation is that of a binomial distribution.
        let (capped, stated) = (deviation(4), (15.0f64 / 200_000.0).sqrt());
        assert!((0.7 * stated..1.3 * stated).contains(&capped), "{capped} {stated}");
        assert!(deviation(63) > 10.0 * capped);
    }

    #[test]
    fn sensing_is_exact_without_contention() {
        let (wide, narrow) = (AtomicU64::new(0), AtomicU32::new(u32::MAX - 10));
        let mut wraps = 0;
        for _ in 0..100_000 {
            add_sensing(&wide, 3, 1);
            wraps += add_sensing(&narrow, 1 << 20, 1);
        }
        assert_eq!(Counter::load(&wide), 300_000);
        let total = u64::from(u32::MAX - 10) + (100_000 << 20);
        assert_eq!((wraps << 32) + Counter::load(&narrow), total);
    }

    #[test]
    fn exact_counters_of_many_threads() {
        let (interlocked, striped, sensing) = (AtomicU64::new(0), StripedCounter::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for i in 0..100_000 {
                        add_interlocked(&interlocked, i % 3);
                        striped.add(i % 3);
                        add_sensing(&sensing, i % 3, 13);
                    }
                });
            }
        });
        assert_eq!((Counter::load(&interlocked), striped.load()), (399_996, 399_996));
        let sensed = Counter::load(&sensing) as f64 / 399_996.0;
        assert!((sensed - 1.0).abs() < 0.05, "{sensed}");
    }

    #[test]
    fn thresholds_beyond_their_range_are_clamped() {
        for (threshold_bits, exact) in
            [(0, 2), (31, 1 << 31), (32, 1 << 31), (64, 1 << 31), (u32::MAX, 1 << 31)]
        {
            type Add = fn(&AtomicU64, u32) -> u64;
            let adds: [Add; 3] = [
                |cell, bits| add_approximately(cell, 1, bits),
                |cell, bits| add_capped(cell, 1, bits, 64),
                |cell, bits| add_sensing(cell, 1, bits),
            ];
            for add in adds {
                let (below, above) = (AtomicU64::new(exact - 1), AtomicU64::new(u64::MAX >> 1));
                add(&below, threshold_bits);
                add(&above, threshold_bits);
                assert_eq!(Counter::load(&below), exact);
            }
        }
    }

    #[test]
    fn counts_of_many() {
        // Whole steps are added directly.
        let cell = AtomicU64::new(1 << 20);
        add_approximately(&cell, 1 << 40, 13);
        assert_eq!(Counter::load(&cell), (1 << 20) + (1 << 40));
        assert_eq!(add_racing(&AtomicU32::new(1), u64::from(u32::MAX)), 1);
    }
}
