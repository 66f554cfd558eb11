//! Arrays of histograms: per endpoint, per core, per tenant.
//!
//! One call makes any number of histograms of one layout in one block of memory, each on cache lines of its own, so that
//! different threads may write to neighbours. An index finds each of them.
//!
//!     picollo_histogram_array *latency;
//!     picollo_histogram_array_create(&options, ENDPOINTS, &latency);
//!     picollo_histogram_array_record(latency, endpoint, 1234);
//!     picollo_histogram_summary(picollo_histogram_array_borrow(latency, endpoint), PICOLLO_VALUE_MIDPOINT, &summary);
//!
//! A histogram of an array is like any other: all calls take it. There are two ways to it: picollo_histogram_array_borrow
//! lends it, as long as the array is there; picollo_histogram_array_ref gives a reference, which keeps the array there.

use core::ptr::{self, NonNull};

use picollo_core::HistogramArray;

use crate::argument::output;
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::failure::Failure;
use crate::guard::{guard, guard_value, guard_void};
use crate::handles::{picollo_histogram, picollo_histogram_array};
use crate::histogram::into_handle;
use crate::histogram_options::{picollo_histogram_options, read_options};
use crate::status::picollo_status;

impl Counted for picollo_histogram_array {
    type Reference = HistogramArray;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> HistogramArray {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { HistogramArray::from_raw(handle.cast()) }
    }
}

/// Makes an array of empty histograms.
///
/// Requires: options as for picollo_histogram_create, which are those of every histogram; max_bytes is for each of them.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_INVALID_ARGUMENT also for a length of 0; otherwise
///   as picollo_histogram_create.
/// Ownership: *out is the caller's, for picollo_histogram_array_free.
/// Threads: any thread.
/// Cost: one allocation, of the footprint of a histogram for each and 64 bytes; what zeroed memory costs.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_create(
    options: *const picollo_histogram_options,
    length: usize,
    out: *mut *mut picollo_histogram_array,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (out, options) = unsafe { (output(out)?, read_options(options)?) };
        // SAFETY: as in picollo_histogram_create.
        let array = unsafe { HistogramArray::create_unguarded(&options, length) }?;
        out.set(array.into_raw().as_ptr().cast());
        Ok(())
    })
}

/// Makes one reference more to an array, so that each of two owners may free it.
///
/// Returns: array, the same handle; NULL for NULL.
/// Ownership: a reference of the caller's own, for picollo_histogram_array_free.
/// Threads: any thread.
/// Cost: an atomic addition.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_retain(
    array: *mut picollo_histogram_array,
) -> *mut picollo_histogram_array {
    // SAFETY: the caller's promise, passed on.
    guard_value(ptr::null_mut(), || unsafe {
        counted::retain(array);
        array
    })
}

/// Gives back one reference. The memory goes with the last one, to the array or to any of its histograms. NULL is allowed
/// and does nothing.
///
/// Requires: neither array nor a histogram lent by picollo_histogram_array_borrow is used any more by whoever gives it back.
/// Threads: any thread.
/// Cost: frees the memory when it was the last reference.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_free(array: *mut picollo_histogram_array) {
    // SAFETY: the caller's promise, passed on.
    guard_void(|| unsafe { counted::free(array) });
}

/// Tells how many histograms there are.
///
/// Returns: the length that the array was made with; 0 for NULL.
/// Threads: any thread.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_length(array: *const picollo_histogram_array) -> usize {
    // SAFETY: the caller's promise, passed on.
    if array.is_null() { 0 } else { unsafe { borrow_unchecked(array) }.len() }
}

/// Lends a histogram of the array, for as long as the array is there. It must not be freed.
///
/// Returns: the histogram; NULL when index is not below the length, or array is NULL.
/// Ownership: the array's. What is made from the histogram, such as a snapshot, holds a reference of its own.
/// Threads: any thread.
/// Cost: that of a call and a multiplication; no atomic operation.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_borrow(
    array: *const picollo_histogram_array,
    index: usize,
) -> *mut picollo_histogram {
    if array.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: not NULL and not freed, as the caller promises.
    match unsafe { borrow_unchecked(array) }.get(index) {
        Some(histogram) => histogram.as_raw().as_ptr().cast(),
        None => ptr::null_mut(),
    }
}

/// Gives a reference to a histogram of the array, which keeps all of the array alive.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (array, out); PICOLLO_ERR_INVALID_ARGUMENT when index is not below the
///   length.
/// Ownership: *out is the caller's, for picollo_histogram_free.
/// Threads: any thread.
/// Cost: an atomic addition.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_ref(
    array: *const picollo_histogram_array,
    index: usize,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (array, out) = unsafe { (borrow(array)?, output(out)?) };
        let histogram = array.get(index).ok_or(Failure::INVALID_ARGUMENT)?;
        out.set(into_handle((*histogram).clone()));
        Ok(())
    })
}

/// Counts one value in a histogram of the array. Does nothing when index is not below the length.
///
/// Requires: array is not NULL; this is not checked.
/// Threads: as picollo_histogram_record, for each histogram by itself.
/// Cost: as picollo_histogram_record, and a multiplication.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_record(
    array: *mut picollo_histogram_array,
    index: usize,
    value: u64,
) {
    // SAFETY: not NULL and not freed, as the caller promises.
    if let Some(histogram) = unsafe { borrow_unchecked(array) }.get(index) {
        histogram.record_out_of_line(value);
    }
}

/// Tells how much memory the array takes now, in bytes, with all its histograms.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (array, out_bytes).
/// Threads: any thread.
/// Cost: looks at each histogram.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_histogram_array_footprint(
    array: *const picollo_histogram_array,
    out_bytes: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (array, out_bytes) = unsafe { (borrow(array)?, output(out_bytes)?) };
        out_bytes.set(array.footprint());
        Ok(())
    })
}
