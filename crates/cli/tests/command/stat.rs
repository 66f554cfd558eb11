//! `picollo stat`: measures a command.

use std::process::Output;

use serde_json::Value;

use crate::common::{self, Place, run, text};

fn stat(arguments: &[&str]) -> Output {
    run(&[&["stat"], arguments].concat())
}

fn json(arguments: &[&str]) -> Value {
    common::json(&stat(&[&["--json"], arguments].concat()))
}

fn error(arguments: &[&str]) -> String {
    let output = stat(arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    text(&output).1
}

/// Figures match the sums over the runs, and are consistent.
#[test]
fn figures_use_what_was_measured() {
    let found = json(&["--runs=5", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
    assert_eq!((&found["run_count"], &found["confidence"]), (&Value::from(5), &Value::from(0.95)));
    let [wall, cpu] = ["wall", "cpu"].map(|key| {
        let metric = &found["metrics"][key];
        let runs = metric["runs"].as_array().unwrap().iter();
        let values: Vec<f64> = runs.map(|value| value.as_f64().unwrap()).collect();
        let sum = values.iter().sum::<f64>();
        let [mean, lower, upper, spread] =
            ["mean", "lower", "upper", "spread"].map(|name| metric[name].as_f64().unwrap());
        assert!((mean - sum / 5.0).abs() <= 1e-9 * mean, "{key}: {metric}");
        assert!(0.0 <= lower && lower <= mean && mean <= upper, "{key}: {metric}");
        let expected = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        assert!((spread - expected).abs() <= 1e-9 * mean, "{key}: {metric}");
        sum
    });
    let cpus = found["figures"]["cpus"]["value"].as_f64().unwrap();
    assert!((cpus - cpu / wall).abs() < 1e-9 && cpus > 0.0, "{cpus}");
}

/// The peak memory of a small program is only known to be at most that of this command, which it inherits.
#[test]
fn memory_of_a_small_program_is_a_bound() {
    let line = |program: &[&str]| {
        let (text, _) = text(&stat(&[&["--runs=2"], program].concat()));
        text.lines().find(|line| line.starts_with("Peak memory")).unwrap().to_owned()
    };
    let small = line(&["true"]);
    assert!(small.contains("  ≤ ") && small.trim_end().ends_with(" MiB"), "{small}");
    let large = line(&["sh", "-c", "x=$(head -c 30000000 /dev/zero | tr '\\0' x); :"]);
    assert!(large.contains(" MiB") && !large.contains('≤'), "{large}");
}

/// An uncounted event is never 0. Without a PMU, that is reported once.
#[test]
fn a_count_that_is_missing_is_unknown() {
    let has_pmu = picollo_perf::probe().pmu_available == 1;
    let found = json(&["--runs=2", "-e", "cycles,page-faults", "--event=context-switches", "true"]);
    assert!(found["metrics"]["context-switches"]["mean"].is_number(), "{found}");
    let ipc = &found["figures"]["ipc"];
    assert!(ipc["value"].is_null() && ipc["why_not"] == "instructions is not counted here", "{ipc}");
    assert_eq!(found["metrics"]["cycles"].is_null(), !has_pmu);
    assert!(found["metrics"]["page-faults"]["mean"].as_f64().unwrap() > 0.0, "{found}");
    let (all, _) = text(&stat(&["--runs=2", "--all", "true"]));
    assert!(all.contains("tma-retiring") && all.contains("topdown-retiring is not counted here"), "{all}");
    let (text, _) = text(&stat(&["--runs=2", "true"]));
    assert_eq!(text.matches("This machine has no PMU").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.matches("--counts counts").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.contains("not known"), has_pmu && text.contains("not counted"), "{text}");
}

#[test]
fn commands_fail_read_input_and_run_in_a_shell() {
    assert!(error(&["--runs=2", "false"]).contains("false: failed with status 1"));
    assert!(error(&["--runs=2", "/no/such/program"]).contains("No such file"));
    assert!(error(&["--shell", "a", "b"]).contains("one argument"));
    assert_eq!(json(&["--runs=2", "--ignore-failure", "false"])["run_count"], 2);
    let place = Place::new("stat");
    let input = place.write("input", "1\n");
    // Each run reads it from its start.
    assert_eq!(json(&["--runs=3", "--input", &input, "--shell", "read x && test $x = 1"])["run_count"], 3);
    // Without --input it is empty, whatever this command's is.
    let mut without = common::command(&["stat", "--json", "--runs=1", "--shell", "! read x"]);
    let without = without.stdin(std::fs::File::open(&input).unwrap()).output().unwrap();
    assert_eq!(common::json(&without)["run_count"], 1);
    assert_eq!(stat(&["--runs=2"]).status.code(), Some(2));
    // A file gets the JSON in addition to the printed text.
    let beside = place.path("beside");
    let (text, _) = text(&stat(&["--runs=2", "--export-json", &beside, "true"]));
    let written: Value = serde_json::from_slice(&std::fs::read(beside).unwrap()).unwrap();
    assert!(text.contains("Wall time") && written["run_count"] == 2, "{text}{written}");
    assert!(stat(&["--runs=2", "--export-json", "/no/such/file", "true"]).status.code() == Some(1));
}
