//! A baseline in two banks: readers read one, a reset fills the other and then lets them change places.
//!
//! It is for memory that processes share, where one may be killed at any instruction. The word beside the banks tells which
//! one is read, whether a reset is under way, and counts the turns that resets took. A reset that never ends leaves no more
//! behind than a turn that it took: readers do not mind, and the next reset takes the next turn after a moment.
//!
//! So a reset may find, at any time, that its turn is over, and another one may be filling the same bank, or may have made
//! it the one that is read. What the late one still writes must then change nothing. Each cell is replaced by
//! compare-and-swap, of what was read in it by the count that was read beside it, both *before* a look at the word that said
//! the turn was still ours. Counts only grow, and so do the cells of a bank. So if the cell is found as it was read,
//! - either nobody with a later turn has come to this cell: whoever does finds our count, and replaces it by a later one;
//! - or somebody has, and the count was the same as what we read in the cell: then ours, which was read before theirs, is
//!   that count, too.
//!
//! That "before" takes a fence on either side: a turn is taken, then counts are read; counts are read, then the turn is looked
//! at. (Cells of 32 bits come back to a count after 2^32 events in one bucket; for that to matter, exactly so many must come
//! while a process stands still between two instructions.)

use crate::error::{Error, Result};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, fence, pause};
use crate::platform::seqlock::RETRIES;

/// A reset has taken its turn, and not yet ended.
const UNDER_WAY: u32 = 1;
/// Which bank is read.
const BANK: u32 = 2;
/// One turn; the bits above count them.
const TURN: u32 = 4;

/// How long resets wait for each other, in pauses, before one takes the turn of another; and how often all told.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 100 };
const ATTEMPTS: u32 = 4 * RETRIES;

/// The word that says who has the turn, and which bank is read.
pub(crate) struct Banks<'a>(pub(crate) &'a AtomicU32);

/// A turn to fill the bank that is not read.
pub(crate) struct Turn<'a> {
    word: &'a AtomicU32,
    mine: u32,
}

impl<'a> Banks<'a> {
    /// Runs `fill` with a turn, and makes the bank that it filled the one that is read. `fill` says whether the turn stood
    /// to the end; if not, there is another one.
    pub(crate) fn change(&self, mut fill: impl FnMut(&Turn) -> bool) -> Result<()> {
        let (mut seen, mut waited) = (0, 0);
        for attempt in 0..ATTEMPTS {
            let word = self.glance();
            if word != seen {
                (seen, waited) = (word, 0);
            }
            if word & UNDER_WAY != 0 && waited < PATIENCE {
                waited += 1;
                pause(attempt);
                continue;
            }
            if let Some(turn) = self.take_turn(word)
                && fill(&turn)
                && turn.end()
            {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }

    /// Loom remembers the last access to a word alone: a load of our own before an exchange would hide from it what others did
    /// before that. So its models look by an exchange that changes nothing.
    fn glance(&self) -> u32 {
        if cfg!(loom) { self.0.fetch_add(0, Relaxed) } else { self.0.load(Relaxed) }
    }

    /// The turn after that of `word`.
    fn take_turn(&self, word: u32) -> Option<Turn<'a>> {
        let mine = next_turn(word);
        // Acquire, paired with the release of `end`: the bank is as the last turn left it.
        self.0.compare_exchange(word, mine, Acquire, Relaxed).ok()?;
        // Before this bank was the one that is not read, it was read: whoever still reads it and sees what is written now
        // sees the turn, too. And counts that are read from now on are no older than any that were read in an earlier turn.
        fence(SeqCst);
        Some(Turn { word: self.0, mine })
    }

    /// A turn that its owner does not end.
    #[cfg(test)]
    pub(crate) fn take_a_turn(&self) -> Option<Turn<'a>> {
        self.take_turn(self.glance())
    }

