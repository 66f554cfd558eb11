//! Student's distribution.

use crate::statistics::compare::quantile_above;

/// The `t` that a variable with so many degrees of freedom lies above with probability `p`, for 0 < p < 0.5.
///
/// G. W. Hill, *Algorithm 396: Student's t-quantiles*, Communications of the ACM 13 (1970): to six digits from three degrees on; exact for one
/// and two.
pub(super) fn quantile_above_t(p: f64, degrees: f64) -> f64 {
    let both = 2.0 * p;
    if degrees < 1.5 {
        return 1.0 / libm::tan(both * core::f64::consts::FRAC_PI_2);
    }
    if degrees < 2.5 {
        return libm::sqrt(2.0 / (both * (2.0 - both)) - 2.0);
    }
    let n = degrees;
    let a = 1.0 / (n - 0.5);
    let b = (48.0 / a) / a;
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * libm::sqrt(a * core::f64::consts::FRAC_PI_2) * n;
    let x = d * both;
    let mut y = libm::pow(x, 2.0 / n);
    if y > 0.05 + a {
        let x = -quantile_above(p);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = a * y * y;
        y = if y > 0.002 { libm::expm1(y) } else { 0.5 * y * y + y };
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y
            - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    libm::sqrt(n * y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // scipy.stats.t.isf
        for (p, degrees, t) in [
            (0.025, 1.0, 12.706_204_7),
            (0.025, 2.0, 4.302_652_7),
            (0.025, 3.0, 3.182_446_3),
            (0.025, 9.0, 2.262_157_2),
            (0.005, 4.0, 4.604_094_9),
            (0.005, 30.0, 2.749_995_7),
            (0.05, 100.0, 1.660_234_3),
            (0.25, 5.0, 0.726_686_8),
            (0.025, 1e6, 1.959_966_4),
        ] {
            let found = quantile_above_t(p, degrees);
            assert!((found / t - 1.0).abs() < 2e-5, "{p} {degrees}: {found} and not {t}");
        }
    }
}
