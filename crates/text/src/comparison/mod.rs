//! Comparisons: a table of the changes, and below it the intervals and the verdict.

use core::fmt::{self, Display, Write, from_fn};

use super::change::Change;
use super::fields::{self, write_members};
use super::{Diff, Format, Unit, human, json, line, markdown};
use crate::escape::{Json, Markdown};
use crate::table::{self, Align, Rows};
use picollo_core::Summary;
use picollo_core::seam::{Fixed, Grouped, Maybe, NOT_AVAILABLE};
use picollo_stats::verdict_text;
use picollo_stats::{
    COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION, COMPARISON_LAYOUTS_DIFFER,
    COMPARISON_MARGIN_IS_RESOLUTION, COMPARISON_OUT_OF_RANGE, COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN,
    Comparison, QuantileInterval,
};

/// Writes the changes from summary `a` to summary `b`, as [`write_diff`](super::write_diff) does, with the comparison
/// of the same two. Fails only if `out` fails.
///
/// - Markdown: the table of the diff, and below it a table of intervals, effects and the verdict, with notes.
/// - Line: the line of the diff, and `; P50=+128 (+3.6%) [+96, +160], …, slower`.
/// - JSON: `diff` and `comparison`, the latter with the fields of [`Comparison`] as keys; `null` if not finite.
///
/// In Markdown and in a line, empty names become `Before` and `After`.
#[allow(clippy::too_many_arguments, reason = "the same as of a diff, and the two summaries")]
pub fn write_comparison(
    comparison: &Comparison,
    a: &Summary,
    b: &Summary,
    mut out: &mut (impl Write + ?Sized),
    title: &str,
    name_a: &str,
    name_b: &str,
    format: Format,
) -> fmt::Result {
    let out: &mut dyn Write = &mut out;
    let diff = Diff { a, b, title, names: (name_a, name_b), unit: Unit::NONE };
    match format {
        Format::Markdown => {
            markdown::write_diff(out, &diff, 0.0)?;
            out.write_char('\n')?;
            write_markdown(out, comparison, diff.names_or_defaults())
        }
        Format::Line => {
            line::write_diff(out, &diff)?;
            write!(out, "; ")?;
            write_line(out, comparison)
        }
        Format::Json => {
            write!(out, "{{\"title\":\"{}\",\"diff\":", Json(title))?;
            json::write_diff(out, &diff)?;
            out.write_str(",\"comparison\":")?;
            write_json(out, comparison)?;
            out.write_char('}')
        }
        Format::Human => human::write_comparison(out, comparison, &diff.for_people()),
    }
}

/// A difference with its sign, and in proportion to its base; NaN if the base is unknown.
pub(super) fn difference(value: f64, base: f64) -> impl Display {
    from_fn(move |f| {
        write!(f, "{}{}", if value > 0.0 && value.is_finite() { "+" } else { "" }, Fixed::trimmed(value, 1))?;
        let has_share = value.is_finite() && !base.is_nan();
        if has_share { write!(f, " ({})", Change::from_floats(base, base + value)) } else { Ok(()) }
    })
}

/// The rows of the margin, with its origin, and of the smallest detectable difference. Sizes have no sign.
pub(super) fn margin_rows(
    margin: f64,
    smallest_detectable: f64,
    base: f64,
    flags: u32,
    row: Rows<'_>,
) -> fmt::Result {
    let is_resolution = flags & COMPARISON_MARGIN_IS_RESOLUTION != 0;
    let size = |value: f64, is_resolution: bool| {
        from_fn(move |f| {
            if !value.is_finite() && !is_resolution {
                return f.write_str(NOT_AVAILABLE);
            }
            write!(f, "±{}", Fixed::trimmed(value, 1))?;
            match base {
                _ if is_resolution => f.write_str(" (resolution)"),
                0.0 => Ok(()),
                base if base.is_nan() => Ok(()),
                base => write!(f, " ({}%)", Fixed::new((value / base).abs() * 100.0, 1)),
            }
        })
    };
    row([&"Margin", &"", &"", &size(margin, is_resolution)])?;
    row([&"Detectable", &"", &"", &size(smallest_detectable, false)])
}

/// A probability: four decimals, or one digit and an exponent.
fn probability(p: f64) -> impl Display {
    from_fn(move |f| match p {
        ..=0.0 => f.write_str("<1e-300"),
        0.0..1e-4 => write!(f, "{p:.0e}"),
        _ => Fixed::new(p, 4).fmt(f),
    })
}

/// The quantile as a rank: `P99.9`.
fn label(quantile: f64) -> impl Display {
    from_fn(move |f| write!(f, "P{}", Fixed::rank(quantile * 100.0)))
}

