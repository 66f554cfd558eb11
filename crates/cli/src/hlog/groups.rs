//! Sums by tag and window of time, in bounded memory.

use std::collections::BTreeMap;

use picollo_codec::{Codec, Encoding};
use picollo_core::{Error, Snapshot};

/// The key of a sum. Irrelevant fields are empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Group {
    pub(super) tag: String,
    pub(super) window: i64,
}

/// Maximum number of counters in decoded sums, 16 bytes each. Other sums are kept encoded, which takes less memory.
const READY: usize = 1 << 21;

/// More counters than any snapshot has: the finest layout of all 64 bits has 46 · 2^19.
pub(crate) const ANY_COUNTERS: u64 = 1 << 25;

/// A sum with the buckets of the first histogram and the ranges of all, added by low ends like HdrHistogram's tools do.
enum Sum {
    Ready(Box<Snapshot>),
    Waiting(Vec<u8>),
}

impl Sum {
    fn like(first: &Snapshot) -> Result<Sum, Error> {
        let mut sum = Snapshot::boxed_alone(*first.layout())?;
        sum.merge_low_ends(first);
        Ok(Sum::Ready(sum))
    }

    fn counters(&self) -> usize {
        match self {
            Sum::Ready(snapshot) => snapshot.layout().length(),
            Sum::Waiting(_) => 0,
        }
    }

    fn add(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let sum = self.ready()?;
        let (layout, other) = (*sum.layout(), snapshot.layout());
        let low = layout.min_trackable().min(other.min_trackable());
        let high = layout.max_trackable().max(other.max_trackable());
        if (low, high) != (layout.min_trackable(), layout.max_trackable()) {
            let wider = layout.with_range(low, high)?;
            let mut wider = Snapshot::boxed_alone(wider)?;
            wider.merge_low_ends(sum);
            *sum = wider;
        }
        sum.merge_low_ends(snapshot);
        Ok(())
    }

    /// The decoded sum, for reading or adding.
    fn ready(&mut self) -> Result<&mut Box<Snapshot>, Error> {
        if let Sum::Waiting(bytes) = self {
            *self = Sum::Ready(Snapshot::decode(bytes, ANY_COUNTERS)?);
        }
        match self {
            Sum::Ready(snapshot) => Ok(snapshot),
            Sum::Waiting(_) => Err(Error::Corrupt),
        }
    }

    fn wait(&mut self) -> Result<(), Error> {
        if let Sum::Ready(snapshot) = self {
            *self = Sum::Waiting(snapshot.encode_to_vec(Encoding::Native)?);
        }
        Ok(())
    }
}

/// Sums by group. If they become too large, all except the last one used are encoded.
pub(super) struct Groups {
    sums: BTreeMap<Group, Sum>,
    counters: usize,
    most: usize,
    /// Factor for values of histograms of doubles.
    pub(super) ratio: f64,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups { sums: BTreeMap::new(), counters: 0, most: READY, ratio: 1.0 }
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn add(&mut self, group: Group, snapshot: &Snapshot) -> Result<(), Error> {
        let before = match self.sums.get_mut(&group) {
            Some(sum) => {
                let before = sum.counters();
                sum.add(snapshot)?;
                before
            }
            None => {
                self.sums.insert(group.clone(), Sum::like(snapshot)?);
                0
            }
        };
        let after = self.sums.get(&group).map_or(0, Sum::counters);
        self.counters += after - before;
        if self.counters > self.most {
            let mut others = self.sums.iter_mut().filter(|(other, _)| **other != group);
            others.try_for_each(|(_, sum)| sum.wait())?;
            self.counters = after;
        }
        Ok(())
    }

    /// Runs `each` on the sums, by tag and time.
    pub(super) fn for_each<E: From<Error>>(
        &mut self,
        mut each: impl FnMut(&Group, &Snapshot) -> Result<(), E>,
    ) -> Result<(), E> {
        for (group, sum) in &mut self.sums {
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
    use picollo_core::{Options, SharedHistogram, Since};

    #[test]
    fn those_that_wait_are_as_good() {
        let mut few = Groups { most: 5_000, ..Groups::new() };
        let mut all = Groups::new();
        for number in 0..300u64 {
            let options = Options {
                significant_digits: 2,
                max_trackable: 10_000 << (number % 7),
                ..Options::default()
            };
            let histogram = SharedHistogram::create(&options).unwrap();
            histogram.record(number * 50);
            let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
            histogram.update(&mut snapshot, Since::Reset).unwrap();
            let group = Group { tag: String::new(), window: (number % 50) as i64 };
            few.add(group.clone(), &snapshot).unwrap();
            all.add(group, &snapshot).unwrap();
            assert!(few.counters <= 5_000 + 2_000);
        }
        assert!(few.sums.values().any(|sum| sum.counters() == 0));
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
