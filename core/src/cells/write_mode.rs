//! Several writers: one atomic add.

use crate::cells::cell::{Counter, ManyWriters, WriteMode};
use crate::cells::one_step::Place;

/// Any number of threads, signal handlers and interrupt handlers write: one relaxed atomic add to one cell. Only a
/// 32-bit cell that wraps takes a second add. On targets without the atomics, a critical section replaces them.
#[derive(Clone, Copy, Debug)]
pub struct Interlocked;

impl WriteMode for Interlocked {
    const MODE: crate::cells::kind::Mode = crate::cells::kind::Mode::Interlocked;

    #[inline(always)]
    fn add<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_shared(count)
    }

    #[inline(always)]
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_few_shared(count)
    }

    #[inline(always)]
    fn count<C: Counter>(place: Place<C>) -> u64 {
        place.cell().add_few_shared(1)
    }
}

impl ManyWriters for Interlocked {}
