//! Exact sum, minimum and maximum, which the writers keep.
//!
//! Here a record changes several words, and an interval must hold all of it or nothing. So a writer reserves a free
//! *stripe* while it records, and adds to it without atomic read-modify-writes. If all are taken, it shares the last
//! one and uses atomic adds, so a writer never waits. `collect` takes each stripe as a writer does, and waits for the
//! shared one to be free; each wait is bounded.

use alloc::boxed::Box;
use core::mem::{align_of, size_of};
use core::ptr::NonNull;

use super::rows::Reading;
use super::sum::{ExactSum, LIMB_BITS, LIMBS, pieces};
use crate::error::Result;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, AtomicU64, pause};
use crate::platform::lock::process;
use crate::platform::memory;

/// Stripes that writers can take: more than most machines have busy cores.
const TAKEN: usize = if cfg!(loom) { 1 } else { 16 };
/// The last stripe is the shared one.
const STRIPES: usize = TAKEN + 1;

/// How often a reader checks whether a writer has left before it continues without it.
const RETRIES: u32 = if cfg!(loom) { 100 } else { 10_000 };

/// Beyond this magnitude, a limb is carried into the next; 127 writers of the shared stripe can be late with it at
/// once.
const CARRY: i64 = 1 << 56;

/// The stripes of one interval: 13 KB.
pub(super) struct Stripes([Stripe; STRIPES]);

/// What a subset of the writers has counted in one interval.
#[repr(align(128))]
struct Stripe {
    /// Who is recording or reading: the process for a stripe that is taken, the number of writers for the last one.
    present: AtomicU32,
    /// The smallest value, as bits that are ordered as the values are.
    min: AtomicU64,
    max: AtomicU64,
    limbs: [AtomicU64; LIMBS],
}

/// A stripe that a writer is in, until it leaves.
pub(super) struct Entered<'a> {
    stripe: &'a Stripe,
    alone: bool,
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

impl Stripes {
    /// The stripes of both intervals, empty.
    pub(super) fn boxed() -> Result<Box<[Stripes; 2]>> {
        let block: NonNull<[Stripes; 2]> =
            memory::allocate_zeroed(size_of::<[Stripes; 2]>(), align_of::<[Stripes; 2]>())?.cast();
        // SAFETY: the block is ours, of this size and alignment, and every stripe is written before the box is made.
        unsafe {
            for index in 0..2 * STRIPES {
                block.cast::<Stripe>().add(index).write(Stripe::new());
            }
            Ok(Box::from_raw(block.as_ptr()))
        }
    }

    /// Begins a record. The caller must then check whether the interval is still active: either it sees that the
    /// interval has changed, or the reader that changed it sees the caller.
    pub(super) fn enter(&self) -> Entered<'_> {
        let (taken, shared) = self.0.split_at(TAKEN);
        let own = crate::platform::stripe::by_stack(TAKEN);
        let free = taken[own..].iter().chain(&taken[..own]).find(|stripe| stripe.take());
        let entered = match free {
            Some(stripe) => Entered { stripe, alone: true },
            None => {
                shared[0].present.fetch_add(1, SeqCst);
                Entered { stripe: &shared[0], alone: false }
            }
        };
        order_for_loom();
        entered
    }

    /// Adds the counted values to `exact`. A writer that stopped in the middle of a record must not block the reader:
    /// its stripe keeps its values for the next reading.
    pub(super) fn read(&self, reading: Reading, exact: &mut Exact) {
        order_for_loom();
        let (taken, shared) = self.0.split_at(TAKEN);
        for stripe in taken {
            let alone = wait_until(|| stripe.take());
            if alone || reading == Reading::Peek {
                stripe.read(reading, exact);
            }
            if alone {
                stripe.present.store(0, Release);
            }
        }
        // Writers still here use atomic adds, which this reading or the next one sees.
        wait_until(|| shared[0].present.load(SeqCst) == 0);
        shared[0].read(reading, exact);
    }
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    (0..RETRIES).any(|attempt| {
        let met = condition();
        if !met {
            pause(attempt);
        }
        met
    })
}

