//! The binomial distribution, for any number of trials up to 2^64.
//!
//! Single terms use the saddle-point expansion of C. Loader, *Fast and Accurate Computation of Binomial Probabilities*
//! (2000): Stirling's formula with its error term, and the deviance computed without cancellation. Tails are sums of
//! adjacent terms by the ratio of one to the next. For more than some thousands of terms, they are integrals of the
//! same expansion between the integers, by Gauss's rule, with the first correction of Euler and Maclaurin's formula.

use core::f64::consts::PI;

use super::normal;

/// From this variance on, tails are integrated. The standard deviation is then a thousand observations: the neglected
/// term is of the order of 1e-12 of the tail.
const INTEGRATED: f64 = 1e6;

/// The number of successes in `n` independent trials with probability `p` each, 0 < p < 1.
pub(crate) struct Binomial {
    n: f64,
    p: f64,
    q: f64,
    mean: f64,
    /// The rounding error of the mean.
    mean_rest: f64,
    deviation: f64,
}

impl Binomial {
    pub(crate) fn new(n: impl Into<u128>, p: f64) -> Binomial {
        let (n, q) = (n.into() as f64, 1.0 - p);
        let mean = n * p;
        let mean_rest = libm::fma(n, p, -mean);
        Binomial { n, p, q, mean, mean_rest, deviation: libm::sqrt(mean * q) }
    }

    /// Returns the probability of exactly `x` successes; between the integers, the value of the expansion there.
    pub(super) fn probability(&self, x: f64) -> f64 {
        if x < 0.0 || x > self.n {
            return 0.0;
        }
        let rest = self.n - x;
        if x == 0.0 {
            return libm::exp(self.n * libm::log1p(-self.p));
        }
        if rest == 0.0 {
            return libm::exp(self.n * libm::log(self.p));
        }
        let distance = (x - self.mean) - self.mean_rest;
        let exponent = stirling_error(self.n)
            - stirling_error(x)
            - stirling_error(rest)
            - deviance(x, self.mean, distance)
            - deviance(rest, self.n * self.q, -distance);
        libm::exp(exponent) * libm::sqrt(self.n / rest / (2.0 * PI * x))
    }

    /// Returns the probability of at most `k` successes, and that of more: the smaller with its full relative
    /// precision.
    pub(crate) fn tails(&self, k: f64) -> (f64, f64) {
        if k < 0.0 {
            return (0.0, 1.0);
        }
        if k >= self.n {
            return (1.0, 0.0);
        }
        let is_lower = k < self.mean;
        let tail = if self.deviation * self.deviation < INTEGRATED {
            if is_lower { self.sum_down(k) } else { self.sum_up(k + 1.0) }
        } else {
            self.integrate(k, is_lower)
        };
        let tail = tail.min(1.0);
        if is_lower { (tail, 1.0 - tail) } else { (1.0 - tail, tail) }
    }

    fn sum_down(&self, k: f64) -> f64 {
        let (mut term, mut sum, mut x) = (self.probability(k), 0.0, k);
        while term > sum * 1e-17 {
            sum += term;
            term *= x / (self.n - x + 1.0) * (self.q / self.p);
            x -= 1.0;
        }
        sum
    }

    fn sum_up(&self, k: f64) -> f64 {
        let (mut term, mut sum, mut x) = (self.probability(k), 0.0, k);
        while term > sum * 1e-17 {
            sum += term;
            term *= (self.n - x) / (x + 1.0) * (self.p / self.q);
            x += 1.0;
        }
        sum
    }

    /// Returns the sum of the terms up to `k`, or from `k + 1` on.
    fn integrate(&self, k: f64, down: bool) -> f64 {
        /// Nodes and weights of Gauss's rule with 8 points on -1 ..= 1, the positive half.
        const RULE: [(f64, f64); 4] = [
            (0.183_434_642_495_649_8, 0.362_683_783_378_362),
            (0.525_532_409_916_329, 0.313_706_645_877_887_3),
            (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
            (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
        ];
        let half = self.deviation / 4.0;
        let direction = if down { -half } else { half };
        let mut middle = k + 0.5 + direction;
        let mut sum = 0.0;
        // This covers 50 standard deviations: beyond that nothing fits into a double.
        for _ in 0..100 {
            let panel: f64 = RULE
                .iter()
                .map(|&(node, weight)| {
                    let (left, right) = (middle - node * half, middle + node * half);
                    weight * (self.probability(left) + self.probability(right))
                })
                .sum();
            sum += panel * half;
            if panel * half <= sum * 1e-17 {
                break;
            }
            middle += 2.0 * direction;
        }
        // A term is the integral around it less a 24th of the second derivative.
        let slope = self.probability(k + 1.0) - self.probability(k);
        if down { sum - slope / 24.0 } else { sum + slope / 24.0 }
    }

    /// Returns the smallest number of successes that is not exceeded with probability `tail` or more: SciPy's
    /// `binom.ppf(tail)`, for a tail up to 0.5.
    pub(crate) fn lower_quantile(&self, tail: f64) -> f64 {
        self.smallest(-1.0, tail, |(lower, _)| lower >= tail)
    }

    /// Returns the smallest number of successes that is exceeded with probability `tail` or less: SciPy's
    /// `binom.isf(tail)`, for a tail up to 0.5.
    pub(crate) fn upper_quantile(&self, tail: f64) -> f64 {
        self.smallest(1.0, tail, |(_, upper)| upper <= tail)
    }

    /// Returns the smallest number whose tails are `enough`. Gallops from the normal distribution's, and bisects.
    fn smallest(&self, side: f64, tail: f64, enough: impl Fn((f64, f64)) -> bool) -> f64 {
        let guess = libm::floor(self.mean + side * normal::quantile_above(tail) * self.deviation);
        let mut step = libm::floor(1.0 + self.deviation * 1e-3);
        let guess = guess.clamp(0.0, self.n);
        // `low` is not enough, `high` is.
        let (mut low, mut high);
        if enough(self.tails(guess)) {
            high = guess;
            low = guess - step;
            while low >= 0.0 && enough(self.tails(low)) {
                high = low;
                step *= 2.0;
                low -= step;
            }
            low = low.max(-1.0);
        } else {
            low = guess;
            high = guess + step;
            while high < self.n && !enough(self.tails(high)) {
                low = high;
                step *= 2.0;
                high += step;
            }
            high = high.min(self.n);
        }
        while high - low > 1.0 {
            let middle = libm::floor(low + (high - low) / 2.0);
            if middle <= low || middle >= high {
                // Beyond 2^53 not every integer is a double.
                break;
            }
            if enough(self.tails(middle)) { high = middle } else { low = middle }
        }
        high
    }
}

/// Returns `ln n! - ln(sqrt(2 pi n) (n / e)^n)`: the error of Stirling's formula.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        // The factorials are exact.
        let mut factorial = 1.0;
        let mut i = 2.0;
        while i <= n {
            factorial *= i;
            i += 1.0;
        }
        return libm::log(factorial) - ((n + 0.5) * libm::log(n) - n + 0.5 * libm::log(2.0 * PI));
    }
    let square = 1.0 / (n * n);
    let series = 1.0 / 1260.0 - square * (1.0 / 1680.0 - square * (1.0 / 1188.0));
    (1.0 / 12.0 - square * (1.0 / 360.0 - square * series)) / n
}

