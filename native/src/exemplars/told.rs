//! An interval that was told by another program, or by an earlier run.

use super::cause::Cause;
use super::exemplar::Exemplar;
use super::hints::Hints;
use super::interval::{Counted, Interval, Share};
use super::options::MAX_SLOWEST;
use super::usual::Usual;
use super::verdict::Verdict;
use crate::base::error::{Error, Result, Status};

/// Most exemplars that an interval has: the slowest, and one of each octave of values.
pub const MAX_EXEMPLARS: usize = MAX_SLOWEST as usize + 65;

/// Larger counts of observations are nobody's: at a thousand million a second they take more than a hundred days. Sums of them fit.
pub const MAX_COUNT: u64 = 1 << 53;

/// Most units of values in a second. Up to there a number is the same after it was divided by, and written.
pub const MAX_UNITS_PER_SECOND: u64 = 1_000_000_000_000_000;

/// What is known of an interval, to make one of.
#[derive(Clone, Debug)]
pub struct Told {
    /// As in [`Interval`]; when it began and ended.
    pub unix_nanos: [u64; 2],
    /// As in [`Interval`].
    pub threshold: u64,
    /// Of values in a second; 0 where they are no times.
    pub units_per_second: u64,
    /// As in [`Interval`].
    pub observations: u64,
    /// As in [`Interval`].
    pub slow: u64,
    /// As in [`Interval`].
    pub known: u64,
    /// As in [`Interval`].
    pub controls: u64,
    /// As in [`Interval`].
    pub has_run_delay: bool,
    /// As in [`Interval`].
    pub counted: u64,
    /// As in [`Interval`]; of its fields, the message is told.
    pub uncounted: Option<Error>,
    /// As in [`Interval`].
    pub hints: Hints,
    /// Slow ones whose kind has too few controls.
    pub without_controls: u64,
    /// Slow ones that were short beside what came before them in their accounts.
    pub too_short: u64,
    /// Slow ones without accounts, by [`Missing`](super::Missing).
    pub missing: [u64; 8],
    /// In the order of [`Cause::ALL`].
    pub shares: [Share; Cause::ALL.len()],
    /// In any order.
    pub exemplars: Vec<(Exemplar, Verdict)>,
}

impl Interval {
    /// The interval of which this is known. `InvalidArgument` for counts above [`MAX_COUNT`], those in `missing` together, more exemplars than
    /// [`MAX_EXEMPLARS`], and more units than [`MAX_UNITS_PER_SECOND`]; `OutOfMemory`.
    pub fn told(told: Told) -> Result<Interval> {
        let missing = told.missing.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        let counts = [
            told.observations,
            told.slow,
            told.known,
            told.controls,
            told.without_controls,
            told.too_short,
            told.counted,
            missing,
        ];
        let shares = told.shares.iter().map(|share| share.observations);
        let is_large = counts.into_iter().chain(shares).any(|count| count > MAX_COUNT);
        if is_large || told.exemplars.len() > MAX_EXEMPLARS || told.units_per_second > MAX_UNITS_PER_SECOND {
            return Err(Status::InvalidArgument.into());
        }
        let unit_nanos = match told.units_per_second {
            0 => 0.0,
            units => 1e9 / units as f64,
        };
        let counted = Counted {
            unix_nanos: told.unix_nanos,
            threshold: told.threshold,
            unit_nanos,
            observations: told.observations,
            slow: told.slow,
            hints: told.hints,
        };
        let nothing = Usual::new().ok_or(Error::from(Status::OutOfMemory))?;
        let mut interval = Interval::new(counted, &[], 0, &[], 0, &nothing)?;
        (interval.slow, interval.known) = (told.slow, told.known);
        interval.controls = told.controls;
        interval.has_run_delay = told.has_run_delay;
        (interval.counted, interval.uncounted) = (told.counted, told.uncounted);
        let mut exemplars = told.exemplars;
        exemplars.sort_by_key(|(exemplar, _)| core::cmp::Reverse(exemplar.value));
        interval.fill(exemplars, told.shares, told.missing, [told.without_controls, told.too_short]);
        Ok(interval)
    }
}
