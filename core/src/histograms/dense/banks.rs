//! The banks of a dense histogram's baseline: one on the heap and in statics, two in memory that processes share.

use super::Histogram;
use crate::cells::cell::{Counter, TallyCounts, WriteMode};
use crate::error::Result;
use crate::histograms::baseline::wraps_since;
use crate::platform::banks::Turn;

impl<C: Counter, M: WriteMode> Histogram<[C], M> {
    /// A bank of the baseline, if there is one.
    pub(crate) fn bank(&self, bank: usize) -> Option<&[C]> {
        let length = self.header.layout.length();
        let start = length * (bank + 1);
        if self.header.copies() > bank + 1 { self.cells.get(start..start + length) } else { None }
    }

    /// A reset with two banks.
    pub(super) fn fill_other_bank(&self) -> Result<()> {
        self.header.version.banks().change(|turn| self.fill_bank(turn))
    }

    /// Makes the present counts the baseline of the bank that is not read. Whether that is still to become the one that is:
    /// see [`crate::banks`], also for why each step is where it is.
    fn fill_bank(&self, turn: &Turn) -> bool {
        // A turn is looked at, and cells are replaced, after so many at a time.
        const STEP: usize = 64;
        let Some((bank, read)) = self.bank(turn.bank()).zip(self.bank(1 - turn.bank())) else { return false };
        let mut tallies = self.header.tallies.load();
        let mut wraps = TallyCounts::of(self.header.bank_tallies(1 - turn.bank())).wraps;
        for (step, (bank, counters)) in bank.chunks(STEP).zip(self.counters().chunks(STEP)).enumerate() {
            let (mut found, mut counts) = ([0; STEP], [0; STEP]);
            wraps += loop {
                // See `Banks::glance`.
                #[cfg(loom)]
                for cell in bank {
                    cell.add_shared(0);
                }
                C::load_many(bank, &mut found);
                C::load_many(counters, &mut counts);
                let wraps = wraps_since(C::BITS, &read[step * STEP..], &counts[..bank.len()]);
                if !turn.stands() {
                    return false;
                }
                let mut cells = bank.iter().zip(&found).zip(&counts);
                if cells.all(|((cell, found), count)| found == count || cell.replace(*found, *count)) {
                    break wraps;
                }
            };
        }
        tallies.know_wraps(wraps);
        let bank = self.header.bank_tallies(turn.bank());
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

    /// What a process does that is killed before the end of its reset.
    #[cfg(all(test, loom))]
    pub(crate) fn reset_and_die(&self) {
        if let Some(turn) = self.header.version.banks().take_a_turn() {
            self.fill_bank(&turn);
        }
    }
}
