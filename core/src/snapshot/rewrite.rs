//! Changes the counts of a snapshot other than by an update from a histogram.

use crate::layout::layout::Layout;
use crate::snapshot::snapshot::{Base, Counts, Head, Snapshot, split};

/// The counts of a snapshot while they are changed. On drop, in any way, the totals are recomputed from the counts, and
/// the snapshot has no source histogram any more: the next update replaces the counts.
pub struct Rewrite<'a> {
    head: &'a mut Head,
    raw: &'a mut [u64],
    /// The counts to subtract from the raw counts, if there is room for them.
    base: &'a mut [u64],
    /// The sum of all counts.
    total: u128,
    /// Observations below the range.
    pub underflow: u64,
    /// Observations above the range.
    pub overflow: u64,
    /// Observations that are missing.
    pub lost: u64,
}

impl Snapshot {
    /// Runs `change` on the counts, and leaves the snapshot consistent, whatever `change` does.
    pub fn rewrite<R>(&mut self, change: impl FnOnce(&mut Rewrite) -> R) -> R {
        let total = self.exact_total();
        let Snapshot { head, words } = self;
        let before = core::mem::replace(&mut head.base, Base::Counts);
        let Counts { underflow, overflow, lost, .. } = head.counts;
        let (raw, base) = split(words, head);
        if before == Base::Anything {
            base.fill(0);
        }
        change(&mut Rewrite { head, raw, base, total, underflow, overflow, lost })
    }
}

impl Rewrite<'_> {
    /// The layout of the snapshot.
    pub fn layout(&self) -> &Layout {
        &self.head.layout
    }

    /// Adds as much as fits to the count at a storage index. Returns how much did not fit; `None`, with nothing
    /// changed, if there is no such index.
    #[inline]
    pub fn add(&mut self, index: usize, count: u128) -> Option<u128> {
        let raw = self.raw.get_mut(index)?;
        let fits = match self.base.get_mut(index) {
            // The next delta starts from the raw count.
            Some(base) => {
                let fits = count.min((u64::MAX - raw.wrapping_sub(*base)).into());
                *base = base.wrapping_sub(fits as u64);
                fits
            }
            None => {
                let fits = count.min((u64::MAX - *raw).into());
                *raw += fits as u64;
                fits
            }
        };
        // This cannot overflow: there are 2^26 counters of 64 bits.
        self.total += fits;
        Some(count - fits)
    }

    /// Subtracts from the count at a storage index that has at least this count.
    pub(crate) fn take(&mut self, index: usize, count: u64) {
        let raw = &mut self.raw[index];
        let there = match self.base.get_mut(index) {
            Some(base) => {
                let there = count.min(raw.wrapping_sub(*base));
                *base = base.wrapping_add(there);
                there
            }
            None => {
                let there = count.min(*raw);
                *raw -= there;
                there
            }
        };
        self.total -= u128::from(there);
    }

    /// Copies the counts of another snapshot beside its buckets.
    #[cfg(feature = "alloc")]
    pub(crate) fn take_over(&mut self, other: &Snapshot) {
        Counts { underflow: self.underflow, overflow: self.overflow, lost: self.lost, .. } = other.counts();
    }
}

impl Drop for Rewrite<'_> {
    fn drop(&mut self) {
        self.head.counts = Counts {
            total: self.total.try_into().unwrap_or(u64::MAX),
            underflow: self.underflow,
            overflow: self.overflow,
            lost: self.lost,
        };
        self.head.baseline_version = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn layout() -> Layout {
        Layout::with_scale(2, 0, 1000).unwrap()
    }

    /// Returns one with room for a base, and one without.
    fn both() -> [Box<Snapshot>; 2] {
        [layout().snapshot_words(), layout().length()]
            .map(|words| Snapshot::boxed_words(layout(), words).unwrap())
    }

    fn is_whole(snapshot: &Snapshot) -> bool {
        let sum: u128 = snapshot.buckets().map(|bucket| u128::from(bucket.count)).sum();
        snapshot.counts().total == sum.try_into().unwrap_or(u64::MAX) && snapshot.exact_total() == sum
    }

    #[test]
    fn a_change_that_breaks_off_leaves_it_whole() {
        for mut snapshot in both() {
            let failed: Option<()> = snapshot.rewrite(|counts| {
                counts.add(3, 5)?;
                counts.lost = 1;
                counts.add(layout().length(), 1)?;
                unreachable!("there is no such index")
            });
            assert!(failed.is_none() && is_whole(&snapshot));
            assert_eq!(snapshot.counts(), Counts { total: 5, lost: 1, ..Counts::default() });
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                snapshot.rewrite(|counts| {
                    counts.add(4, 7);
                    panic!("on purpose");
                })
            }));
            assert!(panicked.is_err() && is_whole(&snapshot));
            assert_eq!((snapshot.counts().total, snapshot.count_at(4)), (12, 7));
        }
    }

    proptest! {
        #[test]
        fn totals_are_those_of_the_counts(
            changes in proptest::collection::vec((0usize..2, 0usize..20, any::<u64>(), 0u32..64), 0..40)
        ) {
            for mut snapshot in both() {
                let mut truth = [0u64; 20];
                for &(what, index, count, shift) in &changes {
                    let count = count >> shift;
                    snapshot.rewrite(|counts| match what {
                        0 => {
                            let left = counts.add(index, count.into()).unwrap();
                            truth[index] = truth[index].saturating_add(count);
                            counts.lost = counts.lost.saturating_add(left as u64);
                        }
                        _ => {
                            counts.take(index, count);
                            truth[index] = truth[index].saturating_sub(count);
                        }
                    });
                    prop_assert!(is_whole(&snapshot));
                }
                for (index, count) in truth.into_iter().enumerate() {
                    prop_assert_eq!(snapshot.count_at(index), count);
                }
            }
        }
    }
}
