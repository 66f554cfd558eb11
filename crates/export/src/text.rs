//! Text formats: OpenMetrics 1.0 and Prometheus 0.0.4.

use core::fmt::{self, Display, Write, from_fn};

use super::distribution::Distribution;
use super::exemplar::{MetricExemplar, latest};
use super::family::{Family, Labels, MetricKind, Point, Value};
use super::number::Number;

/// The two text formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    OpenMetrics,
    /// It has no units, exemplars, creation times or end mark.
    Prometheus,
}

/// Writes metrics. Fails only if `out` fails.
///
/// Every histogram has its buckets, `_count`, `_sum` and, if it is known, `_created`. With negative bounds or values,
/// OpenMetrics has no `_count` and `_sum`. If observations were lost or not finite, a counter with the name of the
/// histogram and `_lost` or `_not_finite` reports how many; no other sample includes them.
pub(super) fn write(families: &[Family], dialect: Dialect, out: &mut (impl Write + ?Sized)) -> fmt::Result {
    for family in families {
        Writer { name: &family.plain_name, dialect, out }.write_family(family)?;
    }
    if dialect == Dialect::OpenMetrics { out.write_str("# EOF\n") } else { Ok(()) }
}

/// Writes a family of this name.
struct Writer<'a, W: ?Sized> {
    name: &'a str,
    dialect: Dialect,
    out: &'a mut W,
}

impl<W: Write + ?Sized> Writer<'_, W> {
    fn write_family(&mut self, family: &Family) -> fmt::Result {
        let (name, dialect) = (self.name, self.dialect);
        // The older format has only samples.
        let total = if dialect == Dialect::Prometheus { "_total" } else { "" };
        let suffix = if family.kind == MetricKind::Counter { total } else { "" };
        writeln!(self.out, "# TYPE {name}{suffix} {}", family.kind.name())?;
        if dialect == Dialect::OpenMetrics && !family.unit.is_empty() {
            writeln!(self.out, "# UNIT {name} {}", family.unit)?;
        }
        if !family.help.is_empty() {
            let help = escaped(&family.help, dialect == Dialect::OpenMetrics);
            writeln!(self.out, "# HELP {name}{suffix} {help}")?;
        }
        for point in &family.points {
            let labels = braced(&point.labels);
            match &point.value {
                Value::Histogram(distribution) if family.kind == MetricKind::Summary => {
                    for (text, _, thousandths) in QUANTILES {
                        let (labels, value) = (point.labels.listed(), distribution.quantile(thousandths));
                        writeln!(self.out, "{name}{{{labels}quantile=\"{text}\"}} {}", Number(value))?;
                    }
                    self.write_totals(point, distribution)?;
                }
                Value::Histogram(distribution) => self.write_histogram(point, distribution)?,
                Value::Counter(count) => {
                    write!(self.out, "{name}_total{labels} ")?;
                    match point.divisor {
                        1.0 => write!(self.out, "{count}")?,
                        divisor => write!(self.out, "{}", Number(*count as f64 / divisor))?,
                    }
                    self.write_exemplar(latest(point.exemplars.iter()))?;
                    self.write_created(point)?;
                }
                Value::Gauge(value) => {
                    writeln!(self.out, "{name}{labels} {}", Number(value / point.divisor))?;
                }
            }
        }
        for beside in COUNTERS_BESIDE.iter().filter(|beside| family.has_beside(beside)) {
            let what = beside.name;
            writeln!(self.out, "# TYPE {name}_{what}{total} counter")?;
            writeln!(self.out, "# HELP {name}_{what}{total} {}", beside.help)?;
            for (point, distribution) in family.distributions() {
                let (labels, count) = (braced(&point.labels), (beside.count)(distribution));
                writeln!(self.out, "{name}_{what}_total{labels} {count}")?;
            }
        }
        Ok(())
    }

    fn write_histogram(&mut self, point: &Point, distribution: &Distribution) -> fmt::Result {
        let mut lower = f64::NEG_INFINITY;
        let bounds = distribution.bounds.iter().zip(&distribution.bound_texts);
        let bounds = bounds.map(|(&bound, text)| (bound, &**text)).chain([(f64::INFINITY, "+Inf")]);
        for ((bound, text), count) in bounds.zip(distribution.cumulative.iter().chain([&distribution.total]))
        {
            for part in [self.name, "_bucket{", point.labels.listed(), "le=\"", text, "\"} "] {
                self.out.write_str(part)?;
            }
            write!(self.out, "{count}")?;
            self.write_exemplar(point.exemplar_in(lower, bound))?;
            lower = bound;
        }
        self.write_totals(point, distribution)
    }

    fn write_totals(&mut self, point: &Point, distribution: &Distribution) -> fmt::Result {
        let (name, labels) = (self.name, braced(&point.labels));
        if self.dialect == Dialect::Prometheus || !distribution.has_negative() {
            writeln!(self.out, "{name}_count{labels} {}", distribution.total)?;
            writeln!(self.out, "{name}_sum{labels} {}", Number(distribution.sum))?;
        }
        self.write_created(point)
    }

    fn write_created(&mut self, point: &Point) -> fmt::Result {
        if self.dialect == Dialect::Prometheus || point.created_unix_nanos == 0 {
            return Ok(());
        }
        let (labels, created) = (braced(&point.labels), time(point.created_unix_nanos));
        writeln!(self.out, "{}_created{labels} {created}", self.name)
    }

    /// Ends the line, with an exemplar if there is one.
    fn write_exemplar(&mut self, exemplar: Option<&MetricExemplar>) -> fmt::Result {
        if let Some(exemplar) = exemplar.filter(|_| self.dialect == Dialect::OpenMetrics) {
            let empty = if exemplar.labels.is_empty() { "{}" } else { "" };
            write!(self.out, " # {empty}{} {}", braced(&exemplar.labels), Number(exemplar.value))?;
            if exemplar.unix_nanos != 0 {
                write!(self.out, " {}", time(exemplar.unix_nanos))?;
            }
        }
        self.out.write_str("\n")
    }
}

