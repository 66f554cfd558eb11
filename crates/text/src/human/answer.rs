//! The answer in a sentence. It states exactly what the verdict states.

use core::fmt::{self, Display, from_fn};

use super::percent::{decimals_of, percent, ratio, unsigned};
use crate::escape::Line;
use crate::markdown::is_below;
use crate::table::Cell;
use crate::unit::Unit;
use picollo_core::seam::Fixed;
use picollo_stats::{
    BlockComparison, COMPARISON_BELOW_RESOLUTION, COMPARISON_NOISY, COMPARISON_TOO_FEW,
    COMPARISON_WITHIN_MARGIN, Comparison, Verdict, power_behind,
};

/// The result of a comparison, as a sentence: `{}`. [`Answer::for_comparison`] and [`Answer::for_blocks`] make it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub(super) names: (&'a str, &'a str),
    /// The compared quantile, if it is not the median: `P99`.
    pub(super) quantile: Option<f64>,
    /// The result. Values below its resolution are unknown.
    pub(super) found: BlockComparison,
    pub(super) unit: Unit<'a>,
}

impl<'a> Answer<'a> {
    /// The answer in a sentence, for sides with these names. Empty names read `Before` and `After`.
    pub fn for_comparison(
        found: &Comparison,
        name_a: &'a str,
        name_b: &'a str,
        unit: Unit<'a>,
    ) -> Answer<'a> {
        let blocks = BlockComparison {
            confidence: found.a.confidence,
            median_a: found.a.value as f64,
            difference: found.difference,
            difference_lower: found.difference_lower,
            difference_upper: found.difference_upper,
            margin: found.margin,
            smallest_detectable: found.smallest_detectable,
            verdict: found.verdict,
            flags: found.flags,
            ..BlockComparison::default()
        };
        let quantile = Some(found.a.quantile).filter(|&quantile| quantile != 0.5);
        Answer { quantile, ..Answer::for_blocks(&blocks, name_a, name_b, unit) }
    }

    /// The answer in a sentence, for sides with these names. Empty names read `Before` and `After`.
    pub fn for_blocks(
        found: &BlockComparison,
        name_a: &'a str,
        name_b: &'a str,
        unit: Unit<'a>,
    ) -> Answer<'a> {
        Answer { names: crate::names(name_a, name_b), quantile: None, found: *found, unit }
    }

    const fn has(&self, flag: u32) -> bool {
        self.found.flags & flag != 0
    }

    /// In percent of A, if that has a meaning.
    fn share(&self, value: f64) -> f64 {
        let BlockComparison { median_a, resolution, .. } = self.found;
        let is_known = median_a.is_finite() && median_a != 0.0 && !is_below(median_a, resolution);
        if is_known { value / libm::fabs(median_a) * 100.0 } else { f64::NAN }
    }

    /// The same for an end of the interval: a positive quantity cannot decrease by more than 100 %.
    fn share_of_whole(&self, value: f64) -> f64 {
        let BlockComparison { median_a, difference, .. } = self.found;
        let is_whole = median_a > 0.0 && median_a + difference >= 0.0;
        let is_less = is_whole && value.is_finite() && median_a + value < 0.0;
        self.share(if is_less { -median_a } else { value })
    }

    fn is_share(&self) -> bool {
        self.share(self.found.difference).is_finite()
    }

    /// The size of a difference: in percent, or absolute.
    fn size(&self, value: f64) -> impl Display {
        from_fn(move |f| match self.is_share() {
            true => write!(f, "{} %", unsigned(self.share(value))),
            false => self.unit.number(value).magnitude().fmt(f),
        })
    }

    /// The quantile, if it is not the median.
    fn at(&self) -> impl Display {
        let at = |quantile: f64| from_fn(move |f| write!(f, " at P{}", Fixed::rank(quantile * 100.0)));
        Cell(self.quantile.map(at))
    }

    /// The confidence in percent.
    fn confidence(&self) -> impl Display {
        Fixed::trimmed(self.found.confidence * 100.0, 2)
    }

    /// `95 %: −88.5 to −88.3`. If the sentence has a ratio instead of the change, the interval begins with the change.
    fn interval(&self, has_change: bool) -> impl Display {
        from_fn(move |f| {
            let BlockComparison { difference, difference_lower: lower, difference_upper: upper, .. } =
                self.found;
            let is_share = self.is_share();
            let decimals = decimals_of(&[difference, lower, upper].map(|value| self.share_of_whole(value)));
            let write = |f: &mut fmt::Formatter<'_>, value: f64| match is_share {
                true => percent(self.share_of_whole(value), decimals, true).fmt(f),
                false => self.unit.number(value).signed().fmt(f),
            };
            if has_change {
                write(f, difference)?;
                f.write_str(if is_share { " %, " } else { ", " })?;
            }
            write!(f, "{} %: ", self.confidence())?;
            let (has_lower, has_upper) = (lower.is_finite(), upper.is_finite());
            if has_lower {
                write(f, lower)?;
            }
            f.write_str(match (has_lower, has_upper) {
                (false, false) => return f.write_str("not known"),
                (false, true) => "up to ",
                (true, false) => " or more",
                (true, true) => " to ",
            })?;
            if has_upper {
                write(f, upper)?;
            }
            // The change already has the percent sign.
            f.write_str(if is_share && !has_change { " %" } else { "" })
        })
    }

    /// The word for a larger or smaller B.
    const fn word(&self, is_larger: bool) -> &'static str {
        match (is_larger, self.unit.is_known() && !self.unit.is_time()) {
            (false, false) => "faster",
            (true, false) => "slower",
            (false, true) => "less",
            (true, true) => "more",
        }
    }
}

