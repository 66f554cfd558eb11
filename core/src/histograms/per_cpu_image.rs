//! Per-CPU histograms in memory that processes share, as in the segments of `picollo-native`.
//!
//! Threads of many processes can share a shard like threads of one process, because a CPU runs only one of them at a
//! time. A restartable sequence has the shard alone. But the table of a histogram contains pointers, which are invalid
//! in another process. So the table lies on separate pages, and each process maps private pages with its own pointers
//! over them. Recording uses the same instructions: it finds the table after the header, as on the heap. A child of a
//! fork has its parent's pages, and mappings at the same addresses.
//!
//! All shards exist from the beginning, one for each possible CPU. A thread without restartable sequences, or on a CPU
//! beyond those, adds atomically to the shared counters, as on the heap.
//!
//! From the beginning of a page:
//!
//! | at | what |
//! |---|---|
//! | [`PerCpuImage::HEADER`] | the header, then the length of the table and the number of shards: up to the end of the page |
//! | one page | the table, whole pages; unused in the file |
//! | [`PerCpuImage::shared`] | the shared counters |
//! | [`PerCpuImage::shard`] | those of each CPU, each from the beginning of a page |

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::cells::kind::{Kind, Mode, Storage};
use crate::error::{Error, Result};
use crate::histograms::body::Body;
use crate::histograms::per_cpu::{Extent, Fixed, PerCpu};
use crate::layout::layout::Layout;
use crate::platform::pages::PAGE;
use crate::platform::rseq;

/// The positions of the parts of a per-CPU histogram in shared memory.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerCpuImage {
    /// The bytes from one shard to the next.
    stride: usize,
    shards: usize,
}

/// More CPUs than any kernel is configured for.
const MOST_SHARDS: usize = 1 << 16;

impl PerCpuImage {
    /// The position of the header, such that its table begins a page.
    pub const HEADER: usize = PAGE - size_of::<Fixed>();
    /// The bytes of the header and the fields after it.
    pub const HEADER_SIZE: usize = size_of::<Fixed>();
    /// The position in a header of the count of wraps, for code that sums shards.
    pub const WRAPS: usize = 80;
    /// The position of the table.
    pub const TABLE: usize = PAGE;
    /// Whether this build adds in restartable sequences anywhere: otherwise shards are useless.
    pub const HAS_SHARDS: bool = cfg!(picollo_rseq);

    /// Returns the positions for a histogram of this layout with this many shards.
    pub fn new(layout: &Layout, shards: usize) -> Result<PerCpuImage> {
        if shards > MOST_SHARDS {
            return Err(Error::InvalidArgument);
        }
        let image = PerCpuImage { stride: PerCpu::shard_size(layout)?, shards };
        let cells = image.stride.checked_mul(shards + 1).ok_or(Error::OutOfMemory)?;
        cells.checked_add(image.shared()).ok_or(Error::OutOfMemory)?;
        Ok(image)
    }

