//! The description of a metric; and counters and gauges, which programs use besides histograms.

use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::counted::{Counted, stands_for_a_pointer};

/// The name, labels and settings of a histogram, counter or gauge.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metric<'a> {
    /// Letters, digits, underscores and colons, not beginning with a digit: `request_duration_seconds`. OpenTelemetry
    /// also has dots, hyphens and slashes; Prometheus gets underscores instead. A counter's name may end with `_total`,
    /// which is not part of it. Several metrics of one kind may have one name, with different labels.
    pub name: &'a str,
    /// The meaning, for people; may be empty.
    pub help: &'a str,
    /// The unit, such as `seconds`; may be empty. The name must end with an underscore and the unit.
    pub unit: &'a str,
    /// Names and values that distinguish metrics of one name. Names are like those of metrics, without colons; `le` and
    /// two underscores at the beginning are not allowed.
    pub labels: &'a [(&'a str, &'a str)],
    /// Values and bounds are divided by this before they are written: 1e9 to convert nanoseconds to seconds. 0 means 1.
    pub divisor: f64,
    /// When counting began, in nanoseconds since 1970; 0 omits it.
    pub created_unix_nanos: u64,
    /// Prometheus gets a native histogram, with exponential buckets, if its format has them. Others still have bounds.
    pub native: bool,
    /// The largest number of exponential buckets with counts, before they become coarser. 0: 320; `u32::MAX`: no limit.
    pub max_buckets: u32,
    /// Prometheus gets a summary: the quantiles 0.5, 0.9, 0.99 and 0.999 of all observations, instead of buckets. OTLP
    /// still gets exponential buckets. A label `quantile` is refused then.
    pub summary: bool,
    /// Write the counts since the last reset, not since the creation. Collectors then see a restart at each reset.
    pub since_reset: bool,
}

/// A word on a separate cache line.
#[repr(align(64))]
struct Word(AtomicU64);

impl Word {
    fn create(value: u64) -> Result<Counted<Word>> {
        Counted::create(Word(AtomicU64::new(value)))
    }
}

/// A number that only grows. A registry's `add_counter` makes one that is exported.
///
/// It is a counted reference: any thread may hold, clone and drop one, in any order relative to the registry. If many
/// threads add all the time, give each a separate counter with a label, or count in a histogram.
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricCounter(Counted<Word>);

/// Makes a reference to a counter in a segment, which is never freed. All zeros are a counter at zero.
///
/// # Safety
/// `memory` must be valid for 64 bytes from the beginning of a page while any reference exists. Everybody changes its
/// first word atomically.
pub unsafe fn counter_at(memory: NonNull<u8>) -> MetricCounter {
    // SAFETY: the caller promises this; a word of zeros is a counter.
    MetricCounter(unsafe { Counted::in_segment(memory) })
}

impl MetricCounter {
    /// Creates a counter at zero. Returns [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no memory.
    pub fn create() -> Result<MetricCounter> {
        Word::create(0).map(MetricCounter)
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

/// A number that goes up and down. A registry's `add_gauge` makes one that is exported. It is a double, which holds
/// every integer up to 2^53.
///
/// It is a counted reference, like [`MetricCounter`].
#[derive(Clone)]
#[repr(transparent)]
pub struct MetricGauge(Counted<Word>);

impl MetricGauge {
    /// Creates a gauge at zero. Returns [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no memory.
    pub fn create() -> Result<MetricGauge> {
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
