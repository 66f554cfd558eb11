//! Memory that decoding needs beside the result.

#[cfg(feature = "alloc")]
use crate::error::Error;
use crate::error::Result;

mod sealed {
    pub trait Sealed {}
    impl Sealed for &mut [u8] {}
    #[cfg(feature = "alloc")]
    impl Sealed for alloc::vec::Vec<u8> {}
}

/// Memory that decoding base64 and compressed data needs beside the result: a byte slice, or, with an allocator, a
/// `Vec<u8>`, which grows as far as the data really goes and can be used again.
///
/// Base64 takes three bytes for each four characters, what is compressed its uncompressed length and a byte, at most
/// 41 + 9 for each counter. Everything else needs none.
pub trait Scratch: sealed::Sealed {
    /// The first `length` bytes, or fewer where there are no more; what they held so far is unchanged.
    #[doc(hidden)]
    fn first(&mut self, length: usize) -> Result<&mut [u8]>;
    /// All bytes.
    #[doc(hidden)]
    fn bytes(&self) -> &[u8];
}

impl Scratch for &mut [u8] {
    fn first(&mut self, length: usize) -> Result<&mut [u8]> {
        let length = length.min(self.len());
        Ok(&mut self[..length])
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

#[cfg(feature = "alloc")]
impl Scratch for alloc::vec::Vec<u8> {
    fn first(&mut self, length: usize) -> Result<&mut [u8]> {
        if length > self.len() {
            self.try_reserve_exact(length - self.len()).map_err(|_| Error::OutOfMemory)?;
            self.resize(length, 0);
        }
        Ok(&mut self[..length])
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}