    /// Returns the positions from a copy of the header and the fields after it. Fails with [`Error::Corrupt`] if it is
    /// no per-CPU histogram. It trusts nothing, and reads only numbers.
    pub fn from_copy(header: &[u64]) -> Result<PerCpuImage> {
        let copy = header.as_ptr();
        if header.len() * 8 < Self::HEADER_SIZE || !copy.addr().is_multiple_of(align_of::<Fixed>()) {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: it is aligned and long enough, and every bit pattern is valid.
        unsafe { Self::from_fixed(&*copy.cast::<Fixed>()) }
    }

    fn from_fixed(fixed: &Fixed) -> Result<PerCpuImage> {
        fixed.header.check()?;
        let image = PerCpuImage::new(&fixed.header.layout, fixed.extent.placed)?;
        let is_per_cpu = fixed.header.kind.with_unit(0) == PerCpu::KIND && !fixed.header.has_baseline();
        if is_per_cpu && fixed.extent.cpus == image.pointers() { Ok(image) } else { Err(Error::Corrupt) }
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// Returns the bytes of the table, which is separate for each process.
    pub fn table_size(&self) -> usize {
        (self.shards * size_of::<*mut u8>()).next_multiple_of(PAGE)
    }

    /// Returns the number of pointers in whole pages; the excess ones stay null.
    fn pointers(&self) -> usize {
        self.table_size() / size_of::<*mut u8>()
    }

    /// Returns the position of the shared counters.
    pub fn shared(&self) -> usize {
        Self::TABLE + self.table_size()
    }

    /// Returns the position of the counters of a CPU.
    pub fn shard(&self, cpu: usize) -> usize {
        self.shared() + self.stride * (cpu + 1)
    }

    /// Returns the total size in bytes: whole pages.
    pub fn size(&self) -> usize {
        self.shard(self.shards)
    }

    /// Makes an empty histogram.
    ///
    /// # Safety
    /// `memory` must be zeroed, [`PerCpuImage::size`] bytes from the beginning of a page, unused, and for this layout.
    pub unsafe fn init_at(&self, memory: NonNull<u8>, layout: Layout) {
        let header = Header::new(layout, PerCpu::KIND, false).placed_in_callers_memory();
        let extent = Extent::new(self.pointers(), self.shards);
        // SAFETY: this is inside the first page.
        unsafe { memory.add(Self::HEADER).cast::<Fixed>().write(Fixed { header, extent }) };
    }

    /// Fills in a table for a process that has the histogram here: one pointer for each shard, from the beginning.
    ///
    /// # Safety
    /// `table` must be aligned, with [`PerCpuImage::table_size`] writable bytes; `memory` a histogram of this shape.
    pub unsafe fn fill_table(&self, table: NonNull<u8>, memory: NonNull<u8>) {
        for cpu in 0..self.shards {
            // SAFETY: this is inside both, as the caller promises.
            unsafe { table.cast::<NonNull<u8>>().add(cpu).write(memory.add(self.shard(cpu))) };
        }
    }

    /// Attaches to a histogram whose table here belongs to this process alone.
    ///
    /// # Safety
    /// As for [`SharedHistogram::attach`](crate::SharedHistogram::attach): `memory` must be valid for `size` bytes,
    /// from the beginning of a page, as long as there is any reference.
    pub(crate) unsafe fn attach(memory: NonNull<u8>, size: usize) -> Result<NonNull<Header>> {
        if size < Self::TABLE || !memory.addr().get().is_multiple_of(PAGE) {
            return Err(Error::InvalidArgument);
        }
        // This makes threads of this process find their CPU.
        rseq::cpus();
        // SAFETY: this is inside the first page, and aligned; every bit pattern is valid.
        let image = unsafe { Self::from_fixed(memory.add(Self::HEADER).cast::<Fixed>().as_ref())? };
        if size < image.size() {
            return Err(Error::BufferTooSmall);
        }
        // SAFETY: as above.
        Ok(unsafe { memory.add(Self::HEADER).cast() })
    }

    /// Converts the copy of a header to that of an interlocked histogram of the sums of all shards. Returns its layout.
    pub fn make_dense(header: &mut [u64]) -> Result<Layout> {
        Self::from_copy(header)?;
        // SAFETY: it is the caller's, aligned and long enough, as `from_copy` checks; every bit pattern is valid.
        let fixed = unsafe { &mut *header.as_mut_ptr().cast::<Fixed>() };
        fixed.header.kind =
            Kind::new(Mode::Interlocked, Storage::Dense, 64).with_unit(fixed.header.layout.unit());
        Ok(fixed.header.layout)
    }
}

/// Returns whether the threads of this process are registered for restartable sequences.
#[doc(hidden)]
pub fn has_restartable_sequences() -> bool {
    rseq::cpus() != 0
}

#[cfg(not(loom))]
const _: () = assert!(PerCpuImage::HEADER.is_multiple_of(align_of::<Fixed>()) && size_of::<Fixed>() == 320);

#[cfg(all(test, not(loom)))]
#[path = "per_cpu_image_tests.rs"]
mod tests;
