//! Figures from the events that a benchmark counted for A and for B, such as instructions per cycle.

use core::fmt::{self, Write};

use picollo_stats::{FIGURE_EVENTS, FIGURES, event_of_figure};
use picollo_text::seam::{Align, Markdown, Rows, plain, write_table};
use picollo_text::{Format, Unit};

use super::Benchmark;
use picollo_native::Result;
use picollo_native::seam::vectors::push;
use picollo_perf::Event;

/// A built-in figure of A and of B, computed from the counts of all samples minus those of empty samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BenchmarkFigure {
    /// Name, such as `ipc`.
    pub name: &'static str,
    /// Empty if the figure has no unit.
    pub unit: &'static str,
    /// Value for A.
    pub a: f64,
    /// Value for B.
    pub b: f64,
    /// An event of the figure was counted only part of the time and scaled up.
    pub is_scaled: bool,
}

impl Benchmark {
    /// The built-in figures for which all events were counted on both sides. Errors: `OutOfMemory`.
    pub fn figures(&self) -> Result<Vec<BenchmarkFigure>> {
        let mut found = Vec::new();
        if self.counters() == 0 {
            return Ok(found);
        }
        for figure in FIGURES {
            let mut columns = [0; FIGURE_EVENTS];
            let used = &mut columns[..figure.events.len()];
            let mut places = used.iter_mut().zip(figure.events);
            if !places.all(|(place, name)| {
                self.counter_of(name).is_some_and(|at| {
                    *place = at;
                    true
                })
            }) {
                continue;
            }
            let of = |side: fn(&super::BenchmarkCounter) -> f64| {
                figure.evaluate(|at| self.counter(columns[at]).ok().as_ref().map(side)).ok()
            };
            if let (Some(a), Some(b)) = (of(|counter| counter.a), of(|counter| counter.b)) {
                let is_scaled = columns[..figure.events.len()].iter().any(|&at| self.totals[at].is_scaled);
                push(&mut found, BenchmarkFigure { name: figure.name, unit: figure.unit, a, b, is_scaled })?;
            }
        }
        Ok(found)
    }

    /// Position of a figure's event among the counters, if it is counted.
    fn counter_of(&self, name: &str) -> Option<usize> {
        let is_counted = |at: usize| self.counter(at).is_ok_and(|counter| counter.status.is_none());
        let event = Event::parse(event_of_figure(name)).ok()?;
        (0..self.counters())
            .find(|&at| is_counted(at) && self.event(at).is_ok_and(|counted| counted == event))
    }

    /// Writes a table of the figures at the end.
    pub(super) fn write_figures(
        &self,
        mut out: &mut (impl Write + ?Sized),
        names: [&str; 2],
        format: Format,
    ) -> Result<fmt::Result> {
        let mut figures = self.figures()?;
        // Figures that are zero on both sides are left out: the counts show that already.
        figures.retain(|figure| figure.a != 0.0 || figure.b != 0.0);
        if figures.is_empty() {
            return Ok(Ok(()));
        }
        let [a, b] = [(names[0], "Before"), (names[1], "After")]
            .map(|(name, default)| if name.is_empty() { default } else { name });
        let number = |value: f64, unit: &str| {
            let space = if unit.is_empty() { "" } else { " " };
            format!("{}{space}{unit}", Unit::NONE.number(value))
        };
        let mut texts = Vec::new();
        for figure in &figures {
            let mark = if figure.is_scaled { "*" } else { "" };
            let [a, b] = [figure.a, figure.b].map(|value| number(value, figure.unit));
            push(&mut texts, [format!("{}{mark}", figure.name), a, b])?;
        }
        let rows = |row: Rows<'_, 3>| {
            row([&"figure", &Markdown(a), &Markdown(b)])?;
            texts.iter().try_for_each(|[name, a, b]| row([name, a, b]))
        };
        let is_scaled = figures.iter().any(|figure| figure.is_scaled);
        let is_markdown = format == Format::Markdown;
        // Text for people ends without a line break, Markdown with one.
        let end = if is_markdown { "\n" } else { "" };
        let write = |out: &mut dyn Write| {
            out.write_char('\n')?;
            if is_markdown {
                write_table(out, [Align::Left, Align::Right, Align::Right], &rows)?;
            } else {
                plain::write(out, 1, &rows)?;
            }
            if is_scaled { write!(out, "\n{NOTE}{end}") } else { Ok(()) }
        };
        Ok(write(&mut out))
    }
}

