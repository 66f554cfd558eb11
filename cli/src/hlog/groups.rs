//! Sums by tag and window of time, in bounded memory.

use std::collections::BTreeMap;

use picollo_core::{Error, Snapshot};

use super::sum::{READY, Sum};

/// What is added up apart. Fields that do not matter are empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Group {
    pub(super) tag: String,
    pub(super) window: i64,
}

/// Sums by group. Those that were not added to for the longest time wait as bytes.
pub(super) struct Groups {
    sums: BTreeMap<Group, (Sum, u64)>,
    counters: usize,
    /// How often something was added: when it was.
    clock: u64,
    most: usize,
    /// What values are to be multiplied by, in histograms of doubles.
    pub(super) ratio: f64,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups::of_at_most(READY)
    }

    pub(super) fn of_at_most(most: usize) -> Groups {
        Groups { sums: BTreeMap::new(), counters: 0, clock: 0, most, ratio: 1.0 }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn add(&mut self, group: Group, snapshot: &Snapshot) -> Result<(), Error> {
        self.clock += 1;
        let after = match self.sums.get_mut(&group) {
            Some((sum, used)) => {
                self.counters -= sum.counters();
                sum.add(snapshot)?;
                *used = self.clock;
                sum.counters()
            }
            None => {
                let sum = Sum::of(snapshot)?;
                let counters = sum.counters();
                self.sums.insert(group, (sum, self.clock));
                counters
            }
        };
        self.counters += after;
        // Down to half at once, so that this look at all of them is rare.
        if self.counters > self.most {
            let mut ready: Vec<_> = self.sums.values_mut().filter(|(sum, _)| sum.counters() > 0).collect();
            ready.sort_by_key(|(_, used)| *used);
            let but_the_last = ready.len() - 1;
            for (sum, _) in ready.into_iter().take(but_the_last) {
                if self.counters <= self.most / 2 {
                    break;
                }
                self.counters -= sum.counters();
                sum.wait()?;
            }
        }
        Ok(())
    }

    /// Runs `each` on the sums, by tag and time.
    pub(super) fn for_each<E: From<Error>>(
        &mut self,
        mut each: impl FnMut(&Group, &Snapshot) -> Result<(), E>,
    ) -> Result<(), E> {
        for (group, (sum, _)) in &mut self.sums {
            let was_waiting = sum.counters() == 0;
            each(group, sum.ready()?)?;
            if was_waiting {
                sum.wait()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_core::{Layout, SingleWriter};
    type Histogram = picollo_core::Histogram<[picollo_core::AtomicU64], SingleWriter>;

    #[test]
    fn those_that_wait_are_as_good() {
        let mut few = Groups::of_at_most(5_000);
        let mut all = Groups::of_at_most(usize::MAX);
        for number in 0..300u64 {
            let layout = Layout::with_significant_digits(2, 0, 10_000 << (number % 7)).unwrap();
            let mut histogram = Histogram::boxed(layout, false).unwrap();
            histogram.record(number * 50);
            let mut snapshot = Snapshot::boxed(layout).unwrap();
            snapshot.update(&*histogram, picollo_core::Since::Reset).unwrap();
            let group = Group { tag: String::new(), window: (number % 50) as i64 };
            few.add(group.clone(), &snapshot).unwrap();
            all.add(group, &snapshot).unwrap();
            assert!(few.counters <= 5_000 + 2_000);
        }
        assert!(few.sums.values().any(|(sum, _)| sum.counters() == 0));
        let listed = |groups: &mut Groups| {
            let mut found = Vec::new();
            groups
                .for_each::<Error>(|group, sum| {
                    let buckets: Vec<_> =
                        sum.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).collect();
                    found.push((group.clone(), *sum.layout(), buckets));
                    Ok(())
                })
                .unwrap();
            found
        };
        assert_eq!(listed(&mut few), listed(&mut all));
        assert_eq!(few.len(), 50);
    }
}
