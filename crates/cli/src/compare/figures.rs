//! Figures of two commands, such as instructions per cycle: for each command, and their difference.

use serde_json::{Value, json};

use super::{Arguments, Measured, metric};
use crate::stat::Measure;
use crate::stat::figures::{self, Derived};
use crate::table::{Form, table};

/// A figure of A, of B, and the difference B − A.
pub(super) struct OfBoth {
    sides: [Derived; 2],
    difference: Derived,
}

/// All figures, known or not, with intervals of the final look's confidence.
pub(super) fn compute(measured: &Measured, arguments: &Arguments) -> Vec<OfBoth> {
    let (blocks, confidence) = (measured.counting(), measured.look_confidence);
    let [a, b] = [0, 1].map(|side: usize| -> Vec<Measure> {
        let of = |at: usize| blocks.iter().map(|block| block[side][at]).collect();
        let metrics = metric::all(&arguments.events).into_iter().enumerate();
        metrics.map(|(at, metric)| Measure::new(metric, of(at), confidence)).collect()
    });
    let differences = figures::differences(&a, &b, confidence).into_iter();
    let sides = figures::compute(&a, confidence).into_iter().zip(figures::compute(&b, confidence));
    sides.zip(differences).map(|((a, b), difference)| OfBoth { sides: [a, b], difference }).collect()
}

/// The figures that are known for both; may be empty.
pub(super) fn text(figures: &[OfBoth], arguments: &Arguments) -> String {
    let rows: Vec<Vec<String>> = figures.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let [a, b] = &arguments.names;
    table(&["Figure", a, b, "Difference"], &rows, &[0], Form::Text) + "\n"
}

fn row(OfBoth { sides: [a, b], difference }: &OfBoth) -> Option<Vec<String>> {
    let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, figures::number(value));
    let written = |of: &Derived, write: fn(f64) -> String| of.text(write).ok().map(|text| text.join(" "));
    let sides = [written(a, figures::number)?, written(b, figures::number)?, written(difference, signed)?];
    Some([&[a.figure.name.to_owned()], &sides[..]].concat())
}

/// All figures, or why they are unknown.
pub(super) fn json(figures: &[OfBoth]) -> Value {
    let of = |OfBoth { sides: [a, b], difference }: &OfBoth| {
        let all = json!({
            "a": a.json("blocks"), "b": b.json("blocks"), "difference": difference.json("blocks"),
            "unit": a.figure.unit, "events": a.figure.events,
        });
        (a.figure.name.to_owned(), all)
    };
    Value::Object(figures.iter().map(of).collect())
}