impl Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (Line(self.names.0), Line(self.names.1));
        let at = self.at();
        let is_larger = match self.found.verdict() {
            Verdict::NoEvidence => return self.no_evidence(f),
            Verdict::Faster => false,
            Verdict::Slower => true,
        };
        let word = self.word(is_larger);
        let is_same_sign = self.found.difference.is_finite() && (self.found.difference > 0.0) == is_larger;
        if self.has(COMPARISON_TOO_FEW) || !is_same_sign {
            let interval = self.interval(false);
            return write!(f, "{b} is {word} than {a}{at}, by how much is not known ({interval}).");
        }
        let far = ratio(self.found.median_a, self.found.median_a + self.found.difference);
        match far.filter(|_| self.is_share()) {
            Some(times) => write!(f, "{b} is {times} {word} than {a}{at} ({}).", self.interval(true)),
            None => {
                let size = self.size(self.found.difference);
                write!(f, "{b} is {size} {word} than {a}{at} ({}).", self.interval(false))
            }
        }
    }
}

impl Answer<'_> {
    fn no_evidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (Line(self.names.0), Line(self.names.1));
        let at = self.at();
        let BlockComparison { difference_lower: lower, difference_upper: upper, margin, .. } = self.found;
        let detectable = self.found.smallest_detectable;
        if self.has(COMPARISON_NOISY) {
            return write!(
                f,
                "Unproven: the machine was too noisy to distinguish {a} from {b}{at} in this time: measure longer, or when it is quieter."
            );
        }
        if self.has(COMPARISON_TOO_FEW) {
            return write!(f, "Too few measurements to distinguish {a} from {b}{at}.");
        }
        if self.has(COMPARISON_BELOW_RESOLUTION) {
            let margin = self.unit.number(margin);
            return write!(
                f,
                "Below the resolution: {a} and {b} differ by less than {margin}{at}, if at all."
            );
        }
        let (interval, margin_size) = (self.interval(false), self.size(margin));
        if self.has(COMPARISON_WITHIN_MARGIN) {
            return write!(
                f,
                "No difference that matters{at}: {a} and {b} are within {margin_size} ({interval})."
            );
        }
        let is_larger = lower > 0.0;
        if lower.is_finite() && upper.is_finite() && (is_larger || upper < 0.0) {
            let ends = if is_larger { [lower, upper] } else { [upper, lower] };
            write!(f, "{b} against {a}{at}: {} by ", self.word(is_larger))?;
            if self.is_share() {
                let shares = ends.map(|end| libm::fabs(self.share_of_whole(end)));
                let decimals = decimals_of(&shares);
                let [least, most] = shares.map(|share| percent(share, decimals, false));
                write!(f, "{least} to {most} %")?;
            } else {
                let [least, most] = ends.map(|end| self.unit.number(end).magnitude());
                write!(f, "{least} to {most}")?;
            }
            let confidence = self.confidence();
            return write!(f, " ({confidence} %), not proven to exceed the margin of {margin_size}.");
        }
        write!(f, "No difference found between {a} and {b}{at} ({interval})")?;
        if !detectable.is_finite() {
            return f.write_str(".");
        }
        let size = self.size(detectable);
        match power_behind(lower, upper, margin, self.found.confidence, detectable) {
            Some(power) => {
                let often = Fixed::trimmed(power * 100.0, 0);
                write!(f, "; one of {size} would have been seen {often} % of the time.")
            }
            None => write!(f, "; the smallest that would be seen is {size}."),
        }
    }
}
