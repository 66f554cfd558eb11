//! The cost of a scrape of a hundred histograms, in each format: an update, the length, and the bytes.
//!
//!     cargo run --release -p picollo-benches --bin metrics
//!     metrics PATH TIMES          repeats it for 10 histograms; `ci/cost.sh instructions` counts its instructions
//!
//! Each histogram has 10,000 recorded values in 12 powers of two. The results are medians of rounds in which the
//! formats alternate, in CPU time if the system reports it.

use std::hint::black_box;

use picollo_benches::median;
use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_export::{Exposition, Registry};

const HISTOGRAMS: usize = 100;
const VALUES: usize = 10_000;
const ROUNDS: usize = 51;

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

/// Milliseconds that this thread has run.
#[cfg(target_os = "linux")]
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the variable is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Milliseconds since an arbitrary moment.
#[cfg(not(target_os = "linux"))]
fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
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
            encode(&mut registry, format, &mut bytes);
        }
    }
}

/// Requests the length, and then the bytes.
fn encode(registry: &mut Registry, format: Exposition, bytes: &mut Vec<u8>) -> usize {
    let length = registry.encode(format, &mut []);
    bytes.resize(length, 0);
    registry.encode(format, bytes);
    black_box(bytes);
    length
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, times] = &arguments[..] {
        return expose(path, times.parse().unwrap());
    }
    for (name, relative_error, max, limit) in [
        ("1 % from 1 ns to an hour", 0.01, 3_600_000_000_000, 2.0),
        ("0.1 % from 1 to 1e9", 0.001, 1_000_000_000, 6.0),
    ] {
        let options = Options { relative_error, min_trackable: 1, max_trackable: max, ..Options::default() };
        let mut registry = registry(&options, HISTOGRAMS);
        let (mut bytes, mut times) = (Vec::new(), vec![Vec::new(); FORMATS.len() + 1]);
        let mut lengths = [0; FORMATS.len()];
        for _ in 0..ROUNDS {
            for (at, (_, format)) in FORMATS.into_iter().enumerate() {
                let start = now();
                registry.update(1_700_000_060_000_000_000).unwrap();
                let updated = now();
                lengths[at] = encode(&mut registry, format, &mut bytes);
                times[at].push(now() - start);
                times[FORMATS.len()].push(updated - start);
            }
        }
        println!("\n{HISTOGRAMS} histograms, {name}: at most {limit} ms\n");
        println!("| | ms | bytes |\n| :-- | --: | --: |");
        for (at, (format, _)) in FORMATS.iter().enumerate() {
            println!("| {format} | {:.2} | {} |", median(&mut times[at]), lengths[at]);
        }
        println!("| the update alone | {:.2} | |", median(&mut times[FORMATS.len()]));
    }
}
