//! Sparse histograms: cells in small chunks, allocated on first touch.
//!
//! After the header lies a directory with a pointer for each [`CHUNK`] cells of the layout; a record needs one load
//! more than a dense one. Ten live values take at most ten chunks, wherever they lie. The baseline of a live reset
//! belongs to its chunk. The first reset that finds counts there allocates it, so neither costs memory without records.
//!
//! Chunks stay as long as the histogram. Events without memory, or beyond the limit, are counted as lost.

use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use crate::cells::cell::{Counter, ManyWriters, Place};
use crate::cells::first_touch::{Blank, Budget, FirstTouch};
use crate::cells::header::{Headed, Header};
use crate::cells::kind::{Kind, Storage};
use crate::cells::tallies::TallyCounts;
use crate::error::{Error, Result};
use crate::histograms::baseline;
use crate::histograms::body::Body;
use crate::histograms::dense::add_out_of_range;
use crate::histograms::record::Record;
use crate::layout::layout::Layout;
use crate::platform::memory::size_with;
use crate::snapshot::source::Source;

/// The number of cells in a chunk.
pub(crate) const CHUNK: usize = 64;

/// Adjacent cells, and a pointer to their baseline, if they have one.
#[repr(C)]
struct Chunk<C> {
    cells: [C; CHUNK],
    baseline: FirstTouch<C>,
}

// SAFETY: these are zeroed cells and a null pointer, and none of them needs to be dropped.
unsafe impl<C: Counter> Blank for Chunk<C> {
    fn blank() -> Self {
        Chunk { cells: core::array::from_fn(|_| C::zero()), baseline: FirstTouch::new() }
    }
}

/// A sparse histogram: the header, its memory limit, and the directory.
#[repr(C)]
pub(crate) struct Sparse<C, M> {
    header: Header,
    budget: Budget,
    mode: PhantomData<M>,
    directory: [FirstTouch<Chunk<C>>],
}

/// The part of it before the directory.
#[repr(C)]
struct Fixed {
    header: Header,
    budget: Budget,
}

impl<C: Counter, M: ManyWriters> Sparse<C, M> {
    const DIRECTORY: usize = core::mem::offset_of!(Fixed, budget) + size_of::<Budget>();

    const fn chunks_for(layout: &Layout) -> usize {
        layout.length().div_ceil(CHUNK)
    }

    /// Returns the existing chunks, each with the index of its first cell.
    fn chunks(&self) -> impl Iterator<Item = (usize, &Chunk<C>)> {
        let present = |(at, entry): (usize, &FirstTouch<Chunk<C>>)| {
            // SAFETY: chunks live as long as the histogram.
            Some((at * CHUNK, unsafe { entry.get()?.as_ref() }))
        };
        self.directory.iter().enumerate().filter_map(present)
    }

    /// Adds values that were recorded one by one, at their storage index.
    #[inline(always)]
    fn add_few_at(&self, index: u64, count: u64) {
        self.add_at(index, |place| M::add_few(place.cell(), count), count);
    }

