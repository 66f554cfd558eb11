//! Histograms.
//!
//! A histogram counts 64-bit values in buckets whose width grows with the value, so every value has a bounded
//! relative error. Recording never fails, never waits and loses nothing silently: values out of range are counted
//! separately, as underflow and overflow. By default any number of threads record, and a record takes a few
//! nanoseconds. Inlined in single-writer mode it takes less than two.
//!
//! Counts only grow. A reset stores the counts of its moment, and readers subtract them. So any number of threads may
//! read and reset while others record. By default a record is an atomic addition. Other modes serve a single writer
//! and many writers at high rates (PICOLLO_MODE_...).
//!
//!     picollo_histogram *latency;
//!     picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
//!     options.relative_error = 0.01;
//!     options.max_trackable = 1000000000;
//!     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
//!     picollo_histogram_record(latency, 1234);
//!
//! To read a histogram, take a picollo_snapshot or directly a picollo_summary.

use core::ptr::{self, NonNull};

use picollo_core::SharedHistogram;
use picollo_core::seam::record_exported;

use crate::argument::{output, slice};
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::guard::{exported, guard_explained, guard_value, guard_void};
use crate::histogram_options::{explain, picollo_histogram_options, read_options};
use crate::status::{picollo_error, picollo_status};

/// A histogram: a counted reference. picollo_histogram_retain adds one, picollo_histogram_free gives one back.
/// Everything made from a histogram, such as a snapshot, holds its own reference.
pub struct picollo_histogram(());

impl Counted for picollo_histogram {
    type Reference = SharedHistogram;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> SharedHistogram {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { SharedHistogram::from_raw(handle.cast()) }
    }
}

/// Gives a reference to the caller. Any mode is allowed, because each function that records has the requirements of
/// the mode.
pub fn into_handle(histogram: SharedHistogram) -> *mut picollo_histogram {
    histogram.into_raw().as_ptr().cast()
}

exported! {
/// Makes an empty histogram on the heap.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED for options that this version does not offer.
/// Cost: allocates and zeroes 24 bytes per counter: 8 for the count and 16 for resets. Half for 32-bit counters, a
///   third without live reset.
fn picollo_histogram_create(
    options: *const picollo_histogram_options,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (out, options) = (output(out)?, read_options(options)?);
    // SAFETY: the functions that record require one thread at a time in single-writer mode.
    out.deliver(into_handle(unsafe { SharedHistogram::create_unguarded(&options) }?))
}
}

/// Gives back a reference. The last one frees the memory; snapshots, recorders and sessions hold their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_free(histogram: *mut picollo_histogram) {
    guard_void(|| counted::free(histogram));
}

picollo_core::start_on_a_line!(
    ".text.picollo_histogram_record",
    ".text.picollo_histogram_record_n",
    ".text.picollo_histogram_record_batch",
);

/// Counts one value. Values out of range are counted as underflow or overflow.
///
/// This call is meant to be made millions of times per second. picollo_recorder and picollo_histogram_record_batch
/// save even the call.
///
/// Requires: histogram is not NULL; this is not checked.
/// Threads: any thread, or one at a time with PICOLLO_MODE_SINGLE_WRITER. Readers and resets do not disturb it.
/// Cost: in single-writer mode about that of calling an empty function, 18 instructions on x86-64. In the default
///   mode the addition is atomic. No lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_record(histogram: *mut picollo_histogram, value: u64) {
    // SAFETY: not NULL and not freed, as the caller promises. A handle is the pointer to its header.
    unsafe { record_exported(NonNull::new_unchecked(histogram.cast()), value) };
}

/// Counts one value count times. A count of 0 does nothing. Counts that exceed a counter are reported as lost. If 64
/// bits wrap around, picollo_counts.lost is UINT64_MAX. picollo_histogram_record does not check for this, because a
/// wrap by single records takes centuries. It misses one only if record_n had filled the counter almost completely.
///
/// Requires: histogram is not NULL; this is not checked.
/// Otherwise: as picollo_histogram_record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_record_n(
    histogram: *mut picollo_histogram,
    value: u64,
    count: u64,
) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(histogram) }.record_n(value, count);
}

/// Counts every value of an array. The counts are those of picollo_histogram_record for each value, in less time.
/// Does nothing if histogram or values is NULL.
///
/// Threads: as picollo_histogram_record.
/// Cost: about a nanosecond per value in single-writer mode, an atomic addition per value in the default mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_record_batch(
    histogram: *mut picollo_histogram,
    values: *const u64,
    length: usize,
) {
    if let (Ok(histogram), Ok(values)) = (borrow(histogram), slice(values, length)) {
        histogram.record_batch(values);
    }
}

/// Counts a value and corrects for coordinated omission. If value exceeds expected_interval, the call also counts the
/// values that a stalled caller did not send: value - interval, value - 2 * interval, ... down to the interval. An
/// expected_interval of 0 adds nothing. Does nothing if histogram is NULL.
///
/// Threads: as picollo_histogram_record.
/// Cost: a record per added value, at most one per counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_record_corrected(
    histogram: *mut picollo_histogram,
    value: u64,
    expected_interval: u64,
) {
    guard_void(|| {
        if let Ok(histogram) = borrow(histogram) {
            histogram.record_corrected(value, expected_interval);
        }
    });
}

exported! {
/// Counts a value if it lies between exact bounds, which may be tighter than the buckets at the ends of the range.
/// Otherwise counts it as underflow or overflow, and reports that.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT if the value was counted as underflow or overflow.
/// Threads: as picollo_histogram_record.
/// Cost: slightly more than picollo_histogram_record.
fn picollo_histogram_record_in_range(
    histogram: *mut picollo_histogram,
    value: u64,
    min: u64,
    max: u64,
) -> picollo_status {
    Ok(borrow(histogram)?.record_in_range(value, min, max)?)
}

/// Starts counting anew: later reads count from here. Writers are not disturbed, and each record is on exactly one
/// side of the reset. Deltas of snapshots are not affected. If a process is killed inside the call, or forks during
/// it, the reset did not happen.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED for a histogram made with PICOLLO_HISTOGRAM_NO_LIVE_RESET; PICOLLO_ERR_BUSY if
///   another program overwrites the shared memory; with sparse storage also PICOLLO_ERR_OUT_OF_MEMORY, and nothing
///   has changed.
/// Cost: copies all counters.
fn picollo_histogram_reset(histogram: *mut picollo_histogram) -> picollo_status {
    Ok(borrow(histogram)?.reset()?)
}

/// Reports the present size of the histogram in bytes, without its snapshots.
fn picollo_histogram_footprint(histogram: *const picollo_histogram, out_bytes: *mut usize) -> picollo_status {
    let (histogram, out_bytes) = (borrow(histogram)?, output(out_bytes)?);
    out_bytes.deliver(histogram.footprint())
}
}

/// Reports which option picollo_histogram_create refuses, and why, in the error's message: "counter_bits is 7, and
/// has to be 0, 32 or 64". Makes nothing.
///
///     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) {
///         picollo_error error = {0};
///         picollo_histogram_explain(&options, &error);
///         fprintf(stderr, "%s\n", error.message);
///     }
///
/// Returns: PICOLLO_OK if the options are valid; otherwise what picollo_histogram_create returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_explain(
    options: *const picollo_histogram_options,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || explain(options))
}

/// Adds a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_retain(
    histogram: *mut picollo_histogram,
) -> *mut picollo_histogram {
    // SAFETY: the caller's promise, passed on.
    guard_value(ptr::null_mut(), || unsafe {
        counted::retain(histogram);
        histogram
    })
}
