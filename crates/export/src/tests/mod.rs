use super::*;
use picollo_core::counters::Metric;
use picollo_core::doubles::{DoubleOptions, DoubleSnapshot, SharedDoubleHistogram};
use picollo_core::layouts::Storage;
use picollo_core::{Error, Mode, Options, SharedHistogram};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

mod registry;

fn histogram(options: &Options) -> SharedHistogram {
    SharedHistogram::create(options).unwrap()
}

fn options() -> Options {
    Options { relative_error: 0.01, max_trackable: 100_000, ..Options::default() }
}

fn doubles() -> SharedDoubleHistogram {
    SharedDoubleHistogram::create(&DoubleOptions { relative_error: 0.01, exact: true, ..Default::default() })
        .unwrap()
}

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    registry.write_openmetrics(&mut text).unwrap();
    text
}

fn plain_text(registry: &mut Registry) -> String {
    String::from_utf8(registry.encode_to_vec(Exposition::PrometheusText).unwrap()).unwrap()
}

/// The number in a line with this beginning.
fn sample(text: &str, start: &str) -> f64 {
    let line =
        text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{start} in {text}"));
    line.trim().parse().unwrap()
}

#[test]
fn nothing() {
    assert_eq!(text(&Registry::new()), "# EOF\n");
}