impl Entered<'_> {
    /// Adds a finite value `count` times; `count` is not zero.
    pub(super) fn add(&self, value: f64, count: u64) {
        pieces(value, count, |limb, piece| self.add_piece(limb, piece));
        self.add_extremes(order_of(value), order_of(value));
    }

    /// Adds what a reader read from other stripes.
    pub(super) fn add_exact(&self, other: &Exact) {
        other.sum.limbs().for_each(|(limb, piece)| self.add_piece(limb, piece));
        self.add_extremes(other.min, other.max);
    }

    #[inline(always)]
    fn add_extremes(&self, min: u64, max: u64) {
        // New extremes are rare, so a load usually suffices.
        if min < self.stripe.min.load(Relaxed) {
            self.stripe.min.fetch_min(min, Relaxed);
        }
        if max > self.stripe.max.load(Relaxed) {
            self.stripe.max.fetch_max(max, Relaxed);
        }
    }

    #[inline(always)]
    fn add_piece(&self, limb: usize, piece: i64) {
        let limbs = &self.stripe.limbs;
        let sum = self.add_to(&limbs[limb], piece);
        // The last limb holds the sign and has no limb to carry into.
        if !(-CARRY..CARRY).contains(&sum) && limb + 1 < LIMBS {
            core::hint::cold_path();
            let carried = CARRY * sum.signum();
            self.add_to(&limbs[limb], -carried);
            self.add_to(&limbs[limb + 1], carried >> LIMB_BITS);
        }
    }

    #[inline(always)]
    fn add_to(&self, limb: &AtomicU64, amount: i64) -> i64 {
        let before = if self.alone {
            let before = limb.load(Relaxed);
            limb.store(before.wrapping_add_signed(amount), Relaxed);
            before
        } else {
            limb.fetch_add(amount as u64, Relaxed)
        };
        before.wrapping_add_signed(amount) as i64
    }

    /// Ends the record.
    pub(super) fn leave(self) {
        if self.alone {
            self.stripe.present.store(0, Release);
        } else {
            self.stripe.present.fetch_sub(1, Release);
        }
    }
}

