//! How encoders traverse the counts of a snapshot: each count, and the zeros before it.

use super::eights::{Eight, Neighbours};
use picollo_core::Result;
use picollo_core::seam::{BLOCK, Cells};

/// Takes counts and the runs of zeros between them.
pub(crate) trait CountSink: Sized {
    /// Whether it takes eight counts at a time, if they are of the same kind.
    const EIGHTS: bool = false;

    fn add_count(&mut self, count: u64) -> Result<()>;
    fn add_zeros(&mut self, number: u64) -> Result<()>;

    /// Adds eight counts at once, if it can.
    fn add_eight(&mut self, _: &Eight) -> Result<bool> {
        Ok(false)
    }
}

/// Empty counters that are skipped at a time.
const RUN: usize = 32;

/// Passes all counts on, and the zeros before each; `first` is the logical index of the first counter. Returns the logical
/// index after the last count that was passed, or 0.
///
/// `sink` is passed in and out by value, so that the compiler keeps it in registers.
pub(crate) fn pass_counts<P: CountSink>(cells: &Cells, first: u64, sink: P) -> Result<(P, u64)> {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        /// Compiled for instructions that find zeros and add up bits faster.
        #[target_feature(enable = "avx2,popcnt")]
        fn with_avx2<P: CountSink>(cells: &Cells, first: u64, sink: P) -> Result<(P, u64)> {
            plain_pass_counts(cells, first, sink)
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { with_avx2(cells, first, sink) };
        }
    }
    plain_pass_counts(cells, first, sink)
}

#[inline(always)]
fn plain_pass_counts<P: CountSink>(cells: &Cells, first: u64, mut sink: P) -> Result<(P, u64)> {
    let (mut index, mut next) = (first, 0);
    if let Some(counts) = cells.plain() {
        for counts in counts.chunks(RUN) {
            if counts.iter().fold(0, |all, count| all | count) != 0 {
                next = pass_run(counts, index, next, &mut sink)?;
            }
            index += counts.len() as u64;
        }
        return Ok((sink, next));
    }
    for start in (0..cells.len()).step_by(BLOCK) {
        next = pass_run(&cells.block(start), index, next, &mut sink)?;
        index += BLOCK as u64;
    }
    Ok((sink, next))
}

/// Passes the counts from a logical index on.
#[inline(always)]
fn pass_run<P: CountSink>(counts: &[u64], mut index: u64, mut next: u64, sink: &mut P) -> Result<u64> {
    let mut rest = counts;
    if P::EIGHTS {
        let (eights, last) = counts.as_chunks::<8>();
        for counts in eights {
            next = pass_eight(counts, index, next, sink)?;
            index += 8;
        }
        rest = last;
    }
    pass_each(rest, index, next, sink)
}

/// Like [`pass_run`] for eight counts, at once if possible.
#[inline(always)]
fn pass_eight<P: CountSink>(counts: &[u64; 8], index: u64, next: u64, sink: &mut P) -> Result<u64> {
    let eight = match Eight::classify(counts) {
        Neighbours::Zeros => return Ok(next),
        Neighbours::Short(eight) => eight,
        Neighbours::Mixed => return pass_each(counts, index, next, sink),
    };
    if index != next {
        sink.add_zeros(index - next)?;
    }
    if sink.add_eight(&eight)? { Ok(index + 8) } else { pass_each(counts, index, index, sink) }
}

/// Like [`pass_run`], one by one.
#[inline(always)]
fn pass_each<P: CountSink>(counts: &[u64], mut index: u64, mut next: u64, sink: &mut P) -> Result<u64> {
    for &count in counts {
        if count != 0 {
            if index != next {
                sink.add_zeros(index - next)?;
            }
            sink.add_count(count)?;
            next = index + 1;
        }
        index += 1;
    }
    Ok(next)
}