#[test]
fn a_service() {
    let (get, put) = (histogram(&options()), histogram(&Options { min_trackable: 1_000, ..options() }));
    let mut registry = Registry::new();
    let metric = Metric {
        name: "request.seconds",
        help: "Duration of requests,\n\"wall clock\" \\ real",
        unit: "seconds",
        divisor: 1e6,
        ..Metric::default()
    };
    let bounds = [511, 1_023, 10_000, 65_535];
    let labels = [("http.path", "/a\"b\\c\nd"), ("method", "GET")];
    let created_unix_nanos = 1_700_000_000_012_999_999;
    registry.add(&get, &Metric { labels: &labels, created_unix_nanos, ..metric }, &bounds).unwrap();
    registry.add(&put, &Metric { labels: &[("method", "PUT")], ..metric }, &bounds).unwrap();
    for value in [0, 1_000, 1_023, 1_024, 60_000, 65_535, 65_536, 200_000] {
        get.record(value);
        put.record(value);
    }
    registry.update(0).unwrap();
    let expected = "\
# TYPE request_seconds histogram
# UNIT request_seconds seconds
# HELP request_seconds Duration of requests,\\n\\\"wall clock\\\" \\\\ real
request_seconds_bucket{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\",le=\"0.000511\"} 1
request_seconds_bucket{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\",le=\"0.001023\"} 3
request_seconds_bucket{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\",le=\"0.01\"} 4
request_seconds_bucket{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\",le=\"0.065535\"} 6
request_seconds_bucket{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\",le=\"+Inf\"} 8
request_seconds_count{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\"} 8
SUM
request_seconds_created{http_path=\"/a\\\"b\\\\c\\nd\",method=\"GET\"} 1700000000.012
request_seconds_bucket{method=\"PUT\",le=\"0.000511\"} 0
request_seconds_bucket{method=\"PUT\",le=\"0.001023\"} 3
request_seconds_bucket{method=\"PUT\",le=\"0.01\"} 4
request_seconds_bucket{method=\"PUT\",le=\"0.065535\"} 6
request_seconds_bucket{method=\"PUT\",le=\"+Inf\"} 8
request_seconds_count{method=\"PUT\"} 8
SUM
# EOF
";
    let text = text(&registry);
    let lines = text.lines().map(|line| if line.contains("_sum") { "SUM" } else { line });
    assert_eq!(lines.collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
    // Sums add up midpoints, and values just outside the range: 100,352 is the first value above it.
    let truth = (1_000 + 1_023 + 1_024 + 60_000 + 65_535 + 65_536 + 100_352) as f64 / 1e6;
    for (line, smallest) in text.lines().filter(|line| line.contains("_sum")).zip([0.0, 991e-6]) {
        let sum: f64 = line.rsplit_once(' ').unwrap().1.parse().unwrap();
        assert!((sum / (truth + smallest) - 1.0).abs() < 0.01, "{line}");
    }
}

#[test]
fn doubles_are_written_too() {
    let (skew, ratio) = (doubles(), doubles());
    let mut registry = Registry::new();
    let metric = Metric { name: "skew_seconds", unit: "seconds", ..Metric::default() };
    registry.add_double(&skew, &metric, &[-1.0, 0.0, 2.5]).unwrap();
    registry.add_double(&ratio, &Metric { name: "ratio", divisor: 100.0, ..Metric::default() }, &[]).unwrap();
    for value in [-7.5, -1.0, -0.5, 0.0, 2.0, 100.0, f64::NAN, f64::INFINITY] {
        skew.record(value);
    }
    ratio.record_batch(&[0.5, 50.0, 25.0]);
    registry.update(0).unwrap();
    registry.update(0).unwrap();
    let written = text(&registry);
    let start = "\
# TYPE skew_seconds histogram
# UNIT skew_seconds seconds
skew_seconds_bucket{le=\"-1.0\"} 2
skew_seconds_bucket{le=\"0.0\"} 4
skew_seconds_bucket{le=\"2.5\"} 5
skew_seconds_bucket{le=\"+Inf\"} 6
# TYPE skew_seconds_not_finite counter
# HELP skew_seconds_not_finite Observations that are infinite or not a number
skew_seconds_not_finite_total 2
# TYPE ratio histogram
ratio_bucket{le=\"1e-08\"} 0
";
    assert!(written.starts_with(start), "{written}");
    assert_eq!(sample(&written, "ratio_bucket{le=\"0.01\"}"), 1.0);
    assert_eq!(sample(&written, "ratio_sum"), 0.755);
    assert!(written.contains("ratio_count 3\n"));
    // The bounds are not negative, but a value is, so the sum may decrease.
    ratio.record(-1.0);
    registry.update(0).unwrap();
    assert!(!text(&registry).contains("ratio_sum") && !text(&registry).contains("ratio_count"));
    // The update only looked, and left all counts in place.
    let mut snapshot = DoubleSnapshot::new();
    ratio.collect(&mut snapshot).unwrap();
    assert_eq!(snapshot.count(), 4);
}

#[test]
fn lost_counts_are_reported() {
    let base = Options { mode: Mode::Interlocked, storage: Storage::Sparse, ..options() };
    let empty = histogram(&base).footprint() as u64;
    let (full, fine) = (histogram(&Options { max_bytes: empty + 100, ..base }), histogram(&base));
    let mut registry = Registry::new();
    for (histogram, label) in [(&full, "full"), (&fine, "fine")] {
        let metric = Metric { name: "x", labels: &[("which", label)], ..Metric::default() };
        registry.add(histogram, &metric, &[]).unwrap();
        histogram.record_n(5, 3);
    }
    registry.update(0).unwrap();
    let text = text(&registry);
    let end = "# TYPE x_lost counter\n# HELP x_lost Observations that could not be counted\nx_lost_total{which=\"full\"} 3\nx_lost_total{which=\"fine\"} 0\n# EOF\n";
    assert!(text.ends_with(end), "{text}");
    assert!(text.contains("x_count{which=\"full\"} 0\n") && text.contains("x_count{which=\"fine\"} 3\n"));
}

/// No bucket ends below a unit, so the default bounds begin with the first at which one ends.
#[test]
fn default_bounds_below_a_unit_are_left_out() {
    for (unit, expected) in [
        (0, &[3, 15, 63, 255, 1023, 4095, 16_383, 65_535][..]),
        (64, &[63, 255, 1023, 4095, 16_383, 65_535]),
        (100, &[63, 255, 1023, 4095, 16_383, 65_535]),
        (128, &[255, 1023, 4095, 16_383, 65_535]),
    ] {
        let mut registry = Registry::default();
        let histogram = histogram(&Options { unit, ..options() });
        histogram.record(300);
        registry.add(&histogram, &Metric { name: "x", ..Metric::default() }, &[]).unwrap();
        registry.update(0).unwrap();
        let text = text(&registry);
        let bound = |line: &str| line.strip_prefix("x_bucket{le=\"")?.split('"').next()?.parse().ok();
        let bounds: Vec<f64> =
            text.lines().filter_map(bound).filter(|bound: &f64| bound.is_finite()).collect();
        let bounds: Vec<u64> = bounds.iter().map(|&bound| bound as u64).collect();
        assert_eq!(bounds, expected, "{unit}");
        assert_eq!(sample(&text, "x_bucket{le=\"255.0\"}"), 0.0);
        assert_eq!(sample(&text, "x_bucket{le=\"1023.0\"}"), 1.0);
    }
}
