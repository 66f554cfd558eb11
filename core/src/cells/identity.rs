//! The identity of a histogram: a number of 128 bits, kept with its cells.
//!
//! A snapshot uses it to recognize the histogram that it was updated from. An address is not enough: the next histogram
//! on the stack, from an allocator, or in a shared segment may lie where the last one was. A count of histograms is not
//! enough either, because it begins anew in every process.
//!
//! The number is drawn when a histogram is made in the caller's memory, which other processes read. Otherwise it is
//! drawn at the first read, so that a histogram can be made at compile time and an array of many costs nothing more.

// These are not loom's: these words order nothing, and each changes once.
#[cfg(loom)]
use core::sync::atomic::AtomicU64;

#[cfg(not(loom))]
use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;

/// The identity of a histogram. Two reads of one histogram give the same identity, wherever it lies and whoever reads
/// it. Two histograms never share one, and clearing or remaking a histogram changes it.
///
/// A byte-for-byte copy of a histogram has the same identity. A snapshot that follows the original and is then updated
/// from the copy continues from its known counts. That is right for an image that was moved, or saved and restored. If
/// original and copy both continue, each needs separate snapshots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity([u64; 2]);

/// Where a histogram keeps its identity. A word of 0 is not drawn yet; each word is written once.
#[repr(C)]
pub(crate) struct IdentityCell([AtomicU64; 2]);

impl IdentityCell {
    /// Creates a cell whose identity is drawn at the first read.
    pub(crate) const fn new() -> IdentityCell {
        IdentityCell([AtomicU64::new(0), AtomicU64::new(0)])
    }

    /// Creates a cell whose identity is drawn now.
    pub(crate) fn drawn() -> IdentityCell {
        IdentityCell(draw().map(AtomicU64::new))
    }

    pub(crate) fn get(&self) -> Identity {
        let words = [self.0[0].load(Relaxed), self.0[1].load(Relaxed)];
        if words[0] != 0 && words[1] != 0 { Identity(words) } else { self.get_first() }
    }

    /// Readers that draw at once agree word by word: a number made of halves of both is just as good.
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

/// How many numbers this process has drawn, or this program if there are no processes.
static DRAWN: AtomicU64 = AtomicU64::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);

/// In a build without clock and processes (without `std`), identities come from a counter and this seed, which is 0 by
/// default: they are the same in every run. That matters if histograms outlive a run or meet those of another run: in
/// memory that keeps its content, or that several processors share. In that case, pass a number that no other run has,
/// before anything is made or read. With `std` the seed is mixed into the other inputs.
pub fn seed_identities(seed: u64) {
    SEED.store(seed, Relaxed);
}

/// Draws two words that no other call, in any process, draws. Neither is 0.
pub(crate) fn draw() -> [u64; 2] {
    let number = DRAWN.fetch_add(1, Relaxed);
    let seed = SEED.load(Relaxed);
    let [time, process, place] = surroundings();
    // Two sums over the same words, each a chain of permutations with a different start.
    [0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b].map(|beginning| {
        let sum = [number, seed, time, process, place]
            .into_iter()
            .fold(beginning, |sum: u64, word| mixed(sum.wrapping_add(word)).rotate_left(23));
        if sum == 0 { beginning } else { sum }
    })
}

/// Returns values that differ between processes, even between forks of one process that are otherwise equal.
fn surroundings() -> [u64; 3] {
    #[cfg(all(feature = "std", not(loom), any(unix, windows)))]
    {
        // Read each time, because a child inherits the memory of its parent.
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos() as u64);
        let here = 0u8;
        let place = (&raw const DRAWN).addr() as u64 ^ ((&raw const here).addr() as u64).rotate_left(32);
        [time, u64::from(std::process::id()), place]
    }
    #[cfg(not(all(feature = "std", not(loom), any(unix, windows))))]
    [0; 3]
}

/// The finalizer of splitmix64: a permutation.
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
        // Each has its own number, where no clock and no process distinguishes them.
        assert!(DRAWN.load(Relaxed) >= drawn.len() as u64);
    }

    #[test]
    fn it_is_drawn_once() {
        for _ in 0..500 {
            let (cell, ready) = (IdentityCell::new(), AtomicU64::new(0));
            let get = || {
                // Threads that do not wait for each other read one after another.
                ready.fetch_add(1, Relaxed);
                while ready.load(Relaxed) < 2 {
                    std::thread::yield_now();
                }
                cell.get()
            };
            let seen: Vec<Identity> = std::thread::scope(|scope| {
                let readers: Vec<_> = (0..2).map(|_| scope.spawn(get)).collect();
                readers.into_iter().map(|reader| reader.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|identity| *identity == cell.get()));
        }
        let cell = IdentityCell::drawn();
        assert_eq!(cell.get(), cell.get());
        assert_ne!(cell.get(), IdentityCell::drawn().get());
    }
}
