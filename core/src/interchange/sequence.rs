//! The way through the counts of a snapshot that encoders go: each count, and the zeros before it.

use core::ops::Range;

use crate::error::Result;
use crate::snapshot::differences::{BLOCK, Cells};

/// Takes counts and the runs of zeros between them.
pub(crate) trait Put: Sized {
    fn put_count(&mut self, count: u64) -> Result<()>;
    fn put_zeros(&mut self, number: u64) -> Result<()>;
}

/// Counters that are skipped at a time where they are empty.
const RUN: usize = 32;

/// Parts that the counters are divided into, at most.
pub(crate) const PARTS: usize = 512;

/// The parts of so many counters: whole runs, but the last one.
pub(crate) fn parts(length: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let size = length.div_ceil(PARTS).next_multiple_of(RUN).max(RUN);
    (0..length.div_ceil(size)).map(move |part| (part, part * size..((part + 1) * size).min(length)))
}

/// Puts the counts of some counters, and the zeros before each. `next` is the logical index behind the last count that was
/// put, 0 while there is none; the new one is returned.
///
/// What takes them is handed in and out by value, so that it is kept in registers.
pub(crate) fn put_counts<P: Put>(
    cells: &Cells,
    range: Range<usize>,
    first: u64,
    mut next: u64,
    mut put: P,
) -> Result<(P, u64)> {
    let mut index = first + range.start as u64;
    if let Some(counts) = cells.plain(range.clone()) {
        for counts in counts.chunks(RUN) {
            if counts.iter().fold(0, |all, count| all | count) != 0 {
                next = put_run(counts, index, next, &mut put)?;
            }
            index += counts.len() as u64;
        }
        return Ok((put, next));
    }
    for start in range.step_by(BLOCK) {
        next = put_run(&cells.block(start), index, next, &mut put)?;
        index += BLOCK as u64;
    }
    Ok((put, next))
}

/// Puts the counts from a logical index on.
#[inline(always)]
fn put_run<P: Put>(counts: &[u64], mut index: u64, mut next: u64, put: &mut P) -> Result<u64> {
    for &count in counts {
        if count != 0 {
            if index != next {
                put.put_zeros(index - next)?;
            }
            put.put_count(count)?;
            next = index + 1;
        }
        index += 1;
    }
    Ok(next)
}
