//! Figures of what was measured: which there are, and their values.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ArgMatches;
use picollo_core::{
    BUILT_IN_FIGURES, FigureEntry, FigureEstimate, Formula, Unknown, estimate_figure,
    estimate_figure_difference, figures,
};
use picollo_native::Event;

use super::Measure;
use crate::failure::Failure;

/// A figure of a set.
#[derive(Clone)]
struct Known {
    name: String,
    unit: String,
    formula: String,
    about: String,
}

/// All sets together; what comes later replaces what came before under the same name.
pub(crate) struct Figures {
    known: Vec<Known>,
    events: HashMap<String, String>,
}

/// A figure, and what it is of.
pub(crate) struct Derived {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) formula: String,
    pub(crate) about: String,
    /// Or why it is not known.
    pub(crate) value: Result<FigureEstimate, String>,
}

impl Figures {
    pub(crate) fn read(matches: &ArgMatches) -> Result<Figures, Failure> {
        let mut all = Figures { known: Vec::new(), events: HashMap::new() };
        all.add("built in", BUILT_IN_FIGURES)?;
        let mut files = of_user();
        files.extend(matches.get_many::<PathBuf>("figures").into_iter().flatten().cloned());
        for file in files {
            let text =
                std::fs::read_to_string(&file).map_err(|error| Failure::of_file(file.display(), &error))?;
            all.add(&file.display().to_string(), &text)?;
        }
        Ok(all)
    }

    fn add(&mut self, place: &str, text: &str) -> Result<(), Failure> {
        for entry in figures(text) {
            match entry {
                FigureEntry::Wrong(line) => {
                    return Err(format!(
                        "{place}: line {line} is no figure: NAME = FORMULA, or event NAME = EVENT"
                    )
                    .into());
                }
                FigureEntry::Event { name, event } => {
                    drop(self.events.insert(name.to_owned(), event.to_owned()))
                }
                FigureEntry::Figure(figure) => {
                    let mut names = Vec::new();
                    parse(figure.formula, &mut names)
                        .map_err(|error| format!("{place}: {}: {error}", figure.name))?;
                    self.known.retain(|known| known.name != figure.name);
                    self.known.push(Known {
                        name: figure.name.into(),
                        unit: figure.unit.into(),
                        formula: figure.formula.into(),
                        about: figure.about.split_whitespace().collect::<Vec<_>>().join(" "),
                    });
                }
            }
        }
        Ok(())
    }

    /// Their values, of what was measured in each run.
    pub(crate) fn of(&self, measures: &[Measure], confidence: f64) -> Vec<Derived> {
        let value = |known: &Known| {
            let (formula, names, rows) = self.rows(known, measures)?;
            said(estimate_figure(&formula, &rows, names.len(), confidence), &names)
        };
        self.known.iter().map(|known| known.derived(value(known))).collect()
    }

    /// By how much they are larger of B, of what was measured in the same blocks; each with what it is of.
    pub(crate) fn differences(&self, a: &[Measure], b: &[Measure], confidence: f64) -> Vec<Derived> {
        let value = |known: &Known| {
            let (formula, names, of_a) = self.rows(known, a)?;
            let (_, _, of_b) = self.rows(known, b)?;
            said(estimate_figure_difference(&formula, &of_a, &of_b, names.len(), confidence), &names)
        };
        self.known.iter().map(|known| known.derived(value(known))).collect()
    }

    /// A formula, the names of its events, and a row of them for each run.
    fn rows(&self, known: &Known, measures: &[Measure]) -> Result<(Formula, Vec<String>, Vec<f64>), String> {
        let mut names = Vec::new();
        let formula = parse(&known.formula, &mut names).map_err(|error| error.to_string())?;
        let columns: Vec<Option<Vec<Option<f64>>>> =
            names.iter().map(|name| self.column(name, measures)).collect();
        if let Some(at) = columns.iter().position(Option::is_none) {
            return Err(format!("{} is not counted here", names[at]));
        }
        let columns: Vec<Vec<Option<f64>>> = columns.into_iter().flatten().collect();
        let runs = measures.first().map_or(0, |measure| measure.values.len());
        let cell = |run: usize| columns.iter().map(move |column| column[run].unwrap_or(f64::NAN));
        let rows = (0..runs).flat_map(cell).collect();
        Ok((formula, names, rows))
    }

    /// The values of an event, run by run: what the kernel says of processes, or what was counted.
    fn column(&self, name: &str, measures: &[Measure]) -> Option<Vec<Option<f64>>> {
        let of = |key: &str| {
            measures.iter().find(|measure| measure.key == key).map(|measure| measure.values.clone())
        };
        let nanos = |values: Vec<Option<f64>>| {
            values.into_iter().map(|value| value.map(|value| value * 1e9)).collect()
        };
        match name {
            "wall-clock" => return of("wall").map(nanos),
            "task-clock" => return of("cpu").map(nanos),
            "page-faults" => return of("page_faults"),
            "context-switches" => {
                let (waits, preemptions) = (of("waits")?, of("preemptions")?);
                return Some(waits.iter().zip(preemptions).map(|(a, b)| Some((*a)? + b?)).collect());
            }
            _ => {}
        }
        let spelling = self.events.get(name).map_or(name, String::as_str);
        of(spelling).or_else(|| of(name)).or_else(|| {
            // Another spelling of the same event.
            let event = Event::parse(spelling).ok()?;
            let measure = measures
                .iter()
                .find(|measure| Event::parse(&measure.key).is_ok_and(|other| other == event))?;
            Some(measure.values.clone())
        })
    }
}

impl Known {
    fn derived(&self, value: Result<FigureEstimate, String>) -> Derived {
        Derived {
            name: self.name.clone(),
            unit: self.unit.clone(),
            formula: self.formula.clone(),
            about: self.about.clone(),
            value,
        }
    }
}

/// What is known, or why not, in words.
fn said(
    found: picollo_core::Result<Result<FigureEstimate, Unknown>>,
    names: &[String],
) -> Result<FigureEstimate, String> {
    match found {
        Ok(Ok(estimate)) => Ok(estimate),
        Ok(Err(Unknown::NotCounted(at))) => Err(format!("{} was not counted", names[at])),
        Ok(Err(Unknown::Undefined)) => Err("it would be divided by zero".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse(text: &str, names: &mut Vec<String>) -> Result<Formula, picollo_core::FormulaError> {
    Formula::parse(text, |name| {
        let at = names.iter().position(|known| known == name);
        Some(at.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }))
    })
}

/// The user's own sets, by their names.
fn of_user() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(place) = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config"))) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(place.join("picollo/figures")) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();
    files
}
