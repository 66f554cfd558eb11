//! Text formats: OpenMetrics 1.0 and Prometheus 0.0.4.

use core::fmt::{self, Display, Write};

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
        write_family(family, dialect, out)?;
    }
    if dialect == Dialect::OpenMetrics { out.write_str("# EOF\n") } else { Ok(()) }
}

fn write_family(family: &Family, dialect: Dialect, out: &mut (impl Write + ?Sized)) -> fmt::Result {
    let name = &*family.plain_name;
    // The older format has only samples.
    let has_suffix = dialect == Dialect::Prometheus && family.kind == MetricKind::Counter;
    let suffix = if has_suffix { "_total" } else { "" };
    writeln!(out, "# TYPE {name}{suffix} {}", family.kind.name())?;
    if dialect == Dialect::OpenMetrics && !family.unit.is_empty() {
        writeln!(out, "# UNIT {name} {}", family.unit)?;
    }
    if !family.help.is_empty() {
        let quotes = dialect == Dialect::OpenMetrics;
        writeln!(out, "# HELP {name}{suffix} {}", Escaped { text: &family.help, quotes })?;
    }
    for point in &family.points {
        match &point.value {
            Value::Histogram(distribution) if family.kind == MetricKind::Summary => {
                write_quantiles(name, point, distribution, out)?;
                write_totals(name, point, distribution, dialect, out)?;
            }
            Value::Histogram(distribution) => write_histogram(name, point, distribution, dialect, out)?,
            Value::Counter(count) => {
                write!(out, "{name}_total{} {}", Braced(&point.labels), Count(*count, point.divisor))?;
                write_exemplar(latest(point.exemplars.iter()), dialect, out)?;
                write_created(name, point, dialect, out)?;
            }
            Value::Gauge(value) => {
                writeln!(out, "{name}{} {}", Braced(&point.labels), Number(value / point.divisor))?;
            }
        }
    }
    for beside in COUNTERS_BESIDE.iter().filter(|beside| family.has_beside(beside)) {
        let what = beside.name;
        let suffix = if dialect == Dialect::Prometheus { "_total" } else { "" };
        writeln!(out, "# TYPE {name}_{what}{suffix} counter")?;
        writeln!(out, "# HELP {name}_{what}{suffix} {}", beside.help)?;
        for (point, distribution) in family.distributions() {
            writeln!(out, "{name}_{what}_total{} {}", Braced(&point.labels), (beside.count)(distribution))?;
        }
    }
    Ok(())
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

fn write_histogram(
    name: &str,
    point: &Point,
    distribution: &Distribution,
    dialect: Dialect,
    out: &mut (impl Write + ?Sized),
) -> fmt::Result {
    let mut lower = f64::NEG_INFINITY;
    let bounds =
        distribution.bounds.iter().zip(&distribution.bound_texts).map(|(&bound, text)| (bound, &**text));
    let bounds = bounds.chain([(f64::INFINITY, "+Inf")]);
    for ((bound, text), count) in bounds.zip(distribution.cumulative.iter().chain([&distribution.total])) {
        for part in [name, "_bucket{", point.labels.listed(), "le=\"", text, "\"} "] {
            out.write_str(part)?;
        }
        write!(out, "{count}")?;
        write_exemplar(point.exemplar_in(lower, bound), dialect, out)?;
        lower = bound;
    }
    write_totals(name, point, distribution, dialect, out)
}

/// The quantiles of a summary: as written, and in thousandths.
pub(super) const QUANTILES: [(&str, f64, u32); 4] =
    [("0.5", 0.5, 500), ("0.9", 0.9, 900), ("0.99", 0.99, 990), ("0.999", 0.999, 999)];

fn write_quantiles(
    name: &str,
    point: &Point,
    distribution: &Distribution,
    out: &mut (impl Write + ?Sized),
) -> fmt::Result {
    for (text, _, thousandths) in QUANTILES {
        let value = Number(distribution.quantile(thousandths));
        writeln!(out, "{name}{{{}quantile=\"{text}\"}} {value}", point.labels.listed())?;
    }
    Ok(())
}

fn write_totals(
    name: &str,
    point: &Point,
    distribution: &Distribution,
    dialect: Dialect,
    out: &mut (impl Write + ?Sized),
) -> fmt::Result {
    let labels = Braced(&point.labels);
    if dialect == Dialect::Prometheus || !distribution.has_negative() {
        writeln!(out, "{name}_count{labels} {}", distribution.total)?;
        writeln!(out, "{name}_sum{labels} {}", Number(distribution.sum))?;
    }
    write_created(name, point, dialect, out)
}

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

fn write_created(
    name: &str,
    point: &Point,
    dialect: Dialect,
    out: &mut (impl Write + ?Sized),
) -> fmt::Result {
    if dialect == Dialect::Prometheus || point.created_unix_nanos == 0 {
        return Ok(());
    }
    writeln!(out, "{name}_created{} {}", Braced(&point.labels), Time(point.created_unix_nanos))
}

/// Ends the line, with an exemplar if there is one.
fn write_exemplar(
    exemplar: Option<&MetricExemplar>,
    dialect: Dialect,
    out: &mut (impl Write + ?Sized),
) -> fmt::Result {
    if let Some(exemplar) = exemplar
        && dialect == Dialect::OpenMetrics
    {
        let braced = Braced(&exemplar.labels);
        let empty = if exemplar.labels.is_empty() { "{}" } else { "" };
        write!(out, " # {empty}{braced} {}", Number(exemplar.value))?;
        if exemplar.unix_nanos != 0 {
            write!(out, " {}", Time(exemplar.unix_nanos))?;
        }
    }
    out.write_str("\n")
}

/// Seconds since 1970, with milliseconds, the resolution that Prometheus keeps.
struct Time(u64);

impl Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000_000_000, self.0 % 1_000_000_000 / 1_000_000)
    }
}

/// A counter's value and its divisor.
struct Count(u64, f64);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == 1.0 { write!(f, "{}", self.0) } else { Number(self.0 as f64 / self.1).fmt(f) }
    }
}

/// All labels in braces; nothing if there are no labels.
pub(super) struct Braced<'a>(pub(super) &'a Labels);

impl Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(listed) = self.0.listed().strip_suffix(',') else { return Ok(()) };
        f.write_str("{")?;
        f.write_str(listed)?;
        f.write_str("}")
    }
}

/// A text on one line, with its quotes escaped or not.
pub(super) struct Escaped<'a> {
    pub(super) text: &'a str,
    pub(super) quotes: bool,
}

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text;
        let is_special = |c: char| c == '\\' || c == '\n' || (self.quotes && c == '"');
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
    }
}
