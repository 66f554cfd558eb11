//! The header that every histogram of integers begins with, whatever its mode, storage and width of counters.
//!
//! A dense histogram with one writer or interlocked ones is one block of memory, the same on the heap, in a static and in memory
//! shared by processes: this header, the counters, and the baseline of a live reset. It holds no pointers. The other kinds
//! (thread-local, scalable, sparse) have more behind their headers, pointers among it: they live on the heap of one process, and
//! only the header is as here.
//!
//! Its first cache line is all that a record reads besides the counter; what writers and readers change lies on lines of
//! their own.

use core::mem::size_of;

use crate::counter::{Counter, Tallies, TallyCounts};
use crate::sync::{AtomicU64, Ordering::Relaxed, const_unless_loom};
use crate::version::Version;
use crate::{Error, Layout, Mode, Result, Storage};

const MAGIC: u32 = u32::from_ne_bytes(*b"Pico");
const IMAGE_VERSION: u16 = 1;

const LIVE_RESET: u8 = 1;
const IN_CALLERS_MEMORY: u8 = 2;
const IN_ARRAY: u8 = 4;

/// Mode, storage and cell width in one word, so that a record tells them apart by one comparison.
pub(crate) const fn kind(mode: Mode, storage: Storage, counter_bits: u32) -> u32 {
    mode as u32 | (storage as u32) << 8 | counter_bits << 16
}

/// What every histogram begins with.
#[repr(C, align(64))]
pub struct Header {
    pub(crate) layout: Layout,
    pub(crate) kind: u32,
    /// Thread-local mode: where a thread's table has its shard of this histogram, in bytes.
    pub(crate) table_offset: u32,
    /// Told apart by snapshots and threads: no other histogram made here had it, nor this one before it was cleared.
    pub(crate) epoch: u64,
    magic: u32,
    image_version: u16,
    word_bytes: u8,
    flags: u8,
    pub(crate) tallies: Tallies,
    pub(crate) baseline: Tallies,
    pub(crate) version: Version,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() == 256 && core::mem::offset_of!(Header, tallies) == 64);

/// Leaves room for the epochs of a histogram that is cleared again and again.
const EPOCHS: u64 = 1 << 16;

/// An epoch that nothing had before.
pub(crate) fn new_epoch() -> u64 {
    #[cfg(loom)]
    loom::lazy_static! { static ref NEXT: AtomicU64 = AtomicU64::new(EPOCHS); }
    #[cfg(not(loom))]
    static NEXT: AtomicU64 = AtomicU64::new(EPOCHS);
    NEXT.fetch_add(EPOCHS, Relaxed)
}

impl Header {
    const_unless_loom! {
        pub(crate) const fn new(layout: Layout, kind: u32, live_reset: bool) -> Header {
            Header {
                layout,
                kind,
                table_offset: 0,
                epoch: 0,
                magic: MAGIC,
                image_version: IMAGE_VERSION,
                word_bytes: size_of::<usize>() as u8,
                flags: if live_reset { LIVE_RESET } else { 0 },
                tallies: Tallies::new(),
                baseline: Tallies::new(),
                version: Version::new(),
            }
        }
    }

    pub(crate) fn with_new_epoch(mut self) -> Header {
        self.epoch = new_epoch();
        self
    }

    pub(crate) const fn placed_in_callers_memory(mut self) -> Header {
        self.flags |= IN_CALLERS_MEMORY;
        self
    }

    pub(crate) const fn is_in_callers_memory(&self) -> bool {
        self.flags & IN_CALLERS_MEMORY != 0
    }

    #[cfg(feature = "alloc")]
    pub(crate) const fn placed_in_array(mut self) -> Header {
        self.flags |= IN_ARRAY;
        self
    }

    pub(crate) const fn is_in_array(&self) -> bool {
        self.flags & IN_ARRAY != 0
    }

    pub(crate) const fn has_baseline(&self) -> bool {
        self.flags & LIVE_RESET != 0
    }

    /// How many cells follow the header of a single-writer or interlocked histogram: counters, and as many for the
    /// baseline.
    pub(crate) const fn cells(&self) -> usize {
        self.layout.length() << self.has_baseline() as u32
    }

    /// What [`crate::Source::copy_baseline`] is to those whose baseline is an array of cells: all zero where there is none.
    pub(crate) fn copy_baseline<C: Counter>(
        &self,
        cells: Option<&[C]>,
        out: &mut [u64],
        tallies: &mut TallyCounts,
    ) -> Result<u32> {
        let Some(cells) = cells else {
            out.fill(0);
            *tallies = TallyCounts::default();
            return Ok(0);
        };
        self.version.read(|| {
            *tallies = self.baseline.load();
            C::load_many(cells, out);
        })
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
        if self.flags & !LIVE_RESET != IN_CALLERS_MEMORY || !self.layout.is_valid() {
            return Err(Error::Corrupt);
        }
        Ok(())
    }
}