/// Returns `x ln(x / mean) + mean - x`, given the distance `x - mean`: half the deviance of a Poisson variable.
fn deviance(x: f64, mean: f64, distance: f64) -> f64 {
    let v = distance / (x + mean);
    if libm::fabs(v) > 0.1 {
        return x * libm::log(x / mean) - distance;
    }
    // ln(x / mean) = 2 artanh(v); its first term and the distance make `distance * v`, even if they cancel.
    let square = v * v;
    let mut power = 2.0 * x * v;
    let mut sum = distance * v;
    let mut odd = 3.0;
    loop {
        power *= square;
        let next = sum + power / odd;
        // This also ends the loop on NaN, which nothing here should produce.
        if next == sum || next.is_nan() {
            return next;
        }
        sum = next;
        odd += 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(actual: f64, expected: f64, relative: f64) {
        assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e}");
    }

    /// Computes terms by multiplication of exact factors.
    fn naive(n: u32, p: f64) -> std::vec::Vec<f64> {
        let mut terms = std::vec![(1.0 - p).powi(n as i32)];
        for k in 0..n {
            let last = terms[k as usize];
            terms.push(last * f64::from(n - k) / f64::from(k + 1) * (p / (1.0 - p)));
        }
        terms
    }

    proptest! {
        #[test]
        fn as_by_multiplication(n in 1u32..200, p in 0.05f64..0.95, tail in 1e-6f64..0.5) {
            let terms = naive(n, p);
            let binomial = Binomial::new(u64::from(n), p);
            let (mut sum, mut low, mut high) = (0.0, None, None);
            for (k, &term) in terms.iter().enumerate() {
                near(binomial.probability(k as f64), term, 1e-10);
                sum += term;
                let (lower, upper) = binomial.tails(k as f64);
                prop_assert!((lower - sum).abs() < 1e-12 && (lower + upper - 1.0).abs() < 1e-12);
                // Excludes cases that rounding decides.
                prop_assume!((sum - tail).abs() > 1e-12 && (1.0 - sum - tail).abs() > 1e-12);
                if sum >= tail { low = low.or(Some(k)); }
                if 1.0 - sum <= tail { high = high.or(Some(k)); }
            }
            prop_assert_eq!(Some(binomial.lower_quantile(tail) as usize), low);
            prop_assert_eq!(Some(binomial.upper_quantile(tail) as usize), high);
        }

        #[test]
        fn sums_are_integrals(n in 5_000_000u64..20_000_000, p in 0.3f64..0.7, z in -6.0f64..6.0) {
            let binomial = Binomial::new(n, p);
            let k = (binomial.mean + z * binomial.deviation).floor();
            let (sum, integral) = if k < binomial.mean {
                (binomial.sum_down(k), binomial.integrate(k, true))
            } else {
                (binomial.sum_up(k + 1.0), binomial.integrate(k, false))
            };
            near(integral, sum, 1e-10);
        }

        #[test]
        fn quantiles_of_any_number(n in 1u64.., shift in 0u32..64, p in 1e-6f64..0.999_999, tail in 1e-12f64..0.5) {
            let n = (n >> shift).max(1);
            let binomial = Binomial::new(n, p);
            let (low, high) = (binomial.lower_quantile(tail), binomial.upper_quantile(tail));
            prop_assert!(0.0 <= low && low <= high && high <= n as f64);
            prop_assert!(binomial.tails(low).0 >= tail && binomial.tails(high).1 <= tail);
            if n < 1 << 53 {
                prop_assert!(low == 0.0 || binomial.tails(low - 1.0).0 < tail);
                prop_assert!(high == 0.0 || binomial.tails(high - 1.0).1 > tail);
            }
        }
    }
}
