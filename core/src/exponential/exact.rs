//! Exact sum, minimum and maximum, kept by the writers.
//!
//! Writers add to one of several *stripes*, so that threads seldom share one. Here a record is several atomic operations;
//! so that an interval holds all of it or nothing, a writer enters the interval before and leaves it after, and `collect`
//! waits for those who entered. Writers wait for nobody.

use super::rows::Reading;
use super::sum::{ExactSum, LIMBS, pieces};
use crate::sync::{AtomicU32, AtomicU64, Ordering::*, pause};

/// More than there are busy cores on most machines; each costs 1.3 KB.
pub(super) const STRIPES: usize = if cfg!(loom) { 1 } else { 16 };

/// How often `collect` looks whether writers have left before it goes on without them.
const RETRIES: u32 = if cfg!(loom) { 100 } else { 10_000 };

/// Beyond this magnitude, a writer carries a limb into the next one; 127 writers at once can be late with it.
const CARRY: i64 = 1 << 56;

/// What one interval has counted exactly, of the threads that use this stripe.
#[repr(align(128))]
pub(super) struct Stripe {
    /// Writers that are in the middle of a record.
    present: AtomicU32,
    /// Ordered as the values are; the smallest.
    min: AtomicU64,
    max: AtomicU64,
    limbs: [AtomicU64; LIMBS],
}

/// No value yet.
const NO_MIN: u64 = u64::MAX;
const NO_MAX: u64 = 0;

/// Exact sum, minimum and maximum, as read.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Exact {
    pub(super) sum: ExactSum,
    min: u64,
    max: u64,
}

impl Stripe {
    pub(super) fn new() -> Stripe {
        Stripe {
            present: AtomicU32::new(0),
            min: AtomicU64::new(NO_MIN),
            max: AtomicU64::new(NO_MAX),
            limbs: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Tells `collect` that a record is under way. The caller then has to look whether the interval is still the one.
    pub(super) fn enter(&self) {
        self.present.fetch_add(1, SeqCst);
        order_for_loom();
    }

    /// Tells `collect` that the record is complete.
    pub(super) fn leave(&self) {
        self.present.fetch_sub(1, Release);
    }

    /// Waits for the writers that entered, a bounded time: one that was stopped in the middle of a record must not stop
    /// the reader. What it still adds is read the next time.
    pub(super) fn wait_for_writers(&self) {
        order_for_loom();
        for attempt in 0..RETRIES {
            if self.present.load(SeqCst) == 0 {
                return;
            }
            pause(attempt);
        }
    }

    /// Adds a finite value `count` times, `count` not being zero.
    pub(super) fn add(&self, value: f64, count: u64) {
        pieces(value, count, |limb, piece| {
            let before = self.limbs[limb].fetch_add(piece as u64, Relaxed) as i64;
            let sum = before.wrapping_add(piece);
            if sum.unsigned_abs() >= CARRY as u64 {
                self.carry(limb, CARRY * sum.signum());
            }
        });
        let order = order_of(value);
        // Seldom a new extreme: a load is all it takes.
        if order < self.min.load(Relaxed) {
            self.min.fetch_min(order, Relaxed);
        }
        if order > self.max.load(Relaxed) {
            self.max.fetch_max(order, Relaxed);
        }
    }

    #[cold]
    fn carry(&self, limb: usize, amount: i64) {
        self.limbs[limb].fetch_add(-amount as u64, Relaxed);
        self.limbs[limb + 1].fetch_add((amount >> super::sum::LIMB_BITS) as u64, Relaxed);
    }

    /// Adds what was counted here to `exact`.
    pub(super) fn read(&self, reading: Reading, exact: &mut Exact) {
        for (at, limb) in self.limbs.iter().enumerate() {
            if limb.load(Relaxed) != 0 {
                exact.sum.add_to_limb(at, reading.of(limb) as i64);
            }
        }
        exact.sum.carry();
        let (min, max) = match reading {
            Reading::Drain => (self.min.swap(NO_MIN, Relaxed), self.max.swap(NO_MAX, Relaxed)),
            Reading::Look => (self.min.load(Relaxed), self.max.load(Relaxed)),
        };
        exact.min = exact.min.min(min);
        exact.max = exact.max.max(max);
    }
}

impl Exact {
    pub(super) const NOTHING: Exact = Exact { sum: ExactSum::ZERO, min: NO_MIN, max: NO_MAX };

    /// Adds what another has.
    pub(super) fn merge(&mut self, other: &Exact) {
        self.sum.merge(&other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The smallest and the largest value, if there was any.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        if self.min > self.max { None } else { Some((value_of(self.min), value_of(self.max))) }
    }
}

/// The accesses around an entry have one order for all threads: either the reader sees the entry, or the writer sees that
/// the interval has changed. Loom knows such an order of fences only.
#[inline(always)]
fn order_for_loom() {
    #[cfg(loom)]
    crate::sync::fence(SeqCst);
}

/// Bits of a finite double that are ordered as the values are. Both zeros are the positive one.
fn order_of(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value_of(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 0 { !order } else { order & (u64::MAX >> 1) })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn read(stripe: &Stripe) -> Exact {
        let mut exact = Exact::NOTHING;
        stripe.read(Reading::Drain, &mut exact);
        exact
    }

    #[test]
    fn sums_and_extremes() {
        let stripe = Stripe::new();
        assert_eq!(read(&stripe).range(), None);
        for value in [1e300, -0.0, 2.5, -1e300, -7.0] {
            stripe.add(value, 1);
        }
        stripe.add(0.5, 3);
        let mut looked = Exact::NOTHING;
        stripe.read(Reading::Look, &mut looked);
        let drained = read(&stripe);
        for exact in [looked, drained] {
            assert_eq!((exact.sum.to_f64(), exact.range()), (-3.0, Some((-1e300, 1e300))));
        }
        let nothing = read(&stripe);
        assert_eq!((nothing.sum.to_f64(), nothing.range()), (0.0, None));
        stripe.add(-0.0, 1);
        let (min, max) = read(&stripe).range().unwrap();
        assert!(min.is_sign_positive() && max.is_sign_positive());
    }

    #[test]
    fn limbs_are_carried_before_they_overflow() {
        let stripe = Stripe::new();
        for sign in [1.0, -1.0] {
            // As after 2^29 - 1 records of the largest limb.
            for limb in &stripe.limbs[..LIMBS - 1] {
                limb.store((sign as i64 * (CARRY - 1)) as u64, Relaxed);
            }
            let mut expected = Exact::NOTHING;
            stripe.read(Reading::Look, &mut expected);
            for _ in 0..100 {
                stripe.add(sign * f64::MAX, u64::MAX);
                expected.sum.add(sign * f64::MAX, u64::MAX);
            }
            expected.sum.carry();
            let limbs = stripe.limbs.iter().map(|limb| (limb.load(Relaxed) as i64).unsigned_abs());
            assert!(limbs.max().unwrap() < CARRY as u64 + (1 << 34));
            assert_eq!(read(&stripe).sum, expected.sum);
            assert_eq!(stripe.limbs[0].load(Relaxed), 0);
        }
    }
}
