//! Per-CPU histograms in memory that processes share, as the segments of `picollo-native` have them.
//!
//! A shard is as good for the threads of many processes as for those of one, since a CPU runs one of them at a time: who adds in a
//! restartable sequence has it alone. But the table of a histogram has pointers, which lead nowhere in another process. So the table lies
//! on pages of its own, over which each process maps private ones, with pointers of its own. Recording is the same to the instruction:
//! it finds the table behind the header, as on the heap. A child of a fork has its parent's pages, and mappings at the same places.
//!
//! All shards are there from the beginning, one for each CPU that there may be. Who has no restartable sequences, or runs
//! on a CPU beyond those, adds atomically to the counters that all share, as on the heap.
//!
//! From the beginning of a page:
//!
//! | at | what |
//! |---|---|
//! | [`PerCpuImage::HEADER`] | the header, and behind it the length of the table and the number of shards: up to the end of the page |
//! | one page | the table, whole pages; in the file it is not used |
//! | [`PerCpuImage::shared`] | the counters that all share |
//! | [`PerCpuImage::shard`] | those of each CPU, all at the beginning of pages |

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::{Kind, Mode, Storage};
use crate::error::{Error, Result};
use crate::histograms::body::Body;
use crate::histograms::per_cpu::{Extent, Fixed, PerCpu};
use crate::layout::layout::Layout;
use crate::platform::pages::PAGE;
use crate::platform::rseq;

/// Where the parts of a per-CPU histogram in shared memory lie.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerCpuImage {
    /// Bytes from one shard to the next.
    stride: usize,
    shards: usize,
}

/// More CPUs than any kernel is configured for.
const MOST_SHARDS: usize = 1 << 16;

impl PerCpuImage {
    /// Where the header is: its table then begins a page.
    pub const HEADER: usize = PAGE - size_of::<Fixed>();
    /// Bytes of the header with what is said behind it.
    pub const HEADER_SIZE: usize = size_of::<Fixed>();
    /// Where in a header wraps of cells are counted, for who adds up shards.
    pub const WRAPS: usize = 80;
    /// Where the table begins.
    pub const TABLE: usize = PAGE;
    /// Whether this build adds in restartable sequences anywhere: otherwise shards are in vain.
    pub const HAS_SHARDS: bool = cfg!(picollo_rseq);

    /// Of a histogram of this layout with so many shards.
    pub fn new(layout: &Layout, shards: usize) -> Result<PerCpuImage> {
        if shards > MOST_SHARDS {
            return Err(Error::InvalidArgument);
        }
        let image = PerCpuImage { stride: PerCpu::shard_size(layout)?, shards };
        let cells = image.stride.checked_mul(shards + 1).ok_or(Error::OutOfMemory)?;
        cells.checked_add(image.shared()).ok_or(Error::OutOfMemory)?;
        Ok(image)
    }

    /// Of a copy of the header and what is behind it; [`Error::Corrupt`] where it is no per-CPU histogram. Nothing is
    /// believed, and nothing but numbers is read.
    pub fn of_copy(header: &[u64]) -> Result<PerCpuImage> {
        let copy = header.as_ptr();
        if header.len() * 8 < Self::HEADER_SIZE || !copy.addr().is_multiple_of(align_of::<Fixed>()) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: aligned, long enough, and every bit pattern is one.
        unsafe { Self::of(&*copy.cast::<Fixed>()) }
    }

