use super::*;
use crate::otlp::Temporality;
use crate::otlp::push_tests::collector;
use crate::otlp::{Outcome, Pusher};
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

/// A registry with a counter, and the field of a request that has its count.
fn counting() -> (picollo_core::MetricCounter, Arc<Mutex<Registry>>) {
    let mut registry = Registry::new();
    let metric = Metric { name: "hits", created_unix_nanos: 5, ..Metric::default() };
    let hits = registry.add_counter(&metric).unwrap().1;
    (hits, Arc::new(Mutex::new(registry)))
}

/// Of resource metrics, scope metrics, metrics, a sum, its points: the count, the beginning, the end.
const COUNT: [[u64; 6]; 3] = [[1, 2, 2, 7, 1, 6], [1, 2, 2, 7, 1, 2], [1, 2, 2, 7, 1, 3]];

#[test]
fn nothing_is_lost_whatever_a_collector_answers() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let partial = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n\x0a\x06\x08\x05\x12\x02no";
    let busy = "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\n\r\n";
    let answers = [
        busy,
        ok,
        "HTTP/1.1 503 Away\r\n\r\n",
        "garbage",
        "",
        ok,
        partial,
        "HTTP/1.1 400 Bad\r\n\r\n",
        "\0\u{1}\r\n\r\n",
        ok,
        busy,
    ];
    let (settings, requests) = collector(&answers);
    let silent = crate::otlp::Settings { timeout: std::time::Duration::from_millis(100), ..settings.clone() };
    let (hits, registry) = counting();
    let mut export = RegistryExport::new(registry);
    let (mut arrived, mut end) = (0, 5);
    for round in 0..answers.len() as u64 + 2 {
        hits.add(round + 1);
        // Behind the last answer there is silence.
        let to = if round < answers.len() as u64 { &settings } else { &silent };
        let to = crate::otlp::Settings { temporality: Temporality::Delta, ..to.clone() };
        let request = export.encode(&to, 10 * (round + 1)).unwrap();
        let result = to.post(&request);
        let (_, body) = requests.recv().unwrap();
        assert_eq!(body, request);
        let [count, start, time] = COUNT.map(|path| dig(&body, &path)[0]);
        assert_eq!((arrived + count, start, time), (hits.value(), end, 10 * (round + 1)), "{round}");
        assert_eq!(result.is_ok(), [1, 5, 6, 9].contains(&round), "{round}: {result:?}");
        if result.is_ok() {
            export.accepted();
            (arrived, end) = (arrived + count, time);
        }
    }
    let delta = Settings { temporality: Temporality::Delta, ..Settings::default() };
    assert_eq!(arrived + dig(&export.encode(&delta, 500).unwrap(), &COUNT[0])[0], hits.value());
}

/// While a collector says nothing, scrapes are answered, and counting goes on.
#[test]
fn a_silent_collector_blocks_nobody() {
    let (settings, requests) = collector(&[]);
    let (hits, registry) = counting();
    let (tell, reports) = std::sync::mpsc::channel::<Result<Outcome, crate::otlp::PushError>>();
    let soon = Settings { interval: std::time::Duration::from_millis(1), ..settings };
    let pusher = Pusher::start(soon, RegistryExport::new(registry.clone()), move |report| {
        let _ = tell.send(report.result.clone());
    })
    .unwrap();
    // It has the request, and 20 seconds for an answer.
    requests.recv().unwrap();
    hits.add(3);
    let answer = exposition(registry)("application/openmetrics-text;version=1.0.0").unwrap();
    assert!(String::from_utf8(answer.body).unwrap().contains("hits_total 3\n"));
    assert!(reports.try_recv().is_err(), "the push is still waiting");
    // Its end would wait for the answer.
    std::mem::forget(pusher);
}
