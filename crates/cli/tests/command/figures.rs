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

/// One command takes 0.2 s and 30 MB more. The values of each side are those of its runs, and the status follows the verdict, which may be
/// missing beside busy programs.
#[test]
fn a_slower_command_fails_if_asked() {
    let slow = "sleep 0.2; x=$(head -c 30000000 /dev/zero | tr '\\0' x)";
    let options = ["compare", "--budget=60", "--precision=0", "--shell", "--fail-if-slower"];
    let options = [
        &options,
        &["--json", "--threshold=0.05", "--min-blocks=8", "--max-blocks=8", "--keep-disturbed"][..],
    ]
    .concat();
    for (commands, reversed) in [(["true", slow], "faster"), ([slow, "true"], "slower")] {
        let output = run(&[&options, &commands[..]].concat());
        let found = crate::common::json(&output);
        let [wall, memory] = ["wall", "memory"].map(|key| &found["metrics"][key]);
        let longer = if reversed == "faster" { "b" } else { "a" };
        let at = usize::from(longer == "b");
        for block in 0..8 {
            let [wall, cpu, user, system] = ["wall", "cpu", "user", "system"]
                .map(|key| found["metrics"][key]["blocks"][block][at].as_f64().unwrap());
            assert!(wall >= 0.2 && (cpu - user - system).abs() < 1e-9, "{found}");
            // At most three processes run at a time.
            assert!(cpu <= 3.0 * wall + 0.1, "{found}");
        }
        assert!(wall[longer].as_f64().unwrap() > 0.1, "{wall}");
        assert_ne!(wall["verdict"], reversed, "{wall}");
        assert_eq!(memory["verdict"], if at == 1 { "more" } else { "less" }, "{memory}");
        let [lower, upper] = ["lower", "upper"].map(|end| wall[end].as_f64().unwrap());
        assert!(lower <= wall["difference"].as_f64().unwrap() && lower < upper, "{wall}");
        let is_threshold = memory["margin"].as_f64() > memory["resolution"].as_f64();
        let margin = memory["resolution"].as_f64().unwrap().max(0.05 * memory["a"].as_f64().unwrap());
        assert!((memory["margin"].as_f64().unwrap() - margin).abs() < 1.0, "{memory}");
        assert_eq!(memory["margin_by"], if is_threshold { "threshold" } else { "resolution" }, "{memory}");
        let expected = if wall["verdict"] == "slower" { 3 } else { 0 };
        assert_eq!((output.status.code(), text(&output).1.as_str()), (Some(expected), ""), "{wall}");
    }
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

/// In standard errors of five runs, the quantiles of Student's t are at least 0.7 for a confidence of a half, 2.8 for the default and 8.6 for
/// 0.999. If one run dominates the spread, they have one degree of freedom: 1.0, 12.7 and 637.
#[test]
fn the_interval_of_a_mean_has_the_requested_confidence() {
    for (confidence, widths) in [("0.5", 0.7..1.1), ("0.999", 8.6..f64::MAX)] {
        let found =
            crate::common::json(&run(&["stat", "--json", "--runs=5", "--confidence", confidence, "true"]));
        let [mean, upper, spread] =
            ["mean", "upper", "spread"].map(|key| found["metrics"]["wall"][key].as_f64().unwrap());
        assert!(widths.contains(&((upper - mean) / spread * 5f64.sqrt())), "{confidence}: {found}");
    }
}
