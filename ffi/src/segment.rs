//! Segments: publishing histograms and counters for others to read while the program runs.
//!
//! A segment is a file in memory, of this user alone. Whatever is recorded into a histogram in it can be read from outside, by
//! the command picollo, also after a crash. Recording takes what it takes elsewhere. Linux only.
//!
//!     picollo_segment *segment;
//!     picollo_histogram *latency;
//!     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
//!     metric.name = "request";
//!     metric.unit = "ns";
//!     if (picollo_segment_create(NULL, &segment, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!     if (picollo_segment_histogram(segment, &metric, NULL, &latency, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!     picollo_histogram_record(latency, 1234);
//!
//! Where it lies: in the directory that the options name, or PICOLLO_DIR, otherwise $RUNTIME_DIRECTORY/picollo,
//! $XDG_RUNTIME_DIR/picollo or /dev/shm/picollo-UID. The file is removed at an orderly end of the process that made it, unless
//! that has forked since or others have it.
//!
//! Forked children write into the segments that they inherit; others attach. What is asked for by the same name and labels is the
//! same. Segments are mapped as long as the process lives, so that things may be freed in any order.

use core::ffi::c_char;
use std::path::Path;

use picollo_core::Metric;
use picollo_native::{Segment, SegmentOptions};

use crate::argument::{input, output, text};
use crate::event::picollo_error;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::handles::{picollo_histogram, picollo_metric_counter, picollo_segment};
use crate::histogram::into_handle;
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::memory;
use crate::metric::AnyCounter;
use crate::options;
use crate::registry::{is_striped, picollo_metric_options, with_metric};
use crate::status::picollo_status;
use crate::text::write_text;

/// Leave the file where it is at an orderly end.
pub const PICOLLO_SEGMENT_KEEP: u32 = 1 << 0;
/// Also in a directory that is not in memory: records may then wait for the disk.
pub const PICOLLO_SEGMENT_ON_DISK: u32 = 1 << 1;
/// Histograms whose options name no mode have one set of cells, which all add to atomically, and not one for each CPU: less memory,
/// and less for viewers to read.
pub const PICOLLO_SEGMENT_INTERLOCKED: u32 = 1 << 2;
/// picollo_histogram_reset works for histograms in it, unless they were made with PICOLLO_HISTOGRAM_NO_LIVE_RESET: three times the
/// memory, and interlocked where no mode is named. It does not for per-CPU ones.
pub const PICOLLO_SEGMENT_LIVE_RESET: u32 = 1 << 3;

/// What says something of the histograms in a segment.
const OF_HISTOGRAMS: u32 = PICOLLO_SEGMENT_INTERLOCKED | PICOLLO_SEGMENT_LIVE_RESET;

/// What a segment is to be. Strings are NUL-terminated UTF-8, and copied.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_segment_options {
    pub struct_size: u32,
    /// PICOLLO_SEGMENT_... or 0.
    pub flags: u32,
    /// The most that the file may come to take; 0: 128 MiB. Address space from the beginning, memory as histograms are made.
    pub max_bytes: u64,
    /// 1 to 64 letters, digits, _ and -. NULL: as the program.
    pub name: *const c_char,
    /// Where it goes; made if it is not there. NULL: as at the head of this section.
    pub directory: *const c_char,
}

// SAFETY: numbers and two pointers, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_segment_options {
    const FIRST_SIZE: usize = 16 + 2 * size_of::<*const u8>();
}

/// What flags say of histograms.
fn of_histograms(flags: u32) -> SegmentOptions<'static> {
    SegmentOptions {
        interlocked: flags & PICOLLO_SEGMENT_INTERLOCKED != 0,
        live_reset: flags & PICOLLO_SEGMENT_LIVE_RESET != 0,
        ..SegmentOptions::default()
    }
}

/// The segment behind a handle.
///
/// # Safety
/// If not NULL, `segment` must be a handle that is not freed meanwhile.
unsafe fn read<'a>(segment: *const picollo_segment) -> Outcome<&'a Segment> {
    // SAFETY: a handle leads to this; the rest is passed on.
    unsafe { input(segment.cast()) }
}