    /// Runs `read` with the bank that is read until nobody wrote it meanwhile. Returns the version it belongs to.
    pub(crate) fn read(&self, mut read: impl FnMut(usize)) -> Result<u32> {
        for attempt in 0..RETRIES {
            let word = self.0.load(Acquire);
            read(bank(word));
            // Orders what `read` read before the second look at the word.
            fence(Acquire);
            if stands(word, self.0.load(Relaxed)) {
                return Ok(word);
            }
            pause(attempt);
        }
        Err(Error::Busy)
    }

    /// Whether the bank that was read at `version` still stands.
    pub(crate) fn is(&self, version: u32) -> bool {
        stands(version, self.0.load(Acquire))
    }
}

impl Turn<'_> {
    /// The bank to fill.
    pub(crate) fn bank(&self) -> usize {
        1 - bank(self.mine)
    }

    /// Whether it was still our turn when all was read that was read before this.
    pub(crate) fn stands(&self) -> bool {
        fence(SeqCst);
        self.word.load(Relaxed) == self.mine
    }

    /// Lets the banks change places. `false` when the turn was over.
    fn end(self) -> bool {
        let ended = (self.mine ^ BANK) & !UNDER_WAY;
        self.word.compare_exchange(self.mine, ended, Release, Relaxed).is_ok()
    }
}

/// The word of a header in memory that processes share that says which bank is read, with what is beside it; for who copies such a header.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BaselineWord(pub u64);

impl BaselineWord {
    /// Where it is, in words from the beginning of the header.
    pub const AT: usize = 24;

    /// Whether the bank that this says was surely not written until there was `now`.
    pub fn stands(self, now: BaselineWord) -> bool {
        let version =
            |word: BaselineWord| u32::from_ne_bytes(*word.0.to_ne_bytes().first_chunk().unwrap_or(&[0; 4]));
        stands(version(self), version(now))
    }
}

fn bank(word: u32) -> usize {
    (word & BANK != 0) as usize
}

/// Whoever has the turn of `word` loses it, if anybody has.
fn next_turn(word: u32) -> u32 {
    (word & !UNDER_WAY).wrapping_add(TURN) | UNDER_WAY
}

/// Whether the bank that was read at `then` has surely not been written up to `now`. After one more turn that has not ended
/// it was not; after more, it might.
fn stands(then: u32, now: u32) -> bool {
    now == then || now == next_turn(then)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_never_ends_is_followed_by_the_next() {
        let word = AtomicU32::new(0);
        let banks = Banks(&word);
        let read = || {
            let mut at = 2;
            let version = banks.read(|bank| at = bank).unwrap();
            (at, version)
        };
        let (bank, version) = read();
        assert_eq!(bank, 0);
        let dead = banks.take_a_turn().unwrap();
        assert!(dead.stands() && dead.bank() == 1);
        assert!(banks.is(version) && read().0 == 0, "readers do not mind");
        let mut filled = 2;
        let change = banks.change(|turn| {
            filled = turn.bank();
            assert!(turn.stands() && !dead.stands());
            true
        });
        assert_eq!((change, filled), (Ok(()), 1));
        assert!(!banks.is(version) && read().0 == 1 && !dead.end());
        assert_eq!(banks.change(|turn| turn.bank() == 0), Ok(()));
        assert_eq!(read().0, 0);
        assert!(!banks.is(version), "the same bank, filled anew");
    }

    #[test]
    fn a_reader_that_is_overtaken_reads_again() {
        let word = AtomicU32::new(!(UNDER_WAY | BANK));
        let banks = Banks(&word);
        let mut reads = 0;
        let version = banks.read(|_| {
            if reads == 0 {
                banks.change(|_| true).unwrap();
                let _ = banks.take_a_turn();
            }
            reads += 1;
        });
        assert_eq!(reads, 2);
        assert!(banks.is(version.unwrap()));
    }

    #[test]
    fn a_change_that_is_always_overtaken_is_reported() {
        let word = AtomicU32::new(0);
        let banks = Banks(&word);
        let change = banks.change(|turn| {
            let _ = banks.take_a_turn();
            turn.stands()
        });
        assert_eq!(change, Err(Error::Busy));
        let read = banks.read(|_| banks.change(|_| true).unwrap());
        assert_eq!(read, Err(Error::Busy));
    }
}
