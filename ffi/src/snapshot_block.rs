//! The object behind the handle of a snapshot.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use picollo_core::{Layout, SharedHistogram, Since, Snapshot};

use crate::failure::{Failure, Outcome};
use crate::memory;

/// The target of a `picollo_snapshot` pointer. The counts follow it in the same block of memory, or have a separate
/// one.
#[repr(C, align(64))]
pub struct Block {
    /// The source of updates. Decoded and corrected snapshots have none.
    histogram: Option<SharedHistogram>,
    counts: *mut Snapshot,
    /// Size of the block on the heap; 0 in the caller's memory.
    heap_size: usize,
    /// Whether the counts are in a separate box.
    has_box: bool,
    /// The factor for the values of a decoded histogram of doubles; 1 otherwise.
    value_ratio: f64,
}

pub const ALIGNMENT: usize = align_of::<Block>();
const _: () = assert!(size_of::<Block>().is_multiple_of(Snapshot::ALIGNMENT) && Snapshot::ALIGNMENT <= 64);

impl Block {
    /// Bytes of a snapshot of a histogram with this layout.
    pub fn required_size(layout: &Layout) -> Outcome<usize> {
        // Both are far below the largest `usize`.
        let size = size_of::<Block>() + Snapshot::required_size(layout)?;
        Ok(size.next_multiple_of(ALIGNMENT))
    }

    /// Makes a snapshot in a block of memory, and updates it for the first time.
    ///
    /// # Safety
    /// `memory` must be valid for writes of `size` bytes, and the snapshot's alone until it is freed.
    pub unsafe fn initialise(
        memory: NonNull<u8>,
        size: usize,
        histogram: &SharedHistogram,
        heap_size: usize,
    ) -> Outcome<NonNull<Block>> {
        if !memory.cast::<Block>().is_aligned() {
            return Err(Failure::INVALID_ARGUMENT);
        }
        if size < Self::required_size(histogram.layout())? {
            return Err(Failure::BUFFER_TOO_SMALL);
        }
        // SAFETY: the block has at least the size just asked for.
        let counts = Snapshot::init_in(unsafe { Self::behind(memory, size) }, *histogram.layout())?;
        histogram.update(counts, Since::Reset)?;
        counts.set_timestamp_unix_nanos(picollo_native::unix_nanos());
        let block = memory.cast::<Block>();
        // SAFETY: aligned and in front of the counts, as just checked.
        unsafe {
            block.write(Block {
                histogram: Some(histogram.clone()),
                counts,
                heap_size,
                has_box: false,
                value_ratio: 1.0,
            })
        };
        Ok(block)
    }

    /// The memory after the block itself.
    ///
    /// # Safety
    /// `memory` must be valid for writes of `size` bytes, at least those of a block, for as long as the slice is used.
    unsafe fn behind<'a>(memory: NonNull<u8>, size: usize) -> &'a mut [MaybeUninit<u8>] {
        // No slice is longer than half the address space.
        let size = size.min(isize::MAX as usize);
        // SAFETY: inside the memory, as the caller promises.
        unsafe {
            let behind = memory.add(size_of::<Block>()).cast::<MaybeUninit<u8>>();
            core::slice::from_raw_parts_mut(behind.as_ptr(), size - size_of::<Block>())
        }
    }

    /// Makes a snapshot on the heap without a histogram, from boxed counts. A large box is touched only at the counts, which
    /// matters because its size may come from untrusted data.
    #[cfg(feature = "std")]
    pub fn detached(counts: Box<Snapshot>, value_ratio: f64) -> Outcome<NonNull<Block>> {
        let size = size_of::<Block>();
        let block = memory::allocate(size, ALIGNMENT)?.cast::<Block>();
        let counts = Box::into_raw(counts);
        // SAFETY: a fresh block of this size, aligned.
        unsafe {
            block.write(Block { histogram: None, counts, heap_size: size, has_box: true, value_ratio })
        };
        Ok(block)
    }

    /// Makes an empty one without a histogram.
    #[cfg(feature = "std")]
    pub fn from_layout(layout: Layout) -> Outcome<NonNull<Block>> {
        Self::detached(Snapshot::boxed_alone(layout)?, 1.0)
    }

    /// Makes a copy without a histogram.
    #[cfg(feature = "std")]
    pub fn new_copy(block: &Block) -> Outcome<NonNull<Block>> {
        Self::detached(block.counts().boxed_copy()?, block.value_ratio)
    }

    /// Makes a copy that is corrected for coordinated omission.
    #[cfg(feature = "std")]
    pub fn corrected(block: &Block, expected_interval: u64) -> Outcome<NonNull<Block>> {
        Self::detached(block.counts().corrected(expected_interval)?, block.value_ratio)
    }

    /// Makes a snapshot on the heap.
    pub fn create(histogram: &SharedHistogram) -> Outcome<NonNull<Block>> {
        let size = Self::required_size(histogram.layout())?;
        let memory = memory::allocate(size, ALIGNMENT)?;
        // SAFETY: a fresh block of this size; freed with it when it was not put to use.
        unsafe {
            Self::initialise(memory, size, histogram, size)
                .inspect_err(|_| memory::free(memory, size, ALIGNMENT))
        }
    }

    /// Gives back the reference to the histogram, and the memory when it is from the heap.
    ///
    /// # Safety
    /// `block` must be from a function above, and not be used any more.
    pub unsafe fn free(block: NonNull<Block>) {
        // SAFETY: initialised, and not used after this; the heap gets back what came from it.
        unsafe {
            let heap_size = block.as_ref().heap_size;
            #[cfg(feature = "std")]
            if block.as_ref().has_box {
                drop(Box::from_raw(block.as_ref().counts));
            }
            block.drop_in_place();
            if heap_size != 0 {
                memory::free(block.cast(), heap_size, ALIGNMENT);
            }
        }
    }

    /// The counts.
    pub fn counts(&self) -> &Snapshot {
        // SAFETY: behind this in the same block, and changed only through `&mut self`.
        unsafe { &*self.counts }
    }

    /// The factor for the values.
    pub fn value_ratio(&self) -> f64 {
        self.value_ratio
    }

    /// The counts, to change.
    pub fn counts_mut(&mut self) -> &mut Snapshot {
        // SAFETY: as above, and the borrow of `self` is exclusive.
        unsafe { &mut *self.counts }
    }

    /// Replaces the counts by new ones from the histogram.
    pub fn update(&mut self, since: Since) -> Outcome {
        let histogram = self.histogram.as_ref().ok_or(Failure::UNSUPPORTED)?;
        // SAFETY: as in `counts_mut`; the counts are no part of the histogram.
        let counts = unsafe { &mut *self.counts };
        histogram.update(counts, since)?;
        counts.set_timestamp_unix_nanos(picollo_native::unix_nanos());
        Ok(())
    }
}
