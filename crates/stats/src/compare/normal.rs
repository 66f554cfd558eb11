//! The normal distribution, and Kolmogorov's.

use core::f64::consts::{PI, SQRT_2};

/// Returns the probability that a standard normal variable is further from zero than `z`, on either side.
pub(super) fn two_sided(z: f64) -> f64 {
    libm::erfc(libm::fabs(z) / SQRT_2)
}

/// Returns the probability that a standard normal variable lies above `z`.
pub(crate) fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * PI)
}

/// Returns the `z` that a standard normal variable exceeds with probability `p`, for 0 < p <= 0.5.
///
/// Starts with formula 26.2.23 of Abramowitz and Stegun, *Handbook of Mathematical Functions* (error below 4.5e-4), and
/// continues with Halley's iteration.
pub(crate) fn quantile_above(p: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(p));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - numerator / denominator;
    for _ in 0..3 {
        let slope = density(z);
        if slope == 0.0 {
            break;
        }
        let step = (above(z) - p) / slope;
        z += step / (1.0 + z * step / 2.0);
    }
    z
}

/// Returns the probability that the Kolmogorov-Smirnov statistic, times the root of the effective number of
/// observations, is `lambda` or more: the limit for many observations.
///
/// Uses Kolmogorov's series, `2 sum (-1)^(k-1) exp(-2 k^2 lambda^2)`. For small `lambda`, for which that converges
/// slowly, it uses the transform by the theta function,
/// `1 - sqrt(2 pi) / lambda sum exp(-(2k-1)^2 pi^2 / (8 lambda^2))`: A. Kolmogorov, *Sulla determinazione empirica di
/// una legge di distribuzione* (1933); W. Feller, Annals of Mathematical Statistics 19 (1948).
pub(super) fn kolmogorov(lambda: f64) -> f64 {
    if lambda.is_nan() || lambda <= 0.05 {
        // The difference from 1 is below 1e-200.
        return 1.0;
    }
    let mut sum = 0.0;
    if lambda < 1.0 {
        let unit = PI * PI / (8.0 * lambda * lambda);
        for k in 1..10 {
            let odd = (2 * k - 1) as f64;
            sum += libm::exp(-odd * odd * unit);
        }
        return (1.0 - libm::sqrt(2.0 * PI) / lambda * sum).clamp(0.0, 1.0);
    }
    let mut sign = 2.0;
    for k in 1..10 {
        let k = k as f64;
        sum += sign * libm::exp(-2.0 * k * k * lambda * lambda);
        sign = -sign;
    }
    sum.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(actual: f64, expected: f64, relative: f64) {
        assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e}");
    }

    /// Values of `scipy.stats.norm` and `scipy.special.kolmogorov`.
    #[test]
    fn known_values() {
        for (p, z) in [
            (0.5, 0.0),
            (0.025, 1.959_963_984_540_054_5),
            (0.005, 2.575_829_303_548_901),
            (0.2, 0.841_621_233_572_914_2),
            (1e-10, 6.361_340_902_404_056),
            (1e-300, 37.047_096_299_361_2),
            (0.4999, 2.506_628_300_880_075e-4),
        ] {
            assert!(
                (quantile_above(p) - z).abs() < 1e-12 * (1.0 + z),
                "{p}: {} is not {z}",
                quantile_above(p)
            );
        }
        near(two_sided(1.959_963_984_540_054_5), 0.05, 1e-13);
        near(two_sided(-10.0), 1.523_970_604_832_094e-23, 1e-12);
        for (lambda, p) in [
            (0.3, 0.999_990_694_198_665_5),
            (0.5, 0.963_945_243_664_875_1),
            (0.828, 0.499_329_621_193_798_3),
            (1.0, 0.269_999_671_677_354_56),
            (1.358, 0.050_026_797_334_446_98),
            (2.0, 6.709_252_557_796_953e-4),
            (5.0, 3.857_499_695_927_835e-22),
        ] {
            near(kolmogorov(lambda), p, 1e-12);
        }
        assert_eq!((kolmogorov(0.0), kolmogorov(f64::INFINITY)), (1.0, 0.0));
        // The two series agree at their border.
        near(kolmogorov(1.0 - 1e-12), kolmogorov(1.0), 1e-10);
    }
}
