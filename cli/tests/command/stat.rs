//! `picollo stat`: what a command takes.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// Without sets of the user's.
fn picollo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    command.arg("stat").args(arguments).env("XDG_CONFIG_HOME", "/nowhere").output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = picollo(&[&["--json"], arguments].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn error(arguments: &[&str]) -> String {
    let output = picollo(arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    String::from_utf8(output.stderr).unwrap()
}

struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("picollo-stat-{name}-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Figures are of the sums of what the runs took, and all of them hold together.
#[test]
fn figures_are_of_what_was_measured() {
    let found = json(&["--runs=5", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
    let (metrics, figures) = (&found["metrics"], &found["figures"]);
    assert_eq!((&found["run_count"], &found["confidence"]), (&Value::from(5), &Value::from(0.95)));
    let runs = |key: &str| -> Vec<f64> {
        metrics[key]["runs"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    for key in ["wall", "cpu", "memory", "page_faults", "waits"] {
        let (values, metric) = (runs(key), &metrics[key]);
        let mean = values.iter().sum::<f64>() / 5.0;
        let number = |name: &str| metric[name].as_f64().unwrap();
        assert!((number("mean") - mean).abs() <= 1e-9 * mean, "{key}: {metric}");
        assert!(
            0.0 <= number("lower") && number("lower") <= mean && mean <= number("upper"),
            "{key}: {metric}"
        );
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        assert!((number("spread") - spread).abs() <= 1e-9 * mean, "{key}: {metric}");
        // Student's interval where no run makes most of the difference: as wide as that, or wider by what is stated.
        let half = number("upper") - mean;
        assert!(half >= 2.776 * spread / 5f64.sqrt() * 0.999, "{key}: {metric}");
    }
    let (wall, cpu): (f64, f64) = (runs("wall").iter().sum(), runs("cpu").iter().sum());
    let cpus = figures["cpus"]["value"].as_f64().unwrap();
    assert!((cpus - cpu / wall).abs() < 1e-9 && cpus > 0.0, "{cpus}");
    let faults: f64 = runs("page_faults").iter().sum();
    assert!((figures["faults-per-second"]["value"].as_f64().unwrap() / (faults / cpu) - 1.0).abs() < 1e-9);
}

/// What a small program had at its most is not known above what it began with, which is this command's own.
#[test]
fn memory_of_a_small_program_is_a_bound() {
    let text =
        |program: &[&str]| String::from_utf8(picollo(&[&["--runs=2"], program].concat()).stdout).unwrap();
    let line = |text: String| text.lines().find(|line| line.starts_with("Peak memory")).unwrap().to_owned();
    let small = line(text(&["true"]));
    assert!(small.contains("  ≤ ") && small.trim_end().ends_with(" MiB"), "{small}");
    let large = line(text(&["sh", "-c", "x=$(head -c 30000000 /dev/zero | tr '\\0' x); :"]));
    assert!(large.contains(" MiB") && !large.contains('≤'), "{large}");
}

/// What was not counted is never 0, and said once where there is no PMU.
#[test]
fn what_is_not_counted_is_not_known() {
    let has_pmu = picollo_native::probe().pmu_available == 1;
    let found = json(&["--runs=2", "-e", "cycles,page-faults", "--event=context-switches", "true"]);
    assert!(found["metrics"]["context-switches"]["mean"].is_number(), "{found}");
    let ipc = &found["figures"]["ipc"];
    assert!(ipc["value"].is_null() && ipc["why_not"] == "instructions is not counted here", "{ipc}");
    assert_eq!(found["metrics"]["cycles"].is_null(), !has_pmu);
    assert!(found["metrics"]["page-faults"]["mean"].as_f64().unwrap() > 0.0, "{found}");
    let text = String::from_utf8(picollo(&["--runs=2", "true"]).stdout).unwrap();
    assert_eq!(text.matches("There is no PMU here").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.matches("--counts counts").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.contains("not known"), has_pmu && text.contains("not counted"), "{text}");
    let all = String::from_utf8(picollo(&["--runs=2", "--all", "true"]).stdout).unwrap();
    assert!(all.contains("tma-retiring") && all.contains("topdown-retiring is not counted here"), "{all}");
}

#[test]
fn commands_fail_and_read_and_are_of_a_shell() {
    assert!(error(&["--runs=2", "false"]).contains("false: failed with status 1"));
    assert!(error(&["--runs=2", "/no/such/program"]).contains("No such file"));
    assert!(error(&["--shell", "a", "b"]).contains("one argument"));
    assert_eq!(json(&["--runs=2", "--ignore-failure", "false"])["run_count"], 2);
    let input = File::new("input", "1\n");
    // Each run reads it from its start.
    let reads = ["--runs=3", "--input", input.name(), "--shell", "read x && test $x = 1"];
    assert_eq!(json(&reads)["run_count"], 3);
    assert_eq!(picollo(&["--runs=2"]).status.code(), Some(2));
    // Beside what is printed, a file has the same for programs.
    let beside = File::new("beside", "");
    let text =
        String::from_utf8(picollo(&["--runs=2", "--export-json", beside.name(), "true"]).stdout).unwrap();
    let written: Value = serde_json::from_slice(&std::fs::read(&beside.0).unwrap()).unwrap();
    assert!(text.contains("Wall time") && written["run_count"] == 2, "{text}{written}");
    assert!(picollo(&["--runs=2", "--export-json", "/no/such/file", "true"]).status.code() == Some(1));
}
