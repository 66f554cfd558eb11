//! The answer in a sentence. It states exactly what the verdict states.

use core::fmt::{self, Display};

use super::percent::{Percent, decimals_of, ratio, unsigned};
use crate::escape::Line;
use crate::unit::{Quantity, Unit};
use picollo_core::seam::Fixed;
use picollo_stats::power_behind;
use picollo_stats::{
    BlockComparison, COMPARISON_BELOW_RESOLUTION, COMPARISON_NOISY, COMPARISON_TOO_FEW,
    COMPARISON_WITHIN_MARGIN, Comparison, Verdict,
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
}

impl Answer<'_> {
    const fn has(&self, flag: u32) -> bool {
        self.found.flags & flag != 0
    }

    /// In percent of A, if that has a meaning.
    fn share(&self, value: f64) -> f64 {
        let is_known = self.found.median_a.is_finite() && self.found.median_a != 0.0;
        let is_known =
            is_known && !(self.found.resolution > 0.0 && self.found.median_a < self.found.resolution);
        if is_known { value / libm::fabs(self.found.median_a) * 100.0 } else { f64::NAN }
    }

    /// The same for an end of the interval: a positive quantity cannot decrease by more than 100 %.
    fn share_of_whole(&self, value: f64) -> f64 {
        let is_whole = self.found.median_a > 0.0 && self.found.median_a + self.found.difference >= 0.0;
        let is_less = is_whole && value.is_finite() && self.found.median_a + value < 0.0;
        self.share(if is_less { -self.found.median_a } else { value })
    }

    fn is_share(&self) -> bool {
        self.share(self.found.difference).is_finite()
    }

    /// The size of a difference: in percent, or absolute.
    fn size(&self, value: f64) -> Size {
        if self.is_share() {
            Size::Share(unsigned(self.share(value)))
        } else {
            Size::Absolute(self.unit.number(value).magnitude())
        }
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

/// The size of a difference.
enum Size {
    Share(Percent),
    Absolute(Quantity),
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Share(share) => write!(f, "{share} %"),
            Size::Absolute(value) => value.fmt(f),
        }
    }
}

/// `95 %: −88.5 to −88.3`. If the sentence has a ratio instead of the change, the interval begins with the change.
struct Interval<'a, 'b>(&'a Answer<'b>, bool);

impl Display for Interval<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval(answer, has_change) = *self;
        let share = |value: f64| answer.share_of_whole(value);
        let shares = [answer.found.difference, answer.found.difference_lower, answer.found.difference_upper]
            .map(share);
        let decimals = decimals_of(&shares);
        let end = |value: f64| -> (Percent, Quantity) {
            let share = Percent { value: share(value), decimals, is_signed: true };
            (share, answer.unit.number(value).signed())
        };
        let is_share = answer.is_share();
        let write = |f: &mut fmt::Formatter<'_>, value: f64| {
            let (share, absolute) = end(value);
            if is_share { share.fmt(f) } else { absolute.fmt(f) }
        };
        if has_change {
            write(f, answer.found.difference)?;
            f.write_str(if is_share { " %, " } else { ", " })?;
        }
        write!(f, "{} %: ", Fixed::trimmed(answer.found.confidence * 100.0, 2))?;
        match (answer.found.difference_lower.is_finite(), answer.found.difference_upper.is_finite()) {
            (false, false) => return f.write_str("not known"),
            (false, true) => f.write_str("up to ").and_then(|()| write(f, answer.found.difference_upper))?,
            (true, false) => {
                write(f, answer.found.difference_lower).and_then(|()| f.write_str(" or more"))?
            }
            (true, true) => {
                write(f, answer.found.difference_lower)?;
                f.write_str(" to ")?;
                write(f, answer.found.difference_upper)?;
            }
        }
        // The change already has the percent sign.
        f.write_str(if is_share && !has_change { " %" } else { "" })
    }
}

