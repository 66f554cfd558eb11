//! What a histogram counted, in one call, by a snapshot that is allocated for it.

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
        /// What was counted since the last reset. Allocates a snapshot: whoever reads again and again keeps one, and updates that.
        ///
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), and [`Error::Busy`](crate::Error::Busy) against competing resets.
        pub fn snapshot(&$self) -> Result<Box<Snapshot>> {
            let mut $snapshot = Snapshot::boxed(*$self.layout())?;
            $update?;
            Ok($snapshot)
        }

        /// Percentiles, mean and counts since the last reset, of values in the middle of their buckets. Costs and fails as a snapshot
        /// does.
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
    use crate::{AtomicU64, Layout, Mode, Options};

    const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);

    /// The same as by hand, for each kind that has it.
    fn agrees(summary: Summary, snapshot: &Snapshot) {
        let mut by_hand = Snapshot::boxed(LAYOUT).unwrap();
        let oracle = Histogram::<[AtomicU64; LAYOUT.cells()]>::new(LAYOUT);
        (7..=9).for_each(|value| oracle.record(value));
        by_hand.update(&*oracle, Since::Reset).unwrap();
        assert_eq!(summary, by_hand.summary(ValueSelection::Midpoint));
        assert_eq!(summary.total_count, 3);
        assert!(snapshot.buckets().eq(by_hand.buckets()));
    }

    #[test]
    fn counts_since_the_last_reset() {
        let options = Options { relative_error: 0.01, max_trackable: 1_000, ..Options::default() };
        let shared = SharedHistogram::create(&options).unwrap();
        let alone = SingleWriterHistogram::create(&Options { mode: Mode::SingleWriter, ..options }).unwrap();
        let mut writer = alone.writer().unwrap();
        let dense = Histogram::<[AtomicU64; LAYOUT.cells()]>::new(LAYOUT);
        for value in [1, 2, 3] {
            shared.record(value);
            writer.record(value);
            dense.record(value);
        }
        shared.reset().unwrap();
        alone.reset().unwrap();
        dense.reset().unwrap();
        for value in 7..=9 {
            shared.record(value);
            writer.record(value);
            dense.record(value);
        }
        agrees(shared.summary().unwrap(), &shared.snapshot().unwrap());
        agrees(alone.summary().unwrap(), &alone.snapshot().unwrap());
        agrees(dense.summary().unwrap(), &dense.snapshot().unwrap());
    }

    // With loom's cells nothing is in a static.
    #[cfg(not(loom))]
    #[test]
    fn a_static_has_it_too() {
        static COUNTS: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
        (7..=9).for_each(|value| COUNTS.record(value));
        agrees(COUNTS.summary().unwrap(), &COUNTS.snapshot().unwrap());
    }
}
