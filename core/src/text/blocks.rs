//! What a benchmark found: the table of what changed, and below it the verdict by blocks and the counters side by side.

use core::fmt::{self, Display, Write};

use super::change::Change;
use super::comparison::{Confidence, Difference, Magnitude};
use super::escape::Markdown;
use super::number::{Fixed, Grouped, NOT_AVAILABLE};
use super::table::{self, Align, Rows};
use super::{markdown, names};
use crate::{
    BlockComparison, COMPARISON_AUTOCORRELATED, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, Summary,
    Verdict,
};

/// A counter of a benchmark: its name, and how much of it a call of A and of B took, where that is known.
pub type CounterRow<'a> = (&'a str, Option<f64>, Option<f64>);

impl BlockComparison {
    /// The verdict.
    pub const fn verdict(&self) -> Verdict {
        Verdict::from_code(self.verdict)
    }

    /// Writes as Markdown what changed from summary `a` to summary `b`, those of single measurements, and below it this
    /// comparison of blocks of them, and the counters. Empty names read `Before` and `After`. Fails only where `out` does.
    #[allow(clippy::too_many_arguments, reason = "the same as of a diff, and the two summaries")]
    pub fn write_markdown(
        &self,
        a: &Summary,
        b: &Summary,
        counters: &[CounterRow<'_>],
        mut out: &mut (impl Write + ?Sized),
        title: &str,
        name_a: &str,
        name_b: &str,
    ) -> fmt::Result {
        let out: &mut dyn Write = &mut out;
        markdown::write_diff(out, a, b, title, name_a, name_b)?;
        out.write_char('\n')?;
        let names = names(name_a, name_b);
        let align = [Align::Left, Align::Right, Align::Right, Align::Right];
        table::write(out, align, &|row| rows(self, names, row))?;
        if !counters.is_empty() {
            out.write_char('\n')?;
            table::write(out, align, &|row| counter_rows(counters, names, row))?;
        }
        for (flag, note) in NOTES {
            if self.flags & flag != 0 {
                write!(out, "\n{note}\n")?;
            }
        }
        Ok(())
    }
}

const NOTES: [(u32, &str); 3] = [
    (COMPARISON_WITHIN_MARGIN, "The whole interval is within the margin: the same, as far as it matters."),
    (COMPARISON_TOO_FEW, "Too few blocks for an interval: give it more time."),
    (COMPARISON_AUTOCORRELATED, "Blocks depend on those before them: the interval is too narrow."),
];

fn rows(blocks: &BlockComparison, (name_a, name_b): (&str, &str), row: Rows<'_>) -> fmt::Result {
    let of = |value: f64| Difference { value, base: blocks.median_a };
    let median = |value: f64| Fixed::trimmed(value, 1);
    row([&"Blocks", &Markdown(name_a), &Markdown(name_b), &"Difference"])?;
    row([&"Median", &median(blocks.median_a), &median(blocks.median_b), &of(blocks.difference)])?;
    row([&Confidence(blocks.confidence, "from"), &"", &"", &of(blocks.difference_lower)])?;
    row([&Confidence(blocks.confidence, "to"), &"", &"", &of(blocks.difference_upper)])?;
    row([&"Margin", &"", &"", &Magnitude(of(blocks.margin))])?;
    row([&"Detectable", &"", &"", &Magnitude(of(blocks.smallest_detectable))])?;
    row([&"Correlation", &"", &"", &Fixed::new(blocks.lag1, 2)])?;
    row([&"Blocks", &"", &"", &Grouped::from(blocks.block_count)])?;
    row([&"Verdict", &"", &"", &blocks.verdict().as_str()])
}

/// How much of a counter a call took.
struct Amount(Option<f64>);

impl Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(amount) => Fixed::new(amount, 2).fmt(f),
            None => f.write_str(NOT_AVAILABLE),
        }
    }
}

fn counter_rows(counters: &[CounterRow<'_>], (name_a, name_b): (&str, &str), row: Rows<'_>) -> fmt::Result {
    row([&"Per call", &Markdown(name_a), &Markdown(name_b), &"Δ%"])?;
    counters.iter().try_for_each(|&(name, a, b)| {
        let change = Change::of_floats(a.unwrap_or(f64::NAN), b.unwrap_or(f64::NAN));
        row([&Markdown(name), &Amount(a), &Amount(b), &change])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::example;
    use crate::{CompareOptions, compare_blocks};
    use std::string::String;

    fn table(length: usize, counters: &[CounterRow<'_>]) -> String {
        let a: [f64; 40] = core::array::from_fn(|at| 1000.0 + (at * 7 % 10) as f64);
        let b: [f64; 40] = core::array::from_fn(|at| 1100.0 + (at * 3 % 10) as f64);
        let compared =
            compare_blocks(&a[..length], &b[..length], &mut [0.0; 40], &CompareOptions::default()).unwrap();
        let mut text = String::new();
        compared
            .write_markdown(&example::first(), &example::second(), counters, &mut text, "T", "", "x|y")
            .unwrap();
        text.split_once("\n\n").unwrap().1.into()
    }

    #[test]
    fn a_benchmark() {
        assert_eq!(
            table(40, &[("cycles", Some(100.0), Some(110.5)), ("a|b", None, Some(1.0))]),
            "\
| Blocks      |  Before |    x\\|y |    Difference |
| :---------- | ------: | ------: | ------------: |
| Median      | 1,004.5 | 1,104.5 | +100 (+10.0%) |
| 95% from    |         |         |   +98 (+9.8%) |
| 95% to      |         |         | +102 (+10.2%) |
| Margin      |         |         |    ±10 (1.0%) |
| Detectable  |         |         |  ±12.9 (1.3%) |
| Correlation |         |         |         -0.33 |
| Blocks      |         |         |            40 |
| Verdict     |         |         |        slower |

| Per call | Before |   x\\|y |     Δ% |
| :------- | -----: | -----: | -----: |
| cycles   | 100.00 | 110.50 | +10.5% |
| a\\|b     |    n/a |   1.00 |    n/a |
"
        );
        assert!(table(3, &[]).ends_with("\n\nToo few blocks for an interval: give it more time.\n"));
    }
}
