//! Figures of the measured values.

use std::collections::HashMap;

use picollo_perf::Event;
use picollo_stats::{
    FIGURES, Figure, FigureCounts, FigureEstimate, Unknown, estimate_figure, estimate_figure_difference,
    event_of_figure,
};
use picollo_text::Unit;
use serde_json::{Value, json};

use super::Measure;
use crate::compare::metric;

/// A figure with its value.
pub(crate) struct Derived {
    pub(crate) figure: &'static Figure,
    /// The value, or why it is unknown.
    pub(crate) value: Result<FigureEstimate, String>,
}

/// Figures from the measures of all runs.
pub(crate) fn compute(measures: &[Measure], confidence: f64) -> Vec<Derived> {
    let mut columns = Columns::new(measures);
    let value = |figure| {
        let rows = columns.rows(figure)?;
        explain(figure, estimate_figure(figure, FigureCounts::in_order(figure, &rows), confidence))
    };
    derived(value)
}

/// The differences of B from A, from measures of the same blocks.
pub(crate) fn differences(a: &[Measure], b: &[Measure], confidence: f64) -> Vec<Derived> {
    let mut columns = [Columns::new(a), Columns::new(b)];
    let value = |figure| {
        let (a, b) = (columns[0].rows(figure)?, columns[1].rows(figure)?);
        let [a, b] = [&a, &b].map(|rows| FigureCounts::in_order(figure, rows));
        explain(figure, estimate_figure_difference(figure, a, b, confidence))
    };
    derived(value)
}

fn derived(mut value: impl FnMut(&'static Figure) -> Result<FigureEstimate, String>) -> Vec<Derived> {
    FIGURES.iter().map(|figure| Derived { figure, value: value(figure) }).collect()
}

/// The values of an event, run by run; `None` if it was not counted.
type Column = Vec<Option<f64>>;

/// The values of events by their spelling.
struct Columns<'a> {
    measures: &'a [Measure],
    /// The measures that are events.
    events: Vec<(Event, &'a Measure)>,
    /// Cache of lookups.
    known: HashMap<String, Option<Column>>,
}

impl<'a> Columns<'a> {
    fn new(measures: &'a [Measure]) -> Columns<'a> {
        let events = measures.iter().skip(metric::OF_PROCESS);
        let events = events.filter_map(|measure| Some((Event::parse(&measure.metric.key).ok()?, measure)));
        Columns { measures, events: events.collect(), known: HashMap::new() }
    }

    fn find(&mut self, spelling: &str) -> Option<Column> {
        if !self.known.contains_key(spelling) {
            self.known.insert(spelling.to_owned(), self.look_up(spelling));
        }
        self.known.get(spelling).cloned().flatten()
    }

    /// The values of a figure's events, row by row for each run.
    fn rows(&mut self, figure: &Figure) -> Result<Vec<f64>, String> {
        let mut found = Vec::new();
        for name in figure.events {
            found
                .push(self.find(event_of_figure(name)).ok_or_else(|| format!("{name} is not counted here"))?);
        }
        let runs = self.measures.first().map_or(0, |measure| measure.values.len());
        let cell = |run: usize| found.iter().map(move |column| column[run].unwrap_or(f64::NAN));
        Ok((0..runs).flat_map(cell).collect())
    }

    /// The kernel's value for processes, or the count of an event.
    fn look_up(&self, spelling: &str) -> Option<Column> {
        let of = |key: &str| {
            self.measures
                .iter()
                .find(|measure| measure.metric.key == key)
                .map(|measure| measure.values.clone())
        };
        let nanos = |values: Column| values.into_iter().map(|value| value.map(|value| value * 1e9)).collect();
        match spelling {
            "wall-clock" => return of("wall").map(nanos),
            "task-clock" => return of("cpu").map(nanos),
            "page-faults" => return of("page_faults"),
            "context-switches" => {
                let (waits, preemptions) = (of("waits")?, of("preemptions")?);
                return Some(waits.iter().zip(preemptions).map(|(a, b)| Some((*a)? + b?)).collect());
            }
            _ => {}
        }
        of(spelling).or_else(|| {
            // Another spelling of the same event.
            let event = Event::parse(spelling).ok()?;
            let (_, measure) = self.events.iter().find(|(other, _)| *other == event)?;
            Some(measure.values.clone())
        })
    }
}

impl Derived {
    /// As JSON, or why it is unknown. `of` names the number of runs or blocks behind the interval.
    pub(crate) fn json(&self, of: &str) -> Value {
        match &self.value {
            Ok(found) => {
                json!({ "value": found.value, "lower": found.lower, "upper": found.upper, of: found.scopes })
            }
            Err(why) => json!({ "value": null, "why_not": why }),
        }
    }

    /// Text for people: the value with its unit, and its interval; or why it is unknown.
    pub(crate) fn text(&self, write: fn(f64) -> String) -> Result<[String; 2], String> {
        let found = self.value.as_ref().map_err(String::clone)?;
        let write = |value: f64| if value.is_finite() { write(value) } else { "n/a".into() };
        let space = if self.figure.unit.is_empty() { "" } else { " " };
        let interval = format!("[{}, {}]", write(found.lower), write(found.upper));
        Ok([write(found.value) + space + self.figure.unit, interval])
    }
}

/// Four significant digits.
pub(crate) fn number(value: f64) -> String {
    Unit::NONE.number(value).to_string()
}

/// The value, or why it is unknown, in words.
fn explain(
    figure: &Figure,
    found: picollo_core::Result<Result<FigureEstimate, Unknown>>,
) -> Result<FigureEstimate, String> {
    match found {
        Ok(Ok(estimate)) => Ok(estimate),
        Ok(Err(Unknown::NotCounted(at))) => Err(format!("{} was not counted", figure.events[at])),
        Ok(Err(Unknown::Undefined)) => Err("its divisor is zero".into()),
        Err(error) => Err(error.to_string()),
    }
}
