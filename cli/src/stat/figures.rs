//! Figures of what was measured: which there are, and their values.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::ArgMatches;
use picollo_core::{
    BUILT_IN_FIGURES, FigureEntry, FigureEstimate, Formula, Unknown, estimate_figure,
    estimate_figure_difference, figures,
};
use picollo_native::Event;

use super::Measure;
use crate::compare::metric;
use crate::failure::Failure;
use crate::table::printable;

/// A figure of a set.
#[derive(Clone)]
struct Known {
    name: String,
    unit: String,
    formula: String,
    about: String,
    /// What the names of events in its formula stand for, where that is not what they say.
    events: Rc<HashMap<String, String>>,
}

/// All sets together; what comes later replaces what came before under the same name.
pub(crate) struct Figures {
    known: Vec<Known>,
    places: HashMap<String, usize>,
    /// Names that sets gave to events. They hold in their own set and in those behind it: what a figure says that was there before does
    /// not change.
    events: Rc<HashMap<String, String>>,
    /// Why some of the user's own are not among them.
    pub(crate) unread: Option<String>,
}

/// No set of somebody's own is as large, and there are not as many figures: what is was not meant as one.
const LARGEST: u64 = 256 << 10;
const MOST: usize = 4096;

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
        let mut all =
            Figures { known: Vec::new(), places: HashMap::new(), events: Rc::default(), unread: None };
        all.add("built in", BUILT_IN_FIGURES)?;
        for file in of_user(&mut all.unread)? {
            all.add(&shown(&file), &text_of(&file, true)?)?;
        }
        for file in matches.get_many::<PathBuf>("figures").into_iter().flatten() {
            all.add(&shown(file), &text_of(file, false)?)?;
        }
        Ok(all)
    }

    fn add(&mut self, place: &str, text: &str) -> Result<(), Failure> {
        let (mut found, mut own) = (Vec::new(), HashMap::new());
        let mut names = HashSet::new();
        let twice = |name: &str| Err(format!("{place}: {name} is there twice").into());
        for entry in figures(text) {
            match entry {
                FigureEntry::Wrong(line) => {
                    return Err(format!(
                        "{place}: line {line} is no figure: NAME = FORMULA, or event NAME = EVENT"
                    )
                    .into());
                }
                FigureEntry::Event { name, event } => {
                    if own.insert(name.to_owned(), event.to_owned()).is_some() {
                        return twice(&format!("event {name}"));
                    }
                }
                FigureEntry::Figure(figure) => {
                    parse(figure.formula, &mut Vec::new())
                        .map_err(|error| format!("{place}: {}: {error}", figure.name))?;
                    if !names.insert(figure.name) {
                        return twice(figure.name);
                    }
                    found.push(figure);
                }
            }
        }
        if !own.is_empty() {
            Rc::make_mut(&mut self.events).extend(own);
        }
        for figure in found {
            let known = Known {
                name: figure.name.into(),
                unit: figure.unit.into(),
                formula: figure.formula.into(),
                about: figure.about.split_whitespace().collect::<Vec<_>>().join(" "),
                events: Rc::clone(&self.events),
            };
            match self.places.get(figure.name) {
                Some(&at) => self.known[at] = known,
                None => {
                    let _ = self.places.insert(known.name.clone(), self.known.len());
                    self.known.push(known);
                }
            }
        }
        if self.known.len() > MOST {
            return Err(format!("{place}: there are more than {MOST} figures by now").into());
        }
        Ok(())
    }

    /// Their values, of what was measured in each run.
    pub(crate) fn of(&self, measures: &[Measure], confidence: f64) -> Vec<Derived> {
        let mut columns = Columns::of(measures);
        let mut value = |known: &Known| {
            let (formula, names, rows) = known.rows(&mut columns)?;
            said(estimate_figure(&formula, &rows, names.len(), confidence), &names)
        };
        self.known.iter().map(|known| known.derived(value(known))).collect()
    }

    /// By how much they are larger of B, of what was measured in the same blocks; each with what it is of.
    pub(crate) fn differences(&self, a: &[Measure], b: &[Measure], confidence: f64) -> Vec<Derived> {
        let mut columns = [Columns::of(a), Columns::of(b)];
        let mut value = |known: &Known| {
            let (formula, names, of_a) = known.rows(&mut columns[0])?;
            let (_, _, of_b) = known.rows(&mut columns[1])?;
            said(estimate_figure_difference(&formula, &of_a, &of_b, names.len(), confidence), &names)
        };
        self.known.iter().map(|known| known.derived(value(known))).collect()
    }
}