const NOTE: &str =
    "* of events that were counted a part of the time only, since there are fewer counters than events";

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::report::Totals;
    use super::super::{BenchmarkOptions, Side};
    use super::*;
    use picollo_perf::{READING_SCALED, Reading};

    /// A benchmark with planted counts of two events, in two samples of ten calls per side. An empty sample counts ten.
    fn planted(events: &[&str], values: &[[u64; 2]], flags: u32) -> Benchmark {
        let events: Vec<Event> = events.iter().map(|event| Event::parse(event).unwrap()).collect();
        let options =
            BenchmarkOptions { max_blocks: 1, repetitions: 10, warm_up_seconds: 1e-12, ..Default::default() };
        let mut benchmark = Benchmark::create(&options, &events).unwrap();
        while benchmark.next().unwrap().is_some() {
            benchmark.done_after(1000).unwrap();
        }
        for (totals, values) in benchmark.totals.iter_mut().zip(values) {
            *totals = Totals::default();
            for (side, value) in [(Side::A, values[0] + 10), (Side::B, values[1] + 10), (Side::Empty, 10)] {
                for _ in 0..2 {
                    totals.add(side, 10, &Reading { value, flags, ..Reading::default() });
                }
            }
        }
        benchmark
    }

    #[test]
    fn planted_counts_have_their_figures() {
        let values = [[4000, 19_000], [10_000, 10_000]];
        let found = planted(&["instructions", "cycles"], &values, 0).figures().unwrap();
        let ipc = found.iter().find(|figure| figure.name == "ipc").unwrap();
        assert_eq!((ipc.a, ipc.b, ipc.is_scaled), (0.4, 1.9, false));
        let names: Vec<&str> = found.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["ipc", "cpi"], "of nothing else is known");
        let mut benchmark = planted(&["cycles", "instructions"], &[values[1], values[0]], READING_SCALED);
        // One of the events of a figure suffices.
        benchmark.totals[0].is_scaled = false;
        assert!(benchmark.figures().unwrap().iter().all(|figure| figure.is_scaled));
        for (format, expected) in [
            (Format::Human, "\n\nfigure  Before    b\nipc*       0.4  1.9\ncpi*       2.5  0."),
            (
                Format::Markdown,
                "\n| figure | Before |      b |\n| :----- | -----: | -----: |\n| ipc*   |    0.4 |    1.9 |\n",
            ),
        ] {
            let mut text = String::new();
            benchmark.write(&mut text, "", "", "b", format).unwrap().unwrap();
            assert!(text.replace(' ', "").contains(&expected.replace(' ', "")), "{text}");
            assert!(text.contains("* of events that were counted a part of the time only"), "{text}");
            assert_eq!(text.ends_with('\n'), format == Format::Markdown);
        }
    }

    #[test]
    fn what_was_not_counted_has_no_figure() {
        let mut benchmark = planted(&["instructions", "cycles"], &[[4000, 19_000], [10_000, 10_000]], 0);
        benchmark.totals[1] = Totals::default();
        assert_eq!(benchmark.figures().unwrap(), []);
        let mut text = String::new();
        benchmark.write(&mut text, "", "", "", Format::Human).unwrap().unwrap();
        assert!(!text.contains("figure"), "{text}");
        assert_eq!(planted(&[], &[], 0).figures().unwrap(), []);
        // One side divides by zero.
        let found = planted(&["instructions", "cycles"], &[[5, 5], [0, 10]], 0).figures().unwrap();
        assert!(found.iter().all(|figure| figure.name != "ipc"), "{found:?}");
    }
}
