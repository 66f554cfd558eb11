//! Selects the stripe that a thread uses.
//!
//! If many threads add to one value, it is divided into stripes, so that threads seldom meet. Any stripe is correct for
//! any thread; it only has to differ from those of most other threads.

/// Returns a stripe below `stripes`, a power of two, for the calling thread: mostly the same one each time.
///
/// Threads have separate stacks, so the address of a local variable distinguishes them. That works on every platform,
/// and without a thread-local variable, which would cost more than it saves.
#[inline(always)]
pub(crate) fn of_this_thread(stripes: usize) -> usize {
    let local = 0u8;
    of_stack((&raw const local).addr(), stripes)
}

/// Frames of one thread mostly lie within 64 KB of each other. Stacks mostly lie at equal distances. Multiplication by
/// the golden ratio (Fibonacci hashing) spreads them evenly over the upper bits, which select the stripe.
#[inline(always)]
fn of_stack(address: usize, stripes: usize) -> usize {
    debug_assert!(stripes.is_power_of_two());
    let hash = (address as u64 >> 16).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash as u128 * stripes as u128) >> 64) as usize
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn stacks_at_equal_distances_spread() {
        for distance in
            [64usize << 10, 128 << 10, 1 << 20, (2 << 20) + 4096, 2 << 20, 8 << 20, (8 << 20) + 4096]
        {
            // On 32 bits the upper part is cut off.
            for start in [0u64, 0x7f12_3456_7000, 0x7fff_f7e0_0000].map(|start| start as usize) {
                let mut seen: std::vec::Vec<usize> =
                    (0..16).map(|at| of_stack(start.wrapping_add(at * distance), 16)).collect();
                seen.sort_unstable();
                seen.dedup();
                assert!(seen.len() >= 8 && seen.last() < Some(&16), "{distance} {seen:?}");
            }
        }
    }

    #[test]
    fn threads_use_several_stripes() {
        let barrier = std::sync::Barrier::new(16);
        let mut seen: std::vec::Vec<usize> = std::thread::scope(|scope| {
            let thread = || {
                barrier.wait();
                let stripe = of_this_thread(16);
                assert_eq!(of_this_thread(1), 0);
                barrier.wait();
                stripe
            };
            let threads: std::vec::Vec<_> = (0..16).map(|_| scope.spawn(thread)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.last() < Some(&16));
        assert!(seen.len() >= 4, "{seen:?}");
    }
}
