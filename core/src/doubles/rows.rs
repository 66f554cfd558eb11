//! The counts of both intervals: rows of cells that pages point to. Both are allocated on first use.
//!
//! Pages keep an empty histogram small: without them, each would hold four thousand pointers to rows that do not exist.
//! A row has cells for both intervals, so both have room for the same values, whatever the limit.

use alloc::vec::Vec;

use super::layout::{DoubleLayout, Place, ROWS};
use super::snapshot::DoubleEntry;
use crate::cells::cell::Counter;
use crate::cells::first_touch::{Budget, FirstTouch};
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;

/// Rows in a page.
const PAGE: usize = 64;
/// Pages for one sign.
const PAGES: usize = ROWS.div_ceil(PAGE);

/// One of the two intervals; the lowest bit selects it.
#[derive(Clone, Copy)]
pub(super) struct Interval(pub(super) usize);

impl Interval {
    pub(super) fn index(self) -> usize {
        self.0 & 1
    }

    pub(super) fn other(self) -> Interval {
        Interval(self.0 ^ 1)
    }
}

/// The cells of interval 0, then those of interval 1.
type Row = FirstTouch<AtomicU64>;

const fn cells_of_a_row(layout: DoubleLayout) -> usize {
    2 * layout.columns()
}

/// Counts in buckets, and counts outside of them. Cells are only added to, and drained.
pub(super) struct Rows {
    /// Pages of the positive numbers, then those of the negative ones.
    pages: [FirstTouch<Row>; 2 * PAGES],
    tallies: [Tallies; 2],
}

/// Counts outside the rows, on a separate cache line, away from what records read.
#[repr(align(64))]
pub(super) struct Tallies {
    pub(super) zero: AtomicU64,
    pub(super) not_finite: AtomicU64,
    pub(super) lost: AtomicU64,
}

impl Tallies {
    /// Adds to one of the interval's counts. If it wraps around, 2^64 observations are lost.
    pub(super) fn add(&self, cell: &AtomicU64, count: u64) {
        if cell.add_shared(count) != 0 {
            self.lose(u64::MAX);
        }
    }

    /// Adds to the lost count, which saturates at `u64::MAX`.
    #[cold]
    #[inline(never)]
    pub(super) fn lose(&self, count: u64) {
        let mut lost = self.lost.load(Relaxed);
        while let Err(current) =
            self.lost.compare_exchange(lost, lost.saturating_add(count), Relaxed, Relaxed)
        {
            lost = current;
        }
    }
}

/// Whether reading leaves the counts in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The counts are taken out, so that each event is read once.
    Drain,
    /// The counts stay.
    Peek,
}

impl Reading {
    pub(super) fn take_or_load(self, cell: &AtomicU64) -> u64 {
        match self {
            Reading::Drain => cell.swap(0, Relaxed),
            Reading::Peek => cell.load(Relaxed),
        }
    }
}

impl Rows {
    pub(super) fn new() -> Rows {
        let tallies =
            || Tallies { zero: AtomicU64::new(0), not_finite: AtomicU64::new(0), lost: AtomicU64::new(0) };
        Rows { pages: core::array::from_fn(|_| FirstTouch::new()), tallies: [tallies(), tallies()] }
    }

    pub(super) fn tallies(&self, interval: Interval) -> &Tallies {
        &self.tallies[interval.index()]
    }

