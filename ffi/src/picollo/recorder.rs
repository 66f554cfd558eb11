//! Recording without a call.
//!
//! A recorder holds what a record needs, so the compiler can inline it. Include picollo_inline.h, which has examples, take
//! the recorder's writer, and call picollo_writer_record. Bindings for other languages may do the same. This is the rule for a value v:
//!
//!     e     = 63 - block_scale - leading_zeros(v | (1 << block_scale))
//!     index = (e << block_scale) + (v >> e) - first_index              (modulo 2^64)
//!
//! If index < length, add one to cell number index (of counter_bits bits) by a relaxed atomic load and store.
//! Otherwise, or if a 32-bit cell is all ones, call picollo_histogram_record(histogram, v) instead. The counts are
//! the same. If one instruction adds, no signal handler can interrupt the addition. A 32-bit cell that is zero
//! afterwards has wrapped around: report it with picollo_histogram_record_n(histogram, v, 2^32), and leave the cell
//! as it is.
//!
//! A recorder adds without an atomic operation, so its mode must be requested: PICOLLO_MODE_THREAD_LOCAL, with a recorder
//! for each thread, or PICOLLO_MODE_SINGLE_WRITER, with one. For a histogram of the default mode that many threads share,
//! use picollo_atomic_recorder. The rule is the same, but one atomic addition increments the cell, and nothing is to be
//! released.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use picollo_core::recorders::Recorder;

use crate::argument::{exclusive, output};
use crate::counted::borrow;
use crate::failure::Failure;
use crate::guard::{exported, guard_void};
use crate::histogram::picollo_histogram;
use crate::status::picollo_status;

/// Version of the rule above and of picollo_recorder.
pub const PICOLLO_INLINE_VERSION: u32 = 1;

/// A recorder. One thread at a time may record through it, also alternately with picollo_histogram_record on the same
/// histogram.
///
/// Do not change its fields. Copies are valid until the original is released.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_recorder {
    /// Number of cells. 0 if the layout has a unit; then picollo_histogram_record takes every value.
    pub length: u64,
    /// Logical index of the first cell.
    pub first_index: u64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    /// Width of a cell, 32 or 64.
    pub counter_bits: u32,
    /// The cells: uint32_t or uint64_t, by counter_bits.
    pub counters: *mut c_void,
    /// Takes the values that the cells cannot.
    pub histogram: *mut picollo_histogram,
    /// Private.
    pub owner: *mut c_void,
    pub reserved: *mut c_void,
}

exported! {
/// Fills in a recorder for a dense histogram in PICOLLO_MODE_SINGLE_WRITER or PICOLLO_MODE_THREAD_LOCAL. In
/// thread-local mode the recorder owns a shard until it is released, even if the thread ends.
///
/// Requires: inline_version is PICOLLO_INLINE_VERSION at compile time.
/// Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, and for a mode or storage without recorder, such as
///   the default PICOLLO_MODE_INTERLOCKED; PICOLLO_ERR_OUT_OF_MEMORY if there is no room for a shard.
/// Ownership: the recorder holds a reference to the histogram until picollo_recorder_release.
/// Cost: in thread-local mode it may allocate a shard.
fn picollo_histogram_recorder(
    histogram: *mut picollo_histogram,
    inline_version: u32,
    out: *mut picollo_recorder,
) -> picollo_status {
    let (histogram, out) = (borrow(histogram)?, output(out)?);
    if inline_version != PICOLLO_INLINE_VERSION {
        return Err(Failure::UNSUPPORTED);
    }
    let layout = histogram.layout();
    let recorder = histogram.recorder()?;
    let counters = recorder.counters().as_ptr().cast();
    let recorder_length = recorder.length();
    let (own, owner) = recorder.into_raw();
    out.deliver(picollo_recorder {
        length: recorder_length,
        first_index: layout.first_index(),
        block_scale: layout.scale(),
        counter_bits: histogram.counter_bits(),
        counters,
        histogram: own.as_ptr().cast(),
        owner,
        reserved: ptr::null_mut(),
    })
}
}

/// A recorder for a histogram that any number of threads record into.
///
/// Do not change its fields. All threads may share it, and copies are valid. It borrows the histogram, and there is
/// nothing to release.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_atomic_recorder {
    /// Number of cells. 0 if the layout has a unit; then picollo_histogram_record takes every value.
    pub length: u64,
    /// Logical index of the first cell.
    pub first_index: u64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    pub reserved: u32,
    /// The cells.
    pub counters: *mut u64,
    /// Takes the values that the cells cannot.
    pub histogram: *mut picollo_histogram,
}

exported! {
/// Fills in an atomic recorder for a dense histogram with 64-bit counters in PICOLLO_MODE_INTERLOCKED, the default.
/// Record with picollo_atomic_writer_record of picollo_inline.h.
///
/// Requires: inline_version is PICOLLO_INLINE_VERSION at compile time.
/// Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, any other mode or storage, and 32-bit counters,
///   because the library must count their wraps.
/// Ownership: borrows the histogram: the caller keeps a reference while it records.
fn picollo_histogram_atomic_recorder(
    histogram: *mut picollo_histogram,
    inline_version: u32,
    out: *mut picollo_atomic_recorder,
) -> picollo_status {
    let (native, out) = (borrow(histogram)?, output(out)?);
    if inline_version != PICOLLO_INLINE_VERSION {
        return Err(Failure::UNSUPPORTED);
    }
    let recorder = native.atomic_recorder()?;
    let layout = native.layout();
    out.deliver(picollo_atomic_recorder {
        length: recorder.length(),
        first_index: layout.first_index(),
        block_scale: layout.scale(),
        reserved: 0,
        counters: recorder.counters().as_ptr().cast(),
        histogram,
    })
}
}

/// Gives back the recorder's reference and shard, and clears the recorder. Does nothing if recorder is NULL or was
/// released.
///
/// Requires: neither the recorder nor a copy of it is used to record any more.
/// Threads: any thread, once.
/// Cost: as picollo_histogram_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_recorder_release(recorder: *mut picollo_recorder) {
    guard_void(|| {
        let Ok(recorder) = exclusive(recorder) else { return };
        let (histogram, owner) = (recorder.histogram, recorder.owner);
        *recorder = picollo_recorder {
            length: 0,
            first_index: 0,
            block_scale: 0,
            counter_bits: 0,
            counters: ptr::null_mut(),
            histogram: ptr::null_mut(),
            owner: ptr::null_mut(),
            reserved: ptr::null_mut(),
        };
        if let Some(histogram) = NonNull::new(histogram) {
            // SAFETY: the parts taken when the recorder was filled in, which are given back once.
            drop(unsafe { Recorder::from_raw(histogram.cast(), owner) });
        }
    });
}
