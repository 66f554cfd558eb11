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

/// Sums by group. A sum has the buckets of the first histogram and the ranges of all, added by low ends like
/// HdrHistogram's tools do.
pub(super) struct Groups {
    ready: BTreeMap<Group, Box<Snapshot>>,
    encoded: BTreeMap<Group, Vec<u8>>,
    /// In the decoded sums.
    counters: usize,
    most: usize,
    /// Factor for values of histograms of doubles.
    pub(super) ratio: f64,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups { ready: BTreeMap::new(), encoded: BTreeMap::new(), counters: 0, most: READY, ratio: 1.0 }
    }

    pub(super) fn len(&self) -> usize {
        self.ready.len() + self.encoded.len()
    }

    pub(super) fn add(&mut self, group: Group, snapshot: &Snapshot) -> Result<(), Error> {
        let mut sum = match (self.ready.remove(&group), self.encoded.remove(&group)) {
            (Some(sum), _) => {
                self.counters -= sum.layout().length();
                sum
            }
            (None, Some(bytes)) => Snapshot::decode(&bytes, ANY_COUNTERS)?,
            (None, None) => Snapshot::boxed_alone(*snapshot.layout())?,
        };
        let (layout, other) = (*sum.layout(), snapshot.layout());
        let low = layout.min_trackable().min(other.min_trackable());
        let high = layout.max_trackable().max(other.max_trackable());
        if (low, high) != (layout.min_trackable(), layout.max_trackable()) {
            let mut wider = Snapshot::boxed_alone(layout.with_range(low, high)?)?;
            wider.merge_low_ends(&sum);
            sum = wider;
        }
        sum.merge_low_ends(snapshot);
        if self.counters + sum.layout().length() > self.most {
            self.encode()?;
        }
        self.counters += sum.layout().length();
        self.ready.insert(group, sum);
        Ok(())
    }

    fn encode(&mut self) -> Result<(), Error> {
        for (group, sum) in std::mem::take(&mut self.ready) {
            self.encoded.insert(group, sum.encode_to_vec(Encoding::Native)?);
        }
        self.counters = 0;
        Ok(())
    }

    /// Runs `each` on the sums, by tag and time.
    pub(super) fn for_each<E: From<Error>>(
        &mut self,
        mut each: impl FnMut(&Group, &Snapshot) -> Result<(), E>,
    ) -> Result<(), E> {
        self.encode()?;
        self.encoded
            .iter()
            .try_for_each(|(group, bytes)| each(group, &Snapshot::decode(bytes, ANY_COUNTERS)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_core::{Options, SharedHistogram, Since};

    #[test]
    fn encoded_sums_are_the_same() {
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
        assert!(!few.encoded.is_empty() && all.encoded.is_empty());
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
