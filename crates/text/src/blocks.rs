//! The results of a benchmark: a table of the changes, and below it the verdict by blocks and a comparison of counters.

use core::fmt::{self, Write, from_fn};

use super::change::Change;
use super::comparison::{confidence, difference, is_noted, margin_rows};
use super::markdown::{is_below, level};
use super::{Diff, Unit, human, markdown, names};
use crate::escape::Markdown;
use crate::table::{self, Align, Rows};
use picollo_core::Summary;
use picollo_core::seam::{Fixed, Grouped};
use picollo_stats::verdict_text;
use picollo_stats::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN,
};

/// A counter of a benchmark: its name, and how much a call of A and of B used, if known.
pub type CounterRow<'a> = (&'a str, Option<f64>, Option<f64>);

/// How blocks were measured; the text shows it with the results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'a> {
    /// Calls in a sample of A and of B; 0 omits them.
    pub calls: [u64; 2],
    /// The time of an empty call, in a sample of this many; NaN if it was not measured.
    pub overhead: [f64; 2],
    /// Half of each overhead's interval.
    pub overhead_error: [f64; 2],
    /// The counters measured at the same time.
    pub counters: &'a [CounterRow<'a>],
    /// Additional notes, a paragraph each.
    pub notes: &'a [&'a str],
}

/// Writes the changes from summary `a` to summary `b`, which summarize single measurements, as Markdown. Below come
/// the comparison of their blocks, and the counters. Empty names read `Before` and `After`. Values below the
/// resolution read `<500`, and have no percentages. Fails only if `out` fails.
#[allow(clippy::too_many_arguments, reason = "the same as of a diff, and the two summaries")]
pub fn write_blocks(
    blocks: &BlockComparison,
    a: &Summary,
    b: &Summary,
    conditions: &Conditions<'_>,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    name_a: &str,
    name_b: &str,
) -> fmt::Result {
    let out: &mut dyn Write = &mut out;
    let diff = Diff { a, b, title, names: (name_a, name_b), unit: Unit::NONE };
    let names = diff.names_or_defaults();
    markdown::write_diff(out, &diff, blocks.resolution)?;
    out.write_char('\n')?;
    let align = [Align::Left, Align::Right, Align::Right, Align::Right];
    table::write(out, align, &|row| rows(blocks, conditions, names, row))?;
    if !conditions.counters.is_empty() {
        out.write_char('\n')?;
        table::write(out, align, &|row| counter_rows(conditions.counters, names, row))?;
    }
    for (flag, note) in NOTES {
        if is_noted(blocks.flags, flag) {
            write!(out, "\n{note}\n")?;
        }
    }
    conditions.notes.iter().try_for_each(|note| write!(out, "\n{note}\n"))
}

/// The same as [`write_blocks`] for people: the answer in a sentence, and then its basis;
/// see [`Format::Human`](super::Format::Human). Values are in `unit`.
#[allow(clippy::too_many_arguments, reason = "the same as of Markdown, and the unit")]
pub fn write_blocks_human(
    blocks: &BlockComparison,
    a: &Summary,
    b: &Summary,
    conditions: &Conditions<'_>,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    name_a: &str,
    name_b: &str,
    unit: Unit<'_>,
) -> fmt::Result {
    let diff = Diff { a, b, title, names: names(name_a, name_b), unit };
    human::write_blocks(&mut out, blocks, conditions, &diff)
}

const NOTES: [(u32, &str); 3] = [
    (COMPARISON_WITHIN_MARGIN, "The whole interval is within the margin: the same, as far as it matters."),
    (COMPARISON_TOO_FEW, "Too few blocks for an interval: give it more time."),
    (COMPARISON_AUTOCORRELATED, "Blocks depend on those before them: the interval is wider for it."),
];

