//! Who a histogram is: a number of 128 bits, kept with its cells.
//!
//! A snapshot recognises by it what it was updated from. An address would not do: the next histogram on the stack, the next
//! one that an allocator makes, and the next writer of a shared segment are found where the last one was. Nor would a count
//! of histograms, which begins anew in every process.
//!
//! The number is drawn when a histogram is made in the caller's memory, which other processes read, and
//! otherwise at the first read, so that a histogram can be made at compile time and an array of many costs nothing more.

// Not loom's: nothing is ordered by these words, and each changes once.
#[cfg(loom)]
use core::sync::atomic::AtomicU64;

#[cfg(not(loom))]
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;

/// Who a histogram is: equal for two reads of one histogram, wherever it lies meanwhile and whoever reads it; for no two
/// histograms, and not for one before and after it was cleared or made anew.
///
/// A byte-for-byte copy of a histogram is the same one, as far as this goes. A snapshot that follows the original and is then
/// updated from the copy goes on from what it knows: right for an image that was moved, or saved and brought back; of two
/// that go on side by side each needs snapshots of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity([u64; 2]);

/// Where a histogram keeps who it is. A word of 0 is yet to be drawn; each is written once.
#[repr(C)]
pub(crate) struct IdentityCell([AtomicU64; 2]);

impl IdentityCell {
    /// To be drawn at the first read.
    pub(crate) const fn new() -> IdentityCell {
        IdentityCell([AtomicU64::new(0), AtomicU64::new(0)])
    }

    /// Drawn now.
    pub(crate) fn drawn() -> IdentityCell {
        IdentityCell(draw().map(AtomicU64::new))
    }

    pub(crate) fn get(&self) -> Identity {
        let words = [self.0[0].load(Relaxed), self.0[1].load(Relaxed)];
        if words[0] != 0 && words[1] != 0 { Identity(words) } else { self.get_first() }
    }

    /// Readers that draw at once agree word by word: one half of each is as good a number.
    #[cold]
    fn get_first(&self) -> Identity {
        let drawn = draw();
        Identity(core::array::from_fn(|at| {
            match self.0[at].compare_exchange(0, drawn[at], Relaxed, Relaxed) {
                Ok(_) => drawn[at],
                Err(earlier) => earlier,
            }
        }))
    }
}

/// How many this process has drawn, or this program where there are no processes.
static DRAWN: AtomicU64 = AtomicU64::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);

/// Where the build has no clock and no processes (without `std`), identities are drawn from a counter and this seed, 0 unless
/// given: they are the same in every run. That matters where histograms outlive a run or meet those of another one: in
/// memory that keeps its content, or that several processors share. Then give a number that no other run has, before
/// anything is made or read. With `std` it is mixed into what is at hand anyway.
pub fn seed_identities(seed: u64) {
    SEED.store(seed, Relaxed);
}

/// Two words, neither of them 0.
fn draw() -> [u64; 2] {
    let number = DRAWN.fetch_add(1, Relaxed);
    let seed = SEED.load(Relaxed);
    let [time, process, place] = surroundings();
    // Two sums over the same words, each a chain of permutations with a beginning of its own.
    [0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b].map(|beginning| {
        let sum = [number, seed, time, process, place]
            .into_iter()
            .fold(beginning, |sum: u64, word| mixed(sum.wrapping_add(word)).rotate_left(23));
        if sum == 0 { beginning } else { sum }
    })
}

/// What differs between processes, even those that were forked from one and have all else in common.
fn surroundings() -> [u64; 3] {
    #[cfg(all(feature = "std", not(loom), any(unix, windows)))]
    {
        // Read each time: a child goes on with the memory of its parent.
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos() as u64);
        let here = 0u8;
        let place = (&raw const DRAWN).addr() as u64 ^ ((&raw const here).addr() as u64).rotate_left(32);
        [time, u64::from(std::process::id()), place]
    }
    #[cfg(not(all(feature = "std", not(loom), any(unix, windows))))]
    [0; 3]
}

/// The finaliser of splitmix64: a permutation.
fn mixed(mut word: u64) -> u64 {
    word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn no_two_are_the_same() {
        let drawn: Vec<[u64; 2]> = (0..20_000).map(|_| draw()).collect();
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), drawn.len());
        for half in 0..2 {
            let halves: BTreeSet<u64> = drawn.iter().map(|words| words[half]).collect();
            // Chance of a collision: 20,000^2 / 2^65, below 1e-10.
            assert!(halves.len() == drawn.len() && !halves.contains(&0));
        }
    }

    #[test]
    fn it_is_drawn_once() {
        for _ in 0..200 {
            let cell = IdentityCell::new();
            let seen: Vec<Identity> = std::thread::scope(|scope| {
                let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| cell.get())).collect();
                readers.into_iter().map(|reader| reader.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|identity| *identity == cell.get()));
        }
        let cell = IdentityCell::drawn();
        assert_eq!(cell.get(), cell.get());
        assert_ne!(cell.get(), IdentityCell::drawn().get());
    }
}
