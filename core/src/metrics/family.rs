//! What expositions are written of: metrics, wherever they come from.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::distribution::Distribution;
use super::exemplar::Exemplar;
use super::memory::{push, text};
use super::name;
use super::output::Output;
use super::text::Escaped;
use crate::error::{Error, Result};

/// What kind of number a metric is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// How often each value occurred.
    Histogram,
    /// The same, of which Prometheus has quantiles instead of buckets.
    Summary,
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
}

/// The metrics of one name, in the order in which they came: what encoders take.
#[derive(Clone, Debug)]
pub struct Family {
    /// As it was given, but without a counter's `_total`: what OpenTelemetry has.
    pub(super) name: String,
    /// The name with underscores for what Prometheus does not allow.
    pub(super) plain_name: String,
    pub(super) help: String,
    pub(super) unit: String,
    pub(super) kind: MetricKind,
    pub(super) points: Vec<Point>,
}

/// One metric of a family.
#[derive(Clone, Debug)]
pub struct Point {
    pub(super) labels: Labels,
    /// A counter's and gauge's value is divided by this; what is in a distribution is so already.
    pub(super) divisor: f64,
    /// 0: not told.
    pub(super) created_unix_nanos: u64,
    /// Whether Prometheus is to have exponential buckets where its format has them.
    pub(super) native: bool,
    pub(super) value: Value,
    /// In the order in which they came.
    pub(super) exemplars: Vec<Exemplar>,
}

/// A metric's value.
#[derive(Clone, Debug)]
// Nearly all are the large one, in a list; a box each would be one more allocation that can fail.
#[allow(clippy::large_enum_variant)]
pub enum Value {
    /// Of a counter.
    Counter(u64),
    /// Of a gauge.
    Gauge(f64),
    /// Of a histogram.
    Histogram(Distribution),
}

/// Names and values, sorted by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Labels {
    labels: Vec<Label>,
    /// As text has them, each with a comma behind it: most of what is written are labels.
    listed: String,
}

/// A label's name as it was given, the same for Prometheus, and its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Label {
    /// First: labels are sorted by it, and two with one plain name are refused.
    pub(super) plain_name: String,
    pub(super) name: String,
    pub(super) value: String,
}

impl Labels {
    /// [`Error::InvalidArgument`] for names that are not allowed or come twice.
    #[inline(never)]
    pub(super) fn new(given: &[(&str, &str)]) -> Result<Labels> {
        let mut labels = Vec::new();
        for &(name, value) in given {
            let plain_name = name::plain(name)?;
            name::check_label(&plain_name)?;
            push(&mut labels, Label { plain_name, name: text(name)?, value: text(value)? })?;
        }
        labels.sort_unstable();
        if labels.windows(2).any(|pair| pair[0].plain_name == pair[1].plain_name) {
            return Err(Error::InvalidArgument);
        }
        let mut listed = String::new();
        listed
            .try_reserve_exact(Output::length_of(|out| write_labels(&labels, out)))
            .map_err(|_| Error::OutOfMemory)?;
        write_labels(&labels, &mut listed);
        Ok(Labels { labels, listed })
    }

    /// As text has them, each with a comma behind it.
    pub(super) fn listed(&self) -> &str {
        &self.listed
    }
}

/// Neither an output nor a text with room for it fails.
fn write_labels(labels: &[Label], out: &mut impl fmt::Write) {
    for label in labels {
        let value = Escaped { text: &label.value, quotes: true };
        let _ = write!(out, "{}=\"{value}\",", label.plain_name);
    }
}

impl core::ops::Deref for Labels {
    type Target = [Label];

    fn deref(&self) -> &[Label] {
        &self.labels
    }
}

impl Family {
    /// Whether expositions of the one would have a name that those of the other have.
    pub(super) fn clashes(&self, plain_name: &str, kind: MetricKind) -> bool {
        name::clash((&self.plain_name, self.kind), (plain_name, kind))
    }

    /// What came since an earlier exposition, for formats that want differences: counts of each metric since it was in `earlier`, and
    /// all of those that were not there or have less, which begin when they were created. Gauges are as they are. Pass it on to
    /// [`write_otlp`](super::write_otlp) with the time of the earlier one.
    ///
    pub fn since(families: &[Family], earlier: &[Family]) -> Vec<Family> {
        let since = |family: &Family| {
            let mut before = earlier
                .iter()
                .find(|before| before.name == family.name && before.kind == family.kind)
                .map_or(&[][..], |before| &before.points);
            let points = family.points.iter().map(|point| {
                // Mostly the one behind the one before: they stay in their order.
                let at = before.iter().position(|before| before.labels == point.labels);
                let earlier = at.map(|at| &before[at]);
                before = at.map_or(before, |at| &before[at + 1..]);
                point.since(earlier)
            });
            Family {
                name: family.name.clone(),
                plain_name: family.plain_name.clone(),
                help: family.help.clone(),
                unit: family.unit.clone(),
                kind: family.kind,
                points: points.collect(),
            }
        };
        families.iter().map(since).collect()
    }
}

impl Point {
    /// What came since an earlier one. It begins with that, and where there is none, when it was created.
    fn since(&self, earlier: Option<&Point>) -> Point {
        let value = match (&self.value, earlier.map(|earlier| &earlier.value)) {
            (Value::Counter(now), Some(Value::Counter(before))) => {
                now.checked_sub(*before).map(Value::Counter)
            }
            (Value::Histogram(now), Some(Value::Histogram(before))) => {
                now.since(before).map(Value::Histogram)
            }
            _ => None,
        };
        match value {
            Some(value) => Point { value, created_unix_nanos: 0, ..self.clone() },
            None => self.clone(),
        }
    }
}
