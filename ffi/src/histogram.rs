//! Histograms.
//!
//! A histogram counts 64-bit values in buckets whose width grows with the value, so that every value is known with a
//! bounded relative error. Recording never fails, waits, or loses anything silently: values out of range are counted apart, as
//! underflow and overflow. It takes some nanoseconds by default, which is right with any number of threads, and about one in
//! single-writer mode.
//!
//! Counts are only ever added to. A reset notes the counts of its moment, and readers subtract them. So any number of
//! threads may read and reset while others record. By default any number of threads may record, too, by an atomic addition;
//! modes for one writer, and for many at high rates, are asked for by name (PICOLLO_MODE_...).
//!
//!     picollo_histogram *latency;
//!     picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
//!     options.relative_error = 0.01;
//!     options.max_trackable = 1000000000;
//!     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
//!     picollo_histogram_record(latency, 1234);
//!
//! To read a histogram, take a picollo_snapshot, or a picollo_summary straight away.

use core::ptr::{self, NonNull};

use picollo_core::SharedHistogram;

use crate::argument::{output, slice};
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::event::picollo_error;
use crate::failure::Failure;
use crate::guard::{exported, guard_explained, guard_value, guard_void};
use crate::handles::picollo_histogram;
use crate::histogram_options::{explain, picollo_histogram_options, read_options};
use crate::status::picollo_status;

impl Counted for picollo_histogram {
    type Reference = SharedHistogram;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> SharedHistogram {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { SharedHistogram::from_raw(handle.cast()) }
    }
}

/// Gives a reference to the caller: of any mode, since every function that records asks of its caller what the mode asks.
pub fn into_handle(histogram: SharedHistogram) -> *mut picollo_histogram {
    histogram.into_raw().as_ptr().cast()
}

exported! {
/// Makes an empty histogram on the heap.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED for what this version does not offer.
/// Cost: allocates and zeroes 16 bytes a counter (64-bit; half of that for 32-bit, and half without live reset).
fn picollo_histogram_create(
    options: *const picollo_histogram_options,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (out, options) = (output(out)?, read_options(options)?);
    // SAFETY: that one thread at a time records in single-writer mode is asked of the callers of all that record.
    out.tell(into_handle(unsafe { SharedHistogram::create_unguarded(&options) }?))
}
}

/// Says which of the options picollo_histogram_create and its like refuse, and why, in the error's message: "counter_bits is 7, and
/// has to be 0, 32 or 64". Makes nothing.
///
///     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) {
///         picollo_error error = {0};
///         picollo_histogram_explain(&options, &error);
///         fprintf(stderr, "%s\n", error.message);
///     }
///
/// Requires: options as for picollo_histogram_create.
/// Returns: PICOLLO_OK where nothing speaks against them; otherwise what picollo_histogram_create returns.
/// Cost: microseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_explain(
    options: *const picollo_histogram_options,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || explain(options))
}

exported! {
/// Tells how much memory picollo_histogram_init_in needs for the same options.
///
/// Requires: options as for picollo_histogram_create.
/// Returns: as picollo_histogram_create, with PICOLLO_ERR_UNSUPPORTED also for what cannot live in the caller's
///   memory.
/// Cost: none to speak of. (The size itself: 256 bytes, and three cells for each bucket, two of them for the baseline
///   of resets, as everywhere; one cell with PICOLLO_HISTOGRAM_NO_LIVE_RESET.)
fn picollo_histogram_required_size(
    options: *const picollo_histogram_options,
    out_size: *mut usize,
    out_align: *mut usize,
) -> picollo_status {
    let (out_size, out_align, options) = (output(out_size)?, output(out_align)?, read_options(options)?);
    out_size.set(SharedHistogram::required_size(&options)?);
    out_align.tell(SharedHistogram::ALIGNMENT)
}

/// Makes an empty histogram in the caller's memory: static, on a stack, from another allocator, or shared between
/// processes, where the others use picollo_histogram_attach. Dense histograms, interlocked (the default) or with one writer.
///
/// Requires: memory has size bytes, is aligned as picollo_histogram_required_size says, and is used for nothing else
///   until the histogram and everything made from it are freed.
/// Returns: as picollo_histogram_create.
/// Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free
///   does nothing to it, and the memory has to outlive its snapshots, recorders and scopes.
/// Cost: zeroes the memory it needs.
fn picollo_histogram_init_in(
    memory: *mut core::ffi::c_void,
    size: usize,
    options: *const picollo_histogram_options,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (out, options) = (output(out)?, read_options(options)?);
    if memory.is_null() {
        return Err(Failure::NULL_POINTER);
    }
    // No slice is longer than half the address space.
    let size = size.min(isize::MAX as usize);
    // SAFETY: the memory is the histogram's from now on, as the caller promises.
    out.tell(into_handle(unsafe { SharedHistogram::init_in_unguarded(memory.cast(), size, &options) }?))
}
}

