//! Mean, deviation, and the summary.

use crate::{
    Percentile, Result, SUMMARY_APPROXIMATE, SUMMARY_PERCENTILES, SUMMARY_RANKS, Snapshot, Summary,
    ValueSelection,
};

/// Mean and population standard deviation of a snapshot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moments {
    /// Mean of equivalent midpoints; NaN when empty.
    pub mean: f64,
    /// Population standard deviation of equivalent midpoints; NaN when empty.
    pub stddev: f64,
}

impl Snapshot {
    /// Mean and population standard deviation of the buckets' midpoints, weighted by their counts.
    ///
    /// One pass, by West's weighted form of Welford's recurrence, which neither overflows nor cancels.
    pub fn moments(&self) -> Moments {
        let (mut weight, mut mean, mut squares) = (0.0f64, 0.0f64, 0.0f64);
        for bucket in self.recorded_buckets() {
            let count = bucket.count as f64;
            let value = bucket.equivalent_value(ValueSelection::Midpoint) as f64;
            weight += count;
            let distance = value - mean;
            mean += distance * (count / weight);
            squares += count * distance * (value - mean);
        }
        if weight == 0.0 {
            return Moments { mean: f64::NAN, stddev: f64::NAN };
        }
        Moments { mean, stddev: libm::sqrt(squares / weight) }
    }

    /// Totals, mean, deviation and the percentiles at [`SUMMARY_RANKS`]. An empty snapshot has a summary too: totals and
    /// targets 0, mean and deviation NaN.
    pub fn summary(&self, selection: ValueSelection) -> Summary {
        let counts = self.counts();
        let moments = self.moments();
        let mut percentiles = SUMMARY_RANKS.map(|rank| Percentile { rank, ..Percentile::default() });
        // Only an empty snapshot has no percentiles at these ranks.
        let filled: Result<()> = self.percentiles(&SUMMARY_RANKS, selection, &mut percentiles);
        debug_assert!(filled.is_ok() || counts.total == 0);
        Summary {
            total_count: counts.total,
            underflow_count: counts.underflow,
            overflow_count: counts.overflow,
            lost_count: counts.lost,
            mean: moments.mean,
            stddev: moments.stddev,
            relative_error: self.layout().relative_error(),
            min_trackable: self.layout().min_trackable(),
            max_trackable: self.layout().max_trackable(),
            timestamp_unix_nanos: self.timestamp_unix_nanos(),
            value_selection: selection as u32,
            flags: if self.is_approximate() { SUMMARY_APPROXIMATE } else { 0 },
            percentiles,
        }
    }
}

const _: () = {
    // The ranks of a summary are ascending, so that it takes one pass.
    let mut at = 1;
    while at < SUMMARY_PERCENTILES {
        assert!(SUMMARY_RANKS[at - 1] < SUMMARY_RANKS[at]);
        at += 1;
    }
};
