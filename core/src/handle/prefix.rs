//! The blocks on the heap that counted histograms live in: a prefix, the header, the cells.

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::platform::atomics::{AtomicU32, Ordering};
use crate::platform::references::References;

/// In front of the header of a histogram on the heap; a whole cache line, so that what follows stays aligned.
#[repr(C, align(64))]
pub(crate) struct Prefix {
    references: References,
    /// Of the block in bytes. Nobody reads it where nothing is allocated.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))]
    size: usize,
    /// Of a single-writer histogram: whether its writer is handed out.
    writer: AtomicU32,
}

pub(crate) const PREFIX: usize = size_of::<Prefix>();

#[cfg(not(loom))]
const _: () = assert!(PREFIX == align_of::<Header>());

impl Prefix {
    /// Of a block of `size` bytes, with one reference to its histogram.
    #[cfg(feature = "alloc")]
    pub(crate) fn new(size: usize) -> Prefix {
        Prefix { references: References::new(1), size, writer: AtomicU32::new(0) }
    }

    /// The prefix in front of a histogram.
    ///
    /// # Safety
    /// The histogram must be a counted one that is alive.
    pub(crate) unsafe fn of(header: NonNull<Header>) -> NonNull<Prefix> {
        // SAFETY: counted histograms have a prefix in front of them.
        unsafe { header.byte_sub(PREFIX).cast() }
    }

    /// Whether the caller is the histogram's writer from now on: if there is none. Acquire, so that it finds what the last
    /// one wrote.
    pub(crate) fn claim_writer(&self) -> bool {
        self.writer.swap(1, Ordering::Acquire) == 0
    }

    pub(crate) fn release_writer(&self) {
        self.writer.store(0, Ordering::Release);
    }

    pub(crate) fn retain(&self) {
        self.references.retain();
    }

    /// One reference less; the last one frees the block.
    ///
    /// # Safety
    /// `block` must be one to which the caller gives up a reference.
    pub(crate) unsafe fn release(block: NonNull<Prefix>) {
        // SAFETY: alive until the count is zero.
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