impl Stripe {
    fn new() -> Stripe {
        Stripe {
            present: AtomicU32::new(0),
            min: AtomicU64::new(NO_MIN),
            max: AtomicU64::new(NO_MAX),
            limbs: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Also takes a stripe from another process: this one was forked from it, without the thread that took it.
    fn take(&self) -> bool {
        let process = process();
        let Err(holder) = self.present.compare_exchange(0, process, SeqCst, Relaxed) else { return true };
        holder != process && self.present.compare_exchange(holder, process, SeqCst, Relaxed).is_ok()
    }

    fn read(&self, reading: Reading, exact: &mut Exact) {
        for (at, limb) in self.limbs.iter().enumerate() {
            if limb.load(Relaxed) != 0 {
                exact.sum.add_to_limb(at, reading.take_or_load(limb) as i64);
            }
        }
        exact.sum.carry();
        let (min, max) = match reading {
            Reading::Drain => (self.min.swap(NO_MIN, Relaxed), self.max.swap(NO_MAX, Relaxed)),
            Reading::Peek => (self.min.load(Relaxed), self.max.load(Relaxed)),
        };
        exact.min = exact.min.min(min);
        exact.max = exact.max.max(max);
    }
}

impl Exact {
    pub(super) const NOTHING: Exact = Exact { sum: ExactSum::ZERO, min: NO_MIN, max: NO_MAX };

    pub(super) fn merge(&mut self, other: &Exact) {
        self.sum.merge(&other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The smallest and the largest value, if there is one.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        if self.min > self.max { None } else { Some((value_of(self.min), value_of(self.max))) }
    }
}

/// All threads see the accesses around an entry in one order: either the reader sees the entry, or the writer sees that
/// the interval has changed. Loom models such an order only for fences.
#[inline(always)]
fn order_for_loom() {
    #[cfg(loom)]
    crate::platform::atomics::fence(SeqCst);
}

/// Bits of a finite double that are ordered as the values are. Both zeros become the positive one.
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

    fn read(stripes: &Stripes, reading: Reading) -> Exact {
        let mut exact = Exact::NOTHING;
        stripes.read(reading, &mut exact);
        exact
    }

    fn add(stripes: &Stripes, value: f64, count: u64) {
        let entered = stripes.enter();
        entered.add(value, count);
        entered.leave();
    }

    #[test]
    fn sums_and_extremes() {
        let stripes = &Stripes::boxed().unwrap()[0];
        assert_eq!(read(stripes, Reading::Drain).range(), None);
        for value in [1e300, -0.0, 2.5, -1e300, -7.0] {
            add(stripes, value, 1);
        }
        add(stripes, 0.5, 3);
        let (peeked, drained) = (read(stripes, Reading::Peek), read(stripes, Reading::Drain));
        for exact in [peeked, drained] {
            assert_eq!((exact.sum.to_f64(), exact.range()), (-3.0, Some((-1e300, 1e300))));
        }
        let nothing = read(stripes, Reading::Drain);
        assert_eq!((nothing.sum.to_f64(), nothing.range()), (0.0, None));
        add(stripes, -0.0, 1);
        let (min, max) = read(stripes, Reading::Drain).range().unwrap();
        assert!(min.is_sign_positive() && max.is_sign_positive());
    }

    #[test]
    fn more_writers_than_stripes_share_the_last_one() {
        let stripes = &Stripes::boxed().unwrap()[0];
        let all: std::vec::Vec<_> = (0..2 * STRIPES).map(|_| stripes.enter()).collect();
        assert_eq!(all.iter().filter(|entered| entered.alone).count(), TAKEN);
        let mut previous = Exact::NOTHING;
        for (i, entered) in all.into_iter().enumerate() {
            entered.add(i as f64, 1);
            entered.leave();
            // The reading leaves out writers that are in the middle of a record.
            previous = read(stripes, Reading::Peek);
        }
        let exact = read(stripes, Reading::Drain);
        assert_eq!(exact, previous);
        let last = (2 * STRIPES - 1) as f64;
        assert_eq!((exact.sum.to_f64(), exact.range()), (last * (last + 1.0) / 2.0, Some((0.0, last))));
    }

    #[test]
    fn a_stripe_in_use_waits_for_the_next_reading() {
        let stripes = &Stripes::boxed().unwrap()[0];
        let entered = stripes.enter();
        entered.add(5.0, 1);
        add(stripes, 1.0, 1);
        assert_eq!(read(stripes, Reading::Drain).sum.to_f64(), 1.0);
        entered.leave();
        assert_eq!(read(stripes, Reading::Drain).sum.to_f64(), 5.0);
    }

    #[test]
    fn a_stripe_that_another_process_had_is_taken_over() {
        let stripes = &Stripes::boxed().unwrap()[0];
        add(stripes, 5.0, 1);
        for reading in [Reading::Peek, Reading::Drain] {
            stripes.0[..TAKEN].iter().for_each(|stripe| stripe.present.store(process() + 1, Relaxed));
            let entered = stripes.enter();
            assert!(entered.alone);
            entered.leave();
            assert_eq!(read(stripes, reading).sum.to_f64(), 5.0);
            assert!(stripes.0.iter().all(|stripe| stripe.present.load(Relaxed) == 0));
        }
        assert_eq!(read(stripes, Reading::Drain).sum.to_f64(), 0.0);
    }

    #[test]
    fn limbs_are_carried_before_they_overflow() {
        for (sign, alone) in [(1.0, true), (-1.0, true), (1.0, false), (-1.0, false)] {
            let stripe = Stripe::new();
            let entered = Entered { stripe: &stripe, alone };
            // The state after 2^29 - 1 records of the largest limb.
            for limb in &stripe.limbs[..LIMBS - 1] {
                limb.store((sign as i64 * (CARRY - 1)) as u64, Relaxed);
            }
            let mut expected = Exact::NOTHING;
            stripe.read(Reading::Peek, &mut expected);
            for _ in 0..100 {
                entered.add(sign * f64::MAX, u64::MAX);
                expected.sum.add(sign * f64::MAX, u64::MAX);
            }
            expected.sum.carry();
            let limbs = stripe.limbs.iter().map(|limb| (limb.load(Relaxed) as i64).unsigned_abs());
            // Without a carry, a hundred of the largest pieces would exceed that.
            assert!(limbs.max().unwrap() < CARRY as u64 + (1 << 30));
            let mut exact = Exact::NOTHING;
            stripe.read(Reading::Drain, &mut exact);
            assert_eq!(exact.sum, expected.sum);
        }
    }
}
