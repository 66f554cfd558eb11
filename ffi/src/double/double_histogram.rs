//! Histograms of doubles: ratios, temperatures, money, clock skew.
//!
//! They count finite values of both signs and all magnitudes, each within a relative error; zero is exact. NaN and
//! infinities are counted separately, as not_finite, and affect nothing else. Any number of threads record, each by
//! one atomic addition, without a lock.
//!
//! Counts belong to an interval, which lasts from one picollo_double_histogram_collect to the next. Collecting takes
//! the counts out while recording goes on; each record is in exactly one interval.
//!
//!     picollo_double_histogram *skew;
//!     picollo_double_statistics statistics;
//!     const double quantiles[] = {0.5, 0.99};
//!     double values[2];
//!     picollo_double_histogram_create(NULL, &skew);
//!     picollo_double_histogram_record(skew, -0.25);
//!     picollo_double_histogram_collect(skew, quantiles, 2, values, &statistics);
//!
//! For buckets, summaries and text of an interval see picollo_double_snapshot.
//!
//! The first value of a magnitude allocates memory, so signal handlers must not record doubles.

use core::ptr::NonNull;

pub use picollo_core::doubles::DoubleStatistics as picollo_double_statistics;
use picollo_core::doubles::{DoubleOptions, QuantileRule, SharedDoubleHistogram};

use crate::argument::{output, room, slice};
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::double_snapshot::read;
use crate::failure::Failure;
use crate::guard::{exported, guard_void};
use crate::memory;
use crate::options;
use crate::status::picollo_status;

/// A histogram of doubles.
pub struct picollo_double_histogram(());

/// Counts of doubles in one interval.
///
/// Any number of threads may make calls that take it as const. picollo_double_snapshot_update,
/// picollo_double_snapshot_merge (into it) and picollo_double_snapshot_free need exclusive access.
pub struct picollo_double_snapshot(());

/// Quantiles as in the aggregator of .NET's metrics: of n values in ascending order, number min(max(0, floor(q * n)),
/// n - 1), counted from 0, with the product in floating point. Without this flag: number max(1, ceil(q * n)), counted
/// from 1, computed in integers, as all percentiles of this library.
pub const PICOLLO_DOUBLE_DOTNET_RANKS: u32 = 1 << 0;
/// Keep sum, minimum and maximum exactly. The sum is rounded once, when it is read, whatever the order of additions.
/// A record then takes several atomic operations instead of one, and the histogram 26 KB more.
pub const PICOLLO_DOUBLE_EXACT_SUM: u32 = 1 << 1;

/// Options of a histogram of doubles.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_double_options {
    pub struct_size: u32,
    /// PICOLLO_DOUBLE_... or 0.
    pub flags: u32,
    /// Largest relative distance between a value and what is reported for it, clamped to 1e-4 ..= 0.1. 0, negative or
    /// NaN: 0.001.
    pub relative_error: f64,
    /// Limit of all memory in bytes; 0: no limit. Values that do not fit are counted as lost.
    pub max_bytes: u64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_double_options {
    const FIRST_SIZE: usize = 24;
}

impl Counted for picollo_double_histogram {
    type Reference = SharedDoubleHistogram;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> SharedDoubleHistogram {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { SharedDoubleHistogram::from_raw(handle.cast()) }
    }
}

exported! {
/// Makes an empty histogram of doubles.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT if max_bytes is too small for an empty histogram.
/// Cost: allocates about 1 KB. Later, by default, records allocate 8 KB per power of two with values, and 512 bytes
///   per 64 powers.
fn picollo_double_histogram_create(
    options: *const picollo_double_options,
    out: *mut *mut picollo_double_histogram,
) -> picollo_status {
    let (out, asked) = (output(out)?, options::read(options)?);
    let mut options = DoubleOptions::default();
    if let Some(asked) = asked {
        if asked.flags & !(PICOLLO_DOUBLE_DOTNET_RANKS | PICOLLO_DOUBLE_EXACT_SUM) != 0 {
            return Err(Failure::UNSUPPORTED);
        }
        options.relative_error = asked.relative_error;
        options.max_bytes = asked.max_bytes;
        options.exact = asked.flags & PICOLLO_DOUBLE_EXACT_SUM != 0;
        if asked.flags & PICOLLO_DOUBLE_DOTNET_RANKS != 0 {
            options.quantile_rule = QuantileRule::DotNet;
        }
    }
    out.deliver(SharedDoubleHistogram::create(&options)?.into_raw().as_ptr().cast())
}
}

