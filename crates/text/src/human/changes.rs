//! Changes, for people: the answer in a sentence, a table of both sides, and the necessary notes.

use core::fmt::{self, Display, Write, from_fn};

use super::percent::{ratio, signed};
use super::{Answer, SHORT, WIDTH, Wrapping, rank, supports, write_title, write_wrapped};
use crate::blocks::Conditions;
use crate::escape::Line;
use crate::markdown::is_below;
use crate::table::plain::{self as table, Rows};
use crate::unit::Unit;
use crate::{Diff, mean, value};
use picollo_core::Summary;
use picollo_core::seam::{Grouped, NOT_AVAILABLE, outside, position_of};
use picollo_stats::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_LAYOUTS_DIFFER, COMPARISON_OUT_OF_RANGE,
    Comparison,
};

/// A number in a column, if it is known; below a resolution it is not.
#[derive(Clone, Copy)]
struct Level<'a> {
    value: f64,
    /// All digits, if it is a whole number.
    whole: Option<u64>,
    unit: Unit<'a>,
    resolution: f64,
}

impl Level<'_> {
    fn is_known(&self) -> bool {
        self.value.is_finite() && !is_below(self.value, self.resolution)
    }
}

impl Display for Level<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole {
            _ if self.value.is_finite() && !self.is_known() => {
                write!(f, "<{}", self.unit.number(self.resolution))
            }
            Some(whole) => self.unit.integer(whole).fmt(f),
            None => self.unit.number(self.value).fmt(f),
        }
    }
}

/// The change from one to the other in percent, if it exists.
fn change(a: f64, b: f64) -> impl Display {
    let share = if a == b { 0.0 } else { (b - a) / libm::fabs(a) * 100.0 };
    from_fn(move |f| match share.is_finite() {
        true => write!(f, "{} %", signed(share)),
        false => f.write_str(NOT_AVAILABLE),
    })
}

/// `8.6 × lower`, if the change is large.
fn far(a: f64, b: f64) -> impl Display {
    let word = if b > a { "higher" } else { "lower" };
    from_fn(move |f| ratio(a, b).map_or(Ok(()), |times| write!(f, "{times} {word}")))
}

/// The name of a column, shortened if it is long.
fn heading(name: &str) -> impl Display {
    const MOST: usize = WIDTH / 4;
    let end = name.char_indices().nth(MOST - 1).filter(|_| name.chars().count() > MOST);
    from_fn(move |f| match end.and_then(|(end, _)| name.get(..end)) {
        Some(start) => write!(f, "{}…", Line(start)),
        None => Line(name).fmt(f),
    })
}

fn level_row(label: &dyn Display, a: Level<'_>, b: Level<'_>, row: Rows<'_, 5>) -> fmt::Result {
    let is_known = a.is_known() && b.is_known();
    let (from, to) = if is_known { (a.value, b.value) } else { (f64::NAN, f64::NAN) };
    row([label, &a, &b, &change(from, to), &far(from, to)])
}

/// The position of the median in a summary.
const MEDIAN: usize = position_of(50.0);

fn rows(diff: &Diff<'_>, resolution: f64, row: Rows<'_, 5>) -> fmt::Result {
    let Diff { a, b, unit, .. } = *diff;
    let supported = |position: usize| {
        let rank = rank(position).0;
        supports(a.total_count, rank) && supports(b.total_count, rank)
    };
    for position in SHORT.into_iter().filter(|&position| supported(position)) {
        let level = |summary: &Summary| {
            let whole = summary.percentiles.get(position).and_then(|found| value(summary, found));
            Level { value: whole.map_or(f64::NAN, |value| value as f64), whole, unit, resolution }
        };
        level_row(&rank(position), level(a), level(b), row)?;
    }
    let number = |value: f64, resolution: f64| Level { value, whole: None, unit, resolution };
    level_row(&"mean", number(mean(a), resolution), number(mean(b), resolution), row)?;
    row([&"values", &Grouped::from(a.total_count), &Grouped::from(b.total_count), &"", &""])?;
    for ((label, of_a), (_, of_b)) in outside(a).into_iter().zip(outside(b)) {
        if (of_a, of_b) != (0, 0) {
            row([&label, &Grouped::from(of_a), &Grouped::from(of_b), &"", &""])?;
        }
    }
    Ok(())
}

