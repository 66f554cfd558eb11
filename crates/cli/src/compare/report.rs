//! The results of a comparison of two commands, for people and as JSON.

use std::time::Duration;

use picollo_stats::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION, COMPARISON_MARGIN_IS_RESOLUTION,
    COMPARISON_NOISY, COMPARISON_TOO_FEW, Verdict,
};
use picollo_text::{Answer, Unit};
use serde_json::{Map, Value, json};

use super::figures;
use super::metric::Metric;
use super::runner::Runner;
use super::{Arguments, Compared, Measured};
use crate::table::{Form, printable, table};

/// A difference in per cent of A, or absolute if A is zero or almost zero.
fn change(metric: &Metric, found: &BlockComparison, value: f64) -> String {
    let base = found.median_a;
    // No value can be below zero.
    let value = if value.is_finite() { value.max(-base) } else { value };
    if !value.is_finite() {
        "n/a".into()
    } else if base > metric.resolution {
        let text = format!("{:+.1} %", value / base * 100.0).replace('-', "−");
        if text == "+0.0 %" || text == "−0.0 %" { "0 %".into() } else { text }
    } else {
        let sign = if value > 0.0 {
            "+"
        } else if value < 0.0 {
            "−"
        } else {
            ""
        };
        format!("{sign}{}", metric.kind.write(value.abs()))
    }
}

/// A verdict in words.
pub(super) fn verdict_text(verdict: u32, flags: u32) -> &'static str {
    match Verdict::from_code(verdict) {
        Verdict::NoEvidence if flags & COMPARISON_NOISY != 0 => "unproven: noisy",
        verdict => verdict.as_str(),
    }
}

fn verdict(metric: &Metric, found: &BlockComparison) -> &'static str {
    match Verdict::from_code(found.verdict) {
        verdict if metric.key == "wall" || verdict == Verdict::NoEvidence => {
            verdict_text(found.verdict, found.flags)
        }
        Verdict::Slower => "more",
        _ => "less",
    }
}

fn has(found: &BlockComparison, flag: u32) -> bool {
    found.flags & flag != 0
}

fn row(Compared { metric, found }: &Compared) -> Vec<String> {
    let mut cells = vec![metric.name.clone()];
    match found {
        None => cells.extend(["n/a", "n/a", "n/a", ""].map(str::to_owned)),
        Some(found) => {
            let [lower, upper, middle] = [found.difference_lower, found.difference_upper, found.difference]
                .map(|end| change(metric, found, end));
            let (a, b) = (found.median_a.max(0.0), found.median_b.max(0.0));
            let verdict = if has(found, COMPARISON_BELOW_RESOLUTION) {
                BELOW_RESOLUTION
            } else {
                verdict(metric, found)
            };
            cells.extend([
                metric.write(a),
                metric.write(b),
                format!("{middle} [{lower}, {upper}]"),
                verdict.to_owned(),
            ]);
        }
    }
    cells
}

const BELOW_RESOLUTION: &str = "below the resolution";

/// The data for a report.
pub(super) struct Report<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) runner: &'a Runner,
    pub(super) measured: &'a Measured,
    pub(super) compared: &'a [Compared],
}

