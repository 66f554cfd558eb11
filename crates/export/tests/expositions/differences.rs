//! Differences between expositions.

use picollo_core::counters::Metric;
use picollo_core::doubles::{DoubleOptions, SharedDoubleHistogram};
use picollo_export::{Family, Otlp, Registry, write_otlp};

use super::message::Message;
use super::naive::{histogram, naive};
use super::read::*;

/// The difference has the new counts of each metric, and all counts of a new metric or one whose counts decreased.
#[test]
fn differences() {
    let (steady, resetting) = (histogram(0.01, 10_000), histogram(0.01, 10_000));
    let doubles =
        SharedDoubleHistogram::create(&DoubleOptions { exact: true, ..Default::default() }).unwrap();
    let mut registry = Registry::new();
    let metric = Metric { created_unix_nanos: 1_000, ..Metric::default() };
    registry.add(&steady, &Metric { name: "steady", ..metric }, &[]).unwrap();
    registry.add(&resetting, &Metric { name: "resetting", since_reset: true, ..metric }, &[]).unwrap();
    registry.add_double(&doubles, &Metric { name: "doubles", ..metric }, &[]).unwrap();
    let counter = registry.add_counter(&Metric { name: "counter", ..metric }).unwrap().1;
    let gauge = registry.add_gauge(&Metric { name: "gauge", ..metric }).unwrap().1;
    let record = |values: &[u64]| {
        steady.record_batch(values);
        resetting.record_batch(values);
        doubles.record_batch(&values.iter().map(|&value| value as f64).collect::<Vec<_>>());
        counter.add(values.len() as u64);
        gauge.set(values.len() as f64);
    };
    record(&[1, 5, 5, 700, 20_000]);
    registry.update(5_000).unwrap();
    let earlier: Vec<Family> = registry.families().to_vec();
    resetting.reset().unwrap();
    record(&[5, 6]);
    let late = registry.add_counter(&Metric { name: "late", ..metric }).unwrap().1;
    late.add(9);
    registry.update(8_000).unwrap();

    let differences = Family::since(registry.families(), &earlier);
    let about = Otlp { time_unix_nanos: 8_000, since_unix_nanos: Some(5_000), ..Otlp::default() };
    let encoded = |families: &[Family]| {
        let mut bytes = vec![0; write_otlp(families, &about, &mut [])];
        write_otlp(families, &about, &mut bytes);
        otlp_metrics(&bytes).1
    };
    let metrics = encoded(&differences);
    for metric in &metrics[..3] {
        let point = metric.message(10).message(1);
        assert_eq!(metric.message(10).uint(2), 1, "delta");
        let found = (point.fixed(2), point.fixed(3), point.double(5));
        assert_eq!(found, (5_000, 8_000, 11.0), "{}", metric.text(1));
        let near = |value: f64, truth: f64| (value / truth - 1.0).abs() < 0.001;
        assert!(near(point.double(12), 5.0) && near(point.double(13), 6.0));
        let read = otlp_histogram(&point);
        assert_eq!(read, naive([(5.0, 1), (6.0, 1)].into_iter(), read.schema));
    }
    let number = |metric: &Message, field| metric.message(field).message(1);
    assert_eq!((number(&metrics[3], 7).fixed(6), metrics[3].message(7).uint(2)), (2, 1));
    assert_eq!(number(&metrics[4], 5).double(4), 2.0);
    // A new metric begins at its own creation.
    assert_eq!((number(&metrics[5], 7).fixed(6), number(&metrics[5], 7).fixed(2)), (9, 1_000));
    // The difference to itself is empty.
    let nothing = Family::since(registry.families(), registry.families());
    assert_eq!(otlp_histogram(&encoded(&nothing)[0].message(10).message(1)).total, 0);
}
