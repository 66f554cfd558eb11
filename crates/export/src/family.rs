//! The input of expositions: metrics from any source.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::distribution::Distribution;
use super::error::{MetricError, refuse};
use super::exemplar::MetricExemplar;
use super::memory::{push, text};
use super::name;
use super::text::escaped;

/// What kind of number a metric is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// How often each value occurred.
    Histogram,
    /// The same, but Prometheus gets quantiles instead of buckets.
    Summary,
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
}

impl MetricKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            MetricKind::Histogram => "histogram",
            MetricKind::Summary => "summary",
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        }
    }
}

/// The metrics of one name, in the order of their addition; encoders take these.
#[derive(Clone, Debug)]
pub struct Family {
    /// As given, but without a counter's `_total`: OpenTelemetry uses this name.
    pub(super) name: String,
    /// The name, with underscores instead of characters that Prometheus does not allow.
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
    /// Divides the value of a counter or gauge; a distribution is already divided.
    pub(super) divisor: f64,
    /// 0 means unknown.
    pub(super) created_unix_nanos: u64,
    /// Whether Prometheus gets exponential buckets if its format has them.
    pub(super) native: bool,
    pub(super) value: Value,
    /// In the order of their addition.
    pub(super) exemplars: Vec<MetricExemplar>,
}

/// A metric's value.
#[derive(Clone, Debug)]
// Nearly all values are the large variant, in a list; a box for each would be one more allocation that can fail.
#[allow(clippy::large_enum_variant)]
pub enum Value {
    /// The value of a counter.
    Counter(u64),
    /// The value of a gauge.
    Gauge(f64),
    /// The observations of a histogram.
    Histogram(Distribution),
}

/// Names and values, sorted by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Labels {
    labels: Vec<Label>,
    /// As text, with a comma after each label: most of what is written is labels.
    listed: String,
}

/// A label's name as given, its name for Prometheus, and its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Label {
    /// First, because labels are sorted by it; two labels with the same plain name are refused.
    pub(super) plain_name: String,
    pub(super) name: String,
    pub(super) value: String,
}

impl Labels {
    /// Refuses names that are not allowed or occur twice.
    #[inline(never)]
    pub(super) fn new(given: &[(&str, &str)]) -> Result<Labels, MetricError> {
        let mut labels = Vec::new();
        for &(name, value) in given {
            let plain_name = name::plain(name)?;
            if !name::is_label(&plain_name) {
                refuse!(
                    "the name of a label must have letters, digits, underscores, dots, hyphens and slashes, begin \
                     with neither a digit nor two underscores, and not be \"le\"; got {name:?}"
                );
            }
            push(&mut labels, Label { plain_name, name: text(name)?, value: text(value)? })?;
        }
        labels.sort_unstable();
        if let Some([one, other]) = labels.array_windows().find(|[a, b]| a.plain_name == b.plain_name) {
            refuse!(
                "labels must have different names, and dots, hyphens and slashes are underscores to Prometheus; got \
                 {:?} and {:?}",
                one.name,
                other.name
            );
        }
        let listed = text(fmt::from_fn(|f| {
            labels.iter().try_for_each(|label: &Label| {
                write!(f, "{}=\"{}\",", label.plain_name, escaped(&label.value, true))
            })
        }))?;
        Ok(Labels { labels, listed })
    }

    /// As text, with a comma after each label.
    pub(super) fn listed(&self) -> &str {
        &self.listed
    }
}

impl core::ops::Deref for Labels {
    type Target = [Label];

    fn deref(&self) -> &[Label] {
        &self.labels
    }
}

impl Family {
    /// Whether expositions of the two families would share a name.
    pub(super) fn clashes(&self, plain_name: &str, kind: MetricKind) -> bool {
        name::clash((&self.plain_name, self.kind), (plain_name, kind))
    }

    /// The difference to an earlier exposition, for formats that need differences. It contains the counts of each
    /// metric since `earlier`. A metric that was not there, or whose counts decreased, has all its counts and begins at
    /// its creation. Gauges are unchanged. Pass it on to [`write_otlp`](super::write_otlp) with the time of the earlier
    /// one.
    pub fn since(families: &[Family], earlier: &[Family]) -> Vec<Family> {
        let since = |family: &Family| {
            let mut before = earlier
                .iter()
                .find(|before| before.name == family.name && before.kind == family.kind)
                .map_or(&[][..], |before| &before.points);
            let points = family.points.iter().map(|point| {
                // Usually it follows the previous one, because metrics keep their order.
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
    /// The difference to an earlier point, which it begins at; without an earlier one, it begins at its creation.
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
