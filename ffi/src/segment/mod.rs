//! Picollo: segments: publish histograms and counters so that others can read them while the program runs.
//!
//! A segment is a file in memory that only this user can open. The command picollo reads the histograms in it from
//! outside, also after a crash. Recording costs the same as elsewhere. Linux only.
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
//! The file lies in the directory of the options, or in PICOLLO_DIR; otherwise in $RUNTIME_DIRECTORY/picollo,
//! $XDG_RUNTIME_DIR/picollo or /dev/shm/picollo-UID. An orderly end of the process that made it removes the file,
//! unless that process has forked or others have attached the segment.
//!
//! Forked children write into the segments that they inherit; other processes attach. The same name and labels mean
//! the same histogram or counter. Segments stay mapped as long as the process lives.
//!
//! All calls here return PICOLLO_ERR_UNSUPPORTED on systems other than Linux. If they take an error, it explains what
//! to do.
//!
//! What holds for every function is at the end of picollo.h.

use core::ffi::c_char;
use std::path::Path;

use ::picollo_segment::{Segment, SegmentOptions};

use crate::argument::{input, output, text};
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::histogram::{into_handle, picollo_histogram};
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::memory;
use crate::metric::{AnyCounter, picollo_metric_counter};
use crate::options;
use crate::registry::{is_striped, picollo_metric_options, with_metric};
use crate::status::{picollo_error, picollo_status};
use crate::text::write_text;

/// A file in memory that holds histograms and counters for others to read. The segment and its histograms and
/// counters may be freed in any order.
pub struct picollo_segment(());

/// Keep the file at an orderly end.
pub const PICOLLO_SEGMENT_KEEP: u32 = 1 << 0;
/// Allow a directory that is not in memory. Records may then wait for the disk.
pub const PICOLLO_SEGMENT_ON_DISK: u32 = 1 << 1;
/// Histograms whose options name no mode have one set of cells with atomic additions, instead of one per CPU. This
/// takes less memory, and viewers read less.
pub const PICOLLO_SEGMENT_INTERLOCKED: u32 = 1 << 2;
/// picollo_histogram_reset works for histograms in the segment, unless they were made with
/// PICOLLO_HISTOGRAM_NO_LIVE_RESET. They take three times the memory, and are interlocked if no mode is named.
/// Per-CPU histograms have no reset.
pub const PICOLLO_SEGMENT_LIVE_RESET: u32 = 1 << 3;

/// The flags that concern the histograms in a segment.
const HISTOGRAM_FLAGS: u32 = PICOLLO_SEGMENT_INTERLOCKED | PICOLLO_SEGMENT_LIVE_RESET;

/// Options of a segment. Strings are NUL-terminated UTF-8, and copied.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_segment_options {
    pub struct_size: u32,
    /// PICOLLO_SEGMENT_... or 0.
    pub flags: u32,
    /// Largest size of the file; 0: 128 MiB. It takes address space at once, but memory only as histograms are made.
    pub max_bytes: u64,
    /// 1 to 64 letters, digits, _ and -. NULL: the name of the program.
    pub name: *const c_char,
    /// Directory of the file; it is made if it does not exist. NULL: see the head of this section.
    pub directory: *const c_char,
}

// SAFETY: numbers and two pointers, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_segment_options {
    const FIRST_SIZE: usize = 16 + 2 * size_of::<*const u8>();
}

/// The options of histograms in flags.
fn histogram_options(flags: u32) -> SegmentOptions<'static> {
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
/// Makes a segment of this process. Segments of the same name that nobody uses any more are removed.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for an invalid name or size, or a name that this process uses already;
///   PICOLLO_ERR_PERMISSION if others have access to the directory; PICOLLO_ERR_UNSUPPORTED if it is not in memory;
///   PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
/// Cost: about ten system calls.
fn picollo_segment_create(
    options: *const picollo_segment_options,
    out: *mut *mut picollo_segment,
    error: *mut picollo_error,
) -> picollo_status {
    let (out, asked) = (output(out)?, options::read(options)?);
    let mut given = SegmentOptions::default();
    if let Some(asked) = asked {
        let known = PICOLLO_SEGMENT_KEEP | PICOLLO_SEGMENT_ON_DISK | HISTOGRAM_FLAGS;
        if asked.flags & !known != 0 {
            return Err(Failure::UNSUPPORTED.into());
        }
        given = SegmentOptions {
            name: text(asked.name)?,
            directory: text(asked.directory)?,
            max_bytes: asked.max_bytes,
            keep: asked.flags & PICOLLO_SEGMENT_KEEP != 0,
            on_disk: asked.flags & PICOLLO_SEGMENT_ON_DISK != 0,
            ..histogram_options(asked.flags)
        };
    }
    out.deliver(memory::create(Segment::create(&given)?)?.as_ptr().cast())
}

