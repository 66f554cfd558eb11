//! What callgrind writes: parts of counts, one file each.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::Counts;

/// What is counted, as callgrind calls it, as JSON and as people do. Those after the first only with simulated caches.
pub(crate) const EVENTS: [(&str, &str, &str); 9] = [
    ("Ir", "instructions", "Instructions"),
    ("Dr", "data_reads", "Data reads"),
    ("Dw", "data_writes", "Data writes"),
    ("I1mr", "l1i_misses", "L1I misses"),
    ("D1mr+D1mw", "l1d_misses", "L1D misses"),
    ("ILmr+DLmr+DLmw", "llc_misses", "LLC misses"),
    ("Bc+Bi", "branches", "Branches"),
    ("Bcm", "mispredicted_conditional", "Mispredicted: conditional"),
    ("Bim", "mispredicted_indirect", "  indirect"),
];

/// Sums of events under callgrind's names.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Totals(BTreeMap<String, u64>);

impl Totals {
    /// One of [`EVENTS`]; `None` where it was not counted.
    pub(crate) fn of(&self, event: &str) -> Option<u64> {
        event.split('+').map(|name| self.0.get(name).copied()).sum()
    }

    /// Adds one part. Callgrind leaves zeros at the end of a line out.
    pub(super) fn add(&mut self, lines: impl Iterator<Item = io::Result<String>>) -> io::Result<bool> {
        let (mut events, mut is_whole): (Vec<String>, bool) = (Vec::new(), false);
        for line in lines {
            let line = line?;
            if let Some(names) = line.strip_prefix("events:") {
                events = names.split_whitespace().map(str::to_owned).collect();
            } else if let Some(totals) = line.strip_prefix("totals:") {
                let numbers: Option<Vec<u64>> =
                    totals.split_whitespace().map(|number| number.parse().ok()).collect();
                let Some(numbers) = numbers.filter(|numbers| numbers.len() <= events.len()) else {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "counts that make no sense"));
                };
                let zeros = std::iter::repeat(0);
                for (name, number) in events.iter().zip(numbers.into_iter().chain(zeros)) {
                    let sum = self.0.entry(name.clone()).or_default();
                    *sum = sum.saturating_add(number);
                }
                is_whole = !events.is_empty();
            }
        }
        Ok(is_whole)
    }
}

/// Names of a part that the process wrote before its end have one more number at their end.
fn is_early(name: &str) -> bool {
    name.starts_with("out.") && name.split('.').count() > 2
}

/// Moves early parts to where nobody writes over them.
pub(super) fn set_aside(place: &Path, taken: &mut usize) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_early)) {
        *taken += 1;
        let _ = fs::rename(entry.path(), place.join(format!("part.{taken}")));
    }
}

/// The sum of all parts, and how many processes did not write their last one.
pub(super) fn read(place: &Path) -> io::Result<(Counts, usize)> {
    let (mut totals, mut processes, mut ended) = (Totals::default(), 0, 0);
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().unwrap_or("");
        if name.starts_with("log.") {
            processes += 1;
            continue;
        }
        // A name of something that was only about to be executed may not be there: not all of what is read is text.
        let lines = BufReader::new(File::open(entry.path())?).split(b'\n');
        let lines = lines.map(|line| line.map(|line| String::from_utf8_lossy(&line).into_owned()));
        let is_whole = totals.add(lines)?;
        if is_whole && !is_early(name) && name.starts_with("out.") {
            ended += 1;
        }
    }
    Ok((Counts { totals, processes }, processes.saturating_sub(ended)))
}

/// What valgrind could not execute, or said last.
pub(super) fn refused(place: &Path) -> Option<String> {
    let logs = fs::read_dir(place)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("log."));
    logs.filter_map(|entry| File::open(entry.path()).ok())
        .flat_map(|log| BufReader::new(log).lines().map_while(Result::ok))
        .map(|line| line.rsplit("==").next().unwrap_or("").trim().to_owned())
        .find(|line| {
            ["unhandled instruction", "Unrecognised instruction"].iter().any(|what| line.contains(what))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(parts: &[&str]) -> io::Result<(Totals, bool)> {
        let (mut totals, mut whole) = (Totals::default(), true);
        for part in parts {
            whole &= totals.add(part.lines().map(|line| Ok(line.to_owned())))?;
        }
        Ok((totals, whole))
    }

    #[test]
    fn parts_are_added_up() {
        let part = |totals: &str| {
            format!("# callgrind format\nevents: Ir Dr Dw Bc Bi\nfn=(1) totals\n1 2\n{totals}\n")
        };
        let (totals, whole) = sum(&[&part("totals: 5 4 3 2 1"), &part("totals: 10 1")]).unwrap();
        assert!(whole);
        assert_eq!([totals.of("Ir"), totals.of("Dr"), totals.of("Dw")], [Some(15), Some(5), Some(3)]);
        assert_eq!(totals.of("Bc+Bi"), Some(3));
        // Not counted is no zero, and neither is what was counted in part.
        assert_eq!([totals.of("Bcm"), totals.of("Bc+Bcm")], [None, None]);
    }

    #[test]
    fn what_was_cut_off_is_no_count() {
        let (totals, whole) = sum(&["events: Ir\nfn=(1) main\n1 2\n"]).unwrap();
        assert!(!whole && totals.of("Ir").is_none());
        for part in
            ["totals: 5", "events: Ir\ntotals: x", "events: Ir\ntotals: 1 2", "events: Ir\ntotals: -1"]
        {
            let is_whole = sum(&[part]);
            assert!(is_whole.is_err(), "{part}");
        }
        let largest = format!("events: Ir\ntotals: {}", u64::MAX);
        assert_eq!(sum(&[&largest, &largest]).unwrap().0.of("Ir"), Some(u64::MAX));
    }

    #[test]
    fn parts_by_their_names() {
        for (name, early) in [("out.12", false), ("out.12.1", true), ("log.12", false), ("part.1", false)] {
            assert_eq!(is_early(name), early, "{name}");
        }
    }
}
