//! Axes of values: linear or logarithmic, with ticks at round numbers.

use core::fmt::{self, Display, from_fn};

use super::unit::{Unit, floor_log10, power_of_ten};
use picollo_core::Bucket;
use picollo_core::Snapshot;
use picollo_core::seam::Fixed;

/// An axis maps values to places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    /// This is added to values before the logarithm, so that zero has one.
    offset: f64,
    ticks: Ticks,
}

/// The positions of ticks.
#[derive(Clone, Copy, Debug)]
enum Ticks {
    /// Ticks are at multiples of a step.
    Every(f64),
    /// Ticks are at 1, 2 and 5 times each power of ten.
    Digits,
    /// Ticks are at each power of ten with a multiple of this exponent.
    Powers(u32),
}

/// The range of the observations, and whether zero is among them; `None` if there are no observations.
pub(super) struct Extent {
    low: f64,
    high: f64,
    has_zero: bool,
}

impl Extent {
    pub(super) fn from_snapshots<'a>(snapshots: impl Iterator<Item = &'a Snapshot>) -> Option<Extent> {
        snapshots.fold(None, |extent, snapshot| {
            let (Some(lowest), Some(highest)) = (snapshot.lowest_recorded(), snapshot.highest_recorded())
            else {
                return extent;
            };
            // Values are integers, so each covers the numbers nearest to it.
            let (low, high) = (lowest.lower as f64 - 0.5, highest.upper as f64 + 0.5);
            let extent = extent.unwrap_or(Extent { low, high, has_zero: false });
            Some(Extent {
                low: extent.low.min(low),
                high: extent.high.max(high),
                has_zero: extent.has_zero || lowest.lower == 0,
            })
        })
    }

    /// The same range, but it ends with a bucket.
    pub(super) fn ending(self, last: &Bucket) -> Extent {
        Extent { high: self.high.min(last.upper as f64 + 0.5), ..self }
    }
}

impl Axis {
    /// An axis for these observations with about this many ticks. It is logarithmic if the largest value is more than
    /// `log_from` times the smallest. An exact axis ends where the observations do; other linear axes end at ticks.
    pub(super) fn new(extent: &Extent, ticks: f64, log_from: f64, is_exact: bool) -> Axis {
        let Extent { low, high, has_zero } = *extent;
        let offset = if has_zero { 1.0 } else { 0.0 };
        if high > log_from * low.max(1.0) {
            let decades = libm::log10((high + offset) / (low + offset));
            let ticks = if decades < 1.0 {
                Ticks::Every(nice_step((high - low) / ticks))
            } else if decades < 2.5 {
                Ticks::Digits
            } else {
                Ticks::Powers(libm::ceil(decades / ticks) as u32)
            };
            return Axis { low, high, is_log: true, offset, ticks };
        }
        // Only long labels could distinguish values that are closer than this.
        let padding = ((high * 1e-3 - (high - low)) / 2.0).max(0.0);
        let (low, high) = (low - padding, high + padding);
        let from = if low < 0.25 * high && !is_exact { 0.0 } else { low.max(0.0) };
        let step = nice_step((high - from) / ticks);
        if is_exact {
            return Axis::linear(low, high, step);
        }
        Axis::linear(libm::floor(from / step) * step, libm::ceil(high / step) * step, step)
    }

    fn linear(low: f64, high: f64, step: f64) -> Axis {
        Axis { low, high, is_log: false, offset: 0.0, ticks: Ticks::Every(step) }
    }

    /// An axis for shares, from zero.
    pub(super) fn for_shares(highest: f64, ticks: f64) -> Axis {
        let step = nice(highest.max(1e-9) / ticks);
        Axis::linear(0.0, libm::ceil(highest.max(1e-9) / step) * step, step)
    }

    /// The place of a value: 0 at the low end, 1 at the high end, and beyond that outside.
    pub(super) fn place(&self, value: f64) -> f64 {
        if !self.is_log {
            return (value - self.low) / (self.high - self.low);
        }
        let from = libm::log(self.low + self.offset);
        (libm::log((value + self.offset).max(f64::MIN_POSITIVE)) - from)
            / (libm::log(self.high + self.offset) - from)
    }

