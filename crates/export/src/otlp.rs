//! OpenTelemetry's protocol, OTLP: one `ExportMetricsServiceRequest` in Protocol Buffers, with exponential histograms.

use super::distribution::Distribution;
use super::exemplar::{MetricExemplar, latest};
use super::exponential::{Numbered, ZERO_THRESHOLD, coarser};
use super::family::{Family, Label, MetricKind, Point, Value};
use super::output::Output;
use super::text::COUNTERS_BESIDE;

/// The parts of a request besides its metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Otlp<'a> {
    /// When the metrics were taken, in nanoseconds since 1970.
    pub time_unix_nanos: u64,
    /// For differences (delta temporality), which [`Family::since`] makes: when the earlier metrics were taken. `None`
    /// for cumulative metrics, each of which begins at its creation.
    pub since_unix_nanos: Option<u64>,
    /// Attributes of the resource: `service.name` and others.
    pub resource: &'a [(&'a str, &'a str)],
}

const DELTA: u64 = 1;
const CUMULATIVE: u64 = 2;

/// OTLP lists all buckets between the counts, a byte per zero: at most this many for each bucket that may have a count.
const ZEROS: usize = 16;

/// Writes a request into memory as [`Registry::encode`](super::Registry::encode) does, and returns its length.
pub fn write_otlp(families: &[Family], about: &Otlp, bytes: &mut [u8]) -> usize {
    let length = Output::length_of(|out| write(families, about, out));
    if let Some(bytes) = bytes.get_mut(..length) {
        write(families, about, &mut Output::into(bytes));
    }
    length
}

pub(super) fn write(families: &[Family], about: &Otlp, out: &mut Output) {
    out.message(1, |out| {
        out.message(1, |out| {
            about.resource.iter().for_each(|&(key, value)| write_attribute(1, key, value, out))
        });
        out.message(2, |out| {
            out.message(1, |out| {
                out.text(1, "picollo");
                out.text(2, env!("CARGO_PKG_VERSION"));
            });
            families.iter().for_each(|family| write_family(family, about, out));
        });
    });
}

fn write_family(family: &Family, about: &Otlp, out: &mut Output) {
    out.message(2, |out| {
        out.text(1, &family.name);
        out.text(2, &family.help);
        out.text(3, ucum(&family.unit));
        match family.kind {
            MetricKind::Gauge => out.message(5, |out| write_points(family, about, out)),
            MetricKind::Counter => write_sum(about, out, |out| write_points(family, about, out)),
            MetricKind::Histogram | MetricKind::Summary => out.message(10, |out| {
                write_points(family, about, out);
                out.uint(2, about.temporality());
            }),
        }
    });
    for beside in COUNTERS_BESIDE.iter().filter(|beside| family.has_beside(beside)) {
        out.message(2, |out| {
            out.message(1, |out| {
                [&family.name, "_", beside.name].iter().for_each(|part| out.put(part.as_bytes()))
            });
            out.text(2, beside.help);
            write_sum(about, out, |out| {
                for (point, distribution) in family.distributions() {
                    out.message(1, |out| write_number(point, about, (beside.count)(distribution), 1.0, out));
                }
            });
        });
    }
}

fn write_sum(about: &Otlp, out: &mut Output, points: impl Fn(&mut Output)) {
    out.message(7, |out| {
        points(out);
        out.uint(2, about.temporality());
        out.uint(3, 1);
    });
}

fn write_points(family: &Family, about: &Otlp, out: &mut Output) {
    for point in &family.points {
        out.message(1, |out| match &point.value {
            Value::Counter(count) => {
                write_number(point, about, *count, point.divisor, out);
                write_exemplars(5, latest(point.exemplars.iter()), out);
            }
            Value::Gauge(value) => {
                write_attributes(7, point, out);
                out.fixed64(3, about.time_unix_nanos);
                out.double(4, value / point.divisor);
            }
            Value::Histogram(distribution) => write_histogram(point, distribution, about, out),
        });
    }
}

fn write_number(point: &Point, about: &Otlp, count: u64, divisor: f64, out: &mut Output) {
    write_attributes(7, point, out);
    about.write_times(point, out);
    match i64::try_from(count) {
        Ok(_) if divisor == 1.0 => out.fixed64(6, count),
        _ => out.double(4, count as f64 / divisor),
    }
}