fn write_table(
    out: &mut dyn Write,
    diff: &Diff<'_>,
    resolution: f64,
    more: &dyn Fn(Rows<'_, 5>) -> fmt::Result,
) -> fmt::Result {
    let (name_a, name_b) = diff.names;
    out.write_char('\n')?;
    table::write(out, 1, &|row| {
        row([&"", &heading(name_a), &heading(name_b), &"change", &""])?;
        more(row)?;
        rows(diff, resolution, row)
    })
}

/// The changes from one summary to another. Nobody ran a test, so the first line only states how much the medians
/// differ, not what that means.
pub(crate) fn write_diff(out: &mut dyn Write, diff: &Diff<'_>) -> fmt::Result {
    write_title(out, diff.title)?;
    let median = |summary: &Summary| summary.percentiles.get(MEDIAN).and_then(|found| value(summary, found));
    let (name_a, name_b) = (Line(diff.names.0), Line(diff.names.1));
    match (median(diff.a), median(diff.b)) {
        (Some(a), Some(b)) => {
            let (from, to) = (a as f64, b as f64);
            let (level_a, level_b) = (diff.unit.integer(a), diff.unit.integer(b));
            let (change, far) = (change(from, to), far(from, to));
            let mut out = Wrapping::new(out);
            if a == b {
                write!(out, "The medians of {name_a} and {name_b} are the same, {level_a}.")?;
            } else if ratio(from, to).is_some() {
                write!(out, "The median of {name_b} is {far} than that of {name_a}: ")?;
                write!(out, "{level_a} → {level_b} ({change}).")?;
            } else {
                write!(out, "The median changed by {change} from {name_a} to {name_b}: ")?;
                write!(out, "{level_a} → {level_b}.")?;
            }
            out.finish()?;
        }
        (None, None) => out.write_str("Nothing to compare: no values.")?,
        (a, _) => {
            let empty = if a.is_none() { name_a } else { name_b };
            write_wrapped(out, format_args!("Nothing to compare: {empty} has no values."))?;
        }
    }
    write_table(out, diff, 0.0, &|_| Ok(()))
}

/// Notes that an answer needs.
const NOTES: [(u32, &str); 3] = [
    (COMPARISON_AUTOCORRELATED, "Measurements depend on those before them: the interval is wider for it."),
    (COMPARISON_OUT_OF_RANGE, "Values out of range or lost are not compared."),
    (COMPARISON_LAYOUTS_DIFFER, "The precisions differ: ranks are compared by the coarser."),
];

fn write_notes(out: &mut dyn Write, flags: u32, others: &[&str]) -> fmt::Result {
    let of_flags = NOTES.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, note)| *note);
    of_flags.chain(others.iter().copied()).try_for_each(|note| {
        out.write_str("\n")?;
        write_wrapped(out, format_args!("{note}"))
    })
}

/// A comparison of two snapshots, with their summaries.
pub(crate) fn write_comparison(out: &mut dyn Write, compared: &Comparison, diff: &Diff<'_>) -> fmt::Result {
    write_title(out, diff.title)?;
    let answer = Answer::for_comparison(compared, diff.names.0, diff.names.1, diff.unit);
    write_wrapped(out, format_args!("{answer}"))?;
    write_table(out, diff, 0.0, &|_| Ok(()))?;
    write_notes(out, compared.flags, &[])
}

/// A benchmark: the summaries show single measurements, and blocks of these decide.
pub(crate) fn write_blocks(
    out: &mut dyn Write,
    blocks: &BlockComparison,
    conditions: &Conditions<'_>,
    diff: &Diff<'_>,
) -> fmt::Result {
    write_title(out, diff.title)?;
    let answer = Answer::for_blocks(blocks, diff.names.0, diff.names.1, diff.unit);
    write_wrapped(out, format_args!("{answer}"))?;
    let (unit, resolution) = (diff.unit, blocks.resolution);
    write_table(out, diff, resolution, &|row| {
        let level = |value: f64| Level { value, whole: None, unit, resolution };
        level_row(&"blocks", level(blocks.median_a), level(blocks.median_b), row)
    })?;
    if !conditions.counters.is_empty() {
        let (name_a, name_b) = diff.names;
        out.write_char('\n')?;
        table::write(out, 1, &|row| {
            row([&"per call", &heading(name_a), &heading(name_b), &"change", &""])?;
            conditions.counters.iter().try_for_each(|&(name, a, b)| {
                // Clocks count nanoseconds.
                let unit =
                    Some(Unit::from_title(name).1).filter(|unit| unit.is_time()).unwrap_or(Unit::COUNT);
                let count = |amount: Option<f64>| {
                    let value = amount.unwrap_or(f64::NAN);
                    Level { value, whole: None, unit, resolution: 0.0 }
                };
                level_row(&heading(name), count(a), count(b), row)
            })
        })?;
    }
    write_how(out, blocks, conditions, diff)?;
    write_notes(out, blocks.flags, conditions.notes)
}

fn write_how(
    out: &mut dyn Write,
    blocks: &BlockComparison,
    conditions: &Conditions<'_>,
    diff: &Diff<'_>,
) -> fmt::Result {
    let count = Grouped::from(blocks.block_count);
    let [calls_a, calls_b] = conditions.calls;
    out.write_str("\n")?;
    if calls_a == 0 || calls_b == 0 {
        return write!(out, "{count} blocks");
    }
    /// A value of both sides, printed once if it is the same.
    fn both(a: impl Display, b: impl Display, is_same: bool) -> impl Display {
        from_fn(move |f| if is_same { a.fmt(f) } else { write!(f, "{a} and {b}") })
    }
    let calls = both(Grouped::from(calls_a), Grouped::from(calls_b), calls_a == calls_b);
    let [overhead_a, overhead_b] = conditions.overhead;
    if overhead_a.is_nan() || overhead_b.is_nan() || overhead_a == 0.0 {
        return write_wrapped(out, format_args!("{count} blocks, {calls} calls a sample"));
    }
    let of = |value: f64| diff.unit.number(value);
    let overhead = both(of(overhead_a), of(overhead_b), overhead_a == overhead_b);
    let [error_a, error_b] = conditions.overhead_error;
    let error = of(if error_a > error_b { error_a } else { error_b });
    write_wrapped(
        out,
        format_args!(
            "{count} blocks, {calls} calls a sample, without the {overhead} (± {error}) that calling nothing takes"
        ),
    )
}
