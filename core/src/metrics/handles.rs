//! Counters and gauges, which programs use besides histograms.

use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::counted::{Counted, stands_for_a_pointer};

/// A word on a separate cache line.
#[repr(align(64))]
struct Word(AtomicU64);

impl Word {
    fn create(value: u64) -> Result<Counted<Word>> {
        Counted::create(Word(AtomicU64::new(value)))
    }
}

/// A number that only grows: [`Registry::add_counter`](crate::Registry::add_counter) makes one.
///
/// It is a counted reference: any thread may hold, clone and drop one, in any order relative to the registry. If many
/// threads add all the time, give each a separate counter with a label, or count in a histogram.
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricCounter(Counted<Word>);

impl MetricCounter {
    pub(super) fn create() -> Result<MetricCounter> {
        Word::create(0).map(MetricCounter)
    }

    /// Makes a reference to a counter in a segment, which is never freed. All zeros are a counter at zero.
    ///
    /// # Safety
    /// `memory` must be valid for 64 bytes from the beginning of a page while any reference exists. Everybody changes
    /// its first word atomically.
    #[doc(hidden)]
    pub unsafe fn attach(memory: NonNull<u8>) -> MetricCounter {
        // SAFETY: the caller promises this; a word of zeros is a counter.
        MetricCounter(unsafe { Counted::in_segment(memory) })
    }

    /// Adds, modulo 2^64, with one relaxed atomic addition.
    #[inline(always)]
    pub fn add(&self, count: u64) {
        self.0.0.fetch_add(count, Relaxed);
    }

    /// The current total.
    pub fn value(&self) -> u64 {
        self.0.0.load(Relaxed)
    }

    stands_for_a_pointer!(MetricCounter);
}

impl core::fmt::Debug for MetricCounter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("MetricCounter").field(&self.value()).finish()
    }
}

/// A number that goes up and down: [`Registry::add_gauge`](crate::Registry::add_gauge) makes one. It is a double, which holds every
/// integer up to 2^53.
///
/// It is a counted reference, like [`MetricCounter`].
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricGauge(Counted<Word>);

impl MetricGauge {
    pub(super) fn create() -> Result<MetricGauge> {
        Word::create(0f64.to_bits()).map(MetricGauge)
    }

    /// Sets the value with one relaxed store.
    #[inline(always)]
    pub fn set(&self, value: f64) {
        self.0.0.store(value.to_bits(), Relaxed);
    }

    /// Adds a value, which may be negative, by compare-and-swap. It repeats after a conflict: nothing is lost.
    #[inline]
    pub fn add(&self, value: f64) {
        let mut bits = self.0.0.load(Relaxed);
        while let Err(current) = {
            let sum = f64::from_bits(bits) + value;
            self.0.0.compare_exchange(bits, sum.to_bits(), Relaxed, Relaxed)
        } {
            bits = current;
        }
    }

    /// The current value.
    pub fn value(&self) -> f64 {
        f64::from_bits(self.0.0.load(Relaxed))
    }

    stands_for_a_pointer!(MetricGauge);
}

impl core::fmt::Debug for MetricGauge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("MetricGauge").field(&self.value()).finish()
    }
}
