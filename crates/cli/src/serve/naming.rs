//! Names, units and labels of segment entries for scrapers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use picollo_segment::{SegmentEntry, SegmentInfo};

/// The conventions of Prometheus: base units, also in the name.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Exported {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) divisor: f64,
    pub(crate) labels: Vec<(String, String)>,
}

/// Units of time, and how many of them make a second.
const TIMES: [(&[&str], f64); 4] = [
    (&["ns", "nanoseconds"], 1e9),
    (&["us", "µs", "μs", "microseconds"], 1e6),
    (&["ms", "milliseconds"], 1e3),
    (&["s", "seconds"], 1.0),
];

impl Exported {
    /// Times become seconds, whatever their recorded unit: `request` in `ns` becomes `request_seconds`, so that
    /// programs in nanoseconds and in microseconds share a metric. Other units are appended unless the name ends with
    /// them.
    pub(crate) fn new(entry: &SegmentEntry, added: &[(String, String)]) -> Exported {
        let divisor = if entry.divisor == 0.0 { 1.0 } else { entry.divisor };
        let (unit, divisor) = match TIMES.iter().find(|(names, _)| names.contains(&&*entry.unit)) {
            // Either the values are still to be divided, or the divisor is already set and the unit is the quotient's.
            Some((_, per_second)) if divisor == 1.0 || divisor == *per_second => {
                ("seconds".to_owned(), *per_second)
            }
            _ => (
                match &*entry.unit {
                    "By" | "B" => "bytes".into(),
                    other => plain(other, false).trim_matches('_').to_owned(),
                },
                divisor,
            ),
        };
        let starts_with_digit = unit.starts_with(|first: char| first.is_ascii_digit());
        let unit = if starts_with_digit { String::new() } else { unit };
        let total = entry.name.strip_suffix("_total").unwrap_or(&entry.name);
        let mut name = plain(total, true);
        if !unit.is_empty() && !has_suffix(&name, &unit) {
            if let Some(rest) = has_suffix(&name, &entry.unit).then(|| name.len() - entry.unit.len() - 1) {
                name.truncate(rest);
            }
            name = format!("{name}_{unit}");
        }
        let mut labels = added.to_vec();
        for (label, value) in &entry.labels {
            let plain = plain(label, false);
            let is_taken =
                plain == "segment" || plain == "process" || plain == "le" || plain.starts_with("__");
            labels.push((if is_taken { format!("exported_{plain}") } else { plain }, value.clone()));
        }
        Exported { name, unit, divisor, labels }
    }
}

fn has_suffix(name: &str, unit: &str) -> bool {
    name.strip_suffix(unit)
        .and_then(|rest| rest.strip_suffix(['_', '.', '-', '/']))
        .is_some_and(|rest| !rest.is_empty())
}

/// Replaces invalid characters by underscores. OpenTelemetry also allows dots, hyphens and slashes in names of metrics.
fn plain(name: &str, of_metric: bool) -> String {
    let is_allowed = |character: char| {
        character.is_ascii_alphanumeric() || character == '_' || (of_metric && ":.-/".contains(character))
    };
    let mut plain: String =
        name.chars().map(|character| if is_allowed(character) { character } else { '_' }).collect();
    if plain.starts_with(|first: char| !first.is_ascii_alphabetic() && first != '_' && first != ':') {
        plain.insert(0, '_');
    }
    plain
}

/// Labels for the processes of a program: the first gets the program's name, others a number behind it. A released
/// number is reused, so that a restarted program continues its series.
#[derive(Debug, Default)]
pub(crate) struct Processes(HashMap<String, Vec<Option<Process>>>);

/// PID, start time, and the directory, which distinguishes machines and containers.
pub(crate) type Process = (u32, u64, PathBuf);

pub(crate) fn process_of(path: &Path, info: &SegmentInfo) -> Process {
    (info.pid, info.start_time, path.parent().map(Into::into).unwrap_or_default())
}

impl Processes {
    /// Releases the numbers of ended processes.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&Process) -> bool) {
        for place in self.0.values_mut().flatten() {
            place.take_if(|process| !is_there(process));
        }
    }

    pub(crate) fn label(&mut self, program: &str, process: Process) -> String {
        let program = if program.is_empty() { "unknown" } else { program };
        let places = self.0.entry(program.to_owned()).or_default();
        let known = places.iter().position(|place| place.as_ref() == Some(&process));
        let at = known.or_else(|| places.iter().position(Option::is_none)).unwrap_or_else(|| {
            places.push(None);
            places.len() - 1
        });
        places[at] = Some(process);
        if at == 0 { program.to_owned() } else { format!("{program}-{}", at + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, unit: &str, divisor: f64) -> SegmentEntry {
        SegmentEntry {
            unit: unit.into(),
            labels: vec![("process".into(), "x".into()), ("http.route".into(), "/ä".into())],
            divisor,
            name: name.into(),
            ..SegmentEntry::default()
        }
    }

    #[test]
    fn names_and_units() {
        for (name, unit, divisor, exported) in [
            ("request", "ns", 0.0, ("request_seconds", "seconds", 1e9)),
            ("request", "us", 1.0, ("request_seconds", "seconds", 1e6)),
            ("request_ns", "ns", 1.0, ("request_seconds", "seconds", 1e9)),
            ("request_seconds", "ns", 1e9, ("request_seconds", "seconds", 1e9)),
            ("request_seconds", "seconds", 1e9, ("request_seconds", "seconds", 1e9)),
            ("http.request.size", "By", 1.0, ("http.request.size_bytes", "bytes", 1.0)),
            ("size", "bytes", 1024.0, ("size_bytes", "bytes", 1024.0)),
            ("depth", "", 1.0, ("depth", "", 1.0)),
            ("load", "%", 1.0, ("load", "", 1.0)),
            ("9 lives", "items/s", 1.0, ("_9_lives_items_s", "items_s", 1.0)),
            ("jobs_total", "", 1.0, ("jobs", "", 1.0)),
        ] {
            let found = Exported::new(&entry(name, unit, divisor), &[("segment".into(), "p".into())]);
            assert_eq!((&*found.name, &*found.unit, found.divisor), exported, "{name} in {unit}");
            assert_eq!(found.labels[1].0, "exported_process");
            assert_eq!(found.labels[2], ("http_route".into(), "/ä".into()));
        }
    }

    #[test]
    fn numbers_of_processes_are_small_and_stay() {
        let process = |pid| (pid, 1, "/dev/shm".into());
        let mut processes = Processes::default();
        assert_eq!(processes.label("shop", process(70)), "shop");
        assert_eq!(processes.label("shop", process(71)), "shop-2");
        assert_eq!(processes.label("shop", process(72)), "shop-3");
        assert_eq!(processes.label("till", process(73)), "till");
        assert_eq!(processes.label("shop", process(71)), "shop-2");
        processes.keep(|process| process.0 != 70);
        assert_eq!(processes.label("shop", process(72)), "shop-3");
        // A restarted process.
        assert_eq!(processes.label("shop", process(99)), "shop");
    }
}
