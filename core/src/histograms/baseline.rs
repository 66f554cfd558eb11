//! A reset: the present counts become the baseline that readers subtract. It has two banks: see
//! [`crate::platform::banks`], also for the reason for the order of steps.

use crate::cells::cell::Counter;
use crate::cells::tallies::{TallyCounts, wraps_between, wraps_of_64_bits};
use crate::error::Result;
use crate::platform::banks::Turn;
use crate::snapshot::source::Source;

/// The number of cells that are copied at a time, between two checks of the turn. They fit into the first-level cache
/// or, if the stack may be small, into one or two cache lines.
const STEP: usize = if cfg!(loom) {
    4
} else if cfg!(feature = "std") {
    256
} else {
    64
};

/// Makes the present counts of a source its baseline. The banks come in parts, each with its first index; cells in no
/// part do not change.
///
/// Fails with [`crate::Error::Busy`], with nothing changed, if another program overwrites memory that processes share.
pub(crate) fn move_to_present<'a, S, B, P>(source: &S, parts: impl Fn() -> P) -> Result<()>
where
    S: Source + ?Sized,
    B: Counter,
    P: Iterator<Item = (usize, [&'a [B]; 2])>,
{
    source.header().banks.change(|turn| fill(source, parts(), turn))
}

/// Makes the present counts the baseline of the bank that is not read. Returns whether the turn was ours to the end.
pub(crate) fn fill<'a, S: Source + ?Sized, B: Counter>(
    source: &S,
    parts: impl Iterator<Item = (usize, [&'a [B]; 2])>,
    turn: &Turn,
) -> bool {
    let header = source.header();
    // Read before the counts, so that every counted wrap shows in them.
    let mut tallies = source.tallies();
    let mut wraps = TallyCounts::of(header.bank_tallies(1 - turn.bank())).wraps;
    let mut wraps_of_sums = 0;
    let (mut found, mut counts) = ([0; STEP], [0; STEP]);
    for (start, banks) in parts {
        let (bank, read) = (banks[turn.bank()], banks[1 - turn.bank()]);
        for (step, (cells, read)) in bank.chunks(STEP).zip(read.chunks(STEP)).enumerate() {
            let (found, counts) = (&mut found[..cells.len()], &mut counts[..cells.len()]);
            loop {
                // A load of our own before an exchange would hide from loom what others did: see `Banks::glance`.
                #[cfg(loom)]
                for cell in cells {
                    cell.add_shared(0);
                }
                B::load_many(cells, found);
                let of_sums = source.copy_counts(start + step * STEP, counts);
                let of_cells = wraps_since(S::COUNTER_BITS, read, counts);
                if !turn.stands() {
                    return false;
                }
                let mut both = cells.iter().zip(found.iter().zip(counts.iter()));
                if both.all(|(cell, (found, count))| found == count || cell.replace(*found, *count)) {
                    (wraps, wraps_of_sums) = (wraps + of_cells, wraps_of_sums + of_sums);
                    break;
                }
            }
        }
    }
    tallies.wraps = tallies.wraps.wrapping_add(wraps_of_64_bits(wraps_of_sums, S::COUNTER_BITS));
    tallies.know_wraps(wraps);
    let bank = header.bank_tallies(turn.bank());
    loop {
        let found = TallyCounts::of(bank).words();
        if !turn.stands() {
            return false;
        }
        let mut words = bank.into_iter().zip(found).zip(tallies.words());
        if words.all(|((word, found), count)| found == count || word.replace(found, count)) {
            return true;
        }
    }
}

/// Returns how many wraps of cells show between a baseline and counts; whoever wraps 64-bit cells tallies those.
fn wraps_since<B: Counter>(counter_bits: u32, baseline: &[B], counts: &[u64]) -> u64 {
    if counter_bits == 64 {
        return 0;
    }
    baseline.iter().zip(counts).map(|(base, count)| wraps_between(base.load(), *count)).sum()
}