/// Opens another process's segment for writing.
///
/// Requires: path is NUL-terminated; NULL means the path in the environment variable PICOLLO_SEGMENT.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT without a path; PICOLLO_ERR_PERMISSION if others have access to the file;
///   PICOLLO_ERR_CORRUPT if it is not a segment; PICOLLO_ERR_INCOMPATIBLE if this build cannot use it;
///   PICOLLO_ERR_BUSY while it is being removed; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
/// Cost: about ten system calls.
fn picollo_segment_attach(
    path: *const c_char,
    out: *mut *mut picollo_segment,
    error: *mut picollo_error,
) -> picollo_status {
    let (path, out) = (text(path)?, output(out)?);
    out.deliver(memory::create(Segment::attach(Path::new(path))?)?.as_ptr().cast())
}
}

/// Frees the handle of a segment. The content stays, and so do the handles of histograms and counters in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_segment_free(segment: *mut picollo_segment) {
    // SAFETY: from one of the above, and given up by the caller.
    guard_void(|| unsafe { memory::destroy(segment.cast::<Segment>()) });
}

exported! {
/// Reports the path of a segment, for picollo_segment_attach in other processes.
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
/// Finds or makes the histogram with this name and these labels in a segment.
///
/// Any thread of any process may record into it in PICOLLO_MODE_INTERLOCKED (the default) and PICOLLO_MODE_PER_CPU.
/// In the default mode the library chooses whether each CPU has its own cells. It does so on machines with up to 8
/// CPUs and restartable sequences. In single-writer mode only the thread that made it may record.
///
/// Requires: options is NULL, or dense with 64 bits: interlocked, per-CPU or single-writer. If they specify no
///   values, the range is 1 to 3600000000000, an hour in nanoseconds, with 1 %. The metric's max_buckets,
///   PICOLLO_METRIC_NATIVE and PICOLLO_METRIC_SINCE_RESET are ignored.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for invalid options, names and labels; PICOLLO_ERR_INCOMPATIBLE if the name
///   exists with another layout or mode, or is another thread's; PICOLLO_ERR_UNSUPPORTED for options that a segment
///   does not offer; PICOLLO_ERR_OUT_OF_MEMORY if the segment is full; PICOLLO_ERR_BUSY if another process is stopped
///   in this call; PICOLLO_ERR_CORRUPT; PICOLLO_ERR_OS. If the directory has only one entry left, the call returns
///   the histogram picollo_overflow, of all values with 1 %, which all later callers share.
/// Ownership: free *out with picollo_histogram_free, which does not remove it. picollo_histogram_reset returns
///   PICOLLO_ERR_UNSUPPORTED, except in a segment with PICOLLO_SEGMENT_LIVE_RESET.
/// Threads: any thread, also in forked children.
/// Cost: about ten system calls; takes the memory of the histogram.
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
        let histogram = with_metric(metric, |metric| segment.histogram_unguarded(metric, &options))?;
        out.set(into_handle(histogram));
    }
    Ok(())
}

/// Finds the counter with this name and these labels in a segment, or makes one at zero. With PICOLLO_METRIC_STRIPED
/// it has many words, so neither threads nor forked workers wait for each other.
///
/// Requires: fields of the metric for histograms are ignored.
/// Returns: as picollo_segment_histogram; PICOLLO_ERR_INCOMPATIBLE also if one is striped and the other is not.
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
        let counter = with_metric(metric, |metric| {
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

/// Removes the histogram or counter with this name and these labels from a segment. New viewers do not see it, and
/// the next request for it makes a new one. Its memory and its place in the directory are not reused.
///
/// Requires: only name and labels of the metric matter.
/// Returns: as picollo_segment_histogram; PICOLLO_ERR_INVALID_ARGUMENT also if the name does not exist, and
///   PICOLLO_ERR_INCOMPATIBLE if it is another thread's.
/// Ownership: its handles stay valid; only they see what is recorded through them.
/// Threads: any thread, also in forked children.
/// Cost: about five system calls.
fn picollo_segment_retire(
    segment: *const picollo_segment,
    metric: *const picollo_metric_options,
    error: *mut picollo_error,
) -> picollo_status {
    let segment = read(segment)?;
    with_metric(metric, |metric| segment.retire(metric))
}
}

exported! {
/// Reports how many bytes a histogram takes in a segment, without its entry in the directory, which exists already.
///
/// Requires: options as for picollo_segment_histogram; flags are those of the segment: 0,
///   PICOLLO_SEGMENT_INTERLOCKED, PICOLLO_SEGMENT_LIVE_RESET, or both.
/// Returns: PICOLLO_ERR_UNSUPPORTED for other flags, and options that a segment does not offer;
///   PICOLLO_ERR_INVALID_ARGUMENT.
fn picollo_segment_estimate(
    options: *const picollo_histogram_options,
    flags: u32,
    out: *mut u64,
) -> picollo_status {
    let (out, options) = (output(out)?, read_options(options)?);
    if flags & !HISTOGRAM_FLAGS != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    out.deliver(Segment::estimate(&options, &histogram_options(flags))?)
}
}
