//! Sets of figures: small text files.
//!
//! `NAME [UNIT] = FORMULA` begins a figure; lines behind it that begin with a space explain it. `event NAME = EVENT` gives an event another
//! name, as `cpu/event=0xc1/`, which no formula could have. `#` begins a comment.

/// What everybody has.
pub const BUILT_IN_FIGURES: &str = include_str!("figures.txt");

/// A figure of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Of its values; empty where there is none.
    pub unit: &'a str,
    /// See [`super::Formula`].
    pub formula: &'a str,
    /// Lines that explain it, as they are in the text.
    pub about: &'a str,
}

/// What a set has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry<'a> {
    /// A figure.
    Figure(Figure<'a>),
    /// Another name for an event.
    Event {
        /// As formulas have it.
        name: &'a str,
        /// As sessions take it.
        event: &'a str,
    },
    /// A line, from 1, that is neither.
    Wrong(usize),
}

/// What a set has, in its order.
pub fn figures(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = text;
    let mut line_number = 0;
    core::iter::from_fn(move || {
        loop {
            let line = rest.split_inclusive('\n').next()?;
            rest = &rest[line.len()..];
            line_number += 1;
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // An explanation goes with what it explains.
            let is_more = |line: &str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
            if is_more(line) {
                return Some(Entry::Wrong(line_number));
            }
            let here = line_number;
            let length: usize =
                rest.split_inclusive('\n').take_while(|line| is_more(line)).map(str::len).sum();
            let about = &rest[..length];
            line_number += about.matches('\n').count();
            rest = &rest[length..];
            return Some(entry(line, about.trim()).unwrap_or(Entry::Wrong(here)));
        }
    })
}

fn entry<'a>(line: &'a str, about: &'a str) -> Option<Entry<'a>> {
    let (head, formula) = line.split_once('=')?;
    let (head, formula) = (head.trim(), formula.trim());
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    if formula.is_empty() {
        return None;
    }
    if let Some(name) = head.strip_prefix("event ") {
        let name = name.trim();
        return is_name(name).then_some(Entry::Event { name, event: formula });
    }
    let (name, unit) = match head.split_once('[') {
        Some((name, unit)) => (name.trim(), unit.strip_suffix(']')?),
        None => (head, ""),
    };
    is_name(name).then_some(Entry::Figure(Figure { name, unit, formula, about }))
}

#[cfg(test)]
mod tests {
    use super::super::Formula;
    use super::*;
    use std::vec::Vec;

    fn built_in() -> Vec<Figure<'static>> {
        let take = |entry| match entry {
            Entry::Figure(figure) => Some(figure),
            Entry::Event { .. } => None,
            Entry::Wrong(line) => panic!("line {line}"),
        };
        figures(BUILT_IN_FIGURES).filter_map(take).collect()
    }

    /// The value of a figure, of planted counts.
    fn of(name: &str, counts: &[(&str, f64)]) -> f64 {
        let figure =
            *built_in().iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name}"));
        let formula =
            Formula::parse(figure.formula, |event| counts.iter().position(|(known, _)| *known == event));
        formula
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .evaluate(|event| Some(counts[event].1))
            .unwrap()
    }

    #[test]
    fn sets_have_figures_and_events() {
        let text = "# of ours\nipc = a / b\n  Per cycle.\n  Two lines.\n\nevent x = cpu/event=0xc1/\nmpki [/1000] = 1000 * m / a\n= 1\n loose\nno formula\na = \nu [x = 1";
        let all: Vec<Entry> = figures(text).collect();
        let ipc = Figure { name: "ipc", unit: "", formula: "a / b", about: "Per cycle.\n  Two lines." };
        let misses = Figure { name: "mpki", unit: "/1000", formula: "1000 * m / a", about: "" };
        let event = Entry::Event { name: "x", event: "cpu/event=0xc1/" };
        // Line 9 would explain line 8.
        let wrong = [8, 10, 11, 12].map(Entry::Wrong);
        assert_eq!(all, [&[Entry::Figure(ipc), event, Entry::Figure(misses)], &wrong[..]].concat());
    }

    #[test]
    fn built_in_figures_are_formulas_with_an_explanation() {
        let all = built_in();
        assert!(all.len() >= 20);
        for figure in &all {
            let mut names: Vec<&str> = Vec::new();
            let mut number = |name: &str| {
                let name = &figure.formula[figure.formula.find(name).unwrap()..][..name.len()];
                let at = names.iter().position(|known| *known == name);
                Some(at.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                }))
            };
            Formula::parse(figure.formula, &mut number)
                .unwrap_or_else(|error| panic!("{}: {error}", figure.name));
            assert!(figure.about.ends_with('.'), "{}", figure.name);
            assert_eq!(all.iter().filter(|other| other.name == figure.name).count(), 1, "{}", figure.name);
        }
    }

    #[test]
    fn planted_counts() {
        let counts = [
            ("instructions", 3e9),
            ("cycles", 2e9),
            ("task-clock", 1e9),
            ("branches", 5e8),
            ("branch-misses", 1e7),
        ];
        for (name, value) in
            [("ipc", 1.5), ("clock", 2.0), ("branch-miss-rate", 0.02), ("branch-mpki", 1e7 / 3e6)]
        {
            assert_eq!(of(name, &counts), value, "{name}");
        }
    }

    /// The kernel gives slots for each category, and of the second level one part; the other is what is left.
    #[test]
    fn top_down_of_intel_adds_up() {
        let planted = [
            ("topdown-retiring", 400.0),
            ("topdown-bad-spec", 100.0),
            ("topdown-fe-bound", 200.0),
            ("topdown-be-bound", 300.0),
            ("topdown-heavy-ops", 60.0),
            ("topdown-br-mispredict", 90.0),
            ("topdown-fetch-lat", 150.0),
            ("topdown-mem-bound", 250.0),
        ];
        let parts = ["tma-retiring", "tma-bad-speculation", "tma-frontend-bound", "tma-backend-bound"];
        let values = parts.map(|name| of(name, &planted));
        assert_eq!(values, [0.4, 0.1, 0.2, 0.3]);
        assert_eq!(values.iter().sum::<f64>(), 1.0);
        for (whole, parts) in [
            ("tma-retiring", ["tma-heavy-operations", "tma-light-operations"]),
            ("tma-bad-speculation", ["tma-branch-mispredicts", "tma-machine-clears"]),
            ("tma-frontend-bound", ["tma-fetch-latency", "tma-fetch-bandwidth"]),
            ("tma-backend-bound", ["tma-memory-bound", "tma-core-bound"]),
        ] {
            let sum = parts.map(|name| of(name, &planted)).iter().sum::<f64>();
            assert!((sum - of(whole, &planted)).abs() < 1e-12, "{whole}");
        }
        assert_eq!(of("tma-memory-bound", &planted), 0.25);
    }

    /// Slots of which each is in one of five categories.
    #[test]
    fn top_down_of_amd_adds_up() {
        let planted = [
            ("ls_not_halted_cyc", 1000.0),
            ("de_no_dispatch.no_ops_from_frontend", 1200.0),
            ("de_no_dispatch.backend_stalls", 1800.0),
            ("de_no_dispatch.smt_contention", 600.0),
            ("de_src_op_disp.all", 2400.0),
            ("ex_ret_ops", 2100.0),
        ];
        let parts = [
            "zen4-retiring",
            "zen4-bad-speculation",
            "zen4-frontend-bound",
            "zen4-backend-bound",
            "zen4-smt-contention",
        ];
        let values = parts.map(|name| of(name, &planted));
        assert_eq!(values, [0.35, 0.05, 0.2, 0.3, 0.1]);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
