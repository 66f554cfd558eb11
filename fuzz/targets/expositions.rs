//! Registries of anything: names that are accepted or refused, values, divisors and bounds. Then every format is
//! written in two passes of the same length, in Prometheus' protocol as complete messages, and differences are taken.
//!
//! Input: lines. First the metric's name, unit, label, help; then divisor, limit of buckets, values and bounds as
//! words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_core::counters::Metric;
use picollo_core::doubles::{DoubleOptions, SharedDoubleHistogram};
use picollo_core::{Options, SharedHistogram};
use picollo_export::{Exposition, Family, MetricExemplar, Otlp, Registry, write_otlp};

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let split = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let text = String::from_utf8_lossy(&data[..split]);
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (name, unit, label, value, help) = (line(), line(), line(), line(), line());
    let words: Vec<u64> = data[split..]
        .chunks(8)
        .map(|chunk| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let labels = [(label, value)];
    let metric = Metric {
        name,
        help,
        unit,
        labels: if label.is_empty() { &[] } else { &labels },
        divisor: f64::from_bits(word(0)),
        native: word(1) & 1 != 0,
        summary: word(1) & 2 != 0,
        max_buckets: (word(1) >> 2) as u32,
        created_unix_nanos: word(2),
        ..Metric::default()
    };
    let values = words.get(3..).unwrap_or_default();
    let histogram = SharedHistogram::create(&Options { relative_error: 0.01, ..Options::default() }).unwrap();
    let doubles =
        SharedDoubleHistogram::create(&DoubleOptions { relative_error: 0.1, ..DoubleOptions::default() })
            .unwrap();
    let mut registry = Registry::new();
    let bounds: Vec<f64> = values.iter().map(|&value| f64::from_bits(value)).collect();
    let added = [
        registry.add(&histogram, &metric, values).or_else(|_| registry.add(&histogram, &metric, &[])),
        registry.add_double(&doubles, &Metric { name: "skew", unit: "", ..metric }, &bounds),
        registry.add_counter(&Metric { name: "hits", unit: "", ..metric }).map(|(id, counter)| {
            counter.add(word(3));
            id
        }),
    ];
    for &value in values {
        histogram.record(value);
        doubles.record(f64::from_bits(value));
    }
    for id in added.into_iter().flatten() {
        let (trace, span) =
            ((u128::from(word(5)) << 64 | u128::from(word(6))).to_be_bytes(), word(7).to_be_bytes());
        let exemplar = MetricExemplar::with_trace(f64::from_bits(word(3)), word(4), trace, span, &labels);
        // An exemplar that is too large after the division is refused.
        let _ = registry.set_exemplars(id, exemplar.into_iter().collect());
    }
    registry.update(word(2)).unwrap();
    for format in 0..4 {
        let format = Exposition::try_from(format).unwrap();
        let bytes = registry.encode_to_vec(format).unwrap();
        match format {
            Exposition::OpenMetrics => assert!(bytes.ends_with(b"# EOF\n")),
            Exposition::PrometheusProtobuf => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let length = varint(&mut rest) as usize;
                    rest = &rest[length..];
                }
            }
            _ => {}
        }
    }
    let nothing = Family::since(registry.families(), registry.families());
    let about = Otlp { since_unix_nanos: Some(1), resource: &labels, ..Otlp::default() };
    assert_eq!(write_otlp(&nothing, &about, &mut []), write_otlp(&nothing, &about, &mut vec![0; 1 << 16]));
});
