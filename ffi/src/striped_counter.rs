//! An exact counter of many words: an atomic addition to one of sixteen, which the CPU chooses where threads are registered for
//! restartable sequences, and otherwise the thread's stack. 1 KB.
//!
//! In a segment (picollo_segment_striped_counter) the CPU chooses it in any case, since forked workers have the same stacks.

use core::ptr::NonNull;

use picollo_core::SharedStripedCounter;

use crate::argument::output;
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::guard::{guard, guard_void};
use crate::handles::picollo_striped_counter;
use crate::status::picollo_status;

impl Counted for picollo_striped_counter {
    type Reference = SharedStripedCounter;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> SharedStripedCounter {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { SharedStripedCounter::from_raw(handle.cast()) }
    }
}

/// Makes an exact counter of many words, at zero.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out); PICOLLO_ERR_OUT_OF_MEMORY.
/// Ownership: *out is the caller's, for picollo_striped_counter_free.
/// Threads: any thread.
/// Cost: allocates 1 KB.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_striped_counter_create(
    out: *mut *mut picollo_striped_counter,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promise, passed on.
        let out = unsafe { output(out)? };
        out.set(SharedStripedCounter::create()?.into_raw().as_ptr().cast());
        Ok(())
    })
}

/// Frees a counter; one of a segment stays there. NULL is allowed and does nothing.
///
/// Threads: any thread, once.
/// Cost: frees its memory.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_striped_counter_free(counter: *mut picollo_striped_counter) {
    // SAFETY: a handle stands for one reference, which the caller gives up.
    guard_void(|| unsafe { counted::free(counter) });
}

/// Counts events exactly, on one of the words.
///
/// Requires: counter is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: an atomic addition, to a word that threads mostly do not share.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_striped_counter_add(counter: *mut picollo_striped_counter, count: u64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(counter) }.add(count);
}

/// Reads the counter while others count: the sum of its words, modulo 2^64. What is counted meanwhile may be in it or
/// not.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (counter, out).
/// Threads: any thread.
/// Cost: sixteen loads.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_striped_counter_read(
    counter: *const picollo_striped_counter,
    out: *mut u64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (counter, out) = unsafe { (borrow(counter)?, output(out)?) };
        out.set(counter.load());
        Ok(())
    })
}