    /// Counts at a place: two loads find the cell, one atomic add counts. If there is no memory for the cell, it counts
    /// the observations as lost and returns `false`.
    #[inline(always)]
    pub(super) fn add(
        &self,
        layout: DoubleLayout,
        interval: Interval,
        place: Place,
        count: u64,
        budget: &Budget,
    ) -> bool {
        let page = place.row / PAGE + if place.negative { PAGES } else { 0 };
        // SAFETY: rows are below `ROWS`, so pages of one sign are below `PAGES`. A page has `PAGE` rows and lives as
        // long as the histogram.
        let row = unsafe {
            let page = self.pages.get_unchecked(page).get();
            page.and_then(|page| page.add(place.row % PAGE).as_ref().get())
        };
        let Some(row) = row else {
            return self.add_first(layout, interval, place, count, budget);
        };
        // SAFETY: a row has `columns()` cells for each interval, and the place's column is below that.
        let cell = unsafe { row.add(interval.index() * layout.columns() + place.column).as_ref() };
        if count == 1 {
            // Single records take centuries to reach 2^64.
            cell.fetch_add(1, Relaxed);
        } else {
            self.tallies(interval).add(cell, count);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn add_first(
        &self,
        layout: DoubleLayout,
        interval: Interval,
        place: Place,
        count: u64,
        budget: &Budget,
    ) -> bool {
        let page = &self.pages[place.row / PAGE + if place.negative { PAGES } else { 0 }];
        let row = page.create(PAGE, budget).and_then(|page| {
            // SAFETY: as in `add`.
            unsafe { page.add(place.row % PAGE).as_ref() }.create(cells_of_a_row(layout), budget)
        });
        match row {
            Some(_) => self.add(layout, interval, place, count, budget),
            None => {
                self.tallies(interval).lose(count);
                false
            }
        }
    }

    /// The rows of a sign that exist, by their number, with their cells for an interval, in ascending order.
    fn rows(
        &self,
        layout: DoubleLayout,
        interval: Interval,
        negative: bool,
    ) -> impl DoubleEndedIterator<Item = (usize, &[AtomicU64])> {
        let pages = if negative { &self.pages[PAGES..] } else { &self.pages[..PAGES] };
        let touched = pages.iter().enumerate().filter_map(|(at, page)| Some((at * PAGE, page.get()?)));
        touched.flat_map(move |(first, page)| {
            (0..PAGE).filter_map(move |at| {
                // SAFETY: as in `add`.
                let cells = unsafe {
                    let first = page.add(at).as_ref().get()?.add(interval.index() * layout.columns());
                    core::slice::from_raw_parts(first.as_ptr(), layout.columns())
                };
                Some((first + at, cells))
            })
        })
    }

    /// How many cells of an interval have counts now.
    pub(super) fn recorded(&self, layout: DoubleLayout, interval: Interval) -> usize {
        let rows = self.rows(layout, interval, false).chain(self.rows(layout, interval, true));
        1 + rows.map(|(_, cells)| cells.iter().filter(|cell| cell.load(Relaxed) != 0).count()).sum::<usize>()
    }

    /// Reads all counts of an interval in ascending order of their values, and appends those that are not zero. Counts
    /// for which there is no memory stay.
    pub(super) fn read(
        &self,
        layout: DoubleLayout,
        interval: Interval,
        reading: Reading,
        into: &mut Vec<DoubleEntry>,
    ) {
        let mut read = |key: i32, cell: &AtomicU64| {
            // Most cells are empty, and a load costs less than a swap.
            if cell.load(Relaxed) != 0 && into.try_reserve(1).is_ok() {
                into.push(DoubleEntry { count: reading.take_or_load(cell), key });
            }
        };
        for (row, cells) in self.rows(layout, interval, true).rev() {
            for (column, cell) in cells.iter().enumerate().rev() {
                read(layout.key_of(Place { negative: true, row, column }), cell);
            }
        }
        read(0, &self.tallies(interval).zero);
        for (row, cells) in self.rows(layout, interval, false) {
            for (column, cell) in cells.iter().enumerate() {
                read(layout.key_of(Place { negative: false, row, column }), cell);
            }
        }
    }

    /// Frees the rows and pages.
    ///
    /// # Safety
    /// Nobody may use them any more; `layout` must be the one that they were used with.
    pub(super) unsafe fn free(&self, layout: DoubleLayout) {
        for page in &self.pages {
            // SAFETY: as in `add`; the rest is the caller's promise.
            unsafe {
                let Some(rows) = page.get() else { continue };
                for row in 0..PAGE {
                    rows.add(row).as_ref().free(cells_of_a_row(layout));
                }
                page.free(PAGE);
            }
        }
    }
}