/// The values of an event, run by run; `None` where it was not counted.
type Column = Vec<Option<f64>>;

/// The values of events, by how they are spelled.
struct Columns<'a> {
    measures: &'a [Measure],
    /// Those of the measures that are events.
    events: Vec<(Event, &'a Measure)>,
    /// What was looked up.
    known: HashMap<String, Option<Column>>,
}

impl<'a> Columns<'a> {
    fn of(measures: &'a [Measure]) -> Columns<'a> {
        let events = measures.iter().skip(metric::OF_PROCESS);
        let events = events.filter_map(|measure| Some((Event::parse(&measure.key).ok()?, measure)));
        Columns { measures, events: events.collect(), known: HashMap::new() }
    }

    fn find(&mut self, spelling: &str) -> Option<Column> {
        if let Some(known) = self.known.get(spelling) {
            return known.clone();
        }
        let column = self.look_up(spelling);
        drop(self.known.insert(spelling.to_owned(), column.clone()));
        column
    }

    /// What the kernel says of processes, or what was counted.
    fn look_up(&self, spelling: &str) -> Option<Column> {
        let of = |key: &str| {
            self.measures.iter().find(|measure| measure.key == key).map(|measure| measure.values.clone())
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

impl Known {
    /// The formula, the names of its events, and a row of them for each run.
    fn rows(&self, columns: &mut Columns) -> Result<(Formula, Vec<String>, Vec<f64>), String> {
        let mut names = Vec::new();
        let formula = parse(&self.formula, &mut names).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        for name in &names {
            let spelling = self.events.get(name).unwrap_or(name);
            found.push(columns.find(spelling).ok_or_else(|| format!("{name} is not counted here"))?);
        }
        let runs = columns.measures.first().map_or(0, |measure| measure.values.len());
        let cell = |run: usize| found.iter().map(move |column| column[run].unwrap_or(f64::NAN));
        let rows = (0..runs).flat_map(cell).collect();
        Ok((formula, names, rows))
    }

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

/// A file's name, for messages.
fn shown(file: &Path) -> String {
    printable(&file.display().to_string())
}

/// A set's text. In a directory only files are sets: somebody who names a pipe means it.
fn text_of(file: &Path, must_be_file: bool) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::of_file(shown(file), &error);
    if must_be_file && !std::fs::metadata(file).map_err(failed)?.is_file() {
        return Err(format!("{}: is no file", shown(file)).into());
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!(
            "{}: is larger than {} KiB, which no set of figures is",
            shown(file),
            LARGEST >> 10
        )
        .into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("{}: line {line} is no text (UTF-8)", shown(file)).into()
    })
}

/// The user's own sets, by their names.
fn of_user(unread: &mut Option<String>) -> Result<Vec<PathBuf>, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(place) = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config"))) else {
        return Ok(Vec::new());
    };
    let place = place.join("picollo/figures");
    let failed = |error: io::Error| Failure::of_file(shown(&place), &error);
    let entries = match std::fs::read_dir(&place) {
        Ok(entries) => entries,
        // Nobody has to have one, or a home that can have one.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        // Somebody else's home, as it often is after sudo, is no reason to measure nothing.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            *unread = Some(format!("Figures of your own are not among these: {}", failed(error)));
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "txt") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
