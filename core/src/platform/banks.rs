//! The baseline of a reset, in two banks: readers read one; a reset fills the other and then swaps them.
//!
//! Nothing can block this for long: not a killed process, a thread that a fork leaves behind, a panic, or a reader. One
//! word records which bank is read, whether somebody has the *turn*, and how many turns there were.
//!
//! - A reset takes a turn, fills the bank that is not read, and ends its turn, which swaps the banks. If another turn
//!   does not end in time, the reset takes the next turn, which ends the earlier one. A reset that lost its turn before
//!   it ended has changed nothing. It begins again with twice the patience.
//! - A reader copies the bank that is read. That fails only if a whole reset ended meanwhile and the next one began.
//!   After a few failures the reader takes a turn itself, from whoever has it, so that resets wait. At the end of that
//!   turn the banks do not change.
//!
//! A reset may find at any time that its turn is over. Another reset may be filling the same bank, or may have made it
//! the bank that is read. The late reset's writes must then change nothing. So it reads a cell and its count, and
//! *then* checks that the turn is still its own. Then it replaces the cell that it read by the count, by
//! compare-and-swap. Counts only grow, and so do the cells of a bank. So if the cell is unchanged,
//! - either nobody with a later turn has reached this cell: whoever does finds our count, and replaces it by a later
//!   one;
//! - or somebody has, and their count was the same as the cell that we read: then our count, which was read before
//!   theirs, is the same, too.
//!
//! That order takes a fence on either side: a turn is taken, then counts are read; counts are read, then the turn is
//! checked. (A 32-bit cell returns to a count after 2^32 events in one bucket. For that to matter, exactly that many
//! must come while a process stands still between two instructions.)

use crate::error::{Error, Result};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, const_unless_loom, fence, pause, wait};

/// Somebody has taken a turn and has not ended it yet.
const UNDER_WAY: u32 = 1;
/// Which bank is read.
const BANK: u32 = 2;
/// One turn; the bits above count them.
const TURN: u32 = 4;

/// How often a reset looks before it sleeps, if there are threads. On a busy machine a yield takes longer than a sleep.
const LOOKS_AWAKE: u32 = 80;
/// How often a reset waits for another turn to end before it takes the next one: a millisecond or two with threads.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { LOOKS_AWAKE + 20 };
/// The limit of doubled patience, a second or two, so that a slow reset gets through beside impatient ones.
const LONGEST: u32 = if cfg!(loom) { 1 } else { 20_000 };
/// How often a reset loses its turn, or looks for one, before it returns [`Error::Busy`]. That happens only in memory
/// that another program overwrites all the time.
const ROUNDS: u32 = if cfg!(loom) { 4 } else { 100 };
const LOOKS: u32 = if cfg!(loom) { 8 } else { 1 << 22 };

/// How often a reader reads beside resets before it takes a turn, and then how often it takes one.
const READS: u32 = if cfg!(loom) { 1 } else { 4 };
const TURNS: u32 = if cfg!(loom) { 2 } else { 1000 };

/// The word that records who has the turn and which bank is read.
pub(crate) struct Banks(AtomicU32);

/// A turn: a reset fills the bank that is not read, or a reader reads.
pub(crate) struct Turn<'a> {
    word: &'a AtomicU32,
    mine: u32,
}

impl Banks {
    const_unless_loom! {
        pub(crate) const fn new() -> Banks {
            Banks(AtomicU32::new(0))
        }
    }

    /// Runs `fill` with a turn, and makes the filled bank the one that is read. `fill` returns whether the turn lasted
    /// to the end; if not, this function takes another turn.
    pub(crate) fn change(&self, mut fill: impl FnMut(&Turn) -> bool) -> Result<()> {
        let mut patience = PATIENCE;
        for _ in 0..ROUNDS {
            let turn = self.wait_for_turn(patience)?;
            if fill(&turn) && turn.end(BANK).is_some() {
                return Ok(());
            }
            patience = (2 * patience).min(LONGEST);
        }
        Err(Error::Busy)
    }

