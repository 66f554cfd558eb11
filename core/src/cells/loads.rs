//! Loads many cells at a time.

use crate::cells::cell::Counter;

/// Loads cells, each as a relaxed load does.
#[inline]
pub(crate) fn load<C: Counter>(cells: &[C], out: &mut [u64]) {
    #[cfg(picollo_wide_loads)]
    let (cells, out) = crate::cells::wide::load(cells, out);
    for (out, cell) in out.iter_mut().zip(cells) {
        *out = cell.load();
    }
}

/// The sum of a run of counts, or of how far they exceed another run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sums {
    /// The sum, modulo 2^64.
    pub(crate) sum: u64,
    /// The bitwise OR of all counts.
    pub(crate) union: u64,
    /// How often the additions that produced the counts wrapped around 64 bits.
    pub(crate) wraps: u64,
}

/// Adds cells to counts. Returns how many of the sums wrapped around.
pub(crate) fn add_one_by_one<C: Counter>(cells: &[C], out: &mut [u64]) -> u64 {
    let mut wraps = 0;
    for (out, cell) in out.iter_mut().zip(cells) {
        let (sum, wrapped) = out.overflowing_add(cell.load());
        *out = sum;
        wraps += wrapped as u64;
    }
    wraps
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::platform::atomics::{AtomicU32, AtomicU64};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[repr(align(64))]
    struct Aligned<T>(T);

    proptest! {
        #[test]
        fn loads_are_loads(counts in prop::collection::vec(any::<u64>(), 0..70), skip in 0usize..10, room in 0usize..3) {
            fn check<C: Counter>(counts: &[u64], skip: usize, room: usize) -> Result<(), TestCaseError> {
                let cells = Aligned(core::array::from_fn::<_, 80, _>(|at| {
                    let cell = C::zero();
                    cell.store(counts.get(at).copied().unwrap_or(7));
                    cell
                }));
                let cells = &cells.0[skip..counts.len().max(skip)];
                let mut out = std::vec![1u64; cells.len() + room];
                load(cells, &mut out);
                let expected = cells.iter().map(C::load).chain((0..room).map(|_| 1));
                prop_assert_eq!(out, expected.collect::<Vec<_>>());
                Ok(())
            }
            check::<AtomicU64>(&counts, skip, room)?;
            check::<AtomicU32>(&counts, skip, room)?;
        }

        #[test]
        fn sums_are_sums(
            counts in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), 0u32..64), 0..70),
            (skip, skip_more) in (0usize..10, 0usize..10), (has_more, has_base) in any::<(bool, bool)>()
        ) {
            // Small counts and large ones, at positions that may or may not be aligned.
            let aligned = |skip: usize, count: &dyn Fn(usize) -> u64| Aligned(core::array::from_fn::<_, 80, _>(|at| {
                AtomicU64::new(if (skip..skip + counts.len()).contains(&at) { count(at - skip) } else { u64::MAX })
            }));
            let cells = aligned(skip, &|at| counts[at].0 >> counts[at].3);
            let more = aligned(skip_more, &|at| counts[at].1 >> counts[at].3);
            let base: Vec<u64> = counts.iter().map(|counts| counts.2 >> counts.3).collect();
            let (cells, more) = (&cells.0[skip..], &more.0[skip_more..]);

            let mut naive = Sums { sum: 0, union: 0, wraps: 0 };
            let mut expected = Vec::new();
            for at in 0..counts.len() {
                let added = if has_more { Counter::load(&more[at]) } else { 0 };
                let (count, wrapped) = Counter::load(&cells[at]).overflowing_add(added);
                let above = count.wrapping_sub(if has_base { base[at] } else { 0 });
                expected.push(count);
                naive.wraps += wrapped as u64;
                naive.sum = naive.sum.wrapping_add(above);
                naive.union |= above;
            }
            let mut out = std::vec![1u64; counts.len()];
            match AtomicU64::load_and_sum(cells, has_more.then_some(more), &mut out, has_base.then_some(&base)) {
                Some(sums) => {
                    prop_assert_eq!(sums, naive);
                    prop_assert_eq!(&out, &expected);
                }
                None => prop_assert!(out.iter().all(|&untouched| untouched == 1)),
            }

            load(cells, &mut out);
            let wraps = AtomicU64::add_many(more, &mut out);
            let sums = counts.iter().map(|counts| (counts.0 >> counts.3).overflowing_add(counts.1 >> counts.3));
            let (expected, wrapped): (Vec<u64>, Vec<bool>) = sums.unzip();
            prop_assert_eq!(out, expected);
            prop_assert_eq!(wraps, wrapped.into_iter().filter(|&wrapped| wrapped).count() as u64);
        }
    }

    /// If this machine and the build allow one pass, aligned cells are processed in one pass.
    #[test]
    #[cfg(all(picollo_wide_loads, feature = "std"))]
    fn aligned_cells_are_summed_as_they_are_loaded() {
        let cells = Aligned(core::array::from_fn::<_, 16, _>(|at| AtomicU64::new(at as u64)));
        let sums = AtomicU64::load_and_sum(&cells.0, None, &mut [0; 16], None);
        if std::is_x86_feature_detected!("avx2") {
            assert_eq!(sums, Some(Sums { sum: 120, union: 15, wraps: 0 }));
        } else {
            std::eprintln!("SKIPPED: reading in one pass needs a processor with AVX2");
            assert_eq!(sums, None);
        }
    }
}
