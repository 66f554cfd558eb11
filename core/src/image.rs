//! The header that every histogram begins with.
//!
//! A dense histogram is one block of memory, the same on the heap, in a static and in memory shared by processes:
//! this header, the counters, and the baseline of a live reset. It holds no pointers. Its first cache line is all that a
//! record reads besides the counter; what writers and readers change lies on lines of their own.

use core::mem::size_of;

use crate::counter::Tallies;
use crate::version::Version;
use crate::{Error, Layout, Mode, Result, Storage};

const MAGIC: u64 = u64::from_ne_bytes(*b"Picollo\x01");
const IMAGE_VERSION: u16 = 1;

/// Mode, storage and cell width in one word, so that a record tells them apart by one comparison.
pub(crate) const fn kind(mode: Mode, storage: Storage, counter_bits: u32) -> u32 {
    mode as u32 | (storage as u32) << 8 | counter_bits << 16
}

/// What every histogram begins with.
#[repr(C, align(64))]
pub struct Header {
    pub(crate) layout: Layout,
    magic: u64,
    pub(crate) kind: u32,
    image_version: u16,
    word_bytes: u8,
    live_reset: u8,
    in_callers_memory: u32,
    /// Told apart by snapshots: their next delta does not reach back beyond a clear.
    pub(crate) epoch: u32,
    pub(crate) tallies: Tallies,
    pub(crate) baseline: Tallies,
    pub(crate) version: Version,
}

const _: () = assert!(size_of::<Header>() == 256 && core::mem::offset_of!(Header, tallies) == 64);

impl Header {
    pub(crate) const fn new(layout: Layout, kind: u32, live_reset: bool) -> Header {
        Header {
            layout,
            magic: MAGIC,
            kind,
            image_version: IMAGE_VERSION,
            word_bytes: size_of::<usize>() as u8,
            live_reset: live_reset as u8,
            in_callers_memory: 0,
            epoch: 0,
            tallies: Tallies::new(),
            baseline: Tallies::new(),
            version: Version::new(),
        }
    }

    pub(crate) const fn placed_in_callers_memory(mut self) -> Header {
        self.in_callers_memory = 1;
        self
    }

    pub(crate) fn is_in_callers_memory(&self) -> bool {
        self.in_callers_memory != 0
    }

    pub(crate) const fn has_baseline(&self) -> bool {
        self.live_reset != 0
    }

    /// How many cells follow the header: counters, and as many for the baseline.
    pub(crate) const fn cells(&self) -> usize {
        self.layout.length() << self.live_reset
    }

    /// Whether this is an image that this build can use. [`Error::Corrupt`] when it is none, or a broken one;
    /// [`Error::Incompatible`] when it was made by a build of another image version or word size.
    pub(crate) fn check(&self) -> Result<()> {
        if self.magic != MAGIC {
            return Err(Error::Corrupt);
        }
        if self.image_version != IMAGE_VERSION || self.word_bytes as usize != size_of::<usize>() {
            return Err(Error::Incompatible);
        }
        if self.live_reset > 1 || self.in_callers_memory != 1 || !self.layout.is_valid() {
            return Err(Error::Corrupt);
        }
        Ok(())
    }
}
