//! What a program counts with beside histograms: counters and gauges.

use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::counted::Counted;

/// A word on a cache line of its own.
#[repr(align(64))]
struct Word(AtomicU64);

impl Word {
    fn create(value: u64) -> Result<Counted<Word>> {
        Counted::create(Word(AtomicU64::new(value)))
    }
}

/// A number that only grows: [`Registry::add_counter`](crate::Registry::add_counter) makes one.
///
/// A counted reference: any thread may hold, clone and drop one, in any order with the registry. Where many threads add all the
/// time, give each its own, with a label, or count in a histogram.
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricCounter(Counted<Word>);

impl MetricCounter {
    pub(super) fn create() -> Result<MetricCounter> {
        Word::create(0).map(MetricCounter)
    }

    /// Bytes of [`MetricCounter::init_at`], aligned to 64. The word is at the beginning.
    #[doc(hidden)]
    pub const SIZE: usize = Counted::<Word>::SIZE;

    /// Makes a counter at zero in memory that processes share: see [`MetricCounter::attach`].
    ///
    /// # Safety
    /// `memory` must be valid for writes of [`MetricCounter::SIZE`] bytes, aligned to 64, and used for nothing else.
    #[doc(hidden)]
    pub unsafe fn init_at(memory: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { Counted::init_at(memory, Word(AtomicU64::new(0))) };
    }

    /// One more reference to a counter that [`MetricCounter::init_at`] made.
    ///
    /// # Safety
    /// So it must be, and the memory must be there as long as there is any reference.
    #[doc(hidden)]
    pub unsafe fn attach(memory: NonNull<u8>) -> MetricCounter {
        // SAFETY: the references that it began with are never given back.
        let first = core::mem::ManuallyDrop::new(unsafe { MetricCounter::from_raw(memory) });
        MetricCounter::clone(&first)
    }

    /// Adds, modulo 2^64: one relaxed atomic addition.
    #[inline(always)]
    pub fn add(&self, count: u64) {
        self.0.0.fetch_add(count, Relaxed);
    }

    /// What was added so far.
    pub fn value(&self) -> u64 {
        self.0.0.load(Relaxed)
    }

    /// The pointer that stands for this reference, which is given up to it. See [`MetricCounter::from_raw`].
    pub fn into_raw(self) -> NonNull<u8> {
        self.0.into_raw()
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `raw` must come from [`MetricCounter::into_raw`], once for each call, unless the result is kept from being dropped.
    #[inline(always)]
    pub unsafe fn from_raw(raw: NonNull<u8>) -> MetricCounter {
        // SAFETY: the caller's promise.
        MetricCounter(unsafe { Counted::from_raw(raw) })
    }
}

impl core::fmt::Debug for MetricCounter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("MetricCounter").field(&self.value()).finish()
    }
}

/// A number that goes up and down: [`Registry::add_gauge`](crate::Registry::add_gauge) makes one. It is a double, which holds every
/// integer up to 2^53.
///
/// A counted reference, as [`MetricCounter`].
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricGauge(Counted<Word>);

impl MetricGauge {
    pub(super) fn create() -> Result<MetricGauge> {
        Word::create(0f64.to_bits()).map(MetricGauge)
    }

    /// Sets it: one relaxed store.
    #[inline(always)]
    pub fn set(&self, value: f64) {
        self.0.0.store(value.to_bits(), Relaxed);
    }

    /// Adds, also what is negative; nothing is lost between threads. A compare-and-swap, again where another thread came first.
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

    /// What it is now.
    pub fn value(&self) -> f64 {
        f64::from_bits(self.0.0.load(Relaxed))
    }

    /// The pointer that stands for this reference, which is given up to it. See [`MetricGauge::from_raw`].
    pub fn into_raw(self) -> NonNull<u8> {
        self.0.into_raw()
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// `raw` must come from [`MetricGauge::into_raw`], once for each call, unless the result is kept from being dropped.
    #[inline(always)]
    pub unsafe fn from_raw(raw: NonNull<u8>) -> MetricGauge {
        // SAFETY: the caller's promise.
        MetricGauge(unsafe { Counted::from_raw(raw) })
    }
}

impl core::fmt::Debug for MetricGauge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("MetricGauge").field(&self.value()).finish()
    }
}
