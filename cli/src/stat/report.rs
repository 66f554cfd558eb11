//! What `picollo stat` says: for people, and for programs.

use picollo_core::text::Unit;
use picollo_native::BenchmarkNoise;
use serde_json::{Map, Value, json};

use super::Measure;
use super::figures::Derived;
use crate::compare::metric;
use crate::table::{Form, printable, table};

pub(super) struct Report<'a> {
    pub(super) command: String,
    pub(super) parts: &'a [String],
    pub(super) runs: usize,
    pub(super) measures: Vec<Measure>,
    pub(super) derived: Vec<Derived>,
    pub(super) notes: Vec<String>,
    pub(super) confidence: f64,
    /// What was counted, by name.
    pub(super) events: Value,
    pub(super) noise: BenchmarkNoise,
}

/// Four digits that count.
fn figure(value: f64) -> String {
    Unit::NONE.number(value).to_string()
}

impl Report<'_> {
    pub(super) fn text(&self, has_all: bool) -> String {
        let mut text = format!("{}\n{} runs\n\n", printable(&self.command), self.runs);
        let interval = format!("{:.0}% interval", self.confidence * 100.0);
        let rows: Vec<Vec<String>> = self.measures.iter().map(row).collect();
        let headings = ["Per run", "Mean", &interval, "Spread"].map(str::to_owned);
        text += &table(&headings, &rows, &[0], Form::Text);
        let known = |derived: &&Derived| has_all || derived.value.is_ok();
        let rows: Vec<Vec<String>> = self.derived.iter().filter(known).map(derived_row).collect();
        if !rows.is_empty() {
            let headings = ["Figure", "Value", &interval, "What it is"].map(str::to_owned);
            text += &format!("\n{}", table(&headings, &rows, &[0, 3], Form::Text));
        }
        for note in &self.notes {
            text += &format!("\n{}\n", printable(note));
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let estimate = |found: &picollo_core::FigureEstimate| json!({ "value": found.value, "lower": found.lower, "upper": found.upper, "runs": found.scopes });
        let measures: Map<String, Value> = self
            .measures
            .iter()
            .map(|measure| {
                let value = measure.mean.as_ref().map_or(Value::Null, |mean| {
                    json!({
                        "mean": mean.value, "lower": mean.lower, "upper": mean.upper,
                        "spread": measure.spread(), "runs": measure.values,
                    })
                });
                (measure.key.clone(), value)
            })
            .collect();
        let figures: Map<String, Value> = self
            .derived
            .iter()
            .map(|derived| {
                let value = match &derived.value {
                    Ok(found) => estimate(found),
                    Err(why) => json!({ "value": null, "why_not": why }),
                };
                let mut value = value;
                value["unit"] = json!(derived.figure.unit);
                value["events"] = json!(derived.figure.events);
                (derived.figure.name.to_owned(), value)
            })
            .collect();
        let all = json!({
            "command": self.parts, "run_count": self.runs, "confidence": self.confidence,
            "metrics": measures, "events": self.events, "figures": figures, "notes": self.notes,
            "noise": crate::compare::noise(&self.noise),
        });
        format!("{all:#}\n")
    }
}

fn row(measure: &Measure) -> Vec<String> {
    let Some(mean) = &measure.mean else {
        return [measure.name.as_str(), "not counted", "", ""].map(str::to_owned).to_vec();
    };
    let floor = metric::floor();
    if metric::is_bound(&measure.key, mean.value, floor) {
        // How that varies says nothing of the command.
        let bound = metric::at_most(&measure.key, measure.kind, mean.value, floor);
        return vec![measure.name.clone(), bound, String::new(), String::new()];
    }
    let write =
        |value: f64| if value.is_finite() { measure.kind.write(value.max(0.0)) } else { "n/a".into() };
    let spread = match measure.spread() {
        Some(spread) if mean.value > 0.0 => format!("{:.1} %", spread / mean.value * 100.0),
        Some(_) => "0 %".into(),
        None => "n/a".into(),
    };
    let interval = format!("[{}, {}]", write(mean.lower), write(mean.upper));
    vec![measure.name.clone(), write(mean.value), interval, spread]
}

fn derived_row(derived: &Derived) -> Vec<String> {
    match &derived.value {
        Err(why) => vec![derived.figure.name.to_owned(), "not known".into(), String::new(), why.clone()],
        Ok(found) => {
            let unit = if derived.figure.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", derived.figure.unit)
            };
            let write = |value: f64| if value.is_finite() { figure(value) } else { "n/a".into() };
            vec![
                derived.figure.name.to_owned(),
                write(found.value) + &unit,
                format!("[{}, {}]", write(found.lower), write(found.upper)),
                derived.figure.about.split_inclusive(". ").next().unwrap_or("").trim().to_owned(),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (1.23456, "1.235"),
            (123_456.7, "123,457"),
            (0.001_234_56, "0.001235"),
            (-2.5, "−2.5"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
