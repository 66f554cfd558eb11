//! The header that every histogram of integers begins with, whatever its mode, storage and width of counters.
//!
//! A dense histogram with one writer or interlocked ones is one block of memory, the same on the heap, in a static and in memory
//! shared by processes: this header, the counters, and the baseline of a live reset. It holds no pointers. The other kinds
//! (thread-local, scalable, sparse) have more behind their headers, pointers among it: they live on the heap of one process, and
//! only the header is as here.
//!
//! Its first cache line is all that a record reads besides the counter; what writers and readers change lies on lines of
//! their own.
//!
//! In the caller's memory, which processes may share, the baseline has two banks: see [`crate::banks`]. Elsewhere nobody can
//! die and leave the others behind, and one bank does.
//!
//! | version of images | |
//! |---|---|
//! | 1 | one bank, and no identity: its place was padding, zero. A process that dies inside a reset leaves the histogram busy. Such images are attached, and stay what they are |
//! | 2 | two banks where there is live reset; an identity |
//! | 3 | as 2, where the layout has a unit, which the top byte of the kind has too. Others are written as 2 |

use core::mem::size_of;

use crate::cells::cell::{Counter, Tallies, TallyCounts};
use crate::cells::identity::IdentityCell;
use crate::cells::kind::Kind;
use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::platform::atomics::{AtomicU64, const_unless_loom};
use crate::platform::seqlock::Version;

const MAGIC: u32 = u32::from_ne_bytes(*b"Pico");
const IMAGE_VERSION: u16 = 2;
const IMAGE_VERSION_WITH_UNIT: u16 = 3;
const FIRST_IMAGE_VERSION: u16 = 1;

const LIVE_RESET: u8 = 1;
const IN_CALLERS_MEMORY: u8 = 2;
const IN_ARRAY: u8 = 4;
/// With live reset: there is a second bank for the baseline.
const TWO_BANKS: u8 = 8;

/// What every histogram begins with.
#[repr(C, align(64))]
pub struct Header {
    pub(crate) layout: Layout,
    pub(crate) kind: Kind,
    /// Thread-local mode: where threads have their entry for this histogram. See `threads::entries`.
    pub(crate) entry: i32,
    /// Thread-local mode: what is to be seen in that entry; 0 without one.
    pub(crate) key: u64,
    magic: u32,
    image_version: u16,
    word_bytes: u8,
    flags: u8,
    pub(crate) tallies: Tallies,
    /// Of the first bank, or the only one.
    pub(crate) baseline: Tallies,
    /// Of one bank, or the word of two: [`Version::banks`].
    pub(crate) version: Version,
    pub(crate) identity: IdentityCell,
    /// The tallies of the second bank, in the order of [`Tallies::words`].
    second_baseline: [AtomicU64; 4],
}

#[cfg(not(loom))]
const _: () = {
    assert!(core::mem::offset_of!(Header, version) == 8 * crate::platform::banks::BaselineWord::AT);
    assert!(size_of::<Header>() == 256 && core::mem::offset_of!(Header, tallies) == 64);
    assert!(core::mem::offset_of!(Header, version) == 192 && core::mem::offset_of!(Header, identity) == 200);
    assert!(core::mem::offset_of!(Header, second_baseline) == 216);
};

/// What begins with a [`Header`]. What can be answered from the header alone is answered once, from there.
pub trait Headed {
    /// The header.
    fn header(&self) -> &Header;
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
                version: Version::new(),
                identity: IdentityCell::new(),
                second_baseline: [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)],
            }
        }
    }

    /// With an identity from the beginning, since some of those who read it there may not be able to write.
    pub(crate) fn placed_in_callers_memory(mut self) -> Header {
        self.flags |= IN_CALLERS_MEMORY;
        self.identity = IdentityCell::drawn();
        self.with_two_banks()
    }

    /// With room for two banks, if for any.
    pub(crate) const fn with_two_banks(mut self) -> Header {
        if self.has_baseline() {
            self.flags |= TWO_BANKS;
        }
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

    /// Width of the cells.
    pub(crate) const fn counter_bits(&self) -> u32 {
        self.kind.counter_bits()
    }

    pub(crate) const fn has_baseline(&self) -> bool {
        self.flags & LIVE_RESET != 0
    }

    pub(crate) const fn has_two_banks(&self) -> bool {
        self.flags & TWO_BANKS != 0
    }

    /// How often there is a word for each bucket behind the header of a single-writer or interlocked histogram: for the
    /// counter, and for each bank of the baseline.
    pub(crate) const fn copies(&self) -> usize {
        1 + self.has_baseline() as usize + self.has_two_banks() as usize
    }

    /// How many cells follow the header of a single-writer or interlocked histogram.
    pub(crate) const fn cells(&self) -> usize {
        self.layout.length() * self.copies()
    }

    /// The tallies of a bank.
    pub(crate) fn bank_tallies(&self, bank: usize) -> [&AtomicU64; 4] {
        if bank == 0 { self.baseline.words() } else { self.second_baseline.each_ref() }
    }

    /// Whether a baseline that was read at `version` still stands.
    pub(crate) fn baseline_is(&self, version: u32) -> bool {
        if self.has_two_banks() { self.version.banks().is(version) } else { self.version.is(version) }
    }

    /// What [`crate::Source::copy_baseline`] is to those whose baseline is one bank of cells: all zero where there is none.
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
        let banks = match self.image_version {
            FIRST_IMAGE_VERSION => 0,
            IMAGE_VERSION | IMAGE_VERSION_WITH_UNIT => TWO_BANKS,
            _ => return Err(Error::Incompatible),
        };
        if self.word_bytes as usize != size_of::<usize>() {
            return Err(Error::Incompatible);
        }
        let has_unit = self.image_version == IMAGE_VERSION_WITH_UNIT;
        if self.layout.unit() != self.kind.unit() || has_unit != (self.kind.unit() != 0) {
            return Err(Error::Corrupt);
        }
        let with_reset = IN_CALLERS_MEMORY | LIVE_RESET | banks;
        if !(self.flags == IN_CALLERS_MEMORY || self.flags == with_reset) || !self.layout.is_valid() {
            return Err(Error::Corrupt);
        }
        Ok(())
    }
}