/// The quantile, if it is not the median.
struct At(Option<f64>);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(quantile) => write!(f, " at P{}", Fixed::rank(quantile * 100.0)),
        }
    }
}

impl Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (Line(self.names.0), Line(self.names.1));
        let at = At(self.quantile);
        let is_larger = match self.found.verdict() {
            Verdict::NoEvidence => return self.no_evidence(f),
            Verdict::Faster => false,
            Verdict::Slower => true,
        };
        let word = self.word(is_larger);
        let is_same_sign = self.found.difference.is_finite() && (self.found.difference > 0.0) == is_larger;
        if self.has(COMPARISON_TOO_FEW) || !is_same_sign {
            let interval = Interval(self, false);
            return write!(f, "{b} is {word} than {a}{at}, by how much is not known ({interval}).");
        }
        let far = if self.is_share() {
            ratio(self.found.median_a, self.found.median_a + self.found.difference)
        } else {
            None
        };
        match far {
            Some(times) => write!(f, "{b} is {times} {word} than {a}{at} ({}).", Interval(self, true)),
            None => {
                let size = self.size(self.found.difference);
                write!(f, "{b} is {size} {word} than {a}{at} ({}).", Interval(self, false))
            }
        }
    }
}

impl Answer<'_> {
    fn no_evidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (Line(self.names.0), Line(self.names.1));
        let at = At(self.quantile);
        if self.has(COMPARISON_NOISY) {
            return write!(
                f,
                "Unproven: the machine was too noisy to distinguish {a} from {b}{at} in this time: measure longer, or when it is quieter."
            );
        }
        if self.has(COMPARISON_TOO_FEW) {
            return write!(f, "Too few measurements to distinguish {a} from {b}{at}.");
        }
        let interval = Interval(self, false);
        if self.has(COMPARISON_BELOW_RESOLUTION) {
            let margin = self.unit.number(self.found.margin);
            return write!(
                f,
                "Below the resolution: {a} and {b} differ by less than {margin}{at}, if at all."
            );
        }
        if self.has(COMPARISON_WITHIN_MARGIN) {
            let margin = self.size(self.found.margin);
            return write!(
                f,
                "No difference that matters{at}: {a} and {b} are within {margin} ({interval})."
            );
        }
        let is_larger = self.found.difference_lower > 0.0;
        if self.found.difference_lower.is_finite()
            && self.found.difference_upper.is_finite()
            && (is_larger || self.found.difference_upper < 0.0)
        {
            let (least, most) = if is_larger {
                (self.found.difference_lower, self.found.difference_upper)
            } else {
                (self.found.difference_upper, self.found.difference_lower)
            };
            write!(f, "{b} against {a}{at}: {} by ", self.word(is_larger))?;
            if self.is_share() {
                let shares = [least, most].map(|end| libm::fabs(self.share_of_whole(end)));
                let decimals = decimals_of(&shares);
                let [least, most] = shares.map(|value| Percent { value, decimals, is_signed: false });
                write!(f, "{least} to {most} %")?;
            } else {
                let [least, most] = [least, most].map(|end| self.unit.number(end).magnitude());
                write!(f, "{least} to {most}")?;
            }
            let confidence = Fixed::trimmed(self.found.confidence * 100.0, 2);
            let margin = self.size(self.found.margin);
            return write!(f, " ({confidence} %), not proven to exceed the margin of {margin}.");
        }
        write!(f, "No difference found between {a} and {b}{at} ({interval})")?;
        if !self.found.smallest_detectable.is_finite() {
            return f.write_str(".");
        }
        let size = self.size(self.found.smallest_detectable);
        let power = power_behind(
            self.found.difference_lower,
            self.found.difference_upper,
            self.found.margin,
            self.found.confidence,
            self.found.smallest_detectable,
        );
        match power {
            Some(power) => {
                let often = Fixed::trimmed(power * 100.0, 0);
                write!(f, "; one of {size} would have been seen {often} % of the time.")
            }
            None => write!(f, "; the smallest that would be seen is {size}."),
        }
    }
}