fn write_histogram(point: &Point, distribution: &Distribution, about: &Otlp, out: &mut Output) {
    let exponential = &distribution.exponential;
    let (positive, negative) = (&*exponential.positive, &*exponential.negative);
    let room = distribution.max_buckets().saturating_mul(ZEROS);
    let mut by = 0;
    while width(positive, by) + width(negative, by) > room && exponential.schema - (by as i32) > -4 {
        by += 1;
    }
    write_attributes(1, point, out);
    about.write_times(point, out);
    out.fixed64(4, distribution.total);
    if !distribution.has_negative() {
        out.double(5, distribution.sum);
    }
    out.sint(6, i64::from(exponential.schema) - i64::from(by));
    out.fixed64(7, exponential.zero);
    write_buckets(8, positive, by, out);
    write_buckets(9, negative, by, out);
    write_exemplars(11, &point.exemplars, out);
    if let Some((min, max)) = distribution.range() {
        out.double(12, min);
        out.double(13, max);
    }
    out.double(14, ZERO_THRESHOLD);
}

/// The number of buckets from the first to the last.
fn width(numbered: &[Numbered], by: u32) -> usize {
    match numbered {
        [] => 0,
        [first, .., last] => (coarser(last.0, by) - coarser(first.0, by)) as usize + 1,
        [_] => 1,
    }
}

fn write_buckets(field: u32, numbered: &[Numbered], by: u32, out: &mut Output) {
    let Some(first) = numbered.first() else { return };
    let first = coarser(first.0, by);
    out.message(field, |out| {
        // OpenTelemetry's number is one below Prometheus'.
        out.sint(1, i64::from(first) - 1);
        out.message(2, |out| {
            let mut next = first;
            for run in numbered.chunk_by(|a, b| coarser(a.0, by) == coarser(b.0, by)) {
                let number = coarser(run[0].0, by);
                out.zeros((number - next) as usize);
                out.varint(run.iter().map(|bucket| bucket.1).sum());
                next = number + 1;
            }
        });
    });
}

impl Otlp<'_> {
    fn temporality(&self) -> u64 {
        if self.since_unix_nanos.is_some() { DELTA } else { CUMULATIVE }
    }

    /// Writes the start time, if it is known, and the time.
    fn write_times(&self, point: &Point, out: &mut Output) {
        let start = match (point.created_unix_nanos, self.since_unix_nanos) {
            // A metric that was not in the earlier copy, or has decreased, begins at its own creation.
            (0, Some(since)) => since,
            (created, _) => created,
        };
        if start != 0 {
            out.fixed64(2, start);
        }
        out.fixed64(3, self.time_unix_nanos);
    }
}

fn write_attributes(field: u32, point: &Point, out: &mut Output) {
    point.labels.iter().for_each(|label| write_attribute(field, &label.name, &label.value, out));
}

fn write_attribute(field: u32, key: &str, value: &str, out: &mut Output) {
    out.message(field, |out| {
        out.text(1, key);
        // An empty text is still a value, so this writes it.
        out.message(2, |out| out.bytes(1, value.as_bytes()));
    });
}

/// Writes exemplars; labels with the identifiers of their trace and span go into fields.
fn write_exemplars<'a>(
    field: u32,
    exemplars: impl IntoIterator<Item = &'a MetricExemplar>,
    out: &mut Output,
) {
    for exemplar in exemplars {
        out.message(field, |out| {
            out.fixed64(2, exemplar.unix_nanos);
            out.double(3, exemplar.value);
            for label in exemplar.labels.iter() {
                write_exemplar_label(label, out);
            }
        });
    }
}

fn write_exemplar_label(label: &Label, out: &mut Output) {
    let hex = |length: usize| {
        let is_hex = label.value.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u128::from_str_radix(&label.value, 16).ok()?;
        (is_hex && label.value.len() == length).then(|| number.to_be_bytes())
    };
    match (&*label.name, hex(16), hex(32)) {
        ("span_id", Some(span), _) => out.bytes(4, &span[8..]),
        ("trace_id", _, Some(trace)) => out.bytes(5, &trace),
        _ => write_attribute(7, &label.name, &label.value, out),
    }
}

/// A unit in OpenTelemetry's notation, if that differs.
fn ucum(unit: &str) -> &str {
    match unit {
        "seconds" => "s",
        "milliseconds" => "ms",
        "microseconds" => "us",
        "nanoseconds" => "ns",
        "minutes" => "min",
        "hours" => "h",
        "days" => "d",
        "bytes" => "By",
        "kibibytes" => "KiBy",
        "mebibytes" => "MiBy",
        "gibibytes" => "GiBy",
        "kilobytes" => "kBy",
        "megabytes" => "MBy",
        "gigabytes" => "GBy",
        "bits" => "bit",
        "meters" => "m",
        "volts" => "V",
        "amperes" => "A",
        "joules" => "J",
        "watts" => "W",
        "grams" => "g",
        "celsius" => "Cel",
        "hertz" => "Hz",
        "ratio" => "1",
        "percent" => "%",
        other => other,
    }
}
