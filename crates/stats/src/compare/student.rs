//! Student's distribution.

use core::f64::consts::PI;

use super::normal;

/// More degrees of freedom use the quantile of this many: a thousandth above the normal one, on the safe side.
const MOST: u32 = 1000;

/// Returns the probability that a variable with this many degrees of freedom, one or more, lies within `t` of zero: the
/// finite series 26.7.3 and 26.7.4 of Abramowitz and Stegun, *Handbook of Mathematical Functions*.
fn within(t: f64, degrees: u32) -> f64 {
    let nu = f64::from(degrees);
    let angle = libm::atan(t / libm::sqrt(nu));
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    let mut at = if is_odd { 3 } else { 2 };
    while at <= degrees {
        sum += term;
        term *= cosine * cosine * f64::from(at - 1) / f64::from(at);
        at += 2;
    }
    if is_odd { 2.0 / PI * (angle + sine * sum) } else { sine * sum }
}

/// Returns the `t` that a variable with this many degrees of freedom, one or more, exceeds with probability `p`, for
/// 1e-9 <= p < 0.5 (a smaller one is treated as 1e-9).
pub(super) fn quantile_above(p: f64, degrees: u32) -> f64 {
    let (p, degrees) = (p.max(1e-9), degrees.clamp(1, MOST));
    // The normal quantile is below it; Cauchy's, with one degree, is above it.
    let mut lower = normal::quantile_above(p).max(0.0);
    let mut upper = 1.0 / libm::tan(PI * p) + 1.0;
    for _ in 0..200 {
        let middle = f64::midpoint(lower, upper);
        if middle <= lower || middle >= upper {
            break;
        }
        if (1.0 - within(middle, degrees)) / 2.0 > p {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    upper
}

/// Does the same as [`quantile_above`], also between whole degrees: quantiles are nearly linear in their inverse.
pub(crate) fn students_quantile(p: f64, degrees: f64) -> f64 {
    let whole = libm::floor(degrees);
    let [few, many] = [whole, whole + 1.0].map(|degrees| quantile_above(p, degrees as u32));
    few + (many - few) * (degrees - whole) * (whole + 1.0) / degrees
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_quantiles() {
        // `scipy.stats.t.isf(p, degrees)`.
        for (p, degrees, expected) in T_QUANTILES {
            let actual = quantile_above(p, degrees);
            assert!((actual / expected - 1.0).abs() < 1e-6, "{p} {degrees}: {actual} is not {expected}");
        }
        // `scipy.stats.t.isf(0.025, 7.5)`.
        assert!((students_quantile(0.025, 7.5) / 2.333_3 - 1.0).abs() < 1e-3);
        assert_eq!(students_quantile(0.005, 4.0), quantile_above(0.005, 4));
        assert!(quantile_above(0.0, 1).is_finite());
        assert_eq!(quantile_above(0.01, u32::MAX), quantile_above(0.01, MOST));
    }

    const T_QUANTILES: [(f64, u32, f64); 14] = [
        (0.25, 1, 1.000000000),
        (0.005, 1, 63.656741163),
        (0.025, 2, 4.302652730),
        (0.005, 2, 9.924843201),
        (0.005, 3, 5.840909310),
        (0.005, 4, 4.604094871),
        (0.025, 4, 2.776445105),
        (0.0005, 4, 8.610301581),
        (0.025, 9, 2.262157163),
        (0.005, 10, 3.169272673),
        (0.005, 49, 2.679951974),
        (0.025, 50, 2.008559112),
        (0.005, 999, 2.580759637),
        (1e-6, 7, 14.241469652),
    ];
}
