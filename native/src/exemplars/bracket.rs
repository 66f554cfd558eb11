//! From ticks of scopes to nanoseconds of `CLOCK_MONOTONIC_RAW`, by which the kernel's evidence is dated.
//!
//! Scopes take ticks, because nothing is cheaper. Afterwards, when one turns out to be slow, both clocks are read together: ticks, nanoseconds,
//! ticks. The nanoseconds belong to some moment between the two readings of ticks, and from there one converts, over the distance, by the
//! clock's frequency. What that errs by at most is said with each result.
//!
//! A thread may lose its CPU between the readings. The bracket is then wide, and is taken again; when it stays wide, there is none:
//! evidence that cannot be placed in time is no evidence.

use crate::clock::{Clock, Unit, convert_ticks, tsc};
use crate::os::wall::{NANOS_PER_SECOND, clock_nanos};

/// A wider bracket is none. Half of it, 2.5 µs, is a quarter of a percent of a millisecond, which is the least that evidence is for. As
/// they come, they are some 50 ns wide; a clock that is read by system calls makes them some 500.
const WIDE_NANOS: u64 = 5_000;
/// A bracket of this width is not tried again.
const NARROW_NANOS: u64 = 500;
const TRIES: u32 = 4;

/// How far, in parts per million, a distance may be wrong. The counter's frequency was measured against this very clock in two windows that
/// agree within 100, or is a stated one that such a measurement confirms within 1,000, and is then exact in practice.
const PARTS_COUNTER: u64 = 1_000;
/// The monotonic clock, where it stands in for the counter, is slewed against the raw one: by up to 500 as the kernel's own loop and most
/// daemons do it. One that slews faster (chrony, while a clock is off by much) exceeds what is said of the error here.
const PARTS_MONOTONIC: u64 = 1_000;

/// Two clocks at the same moment, or almost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bracket {
    /// Ticks of [`Clock::Tsc`], in the middle of the bracket.
    pub tsc: u64,
    /// `CLOCK_MONOTONIC_RAW`, somewhere in the bracket.
    pub raw_ns: u64,
    /// From the first ticks to the last, in nanoseconds.
    pub width: u64,
    hertz: u64,
    parts: u64,
}

/// A converted moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawNanos {
    /// `CLOCK_MONOTONIC_RAW`.
    pub at: u64,
    /// It is wrong by at most this.
    pub error: u64,
}

/// The clocks, behind a trait so that tests can stand in for them.
trait Clocks {
    /// As [`Clock::Tsc`] has them, whatever it is.
    fn ticks(&self) -> u64;
    fn raw(&self) -> u64;
    /// Of the counter; `None` where the monotonic clock stands in for it.
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
    /// Takes one now; `None` when it stays wider than 5 µs in four tries. Some 100 ns where nothing comes in between. Neither blocks nor
    /// allocates, but that the first use of the clock calibrates it ([`Clock::init`]).
    pub(crate) fn take() -> Option<Bracket> {
        Bracket::of(&System)
    }

    fn of(clocks: &impl Clocks) -> Option<Bracket> {
        let (hertz, parts) = match clocks.hertz() {
            Some(hertz) => (hertz, PARTS_COUNTER),
            None => (NANOS_PER_SECOND, PARTS_MONOTONIC),
        };
        let mut best: Option<Bracket> = None;
        for _ in 0..TRIES {
            let before = clocks.ticks();
            let raw_ns = clocks.raw();
            let Some(ticks) = clocks.ticks().checked_sub(before) else { continue };
            // One more, and rounded up: of a reading of ticks, the next one may be almost there.
            let width = convert_ticks(ticks.saturating_add(1), hertz, Unit::Nanos).saturating_add(1);
            // A clock that cannot be read says 0.
            if raw_ns != 0 && best.is_none_or(|best| width < best.width) {
                best = Some(Bracket { tsc: before + ticks / 2, raw_ns, width, hertz, parts });
            }
            if best.is_some_and(|best| best.width <= NARROW_NANOS) {
                break;
            }
        }
        best.filter(|bracket| bracket.width <= WIDE_NANOS)
    }

    /// The moment at which [`Clock::Tsc`] said `ticks`, before the bracket or after it. The error grows by a thousandth of
    /// the distance at most, and by far less as a rule. That the machine did not sleep in between is taken for granted: the counter may
    /// go on in sleep, and this clock does not.
    pub(crate) fn raw(&self, ticks: u64) -> RawNanos {
        let distance = convert_ticks(ticks.abs_diff(self.tsc), self.hertz, Unit::Nanos);
        let at = match ticks >= self.tsc {
            true => self.raw_ns.saturating_add(distance),
            false => self.raw_ns.saturating_sub(distance),
        };
        // Half the bracket, what rounding takes (of the middle, of the distance, and of the moment in question, which is within a tick), and
        // what the frequency may be wrong by.
        let rounding = 2 + NANOS_PER_SECOND.div_ceil(self.hertz.max(1));
        let drift = (u128::from(distance) * u128::from(self.parts)).div_ceil(1_000_000);
        let drift = u64::try_from(drift).unwrap_or(u64::MAX);
        RawNanos { at, error: (self.width / 2).saturating_add(rounding).saturating_add(drift) }
    }
}

#[cfg(test)]
#[path = "bracket_tests.rs"]
mod tests;
