//! Sends events to a recorder, also such that no recorder likes.

use std::io::{Read, Write};
use std::net::TcpStream;

use metrics::{Recorder, Unit, counter, gauge, histogram, with_local_recorder};
use picollo_export::Exposition;
use picollo_metrics::{Builder, Metrics};

fn text(metrics: &Metrics) -> String {
    let registry = metrics.registry();
    let mut registry = registry.lock().unwrap();
    registry.update(1).unwrap();
    String::from_utf8(registry.encode_to_vec(Exposition::OpenMetrics).unwrap()).unwrap()
}

/// The number of a sample in a text.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    line[name.len() + 1..].split(' ').next().unwrap().parse().unwrap()
}

/// Pseudo-random numbers from 0 to 1.
fn numbers() -> impl Iterator<Item = f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

#[test]
fn events_give_their_numbers() {
    const BOUNDS: [f64; 4] = [0.001, 0.01, 0.1, 1.0];
    let metrics = Builder::new().bounds("seconds", &BOUNDS).build().unwrap();
    // These range from a microsecond to ten seconds, by powers.
    let values: Vec<f64> = numbers().take(50_000).map(|number| 1e-6 * 10f64.powf(7.0 * number)).collect();
    with_local_recorder(&metrics, || {
        for (number, &value) in values.iter().enumerate() {
            let route = ["/", "/a", "/b"][number % 3];
            histogram!("latency", "route" => route).record(value);
            histogram!("seconds").record(value);
            counter!("requests", "route" => route).increment(2);
            gauge!("load").set(value);
            gauge!("level").increment(value);
            gauge!("level").decrement(value / 2.0);
        }
        counter!("set").absolute(7);
        counter!("set").absolute(5);
        histogram!("many").record_many(0.25, 1000);
    });
    let text = text(&metrics);
    for (at, route) in ["/", "/a", "/b"].into_iter().enumerate() {
        let mut sorted: Vec<f64> = values.iter().skip(at).step_by(3).copied().collect();
        sorted.sort_by(f64::total_cmp);
        let labels = format!("{{route=\"{route}\"}}");
        let [count, sum, requests] = ["latency_count", "latency_sum", "requests_total"]
            .map(|name| sample(&text, &format!("{name}{labels}")));
        assert_eq!((count, requests), (sorted.len() as f64, 2.0 * sorted.len() as f64));
        assert!((sum / sorted.iter().sum::<f64>() - 1.0).abs() < 0.01, "{sum}");
        let recorded = metrics.histogram("latency", &[("route", route)]).unwrap();
        assert_eq!(recorded.count(), sorted.len() as u64);
        for rank in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let exact = sorted[(rank * sorted.len() as f64).ceil() as usize - 1];
            let found = recorded.quantile(rank);
            // Half a nanosecond adds to the relative error.
            assert!((found - exact).abs() <= exact * 0.01 + 0.5e-9, "{rank}: {found} for {exact}");
        }
    }
    for (bound, limit) in ["0.001", "0.01", "0.1", "1.0", "+Inf"].iter().zip(BOUNDS.iter().chain([&f64::MAX]))
    {
        let found = sample(&text, &format!("seconds_bucket{{le=\"{bound}\"}}"));
        let exact = values.iter().filter(|&value| value <= limit).count() as f64;
        // Values within the error of the bound may be on its other side.
        let near = values.iter().filter(|&value| (value - limit).abs() <= limit * 0.01).count() as f64;
        assert!((found - exact).abs() <= near, "{bound}: {found}, {exact}, near {near}");
    }
    assert_eq!(sample(&text, "load"), values[values.len() - 1]);
    assert!((sample(&text, "level") / (values.iter().sum::<f64>() / 2.0) - 1.0).abs() < 1e-9);
    assert_eq!((sample(&text, "set_total"), sample(&text, "many_count")), (7.0, 1000.0));
}

#[test]
fn threads_lose_nothing() {
    const THREADS: usize = 4;
    const RECORDS: usize = 50_000;
    let metrics = Builder::new().build().unwrap();
    let kept = with_local_recorder(&metrics, || histogram!("kept"));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                with_local_recorder(&metrics, || {
                    for record in 0..RECORDS {
                        histogram!("macro", "parity" => ["even", "odd"][record % 2]).record(0.001);
                        counter!("counted").increment(1);
                        kept.record(0.001);
                    }
                });
            });
        }
    });
    let all = (THREADS * RECORDS) as u64;
    assert_eq!(metrics.histogram("kept", &[]).unwrap().count(), all);
    for parity in ["even", "odd"] {
        assert_eq!(metrics.histogram("macro", &[("parity", parity)]).unwrap().count(), all / 2);
    }
    assert_eq!(sample(&text(&metrics), "counted_total"), all as f64);
}

#[test]
fn floods_of_labels_and_names_are_bounded() {
    let metrics = Builder::new().label_sets(10).names(6).build().unwrap();
    with_local_recorder(&metrics, || {
        for user in 0..1000 {
            histogram!("flood", "user" => user.to_string()).record(1.0);
            counter!("flood_counted", "user" => user.to_string()).increment(1);
        }
        // A different order is the same set.
        histogram!("ordered", "a" => "1", "b" => "2").record(1.0);
        histogram!("ordered", "b" => "2", "a" => "1").record(1.0);
        for name in 0..20 {
            gauge!(format!("name_{name}")).set(1.0);
        }
    });
    let count = |user: &str| metrics.histogram("flood", &[("user", user)]).map(|recorded| recorded.count());
    assert_eq!((count("0"), count("9"), count("10")), (Some(1), Some(1), None));
    assert_eq!(metrics.histogram("flood", &[("overflow", "true")]).unwrap().count(), 990);
    assert_eq!(metrics.histogram("ordered", &[("a", "1"), ("b", "2")]).unwrap().count(), 2);
    let text = text(&metrics);
    assert_eq!(sample(&text, "flood_counted_total{overflow=\"true\"}"), 990.0);
    assert_eq!(sample(&text, "picollo_metrics_overflow_lookups_total"), 2.0 * 990.0);
    // Three names exist already.
    assert_eq!(sample(&text, "picollo_metrics_lost_total{reason=\"refused\"}"), 17.0);
}

