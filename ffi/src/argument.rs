//! Checks of pointers and other arguments before they are used.
//!
//! NULL and misaligned pointers are detected here. The caller promises that a pointer leads to what it should. Every
//! exported function makes this promise part of its contract, and the functions here pass it on.

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::failure::{Failure, Outcome};

fn checked<T>(pointer: *const T) -> Outcome<NonNull<T>> {
    let pointer = NonNull::new(pointer.cast_mut()).ok_or(Failure::NULL_POINTER)?;
    if pointer.is_aligned() { Ok(pointer) } else { Err(Failure::INVALID_ARGUMENT) }
}

/// Something to read.
///
/// # Safety
/// If not NULL, `pointer` must be valid for reads of a `T` that nobody changes during the call.
pub unsafe fn input<'a, T>(pointer: *const T) -> Outcome<&'a T> {
    // SAFETY: not NULL and aligned; the rest is the caller's promise.
    checked(pointer).map(|pointer| unsafe { pointer.as_ref() })
}

/// Something to read and change.
///
/// # Safety
/// If not NULL, `pointer` must be valid for reads and writes of a `T` that nobody else touches during the call.
pub unsafe fn exclusive<'a, T>(pointer: *mut T) -> Outcome<&'a mut T> {
    // SAFETY: not NULL and aligned; the rest is the caller's promise.
    checked(pointer).map(|mut pointer| unsafe { pointer.as_mut() })
}

/// The destination of a result. It is written once or not at all, and never read: C may pass uninitialized memory.
pub struct Output<T>(NonNull<T>);

/// # Safety
/// If not NULL, `pointer` must be valid for writes of a `T` during the call.
pub unsafe fn output<T>(pointer: *mut T) -> Outcome<Output<T>> {
    checked(pointer).map(Output)
}

/// The destination of an optional result: NULL means that nobody wants it.
#[cfg(feature = "std")]
pub struct OutputIfAny<T>(Option<Output<T>>);

/// # Safety
/// As for [`output`].
#[cfg(feature = "std")]
pub unsafe fn output_if_any<T>(pointer: *mut T) -> Outcome<OutputIfAny<T>> {
    if pointer.is_null() { Ok(OutputIfAny(None)) } else { output(pointer).map(|out| OutputIfAny(Some(out))) }
}

#[cfg(feature = "std")]
impl<T> OutputIfAny<T> {
    pub fn set(self, value: T) {
        if let Some(out) = self.0 {
            out.set(value);
        }
    }
}

impl<T> Output<T> {
    pub fn set(self, value: T) {
        // SAFETY: aligned; valid for writes, as the caller of `output` promised.
        unsafe { self.0.write(value) }
    }

    /// [`Output::set`], as the last thing that a call does.
    pub fn deliver<E>(self, value: T) -> Result<(), E> {
        self.set(value);
        Ok(())
    }
}

fn checked_slice<T>(pointer: *const T, length: usize) -> Outcome<NonNull<T>> {
    if length == 0 {
        return Ok(NonNull::dangling());
    }
    if length > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::INVALID_ARGUMENT);
    }
    checked(pointer)
}

/// An array to read; the pointer may be NULL if it is empty.
///
/// # Safety
/// `pointer` must be valid for reads of `length` of `T` that nobody changes during the call.
pub unsafe fn slice<'a, T>(pointer: *const T, length: usize) -> Outcome<&'a [T]> {
    let pointer = checked_slice(pointer, length)?;
    // SAFETY: aligned, not NULL, no longer than half the address space; the rest is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(pointer.as_ptr(), length) })
}

/// An array to write, which C may have left uninitialized; the pointer may be NULL if it is empty.
///
/// # Safety
/// `pointer` must be valid for writes of `length` of `T`, which nobody else touches during the call.
pub unsafe fn room<'a, T>(pointer: *mut T, length: usize) -> Outcome<&'a mut [MaybeUninit<T>]> {
    let pointer = checked_slice(pointer, length)?;
    // SAFETY: as in `slice`, and exclusive, as the caller promises.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer.as_ptr().cast(), length) })
}

/// The destination of a list: the caller's array and its length.
pub struct List<T> {
    out: *mut T,
    capacity: usize,
    length: Output<usize>,
}

/// # Safety
/// `out` must be valid for writes of `capacity` of `T`, which nobody else touches during the call; `out_length` for a write.
pub unsafe fn list<T>(out: *mut T, capacity: usize, out_length: *mut usize) -> Outcome<List<T>> {
    // Only checked, not made a slice: a capacity may be larger than any array, if the list is shorter.
    if capacity != 0 {
        checked(out.cast_const())?;
    }
    Ok(List { out, capacity, length: output(out_length)? })
}

impl<T> List<T> {
    /// Reports the length, and fills the array if it has room for all elements; otherwise writes nothing to it.
    pub fn fill(self, elements: impl Iterator<Item = T>, length: usize) -> Outcome {
        self.length.set(length);
        if length > self.capacity {
            return Err(Failure::BUFFER_TOO_SMALL);
        }
        for (at, element) in elements.take(length).enumerate() {
            // SAFETY: valid for that many, as the caller of `list` promised; not NULL if there are any. It may be uninitialized.
            unsafe { self.out.add(at).write(element) };
        }
        Ok(())
    }
}

/// A C string that must be UTF-8; NULL is the empty string.
///
/// # Safety
/// If not NULL, `pointer` must lead to a NUL-terminated string that nobody changes during the call.
pub unsafe fn text<'a>(pointer: *const c_char) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Ok("");
    }
    // SAFETY: not NULL; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::INVALID_ARGUMENT)
}

/// Returns whether a number is the second of two. Other numbers are reserved for later versions.
pub fn either(number: u32, first: u32, second: u32) -> Outcome<bool> {
    match number {
        _ if number == first => Ok(false),
        _ if number == second => Ok(true),
        _ => Err(Failure::INVALID_ARGUMENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null_mut;

    #[test]
    fn lists_are_filled_whole_or_not_at_all() {
        for (elements, capacity, expected) in
            [(0, 0, true), (3, 0, false), (3, 2, false), (3, 3, true), (2, usize::MAX, true)]
        {
            let (mut array, mut length) = ([77u8; 3], 99);
            let out = if capacity == 0 { null_mut() } else { array.as_mut_ptr() };
            // SAFETY: no more than three are written, whatever the capacity says.
            let filled =
                unsafe { list(out, capacity, &mut length).unwrap() }.fill([1, 2, 3].into_iter(), elements);
            assert_eq!(
                filled,
                if expected { Ok(()) } else { Err(Failure::BUFFER_TOO_SMALL) },
                "{elements} {capacity}"
            );
            assert_eq!(length, elements);
            let written = if expected { elements } else { 0 };
            assert!(
                array
                    .iter()
                    .zip(1..)
                    .all(|(&is, value)| is == if value as usize <= written { value } else { 77 })
            );
        }
    }

    #[test]
    fn bad_arguments_are_found_out() {
        // SAFETY: the good pointers are to live locals; the bad ones are refused before they are used.
        unsafe {
            assert_eq!(slice(&7u64, usize::MAX / 8), Err(Failure::INVALID_ARGUMENT));
            assert_eq!(text(c"\xff".as_ptr()), Err(Failure::INVALID_ARGUMENT));
            assert_eq!(text(c"P\xc3\xa9".as_ptr()), Ok("Pé"));
        }
        let choice = [3, 5, 4].map(|number| either(number, 3, 5));
        assert_eq!(choice, [Ok(false), Ok(true), Err(Failure::INVALID_ARGUMENT)]);
    }
}
