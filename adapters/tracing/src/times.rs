//! The histograms of a span name.

use picollo_core::{Mode, Options, SharedHistogram};

/// Selects a time of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// From its creation to its end.
    Total,
    /// While it was entered.
    Busy,
    /// While it was not entered.
    Idle,
    /// While it was entered, and no span inside it was, on that thread.
    SelfTime,
}

impl Time {
    /// All times, in the order of their numbers.
    pub(crate) const ALL: [Time; 4] = [Time::Total, Time::Busy, Time::Idle, Time::SelfTime];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Time::Total => "total",
            Time::Busy => "busy",
            Time::Idle => "idle",
            Time::SelfTime => "self",
        }
    }
}

/// Histograms of nanoseconds, in the order of [`Time::ALL`].
#[derive(Debug)]
pub(crate) struct Times(pub(crate) [SharedHistogram; 4]);

impl Times {
    pub(crate) fn create() -> picollo_core::Result<Times> {
        // The range is eleven days. At 1 %, each takes 21 kB, and as much again for each thread.
        let options = Options {
            mode: Mode::ThreadLocal,
            relative_error: 0.01,
            max_trackable: 1_000_000_000_000_000,
            ..Options::default()
        };
        let make = || SharedHistogram::create(&options);
        Ok(Times([make()?, make()?, make()?, make()?]))
    }

    pub(crate) fn record(&self, total: u64, busy: u64, alone: u64) {
        for (histogram, nanos) in self.0.iter().zip([total, busy, total.saturating_sub(busy), alone]) {
            histogram.record(nanos);
        }
    }
}
