//! Figures of two commands, as instructions per cycle: of each, and by how much they differ.

use picollo_core::FigureEstimate;
use picollo_core::text::Unit;
use serde_json::{Map, Value, json};

use super::{Arguments, Measured, metric};
use crate::stat::Measure;
use crate::stat::figures::{self, Derived};
use crate::table::{Form, table};

/// A figure of A, of B, and of B less that of A.
pub(super) struct OfBoth {
    sides: [Derived; 2],
    difference: Derived,
}

/// All figures, known or not, with intervals of the look that ended it.
pub(super) fn of(measured: &Measured, arguments: &Arguments) -> Vec<OfBoth> {
    let (blocks, confidence) = (measured.counting(), measured.look_confidence);
    let measures = |side: usize| -> Vec<Measure> {
        metric::all(&arguments.events)
            .into_iter()
            .enumerate()
            .map(|(at, metric)| {
                let values = blocks.iter().map(|block| block[side][at]).collect();
                Measure::new(metric.name, metric.key, metric.kind, values, confidence)
            })
            .collect()
    };
    let (a, b) = (measures(0), measures(1));
    let differences = figures::differences(&a, &b, confidence).into_iter();
    let sides = figures::of(&a, confidence).into_iter().zip(figures::of(&b, confidence));
    sides.zip(differences).map(|((a, b), difference)| OfBoth { sides: [a, b], difference }).collect()
}

/// Those that are known of both; nothing where there are none.
pub(super) fn text(figures: &[OfBoth], arguments: &Arguments) -> String {
    let rows: Vec<Vec<String>> = figures.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let [a, b] = &arguments.names;
    let headings = ["Figure", a, b, "Difference"].map(str::to_owned);
    table(&headings, &rows, &[0], Form::Text) + "\n"
}

fn number(value: f64) -> String {
    if value.is_finite() { Unit::NONE.number(value).to_string() } else { "n/a".into() }
}

fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, number(value))
}

fn row(OfBoth { sides: [a, b], difference }: &OfBoth) -> Option<Vec<String>> {
    let [of_a, of_b, by] = [&a.value, &b.value, &difference.value].map(|value| value.as_ref().ok());
    let (of_a, of_b, by) = (of_a?, of_b?, by?);
    let unit = if a.figure.unit.is_empty() { String::new() } else { format!(" {}", a.figure.unit) };
    let written = |found: &FigureEstimate, write: fn(f64) -> String| {
        format!("{}{unit} [{}, {}]", write(found.value), write(found.lower), write(found.upper))
    };
    Some(vec![a.figure.name.to_owned(), written(of_a, number), written(of_b, number), written(by, signed)])
}

/// All of them; of those that are not known, why not.
pub(super) fn json(figures: &[OfBoth]) -> Value {
    let estimate = |value: &Result<FigureEstimate, String>| match value {
        Ok(found) => {
            json!({ "value": found.value, "lower": found.lower, "upper": found.upper, "blocks": found.scopes })
        }
        Err(why) => json!({ "value": null, "why_not": why }),
    };
    let all: Map<String, Value> = figures
        .iter()
        .map(|OfBoth { sides: [a, b], difference }| {
            let of = json!({
                "a": estimate(&a.value), "b": estimate(&b.value), "difference": estimate(&difference.value),
                "unit": a.figure.unit, "events": a.figure.events,
            });
            (a.figure.name.to_owned(), of)
        })
        .collect();
    Value::Object(all)
}
