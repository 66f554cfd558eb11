//! Multiplexing: what an event would have counted had it been on the PMU all the time.

/// A count over an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scaled {
    /// The event was on the PMU for none of the interval: there is no count, and 0 would be a lie.
    NotCounted,
    /// It was there all the time.
    Exact(u64),
    /// It was there for part of the time; the count is extrapolated to the whole.
    Extrapolated(u64),
}

/// Scales the count of an interval by the times that passed in it: `(count · enabled + running/2) / running` in 128 bits,
/// saturating. Cumulative counts must not be scaled: the ratio of times changes from interval to interval.
///
/// `clean` means that the interval is known to be uninterrupted, which makes the times superfluous.
pub(crate) fn scale(count: u64, enabled: u64, running: u64, clean: bool) -> Scaled {
    if clean || (running >= enabled && running != 0) {
        return Scaled::Exact(count);
    }
    if running == 0 {
        return Scaled::NotCounted;
    }
    // At most (2^64 - 1)^2 + 2^63, which is below 2^128.
    let scaled = (u128::from(count) * u128::from(enabled) + u128::from(running / 2)) / u128::from(running);
    Scaled::Extrapolated(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_three_answers() {
        assert_eq!(scale(5, 0, 0, false), Scaled::NotCounted);
        assert_eq!(scale(0, 100, 0, false), Scaled::NotCounted);
        assert_eq!(scale(0, 100, 0, true), Scaled::Exact(0));
        assert_eq!(scale(7, 100, 100, false), Scaled::Exact(7));
        assert_eq!(scale(7, 100, 101, false), Scaled::Exact(7));
        assert_eq!(scale(0, 100, 50, false), Scaled::Extrapolated(0));
        assert_eq!(scale(7, 100, 50, false), Scaled::Extrapolated(14));
        assert_eq!(scale(1, 3, 2, false), Scaled::Extrapolated(2));
        assert_eq!(scale(1, 4, 3, false), Scaled::Extrapolated(1));
        assert_eq!(scale(u64::MAX, u64::MAX, 1, false), Scaled::Extrapolated(u64::MAX));
        assert_eq!(scale(u64::MAX, u64::MAX, u64::MAX - 1, false), Scaled::Extrapolated(u64::MAX));
    }

    proptest! {
        /// The defining property of a rounded quotient, in numbers small enough for plain 64-bit arithmetic.
        #[test]
        fn nearest_quotient(count in 0u64..1 << 20, enabled in 2u64..1 << 20, part in 1u64..1 << 20) {
            let running = 1 + part % (enabled - 1);
            let Scaled::Extrapolated(scaled) = scale(count, enabled, running, false) else { panic!() };
            let product = count * enabled;
            let twice_the_error = (scaled * running).abs_diff(product) * 2;
            prop_assert!(twice_the_error <= running);
        }

        /// Any sizes: the same answer by repeated doubling and subtraction, without a wide product.
        #[test]
        fn large_numbers(count: u64, enabled: u64, running in 1u64..) {
            let (enabled, running) = (enabled.max(running).max(2), enabled.min(running).max(1));
            prop_assume!(running < enabled);
            let (mut quotient, mut remainder) = (0u128, 0u128);
            for bit in (0..64).rev() {
                // value = value · 2 + (bit of count) · enabled, kept as quotient and remainder by running.
                quotient *= 2;
                remainder *= 2;
                if count >> bit & 1 != 0 {
                    remainder += u128::from(enabled);
                }
                quotient += remainder / u128::from(running);
                remainder %= u128::from(running);
            }
            if remainder + u128::from(running / 2) >= u128::from(running) {
                quotient += 1;
            }
            let expected = u64::try_from(quotient).unwrap_or(u64::MAX);
            prop_assert_eq!(scale(count, enabled, running, false), Scaled::Extrapolated(expected));
        }
    }
}