exported! { explained(error)
/// Makes a segment of this process. Segments of the same name that nobody has any more are removed.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for a name that is none, one that this process has already, a size that
///   cannot be; PICOLLO_ERR_PERMISSION where the directory is not this user's alone; PICOLLO_ERR_UNSUPPORTED where it
///   is not in memory, and elsewhere than on Linux; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS. error says what to do.
/// Cost: some ten system calls.
fn picollo_segment_create(
    options: *const picollo_segment_options,
    out: *mut *mut picollo_segment,
    error: *mut picollo_error,
) -> picollo_status {
    let (out, asked) = (output(out)?, options::read(options)?);
    let mut given = SegmentOptions::default();
    if let Some(asked) = asked {
        let known = PICOLLO_SEGMENT_KEEP | PICOLLO_SEGMENT_ON_DISK | OF_HISTOGRAMS;
        if asked.flags & !known != 0 {
            return Err(Failure::UNSUPPORTED.into());
        }
        given = SegmentOptions {
            name: text(asked.name)?,
            directory: text(asked.directory)?,
            max_bytes: asked.max_bytes,
            keep: asked.flags & PICOLLO_SEGMENT_KEEP != 0,
            on_disk: asked.flags & PICOLLO_SEGMENT_ON_DISK != 0,
            ..of_histograms(asked.flags)
        };
    }
    out.tell(memory::create(Segment::create(&given)?)?.as_ptr().cast())
}

/// Opens a segment that another process has made, to write into.
///
/// Requires: path is NULL, for that of the environment variable PICOLLO_SEGMENT, or a NUL-terminated path.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT without a path; PICOLLO_ERR_PERMISSION for what is not this user's alone;
///   PICOLLO_ERR_CORRUPT and PICOLLO_ERR_INCOMPATIBLE for what is no segment, or none that this build can use;
///   PICOLLO_ERR_BUSY while it is being removed; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS; PICOLLO_ERR_UNSUPPORTED
///   elsewhere than on Linux.
/// Cost: some ten system calls.
fn picollo_segment_attach(
    path: *const c_char,
    out: *mut *mut picollo_segment,
    error: *mut picollo_error,
) -> picollo_status {
    let (path, out) = (text(path)?, output(out)?);
    out.tell(memory::create(Segment::attach(Path::new(path))?)?.as_ptr().cast())
}
}

/// Frees the handle of a segment. What is in it stays, and so do the histograms and counters that it gave out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_segment_free(segment: *mut picollo_segment) {
    // SAFETY: from one of the above, and given up by the caller.
    guard_void(|| unsafe { memory::destroy(segment.cast::<Segment>()) });
}

exported! {
/// Tells the path of a segment, for picollo_segment_attach in other processes.
fn picollo_segment_path(
    segment: *const picollo_segment,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let path = read(segment)?.path();
    write_text(buffer, capacity, out_length, &|out| write!(out, "{}", path.display()))
}
}

