//! Figures in `picollo compare`: of what was measured, on both sides.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use std::process::{Command, Output};

use serde_json::Value;

/// Without sets of the user's.
fn compare(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    let blocks = ["compare", "--budget=20", "--precision=0", "--min-blocks=6", "--max-blocks=6"];
    command.args(blocks).args(arguments).env("XDG_CONFIG_HOME", "/nowhere").output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = compare(&[&["--json"], arguments].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn turns(number: u32) -> String {
    format!("sh -c 'i=0; while [ $i -lt {number} ]; do i=$((i+1)); done'")
}

#[test]
fn figures_are_of_the_sums_of_both() {
    let found = json(&[&turns(2000), &turns(6000)]);
    let (metrics, figures) = (&found["metrics"], &found["figures"]);
    let sum = |key: &str, side: usize| -> f64 {
        metrics[key]["blocks"].as_array().unwrap().iter().map(|block| block[side].as_f64().unwrap()).sum()
    };
    for (name, over, below, factor) in
        [("cpus", "cpu", "wall", 1.0), ("faults-per-second", "page_faults", "cpu", 1.0)]
    {
        let figure = &figures[name];
        let values = [("a", 0), ("b", 1)].map(|(side, at)| {
            let value = figure[side]["value"].as_f64().unwrap();
            let expected = factor * sum(over, at) / sum(below, at);
            assert!((value / expected - 1.0).abs() < 1e-9, "{name}: {value} and not {expected}");
            let [lower, upper] = ["lower", "upper"].map(|end| figure[side][end].as_f64().unwrap());
            assert!(lower <= value && value <= upper && figure[side]["blocks"] == 6, "{figure}");
            value
        });
        let difference = figure["difference"]["value"].as_f64().unwrap();
        assert!((difference - (values[1] - values[0])).abs() <= 1e-9 * values[0].abs(), "{figure}");
        let [lower, upper] = ["lower", "upper"].map(|end| figure["difference"][end].as_f64().unwrap());
        assert!(lower <= difference && difference <= upper, "{figure}");
    }
}

#[test]
fn what_is_not_counted_is_no_zero_and_not_shown() {
    let file = std::env::temp_dir().join(format!("picollo-compare-figures-{}", std::process::id()));
    // What a turn costs is the difference; and something that this machine's kernel does not count.
    std::fs::write(&file, "planted [of 3] = 3 * wall-clock / wall-clock\n  Always three.\nnever = r01ff / wall-clock\n  Of nothing.\n").unwrap();
    let option = format!("--figures={}", file.display());
    let found = json(&[&option, "true", "true"]);
    let planted = &found["figures"]["planted"];
    for (side, expected) in [("a", 3.0), ("b", 3.0), ("difference", 0.0)] {
        assert_eq!(planted[side]["value"], expected, "{planted}");
    }
    let never = &found["figures"]["never"];
    for side in ["a", "b", "difference"] {
        assert!(
            never[side]["value"].is_null()
                && never[side]["why_not"].as_str().unwrap().contains("r01ff is not counted")
        );
    }
    let output = compare(&[&option, "true", "true"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("\nplanted") && text.contains("3 of 3 [3, 3]") && !text.contains("never"),
        "{text}"
    );
    let wrong = compare(&["--figures=/no/such/file", "true", "true"]);
    assert!(wrong.status.code() == Some(1) && wrong.stdout.is_empty());
    std::fs::remove_file(file).unwrap();
}

/// An event that there is without a PMU.
#[test]
fn events_are_in_figures() {
    let found = json(&["--event=minor-faults", "--event=instructions:u", "true", "true"]);
    let metrics = found["metrics"].as_object().unwrap();
    assert!(
        metrics["minor-faults"]["a"].as_f64().is_some_and(|faults| faults > 10.0),
        "{}",
        metrics["minor-faults"]
    );
    // Counted or not known, never nothing.
    let ipc = &found["figures"]["ipc"]["a"];
    assert!(
        ipc["value"].as_f64().is_some_and(|value| value > 0.0) || ipc["why_not"].as_str().is_some(),
        "{ipc}"
    );
}