    /// Calls `tick` with the value and place of each tick, until it fails; ticks are at least `gap` apart.
    // If this is inlined, compilers compute the first tick of an axis before they know that there is one (`Ticks`, and
    // axes inside other enums, are plain numbers to them). It is harmless, but memcheck sees a jump on uninitialized
    // memory.
    #[inline(never)]
    pub(super) fn ticks(&self, gap: f64, mut tick: impl FnMut(f64, f64) -> fmt::Result) -> fmt::Result {
        let mut last = f64::NEG_INFINITY;
        let mut offer = |value: f64| {
            let place = self.place(value);
            if !(-1e-9..=1.0 + 1e-9).contains(&place) || place - last < gap {
                return Ok(());
            }
            last = place;
            tick(value, place)
        };
        if self.offset > 0.0 && !matches!(self.ticks, Ticks::Every(_)) {
            offer(0.0)?;
        }
        let mut exponents = 0..=20;
        match self.ticks {
            Ticks::Every(step) => {
                let first = libm::ceil(self.low / step - 1e-9);
                // The step gives only a few ticks.
                (0..100).try_for_each(|at| offer((first + f64::from(at)) * step))
            }
            Ticks::Digits => exponents.try_for_each(|exponent| {
                [1.0, 2.0, 5.0].into_iter().try_for_each(|digit| offer(digit * power_of_ten(exponent)))
            }),
            Ticks::Powers(stride) => {
                exponents.step_by(stride.max(1) as usize).try_for_each(|at| offer(power_of_ten(at)))
            }
        }
    }

    /// A label that distinguishes a tick from the next one; if labels share a unit, the largest value sets it.
    pub(super) fn label(&self, unit: &Unit<'_>, value: f64) -> impl Display {
        let (step, like) = match self.ticks {
            Ticks::Every(step) => (step, self.high),
            _ => (power_of_ten(floor_log10(value.max(1.0))), value),
        };
        unit.label(value, step, like)
    }

    /// The same for an axis of shares.
    pub(super) fn share_label(&self, value: f64) -> impl Display {
        let step = if let Ticks::Every(step) = self.ticks { step } else { 1.0 };
        let decimals = (-floor_log10(step * 100.0)).max(0) as u32;
        from_fn(move |f| write!(f, "{}%", Fixed::new(value * 100.0, decimals)))
    }

    pub(super) fn is_log(&self) -> bool {
        self.is_log
    }
}

/// The smallest of 1, 2, 5, 10, … times a power of ten that is at least the step.
fn nice(step: f64) -> f64 {
    let power = power_of_ten(floor_log10(step));
    let digit =
        [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= step * (1.0 - 1e-9)).unwrap_or(10.0);
    digit * power
}

/// The same for integers.
fn nice_step(step: f64) -> f64 {
    nice(step.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ticks(low: u64, high: u64, log_from: f64) -> Vec<f64> {
        let extent = Extent { low: low as f64 - 0.5, high: high as f64 + 0.5, has_zero: low == 0 };
        let mut found = Vec::new();
        let axis = Axis::new(&extent, 6.0, log_from, false);
        axis.ticks(0.01, |value, place| {
            assert!((axis.place(value) - place).abs() < 1e-12);
            found.push(value);
            Ok(())
        })
        .unwrap();
        assert!(axis.place(low as f64) >= 0.0 && axis.place(high as f64) <= 1.0, "{axis:?}");
        found
    }

    #[test]
    fn round_numbers() {
        assert_eq!(ticks(5, 5, 20.0), [4.0, 5.0, 6.0]);
        assert_eq!(ticks(2_000, 9_800, 20.0), [0.0, 2e3, 4e3, 6e3, 8e3, 1e4]);
        assert_eq!(ticks(0, 0, 20.0), [0.0, 1.0]);
        assert_eq!(ticks(1, 100, 3.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(0, 100_000, 3.0), [0.0, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        let all = ticks(0, u64::MAX, 3.0);
        assert!((5..=8).contains(&all.len()), "{all:?}");
        for (low, high) in [(u64::MAX, u64::MAX), (1 << 62, u64::MAX), (999_999_999_999, 1_000_000_000_000)] {
            let found = ticks(low, high, 20.0);
            assert!((2..=8).contains(&found.len()), "{low} {high}: {found:?}");
        }
    }

    #[test]
    fn steps() {
        for (step, expected) in [(1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (6.0, 10.0), (0.03, 0.05), (1e15, 1e15)]
        {
            assert!((nice(step) / expected - 1.0).abs() < 1e-9, "{step}");
        }
    }
}
