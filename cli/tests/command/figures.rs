//! Figures in `picollo compare`: of what was measured, on both sides.

use std::process::Output;

use serde_json::Value;

use crate::common::{command, text};

fn compare(arguments: &[&str]) -> Output {
    let blocks =
        ["compare", "--budget=20", "--precision=0", "--min-blocks=6", "--max-blocks=6", "--keep-disturbed"];
    command(&blocks).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    crate::common::json(&compare(&[&["--json"], arguments].concat()))
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
    // This machine's kernel counts no such event.
    let options = ["--event=L1-icache-load-misses", "true", "true"];
    let never = &json(&options)["figures"]["zen4-retiring"];
    for side in ["a", "b", "difference"] {
        assert!(never[side]["value"].is_null(), "{never}");
        assert!(never[side]["why_not"].as_str().unwrap().contains("ex_ret_ops is not counted"), "{never}");
    }
    let (text, _) = text(&compare(&options));
    assert!(text.contains("\ncpus") && !text.contains("zen4-retiring"), "{text}");
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
