//! Sums by tag and window of time, in bounded memory.

use std::collections::BTreeMap;

use picollo_codec::{Codec, Encoding};
use picollo_core::{Error, Layout, Snapshot};

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

    /// On an error, the group keeps the counts that it has.
    pub(super) fn add(&mut self, group: Group, snapshot: &Snapshot) -> Result<(), Error> {
        let ready = self.ready.remove(&group);
        let was_ready = ready.is_some();
        let mut sum = match (ready, self.encoded.get(&group)) {
            (Some(sum), _) => {
                self.counters -= sum.layout().length();
                sum
            }
            (None, Some(bytes)) => Snapshot::decode(bytes, ANY_COUNTERS)?,
            (None, None) => Snapshot::boxed_alone(*snapshot.layout())?,
        };
        let prepared = self.prepare(&mut sum, snapshot.layout());
        if prepared.is_ok() {
            sum.merge_low_ends(snapshot);
            self.encoded.remove(&group);
        }
        if prepared.is_ok() || was_ready {
            self.counters += sum.layout().length();
            self.ready.insert(group, sum);
        }
        prepared
    }

    /// Extends a sum to a range, and makes room for it.
    fn prepare(&mut self, sum: &mut Box<Snapshot>, other: &Layout) -> Result<(), Error> {
        let layout = *sum.layout();
        let low = layout.min_trackable().min(other.min_trackable());
        let high = layout.max_trackable().max(other.max_trackable());
        if (low, high) != (layout.min_trackable(), layout.max_trackable()) {
            let mut wider = Snapshot::boxed_alone(layout.with_range(low, high)?)?;
            wider.merge_low_ends(sum);
            *sum = wider;
        }
        if self.counters + sum.layout().length() > self.most { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> Result<(), Error> {
        while let Some(first) = self.ready.first_entry() {
            let bytes = first.get().encode_to_vec(Encoding::Native)?;
            let (group, sum) = first.remove_entry();
            self.counters -= sum.layout().length();
            self.encoded.insert(group, bytes);
        }
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
    /// With `--skip-errors`, the next histogram of the group is added after a failure.
    #[test]
    fn a_failure_keeps_the_sum() {
        let mut groups = Groups::new();
        groups.encoded.insert(Group::default(), b"broken".to_vec());
        let snapshot = Snapshot::boxed_alone(Layout::new(0.01, 0, 1_000)).unwrap();
        assert!(groups.add(Group::default(), &snapshot).is_err());
        assert_eq!((groups.len(), &groups.encoded[&Group::default()][..]), (1, &b"broken"[..]));
    }
}