/// Frees a histogram of doubles. Registries hold their own references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_histogram_free(histogram: *mut picollo_double_histogram) {
    guard_void(|| counted::free(histogram));
}

/// Counts one value.
///
/// Requires: histogram is not NULL; this is not checked.
/// Threads: any thread; not signal handlers.
/// Cost: an atomic addition, a few nanoseconds; the first value of a magnitude allocates. See
///   PICOLLO_DOUBLE_EXACT_SUM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_histogram_record(
    histogram: *mut picollo_double_histogram,
    value: f64,
) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(histogram) }.record(value);
}

/// Counts one value count times. A count of 0 does nothing.
///
/// Requires: histogram is not NULL; this is not checked.
/// Otherwise: as picollo_double_histogram_record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_histogram_record_n(
    histogram: *mut picollo_double_histogram,
    value: f64,
    count: u64,
) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(histogram) }.record_n(value, count);
}

/// Counts every value of an array. Does nothing if histogram or values is NULL.
///
/// Threads: as picollo_double_histogram_record.
/// Cost: as picollo_double_histogram_record for each value, without the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_double_histogram_record_batch(
    histogram: *mut picollo_double_histogram,
    values: *const f64,
    length: usize,
) {
    guard_void(|| {
        if let (Ok(histogram), Ok(values)) = (borrow(histogram), slice(values, length)) {
            histogram.record_batch(values);
        }
    });
}

exported! {
/// Takes out what was recorded since the last collection, and starts a new interval, while others record. Each record
/// is in this interval or the next. Records made before the call are in this one.
///
/// Requires: quantiles are 0 ..= 1, in any order.
/// Returns: PICOLLO_OK, also if nothing was recorded: then the sum is 0, and values, extremes, mean and deviation are
///   NaN; PICOLLO_ERR_BUSY if a thread is stopped for seconds while it collects. A failed call takes nothing out.
/// Cost: reads all existing counters, a few microseconds per power of two with values; allocates temporarily.
fn picollo_double_histogram_collect(
    histogram: *mut picollo_double_histogram,
    quantiles: *const f64,
    length: usize,
    out_values: *mut f64,
    out_statistics: *mut picollo_double_statistics,
) -> picollo_status {
    let (out_values, out_statistics) = (room(out_values, length)?, output(out_statistics)?);
    let (histogram, quantiles) = (borrow(histogram)?, slice(quantiles, length)?);
    let mut values = memory::numbers(length)?;
    let statistics = histogram.collect_statistics(quantiles, &mut values)?;
    out_values.write_copy_of_slice(&values);
    out_statistics.deliver(statistics)
}

/// Adds all counts of a snapshot, of any relative error. The count of each bucket goes to the bucket of its midpoint.
/// Sum and extremes stay exact if they are exact in both (PICOLLO_DOUBLE_EXACT_SUM) and no memory is missing.
///
/// Threads: as picollo_double_histogram_record.
/// Cost: as picollo_double_histogram_record for each bucket with counts.
fn picollo_double_histogram_add(
    histogram: *mut picollo_double_histogram,
    other: *const picollo_double_snapshot,
) -> picollo_status {
    let (histogram, other) = (borrow(histogram)?, read(other)?);
    histogram.add_snapshot(other);
    Ok(())
}

/// Reports the present size of the histogram in bytes, without its snapshots.
fn picollo_double_histogram_footprint(
    histogram: *const picollo_double_histogram,
    out_bytes: *mut usize,
) -> picollo_status {
    let (histogram, out_bytes) = (borrow(histogram)?, output(out_bytes)?);
    out_bytes.deliver(histogram.footprint())
}
}
