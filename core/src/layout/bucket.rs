//! A bucket and the value it reports.

/// A run of values that share one count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub lower: u64,
    /// Largest value of the bucket. The range is closed, so the last bucket can end at `u64::MAX`.
    pub upper: u64,
    /// Number of values that share the count: upper - lower + 1.
    pub step: u64,
    /// Number of observations.
    pub count: u64,
    /// Index among the counters of its histogram.
    pub storage_index: u64,
    /// Index among the counters of a histogram of the full range.
    pub logical_index: u64,
}

/// Which value in its bucket a percentile reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum ValueSelection {
    /// lower + step / 2: at most step / 2 from every value of the bucket; exact if step is 1.
    #[default]
    Midpoint = 0,
    /// The smallest value of the bucket.
    Lower = 1,
    /// The largest value of the bucket.
    Upper = 2,
}

crate::error::from_code!(ValueSelection { Midpoint, Lower, Upper });

impl Bucket {
    /// Returns the value that represents all values of the bucket.
    pub const fn equivalent_value(&self, selection: ValueSelection) -> u64 {
        match selection {
            ValueSelection::Midpoint => self.lower + self.step / 2,
            ValueSelection::Lower => self.lower,
            ValueSelection::Upper => self.upper,
        }
    }
}
