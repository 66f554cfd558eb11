//! Commands about this machine: `probe`, `events`, `hiccup`.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use std::process::{Command, Output};

use serde_json::Value;

fn picollo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_picollo")).args(arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn what_can_be_counted_is_said_as_the_library_says_it() {
    let info = picollo_native::probe();
    let output = picollo(&["probe", "--json"]);
    let object = json(&output);
    assert_eq!(object["pmu_available"], info.pmu_available == 1);
    assert_eq!(object["hypervisor"], info.hypervisor == 1);
    assert_eq!(output.status.code(), Some(if info.pmu_available == 1 { 0 } else { 3 }));
    let text = String::from_utf8(picollo(&["probe"]).stdout).unwrap();
    let cycles = if info.pmu_available == 1 { "yes" } else { "no" };
    assert!(text.starts_with(&format!("CPU cycles can be counted: {cycles}\n")), "{text}");
    assert!(text.contains(info.explanation().trim()));
}

#[test]
fn events_are_named_and_tried() {
    let all = json(&picollo(&["events", "--json"]));
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|event| event["name"].as_str().unwrap()).collect();
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    assert!(has("Hardware:CpuCycles") && has("Software:PageFaults"), "{names:?}");
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "a name comes twice");
    // Each can be given to others by this name.
    for name in &names {
        assert!(picollo_native::Event::parse(name).is_ok(), "{name}");
    }
    for event in all.as_array().unwrap() {
        assert_eq!(event["available"], event["why_not"].is_null(), "{event}");
    }
    let some = json(&picollo(&["events", "FAULTS", "--json"]));
    assert!(
        some.as_array().unwrap().iter().all(|event| event["name"]
            .as_str()
            .unwrap()
            .to_lowercase()
            .contains("faults"))
    );
    let none = picollo(&["events", "no such event"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(none.stderr).unwrap(),
        "picollo events: no event has no such event in its name\n"
    );
}

/// A program whose status is kept, and which stops its parent: sleeps that were not slept meanwhile are counted, too.
#[test]
fn stalls_are_found_and_corrected() {
    let log = std::env::temp_dir().join(format!("picollo-stall-{}.hlog", std::process::id()));
    let program = "sleep 0.3; kill -STOP $PPID; sleep 0.5; kill -CONT $PPID; exit 7";
    let output = picollo(&["hiccup", "--json", "-o", log.to_str().unwrap(), "--", "sh", "-c", program]);
    assert_eq!(output.status.code(), Some(7));
    let object = json(&output);
    let max = object["max"].as_u64().unwrap();
    assert!(max >= 400_000_000, "{object}");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let (mut total, mut late) = (0, 0);
    for interval in picollo_core::log::Reader::new(&bytes) {
        let mut scratch = Vec::new();
        let snapshot = interval.unwrap().decoder(&mut scratch, 1 << 20).unwrap().boxed().unwrap();
        total += snapshot.counts().total;
        late += snapshot
            .recorded_buckets()
            .filter(|bucket| bucket.lower >= 100_000_000)
            .map(|bucket| bucket.count)
            .sum::<u64>();
    }
    assert_eq!(Some(total), object["count"].as_u64());
    // A stall of half a second stands for sleeps of 1 ms that were late by 499 ms, 498, and so on.
    assert!(late >= 300, "{late} of {object}");
}

#[test]
fn a_log_of_stalls() {
    let log = std::env::temp_dir().join(format!("picollo-hiccup-{}.hlog", std::process::id()));
    let path = log.to_str().unwrap();
    let output = picollo(&["hiccup", "--for", "1.2", "-o", path]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("How late a thread was that slept for 1.00 ms at a time")
            && text.contains("run queue: "),
        "{text}"
    );
    let bytes = std::fs::read(&log).unwrap();
    let tags: Vec<_> = picollo_core::log::Reader::new(&bytes)
        .map(|interval| interval.unwrap().tag.unwrap().to_owned())
        .collect();
    std::fs::remove_file(&log).unwrap();
    assert!((1..=4).contains(&tags.len()) && tags.iter().all(|tag| tag == "hiccup"), "{tags:?}");
}