#[test]
fn odd_names_are_changed_and_those_that_collide_are_counted() {
    let metrics = Builder::new().build().unwrap();
    with_local_recorder(&metrics, || {
        histogram!("9 odd\n\"name\"", "le" => "x", "__a b" => "\"\n").record(1.0);
        histogram!("a.b").record(1.0);
        // Prometheus could not distinguish it from the previous one.
        histogram!("a_b").record(1.0);
        histogram!("a_b").record_many(1.0, 2);
        // This is another kind under the same name.
        gauge!("a.b").set(1.0);
        counter!("").increment(1);
    });
    let text = text(&metrics);
    assert_eq!(sample(&text, "_9_odd__name__count{_a_b=\"\\\"\\n\",le_=\"x\"}"), 1.0);
    assert_eq!(sample(&text, "a_b_count"), 1.0);
    assert_eq!(sample(&text, "__total"), 1.0);
    assert_eq!(sample(&text, "picollo_metrics_lost_total{reason=\"refused\"}"), 4.0);
}

#[test]
fn values_out_of_range_are_counted_as_such() {
    let metrics = Builder::new().scale("coarse", 10.0).build().unwrap();
    metrics.describe_histogram("size_bytes".into(), Some(Unit::Bytes), "Of bodies.".into());
    metrics.describe_histogram("wait".into(), Some(Unit::Milliseconds), "".into());
    with_local_recorder(&metrics, || {
        let plain = histogram!("plain");
        for value in
            [f64::NAN, -1.0, f64::NEG_INFINITY, -0.0, 0.0, -0.4e-9, 0.4e-9, f64::INFINITY, 9.3e9, 9.2e9]
        {
            plain.record(value);
        }
        histogram!("size_bytes").record(5e18);
        histogram!("size_bytes").record(1500u32);
        histogram!("wait").record(std::time::Duration::from_millis(2));
        histogram!("coarse").record(0.04);
        histogram!("coarse").record(0.06);
    });
    let text = text(&metrics);
    assert_eq!(sample(&text, "plain_bucket{le=\"+Inf\"}"), 7.0);
    let plain = metrics.histogram("plain", &[]).unwrap();
    assert_eq!((plain.count(), plain.snapshot.counts().overflow), (7, 2));
    assert_eq!(plain.quantile(0.8), 0.0);
    assert!((plain.quantile(1.0) / 9.2e9 - 1.0).abs() < 0.01);
    assert_eq!(sample(&text, "picollo_metrics_lost_total{reason=\"negative\"}"), 2.0);
    assert_eq!(sample(&text, "picollo_metrics_lost_total{reason=\"not_a_number\"}"), 1.0);
    assert!(
        text.contains("# UNIT size_bytes bytes\n# HELP size_bytes Of bodies.\n")
            || text.contains("# HELP size_bytes Of bodies.")
    );
    let size = metrics.histogram("size_bytes", &[]).unwrap();
    assert_eq!((size.scale, size.count()), (1.0, 2));
    assert!((size.quantile(0.1) / 1500.0 - 1.0).abs() < 0.01);
    // The crate converts a duration to seconds; in a histogram of milliseconds they still count to the nanosecond.
    assert_eq!(metrics.histogram("wait", &[]).unwrap().scale, 1e6);
    let coarse = metrics.histogram("coarse", &[]).unwrap();
    assert_eq!((coarse.quantile(0.5), coarse.quantile(1.0)), (0.0, 0.1));
    assert!(plain.quantile(2.0).is_nan());
}

#[test]
fn handles_outlive_the_recorder_and_recorders_are_not_confused() {
    let first = Builder::new().build().unwrap();
    let second = Builder::new().build().unwrap();
    let record = || histogram!("x").record(1.0);
    with_local_recorder(&first, record);
    with_local_recorder(&second, || {
        record();
        record();
    });
    assert_eq!(first.histogram("x", &[]).unwrap().count(), 1);
    assert_eq!(second.histogram("x", &[]).unwrap().count(), 2);

    let (kept, counted) = with_local_recorder(&first, || (histogram!("x"), counter!("y")));
    let registry = first.registry();
    std::thread::scope(|scope| {
        let recording = scope.spawn(move || {
            for _ in 0..100_000 {
                kept.record(1.0);
                counted.increment(1);
            }
        });
        drop(first);
        registry.lock().unwrap().update(1).unwrap();
        drop(registry);
        recording.join().unwrap();
    });
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Builder::new().scale("x", scale).build().is_err());
    }
    for bounds in [&[1.0, 1.0][..], &[-1.0], &[f64::NAN], &[2.0, 1.0]] {
        assert!(Builder::new().bounds("x", bounds).build().is_err());
    }
}

#[test]
fn is_served() {
    let metrics = Builder::new().build().unwrap();
    let server = metrics.serve("127.0.0.1:0").unwrap();
    with_local_recorder(&metrics, || histogram!("served_seconds").record(0.5));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(sample(&answer, "served_seconds_count"), 1.0);
}
