//! The cost of a scrape of a hundred histograms, in each format: an update, the length, and the bytes.
//!
//!     cargo run --release -p picollo-benches --bin metrics
//!     metrics PATH TIMES          repeats it for 10 histograms; `ci/cost.sh instructions` counts its instructions
//!
//! Each histogram has 10,000 recorded values in 12 powers of two.

use std::cell::RefCell;
use std::hint::black_box;

use picollo_benches::{contender, medians, print_table};
use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_export::{Exposition, Registry};

const VALUES: usize = 10_000;

const FORMATS: [(&str, Exposition); 4] = [
    ("OpenMetrics", Exposition::OpenMetrics),
    ("Prometheus text", Exposition::PrometheusText),
    ("Prometheus protobuf", Exposition::PrometheusProtobuf),
    ("OTLP", Exposition::Otlp),
];

fn registry(options: &Options, histograms: usize) -> Registry {
    let mut registry = Registry::new();
    let mut random = 88_172_645_463_325_252u64;
    for number in 0..histograms {
        let histogram = SharedHistogram::create(options).unwrap();
        for _ in 0..VALUES {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // The values are uniform on a logarithmic scale.
            let value = 4096.0 * (12.0 * (random >> 11) as f64 / (1u64 << 53) as f64).exp2();
            histogram.record(value as u64);
        }
        let (number, labels) = (number.to_string(), "GET");
        let metric = Metric {
            name: "request_seconds",
            help: "Time to serve a request",
            unit: "seconds",
            labels: &[("method", labels), ("worker", &number)],
            divisor: 1e9,
            created_unix_nanos: 1_700_000_000_000_000_000,
            native: true,
            ..Metric::default()
        };
        registry.add(&histogram, &metric, &[]).unwrap();
    }
    registry
}

/// `expose-update`, or `expose-` and a format, of ten histograms.
fn expose(path: &str, times: usize) {
    let options = Options {
        relative_error: 0.01,
        min_trackable: 1,
        max_trackable: 3_600_000_000_000,
        ..Options::default()
    };
    let (mut registry, mut bytes) = (registry(&options, 10), Vec::new());
    let format =
        FORMATS.iter().find(|of| path == format!("expose-{}", of.0.to_lowercase().replace(' ', "-")));
    assert!(format.is_some() || path == "expose-update", "{path}");
    for _ in 0..times {
        registry.update(1_700_000_060_000_000_000).unwrap();
        if let Some(&(_, format)) = format {
            let length = registry.encode(format, &mut []);
            bytes.resize(length, 0);
            registry.encode(format, &mut bytes);
            black_box(&bytes);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, times] = &arguments[..] {
        return expose(path, times.parse().unwrap());
    }
    for (name, relative_error, max) in
        [("1 % from 1 ns to an hour", 0.01, 3_600_000_000_000), ("0.1 % from 1 to 1e9", 0.001, 1_000_000_000)]
    {
        let options = Options { relative_error, min_trackable: 1, max_trackable: max, ..Options::default() };
        let registry = &RefCell::new(registry(&options, 100));
        let mut contenders = FORMATS.map(|(name, format)| {
            contender(name, move || {
                let mut registry = registry.borrow_mut();
                registry.update(1_700_000_060_000_000_000).unwrap();
                black_box(registry.encode_to_vec(format).unwrap());
            })
        });
        print_table(&format!("100 histograms, {name}"), "ms", &medians(&mut contenders, 1_000_000, 51));
    }
}
