//! How encoders traverse the counts of a snapshot: each count, and the zeros before it.

use core::ops::Range;

use super::eights::{Eight, Neighbours};
use picollo_core::Result;
use picollo_core::seam::{BLOCK, Cells};

/// Takes counts and the runs of zeros between them.
pub(crate) trait Put: Sized {
    /// Whether it takes eight counts at a time, if they are of the same kind.
    const EIGHTS: bool = false;

    fn put_count(&mut self, count: u64) -> Result<()>;
    fn put_zeros(&mut self, number: u64) -> Result<()>;

    /// Puts eight counts at once, if it can.
    fn put_eight(&mut self, _: &Eight) -> Result<bool> {
        Ok(false)
    }
}

/// Empty counters that are skipped at a time.
const RUN: usize = 32;

/// The largest number of parts of the counters.
const PARTS: usize = 512;

/// Which parts of the counters may have counts, a bit for each; encoders skip the others.
#[derive(Clone, Copy)]
pub(crate) struct Recorded([u64; PARTS / 64]);

impl Recorded {
    /// The initial state: any part may have counts.
    pub(crate) const UNKNOWN: Recorded = Recorded([u64::MAX; PARTS / 64]);

    fn may_have(&self, part: usize) -> bool {
        self.0[part / 64] >> (part % 64) & 1 == 1
    }

    fn has_none(&mut self, part: usize) {
        self.0[part / 64] &= !(1 << (part % 64));
    }
}

/// The parts of `length` counters: whole runs, except the last one.
fn parts(length: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let size = length.div_ceil(PARTS).next_multiple_of(RUN).max(RUN);
    (0..length.div_ceil(size)).map(move |part| (part, part * size..((part + 1) * size).min(length)))
}

/// Like [`put_counts`] for all counters except those in parts that are known to be empty. Parts without counts become
/// known.
pub(crate) fn put_parts<P: Put>(
    cells: &Cells,
    first: u64,
    recorded: &mut Recorded,
    put: P,
) -> Result<(P, u64)> {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        /// Compiled for instructions that find zeros and add up bits faster.
        #[target_feature(enable = "avx2,popcnt")]
        fn with_avx2<P: Put>(cells: &Cells, first: u64, recorded: &mut Recorded, put: P) -> Result<(P, u64)> {
            plain_put_parts(cells, first, recorded, put)
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { with_avx2(cells, first, recorded, put) };
        }
    }
    plain_put_parts(cells, first, recorded, put)
}

#[inline(always)]
fn plain_put_parts<P: Put>(
    cells: &Cells,
    first: u64,
    recorded: &mut Recorded,
    mut put: P,
) -> Result<(P, u64)> {
    let mut next = 0;
    for (part, range) in parts(cells.len()) {
        if recorded.may_have(part) {
            let before = next;
            (put, next) = plain_put_counts(cells, range, first, next, put)?;
            if next == before {
                recorded.has_none(part);
            }
        }
    }
    Ok((put, next))
}

/// Puts all counts, and the zeros before each. Returns the logical index after the last count that was put, or 0.
///
/// `put` is passed in and out by value, so that the compiler keeps it in registers.
pub(crate) fn put_counts<P: Put>(cells: &Cells, put: P) -> Result<(P, u64)> {
    plain_put_counts(cells, 0..cells.len(), 0, 0, put)
}

/// Like [`put_counts`] for some counters; `first` is the logical index of the first of all counters, and `next` the
/// result for the counters before these.
#[inline(always)]
fn plain_put_counts<P: Put>(
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
    let mut rest = counts;
    if P::EIGHTS {
        let (eights, last) = counts.as_chunks::<8>();
        for counts in eights {
            next = put_eight(counts, index, next, put)?;
            index += 8;
        }
        rest = last;
    }
    put_each(rest, index, next, put)
}

/// Like [`put_run`] for eight counts, at once if possible.
#[inline(always)]
fn put_eight<P: Put>(counts: &[u64; 8], index: u64, next: u64, put: &mut P) -> Result<u64> {
    let eight = match Eight::of(counts) {
        Neighbours::Zeros => return Ok(next),
        Neighbours::Short(eight) => eight,
        Neighbours::Mixed => return put_each(counts, index, next, put),
    };
    if index != next {
        put.put_zeros(index - next)?;
    }
    if put.put_eight(&eight)? { Ok(index + 8) } else { put_each(counts, index, index, put) }
}

/// Like [`put_run`], one by one.
#[inline(always)]
fn put_each<P: Put>(counts: &[u64], mut index: u64, mut next: u64, put: &mut P) -> Result<u64> {
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
