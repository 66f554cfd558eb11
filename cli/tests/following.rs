//! Commands that follow a program: `watch`, `show --for`, `record`, `report`, and those that look after what is left: `prune`.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

mod common;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Place, Service, picollo, text};
use picollo_core::log::Reader;
use picollo_core::{Metric, Options, SharedHistogram};
use picollo_native::Segment;

#[test]
fn a_service() {
    common::serve();
}

fn histogram(segment: &Segment, name: &str, options: &Options) -> SharedHistogram {
    let labels = [("route", "/pay"), ("method", "GET")];
    segment.histogram(&Metric { name, unit: "ns", labels: &labels, ..Metric::default() }, options).unwrap()
}

fn start(directory: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    command
        .args(arguments)
        .env("PICOLLO_DIR", directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    // SAFETY: our own child, which was not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
}

/// The total of each tag in a log, and the largest value.
fn read_log(path: &Path) -> HashMap<String, (u64, u64)> {
    let bytes = fs::read(path).unwrap();
    let mut found: HashMap<String, (u64, u64)> = HashMap::new();
    let mut reader = Reader::new(&bytes);
    while let Some(interval) = reader.next() {
        let interval = interval.unwrap();
        // Other readers leave out what began before the log did.
        assert!(reader.start_seconds().unwrap() <= interval.start_seconds, "{}", path.display());
        let mut scratch = Vec::new();
        let snapshot = interval.decoder(&mut scratch, 1 << 20).unwrap().boxed().unwrap();
        let entry = found.entry(interval.tag.unwrap().to_owned()).or_default();
        entry.0 += snapshot.counts().total;
        entry.1 = entry.1.max(snapshot.highest_recorded().map_or(0, |bucket| bucket.upper));
    }
    found
}

#[test]
fn intervals_are_differences_and_new_histograms_are_new() {
    let place = Place::new("watch");
    let segment = place.segment("watched");
    let first = histogram(&segment, "request", &Options::default());
    first.record_n(1_000_000, 500);
    let mut child = start(&place.0, &["watch", "watched", "--interval", "200ms", "--json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // What was there before belongs to no interval.
    assert_eq!(next()["count"], 0);
    first.record_n(3_290_000, 7);
    let second = histogram(&segment, "later", &Options::default());
    second.record_n(5, 9);
    let (mut of_first, mut of_second) = (0, 0);
    while of_first < 7 || of_second < 9 {
        let line = next();
        let count = line["count"].as_u64().unwrap();
        assert!(line["seconds"].as_f64().unwrap() >= 0.19);
        assert_eq!(line["labels"]["route"], "/pay");
        if line["name"] == "request" {
            of_first += count;
            if count > 0 {
                let median = line["p50"].as_u64().unwrap();
                assert!((3_250_000..3_330_000).contains(&median), "{median}");
            }
        } else {
            of_second += count;
        }
    }
    assert_eq!((of_first, of_second), (7, 9));
    interrupt(&child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn lines_for_people_have_units() {
    let place = Place::new("lines");
    let segment = place.segment("people");
    let recorded = histogram(&segment, "request", &Options::default());
    let child = start(&place.0, &["watch", "people", "--interval", "300ms", "--count", "3"]);
    for _ in 0..12 {
        recorded.record_n(3_290_000, 10);
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let (shown, errors) = text(&output);
    assert!(output.status.success(), "{errors}");
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.contains("request{method=GET,route=/pay}") && shown.contains(" ms"), "{shown}");
    let nobody = picollo(&place.0, &["watch", "people", "--match", "no such", "--count", "1"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(text(&nobody).1.contains("nothing that people publishes has no such"), "{}", text(&nobody).1);
}

#[test]
fn what_is_taken_out_ends() {
    let place = Place::new("retired");
    let segment = place.segment("some");
    let (_kept, gone) =
        (histogram(&segment, "kept", &Options::default()), histogram(&segment, "gone", &Options::default()));
    let mut child = start(&place.0, &["watch", "some", "--interval", "100ms", "--json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    while next()["name"] != "gone" {}
    gone.record_n(7, 3);
    let labels = [("route", "/pay"), ("method", "GET")];
    segment.retire(&Metric { name: "gone", unit: "ns", labels: &labels, ..Metric::default() }).unwrap();
    // What it had until then is told, and then nothing more.
    let (mut counted, mut others) = (0, 0);
    while others < 5 {
        let line = next();
        if line["name"] == "gone" {
            counted += line["count"].as_u64().unwrap();
            others = 0;
        } else {
            others += 1;
        }
    }
    assert_eq!(counted, 3);
    interrupt(&child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn show_of_the_next_seconds() {
    let place = Place::new("for");
    let segment = place.segment("next");
    let recorded = histogram(&segment, "request", &Options::default());
    recorded.record_n(1, 1000);
    let child = start(&place.0, &["show", "next", "--for", "2", "--json"]);
    std::thread::sleep(Duration::from_millis(1000));
    recorded.record_n(2, 10);
    let (shown, errors) = text(&child.wait_with_output().unwrap());
    let object: serde_json::Value =
        serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}{errors}"));
    let entry = &object["entries"][0];
    assert_eq!(
        (
            entry["max"].as_u64(),
            entry["summary"]["total_count"].as_u64().or(entry["summary"]["count"].as_u64())
        ),
        (Some(2), Some(10))
    );
}

#[test]
fn a_log_has_all_that_was_recorded_over_restarts() {
    let place = Place::new("record");
    let log = place.0.join("a.hlog");
    let service = Service::start(
        &place,
        "logged",
        "histogram request ns 1000 5 x;histogram with,comma - 7 3 x;counter jobs - 0 7 x",
    );
    let path = log.to_str().unwrap();
    let mut child = start(&place.0, &["record", "logged", "-o", path, "--interval", "100ms"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    // The log is made when the program was found. Of what was there before nothing is in it.
    while !log.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    service.end();
    assert!(errors.any(|line| line.unwrap().contains("has ended")));
    let again =
        Service::start(&place, "logged", "histogram request ns 1000 5 x;histogram with,comma - 7 3 x");
    let mut told = Vec::new();
    for line in errors.by_ref() {
        let line = line.unwrap();
        told.push(line.clone());
        if told.iter().filter(|line| line.contains("significant digit")).count() == 2 {
            break;
        }
    }
    interrupt(&child);
    assert!(child.wait().unwrap().success());
    drop(again);
    assert!(
        told.iter().any(|line| line.contains("request: written with 1 significant digit (3.12 %)")),
        "{told:?}"
    );
    let found = read_log(&log);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found["request"].0, 5);
    assert_eq!(found["with;comma"].0, 3);
    assert!((1000..1100).contains(&found["request"].1), "{found:?}");
    // It is a log for others as well.
    let output = picollo(&place.0, &["hlog", path, "--by-tag"]);
    assert!(output.status.success() && text(&output).0.contains("with;comma"), "{:?}", text(&output));
    let refused = picollo(&place.0, &["record", "logged", "-o", path, "--for", "1"]);
    assert_eq!(refused.status.code(), Some(1));
    // And it becomes a page.
    let page = place.0.join("page.html");
    let output = picollo(&place.0, &["report", path, "-o", page.to_str().unwrap()]);
    assert!(output.status.success(), "{:?}", text(&output));
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("<h2>with;comma</h2>") && html.matches("<svg").count() == 4, "{html}");
}

#[test]
fn logs_are_rotated_and_lose_nothing() {
    let place = Place::new("rotate");
    let segment = place.segment("rotated");
    // HdrHistogram's layout, so that nothing is told of it.
    let options = Options { relative_error: 0.0005, ..Options::default() };
    let recorded = histogram(&segment, "request", &options);
    let log = place.0.join("b.hlog");
    let path = log.to_str().unwrap();
    let child = start(
        &place.0,
        &["record", "rotated", "-o", path, "--interval", "10ms", "--rotate", "2kB", "--keep", "3"],
    );
    while !log.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let mut total = 0;
    for number in 0..2000u64 {
        recorded.record(1 + number * 1000);
        total += 1;
        std::thread::sleep(Duration::from_micros(500));
        // Before the first is dropped.
        if fs::exists(place.0.join("b.hlog.3")).unwrap() {
            break;
        }
    }
    interrupt(&child);
    let (_, errors) = text(&child.wait_with_output().unwrap());
    assert_eq!(errors, "");
    let logs = ["b.hlog", "b.hlog.1", "b.hlog.2", "b.hlog.3"].map(|name| place.0.join(name));
    let sum: u64 = logs
        .iter()
        .filter(|path| path.exists())
        .map(|path| read_log(path).values().map(|(total, _)| total).sum::<u64>())
        .sum();
    assert!(logs[1].exists() && fs::metadata(&logs[1]).unwrap().len() <= 2000);
    assert_eq!(sum, total);
}

#[test]
fn a_page_of_a_running_program_has_a_heat_map() {
    let place = Place::new("page");
    let segment = place.segment("drawn");
    let recorded = histogram(&segment, "request<b>", &Options::default());
    let page = place.0.join("page.html");
    let child = start(
        &place.0,
        &["report", "drawn", "-o", page.to_str().unwrap(), "--for", "1.2", "--interval", "300ms"],
    );
    for number in 0..100u64 {
        recorded.record_n(1000 + number * 100_000, 10);
        std::thread::sleep(Duration::from_millis(15));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", text(&output));
    let html = fs::read_to_string(page).unwrap();
    assert_eq!(html.matches("<svg").count(), 3, "{html}");
    assert!(html.contains("request&lt;b&gt;{method=GET,route=/pay") && !html.contains("<script"));
}

#[test]
fn what_nobody_holds_is_removed() {
    let place = Place::new("prune");
    let (kept, mut dead) = (Service::start(&place, "kept", ""), Service::start(&place, "dead", ""));
    dead.0.kill().unwrap();
    dead.0.wait().unwrap();
    let listed = || text(&picollo(&place.0, &["list"])).0;
    assert!(listed().contains("ended"));
    // It was written just now.
    let (removed, errors) = text(&picollo(&place.0, &["prune"]));
    assert_eq!(
        (removed.as_str(), errors.as_str()),
        ("", "picollo prune: one that has ended was written later than that, and left; see --older\n")
    );
    std::thread::sleep(Duration::from_millis(50));
    let (removed, errors) = text(&picollo(&place.0, &["prune", "--older", "1ms"]));
    assert!(
        removed.lines().count() == 1 && removed.contains("dead.") && errors.is_empty(),
        "{removed}{errors}"
    );
    assert!(!listed().contains("dead") && listed().contains("kept"));
    drop(kept);
}
