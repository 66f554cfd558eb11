//! The options of a histogram at run time.

use crate::cells::kind::{Mode, Storage};
use crate::error::{Error, Result};
use crate::layout::layout::Layout;

/// The options of a [`crate::SharedHistogram`] or [`crate::SingleWriterHistogram`]. Zero means the default everywhere.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Options {
    /// Who may write, and how.
    pub mode: Mode,
    /// When cells are allocated.
    pub storage: Storage,
    /// 32 or 64; 0 means 64, or 32 on targets without 64-bit atomics.
    pub counter_bits: u32,
    /// Largest distance of a value to its bucket's midpoint, in proportion: 0 means 0.001; clamped to 1e-6 ..= 0.1.
    pub relative_error: f64,
    /// 1 ..= 5, or [`Options::ZERO_DIGITS`], for the buckets of an HdrHistogram with that many digits; overrides `relative_error`.
    /// 0: unused.
    pub significant_digits: u32,
    /// Omits the room for a baseline: half the memory, a third in the caller's memory, and reset is unsupported.
    pub no_live_reset: bool,
    /// Smallest value to track.
    pub min_trackable: u64,
    /// Largest value to track; 0 means `u64::MAX`.
    pub max_trackable: u64,
    /// Counts up to the end of the array of an HdrHistogram with this largest value: see [`Layout::with_whole_array`].
    pub whole_array: bool,
    /// Sparse storage: limit of [`crate::SharedHistogram::footprint`] in bytes, 0 for no limit. Events that do not fit
    /// are counted as lost. Other storage has its full size from the beginning, regardless of this limit.
    pub max_bytes: u64,
    /// HdrHistogram's lowest discernible value: values are counted in units of the largest power of two in it. 0 or 1:
    /// no unit. Recording shifts them, which takes longer than the fastest ways without a unit; there are fewer
    /// counters below a block of units. At most `max_trackable`, and below `2^62 / block size`.
    pub unit: u64,
}

impl Options {
    /// The value of `significant_digits` for an HdrHistogram of 0 digits: its buckets are powers of two.
    pub const ZERO_DIGITS: u32 = 255;

    /// Returns the layout for these options.
    pub fn layout(&self) -> Result<Layout> {
        let max = if self.max_trackable == 0 { u64::MAX } else { self.max_trackable };
        let layout = match self.significant_digits {
            0 => Layout::try_new(self.relative_error, self.min_trackable, max)?,
            Options::ZERO_DIGITS => Layout::with_significant_digits(0, self.min_trackable, max)?,
            digits => Layout::with_significant_digits(digits, self.min_trackable, max)?,
        };
        let layout = layout.with_unit(self.unit.checked_ilog2().unwrap_or(0))?;
        Ok(if self.whole_array { layout.with_whole_array() } else { layout })
    }

    /// Returns the width of a cell, with the default filled in.
    pub(crate) fn resolved_counter_bits(&self) -> Result<u32> {
        match self.counter_bits {
            0 if !crate::platform::atomics::HAS_ATOMIC_64 => Ok(32),
            0 | 64 => Ok(64),
            32 => Ok(32),
            _ => Err(Error::InvalidArgument),
        }
    }
}
