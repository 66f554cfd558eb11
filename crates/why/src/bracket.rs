//! Converts ticks of scopes to nanoseconds of `CLOCK_MONOTONIC_RAW`, the clock of the kernel's evidence.
//!
//! Scopes read ticks because nothing is cheaper. If a scope was slow, this reads both clocks together: ticks,
//! nanoseconds, ticks. The nanoseconds belong to some moment between the two readings of ticks. From there, the clock's
//! frequency converts the distance. Each result includes its maximum error.
//!
//! A thread may lose its CPU between the readings. The bracket is then wide, and is taken again. If it stays wide,
//! there is no result: evidence that cannot be placed in time is useless.

use picollo_native::seam::wall::{NANOS_PER_SECOND, clock_nanos};
use picollo_native::seam::{convert_ticks, tsc};
use picollo_native::{Clock, TimeUnit};

/// Wider brackets are rejected. Half of this, 2.5 µs, is a quarter of a percent of a millisecond, the shortest time
/// that evidence is for. A bracket is usually about 50 ns wide, or 500 ns with a clock that is read by system calls.
const WIDE_NANOS: u64 = 5_000;
/// A bracket of at most this width is not tried again.
const NARROW_NANOS: u64 = 500;
const TRIES: u32 = 4;

/// Maximum relative error of a distance, in parts per million. The counter's frequency is either measured against this
/// very clock in two windows that agree within 100, or stated and confirmed by such a measurement within 1,000. A
/// stated frequency is exact in practice. If the monotonic clock replaces the counter, it is slewed against the raw
/// clock: by up to 500 by the kernel's own loop and most daemons. A faster slew (chrony, if a clock is far off) exceeds
/// the stated error.
const PARTS: u64 = 1_000;

/// Readings of two clocks at almost the same moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bracket {
    /// Ticks of [`Clock::Tsc`], in the middle of the bracket.
    pub tsc: u64,
    /// `CLOCK_MONOTONIC_RAW`, somewhere in the bracket.
    pub raw_ns: u64,
    /// Nanoseconds from the first ticks to the last.
    pub width: u64,
    hertz: u64,
}

/// A converted moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawNanos {
    /// `CLOCK_MONOTONIC_RAW`.
    pub at: u64,
    /// Maximum error.
    pub error: u64,
}

/// The clocks as a trait, so that tests can replace them.
trait Clocks {
    /// Ticks of [`Clock::Tsc`], whatever it uses.
    fn ticks(&self) -> u64;
    fn raw(&self) -> u64;
    /// Frequency of the counter; `None` if the monotonic clock replaces it.
    fn hertz(&self) -> Option<u64>;
}

struct System;

impl Clocks for System {
    fn ticks(&self) -> u64 {
        Clock::Tsc.ticks_ordered()
    }
    fn raw(&self) -> u64 {
        clock_nanos(libc::CLOCK_MONOTONIC_RAW)
    }
    fn hertz(&self) -> Option<u64> {
        tsc::hertz()
    }
}

impl Bracket {
    /// Takes a bracket now; `None` if it is wider than 5 µs in four tries. It takes about 100 ns without interruptions.
    /// It neither blocks nor allocates, except that the first use of the clock calibrates it ([`Clock::init`]).
    pub(crate) fn read() -> Option<Bracket> {
        Bracket::from_clocks(&System)
    }

    fn from_clocks(clocks: &impl Clocks) -> Option<Bracket> {
        let hertz = clocks.hertz().unwrap_or(NANOS_PER_SECOND);
        let mut best: Option<Bracket> = None;
        for _ in 0..TRIES {
            let before = clocks.ticks();
            let raw_ns = clocks.raw();
            let Some(ticks) = clocks.ticks().checked_sub(before) else { continue };
            // Adds one and rounds up: the next tick may have been imminent.
            let width = convert_ticks(ticks.saturating_add(1), hertz, TimeUnit::Nanos).saturating_add(1);
            // An unreadable clock returns 0.
            if raw_ns != 0 && best.is_none_or(|best| width < best.width) {
                best = Some(Bracket { tsc: before + ticks / 2, raw_ns, width, hertz });
            }
            if best.is_some_and(|best| best.width <= NARROW_NANOS) {
                break;
            }
        }
        best.filter(|bracket| bracket.width <= WIDE_NANOS)
    }

    /// The time at which [`Clock::Tsc`] read `ticks`, before or after the bracket. The error grows by at most a
    /// thousandth of the distance, and usually by far less. The machine must not have slept in between: the counter may
    /// continue during sleep, and this clock does not.
    pub(crate) fn raw(&self, ticks: u64) -> RawNanos {
        let distance = convert_ticks(ticks.abs_diff(self.tsc), self.hertz, TimeUnit::Nanos);
        let at = match ticks >= self.tsc {
            true => self.raw_ns.saturating_add(distance),
            false => self.raw_ns.saturating_sub(distance),
        };
        // Half the bracket, plus rounding of the middle, the distance and the time in question (one tick), plus the
        // error of the frequency.
        let rounding = 2 + NANOS_PER_SECOND.div_ceil(self.hertz.max(1));
        let drift = (u128::from(distance) * u128::from(PARTS)).div_ceil(1_000_000);
        let drift = u64::try_from(drift).unwrap_or(u64::MAX);
        RawNanos { at, error: (self.width / 2).saturating_add(rounding).saturating_add(drift) }
    }
}

#[cfg(test)]
#[path = "bracket_tests.rs"]
mod tests;