    fn wait_for_turn(&self, patience: u32) -> Result<Turn<'_>> {
        let (mut seen, mut waited) = (0, 0);
        for _ in 0..LOOKS {
            let word = self.glance();
            if word != seen {
                (seen, waited) = (word, 0);
            }
            if word & UNDER_WAY != 0 && waited < patience {
                wait(waited, LOOKS_AWAKE);
                waited += 1;
            } else if let Some(turn) = self.take_turn(word) {
                return Ok(turn);
            }
        }
        Err(Error::Busy)
    }

    /// Loom remembers only the last access to a word. A load of our own before an exchange would hide from it what
    /// others did before that. So the models look with an exchange that changes nothing.
    fn glance(&self) -> u32 {
        if cfg!(loom) { self.0.fetch_add(0, Relaxed) } else { self.0.load(Relaxed) }
    }

    /// Takes the turn after the one in `word`.
    fn take_turn(&self, word: u32) -> Option<Turn<'_>> {
        let mine = next_turn(word);
        // Acquire, paired with the release in `end`: the banks are as the last turn left them.
        self.0.compare_exchange(word, mine, Acquire, Relaxed).ok()?;
        // This bank was read before it became the one that is not read. A reader that still reads it and sees the new
        // writes also sees the turn. Counts read from now on are no older than any counts read in an earlier turn.
        fence(SeqCst);
        Some(Turn { word: &self.0, mine })
    }

    /// Takes a turn that its owner does not end.
    #[cfg(test)]
    pub(crate) fn take_a_turn(&self) -> Option<Turn<'_>> {
        self.take_turn(self.glance())
    }

    /// Runs `read` with the bank that is read, until nobody wrote it meanwhile. Returns the version of that bank.
    pub(crate) fn read(&self, mut read: impl FnMut(usize)) -> Result<u32> {
        for attempt in 0..READS {
            let word = self.0.load(Acquire);
            read(bank(word));
            // Orders the reads in `read` before the second look at the word.
            fence(Acquire);
            if stands(word, self.0.load(Relaxed)) {
                return Ok(word);
            }
            pause(attempt);
        }
        self.read_in_turn(read)
    }

    /// Does the same as [`Banks::read`], while resets wait. Only resets that lose patience begin meanwhile.
    pub(crate) fn read_in_turn(&self, mut read: impl FnMut(usize)) -> Result<u32> {
        for _ in 0..TURNS {
            let Some(turn) = self.take_turn(self.glance()) else { continue };
            read(1 - turn.bank());
            if let Some(version) = turn.end(0) {
                return Ok(version);
            }
        }
        Err(Error::Busy)
    }

    /// Returns whether the bank that was read at `version` is still valid.
    pub(crate) fn is(&self, version: u32) -> bool {
        stands(version, self.0.load(Acquire))
    }
}

impl Turn<'_> {
    /// Returns the bank that is not read.
    pub(crate) fn bank(&self) -> usize {
        1 - bank(self.mine)
    }

    /// Returns whether the turn was still ours when all earlier reads were complete.
    pub(crate) fn stands(&self) -> bool {
        fence(SeqCst);
        self.word.load(Relaxed) == self.mine
    }

    /// Ends the turn. With [`BANK`] it swaps the banks. Returns the new word, or `None` if the turn was over.
    fn end(self, flip: u32) -> Option<u32> {
        let ended = (self.mine ^ flip) & !UNDER_WAY;
        self.word.compare_exchange(self.mine, ended, Release, Relaxed).ok().map(|_| ended)
    }
}

/// The word of a shared header that records which bank is read, with the one beside it, for code that copies headers.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BaselineWord(pub u64);

impl BaselineWord {
    /// Its position, in words from the beginning of the header.
    pub const AT: usize = 24;

    /// Returns whether the bank in this word was surely not written before `now` was read.
    pub fn stands(self, now: BaselineWord) -> bool {
        let version =
            |word: BaselineWord| u32::from_ne_bytes(*word.0.to_ne_bytes().first_chunk().unwrap_or(&[0; 4]));
        stands(version(self), version(now))
    }
}

fn bank(word: u32) -> usize {
    (word & BANK != 0) as usize
}

