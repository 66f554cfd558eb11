//! Commands that follow a program: `show --every`, `record`, `report`; and `prune`, which removes abandoned segments.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Place, Service, command, json, picollo, read_log, send, text};
use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_segment::Segment;

fn histogram(segment: &Segment, name: &str, options: &Options) -> SharedHistogram {
    let labels = [("route", "/pay"), ("method", "GET")];
    segment.histogram(&Metric { name, unit: "ns", labels: &labels, ..Metric::default() }, options).unwrap()
}

fn start(directory: &Path, arguments: &[&str]) -> Child {
    start_by(command(arguments), directory)
}

fn start_by(mut command: Command, directory: &Path) -> Child {
    command.env("PICOLLO_DIR", directory).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    send(child, libc::SIGINT);
}

fn wait_for(file: &str) {
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Total and largest value of each tag in a log.
fn totals(path: impl AsRef<Path>) -> HashMap<String, (u64, u64)> {
    let mut found: HashMap<String, (u64, u64)> = HashMap::new();
    for (tag, snapshot) in read_log(path) {
        let entry = found.entry(tag).or_default();
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
    let mut kept = Command::new("nohup");
    kept.args([env!("CARGO_BIN_EXE_picollo"), "show", "watched", "--every", "200ms", "--json"]);
    let mut child = start_by(kept, &place.0);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // Earlier records belong to no interval.
    assert_eq!(next()["count"], 0);
    // `nohup` lets it continue when its terminal is closed.
    send(&child, libc::SIGHUP);
    first.record_n(3_290_000, 7);
    let second = histogram(&segment, "later", &Options::default());
    second.record_n(5, 9);
    let (mut of_first, mut of_second, mut longest) = (0, 0, 0f64);
    while of_first < 7 || of_second < 9 {
        let line = next();
        let count = line["count"].as_u64().unwrap();
        // An interval after a late one is shorter, as late ends do not shift later ones.
        longest = line["seconds"].as_f64().unwrap().max(longest);
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
    assert!(longest >= 0.1, "{longest}");
    // A retired entry is shown with its final records, and then no more.
    second.record_n(7, 3);
    let labels = [("route", "/pay"), ("method", "GET")];
    segment.retire(&Metric { name: "later", unit: "ns", labels: &labels, ..Metric::default() }).unwrap();
    let mut others = 0;
    while others < 5 {
        let line = next();
        let is_second = line["name"] == "later";
        of_second += if is_second { line["count"].as_u64().unwrap() } else { 0 };
        others = if is_second { 0 } else { others + 1 };
    }
    assert_eq!(of_second, 12);
    interrupt(&child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn lines_for_people_have_units() {
    let place = Place::new("lines");
    let segment = place.segment("people");
    let recorded = histogram(&segment, "request", &Options::default());
    let child = start(&place.0, &["show", "people", "--every", "300ms", "--count", "3"]);
    for _ in 0..12 {
        recorded.record_n(3_290_000, 10);
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let (shown, errors) = text(&output);
    assert!(output.status.success(), "{errors}");
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.contains("request{method=GET,route=/pay}") && shown.contains(" ms"), "{shown}");
}

/// A full pipe does not prevent a command from ending.
#[test]
fn signals_end_it_while_nobody_reads() {
    let place = Place::new("unread");
    let segment = place.segment("unread");
    let names: Vec<String> = (0..40).map(|at| format!("request{at}")).collect();
    let small = Options { relative_error: 0.1, ..Options::default() };
    names.iter().for_each(|name| histogram(&segment, name, &small).record(1));
    let mut child = start(&place.0, &["show", "unread", "--every", "10ms", "--json"]);
    let out = std::os::fd::AsRawFd::as_raw_fd(child.stdout.as_ref().unwrap());
    // One interval overfills a page. Where the pipe already holds more, it keeps its size, and is full later.
    // SAFETY: an open pipe of this process.
    let is_small = unsafe { libc::fcntl(out, libc::F_SETPIPE_SZ, 4096) } == 4096;
    // SAFETY: as above.
    let size = if is_small { 4096 } else { unsafe { libc::fcntl(out, libc::F_GETPIPE_SZ) } };
    let mut unread: libc::c_int = 0;
    // What does not fit in whole pages leaves some of them in part empty.
    while unread < if is_small { size } else { size / 2 } {
        std::thread::sleep(Duration::from_millis(1));
        // SAFETY: as above, and a number on the stack.
        assert_eq!(unsafe { libc::ioctl(out, libc::FIONREAD, &raw mut unread) }, 0);
    }
    send(&child, libc::SIGTERM);
    let ended = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap().is_some()
    });
    let _ = child.kill();
    assert!(ended && child.wait().unwrap().success());
}

#[test]
fn a_log_has_all_that_was_recorded_over_restarts() {
    let place = Place::new("record");
    let log = &*place.path("a.hlog");
    let service = Service::start(
        &place,
        "logged",
        "histogram request ns 1000 5 x;histogram with,comma<b> - 7 3 x;counter jobs - 0 7 x",
    );
    let mut child = start(&place.0, &["record", "logged", "-o", log, "--interval", "100ms"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    // The log is created when the program is found. It contains nothing from before.
    wait_for(log);
    service.end();
    assert!(errors.any(|line| line.unwrap().contains("has ended")));
    let again =
        Service::start(&place, "logged", "histogram request ns 1000 5 x;histogram with,comma<b> - 7 3 x");
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
    let found = totals(log);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found["request"].0, 5);
    assert_eq!(found["with;comma<b>"].0, 3);
    assert!((1000..1100).contains(&found["request"].1), "{found:?}");
    // Other commands can read the log.
    let output = picollo(&place.0, &["hlog", log, "--by-tag"]);
    assert!(output.status.success() && text(&output).0.contains("with;comma"), "{:?}", text(&output));
    let refused = picollo(&place.0, &["record", "logged", "-o", log, "--for", "1"]);
    assert_eq!(refused.status.code(), Some(1));
    // It can also become a page.
    let page = place.path("page.html");
    let output = picollo(&place.0, &["report", log, "-o", &page]);
    assert!(output.status.success(), "{:?}", text(&output));
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("<h2>with;comma&lt;b&gt;</h2>") && html.matches("<svg").count() == 4, "{html}");
}

#[test]
fn logs_are_rotated_and_lose_nothing() {
    let place = Place::new("rotate");
    let segment = place.segment("rotated");
    // With HdrHistogram's layout, there are no notes.
    let options = Options { relative_error: 0.0005, ..Options::default() };
    let recorded = histogram(&segment, "request", &options);
    let log = &*place.path("b.hlog");
    let child = start(
        &place.0,
        &["record", "rotated", "-o", log, "--interval", "10ms", "--rotate", "2kB", "--keep", "3"],
    );
    wait_for(log);
    std::thread::sleep(Duration::from_millis(300));
    let mut total = 0;
    for number in 0..2000u64 {
        recorded.record(1 + number * 1000);
        total += 1;
        std::thread::sleep(Duration::from_micros(500));
        // Ends before the first file is dropped.
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
        .map(|path| totals(path).values().map(|(total, _)| total).sum::<u64>())
        .sum();
    assert!(logs[1].exists() && fs::metadata(&logs[1]).unwrap().len() <= 2000);
    assert_eq!(sum, total);
}

/// Three processes publish under one name, like spawned workers: they are one service unless one of them is selected.
#[test]
fn workers_that_were_spawned_are_one_service() {
    let place = Place::new("workers");
    let what = "histogram request ns 1000000 100 x;counter jobs - 0 7 x";
    let mut workers: Vec<Service> = (0..2).map(|_| Service::start(&place, "web", what)).collect();
    // One of them has another unit, which must not be added to the others.
    workers.push(Service::start(&place, "web", &format!("{what};histogram other us 5 1 x")));
    let other = Service::start(&place, "web", "histogram other ns 5 1 x");
    let json = |arguments: &[&str]| json(&picollo(&place.0, arguments));
    let counts = |shown: &serde_json::Value| -> Vec<(String, u64)> {
        let entries = shown["entries"].as_array().unwrap().iter();
        entries
            .map(|one| (one["name"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap()))
            .collect()
    };
    let named = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    let shown = json(&["show", "web", "--json"]);
    assert_eq!(
        counts(&shown),
        named(&[("request", 300), ("jobs", 21), ("other", 1), ("other", 1)]),
        "{shown}"
    );
    assert_eq!(shown["entries"][0]["pids"].as_array().unwrap().len(), 3);
    let pid = workers[1].0.id().to_string();
    assert_eq!(
        counts(&json(&["show", "web", "--pid", &pid, "--json"])),
        named(&[("request", 100), ("jobs", 7)])
    );
    let (shown, _) = text(&picollo(&place.0, &["show", "web"]));
    assert!(shown.starts_with("web (") && shown.contains("4 processes: "), "{shown}");

    let log = &*place.path("web.hlog");
    let child = start(&place.0, &["record", "web", "-o", log, "--interval", "50ms"]);
    wait_for(log);
    for worker in &mut workers {
        writeln!(worker.0.stdin.as_mut().unwrap(), "0 3290000 10").unwrap();
    }
    // A fourth one starts meanwhile and is included with all its records.
    workers.push(Service::start(&place, "web", what));
    while totals(log).get("request").is_none_or(|(total, _)| *total < 130) {
        std::thread::sleep(Duration::from_millis(20));
    }
    interrupt(&child);
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(totals(log)["request"].0, 130);

    let page = place.path("page.html");
    let output = picollo(&place.0, &["report", "web", "--match", "request", "-o", &page]);
    assert!(output.status.success(), "{:?}", text(&output));
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("<td>430</td>") && html.matches("<h2>").count() == 1, "{html}");
    drop(other);

    // If several have ended, the user must choose one.
    workers.into_iter().for_each(drop);
    let output = picollo(&place.0, &["show", "web"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).1.contains("have ended; choose one with --pid: "), "{:?}", text(&output));
    assert_eq!(counts(&json(&["show", "web", "--pid", &pid, "--json"]))[0].1, 110);
}

#[test]
fn prune_removes_what_nobody_holds() {
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
        ("", "picollo prune: 1 ended segment is younger than --older and kept\n")
    );
    let (removed, errors) = text(&picollo(&place.0, &["prune", "--older", "0s"]));
    assert!(
        removed.lines().count() == 1 && removed.contains("dead.") && errors.is_empty(),
        "{removed}{errors}"
    );
    assert!(!listed().contains("dead") && listed().contains("kept"));
    drop(kept);
}
