//! What handles point to: the places where events are counted.

use std::sync::{Mutex, PoisonError};

use metrics::{CounterFn, GaugeFn, HistogramFn};
use picollo_core::SharedHistogram;
use picollo_core::counters::{MetricCounter, MetricGauge};

use crate::store::Lost;
use crate::units::HIGHEST;

/// A histogram, and the conversion of doubles for it. Each thread that uses macros has a separate cell. Every macro
/// changes the cell's reference count twice, so this keeps the count on a cache line of that thread.
#[repr(align(128))]
pub(crate) struct HistogramCell {
    pub(crate) histogram: SharedHistogram,
    pub(crate) scale: f64,
    pub(crate) lost: Lost,
}

impl HistogramCell {
    /// The integer that is counted; `None` for a value that is not in the histogram.
    #[inline(always)]
    fn scaled(&self, value: f64) -> Option<u64> {
        let scaled = value * self.scale + 0.5;
        // This is false for NaN. Half a unit below zero still becomes zero.
        if scaled >= 0.0 {
            // One conversion of signed integers; a value that does not fit becomes the first one above the range.
            if scaled < HIGHEST as f64 { Some(scaled as i64 as u64) } else { Some(HIGHEST + 1) }
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn lose(&self, value: f64, count: u64) {
        let reason = if value.is_nan() { &self.lost.not_a_number } else { &self.lost.negative };
        reason.add(count);
    }
}

impl HistogramFn for HistogramCell {
    fn record(&self, value: f64) {
        match self.scaled(value) {
            Some(scaled) => self.histogram.record(scaled),
            None => self.lose(value, 1),
        }
    }

    fn record_many(&self, value: f64, count: usize) {
        match self.scaled(value) {
            Some(scaled) => self.histogram.record_n(scaled, count as u64),
            None => self.lose(value, count as u64),
        }
    }
}

/// A counter; the lock is for callers that set it.
#[repr(align(128))]
pub(crate) struct CounterCell {
    pub(crate) counter: MetricCounter,
    pub(crate) setting: std::sync::Arc<Mutex<()>>,
}

impl CounterFn for CounterCell {
    fn increment(&self, value: u64) {
        self.counter.add(value);
    }

    /// Counters only grow, so a smaller value changes nothing. The lock excludes other setters, not additions.
    fn absolute(&self, value: u64) {
        let _alone = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        self.counter.add(value.saturating_sub(self.counter.value()));
    }
}

#[repr(align(128))]
pub(crate) struct GaugeCell(pub(crate) MetricGauge);

impl GaugeFn for GaugeCell {
    fn increment(&self, value: f64) {
        self.0.add(value);
    }

    fn decrement(&self, value: f64) {
        self.0.add(-value);
    }

    fn set(&self, value: f64) {
        self.0.set(value);
    }
}

/// A metric that the registry refuses: its events count as lost.
pub(crate) struct Refused(pub(crate) MetricCounter);

impl CounterFn for Refused {
    fn increment(&self, _: u64) {
        self.0.add(1);
    }

    fn absolute(&self, _: u64) {
        self.0.add(1);
    }
}

impl GaugeFn for Refused {
    fn increment(&self, _: f64) {
        self.0.add(1);
    }

    fn decrement(&self, _: f64) {
        self.0.add(1);
    }

    fn set(&self, _: f64) {
        self.0.add(1);
    }
}

impl HistogramFn for Refused {
    fn record(&self, _: f64) {
        self.0.add(1);
    }

    fn record_many(&self, _: f64, count: usize) {
        self.0.add(count as u64);
    }
}
