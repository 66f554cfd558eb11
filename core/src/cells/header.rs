//! The header at the beginning of every histogram of integers, whatever its mode, storage and counter width.
//!
//! A dense histogram with one writer or interlocked writers is one block of memory: this header, the counters, and the
//! baseline of a live reset. It is the same on the heap, in a static and in memory that processes share, and has no
//! pointers. The other kinds (thread-local, per-CPU, sparse) have more after their headers, including pointers: they
//! live on the heap of one process, and only their header is the same.
//!
//! Its first cache line is all that a record reads besides the counter. The changing data lies on separate lines.
//!
//! The baseline has two banks: see [`crate::platform::banks`].
//!
//! Images have version 2, or version 3 if the layout has a unit. The top byte of the kind also contains the unit.

use core::mem::size_of;

use crate::cells::cell::Counter;
use crate::cells::identity::IdentityCell;
use crate::cells::kind::Kind;
use crate::cells::tallies::{Tallies, TallyCounts};
use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::platform::atomics::{AtomicU64, const_unless_loom};
use crate::platform::banks::Banks;

const MAGIC: u32 = u32::from_ne_bytes(*b"Pico");
const IMAGE_VERSION: u16 = 2;
const IMAGE_VERSION_WITH_UNIT: u16 = 3;

/// The histogram has a baseline with two banks.
const LIVE_RESET: u8 = 1 | 8;
const IN_CALLERS_MEMORY: u8 = 2;
// 4 is unused.

/// The beginning of every histogram.
#[repr(C, align(64))]
pub struct Header {
    pub(crate) layout: Layout,
    pub(crate) kind: Kind,
    /// Thread-local mode: the position of the threads' entry for this histogram. See `threads::entries`.
    pub(crate) entry: i32,
    /// Thread-local mode: the value that such an entry must contain; 0 without one.
    pub(crate) key: u64,
    magic: u32,
    image_version: u16,
    word_bytes: u8,
    flags: u8,
    pub(crate) tallies: Tallies,
    /// The tallies of the first bank.
    pub(crate) baseline: Tallies,
    pub(crate) banks: Banks,
    /// This and the last field are explicit, so that no padding byte copies stack content into shared memory.
    zero: u32,
    pub(crate) identity: IdentityCell,
    /// The tallies of the second bank, in the order of [`Tallies::words`].
    second_baseline: [AtomicU64; 4],
    zero_end: u64,
}

#[cfg(not(loom))]
const _: () = {
    assert!(core::mem::offset_of!(Header, banks) == 8 * crate::platform::banks::BaselineWord::AT);
    assert!(size_of::<Header>() == 256 && core::mem::offset_of!(Header, tallies) == 64);
    assert!(core::mem::offset_of!(Header, banks) == 192 && core::mem::offset_of!(Header, identity) == 200);
    assert!(core::mem::offset_of!(Header, second_baseline) == 216);
    // No byte is padding, which would copy what is on the stack.
    assert!(core::mem::offset_of!(Header, zero) == 196 && core::mem::offset_of!(Header, zero_end) == 248);
};

/// A type that begins with a [`Header`]. Questions that the header alone can answer are answered once, from there.
pub trait Headed {
    /// Returns the header.
    fn header(&self) -> &Header;
}

/// Returns the number of words for a bucket: the counter, and a cell of each bank of the baseline.
pub(crate) const fn copies(live_reset: bool) -> usize {
    if live_reset { 3 } else { 1 }
}

/// Returns the two banks of the baseline, in the words after the counters.
pub(crate) fn banks_behind<C>(words: &[C], length: usize) -> Option<[&[C]; 2]> {
    Some([words.get(length..2 * length)?, words.get(2 * length..3 * length)?])
}

impl Header {
    const_unless_loom! {
        pub(crate) const fn new(layout: Layout, kind: Kind, live_reset: bool) -> Header {
            Header {
                layout,
                kind: kind.with_unit(layout.unit()),
                entry: 0,
                key: 0,
                magic: MAGIC,
                image_version: if layout.unit() == 0 { IMAGE_VERSION } else { IMAGE_VERSION_WITH_UNIT },
                word_bytes: size_of::<usize>() as u8,
                flags: if live_reset { LIVE_RESET } else { 0 },
                tallies: Tallies::new(),
                baseline: Tallies::new(),
                banks: Banks::new(),
                zero: 0,
                identity: IdentityCell::new(),
                second_baseline: [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)],
                zero_end: 0,
            }
        }
    }

    /// Sets an identity from the beginning, because some readers of that memory may not be able to write it.
    pub(crate) fn placed_in_callers_memory(mut self) -> Header {
        self.flags |= IN_CALLERS_MEMORY;
        self.identity = IdentityCell::drawn();
        self
    }

    pub(crate) const fn is_in_callers_memory(&self) -> bool {
        self.flags & IN_CALLERS_MEMORY != 0
    }

    pub(crate) const fn counter_bits(&self) -> u32 {
        self.kind.counter_bits()
    }

    pub(crate) const fn has_baseline(&self) -> bool {
        self.flags & LIVE_RESET == LIVE_RESET
    }

    /// Returns the number of words for all counters and baselines, in the kinds that have them side by side.
    pub(crate) const fn cells(&self) -> usize {
        self.layout.length() * copies(self.has_baseline())
    }

    pub(crate) fn bank_tallies(&self, bank: usize) -> [&AtomicU64; 4] {
        if bank == 0 { self.baseline.words() } else { self.second_baseline.each_ref() }
    }

    /// Returns whether a baseline that was read at `version` is still valid.
    pub(crate) fn baseline_is(&self, version: u32) -> bool {
        self.banks.is(version)
    }

    /// Implements [`copy_baseline`](crate::snapshots::Source::copy_baseline) for kinds whose banks are contiguous; all
    /// zero without banks.
    pub(crate) fn copy_baseline<C: Counter>(
        &self,
        banks: Option<[&[C]; 2]>,
        out: &mut [u64],
        tallies: &mut TallyCounts,
    ) -> Result<u32> {
        let Some(banks) = banks else {
            out.fill(0);
            *tallies = TallyCounts::default();
            return Ok(0);
        };
        self.banks.read(|bank| {
            *tallies = TallyCounts::of(self.bank_tallies(bank));
            C::load_many(banks[bank], out);
        })
    }

    /// Checks that this is an image that this build can use. Fails with [`Error::Corrupt`] if it is not an image or is
    /// broken, and with [`Error::Incompatible`] if a build of another image version or word size made it.
    pub(crate) fn check(&self) -> Result<()> {
        if self.magic != MAGIC {
            return Err(Error::Corrupt);
        }
        let is_known = matches!(self.image_version, IMAGE_VERSION | IMAGE_VERSION_WITH_UNIT);
        if !is_known || self.word_bytes as usize != size_of::<usize>() {
            return Err(Error::Incompatible);
        }
        let has_unit = self.image_version == IMAGE_VERSION_WITH_UNIT;
        if self.layout.unit() != self.kind.unit() || has_unit != (self.kind.unit() != 0) {
            return Err(Error::Corrupt);
        }
        let with_reset = IN_CALLERS_MEMORY | LIVE_RESET;
        if !(self.flags == IN_CALLERS_MEMORY || self.flags == with_reset) || !self.layout.is_valid() {
            return Err(Error::Corrupt);
        }
        Ok(())
    }
}