/// Returns the word that takes the turn from its owner in `word`, if there is one.
fn next_turn(word: u32) -> u32 {
    (word & !UNDER_WAY).wrapping_add(TURN) | UNDER_WAY
}

/// Returns whether the bank that was read at `then` has surely not been written until `now`. That holds after one more
/// turn that has not ended, or after a reader's turn, which swaps nothing. After more turns it might have been written.
fn stands(then: u32, now: u32) -> bool {
    let after_a_reader = if then & UNDER_WAY == 0 { then.wrapping_add(TURN) } else { then & !UNDER_WAY };
    now == then || now == next_turn(then) || now == after_a_reader
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_never_ends_is_followed_by_the_next() {
        let banks = Banks::new();
        let read = || {
            let mut at = 2;
            let version = banks.read(|bank| at = bank).unwrap();
            (at, version)
        };
        let (bank, version) = read();
        assert_eq!(bank, 0);
        let dead = banks.take_a_turn().unwrap();
        assert!(dead.stands() && dead.bank() == 1);
        assert!(banks.is(version) && read().0 == 0, "readers do not wait");
        let mut filled = 2;
        let change = banks.change(|turn| {
            filled = turn.bank();
            assert!(turn.stands() && !dead.stands());
            true
        });
        assert_eq!((change, filled), (Ok(()), 1));
        assert!(!banks.is(version) && read().0 == 1 && dead.end(BANK).is_none());
        assert_eq!(banks.change(|turn| turn.bank() == 0), Ok(()));
        assert_eq!(read().0, 0);
        assert!(!banks.is(version), "the same bank, filled again");
    }

    #[test]
    fn a_reader_that_is_overtaken_reads_again() {
        let banks = Banks(AtomicU32::new(!(UNDER_WAY | BANK)));
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
    fn a_reader_that_is_always_overtaken_makes_resets_wait() {
        let (banks, mut reads, mut resets) = (Banks::new(), 0, 0);
        // A reset loses patience twice, even with a reader that has the turn.
        let version = banks.read(|_| {
            reads += 1;
            for _ in 0..if reads <= READS + 2 { 2 } else { 0 } {
                banks.change(|_| true).unwrap();
                resets += 1;
            }
        });
        assert_eq!((reads, resets), (READS + 3, 2 * (READS + 2)));
        assert!(banks.is(version.unwrap()));
        assert_eq!(banks.change(|turn| turn.bank() == 1), Ok(()), "an even number of swaps");
    }

    #[test]
    fn the_turn_of_a_reader_disturbs_no_other_reader() {
        let banks = Banks::new();
        let mut other = Banks::read(&banks, |_| {
            assert!(banks.read_in_turn(|_| assert_eq!(banks.read(|_| ()).map(|_| ()), Ok(()))).is_ok());
        });
        assert!(banks.is(other.unwrap()));
        // This also holds for a read that began in the turn.
        let mut at = 0;
        banks.read_in_turn(|_| other = banks.read(|bank| at = bank)).unwrap();
        assert!(at == 0 && banks.is(other.unwrap()));
    }

    #[test]
    fn a_panic_in_a_turn_blocks_nobody() {
        let banks = Banks::new();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = banks.change(|_| panic!("this panic is part of a test"));
        }));
        assert!(panicked.is_err());
        assert!(banks.read(|bank| assert_eq!(bank, 0)).is_ok());
        assert_eq!(banks.change(|_| true), Ok(()));
        assert!(banks.read(|bank| assert_eq!(bank, 1)).is_ok());
    }

    /// As in memory that another program overwrites.
    #[test]
    fn a_reader_that_never_keeps_its_turn_gives_up() {
        let banks = Banks::new();
        let read = banks.read(|_| {
            let _ = banks.take_a_turn();
            let _ = banks.take_a_turn();
        });
        assert_eq!(read, Err(Error::Busy));
        let change = banks.change(|turn| {
            banks.0.fetch_add(TURN, Relaxed);
            banks.0.fetch_sub(UNDER_WAY, Relaxed);
            turn.stands()
        });
        assert_eq!(change, Err(Error::Busy));
    }
}
