//! The rule of options structs.
//!
//! They begin with their own size, as the caller knows it. A shorter one, from an older program, lacks fields. These
//! are then zero, and zero means the default. A longer one, from a newer program, is accepted if the unknown fields
//! are zero. A non-zero one asks for something that this version cannot do.

use core::mem::MaybeUninit;

use crate::failure::{Failure, Outcome};

/// No options struct will be larger. A size above this is garbage, and so many bytes must not be read.
const LARGEST: usize = 4096;

/// An options struct: plain numbers, the first of which is its size in bytes.
///
/// # Safety
/// `#[repr(C)]`, without padding, valid for any bits, beginning with a `u32` that is the size.
pub unsafe trait Options: Copy {
    /// Its size in the first version that had it.
    const FIRST_SIZE: usize;
}

/// Reads options as this version knows them; `None` for NULL.
///
/// # Safety
/// If not NULL, `options` must be valid for reads of as many bytes as its first four say.
pub unsafe fn read<T: Options>(options: *const T) -> Outcome<Option<T>> {
    if options.is_null() {
        return Ok(None);
    }
    if !options.is_aligned() {
        return Err(Failure::INVALID_ARGUMENT);
    }
    // SAFETY: the size comes first and is always there.
    let size = unsafe { options.cast::<u32>().read() } as usize;
    if !(T::FIRST_SIZE..=LARGEST).contains(&size) {
        return Err(Failure::INVALID_ARGUMENT);
    }
    // SAFETY: as long as it says, by the caller's promise.
    let bytes = unsafe { core::slice::from_raw_parts(options.cast::<u8>(), size) };
    let known = size.min(size_of::<T>());
    if bytes[known..].iter().any(|&byte| byte != 0) {
        return Err(Failure::UNSUPPORTED);
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are readable there and writable here, and any bits are a valid `T`.
    unsafe {
        copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), known);
        Ok(Some(copy.assume_init()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(C)]
    struct Grown {
        struct_size: u32,
        old: u32,
        new: u64,
    }

    // SAFETY: plain numbers without padding, the size first.
    unsafe impl Options for Grown {
        const FIRST_SIZE: usize = 8;
    }

    /// Reads the struct of a caller to whom it has `size` bytes, filled with these words.
    fn read_words(size: u32, words: [u64; 3]) -> Outcome<Option<Grown>> {
        let mut memory = words;
        memory[0] = u64::from(size) | words[0] << 32;
        // SAFETY: aligned, and no size below is over the 24 bytes that are there, but those refused unread.
        unsafe { read(memory.as_ptr().cast()) }
    }

    #[test]
    fn sizes() {
        let grown = |size, old, new| Ok(Some(Grown { struct_size: size, old, new }));
        // SAFETY: NULL is allowed.
        assert_eq!(unsafe { read::<Grown>(core::ptr::null()) }, Ok(None));
        for size in [0, 1, 7, 4097, u32::MAX] {
            assert_eq!(read_words(size, [1, 2, 0]), Err(Failure::INVALID_ARGUMENT), "{size}");
        }
        assert_eq!(read_words(8, [1, 2, 3]), grown(8, 1, 0), "an older caller: what it lacks is zero");
        assert_eq!(read_words(16, [1, 2, 3]), grown(16, 1, 2));
        assert_eq!(read_words(24, [1, 2, 0]), grown(24, 1, 2), "a newer caller that asks for nothing new");
        assert_eq!(read_words(24, [1, 2, 1 << 63]), Err(Failure::UNSUPPORTED));
    }
}