fn rows(
    blocks: &BlockComparison,
    conditions: &Conditions<'_>,
    (name_a, name_b): (&str, &str),
    row: Rows<'_>,
) -> fmt::Result {
    let resolution = blocks.resolution;
    // A difference in proportion to a value below the resolution has no meaning.
    let base = if is_below(blocks.median_a, resolution) { f64::NAN } else { blocks.median_a };
    let of = |value: f64| difference(value, base);
    let median = |value: f64| level(Fixed::trimmed(value, 1), value, resolution);
    row([&"Blocks", &Markdown(name_a), &Markdown(name_b), &"Difference"])?;
    row([&"Median", &median(blocks.median_a), &median(blocks.median_b), &of(blocks.difference)])?;
    row([&confidence(blocks.confidence, "from"), &"", &"", &of(blocks.difference_lower)])?;
    row([&confidence(blocks.confidence, "to"), &"", &"", &of(blocks.difference_upper)])?;
    margin_rows(blocks.margin, blocks.smallest_detectable, base, blocks.flags, row)?;
    row([&"Correlation", &"", &"", &Fixed::new(blocks.lag1, 2)])?;
    row([&"Blocks", &"", &"", &Grouped::from(blocks.block_count)])?;
    let [calls_a, calls_b] = conditions.calls;
    if calls_a != 0 && calls_b != 0 {
        row([&"Calls", &Grouped::from(calls_a), &Grouped::from(calls_b), &""])?;
        let overhead = |side: usize| {
            let (time, error) = (conditions.overhead[side], conditions.overhead_error[side]);
            from_fn(move |f| write!(f, "{} ± {}", Fixed::trimmed(time, 1), Fixed::trimmed(error, 1)))
        };
        if !conditions.overhead[0].is_nan() && !conditions.overhead[1].is_nan() {
            row([&"Overhead", &overhead(0), &overhead(1), &""])?;
        }
    }
    row([&"Verdict", &"", &"", &verdict_text(blocks.verdict, blocks.flags)])
}

fn counter_rows(counters: &[CounterRow<'_>], (name_a, name_b): (&str, &str), row: Rows<'_>) -> fmt::Result {
    row([&"Per call", &Markdown(name_a), &Markdown(name_b), &"Δ%"])?;
    counters.iter().try_for_each(|&(name, a, b)| {
        let [a, b] = [a, b].map(|amount| amount.unwrap_or(f64::NAN));
        row([&Markdown(name), &Fixed::new(a, 2), &Fixed::new(b, 2), &Change::from_floats(a, b)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use picollo_stats::{BlockOverhead, CompareOptions, compare_blocks, compare_blocks_above};
    use std::string::{String, ToString};

    /// Below the resolution there are no percentages, nothing below zero, and no rows that contradict each other.
    #[test]
    fn below_the_resolution() {
        let a: [f64; 40] = core::array::from_fn(|at| 20_103.0 + (at * 7 % 10) as f64);
        let b: [f64; 40] = core::array::from_fn(|at| 20_060.0 + (at * 3 % 10) as f64);
        let options = CompareOptions { resolution: 500.0, ..CompareOptions::default() };
        let overhead = BlockOverhead { a: 20_100.0, b: 20_100.0, error: 0.0 };
        let compared = compare_blocks_above(&a, &b, &overhead, &mut [0.0; 40], &options).unwrap();
        assert_eq!(compared.median_b - compared.median_a, compared.difference);
        assert_eq!(compared.to_string(), "median: -43 [-45, -41], below the resolution");
        let conditions = Conditions {
            calls: [9_750; 2],
            overhead: [20_100.0; 2],
            overhead_error: [13.25; 2],
            notes: &["So it is."],
            ..Conditions::default()
        };
        let mut text = String::new();
        let low = Summary { percentiles: example::empty().percentiles, ..example::first() };
        write_blocks(&compared, &low, &example::first(), &conditions, &mut text, "T", "A", "B").unwrap();
        let (_, table) = text.split_once("\n\n").unwrap();
        assert_eq!(
            table,
            "\
| Blocks      |             A |             B |           Difference |
| :---------- | ------------: | ------------: | -------------------: |
| Median      |          <500 |          <500 |                  -43 |
| 95% from    |               |               |                  -45 |
| 95% to      |               |               |                  -41 |
| Margin      |               |               |    ±500 (resolution) |
| Detectable  |               |               |               ±502.9 |
| Correlation |               |               |                -0.33 |
| Blocks      |               |               |                   40 |
| Calls       |         9,750 |         9,750 |                      |
| Overhead    | 20,100 ± 13.3 | 20,100 ± 13.3 |                      |
| Verdict     |               |               | below the resolution |

So it is.
"
        );
    }

    /// For values below zero too, a larger value is more, and a margin has no sign.
    #[test]
    fn below_zero() {
        let a: [f64; 40] = core::array::from_fn(|at| -100.0 - (at * 7 % 10) as f64 / 10.0);
        let b: [f64; 40] = core::array::from_fn(|at| -95.0 - (at * 3 % 10) as f64 / 10.0);
        let compared = compare_blocks(&a, &b, &mut [0.0; 40], &CompareOptions::default()).unwrap();
        let mut text = String::new();
        let first = example::first();
        write_blocks(&compared, &first, &first, &Conditions::default(), &mut text, "", "", "").unwrap();
        assert!(text.contains("| -100.5 | -95.5 |") && text.contains(" +5 (+5.0%) |"), "{text}");
        assert!(text.contains(" ±1 (1.0%) |") && text.contains("slower |"), "{text}");
    }
}
