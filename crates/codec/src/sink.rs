//! Destinations for the bytes of encoders.

use core::mem::MaybeUninit;

use picollo_core::{Error, Result};

/// Takes bytes, one piece after another.
pub(crate) trait Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
}

/// Counts bytes without keeping them.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) length: usize,
}

impl Sink for Counting {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len();
        Ok(())
    }
}

/// Fills memory from its beginning.
pub(crate) struct Filling<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    pub(crate) length: usize,
}

impl<'a> Filling<'a> {
    pub(crate) fn new(memory: &'a mut [MaybeUninit<u8>]) -> Self {
        Filling { memory, length: 0 }
    }
}

impl Sink for Filling<'_> {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.length + bytes.len();
        self.memory.get_mut(self.length..end).ok_or(Error::BufferTooSmall)?.write_copy_of_slice(bytes);
        self.length = end;
        Ok(())
    }
}

#[cfg(feature = "alloc")]
impl Sink for alloc::vec::Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.try_reserve(bytes.len()).map_err(|_| Error::OutOfMemory)?;
        self.extend_from_slice(bytes);
        Ok(())
    }
}
