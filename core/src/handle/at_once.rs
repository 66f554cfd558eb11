//! Reads the counts of a histogram in one call, with a snapshot that is allocated for it.

use alloc::boxed::Box;

use crate::cells::cell::{Counter, WriteMode};
use crate::error::Result;
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::SingleWriterHistogram;
use crate::histograms::dense::Histogram;
use crate::layout::bucket::ValueSelection;
use crate::snapshot::snapshot::{Since, Snapshot};
use crate::snapshot::source::Source;
use crate::statistics::summary::Summary;

macro_rules! at_once {
    ($self:ident, $snapshot:ident, $update:expr) => {
        /// Returns the counts since the last reset. It allocates a snapshot: to read repeatedly, keep one and update
        /// it.
        ///
        /// Fails with [`Error::OutOfMemory`](crate::Error::OutOfMemory), and with [`Error::Busy`](crate::Error::Busy)
        /// against competing resets.
        pub fn snapshot(&$self) -> Result<Box<Snapshot>> {
            let mut $snapshot = Snapshot::boxed(*$self.layout())?;
            $update?;
            Ok($snapshot)
        }

        /// Returns percentiles, mean and counts since the last reset, for values in the middle of their buckets. It
        /// costs as much as a snapshot and fails in the same cases.
        pub fn summary(&$self) -> Result<Summary> {
            Ok($self.snapshot()?.summary(ValueSelection::Midpoint))
        }
    };
}

impl SharedHistogram {
    at_once!(self, snapshot, self.update(&mut snapshot, Since::Reset));
}

impl SingleWriterHistogram {
    at_once!(self, snapshot, self.update(&mut snapshot, Since::Reset));
}

impl<C: Counter, M: WriteMode> Histogram<[C], M>
where
    Histogram<[C], M>: Source,
{
    at_once!(self, snapshot, snapshot.update(self, Since::Reset));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::AtomicU64;
    use crate::{Layout, Options};

    const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
    type Static = Histogram<[AtomicU64; LAYOUT.cells()]>;

    /// The records since the last reset, for each kind that supports reset.
    #[test]
    fn counts_since_the_last_reset() {
        let options = Options { relative_error: 0.01, max_trackable: 1_000, ..Options::default() };
        let shared = SharedHistogram::create(&options).unwrap();
        let alone = SingleWriterHistogram::create(&options).unwrap();
        let mut recorder = alone.recorder().unwrap();
        // With loom, no cell can be in a static.
        #[cfg(not(loom))]
        static COUNTS: Static = Histogram::new(LAYOUT);
        #[cfg(not(loom))]
        let dense = &COUNTS;
        #[cfg(loom)]
        let dense = &Static::new(LAYOUT);
        for values in [1..=3, 7..=9] {
            shared.reset().and_then(|()| alone.reset()).and_then(|()| dense.reset()).unwrap();
            for value in values {
                shared.record(value);
                recorder.record(value);
                dense.record(value);
            }
        }
        let summaries = [shared.summary(), alone.summary(), dense.summary()].map(Result::unwrap);
        let snapshots = [shared.snapshot(), alone.snapshot(), dense.snapshot()].map(Result::unwrap);
        for (summary, snapshot) in summaries.into_iter().zip(snapshots) {
            assert!(snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).eq([
                (7, 1),
                (8, 1),
                (9, 1)
            ]));
            assert_eq!(summary, snapshot.summary(ValueSelection::Midpoint));
        }
    }
}