    fn of(fixed: &Fixed) -> Result<PerCpuImage> {
        fixed.header.check()?;
        let image = PerCpuImage::new(&fixed.header.layout, fixed.extent.placed)?;
        let is_per_cpu = fixed.header.kind.with_unit(0) == PerCpu::KIND && !fixed.header.has_baseline();
        if is_per_cpu && fixed.extent.cpus == image.pointers() { Ok(image) } else { Err(Error::Corrupt) }
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// Bytes of the table, which each process has its own of.
    pub fn table_size(&self) -> usize {
        (self.shards * size_of::<*mut u8>()).next_multiple_of(PAGE)
    }

    /// Whole pages of pointers, of which the rest stay null.
    fn pointers(&self) -> usize {
        self.table_size() / size_of::<*mut u8>()
    }

    /// Where the counters are that all share.
    pub fn shared(&self) -> usize {
        Self::TABLE + self.table_size()
    }

    /// Where the counters of a CPU are.
    pub fn shard(&self, cpu: usize) -> usize {
        self.shared() + self.stride * (cpu + 1)
    }

    /// Bytes of all of it: whole pages.
    pub fn size(&self) -> usize {
        self.shard(self.shards)
    }

    /// Makes an empty histogram.
    ///
    /// # Safety
    /// `memory` must be zeroed, [`PerCpuImage::size`] bytes from the beginning of a page, and nobody else's so far; of this layout.
    pub unsafe fn init_at(&self, memory: NonNull<u8>, layout: Layout) {
        let header = Header::new(layout, PerCpu::KIND, false).placed_in_callers_memory();
        let extent = Extent::new(self.pointers(), self.shards);
        // SAFETY: inside of the first page.
        unsafe { memory.add(Self::HEADER).cast::<Fixed>().write(Fixed { header, extent }) };
    }

    /// Fills in a table for a process that has the histogram here: so many pointers from its beginning.
    ///
    /// # Safety
    /// `table` must be valid for writes of [`PerCpuImage::table_size`] bytes and aligned, and `memory` lead to a histogram of this shape.
    pub unsafe fn fill_table(&self, table: NonNull<u8>, memory: NonNull<u8>) {
        for cpu in 0..self.shards {
            // SAFETY: inside of both, as the caller promises.
            unsafe { table.cast::<NonNull<u8>>().add(cpu).write(memory.add(self.shard(cpu))) };
        }
    }

    /// The histogram that was made somewhere, whose table here is this process's own.
    ///
    /// # Safety
    /// As for [`SharedHistogram::attach`](crate::SharedHistogram::attach): `memory` must be valid for `size` bytes, from the beginning of a
    /// page, for as long as there is any reference.
    pub(crate) unsafe fn attach(memory: NonNull<u8>, size: usize) -> Result<NonNull<Header>> {
        if size < Self::TABLE || !memory.addr().get().is_multiple_of(PAGE) {
            return Err(Error::InvalidArgument);
        }
        // So that threads of this process are asked which CPU they run on.
        rseq::cpus();
        // SAFETY: inside of the first page, and aligned; every bit pattern is one.
        let image = unsafe { Self::of(memory.add(Self::HEADER).cast::<Fixed>().as_ref())? };
        if size < image.size() {
            return Err(Error::BufferTooSmall);
        }
        // SAFETY: as above.
        Ok(unsafe { memory.add(Self::HEADER).cast() })
    }

    /// Makes the copy of a header into that of an interlocked histogram, whose cells follow it: the sums of all shards. Returns its layout.
    pub fn make_dense(header: &mut [u64]) -> Result<Layout> {
        Self::of_copy(header)?;
        // SAFETY: aligned and long enough, which `of_copy` asks for; every bit pattern is one, and the copy is the caller's.
        let fixed = unsafe { &mut *header.as_mut_ptr().cast::<Fixed>() };
        fixed.header.kind =
            Kind::new(Mode::Interlocked, Storage::Dense, 64).with_unit(fixed.header.layout.unit());
        Ok(fixed.header.layout)
    }
}

/// Whether the threads of this process are registered for restartable sequences.
#[doc(hidden)]
pub fn has_restartable_sequences() -> bool {
    rseq::cpus() != 0
}

#[cfg(not(loom))]
const _: () = assert!(PerCpuImage::HEADER.is_multiple_of(align_of::<Fixed>()) && size_of::<Fixed>() == 320);

#[cfg(all(test, not(loom)))]
#[path = "per_cpu_image_tests.rs"]
mod tests;