exported! { explained(error)
/// The histogram of this name and these labels in a segment: the one that there is, or a new one.
///
/// Any thread of any process records into it, in PICOLLO_MODE_INTERLOCKED (the default) and PICOLLO_MODE_PER_CPU: the former leaves
/// it to the library whether there are cells for each CPU, as there are on machines of up to 8 CPUs with restartable sequences. One in
/// single-writer mode is the thread's that made it.
///
/// Requires: options is NULL, or as for picollo_histogram_create: dense, interlocked, per-CPU or single-writer, with
///   64 bits. What says nothing about values means 1 % from 1 to 3600000000000, an hour in nanoseconds. Of the
///   metric, max_buckets and the flags PICOLLO_METRIC_NATIVE and _SINCE_RESET mean nothing.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, names and labels that cannot be; PICOLLO_ERR_INCOMPATIBLE where
///   there is one of that name with another layout or mode, or another thread's; PICOLLO_ERR_UNSUPPORTED for what
///   cannot lie in a segment, saying what to use; PICOLLO_ERR_OUT_OF_MEMORY where something is full; PICOLLO_ERR_BUSY
///   where another process is stopped in this call; PICOLLO_ERR_CORRUPT; PICOLLO_ERR_OS. Where the directory has only
///   its last entry left, that is a histogram of all values with 1 %, picollo_overflow, which all share who come
///   late.
/// Ownership: *out is the caller's, for picollo_histogram_free, which does nothing to it. picollo_histogram_reset is
///   PICOLLO_ERR_UNSUPPORTED but in a segment with PICOLLO_SEGMENT_LIVE_RESET.
/// Threads: any thread, also in forked children.
/// Cost: some ten system calls; takes the memory of the histogram.
fn picollo_segment_histogram(
    segment: *const picollo_segment,
    metric: *const picollo_metric_options,
    options: *const picollo_histogram_options,
    out: *mut *mut picollo_histogram,
    error: *mut picollo_error,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on; that one thread records in single-writer mode is asked of the callers of all
    // that record.
    unsafe {
        let (segment, out, options) = (read(segment)?, output(out)?, read_options(options)?);
        let histogram = explained(metric, |metric| segment.histogram_unguarded(metric, &options))?;
        out.set(into_handle(histogram));
    }
    Ok(())
}

/// The counter of this name and these labels in a segment: the one that there is, or a new one at zero. With
/// PICOLLO_METRIC_STRIPED it has many words, so that neither threads nor forked workers wait for each other.
///
/// Returns: as picollo_segment_histogram; PICOLLO_ERR_INCOMPATIBLE also if one is striped and the other is not.
/// Requires: of the metric, what is about histograms means nothing.
/// Threads: any thread, also in forked children.
/// Otherwise: as picollo_segment_histogram.
fn picollo_segment_counter(
    segment: *const picollo_segment,
    metric: *const picollo_metric_options,
    out: *mut *mut picollo_metric_counter,
    error: *mut picollo_error,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on.
    unsafe {
        let (segment, out) = (read(segment)?, output(out)?);
        let striped = is_striped(metric);
        let counter = explained(metric, |metric| {
            if striped {
                segment.striped_counter(metric).map(AnyCounter::Striped)
            } else {
                segment.counter(metric).map(AnyCounter::OneWord)
            }
        })?;
        out.set(counter.into_handle().as_ptr().cast());
    }
    Ok(())
}

/// Takes the histogram or counter of this name and these labels out of a segment: viewers do not see it any more, unless they did before,
/// and who asks for it gets a new one. Its memory stays taken, and its place in the directory is not used again.
///
/// Requires: as picollo_segment_histogram; of the metric name and labels mean something.
/// Returns: as picollo_segment_histogram; PICOLLO_ERR_INVALID_ARGUMENT also where there is nothing of that name, and
///   PICOLLO_ERR_INCOMPATIBLE for another thread's.
/// Ownership: handles of it stay what they are; what is recorded through them is seen through them alone.
/// Threads: any thread, also in forked children.
/// Cost: some five system calls.
fn picollo_segment_retire(
    segment: *const picollo_segment,
    metric: *const picollo_metric_options,
    error: *mut picollo_error,
) -> picollo_status {
    let segment = read(segment)?;
    explained(metric, |metric| segment.retire(metric))
}
}

exported! {
/// Tells how many bytes a histogram takes in a segment, beside its entry in the directory, which is there already.
///
/// Requires: options as for picollo_segment_histogram; flags is 0, or PICOLLO_SEGMENT_INTERLOCKED and _LIVE_RESET as
///   of the segment.
/// Returns: PICOLLO_ERR_UNSUPPORTED for other flags, and for what cannot lie in a segment;
///   PICOLLO_ERR_INVALID_ARGUMENT; PICOLLO_ERR_UNSUPPORTED elsewhere than on Linux.
fn picollo_segment_estimate(
    options: *const picollo_histogram_options,
    flags: u32,
    out: *mut u64,
) -> picollo_status {
    let (out, options) = (output(out)?, read_options(options)?);
    if flags & !OF_HISTOGRAMS != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    out.tell(Segment::estimate(&options, &of_histograms(flags))?)
}
}

/// Hands out what the caller says about a metric to what explains its failures.
///
/// # Safety
/// As for [`with_metric`].
unsafe fn explained<T>(
    metric: *const picollo_metric_options,
    use_it: impl FnOnce(&Metric) -> Result<T, picollo_error>,
) -> Result<T, picollo_error> {
    with_metric(metric, |metric| Ok(use_it(metric)))?
}
