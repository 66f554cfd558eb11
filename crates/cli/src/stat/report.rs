//! The results of `picollo stat`, for people and as JSON.

use picollo_bench::BenchmarkNoise;
use serde_json::{Map, Value, json};

use super::Measure;
use super::figures::{self, Derived};
use crate::table::{Form, printable, table};

pub(super) struct Report<'a> {
    pub(super) command: String,
    pub(super) parts: &'a [String],
    pub(super) runs: usize,
    pub(super) measures: Vec<Measure>,
    pub(super) derived: Vec<Derived>,
    pub(super) notes: Vec<String>,
    pub(super) confidence: f64,
    /// The counted events, by name.
    pub(super) events: Value,
    pub(super) noise: BenchmarkNoise,
}

impl Report<'_> {
    pub(super) fn text(&self, has_all: bool) -> String {
        let mut text = format!("{}\n{} runs\n\n", printable(&self.command), self.runs);
        let interval = format!("{:.0}% interval", self.confidence * 100.0);
        let rows: Vec<Vec<String>> = self.measures.iter().map(row).collect();
        text += &table(&["Per run", "Mean", &interval, "Spread"], &rows, &[0], Form::Text);
        let known = |derived: &&Derived| has_all || derived.value.is_ok();
        let rows: Vec<Vec<String>> = self.derived.iter().filter(known).map(derived_row).collect();
        if !rows.is_empty() {
            let headings = ["Figure", "Value", &interval, "What it is"];
            text += &format!("\n{}", table(&headings, &rows, &[0, 3], Form::Text));
        }
        for note in &self.notes {
            text += &format!("\n{}\n", printable(note));
        }
        text
    }

    pub(super) fn json(&self) -> String {
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
                (measure.metric.key.clone(), value)
            })
            .collect();
        let figures: Map<String, Value> = self
            .derived
            .iter()
            .map(|derived| {
                let mut value = derived.json("runs");
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
    let (metric, name) = (&measure.metric, measure.metric.name.clone());
    let Some(mean) = &measure.mean else {
        return vec![name, "not counted".into(), String::new(), String::new()];
    };
    if metric.is_bound(mean.value) {
        // The variation of a bound is not a property of the command.
        return vec![name, metric.write(mean.value), String::new(), String::new()];
    }
    let write = |value: f64| if value.is_finite() { metric.kind.write(value.max(0.0)) } else { "n/a".into() };
    let spread = match measure.spread() {
        Some(spread) if mean.value > 0.0 => format!("{:.1} %", spread / mean.value * 100.0),
        Some(_) => "0 %".into(),
        None => "n/a".into(),
    };
    vec![name, write(mean.value), format!("[{}, {}]", write(mean.lower), write(mean.upper)), spread]
}

fn derived_row(derived: &Derived) -> Vec<String> {
    let name = derived.figure.name.to_owned();
    match derived.text(figures::number) {
        Ok([value, interval]) => {
            let about = derived.figure.about.split_inclusive(". ").next().unwrap_or("").trim();
            vec![name, value, interval, about.to_owned()]
        }
        Err(why) => vec![name, "not known".into(), String::new(), why],
    }
}
