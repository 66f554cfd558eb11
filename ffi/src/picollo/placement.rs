//! In memory of the caller: static, on a stack, from another allocator, or shared between processes.
//!
//! Everything else works as for histograms and snapshots on the heap. docs/embedded.md has examples.

use core::ffi::c_void;
use core::ptr::NonNull;

use picollo_core::SharedHistogram;

use crate::argument::output;
use crate::counted::borrow;
use crate::failure::Failure;
use crate::guard::exported;
use crate::histogram::{into_handle, picollo_histogram};
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::snapshot::picollo_snapshot;
use crate::snapshot_block::{ALIGNMENT, Block};
use crate::status::picollo_status;

exported! {
/// Reports how much memory picollo_histogram_init_in needs for the same options: 256 bytes, and three cells per
/// bucket, two of them for resets. With PICOLLO_HISTOGRAM_NO_LIVE_RESET it is one cell per bucket.
///
/// Returns: as picollo_histogram_create; PICOLLO_ERR_UNSUPPORTED also for options that need the heap.
fn picollo_histogram_required_size(
    options: *const picollo_histogram_options,
    out_size: *mut usize,
    out_align: *mut usize,
) -> picollo_status {
    let (out_size, out_align, options) = (output(out_size)?, output(out_align)?, read_options(options)?);
    out_size.set(SharedHistogram::required_size(&options)?);
    out_align.deliver(SharedHistogram::ALIGNMENT)
}

/// Makes an empty histogram in the caller's memory: static, on a stack, from another allocator, or shared between
/// processes. Other processes open it with picollo_histogram_attach. The histogram must be dense, and interlocked
/// (the default) or single-writer.
///
/// Requires: memory has size bytes, is aligned as picollo_histogram_required_size reports, and has no other use until
///   the histogram and everything made from it are freed.
/// Returns: as picollo_histogram_create.
/// Ownership: the memory stays the caller's. References to such a histogram are not counted: picollo_histogram_free
///   does nothing, and the memory must outlive the snapshots, recorders and scopes.
/// Cost: zeroes the memory that it needs.
fn picollo_histogram_init_in(
    memory: *mut c_void,
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
    out.deliver(into_handle(unsafe { SharedHistogram::init_in_unguarded(memory.cast(), size, &options) }?))
}
}

/// Seeds the identities of histograms, by which snapshots recognize them. A build without an operating system draws
/// identities only from this number (default 0) and a counter, so they are the same in every run. Call it first, with
/// a number that no other run uses, if histograms lie in memory that survives a restart or that processors share.
/// Other builds mix the number with their own sources.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_seed_identities(seed: u64) {
    picollo_core::layouts::seed_identities(seed);
}

exported! {
/// Opens a histogram that picollo_histogram_init_in made in this memory, in this or another process. The memory may
/// be at a different address in each process.
///
/// Snapshots recognize a histogram by a 128-bit identity in its memory, whoever maps it and where. If
/// picollo_histogram_init_in makes another histogram in its place, snapshots see a new one. A copy of the memory has
/// the identity of the original. If both continue to be used, give each its own snapshots.
///
/// Requires: as picollo_histogram_init_in; other writers to the memory use only this library.
/// Returns: PICOLLO_ERR_BUFFER_TOO_SMALL if the memory ends inside the histogram; PICOLLO_ERR_CORRUPT if there is no
///   histogram, or a damaged one; PICOLLO_ERR_INCOMPATIBLE if another version or word size made it.
/// Ownership: as picollo_histogram_init_in.
/// Threads: any thread. In single-writer mode there is one writer among all processes.
fn picollo_histogram_attach(
    memory: *mut c_void,
    size: usize,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let out = output(out)?;
    if memory.is_null() {
        return Err(Failure::NULL_POINTER);
    }
    out.deliver(into_handle(SharedHistogram::attach_unguarded(memory.cast(), size)?))
}
}

exported! {
/// Reports how much memory picollo_snapshot_init_in needs for this histogram.
fn picollo_snapshot_required_size(
    histogram: *const picollo_histogram,
    out_size: *mut usize,
    out_align: *mut usize,
) -> picollo_status {
    let (histogram, out_size, out_align) = (borrow(histogram)?, output(out_size)?, output(out_align)?);
    out_size.set(Block::required_size(histogram.layout())?);
    out_align.deliver(ALIGNMENT)
}

/// Makes a snapshot in the caller's memory, and updates it as picollo_snapshot_create does.
///
/// Requires: memory has size bytes, is aligned as picollo_snapshot_required_size reports, and is neither moved nor
///   used otherwise until picollo_snapshot_free.
/// Returns: as picollo_snapshot_create.
/// Ownership: the memory stays the caller's.
/// Cost: copies all counters.
fn picollo_snapshot_init_in(
    memory: *mut c_void,
    size: usize,
    histogram: *const picollo_histogram,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (histogram, out) = (borrow(histogram)?, output(out)?);
    let memory = NonNull::new(memory.cast()).ok_or(Failure::NULL_POINTER)?;
    // SAFETY: the memory is the snapshot's from now on, as the caller promises.
    let block = unsafe { Block::initialise(memory, size, &histogram, 0)? };
    out.deliver(block.as_ptr().cast())
}
}