/// A counter beside a histogram.
pub(super) struct CounterBeside {
    /// The end of its name.
    pub(super) name: &'static str,
    /// The help text.
    pub(super) help: &'static str,
    pub(super) count: fn(&Distribution) -> u64,
}

pub(super) const COUNTERS_BESIDE: [CounterBeside; 2] = [
    CounterBeside {
        name: "lost",
        help: "Observations that could not be counted",
        count: |distribution| distribution.lost,
    },
    CounterBeside {
        name: "not_finite",
        help: "Observations that are infinite or not a number",
        count: |distribution| distribution.not_finite,
    },
];

impl Family {
    /// The metrics that are histograms.
    pub(super) fn distributions(&self) -> impl Iterator<Item = (&Point, &Distribution)> {
        self.points.iter().filter_map(|point| match &point.value {
            Value::Histogram(distribution) => Some((point, distribution)),
            _ => None,
        })
    }

    /// Whether to write a counter beside them: yes, if any of them has a count that is not zero.
    pub(super) fn has_beside(&self, beside: &CounterBeside) -> bool {
        self.distributions().any(|(_, distribution)| (beside.count)(distribution) != 0)
    }
}

/// The quantiles of a summary: as written, and in thousandths.
pub(super) const QUANTILES: [(&str, f64, u32); 4] =
    [("0.5", 0.5, 500), ("0.9", 0.9, 900), ("0.99", 0.99, 990), ("0.999", 0.999, 999)];

impl Point {
    /// The latest exemplar above one value and up to another.
    #[inline]
    pub(super) fn exemplar_in(&self, lower: f64, upper: f64) -> Option<&MetricExemplar> {
        // Called for each bucket, and most metrics have no exemplars.
        if self.exemplars.is_empty() { None } else { self.search_exemplars(lower, upper) }
    }

    #[inline(never)]
    fn search_exemplars(&self, lower: f64, upper: f64) -> Option<&MetricExemplar> {
        latest(self.exemplars.iter().filter(|exemplar| lower < exemplar.value && exemplar.value <= upper))
    }
}

/// Seconds since 1970, with milliseconds, the resolution that Prometheus keeps.
fn time(unix_nanos: u64) -> impl Display {
    from_fn(move |f| {
        write!(f, "{}.{:03}", unix_nanos / 1_000_000_000, unix_nanos % 1_000_000_000 / 1_000_000)
    })
}

/// All labels in braces; nothing if there are no labels.
pub(super) fn braced(labels: &Labels) -> impl Display {
    from_fn(|f| match labels.listed().strip_suffix(',') {
        Some(listed) => ["{", listed, "}"].iter().try_for_each(|part| f.write_str(part)),
        None => Ok(()),
    })
}

/// A text on one line, with its quotes escaped or not.
pub(super) fn escaped(text: &str, quotes: bool) -> impl Display {
    from_fn(move |f| {
        let mut rest = text;
        let is_special = |c: char| c == '\\' || c == '\n' || (quotes && c == '"');
        while let Some(at) = rest.find(is_special) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'\\' => "\\\\",
                b'\n' => "\\n",
                _ => "\\\"",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    })
}