impl Report<'_> {
    /// The table, with the commands and the number of runs.
    pub(super) fn text(&self, took: Duration) -> String {
        let Report { arguments, runner, measured, compared } = *self;
        let mut text = String::new();
        for (name, command) in arguments.names.iter().zip(&runner.commands) {
            let command = shlex::try_join(command.iter().map(String::as_str)).unwrap_or_default();
            text += &format!("{}: {}\n", printable(name), printable(&command));
        }
        let (blocks, took) = (measured.blocks.len(), took.as_secs_f64());
        let plural = if blocks == 1 { "" } else { "s" };
        text += &format!("{} runs of each in {blocks} block{plural}, {took:.1} s\n\n", 2 * blocks);
        // Rows in which both values are zero are left out.
        let has_trace = |compared: &Compared| {
            compared.metric.key != "major_faults"
                || compared.found.is_none_or(|found| found.median_a != 0.0 || found.median_b != 0.0)
        };
        let is_shown = |compared: &&Compared| {
            let key = compared.metric.key.as_str();
            let is_asked =
                ["wall", "cpu", "memory"].contains(&key) || arguments.events.iter().any(|event| event == key);
            has_trace(compared) && (arguments.has_all || is_asked)
        };
        let [a, b] = &arguments.names;
        let rows: Vec<Vec<String>> = compared.iter().filter(is_shown).map(row).collect();
        text += &table(&["Per run", a, b, "Difference", "Verdict"], &rows, &[0, 4], Form::Text);
        text.push('\n');
        for message in runner.missing().into_iter().chain(runner.multiplexed()) {
            text += &format!("{}\n\n", printable(&message));
        }
        text
    }

    /// Everything, with the times of all blocks.
    pub(super) fn json(&self, against: Option<Value>, why: Option<Value>) -> String {
        let Report { arguments, runner, measured, compared } = *self;
        let mut metrics = Map::new();
        for (at, Compared { metric, found }) in compared.iter().enumerate() {
            let value = found.map_or(Value::Null, |found| {
                // Infinite values become null.
                json!({
                    "a": found.median_a,
                    "b": found.median_b,
                    "difference": found.difference,
                    "lower": Some(found.difference_lower).filter(|lower| lower.is_finite()).map(|lower| lower.max(-found.median_a)),
                    "upper": found.difference_upper,
                    "coverage": found.coverage,
                    "margin": found.margin,
                    "margin_by": if has(&found, COMPARISON_MARGIN_IS_RESOLUTION) { "resolution" } else { "threshold" },
                    "resolution": found.resolution,
                    "below_resolution": has(&found, COMPARISON_BELOW_RESOLUTION),
                    "smallest_detectable": found.smallest_detectable,
                    "lag1": found.lag1,
                    "autocorrelated": has(&found, COMPARISON_AUTOCORRELATED),
                    "verdict": verdict(metric, &found),
                    "blocks": measured.blocks.iter().map(|block| json!([block[0][at], block[1][at]])).collect::<Vec<_>>(),
                })
            });
            metrics.insert(metric.key.clone(), value);
        }
        let mut noise = super::noise(&measured.noise);
        noise["noisy"] = has(&measured.wall, COMPARISON_NOISY).into();
        noise["left_out"] = json!(measured.left_out);
        let mut all = json!({
            "names": arguments.names,
            "commands": runner.commands,
            "block_count": measured.blocks.len(),
            "metrics": metrics,
            "events": runner.events_json(&arguments.events),
            "noise": noise,
            "figures": figures::json(&figures::compute(measured, arguments)),
        });
        for (key, value) in [("against", against), ("why", why)] {
            if let Some(value) = value {
                all[key] = value;
            }
        }
        format!("{all:#}\n")
    }
}

/// The library's answer, or what to do if there were too few runs.
pub(super) fn sentence(arguments: &Arguments, found: &BlockComparison) -> String {
    let [a, b] = &arguments.names;
    let is_too_few = has(found, COMPARISON_TOO_FEW) && !has(found, COMPARISON_NOISY);
    if is_too_few && Verdict::from_code(found.verdict) == Verdict::NoEvidence {
        return printable(&format!("Too few runs to distinguish {a} from {b}: use a larger --budget."))
            + "\n";
    }
    printable(&Answer::for_blocks(found, a, b, Unit::new("s")).to_string()) + "\n"
}

/// A sentence about the differences that can make a program wait.
pub(super) fn differences(compared: &[Compared]) -> String {
    let keys =
        ["page_faults", "major_faults", "waiting", "waits", "preemptions", "run_queue", "memory", "system"];
    let of = |compared: &Compared| {
        let (metric, found) = (&compared.metric, compared.found?);
        let is_known =
            keys.contains(&metric.key.as_str()) && Verdict::from_code(found.verdict) != Verdict::NoEvidence;
        let differs = is_known && !has(&found, COMPARISON_BELOW_RESOLUTION);
        let values = [found.median_a, found.median_b].map(|value| metric.write(value.max(0.0)));
        differs
            .then(|| format!("{} {} instead of {}", metric.name.trim().to_lowercase(), values[1], values[0]))
    };
    let differ: Vec<String> = compared.iter().filter_map(of).collect();
    if differ.is_empty() {
        return "No difference is proven in page faults, waiting, run queue, context switches, peak memory and system time.".into();
    }
    format!("What differs: {}.", differ.join(", "))
}

#[cfg(test)]
mod tests;
