//! Commands about this machine: `probe`, `events`, `hiccup`.

use std::collections::HashSet;
use std::io::Write;

use serde_json::Value;

use crate::common::{Place, command, json, read_log, run, text};

#[test]
fn probe_prints_what_the_library_found() {
    let info = picollo_perf::probe();
    let output = run(&["probe", "--json"]);
    let object = json(&output);
    assert_eq!(object["pmu_available"], info.pmu_available == 1);
    assert_eq!(object["hypervisor"], info.hypervisor == 1);
    assert_eq!(output.status.code(), Some(if info.pmu_available == 1 { 0 } else { 3 }));
    let text = text(&run(&["probe"])).0;
    let cycles = if info.pmu_available == 1 { "yes" } else { "no" };
    assert!(text.starts_with(&format!("CPU cycles can be counted: {cycles}\n")), "{text}");
    assert!(text.contains(info.explanation().trim()));
}

#[test]
fn events_are_named_and_tried() {
    let all = json(&run(&["events", "--json"]));
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|event| event["name"].as_str().unwrap()).collect();
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    assert!(has("Hardware:CpuCycles") && has("Software:PageFaults"), "{names:?}");
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "a name comes twice");
    for event in all.as_array().unwrap() {
        // Each name can be passed to others, except for libpfm4's doubtful codes.
        let name = event["name"].as_str().unwrap();
        assert!(event["config"].is_null() || picollo_perf::Event::parse(name).is_ok(), "{name}");
        assert_eq!(event["available"], event["why_not"].is_null(), "{event}");
    }
    let some = json(&run(&["events", "FAULTS", "--json"]));
    let named = |event: &Value| event["name"].as_str().unwrap().to_lowercase().contains("faults");
    assert!(some.as_array().unwrap().iter().all(named), "{some}");
    let none = run(&["events", "no such event"]);
    assert_eq!(none.status.code(), Some(1));
    let said = text(&none).1;
    assert!(said.starts_with("picollo events: no event has no such event in its name"), "{said}");
    assert!(!said.contains("Did you mean"), "{said}");
    let near = text(&run(&["events", "cylces"])).1;
    assert!(near.ends_with(". Did you mean cycles?\n"), "{near}");
}

/// If an environment variable makes libpfm4 assume another machine, its maker's names work, or the reason is shown.
#[test]
fn events_of_the_processors_maker() {
    let forced = |arguments: &[&str]| {
        command(arguments).env("LIBPFM_FORCE_PMU", "skx").env("XDG_CONFIG_HOME", "/nowhere").output().unwrap()
    };
    let listed = forced(&["events", "l1_miss"]);
    let (shown, refused) = text(&listed);
    if refused.contains("is not installed here") {
        // Bypasses the test program, which would capture the output.
        let _ = std::io::stderr()
            .write_all(b"SKIPPED: libpfm4 is not installed (ci/setup.sh tests installs it)\n");
        let plain = text(&run(&["events"])).0;
        assert!(plain.contains("no names of the processor's maker: libpfm4"), "{plain}");
        return;
    }
    let line = shown.lines().find(|line| line.starts_with("skx::MEM_LOAD_RETIRED.L1_MISS ")).unwrap();
    assert!(shown.starts_with("EVENT") && line.contains("missed the L1D"), "{shown}");
    let rows = json(&forced(&["events", "MEM_LOAD_RETIRED", "--json"]));
    let row =
        rows.as_array().unwrap().iter().find(|row| row["name"] == "skx::MEM_LOAD_RETIRED.L1_MISS").unwrap();
    for (key, value) in [("pmu", "skx"), ("config", "0x8d1"), ("config1", "0x0")] {
        assert_eq!(row[key], value, "{row}");
    }
    assert!(row["type"] == 4 && row["about"].as_str().unwrap().contains("missed the L1D"), "{row}");
    // An event with a doubtful code is listed, too, with the reason.
    let doubted = json(&forced(&["events", "UOPS_RETIRED.STALL_CYCLES", "--json"]));
    let why = doubted[0]["why_not"].as_str().unwrap();
    assert!(doubted[0]["available"] == false && why.contains("two codes"), "{doubted}");
    // Without a pattern, only their number is shown, so that the kernel's events are not lost among them.
    let plain = text(&forced(&["events"])).0;
    assert!(plain.contains("more are the processor's own") && !plain.contains("skx::"), "{plain}");
    let near = text(&forced(&["events", "mem_load_retired.l1_mizz"])).1;
    assert!(near.ends_with(". Did you mean MEM_LOAD_RETIRED.L1_MISS?\n"), "{near}");
    // Results include the events that were counted.
    let asked = ["--json", "--event=MEM_LOAD_RETIRED.L1_MISS:u", "--event=page-faults"];
    let stat = json(&forced(&[&["stat", "--runs=2"], &asked[..], &["true"]].concat()));
    let compare = json(&forced(&[&["compare", "--budget=1"], &asked[..], &["true", "true"]].concat()));
    for found in [stat, compare] {
        let event = &found["events"]["MEM_LOAD_RETIRED.L1_MISS:u"];
        assert_eq!(event["name"], "skx::MEM_LOAD_RETIRED.L1_MISS:u", "{found}");
        assert!(event["pmu"] == "skx" && event["config"] == "0x8d1" && event["type"] == 4, "{found}");
        let faults = &found["events"]["page-faults"];
        assert!(faults["name"] == "Software:PageFaults" && faults["pmu"].is_null(), "{found}");
    }
}

/// The program stops its parent, and its status is returned. Sleeps that were missed meanwhile are counted, too.
#[test]
fn stalls_are_found_and_corrected() {
    let place = Place::new("stall");
    let log = place.write("log.hlog", "");
    let program = "sleep 0.3; kill -STOP $PPID; sleep 0.5; kill -CONT $PPID; exit 7";
    let output = run(&["hiccup", "--json", "--force", "-o", &log, "--", "sh", "-c", program]);
    assert_eq!(output.status.code(), Some(7));
    let object = json(&output);
    let max = object["max"].as_u64().unwrap();
    assert!(max >= 400_000_000, "{object}");
    let (mut total, mut late) = (0, 0);
    for (tag, snapshot) in read_log(log) {
        assert_eq!(tag, "hiccup");
        total += snapshot.counts().total;
        let later = snapshot.recorded_buckets().filter(|bucket| bucket.lower >= 100_000_000);
        late += later.map(|bucket| bucket.count).sum::<u64>();
    }
    assert_eq!(Some(total), object["count"].as_u64());
    let text = text(&run(&["hiccup", "--for", "0.1"])).0;
    assert!(text.contains("Delays of a thread that sleeps 1.00 ms at a time"), "{text}");
    assert!(text.contains("run queue: "), "{text}");
    // A stall of half a second represents sleeps of 1 ms that were late by 499 ms, 498 ms, and so on.
    assert!(late >= 300, "{late} of {object}");
}
