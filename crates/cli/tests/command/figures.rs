//! Figures in `picollo compare`: they match the measurements on both sides.

use std::process::Output;

use serde_json::Value;

use crate::common::{run, text};

fn compare(arguments: &[&str]) -> Output {
    let blocks =
        ["compare", "--budget=20", "--precision=0", "--min-blocks=6", "--max-blocks=6", "--keep-disturbed"];
    run(&[&blocks, arguments].concat())
}

fn json(arguments: &[&str]) -> Value {
    crate::common::json(&compare(&[&["--json"], arguments].concat()))
}

#[test]
fn figures_use_the_sums_of_both_sides() {
    let turns = |number| format!("sh -c 'i=0; while [ $i -lt {number} ]; do i=$((i+1)); done'");
    let found = json(&[&turns(2000), &turns(6000)]);
    let sum = |key: &str, side: usize| -> f64 {
        let blocks = found["metrics"][key]["blocks"].as_array().unwrap().iter();
        blocks.map(|block| block[side].as_f64().unwrap()).sum()
    };
    let figure = &found["figures"]["cpus"];
    let [a, b, difference] = ["a", "b", "difference"].map(|side| {
        let [value, lower, upper] =
            ["value", "lower", "upper"].map(|end| figure[side][end].as_f64().unwrap());
        assert!(lower <= value && value <= upper && figure[side]["blocks"] == 6, "{figure}");
        value
    });
    for (value, side) in [(a, 0), (b, 1)] {
        let expected = sum("cpu", side) / sum("wall", side);
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} and not {expected}");
    }
    assert!((difference - (b - a)).abs() <= 1e-9 * a.abs(), "{figure}");
}

#[test]
fn figures_without_counts_are_absent() {
    // The kernel of this machine does not count such events.
    let options = ["--event=L1-icache-load-misses", "true", "true"];
    let never = &json(&options)["figures"]["zen4-retiring"];
    for side in ["a", "b", "difference"] {
        assert!(never[side]["value"].is_null(), "{never}");
        assert!(never[side]["why_not"].as_str().unwrap().contains("ex_ret_ops is not counted"), "{never}");
    }
    let (text, _) = text(&compare(&options));
    assert!(text.contains("\ncpus") && !text.contains("zen4-retiring"), "{text}");
}

/// An event that exists without a PMU.
#[test]
fn events_are_in_figures() {
    let found = json(&["--event=minor-faults", "--event=instructions:u", "true", "true"]);
    let metrics = found["metrics"].as_object().unwrap();
    assert!(
        metrics["minor-faults"]["a"].as_f64().is_some_and(|faults| faults > 10.0),
        "{}",
        metrics["minor-faults"]
    );
    // A figure is counted or unknown, but never zero.
    let ipc = &found["figures"]["ipc"]["a"];
    assert!(
        ipc["value"].as_f64().is_some_and(|value| value > 0.0) || ipc["why_not"].as_str().is_some(),
        "{ipc}"
    );
}
