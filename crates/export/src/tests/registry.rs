//! Counters, gauges, resets, names and exemplars.

use super::*;

/// Counts since creation are written, so resets do not reach scrapers, in any mode, storage and width.
#[test]
fn a_reset_reaches_nobody() {
    use Mode::*;
    let wrapped = u64::from(u32::MAX) - 5;
    for (mode, storage) in
        [(Interlocked, Storage::Dense), (Interlocked, Storage::Sparse), (ThreadLocal, Storage::Dense)]
    {
        for counter_bits in [32, 64] {
            let what = format!("{mode:?} {storage:?} {counter_bits}");
            let histogram =
                histogram(&Options { mode, storage, counter_bits, min_trackable: 100, ..options() });
            let mut registry = Registry::new();
            let metric = Metric { name: "a", created_unix_nanos: 5_000_000_000, ..Metric::default() };
            registry.add(&histogram, &metric, &[]).unwrap();
            registry.add(&histogram, &Metric { since_reset: true, name: "b", ..metric }, &[]).unwrap();
            for round in 1..4 {
                for value in [5, 500, 1_000_000] {
                    histogram.record_n(value, 3);
                }
                registry.update(round * 10_000_000_000).unwrap();
                let (text, round) = (text(&registry), round as f64);
                for name in ["a_count", "a_bucket{le=\"+Inf\"}"] {
                    assert_eq!(sample(&text, name), 9.0 * round, "{what}");
                }
                assert_eq!(sample(&text, "a_bucket{le=\"255.0\"}"), 3.0 * round, "{what}");
                assert_eq!((sample(&text, "b_count"), sample(&text, "a_created")), (9.0, 5.0), "{what}");
                histogram.reset().unwrap();
            }
            if mode != Interlocked {
                continue;
            }
            // Cells of 32 bits wrap around between resets, and the missing counts are reported.
            histogram.record_n(500, wrapped);
            histogram.reset().unwrap();
            histogram.record_n(500, 100);
            registry.update(0).unwrap();
            let lost = if counter_bits == 32 { 1u64 << 32 } else { 0 };
            let text = text(&registry);
            assert_eq!(sample(&text, "a_count"), (27 + wrapped + 100 - lost) as f64, "{what}");
            assert_eq!(text.contains("a_lost_total 4294967296\n"), lost != 0, "{what}");
            assert_eq!(sample(&text, "b_count"), 100.0, "{what}");
        }
    }
}

#[test]
fn decreasing_counts_are_reported() {
    let (integers, numbers) = (histogram(&options()), doubles());
    let mut registry = Registry::new();
    let metric = Metric { created_unix_nanos: 5_000_000_000, since_reset: true, ..Metric::default() };
    registry.add(&integers, &Metric { name: "a", ..metric }, &[]).unwrap();
    registry.add_double(&numbers, &Metric { name: "b", ..metric }, &[]).unwrap();
    integers.record_n(5, 10);
    numbers.record_n(5.0, 10);
    for seconds in [10, 20] {
        registry.update(seconds * 1_000_000_000).unwrap();
        let text = text(&registry);
        assert_eq!((sample(&text, "a_created"), sample(&text, "b_created")), (5.0, 5.0));
    }
    integers.reset().unwrap();
    integers.record_n(5, 3);
    // A collection always takes counts out.
    numbers.collect(&mut DoubleSnapshot::new()).unwrap();
    registry.update(30_000_000_000).unwrap();
    let text = text(&registry);
    assert_eq!((sample(&text, "a_created"), sample(&text, "b_created")), (20.0, 20.0));
    assert_eq!((sample(&text, "a_count"), sample(&text, "b_count")), (3.0, 0.0));
}

