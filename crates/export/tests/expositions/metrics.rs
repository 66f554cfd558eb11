//! Checks that every format contains everything that a metric has.

use picollo_core::counters::Metric;
use picollo_core::doubles::{DoubleOptions, SharedDoubleHistogram};
use picollo_export::{MetricExemplar, Otlp, Registry, write_otlp};

use super::message::{Field, Message};
use super::naive::histogram;
use super::read::*;

#[test]
fn everything_of_a_metric_is_there() {
    let histogram = histogram(0.01, 10_000);
    histogram.record_n(100, 3);
    histogram.record(0);
    let doubles = SharedDoubleHistogram::create(&DoubleOptions::default()).unwrap();
    doubles.record_batch(&[-2.0, f64::NAN]);
    let mut registry = Registry::new();
    let created_unix_nanos = 7_000_000_005;
    let metric = Metric {
        created_unix_nanos,
        help: "Help",
        labels: &[("b.c", "é\n"), ("a", "")],
        ..Metric::default()
    };
    let wait = Metric { name: "wait.time_seconds", unit: "seconds", divisor: 10.0, native: true, ..metric };
    let id = registry.add(&histogram, &wait, &[50, 200]).unwrap();
    registry.add_double(&doubles, &Metric { name: "skew", ..metric }, &[1.5]).unwrap();
    let (total, counter) = registry.add_counter(&Metric { name: "hits_total", ..metric }).unwrap();
    registry.add_gauge(&Metric { name: "depth", ..metric }).unwrap().1.set(-2.5);
    counter.add(5);
    let trace = "0123456789abcdef0123456789ABCDEF";
    let labels = [("trace_id", trace), ("span_id", "00000000000000ff"), ("who", "me")];
    let planted = vec![
        MetricExemplar::new(100.0, 3_000_000_001, &labels).unwrap(),
        MetricExemplar::new(101.0, 0, &[("span_id", "ff")]).unwrap(),
    ];
    registry.set_exemplars(id, planted).unwrap();
    registry.set_exemplars(total, vec![MetricExemplar::new(10.0, 3_000_000_001, &labels).unwrap()]).unwrap();
    registry.update(9_000_000_000).unwrap();

    let families = prometheus_families(&mut registry);
    let head = |of: &Message| format!("{}: {}, {}, {}", of.text(1), of.text(2), of.uint(3), of.text(5));
    let heads = [
        "wait_time_seconds: Help, 4, seconds",
        "skew: Help, 4, ",
        "skew_not_finite_total: Observations that are infinite or not a number, 0, ",
        "hits_total: Help, 0, ",
        "depth: Help, 1, ",
    ];
    assert_eq!(families.iter().map(head).collect::<Vec<_>>(), heads);
    let metrics: Vec<Message> = families.iter().map(|of| of.message(4)).collect();
    for metric in &metrics {
        let expected = [("a".to_owned(), String::new()), ("b_c".to_owned(), "é\n".to_owned())];
        assert_eq!(metric.labels(1), expected);
    }
    let of = metrics[0].message(7);
    let (classic, read) = prometheus_histogram(&of);
    assert_eq!(classic, [(5.0, 1), (20.0, 4), (f64::INFINITY, 4)]);
    assert_eq!(read.unwrap().zero, 1);
    assert_eq!((of.double(2), of.message(15).uint(1), of.message(15).uint(2)), (30.0, 7, 5));
    let exemplars: Vec<Message> = of.messages(3).iter().map(|bucket| bucket.message(3)).collect();
    assert!(exemplars[0].0.is_empty() && exemplars[2].0.is_empty());
    // A bucket has its latest exemplar, and the exemplars outside of the buckets are only those with a time.
    for exemplar in [&exemplars[1], &of.message(16), &metrics[3].message(3).message(2)] {
        assert_eq!(
            (exemplar.double(2), exemplar.message(3).uint(1), exemplar.message(3).uint(2)),
            (10.0, 3, 1)
        );
        let [span, trace, who] = &exemplar.labels(1)[..] else { panic!("{exemplar:?}") };
        assert_eq!((&*span.0, &*trace.0, &*who.1), ("span_id", "trace_id", "me"));
    }
    assert_eq!(of.messages(16).len(), 1);
    let (classic, native) = prometheus_histogram(&metrics[1].message(7));
    assert_eq!((classic, native), (vec![(1.5, 1), (f64::INFINITY, 1)], None));
    assert_eq!(metrics[2].message(3).double(1), 1.0);
    assert_eq!((metrics[3].message(3).double(1), metrics[3].message(3).message(3).uint(1)), (5.0, 7));
    assert_eq!(metrics[4].message(2).double(1), -2.5);

    let mut bytes = vec![0; 10_000];
    let about =
        Otlp { time_unix_nanos: 9_000_000_000, resource: &[("service.name", "test")], ..Otlp::default() };
    let length = write_otlp(registry.families(), &about, &mut bytes);
    let (resource, metrics) = otlp_metrics(&bytes[..length]);
    assert_eq!(resource, [("service.name".to_owned(), "test".to_owned())]);
    let head = |of: &Message| format!("{}: {}, {}", of.text(1), of.text(2), of.text(3));
    let heads = [
        "wait.time_seconds: Help, s",
        "skew: Help, ",
        "skew_not_finite: Observations that are infinite or not a number, ",
        "hits: Help, ",
        "depth: Help, ",
    ];
    assert_eq!(metrics.iter().map(head).collect::<Vec<_>>(), heads);
    let attributes = |point: &Message, field| -> Vec<(String, String)> {
        point.messages(field).iter().map(|of| (of.text(1), of.message(2).text(1))).collect()
    };
    let expected = [("a".to_owned(), String::new()), ("b.c".to_owned(), "é\n".to_owned())];
    let point = metrics[0].message(10).message(1);
    assert_eq!(attributes(&point, 1), expected);
    assert_eq!((point.fixed(2), point.fixed(3), point.double(5)), (created_unix_nanos, 9_000_000_000, 30.0));
    assert_eq!(otlp_histogram(&point).zero, 1);
    let exemplars = point.messages(11);
    assert_eq!((exemplars.len(), exemplars[0].fixed(2), exemplars[0].double(3)), (2, 3_000_000_001, 10.0));
    assert_eq!(exemplars[0].one(4), Some(&Field::Bytes(vec![0, 0, 0, 0, 0, 0, 0, 255])));
    let trace = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef].repeat(2);
    assert_eq!(exemplars[0].one(5), Some(&Field::Bytes(trace)));
    assert_eq!(attributes(&exemplars[0], 7), [("who".to_owned(), "me".to_owned())]);
    assert_eq!(attributes(&exemplars[1], 7), [("span_id".to_owned(), "ff".to_owned())]);
    let point = metrics[1].message(10).message(1);
    assert!(point.one(5).is_none(), "no sum of what is negative");
    assert_eq!(otlp_histogram(&point).negative.len(), 1);
    for (metric, count) in [(&metrics[2], 1), (&metrics[3], 5)] {
        let (sum, point) = (metric.message(7), metric.message(7).message(1));
        assert_eq!(
            (sum.uint(2), sum.uint(3), point.fixed(6), point.fixed(2)),
            (2, 1, count, created_unix_nanos)
        );
        assert_eq!(attributes(&point, 7), expected);
    }
    let point = metrics[4].message(5).message(1);
    assert_eq!(
        (point.double(4), point.fixed(3), attributes(&point, 7)),
        (-2.5, 9_000_000_000, expected.to_vec())
    );
}
