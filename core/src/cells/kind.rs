//! Who may write a histogram, when its cells are allocated, and how wide they are: in one word.

use crate::error::{Error, Result};

/// Who may write, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Mode {
    /// Right with any number of threads, and in signal and interrupt handlers: one atomic add. The default.
    #[default]
    Interlocked = 0,
    /// One writer, any number of readers: a plain add. The caller promises that there is one; in Rust the type
    /// [`crate::SingleWriterHistogram`] keeps the promise, and [`crate::SharedHistogram`] refuses this mode.
    SingleWriter = 1,
    /// Many hot writers: a plain add into the thread's own shard.
    ThreadLocal = 2,
    /// Many writers, little memory, approximate counts.
    Scalable = 3,
}

/// When cells are allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Storage {
    /// All at once.
    #[default]
    Dense = 0,
    /// In small chunks, on first touch.
    Sparse = 1,
}

impl TryFrom<u32> for Mode {
    type Error = Error;

    fn try_from(code: u32) -> Result<Self> {
        match code {
            0 => Ok(Mode::Interlocked),
            1 => Ok(Mode::SingleWriter),
            2 => Ok(Mode::ThreadLocal),
            3 => Ok(Mode::Scalable),
            _ => Err(Error::InvalidArgument),
        }
    }
}

impl TryFrom<u32> for Storage {
    type Error = Error;

    fn try_from(code: u32) -> Result<Self> {
        match code {
            0 => Ok(Storage::Dense),
            1 => Ok(Storage::Sparse),
            _ => Err(Error::InvalidArgument),
        }
    }
}

/// Mode, storage and cell width in one word, so that a record tells them apart by one comparison.
pub(crate) const fn kind(mode: Mode, storage: Storage, counter_bits: u32) -> u32 {
    number_of(mode) | (storage as u32) << 8 | counter_bits << 16
}

/// A mode in images. These numbers are not those of [`Mode`], which tell what is asked for: images of every version have
/// these, so that whatever the default is called, what is in shared memory stays what it is.
const fn number_of(mode: Mode) -> u32 {
    match mode {
        Mode::SingleWriter => 0,
        Mode::Interlocked => 1,
        Mode::ThreadLocal => 2,
        Mode::Scalable => 3,
    }
}