    #[inline(always)]
    fn add_at(&self, index: u64, add: impl FnOnce(Place<C>) -> u64, count: u64) {
        if !self.header.layout.contains(index) {
            return add_out_of_range::<M>(&self.header, index, count);
        }
        let index = index as usize;
        // SAFETY: the directory has an entry for every index of the layout.
        match unsafe { self.directory.get_unchecked(index / CHUNK) }.get() {
            Some(chunk) => {
                // SAFETY: chunks live as long as the histogram, and have `CHUNK` cells.
                let place = unsafe { Place::new(chunk.as_ref().cells.as_ptr(), index % CHUNK) };
                self.header.tallies.add_wraps_if_any(add(place));
            }
            None => self.add_first(index, count),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_first(&self, index: usize, count: u64) {
        if count == 0 {
            return;
        }
        let tallies = &self.header.tallies;
        match self.directory[index / CHUNK].create(1, &self.budget) {
            Some(chunk) => {
                // SAFETY: chunks live as long as the histogram.
                let cells = unsafe { &chunk.as_ref().cells };
                tallies.add_wraps_if_any(M::add(&cells[index % CHUNK], count));
            }
            None => tallies.add_wraps_beside(M::add(&tallies.lost, count), C::BITS),
        }
    }
}

impl<C: Counter, M: ManyWriters> Body for Sparse<C, M> {
    const KIND: Kind = Kind::new(M::MODE, Storage::Sparse, C::BITS);

    fn heap_size(layout: &Layout, _live_reset: bool) -> Result<usize> {
        size_with::<Header, FirstTouch<Chunk<C>>>(Self::DIRECTORY, Self::chunks_for(layout))
    }

    /// Fails with [`Error::InvalidArgument`] if the empty histogram exceeds the limit.
    unsafe fn initialise(base: NonNull<Header>, header: Header, max_bytes: usize) -> Result<()> {
        let size = Self::heap_size(&header.layout, header.has_baseline())?;
        if size > max_bytes {
            return Err(Error::InvalidArgument);
        }
        // SAFETY: the caller promises room and alignment; zeroed bytes are already null pointers.
        unsafe {
            base.write(header);
            base.byte_add(core::mem::offset_of!(Fixed, budget)).cast().write(Budget::new(size, max_bytes));
            #[cfg(loom)]
            for index in 0..Self::chunks_for(&base.as_ref().layout) {
                let directory = base.byte_add(Self::DIRECTORY).cast::<FirstTouch<Chunk<C>>>();
                directory.add(index).write(FirstTouch::new());
            }
        }
        Ok(())
    }

    #[inline(always)]
    unsafe fn from_header(header: *const Header) -> *const Self {
        // SAFETY: it is readable, as the caller promises.
        let chunks = unsafe { Self::chunks_for(&(*header).layout) };
        ptr::slice_from_raw_parts(header.cast::<u8>(), chunks) as *const Self
    }

    #[inline(always)]
    fn record(&self, value: u64) {
        self.add_at(self.header.layout.recording_index(value), M::count, 1);
    }

    fn record_batch(&self, values: &[u64]) {
        crate::layout::indices::for_each_index(&self.header.layout, values, |index, _, count| {
            self.add_few_at(index, count);
        });
    }

    /// Fails with [`Error::OutOfMemory`], with nothing changed, if there is no room for the baseline of recorded
    /// chunks.
    fn reset(&self) -> Result<()> {
        if !self.header.has_baseline() {
            return Err(Error::Unsupported);
        }
        for (_, chunk) in self.chunks() {
            if chunk.baseline.get().is_none() && chunk.cells.iter().any(|cell| cell.load() != 0) {
                chunk.baseline.create(2 * CHUNK, &self.budget).ok_or(Error::OutOfMemory)?;
            }
        }
        // A chunk whose first count came after that look has its counts after the reset.
        baseline::move_to_present(self, || {
            self.chunks().filter_map(|(first, chunk)| Some((first, chunk.banks()?)))
        })
    }

    fn footprint(&self) -> usize {
        self.budget.used()
    }

    /// Grows by chunks, with their baselines.
    fn growth(layout: &Layout, live_reset: bool) -> Result<(usize, usize)> {
        let baseline = if live_reset { size_of::<[C; 2 * CHUNK]>() } else { 0 };
        Ok((size_of::<Chunk<C>>() + baseline, Self::chunks_for(layout)))
    }

    /// Frees the chunks.
    unsafe fn dispose(header: NonNull<Header>) {
        // SAFETY: it is initialized and still alive; nobody else has it, so nobody uses its chunks.
        unsafe {
            let this = &*Self::from_header(header.as_ptr());
            for entry in &this.directory {
                if let Some(chunk) = entry.get() {
                    chunk.as_ref().baseline.free(2 * CHUNK);
                    entry.free(1);
                }
            }
        }
    }
}

impl<C: Counter> Chunk<C> {
    fn banks(&self) -> Option<[&[C]; 2]> {
        let first = self.baseline.get()?;
        // SAFETY: each bank has as many cells as its chunk, and lives as long.
        Some([0, CHUNK].map(|at| unsafe { core::slice::from_raw_parts(first.as_ptr().add(at), CHUNK) }))
    }
}

impl<C: Counter, M: ManyWriters> Headed for Sparse<C, M> {
    #[inline(always)]
    fn header(&self) -> &Header {
        &self.header
    }
}

impl<C: Counter, M: ManyWriters> Record for Sparse<C, M> {
    #[inline(always)]
    fn record_n(&self, value: u64, count: u64) {
        let index = self.header.layout.recording_index(value);
        self.add_at(index, |place| M::add(place.cell(), count), count);
    }
}

/// Copies the part of a chunk's cells that lies in `out`, which begins with index `start`.
fn copy_cells<C: Counter>(cells: &[C], first: usize, start: usize, out: &mut [u64]) {
    let skipped = start.saturating_sub(first);
    let Some(out) = out.get_mut(first.saturating_sub(start)..) else { return };
    for (out, cell) in out.iter_mut().zip(cells.iter().skip(skipped)) {
        *out = cell.load();
    }
}

impl<C: Counter, M: ManyWriters> Source for Sparse<C, M> {
    const COUNTER_BITS: u32 = C::BITS;

    fn copy_counts(&self, start: usize, out: &mut [u64]) -> u64 {
        out.fill(0);
        let touched = start / CHUNK..(start + out.len()).div_ceil(CHUNK);
        for (at, entry) in self.directory[touched.clone()].iter().enumerate() {
            if let Some(chunk) = entry.get() {
                let first = (touched.start + at) * CHUNK;
                // SAFETY: chunks live as long as the histogram.
                copy_cells(unsafe { &chunk.as_ref().cells }, first, start, out);
            }
        }
        0
    }

    fn copy_baseline(&self, out: &mut [u64], tallies: &mut TallyCounts) -> Result<u32> {
        self.header.banks.read(|bank| {
            *tallies = TallyCounts::of(self.header.bank_tallies(bank));
            out.fill(0);
            for (first, chunk) in self.chunks() {
                if let Some(banks) = chunk.banks() {
                    copy_cells(banks[bank], first, 0, out);
                }
            }
        })
    }
}
