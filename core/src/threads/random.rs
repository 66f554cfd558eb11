//! Random numbers for approximate counting: one generator for each thread, seeded differently in each thread and
//! process. The child of a fork continues with the numbers of its parent.

use crate::platform::atomics::AtomicU64;
use crate::platform::atomics::Ordering::Relaxed;

/// Returns the next random number, never 0.
#[inline]
pub(crate) fn next() -> u64 {
    #[cfg(feature = "std")]
    if let Some(number) = crate::threads::tables::random().or_else(crate::threads::tables::seed) {
        return number;
    }
    next_of_all()
}

/// For builds without threads, and threads that cannot keep a generator. Two threads that race here may get the same
/// number, which is equally random for each.
fn next_of_all() -> u64 {
    #[cfg(loom)]
    loom::lazy_static! { static ref STATE: AtomicU64 = AtomicU64::new(GOLDEN); }
    #[cfg(not(loom))]
    static STATE: AtomicU64 = AtomicU64::new(GOLDEN);
    let number = xorshift(STATE.load(Relaxed));
    STATE.store(number, Relaxed);
    number
}

/// 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of a 64-bit xorshift generator (Marsaglia, 2003): a permutation of the numbers other than 0, in one cycle.
#[inline(always)]
pub(crate) const fn xorshift(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

/// Returns a state that no other call gets, never 0: a Weyl sequence through the finalizer of splitmix64, a
/// permutation. It starts differently in each process: added counts of many processes must not all have the same error.
#[cfg(feature = "std")]
pub(crate) fn new_seed() -> u64 {
    #[cfg(loom)]
    loom::lazy_static! { static ref NEXT: AtomicU64 = AtomicU64::new(1); }
    #[cfg(not(loom))]
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut seed = NEXT.fetch_add(1, Relaxed).wrapping_mul(GOLDEN).wrapping_add(of_this_process());
    seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^= seed >> 31;
    if seed == 0 { GOLDEN } else { seed }
}

/// Returns a number that differs in each process.
#[cfg(feature = "std")]
fn of_this_process() -> u64 {
    // Models must take the same path every time.
    #[cfg(loom)]
    return 0;
    #[cfg(not(loom))]
    {
        static CHOSEN: AtomicU64 = AtomicU64::new(0);
        let chosen = CHOSEN.load(Relaxed);
        if chosen != 0 {
            return chosen;
        }
        // Time, address and process number: two processes hardly have all three in common. (The seed of the standard
        // library's hash maps needs a DLL on Windows that not every Windows has.)
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos() as u64);
        let place = (&raw const CHOSEN).addr() as u64;
        let proposed = (time ^ place.rotate_left(24) ^ u64::from(std::process::id()).rotate_left(40)) | 1;
        // If several threads propose a number, the first one counts: that keeps the sequence the same for all.
        CHOSEN.compare_exchange(0, proposed, Relaxed, Relaxed).err().unwrap_or(proposed)
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;
    use std::string::String;

    use super::*;

    #[test]
    fn no_two_threads_have_the_same_numbers() {
        let seeds: BTreeSet<u64> = (0..10_000).map(|_| new_seed()).collect();
        assert!(seeds.len() == 10_000 && !seeds.contains(&0));
        std::println!("seeds from {:?}", seeds.first());
    }

    #[test]
    fn no_two_processes_have_the_same_numbers() {
        let program = std::env::current_exe().unwrap();
        let test = "threads::random::tests::no_two_threads_have_the_same_numbers";
        let mut start = Command::new(program);
        start.args(["--exact", "--nocapture", test]);
        let mut seeds = || {
            let text = String::from_utf8(start.output().ok()?.stdout).unwrap();
            if text.is_empty() {
                return None;
            }
            let line = text.lines().find_map(|line| line.split_once("seeds from "));
            Some(String::from(line.unwrap_or_else(|| panic!("{text}")).1))
        };
        // Under an emulator, this program cannot start another one whose output it could read.
        let Some(first) = seeds() else { return std::eprintln!("SKIPPED: programs cannot be started here") };
        assert_ne!(first, seeds().unwrap());
    }
}