/// The end of an interval: its confidence, and which end it is.
pub(super) fn confidence(confidence: f64, end: &str) -> impl Display {
    from_fn(move |f| write!(f, "{}% {end}", Fixed::rank(confidence * 100.0)))
}

fn write_markdown(out: &mut dyn Write, compared: &Comparison, names: (&str, &str)) -> fmt::Result {
    table::write(out, [Align::Left, Align::Right, Align::Right, Align::Right], &|row| {
        rows(compared, names, row)
    })?;
    let mut first = true;
    for (flag, note) in NOTES {
        if is_noted(compared.flags, flag) {
            out.write_str(if core::mem::replace(&mut first, false) { "\n" } else { "" })?;
            writeln!(out, "- {note}")?;
        }
    }
    Ok(())
}

/// Whether a flag needs a note: below the resolution, there is no note about the margin.
pub(super) const fn is_noted(flags: u32, flag: u32) -> bool {
    flags & flag != 0 && !(flag == COMPARISON_WITHIN_MARGIN && flags & COMPARISON_BELOW_RESOLUTION != 0)
}

const NOTES: [(u32, &str); 5] = [
    (COMPARISON_WITHIN_MARGIN, "The whole interval is within the margin: the same, as far as it matters."),
    (COMPARISON_TOO_FEW, "Too few observations for an interval of this quantile."),
    (COMPARISON_AUTOCORRELATED, "Measurements depend on those before them: the interval is wider for it."),
    (COMPARISON_OUT_OF_RANGE, "Observations out of range or lost are not compared."),
    (COMPARISON_LAYOUTS_DIFFER, "The precisions differ: ranks are compared by the coarser."),
];

fn rows(compared: &Comparison, (name_a, name_b): (&str, &str), row: Rows<'_>) -> fmt::Result {
    let (a, b) = (&compared.a, &compared.b);
    let base = a.value as f64;
    let of = |value: f64| difference(value, base);
    row([&"Comparison", &Markdown(name_a), &Markdown(name_b), &"Difference"])?;
    row([&label(a.quantile), &Grouped::from(a.value), &Grouped::from(b.value), &of(compared.difference)])?;
    let end = |value: u64, count: u64| Maybe(Some(value).filter(|_| count != 0));
    let lower = |interval: &QuantileInterval| end(interval.lower, interval.lower_count);
    let upper = |interval: &QuantileInterval| end(interval.upper, interval.upper_count);
    row([&confidence(a.confidence, "from"), &lower(a), &lower(b), &of(compared.difference_lower)])?;
    row([&confidence(a.confidence, "to"), &upper(a), &upper(b), &of(compared.difference_upper)])?;
    margin_rows(compared.margin, compared.smallest_detectable, base, compared.flags, row)?;
    row([&"P(larger)", &"", &"", &Fixed::new(compared.common_language, 4)])?;
    row([&"Cliff's delta", &"", &"", &Fixed::new(compared.cliffs_delta, 4)])?;
    let z = Fixed::new(compared.mann_whitney_z, 2);
    row([&"Mann-Whitney", &"z, p", &z, &probability(compared.mann_whitney_p)])?;
    row([&"Kolmogorov-Sm.", &"D, p", &Fixed::new(compared.ks_distance, 4), &probability(compared.ks_p)])?;
    row([&"Verdict", &"", &"", &verdict_text(compared.verdict, compared.flags)])
}

fn write_line(out: &mut dyn Write, compared: &Comparison) -> fmt::Result {
    let of = |value: f64| difference(value, compared.a.value as f64);
    write!(
        out,
        "{}={} [{}, {}] {}%, Margin={}, MannWhitney={}, KS={}, Verdict={}",
        label(compared.a.quantile),
        of(compared.difference),
        of(compared.difference_lower),
        of(compared.difference_upper),
        Fixed::rank(compared.a.confidence * 100.0),
        Fixed::trimmed(compared.margin, 1),
        probability(compared.mann_whitney_p),
        probability(compared.ks_p),
        verdict_text(compared.verdict, compared.flags),
    )
}

fn write_json(out: &mut dyn Write, compared: &Comparison) -> fmt::Result {
    out.write_char('{')?;
    for (name, interval) in [("a", &compared.a), ("b", &compared.b)] {
        write!(out, "\"{name}\":{{")?;
        write_members(out, &fields::interval(interval))?;
        out.write_str("},")?;
    }
    write_members(out, &fields::comparison(compared))?;
    out.write_char('}')
}

#[cfg(test)]
mod tests;
