//! The memory of a snapshot: its place, its size, and copies.

use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr;

use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::platform::memory::size_with;
use crate::snapshot::snapshot::{Head, Snapshot};

impl Snapshot {
    /// The alignment of the memory passed to [`Snapshot::init_in`].
    pub const ALIGNMENT: usize = align_of::<Head>();

    /// Returns the size of a snapshot of this layout in bytes, or [`Error::OutOfMemory`] if no address space has room.
    pub const fn required_size(layout: &Layout) -> Result<usize> {
        Snapshot::size_of_words(layout.snapshot_words())
    }

    pub(crate) const fn size_of_words(words: usize) -> Result<usize> {
        size_with::<Head, u64>(size_of::<Head>(), words)
    }

    /// Creates an empty snapshot in memory that the caller owns. Fails with [`Error::InvalidArgument`] if it is not
    /// aligned to [`Snapshot::ALIGNMENT`], and with [`Error::BufferTooSmall`] if it is smaller than
    /// [`Snapshot::required_size`] bytes.
    pub fn init_in(memory: &mut [MaybeUninit<u8>], layout: Layout) -> Result<&mut Snapshot> {
        let size = Snapshot::required_size(&layout)?;
        let base = memory.as_mut_ptr().cast::<u8>();
        if !base.addr().is_multiple_of(Snapshot::ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        if memory.len() < size {
            return Err(Error::BufferTooSmall);
        }
        // SAFETY: the memory is ours for the borrow, aligned and `size` bytes long as checked, and zeroed before use.
        unsafe {
            ptr::write_bytes(base, 0, size);
            Ok(&mut *Snapshot::initialise(base, layout, layout.snapshot_words()))
        }
    }

    /// Creates an empty snapshot on the heap. Returns [`Error::OutOfMemory`] instead of aborting if there is no room.
    #[cfg(feature = "alloc")]
    pub fn boxed(layout: Layout) -> Result<alloc::boxed::Box<Snapshot>> {
        Snapshot::boxed_words(layout, layout.snapshot_words())
    }

    /// Creates an empty snapshot on the heap, to merge others into. It holds only its counts, and cannot be updated
    /// from a histogram. Memory that the allocator has zeroed is touched only where there are counts.
    #[cfg(feature = "alloc")]
    pub fn boxed_alone(layout: Layout) -> Result<alloc::boxed::Box<Snapshot>> {
        Snapshot::boxed_words(layout, layout.length())
    }

    /// Returns a copy on the heap. It holds only its counts, and cannot be updated from a histogram. Memory that the
    /// allocator has zeroed is touched only where there are counts.
    #[cfg(feature = "alloc")]
    pub fn boxed_copy(&self) -> Result<alloc::boxed::Box<Snapshot>> {
        let mut copy = Snapshot::boxed_words(self.head.layout, self.head.layout.length())?;
        copy.rewrite(|counts| {
            for (index, count) in self.recorded_counts() {
                counts.add(index, count.into());
            }
            counts.take_over(self);
        });
        copy.set_timestamp_unix_nanos(self.timestamp_unix_nanos());
        Ok(copy)
    }

    /// Does the same as [`Snapshot::boxed`] with this many words: at least one for each counter.
    #[cfg(feature = "alloc")]
    pub(crate) fn boxed_words(layout: Layout, words: usize) -> Result<alloc::boxed::Box<Snapshot>> {
        debug_assert!(words >= layout.length());
        let size = Snapshot::size_of_words(words)?;
        let base = crate::platform::memory::allocate_zeroed(size, Snapshot::ALIGNMENT)?;
        // SAFETY: the block is ours, zeroed, aligned, and has the size of the value, which the box will free.
        unsafe { Ok(alloc::boxed::Box::from_raw(Snapshot::initialise(base.as_ptr(), layout, words))) }
    }

    /// # Safety
    /// `base` must be aligned and have `size_of_words` zeroed bytes.
    unsafe fn initialise(base: *mut u8, layout: Layout, words: usize) -> *mut Snapshot {
        // SAFETY: the caller promises room and alignment.
        unsafe { base.cast::<Head>().write(Head::new(layout)) };
        ptr::slice_from_raw_parts_mut(base, words) as *mut Snapshot
    }
}