/// Gives builds without an operating system something to draw the identities of histograms from, by which snapshots know
/// them: there they are drawn from this number, 0 unless given, and a counter, so that they are the same in every run. Give
/// one that no other run has, before anything is made or read, where histograms lie in memory that keeps its content over a
/// restart, or that processors share. Elsewhere it is mixed into what is at hand anyway.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_seed_identities(seed: u64) {
    picollo_core::seed_identities(seed);
}

exported! {
/// Opens a histogram that picollo_histogram_init_in made in this memory, in this process or another one. The memory may
/// be at another address in each process.
///
/// Snapshots know a histogram by a number of 128 bits that is kept in the memory, whoever maps it and where. Where
/// picollo_histogram_init_in makes the next one in its place, it is a new one to them. A copy of the memory passes for the
/// original: of two that go on side by side, give each its own snapshots.
///
/// Requires: as for picollo_histogram_init_in; whoever else can write to the memory is trusted to do so through this
///   library only.
/// Returns: PICOLLO_ERR_BUFFER_TOO_SMALL for memory that ends inside the histogram; PICOLLO_ERR_CORRUPT when there is no histogram, or a damaged one;
///   PICOLLO_ERR_INCOMPATIBLE when another version or word size made it.
/// Ownership: as for picollo_histogram_init_in.
/// Threads: any thread. In single-writer mode there is one writer among all processes.
fn picollo_histogram_attach(
    memory: *mut core::ffi::c_void,
    size: usize,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let out = output(out)?;
    if memory.is_null() {
        return Err(Failure::NULL_POINTER);
    }
    out.tell(into_handle(SharedHistogram::attach_unguarded(memory.cast(), size)?))
}
}

/// Makes one reference more.
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

/// Gives back one reference. The memory goes with the last one: snapshots, recorders and sessions hold theirs.
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
/// This is the call that is meant to be made millions of times a second; to save even the call, see picollo_recorder
/// and picollo_histogram_record_batch.
///
/// Requires: histogram is not NULL; this is not checked.
/// Threads: any thread, unless the histogram was made with PICOLLO_MODE_SINGLE_WRITER: then one at a time. Beside any
///   number of readers and resets.
/// Cost: in single-writer mode about that of calling an empty function, 18 instructions on x86-64; in the default
///   mode an atomic addition more. No lock, allocation or system call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_record(histogram: *mut picollo_histogram, value: u64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(histogram) }.record_out_of_line(value);
}

/// Counts one value count times. A count of 0 does nothing. What a counter cannot hold is counted as lost: when 64 bits
/// wrap around, picollo_counts.lost is UINT64_MAX. (A value recorded by itself is not checked for that: 2^64 of them
/// take centuries. Should record_n have filled a counter to the last few, they are not counted there.)
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

/// Counts every value of an array. Same counts as calling picollo_histogram_record for each, in less time. Does nothing
/// when histogram or values is NULL.
///
/// Requires: values leads to length values, aligned, which nobody changes meanwhile.
/// Threads: as picollo_histogram_record.
/// Cost: about a nanosecond a value in single-writer mode, an atomic addition a value in the default mode.
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

/// Counts a value and, when it is longer than the interval at which values were expected, also those that a stalled
/// caller did not send meanwhile: value - interval, value - 2 * interval, ... down to the interval (the correction for
/// coordinated omission). An expected_interval of 0 adds nothing. Does nothing when histogram is NULL.
///
/// Threads: as picollo_histogram_record.
/// Cost: one record for each value added, at most one for each counter.
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
/// Counts a value when it lies between exact bounds, which may be tighter than the buckets at the ends of the range.
/// Otherwise it is counted as underflow or overflow, and the caller is told.
///
/// Returns: PICOLLO_OK when it was counted in a bucket; PICOLLO_ERR_INVALID_ARGUMENT when it was counted as underflow
///   or overflow.
/// Threads: as picollo_histogram_record.
/// Cost: somewhat more than picollo_histogram_record.
fn picollo_histogram_record_in_range(
    histogram: *mut picollo_histogram,
    value: u64,
    min: u64,
    max: u64,
) -> picollo_status {
    Ok(borrow(histogram)?.record_in_range(value, min, max)?)
}

/// Starts counting anew: later reads count from here. Writers are not disturbed, and each event is on exactly one side
/// of the reset. What snapshots report as deltas is not affected. A process that is killed inside the call, or a fork beside
/// it, leaves a reset that never happened.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED for a histogram made with PICOLLO_HISTOGRAM_NO_LIVE_RESET; PICOLLO_ERR_BUSY in
///   shared memory that another program overwrites; with sparse storage also PICOLLO_ERR_OUT_OF_MEMORY, with nothing
///   changed, where there is no room for the counts to start from.
/// Threads: any thread, at any time.
/// Cost: copies all counters.
fn picollo_histogram_reset(histogram: *mut picollo_histogram) -> picollo_status {
    Ok(borrow(histogram)?.reset()?)
}

/// Tells how much memory the histogram takes now, in bytes, without its snapshots.
fn picollo_histogram_footprint(histogram: *const picollo_histogram, out_bytes: *mut usize) -> picollo_status {
    let (histogram, out_bytes) = (borrow(histogram)?, output(out_bytes)?);
    out_bytes.tell(histogram.footprint())
}
}
