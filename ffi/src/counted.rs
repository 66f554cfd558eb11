//! Handles that stand for a counted reference.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::failure::{Failure, Outcome};

/// A handle that stands for one reference.
pub trait Counted: Sized {
    /// The reference.
    type Reference;

    /// The reference that a handle stands for.
    ///
    /// # Safety
    /// `handle` must stand for a reference, once for each call, unless the result is kept from being dropped.
    unsafe fn reference(handle: NonNull<Self>) -> Self::Reference;
}

/// The reference behind a handle, borrowed: the handle keeps it.
///
/// # Safety
/// `handle` must be one that is not freed during the borrow; not NULL.
#[inline(always)]
pub unsafe fn borrow_unchecked<H: Counted>(handle: *const H) -> ManuallyDrop<H::Reference> {
    // SAFETY: not NULL and a handle, as the caller promises; never dropped here.
    unsafe { ManuallyDrop::new(H::reference(NonNull::new_unchecked(handle.cast_mut()))) }
}

/// As [`borrow_unchecked`], but NULL is an error.
///
/// # Safety
/// If not NULL, as for [`borrow_unchecked`].
pub unsafe fn borrow<H: Counted>(handle: *const H) -> Outcome<ManuallyDrop<H::Reference>> {
    if handle.is_null() {
        return Err(Failure::NULL_POINTER);
    }
    // SAFETY: just checked; the rest is passed on.
    Ok(unsafe { borrow_unchecked(handle) })
}

/// Adds a reference, which the same handle stands for. NULL does nothing.
///
/// # Safety
/// If not NULL, as for [`borrow_unchecked`].
pub unsafe fn retain<H: Counted<Reference: Clone>>(handle: *const H) {
    if let Ok(reference) = borrow(handle) {
        core::mem::forget((*reference).clone());
    }
}

/// Gives back the reference that a handle stands for. NULL does nothing.
///
/// # Safety
/// If not NULL, `handle` must stand for a reference, and not be used any more.
pub unsafe fn free<H: Counted>(handle: *mut H) {
    if let Some(handle) = NonNull::new(handle) {
        // SAFETY: a handle stands for one reference, which the caller gives up.
        drop(unsafe { H::reference(handle) });
    }
}
