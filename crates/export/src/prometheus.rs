//! Prometheus' Protocol Buffers: messages `io.prometheus.client.MetricFamily`, each after its length.
//!
//! A native metric has exponential buckets, and its classic ones as well: scrapers take the former and drop the latter
//! unless they are configured to keep both, and Prometheus 2.42 finds exemplars only in the classic ones.

use super::distribution::Distribution;
use super::exemplar::{MetricExemplar, latest};
use super::exponential::{Exponential, Numbered, ZERO_THRESHOLD};
use super::family::{Family, Labels, MetricKind, Point, Value};
use super::output::Output;
use super::text::{COUNTERS_BESIDE, CounterBeside, QUANTILES};
use picollo_core::seam::zigzag;

const COUNTER: u64 = 0;
const GAUGE: u64 = 1;
const SUMMARY: u64 = 2;
const HISTOGRAM: u64 = 4;

pub(super) fn write(families: &[Family], out: &mut Output) {
    for family in families {
        out.delimited(|out| write_family(family, out));
        for beside in COUNTERS_BESIDE.iter().filter(|beside| family.has_beside(beside)) {
            out.delimited(|out| write_beside(family, beside, out));
        }
    }
}

fn write_family(family: &Family, out: &mut Output) {
    let (kind, suffix) = match family.kind {
        MetricKind::Counter => (COUNTER, "_total"),
        MetricKind::Gauge => (GAUGE, ""),
        MetricKind::Histogram => (HISTOGRAM, ""),
        MetricKind::Summary => (SUMMARY, ""),
    };
    write_head(out, &[&family.plain_name, suffix], &family.help, kind);
    for point in &family.points {
        out.message(4, |out| {
            write_labels(&point.labels, out);
            match &point.value {
                Value::Gauge(value) => out.message(2, |out| out.double(1, value / point.divisor)),
                Value::Counter(count) => out.message(3, |out| {
                    out.double(1, *count as f64 / point.divisor);
                    if let Some(exemplar) = latest(point.exemplars.iter()) {
                        out.message(2, |out| write_exemplar(exemplar, out));
                    }
                    write_time(3, point.created_unix_nanos, out);
                }),
                Value::Histogram(distribution) if family.kind == MetricKind::Summary => {
                    out.message(4, |out| write_summary(point, distribution, out));
                }
                Value::Histogram(distribution) => {
                    out.message(7, |out| write_histogram(point, distribution, out));
                }
            }
        });
    }
    out.text(5, &family.unit);
}

fn write_beside(family: &Family, beside: &CounterBeside, out: &mut Output) {
    write_head(out, &[&family.plain_name, "_", beside.name, "_total"], beside.help, COUNTER);
    for (point, distribution) in family.distributions() {
        out.message(4, |out| {
            write_labels(&point.labels, out);
            out.message(3, |out| out.double(1, (beside.count)(distribution) as f64));
        });
    }
}

fn write_head(out: &mut Output, name: &[&str], help: &str, kind: u64) {
    out.message(1, |out| name.iter().for_each(|part| out.put(part.as_bytes())));
    // A message that omits this field is a message of the same type.
    out.text(2, help);
    out.uint(3, kind);
}

fn write_labels(labels: &Labels, out: &mut Output) {
    for label in labels.iter() {
        out.message(1, |out| {
            out.text(1, &label.plain_name);
            out.text(2, &label.value);
        });
    }
}

fn write_time(field: u32, unix_nanos: u64, out: &mut Output) {
    if unix_nanos != 0 {
        out.message(field, |out| {
            out.uint(1, unix_nanos / 1_000_000_000);
            out.uint(2, unix_nanos % 1_000_000_000);
        });
    }
}

fn write_exemplar(exemplar: &MetricExemplar, out: &mut Output) {
    write_labels(&exemplar.labels, out);
    out.double(2, exemplar.value);
    write_time(3, exemplar.unix_nanos, out);
}

fn write_summary(point: &Point, distribution: &Distribution, out: &mut Output) {
    out.uint(1, distribution.total);
    out.double(2, distribution.sum);
    for (_, quantile, thousandths) in QUANTILES {
        out.message(3, |out| {
            out.double(1, quantile);
            out.double(2, distribution.quantile(thousandths));
        });
    }
    write_time(4, point.created_unix_nanos, out);
}

fn write_histogram(point: &Point, distribution: &Distribution, out: &mut Output) {
    out.uint(1, distribution.total);
    out.double(2, distribution.sum);
    let bounds = distribution.bounds.iter().copied().chain([f64::INFINITY]);
    let mut lower = f64::NEG_INFINITY;
    for (bound, &count) in bounds.zip(distribution.cumulative.iter().chain([&distribution.total])) {
        let exemplar = point.exemplar_in(lower, bound);
        out.message(3, |out| {
            out.uint(1, count);
            out.double(2, bound);
            if let Some(exemplar) = exemplar {
                out.message(3, |out| write_exemplar(exemplar, out));
            }
        });
        lower = bound;
    }
    if point.native {
        write_exponential(&distribution.exponential, out);
    }
    write_time(15, point.created_unix_nanos, out);
    if point.native {
        // Exemplars need a time here.
        for exemplar in point.exemplars.iter().filter(|exemplar| exemplar.unix_nanos != 0) {
            out.message(16, |out| write_exemplar(exemplar, out));
        }
    }
}

fn write_exponential(exponential: &Exponential, out: &mut Output) {
    out.sint(5, exponential.schema.into());
    out.double(6, ZERO_THRESHOLD);
    out.uint(7, exponential.zero);
    for (spans, deltas, numbered) in [(9, 10, &exponential.negative), (12, 13, &exponential.positive)] {
        write_spans(spans, numbered, out);
        if !numbered.is_empty() {
            out.message(deltas, |out| write_deltas(numbered, out));
        }
    }
}

/// Runs of neighbors: the distance from the end of the previous one, or from bucket zero, and the length.
fn write_spans(field: u32, numbered: &[Numbered], out: &mut Output) {
    let mut end = 0;
    for run in numbered.chunk_by(|a, b| b.0 == a.0 + 1) {
        let (offset, length) = (run[0].0 - end, run.len());
        out.message(field, |out| {
            out.sint(1, offset.into());
            out.uint(2, length as u64);
        });
        end = run[0].0 + length as i32;
    }
}

fn write_deltas(numbered: &[Numbered], out: &mut Output) {
    let mut before = 0;
    for &(_, count) in numbered {
        out.varint(zigzag(count as i64 - before));
        before = count as i64;
    }
}
