use super::*;
use crate::http::otlp::tests::{OK, PARTIAL, collector};
use crate::http::otlp::{Outcome, Pusher};
use picollo_core::counters::Metric;

#[allow(dead_code)]
#[path = "../../../tests/expositions/message.rs"]
mod message;
use message::Message;

/// The start, time and value of the only point of the only metric, and the number of the temporality.
fn point(request: &[u8]) -> (u64, u64, u64, u64) {
    let sum = Message::parse(request).message(1).message(2).message(2).message(7);
    let point = sum.message(1);
    (point.fixed(2), point.fixed(3), point.fixed(6), sum.uint(2))
}

/// A registry with a counter.
fn counting() -> (picollo_core::counters::MetricCounter, Arc<Mutex<Registry>>) {
    let mut registry = Registry::new();
    let metric = Metric { name: "hits", created_unix_nanos: 5, ..Metric::default() };
    let hits = registry.add_counter(&metric).unwrap().1;
    (hits, Arc::new(Mutex::new(registry)))
}

#[test]
fn answers_and_cumulative_pushes_have_everything() {
    let (hits, registry) = counting();
    let (source, mut export) = (exposition(registry.clone()), RegistryExport::new(registry));
    let settings = Settings::default();
    for count in 1..4 {
        hits.add(1);
        let answer = source("application/openmetrics-text;version=1.0.0").unwrap();
        assert!(answer.content_type.starts_with("application/openmetrics-text;"), "{}", answer.content_type);
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(&format!("hits_total {count}\n")) && text.ends_with("# EOF\n"), "{text}");
        let request = export.encode(&settings, 10 * count).unwrap();
        let attribute = Message::parse(&request).message(1).message(1).message(1);
        assert_eq!([attribute.text(1), attribute.message(2).text(1)], ["service.name", "unknown_service"]);
        assert_eq!(point(&request), (5, 10 * count, count, 2));
        export.accepted();
    }
}

#[test]
fn nothing_is_lost_whatever_a_collector_answers() {
    let busy = "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\n\r\n";
    let answers = [
        busy,
        OK,
        "HTTP/1.1 503 Away\r\n\r\n",
        "garbage",
        "",
        OK,
        PARTIAL,
        "HTTP/1.1 400 Bad\r\n\r\n",
        "\0\u{1}\r\n\r\n",
        OK,
        busy,
    ];
    let (settings, requests) = collector(&answers);
    let silent = Settings { timeout: std::time::Duration::from_millis(100), ..settings.clone() };
    let (hits, registry) = counting();
    let mut export = RegistryExport::new(registry);
    let (mut arrived, mut end) = (0, 5);
    for round in 0..answers.len() as u64 + 2 {
        hits.add(round + 1);
        // After the last answer, the collector is silent.
        let to = if round < answers.len() as u64 { &settings } else { &silent };
        let to = Settings { temporality: Temporality::Delta, ..to.clone() };
        let request = export.encode(&to, 10 * (round + 1)).unwrap();
        let counted = hits.value();
        // The next request has it.
        hits.add(1);
        let result = to.post(&request);
        let (_, body) = requests.recv().unwrap();
        assert_eq!(body, request);
        let (start, time, count, temporality) = point(&body);
        // Delta, by the number in the specification.
        assert_eq!(temporality, 1);
        assert_eq!((arrived + count, start, time), (counted, end, 10 * (round + 1)), "{round}");
        assert_eq!(result.is_ok(), [1, 5, 6, 9].contains(&round), "{round}: {result:?}");
        if result.is_ok() {
            export.accepted();
            (arrived, end) = (arrived + count, time);
        }
    }
    let delta = Settings { temporality: Temporality::Delta, ..Settings::default() };
    let (_, _, last, _) = point(&export.encode(&delta, 500).unwrap());
    assert_eq!(arrived + last, hits.value());
}

/// While a collector is silent, scrapes are answered, and counting continues.
#[test]
fn a_silent_collector_blocks_nobody() {
    let (settings, requests) = collector(&[]);
    let (hits, registry) = counting();
    let (tell, reports) = std::sync::mpsc::channel::<Result<Outcome, crate::http::otlp::PushError>>();
    let soon = Settings { interval: std::time::Duration::from_millis(1), ..settings };
    let pusher = Pusher::start(soon, RegistryExport::new(registry.clone()), move |result| {
        let _ = tell.send(result.clone());
    })
    .unwrap();
    // The collector has the request, and 20 seconds for an answer.
    requests.recv().unwrap();
    hits.add(3);
    let answer = exposition(registry)("application/openmetrics-text;version=1.0.0").unwrap();
    assert!(String::from_utf8(answer.body).unwrap().contains("hits_total 3\n"));
    assert!(reports.try_recv().is_err(), "the push is still waiting");
    // Dropping it would wait for the answer.
    std::mem::forget(pusher);
}
