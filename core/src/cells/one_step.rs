//! Additions to a cell that also report whether it wrapped around: one instruction on x86-64.
//!
//! A signal handler runs between instructions, never inside one. If a single writer adds with one instruction, a
//! handler of its thread may add to the same cell, and neither loses an addition. On x86-64, the compiler makes such an
//! instruction of a relaxed load, an addition and a relaxed store, unless the code needs the carry. With the carry it
//! makes three, hence the assembly. For the compiler, the assembly acts like a relaxed load and store of the cell.
//! Aligned words are read and written whole, and nothing else is ordered.

use core::marker::PhantomData;

/// A cell at an index from a pointer. With `WRAPPING` the pointer alone may lead anywhere: pointer and index together
/// lead to the cell by wrapping arithmetic.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place<'a, C, const WRAPPING: bool = false> {
    cells: *const C,
    index: usize,
    all: PhantomData<&'a C>,
}

impl<'a, C, const WRAPPING: bool> Place<'a, C, WRAPPING> {
    /// # Safety
    /// There must be a cell at the index, for as long as `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(cells: *const C, index: usize) -> Self {
        Place { cells, index, all: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn cell(self) -> &'a C {
        // SAFETY: as promised.
        unsafe { &*if WRAPPING { self.cells.wrapping_add(self.index) } else { self.cells.add(self.index) } }
    }
}

#[cfg(picollo_one_step)]
mod chosen {
    use core::arch::asm;

    use super::Place;
    use crate::platform::atomics::{AtomicU32, AtomicU64};

    #[inline(always)]
    pub(crate) fn add_64(cell: &AtomicU64, count: u64) -> bool {
        // SAFETY: this adds to the cell, which is borrowed, aligned, and may be changed through shared references.
        unsafe {
            asm!(
                "add qword ptr [{cell}], {count}",
                "jc {wrapped}",
                cell = in(reg) cell.as_ptr(),
                count = in(reg) count,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }

    #[inline(always)]
    pub(crate) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        // SAFETY: as in `add_64`: the cell exists. The index is separate, so that the instruction can use it, too.
        unsafe {
            asm!(
                "inc dword ptr [{cells} + 4 * {index}]",
                "jz {wrapped}",
                cells = in(reg) place.cells,
                index = in(reg) place.index,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }

    #[inline(always)]
    pub(crate) fn add_32(cell: &AtomicU32, count: u32) -> bool {
        // SAFETY: as in `add_64`.
        unsafe {
            asm!(
                "add dword ptr [{cell}], {count:e}",
                "jc {wrapped}",
                cell = in(reg) cell.as_ptr(),
                count = in(reg) count,
                wrapped = label { return true },
                options(nostack)
            );
        }
        false
    }
}

#[cfg(not(picollo_one_step))]
mod chosen {
    use super::Place;
    use crate::platform::atomics::Ordering::Relaxed;
    use crate::platform::atomics::{AtomicU32, AtomicU64};

    #[inline(always)]
    pub(crate) fn add_64(cell: &AtomicU64, count: u64) -> bool {
        let (sum, wrapped) = cell.load(Relaxed).overflowing_add(count);
        cell.store(sum, Relaxed);
        wrapped
    }

    #[inline(always)]
    pub(crate) fn count_32<const WRAPPING: bool>(place: Place<AtomicU32, WRAPPING>) -> bool {
        add_32(place.cell(), 1)
    }

    #[inline(always)]
    pub(crate) fn add_32(cell: &AtomicU32, count: u32) -> bool {
        let (sum, wrapped) = cell.load(Relaxed).overflowing_add(count);
        cell.store(sum, Relaxed);
        wrapped
    }
}

pub(crate) use chosen::{add_32, add_64, count_32};
