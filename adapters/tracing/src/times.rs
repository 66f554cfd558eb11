//! The histograms of a span name.

use picollo_core::{Mode, Options, SharedHistogram};

/// Which time of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// From its making to its end.
    Total,
    /// In which it was entered.
    Busy,
    /// In which it was not.
    Idle,
    /// In which it was entered, and nothing inside it on that thread.
    SelfTime,
}

impl Time {
    /// Every one, in the order of their numbers.
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

/// Of nanoseconds, in the order of [`Time::ALL`].
#[derive(Debug)]
pub(crate) struct Times(pub(crate) [SharedHistogram; 4]);

impl Times {
    pub(crate) fn create() -> picollo_core::Result<Times> {
        // To eleven days; 1 %, 21 kB each and as much for each thread.
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