#[test]
fn counters_and_gauges() {
    let mut registry = Registry::new();
    let metric = Metric { created_unix_nanos: 1_500_000_000, labels: &[("queue", "a")], ..Metric::default() };
    let requests = Metric { name: "requests_total", help: "All \"of\" them", ..metric };
    let (id, counter) = registry.add_counter(&requests).unwrap();
    let (_, second) = registry.add_counter(&Metric { labels: &[("queue", "b")], ..requests }).unwrap();
    let busy = Metric { name: "busy_seconds", unit: "seconds", divisor: 1e9, ..metric };
    let (_, nanos) = registry.add_counter(&busy).unwrap();
    let (_, gauge) = registry.add_gauge(&Metric { name: "queue_length", ..metric }).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    counter.add(2);
                    gauge.add(1.0);
                }
            });
        }
    });
    assert_eq!((counter.value(), gauge.value()), (80_000, 40_000.0));
    gauge.add(-0.5);
    second.add(u64::MAX);
    nanos.add(2_500_000_000);
    assert!(text(&registry).contains("requests_total{queue=\"a\"} 0\n"), "nothing is taken yet");
    registry.update(0).unwrap();
    let expected = "\
# TYPE requests counter
# HELP requests All \\\"of\\\" them
requests_total{queue=\"a\"} 80000
requests_created{queue=\"a\"} 1.500
requests_total{queue=\"b\"} 18446744073709551615
requests_created{queue=\"b\"} 1.500
# TYPE busy_seconds counter
# UNIT busy_seconds seconds
busy_seconds_total{queue=\"a\"} 2.5
busy_seconds_created{queue=\"a\"} 1.500
# TYPE queue_length gauge
queue_length{queue=\"a\"} 39999.5
# EOF
";
    assert_eq!(text(&registry), expected);
    let expected = "\
# TYPE requests_total counter
# HELP requests_total All \"of\" them
requests_total{queue=\"a\"} 80000
requests_total{queue=\"b\"} 18446744073709551615
# TYPE busy_seconds_total counter
busy_seconds_total{queue=\"a\"} 2.5
# TYPE queue_length gauge
queue_length{queue=\"a\"} 39999.5
";
    assert_eq!(plain_text(&mut registry), expected);
    // Handles outlive their metrics and the registry.
    assert!(registry.remove(id) && registry.len() == 3);
    counter.add(1);
    gauge.set(f64::NEG_INFINITY);
    registry.update(0).unwrap();
    let text = text(&registry);
    assert!(!text.contains("80000") && text.contains("queue_length{queue=\"a\"} -Inf\n"), "{text}");
    drop(registry);
    assert_eq!(counter.value(), 80_001);
}

#[test]
fn exemplars_are_in_text() {
    let mut registry = Registry::new();
    let histogram = histogram(&options());
    let id = registry.add(&histogram, &Metric { name: "x", ..Metric::default() }, &[10, 100]).unwrap();
    let (total, _) = registry.add_counter(&Metric { name: "y", ..Metric::default() }).unwrap();
    let exemplar = |value, millis: u64, trace| {
        MetricExemplar::new(value, millis * 1_000_000, &[("trace_id", trace), ("who", "a\"b")]).unwrap()
    };
    let planted = std::vec![
        exemplar(10.0, 2_500, "late"),
        exemplar(3.0, 1_500, "early"),
        exemplar(1e6, 1_000, "far"),
        MetricExemplar::new(5.5, 0, &[]).unwrap(),
    ];
    registry.set_exemplars(id, planted.clone()).unwrap();
    registry.set_exemplars(total, planted).unwrap();
    let expected = "\
# TYPE x histogram
x_bucket{le=\"10.0\"} 0 # {trace_id=\"late\",who=\"a\\\"b\"} 10.0 2.500
x_bucket{le=\"100.0\"} 0
x_bucket{le=\"+Inf\"} 0 # {trace_id=\"far\",who=\"a\\\"b\"} 1e+06 1.000
x_count 0
x_sum 0.0
# TYPE y counter
y_total 0 # {trace_id=\"late\",who=\"a\\\"b\"} 10.0 2.500
# EOF
";
    assert_eq!(text(&registry), expected);
    registry.set_exemplars(id, std::vec![MetricExemplar::new(5.5, 0, &[]).unwrap()]).unwrap();
    assert!(text(&registry).contains("x_bucket{le=\"10.0\"} 0 # {} 5.5\n"));
    assert!(!plain_text(&mut registry).contains(" # "));
    // Names and values have at most 128 characters, regardless of their bytes.
    assert!(MetricExemplar::new(1.0, 0, &[("trace", &"\u{e9}".repeat(123))]).is_ok());
    for (value, label, reason) in [
        (1.0, ("trace", &*"e".repeat(124)), "; got 129"),
        (f64::NAN, ("a", ""), "the value of an exemplar must be finite; got NaN"),
        (1.0, ("le", ""), "; got \"le\""),
    ] {
        assert!(refused(MetricExemplar::new(value, 0, &[label])).ends_with(reason));
    }
    let (gauge, _) = registry.add_gauge(&Metric { name: "z", ..Metric::default() }).unwrap();
    let of_gauge = registry.set_exemplars(gauge, Vec::new()).unwrap_err();
    assert_eq!((of_gauge.error(), &*of_gauge.to_string()), (Error::Unsupported, "a gauge has no exemplars"));
    assert!(refused(registry.set_exemplars(99, Vec::new())).ends_with("in this registry; got 99"));
    // The value becomes infinite after the division.
    let small = Metric { name: "small", divisor: 1e-300, ..Metric::default() };
    let (small, _) = registry.add_counter(&small).unwrap();
    let large = std::vec![MetricExemplar::with_trace(1e300, 0, [0xab; 16], [0; 8], &[]).unwrap()];
    assert!(refused(registry.set_exemplars(small, large)).ends_with(" division by 1e-300; got 1e300"));
}

/// Why an argument was refused.
fn refused<T: std::fmt::Debug>(result: core::result::Result<T, MetricError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.error(), Error::InvalidArgument, "{error}");
    error.to_string()
}

#[test]
fn errors_name_the_argument_the_rule_and_the_value() {
    let (histogram, doubles) = (histogram(&options()), doubles());
    let mut registry = Registry::new();
    let metric = Metric { name: "x", help: "h", labels: &[("a", "1"), ("b", "2")], ..Metric::default() };
    let id = registry.add(&histogram, &metric, &[]).unwrap();
    let fine = Metric { name: "y", ..metric };
    let same = "name and labels must differ from those of other metrics; got x{a=\"1\",b=\"2\"} twice";
    let label = "the name of a label must have letters, digits, underscores, dots, hyphens and slashes, begin with \
                 neither a digit nor two underscores, and not be \"le\"; got \"le\"";
    let unit = "unit must have letters, digits, underscores and colons, and name must end with it, after an \
                underscore; got unit \"bytes\" for name \"x_seconds\"";
    let name = "name must have letters, digits, underscores, colons, dots, hyphens and slashes, and not begin with \
                a digit; got \"\"";
    for (bad, reason) in [
        (metric, same),
        (Metric { labels: &[("b", "2"), ("a", "1")], ..metric }, same),
        (
            Metric { help: "other", labels: &[], ..metric },
            "help of \"x\" must be \"h\", as before; got \"other\"",
        ),
        (Metric { name: "x_seconds", unit: "bytes", ..metric }, unit),
        (
            Metric { name: "x.count", ..metric },
            "name must not be written for another metric; got \"x.count\" beside \"x\"",
        ),
        (
            Metric { name: "x_not_finite", ..metric },
            "name must not be written for another metric; got \"x_not_finite\" beside \"x\"",
        ),
        (Metric { name: "", ..metric }, name),
        (
            Metric { labels: &[("a.b", "1"), ("a_b", "2")], ..fine },
            "labels must have different names, and dots, hyphens and slashes are underscores to Prometheus; got \
             \"a.b\" and \"a_b\"",
        ),
        (Metric { labels: &[("le", "1")], ..fine }, label),
        (Metric { divisor: -1.0, ..fine }, "divisor must be a finite number above 0, or 0 for 1; got -1.0"),
        (
            Metric { divisor: f64::NAN, ..fine },
            "divisor must be a finite number above 0, or 0 for 1; got NaN",
        ),
        (
            Metric { summary: true, labels: &[("quantile", "1")], ..fine },
            "labels of a summary must not have the name \"quantile\", which the summary has itself",
        ),
    ] {
        assert_eq!(refused(registry.add(&histogram, &bad, &[])), reason);
        assert_eq!(refused(registry.add_double(&doubles, &bad, &[])), reason);
    }
    let ascend = "bounds must be finite and ascend, also after their division by 1.0; got ";
    for bounds in [&[1, 1][..], &[2, 1], &[u64::MAX - 1, u64::MAX]] {
        assert!(refused(registry.add(&histogram, &fine, bounds)).starts_with(ascend), "{bounds:?}");
    }
    // Of many bounds, the message has the wrong one and the one before it.
    let many: Vec<f64> = (1..=300).map(f64::from).chain([7.0]).collect();
    for (bounds, got) in [
        (&[1.0, 1.0][..], "[1.0, 1.0]"),
        (&[2.0, 1.0, 3.0], "[2.0, 1.0]"),
        (&[0.0, -0.0], "[0.0, -0.0]"),
        (&[1.0, f64::NAN], "[1.0, NaN]"),
        (&[f64::INFINITY], "[inf]"),
        (&[f64::NEG_INFINITY, 1.0], "[-inf]"),
        (&many, "[300.0, 7.0]"),
    ] {
        let reason = refused(registry.add_double(&doubles, &fine, bounds));
        assert_eq!(reason, format!("{ascend}{got}"));
    }
    for bad in ["x", "x_total", "x_lost", "x_count", "x_not_finite_total", "total", ""] {
        let counter = registry.add_counter(&Metric { name: bad, ..metric });
        assert_eq!(counter.err().is_some(), bad != "total", "{bad}");
    }
    for bad in ["x", "x_lost", "x_count", "x_lost_total", "total", "total_total", ""] {
        refused(registry.add_gauge(&Metric { name: bad, ..metric }));
    }
    let of_kind = refused(registry.add_counter(&metric));
    assert_eq!(of_kind, "kind of \"x\" must be \"histogram\", as before; got \"counter\"");
    assert!(registry.add_gauge(&Metric { name: "x_total", ..metric }).is_ok());
    let many: Vec<u64> = (1..=501).collect();
    assert_eq!(refused(registry.add(&histogram, &fine, &many)), "bounds must be at most 500; got 501");
    let many: Vec<f64> = (1..=501).map(f64::from).collect();
    refused(registry.add_double(&doubles, &fine, &many));
    assert!(registry.add_double(&doubles, &fine, &many[1..]).is_ok());
    assert_eq!(registry.len(), 4);
    assert!(registry.remove(id) && !registry.remove(id));
    // The name is free again.
    assert!(registry.add(&histogram, &Metric { help: "other", ..metric }, &[]).unwrap() > id);
}

/// The first call returns the length, and nothing is written if it does not fit.
#[test]
fn lengths_and_buffers() {
    let mut registry = Registry::new();
    let histogram = histogram(&options());
    let metric = Metric { name: "x", labels: &[("a", "b")], native: true, ..Metric::default() };
    registry.add(&histogram, &metric, &[]).unwrap();
    histogram.record_batch(&[1, 50, 70_000]);
    registry.update(12).unwrap();
    use Exposition::*;
    for format in [OpenMetrics, PrometheusText, PrometheusProtobuf, Otlp] {
        let bytes = registry.encode_to_vec(format).unwrap();
        assert_eq!(registry.encode(format, &mut []), bytes.len());
        let mut buffer = std::vec![0xaa; bytes.len() + 1];
        assert_eq!(registry.encode(format, &mut buffer[..bytes.len() - 1]), bytes.len());
        assert!(buffer.iter().all(|&byte| byte == 0xaa), "too small");
        assert_eq!(registry.encode(format, &mut buffer), bytes.len());
        assert_eq!((&buffer[..bytes.len()], buffer[bytes.len()]), (&bytes[..], 0xaa));
        assert_eq!(Exposition::try_from(format as u32), Ok(format));
    }
    assert_eq!(Exposition::try_from(4), Err(Error::InvalidArgument));
    assert_eq!(Registry::new().encode(PrometheusProtobuf, &mut [1]), 0);
}

/// Work that takes milliseconds happens once for all label sets of a metric.
#[test]
fn label_sets_share_what_is_the_same() {
    let mut registry = Registry::new();
    let histogram = histogram(&options());
    for (number, divisor) in [(0, 1.0), (1, 1.0), (2, 1e9), (3, 1.0)] {
        let labels = [("a", &*number.to_string())];
        registry
            .add(&histogram, &Metric { name: "x", labels: &labels, divisor, ..Metric::default() }, &[])
            .unwrap();
    }
    registry.add_double(&doubles(), &Metric { name: "y", ..Metric::default() }, &[]).unwrap();
    let edges: Vec<*const _> = registry
        .families()
        .iter()
        .flat_map(Family::distributions)
        .map(|(_, of)| core::ptr::from_ref(of.edges()))
        .collect();
    assert!(edges[0] == edges[1] && edges[1] == edges[3]);
    assert!(edges[0] != edges[2] && edges[0] != edges[4]);
    // The remaining metrics still have it.
    assert!(registry.remove(1) && registry.remove(2));
    histogram.record(7);
    registry.update(0).unwrap();
    let Value::Histogram(of) = &registry.families()[0].points[1].value else { unreachable!() };
    assert_eq!((core::ptr::from_ref(of.edges()), of.exponential.positive.len()), (edges[0], 1));
}

/// Quantiles instead of buckets, for users who want a P99 without arithmetic on a server.
#[test]
fn summaries() {
    let mut registry = Registry::new();
    let (histogram, doubles) = (histogram(&options()), doubles());
    let metric = Metric {
        name: "x_seconds",
        unit: "seconds",
        divisor: 1e3,
        summary: true,
        labels: &[("a", "b")],
        ..Metric::default()
    };
    let id = registry.add(&histogram, &metric, &[]).unwrap();
    registry.add_double(&doubles, &Metric { name: "y", unit: "", labels: &[], ..metric }, &[]).unwrap();
    registry.update(0).unwrap();
    assert!(text(&registry).contains("x_seconds{a=\"b\",quantile=\"0.99\"} NaN\n"), "nothing yet");
    // Some quantiles are exact, others are not.
    (0..1000).for_each(|value| histogram.record(value * 100));
    doubles.record_batch(&[-2e3, 1e3]);
    registry.update(0).unwrap();
    let (text, plain) = (text(&registry), plain_text(&mut registry));
    assert!(text.starts_with(
        "# TYPE x_seconds summary\n# UNIT x_seconds seconds\nx_seconds{a=\"b\",quantile=\"0.5\"} "
    ));
    for (quantile, truth) in [("0.5", 49.9), ("0.9", 89.9), ("0.99", 98.9), ("0.999", 99.8)] {
        let found = sample(&text, &std::format!("x_seconds{{a=\"b\",quantile=\"{quantile}\"}}"));
        assert!((found / truth - 1.0).abs() < 0.01, "{quantile} {found}");
    }
    assert_eq!(sample(&text, "x_seconds_count{a=\"b\"}"), 1000.0);
    assert!((sample(&text, "x_seconds_sum{a=\"b\"}") / 49_950.0 - 1.0).abs() < 0.01);
    assert!(!text.contains("_bucket") && !plain.contains("_bucket"));
    // The nearest rank: the second of two.
    let last = sample(&text, "y{quantile=\"0.9\"}");
    assert!((last - 1.0).abs() < 0.01, "{last}");
    // A sum with negative terms can decrease.
    assert!(
        text.contains("y{quantile=\"0.5\"} -2.0")
            && !text.contains("y_sum")
            && plain.contains("y_sum -1.0\n")
    );
    assert!(registry.remove(id));
}

/// Comparing each with all others would take minutes.
#[test]
fn many_of_one_name() {
    let mut registry = Registry::new();
    let add = |registry: &mut Registry, number: usize| {
        let value = number.to_string();
        let metric = Metric { name: "x", labels: &[("n", &value)], ..Metric::default() };
        registry.add_counter(&metric).map(|(id, _)| id)
    };
    let ids: Vec<u64> = (0..100_000).map(|number| add(&mut registry, number).unwrap()).collect();
    for number in (0..ids.len()).step_by(1000) {
        assert!(refused(add(&mut registry, number)).contains(" twice"));
    }
    registry.retain(|id| id % 2 == 0);
    assert_eq!(registry.len(), ids.len() / 2);
    for number in (0..ids.len()).step_by(999) {
        assert_eq!(add(&mut registry, number).is_err(), ids[number].is_multiple_of(2), "{number}");
    }
    registry.retain(|_| false);
    assert!(registry.is_empty());
    // Prometheus sees underscores instead of dots, so these are the same labels twice.
    for (name, is_new) in [("a.b", true), ("a_b", false)] {
        let metric = Metric { name: "x", labels: &[(name, "1")], ..Metric::default() };
        assert_eq!(registry.add_gauge(&metric).is_ok(), is_new);
    }
}
