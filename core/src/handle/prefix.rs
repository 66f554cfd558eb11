//! The heap blocks of counted histograms: a prefix, the header, the cells.

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::platform::atomics::{AtomicU32, Ordering};
use crate::platform::references::References;

/// Lies before the header of a histogram on the heap. It is a whole cache line, so that the header stays aligned.
#[repr(C, align(64))]
pub(crate) struct Prefix {
    references: References,
    /// The size of the block in bytes. Without an allocator, nobody reads it.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))]
    size: usize,
    /// For a single-writer histogram: whether its writer is taken.
    writer: AtomicU32,
}

pub(crate) const PREFIX: usize = size_of::<Prefix>();

#[cfg(not(loom))]
const _: () = assert!(PREFIX == align_of::<Header>());

impl Prefix {
    /// Creates the prefix of a block of `size` bytes, with one reference to its histogram.
    #[cfg(feature = "alloc")]
    pub(crate) fn new(size: usize) -> Prefix {
        Prefix { references: References::new(1), size, writer: AtomicU32::new(0) }
    }

    /// Returns the prefix before a histogram.
    ///
    /// # Safety
    /// The histogram must be counted and alive.
    pub(crate) unsafe fn before(header: NonNull<Header>) -> NonNull<Prefix> {
        // SAFETY: counted histograms have a prefix before them.
        unsafe { header.byte_sub(PREFIX).cast() }
    }

    /// Makes the caller the histogram's writer unless it has one, and returns whether it did. Acquire, so that the new
    /// writer sees what the last one wrote.
    pub(crate) fn claim_writer(&self) -> bool {
        self.writer.swap(1, Ordering::Acquire) == 0
    }

    pub(crate) fn release_writer(&self) {
        self.writer.store(0, Ordering::Release);
    }

    pub(crate) fn retain(&self) {
        self.references.retain();
    }

    /// Removes a reference; the last one frees the block.
    ///
    /// # Safety
    /// The caller must own a reference to `block`, and gives it up.
    pub(crate) unsafe fn release(block: NonNull<Prefix>) {
        // SAFETY: the block is alive until the count is zero.
        if unsafe { block.as_ref() }.references.release() {
            #[cfg(feature = "alloc")]
            // SAFETY: the last reference is gone. The block was allocated with the size in its prefix.
            unsafe {
                crate::handle::dispatch::dispose(block.byte_add(PREFIX).cast());
                crate::platform::memory::free(block.cast(), block.as_ref().size, align_of::<Prefix>());
            }
        }
    }
}
