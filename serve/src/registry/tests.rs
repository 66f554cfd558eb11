use super::*;
use crate::otlp::Temporality;
use crate::protobuf::{Fields, Value};
use picollo_core::{Metric, Options, SharedHistogram};

/// All values at a path of field numbers.
fn dig(message: &[u8], path: &[u64]) -> Vec<u64> {
    let mut found = Vec::new();
    for field in Fields(message) {
        let (number, value) = field.unwrap();
        if number != path[0] {
            continue;
        }
        match (value, &path[1..]) {
            (Value::Number(number), []) => found.push(number),
            (Value::Bytes(bytes), []) => found.push(u64::from_le_bytes(bytes.try_into().unwrap())),
            (Value::Bytes(bytes), rest) => found.extend(dig(bytes, rest)),
            (Value::Number(_), _) => panic!("a number has no fields"),
        }
    }
    found
}

/// Of resource metrics, scope metrics, metrics, an exponential histogram, its points.
const POINT: [u64; 5] = [1, 2, 2, 10, 1];

fn of_points(request: &[u8], field: u64) -> Vec<u64> {
    dig(request, &[&POINT[..], &[field]].concat())
}

fn made() -> (SharedHistogram, Arc<Mutex<Registry>>) {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    let mut registry = Registry::new();
    let metric = Metric { name: "latency", created_unix_nanos: 5, ..Metric::default() };
    registry.add(&histogram, &metric, &[]).unwrap();
    (histogram, Arc::new(Mutex::new(registry)))
}

#[test]
fn what_is_answered_is_of_the_moment() {
    let (histogram, registry) = made();
    let source = exposition(registry);
    histogram.record(5);
    for count in 1..3 {
        let answer = source("application/openmetrics-text;version=1.0.0").unwrap();
        assert!(answer.content_type.starts_with("application/openmetrics-text;"), "{}", answer.content_type);
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(&format!("latency_count {count}\n")) && text.ends_with("# EOF\n"), "{text}");
        histogram.record(5);
    }
}

#[test]
fn differences_go_on_from_what_was_accepted() {
    let (histogram, registry) = made();
    let mut export = RegistryExport::new(registry);
    let delta = Settings { temporality: Temporality::Delta, ..Settings::default() };
    let mut push = |now: u64| export.encode(&delta, now).unwrap();
    assert_eq!(of_points(&push(10), 2), [5]);
    histogram.record(7);
    histogram.record(7);
    let request = push(20);
    assert_eq!(
        (of_points(&request, 4), of_points(&request, 3), of_points(&request, 2)),
        (vec![2], vec![20], vec![5])
    );
    // Delta, by the number of the specification.
    assert_eq!(dig(&request, &[1, 2, 2, 10, 2]), [1]);
    // It did not arrive: the next has that, too.
    histogram.record(7);
    assert_eq!(of_points(&push(30), 4), [3]);
    export.accepted();
    histogram.record(7);
    let request = export.encode(&delta, 40).unwrap();
    assert_eq!((of_points(&request, 4), of_points(&request, 2)), (vec![1], vec![30]));
}

#[test]
fn cumulative_pushes_have_everything() {
    let (histogram, registry) = made();
    let mut export = RegistryExport::new(registry);
    for count in 1..4 {
        histogram.record(7);
        let request = export.encode(&Settings::default(), 10 * count).unwrap();
        assert_eq!(of_points(&request, 4), [count]);
        assert_eq!(dig(&request, &[1, 2, 2, 10, 2]), [2]);
        export.accepted();
    }
}
