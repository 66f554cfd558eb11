//! The blocks on the heap that counted histograms live in: one histogram, or an array of them.
//!
//! | block | |
//! |---|---|
//! | of one histogram | prefix, header, cells |
//! | of an array | prefix, then for each element its own prefix, header, cells |
//!
//! References are counted in the first prefix of a block, whichever histogram of it they are to. The prefix of an element
//! tells how far that is.

use core::ptr::NonNull;

use crate::cells::header::Header;
use crate::platform::atomics::{AtomicU32, Ordering};
use crate::platform::references::References;

/// In front of the header of a histogram on the heap, and of an array; a whole cache line, so that what follows stays
/// aligned.
#[repr(C, align(64))]
pub(crate) struct Prefix {
    references: References,
    /// Of the block in bytes; of an element of an array, its distance from the array's prefix.
    size: usize,
    /// Elements of an array; 0 for one histogram and for an element.
    length: usize,
    /// Bytes from one element of an array to the next.
    stride: usize,
    /// Of a single-writer histogram, also of an element: whether its writer is handed out.
    writer: AtomicU32,
}

pub(crate) const PREFIX: usize = size_of::<Prefix>();

#[cfg(not(loom))]
const _: () = assert!(PREFIX == align_of::<Header>());

impl Prefix {
    #[cfg(feature = "alloc")]
    /// Of one histogram, with one reference to it.
    pub(crate) fn single(size: usize) -> Prefix {
        Prefix { references: References::new(1), size, length: 0, stride: 0, writer: AtomicU32::new(0) }
    }

    #[cfg(feature = "alloc")]
    /// Of an array, with one reference to it.
    pub(crate) fn array(size: usize, length: usize, stride: usize) -> Prefix {
        Prefix { references: References::new(1), size, length, stride, writer: AtomicU32::new(0) }
    }

    #[cfg(feature = "alloc")]
    /// Of an element of an array.
    pub(crate) fn element(distance: usize) -> Prefix {
        Prefix {
            references: References::new(0),
            size: distance,
            length: 0,
            stride: 0,
            writer: AtomicU32::new(0),
        }
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    #[cfg(feature = "alloc")]
    /// Where the header of an element is.
    ///
    /// # Safety
    /// `block` must lead to the prefix of an array of more than `index` elements.
    #[inline(always)]
    pub(crate) unsafe fn header_of(block: NonNull<Prefix>, index: usize) -> NonNull<Header> {
        // SAFETY: inside the block, as the caller promises.
        unsafe { block.byte_add(PREFIX + index * block.as_ref().stride + PREFIX).cast() }
    }

    /// The prefix in front of a histogram.
    ///
    /// # Safety
    /// The histogram must be a counted one that is alive.
    pub(crate) unsafe fn own(header: NonNull<Header>) -> NonNull<Prefix> {
        // SAFETY: counted histograms have a prefix in front of them.
        unsafe { header.byte_sub(PREFIX).cast() }
    }

    /// Whether the caller is the histogram's writer from now on: if there is none. Acquire, so that it finds what the last
    /// one wrote.
    pub(crate) fn claim_writer(&self) -> bool {
        self.writer.swap(1, Ordering::Acquire) == 0
    }

    /// There is no writer any more.
    pub(crate) fn release_writer(&self) {
        self.writer.store(0, Ordering::Release);
    }

    /// The first prefix of the block that a histogram is in.
    ///
    /// # Safety
    /// The histogram must be a counted one that is alive.
    pub(crate) unsafe fn of(header: NonNull<Header>) -> NonNull<Prefix> {
        // SAFETY: counted histograms have a prefix in front of them, and elements are so far from the array's.
        unsafe {
            let own = Prefix::own(header);
            if header.as_ref().is_in_array() { own.byte_sub(own.as_ref().size) } else { own }
        }
    }

    /// One reference more.
    pub(crate) fn retain(&self) {
        self.references.retain();
    }

    /// One reference less; the last one frees the block.
    ///
    /// # Safety
    /// `block` must lead to the first prefix of a block, to which the caller gives up a reference.
    pub(crate) unsafe fn release(block: NonNull<Prefix>) {
        // SAFETY: alive until the count is zero.
        let this = unsafe { block.as_ref() };
        if this.references.release() {
            #[cfg(feature = "alloc")]
            // SAFETY: the last reference is gone.
            unsafe {
                free(block, this.length);
            }
        }
    }
}

/// Frees a block of which the first `length` elements were made; 0 for that of one histogram.
///
/// # Safety
/// Nobody may use it any more.
#[cfg(feature = "alloc")]
pub(crate) unsafe fn free(block: NonNull<Prefix>, length: usize) {
    // SAFETY: the block is as its prefix says, and was allocated with this size and alignment; the rest is the caller's
    // promise.
    unsafe {
        let (size, is_array) = (block.as_ref().size, block.as_ref().length != 0);
        if is_array {
            (0..length).for_each(|index| crate::handle::dispatch::dispose(Prefix::header_of(block, index)));
        } else {
            crate::handle::dispatch::dispose(block.byte_add(PREFIX).cast());
        }
        crate::platform::memory::free(block.cast(), size, align_of::<Prefix>());
    }
}
