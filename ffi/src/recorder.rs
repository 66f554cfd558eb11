//! Recording without a call.
//!
//! A recorder holds what a record needs, so that the compiler can inline it: include picollo_inline.h and use
//! picollo_recorder_record. Bindings to other languages may do the same; the rule is this, for a value v:
//!
//!     e     = 63 - block_scale - leading_zeros(v | (1 << block_scale))
//!     index = (e << block_scale) + (v >> e) - first_index              (modulo 2^64)
//!
//! If index < length, add one to cell number index (of counter_bits bits) by a relaxed atomic load and store.
//! Otherwise, and when a 32-bit cell is all ones, call picollo_histogram_record(histogram, v) instead. The counts are
//! the same. Where one instruction adds, a signal handler cannot come between: a 32-bit cell that is zero after it has
//! wrapped, which picollo_histogram_record_n(histogram, v, 2^32) tells, leaving the cell as it is.
//!
//! A recorder adds without an atomic operation, so a mode that has one is asked for by name:
//!
//!     options.mode = PICOLLO_MODE_THREAD_LOCAL;         (a recorder for each thread, or PICOLLO_MODE_SINGLE_WRITER: one)
//!     if (picollo_histogram_create(&options, &latency) != PICOLLO_OK) ...
//!     picollo_recorder recorder;
//!     if (picollo_histogram_recorder(latency, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) ...
//!     picollo_recorder_record(&recorder, 1234);
//!     picollo_recorder_release(&recorder);
//!
//! Where many threads share one histogram of the default mode, picollo_atomic_recorder has its cells: the rule is the same,
//! but one is added to the cell by one atomic addition, and there is nothing to release.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use picollo_core::Recorder;

use crate::argument::{exclusive, output};
use crate::counted::borrow;
use crate::failure::Failure;
use crate::guard::{exported, guard_void};
use crate::handles::picollo_histogram;
use crate::status::picollo_status;

/// Version of the rule above and of picollo_recorder.
pub const PICOLLO_INLINE_VERSION: u32 = 1;

/// What recording without a call needs. One thread at a time may record through it, alone or by turns with
/// picollo_histogram_record on the same histogram.
///
/// Do not change it. Copies are fine while the one that was filled in is not released.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_recorder {
    /// Number of cells; 0 where the layout has a unit, so that every value is handed to picollo_histogram_record.
    pub length: u64,
    /// Logical index of the first cell.
    pub first_index: u64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    /// Width of a cell, 32 or 64.
    pub counter_bits: u32,
    /// The cells: uint32_t or uint64_t, by counter_bits.
    pub counters: *mut c_void,
    /// Takes what the cells cannot.
    pub histogram: *mut picollo_histogram,
    /// Private.
    pub owner: *mut c_void,
    pub reserved: *mut c_void,
}

exported! {
/// Fills in a recorder for a dense histogram made with PICOLLO_MODE_SINGLE_WRITER, or for one made with
/// PICOLLO_MODE_THREAD_LOCAL, where the recorder owns a shard until it is released, whatever happens to the thread.
///
/// Requires: inline_version is PICOLLO_INLINE_VERSION, as the caller was compiled with.
/// Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, and for a mode or storage that has no recorder: the
///   default mode, PICOLLO_MODE_INTERLOCKED, has none, so ask for PICOLLO_MODE_THREAD_LOCAL or
///   PICOLLO_MODE_SINGLE_WRITER; PICOLLO_ERR_OUT_OF_MEMORY where there is no room for a shard.
/// Ownership: the recorder holds a reference to the histogram until picollo_recorder_release.
/// Threads: any thread; see picollo_recorder for its use.
/// Cost: none to speak of; in thread-local mode it may allocate a shard.
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
    out.tell(picollo_recorder {
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

/// What recording without a call needs, of a histogram that any number of threads record into.
///
/// Do not change it. Copies are fine, and so is one for all threads. It borrows the histogram and has nothing to release.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_atomic_recorder {
    /// Number of cells; 0 where the layout has a unit, so that every value is handed to picollo_histogram_record.
    pub length: u64,
    /// Logical index of the first cell.
    pub first_index: u64,
    /// Binary logarithm of the block size.
    pub block_scale: u32,
    pub reserved: u32,
    /// The cells.
    pub counters: *mut u64,
    /// Takes what the cells cannot.
    pub histogram: *mut picollo_histogram,
}

exported! {
/// Fills in an atomic recorder for a dense histogram with counters of 64 bits made with PICOLLO_MODE_INTERLOCKED, the
/// default. Record by picollo_atomic_recorder_record of picollo_inline.h.
///
/// Requires: inline_version is PICOLLO_INLINE_VERSION, as the caller was compiled with.
/// Returns: PICOLLO_ERR_UNSUPPORTED for another inline_version, for any other mode or storage, and for counters of 32
///   bits, whose wraps the library counts.
/// Ownership: borrows the histogram: whoever records keeps a reference to it.
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
    out.tell(picollo_atomic_recorder {
        length: recorder.length(),
        first_index: layout.first_index(),
        block_scale: layout.scale(),
        reserved: 0,
        counters: recorder.counters().as_ptr().cast(),
        histogram,
    })
}
}

/// Gives back what the recorder holds, and clears it. NULL is allowed, and so is a recorder that was released; both do
/// nothing.
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
