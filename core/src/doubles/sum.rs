//! The exact sum of doubles: a number wide enough for all of them, so that only reading it rounds.
//!
//! Every finite double is an integer times 2^-1074. The sum is such an integer, in *limbs* of 27 bits inside words of
//! 64, so that adding needs no carry (a superaccumulator: Kulisch's idea, with the small limbs of Neal, "Fast exact
//! summation using small and large superaccumulators", 2015). It does not depend on the order of its terms, loses
//! nothing to cancellation, and does not overflow; only a value read from it can be too large for a double.

/// Bits in a limb.
pub(super) const LIMB_BITS: u32 = 27;
/// Enough for 2^64 times the largest double, plus a limb for the sign.
pub(super) const LIMBS: usize = (2098 + 64_u32).div_ceil(LIMB_BITS) as usize + 1;
const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// The mantissa of a finite double, and the position of its lowest bit, counted from 2^-1074.
const fn parts(value: f64) -> (u64, u32) {
    let bits = value.to_bits() & (u64::MAX >> 1);
    let (exponent, mantissa) = ((bits >> 52) as u32, bits & ((1 << 52) - 1));
    if exponent == 0 { (mantissa, 0) } else { (mantissa | 1 << 52, exponent - 1) }
}

/// Calls `add` with the limb and the amount for `count` times a finite double: at most six pieces, each below 2^27 in
/// magnitude.
#[inline]
pub(super) fn pieces(value: f64, count: u64, mut add: impl FnMut(usize, i64)) {
    let (mantissa, position) = parts(value);
    let (mut limb, shift) = ((position / LIMB_BITS) as usize, position % LIMB_BITS);
    // All ones for a negative value: the complement of a number, plus one, is its negative.
    let sign = value.to_bits() as i64 >> 63;
    // The first limb has room for only this many bits.
    let room = LIMB_BITS - shift;
    let mut add = |limb, piece: u64| {
        if piece != 0 {
            add(limb, (piece as i64 ^ sign) - sign);
        }
    };
    if count == 1 {
        add(limb, mantissa << shift & LIMB_MASK);
        add(limb + 1, mantissa >> room & LIMB_MASK);
        add(limb + 2, mantissa >> room >> LIMB_BITS);
        return;
    }
    let product = u128::from(mantissa) * u128::from(count);
    add(limb, (product as u64) << shift & LIMB_MASK);
    let mut rest = product >> room;
    while rest != 0 {
        limb += 1;
        add(limb, rest as u64 & LIMB_MASK);
        rest >>= LIMB_BITS;
    }
}

/// A sum of doubles without rounding errors.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ExactSum {
    /// In two's complement. After [`ExactSum::carry`], all but the last are below 2^27 and not negative.
    limbs: [i64; LIMBS],
}

impl ExactSum {
    pub(super) const ZERO: ExactSum = ExactSum { limbs: [0; LIMBS] };

    /// Adds `count` times a finite double. Callers may do so at most 2^30 times before [`ExactSum::carry`].
    pub(super) fn add(&mut self, value: f64, count: u64) {
        pieces(value, count, |limb, piece| self.limbs[limb] += piece);
    }

    /// Adds at most 2^61 in magnitude to a limb. Callers may do so once before [`ExactSum::carry`].
    pub(super) fn add_to_limb(&mut self, limb: usize, amount: i64) {
        self.limbs[limb] += amount;
    }

    /// The limbs that are not zero. After [`ExactSum::carry`], each except the last one is below 2^27 in magnitude.
    pub(super) fn limbs(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.limbs.iter().copied().enumerate().filter(|&(_, limb)| limb != 0)
    }

    pub(super) fn merge(&mut self, other: &ExactSum) {
        for (limb, other) in self.limbs.iter_mut().zip(other.limbs) {
            *limb += other;
        }
        self.carry();
    }

    /// Brings all limbs into their range.
    pub(super) fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let sum = *limb + carry;
            *limb = sum & LIMB_MASK as i64;
            carry = sum >> LIMB_BITS;
        }
        self.limbs[LIMBS - 1] += carry;
    }

    /// Sign, leading 64 bits, position of the lowest of them, and whether a one bit follows. `None` for zero.
    fn leading(&self) -> Option<(bool, u64, i32, bool)> {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let top = sum.limbs.iter().rposition(|&limb| limb != 0)?;
        // Four limbs hold 64 bits below the leading one's limb.
        let mut window = 0u128;
        for distance in 0..4 {
            let limb = top.checked_sub(distance).map_or(0, |at| sum.limbs[at] as u128);
            window = window << LIMB_BITS | limb;
        }
        let rest = sum.limbs[..top.saturating_sub(3)].iter().any(|&limb| limb != 0);
        let shift = 128 - window.leading_zeros() as i32 - 64;
        let lost = if shift > 0 { window & ((1 << shift) - 1) } else { 0 };
        let bits = if shift >= 0 { window >> shift } else { window << -shift };
        let position = (top as i32 - 3) * LIMB_BITS as i32 + shift;
        Some((negative, bits as u64, position, rest || lost != 0))
    }

    /// The sum as the nearest double, ties to even; infinite if it is beyond the largest.
    pub(super) fn to_f64(&self) -> f64 {
        self.scaled(1)
    }

    /// The leading 64 bits of the sum, divided by a count; NaN for a count of zero. The result can be finite even if
    /// the sum as a double is not.
    pub(super) fn divided_by(&self, count: u128) -> f64 {
        if count == 0 { f64::NAN } else { self.scaled(count) }
    }

    fn scaled(&self, count: u128) -> f64 {
        let Some((negative, bits, position, rest)) = self.leading() else {
            return 0.0;
        };
        // A quotient cannot show more than 64 bits of a count.
        let excess = (u128::BITS - count.leading_zeros()).saturating_sub(u64::BITS);
        let (count, position) = (count >> excess, position - excess as i32);
        // The lowest bit stands for everything that follows it; it is below the rounding of the conversion.
        let dividend = u128::from(bits | u64::from(rest)) << 64;
        let (quotient, remainder) = (dividend / count, dividend % count);
        let quotient = (quotient | u128::from(remainder != 0)) as f64;
        // Small sums have no more bits than a double, because they have none below 2^-1074.
        let magnitude = libm::scalbn(quotient, position - 64 - 1074);
        if negative { -magnitude } else { magnitude }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::ZERO;
        values.iter().for_each(|&value| sum.add(value, 1));
        sum.carry();
        sum
    }

    #[test]
    fn single_values_come_back() {
        for value in [1.0, -1.0, 0.1, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 1e300, 3e-310] {
            assert_eq!(sum(&[value]).to_f64(), value);
            assert_eq!(sum(&[value, value, value]).divided_by(3), value);
            assert_eq!(sum(&[value, -value]).to_f64(), 0.0);
        }
        assert_eq!(sum(&[]).to_f64().to_bits(), 0);
        assert_eq!(sum(&[-0.0]).to_f64().to_bits(), 0);
        assert!(sum(&[]).divided_by(0).is_nan());
    }

    #[test]
    fn cancellation_and_overflow() {
        assert_eq!(sum(&[1e300, 1.0, -1e300]).to_f64(), 1.0);
        assert_eq!(sum(&[1e16, 1.0, 1.0, -1e16]).to_f64(), 2.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).to_f64(), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]).to_f64(), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX]).divided_by(2), f64::MAX);
        assert_eq!(sum(&[f64::MIN; 3]).divided_by(3), f64::MIN);
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let ulp = f64::EPSILON;
        assert_eq!(sum(&[1.0, ulp / 2.0]).to_f64(), 1.0, "a tie");
        assert_eq!(sum(&[1.0 + ulp, ulp / 2.0]).to_f64(), 1.0 + 2.0 * ulp, "a tie");
        assert_eq!(sum(&[1.0, ulp / 2.0, 5e-324]).to_f64(), 1.0 + ulp, "just above a tie");
        assert_eq!(sum(&[1.0, ulp / 2.0, -5e-324]).to_f64(), 1.0, "just below a tie");
        assert_eq!(sum(&[-1.0, -ulp / 2.0, -5e-324]).to_f64(), -1.0 - ulp);
    }

    #[test]
    fn counts() {
        let mut sum = ExactSum::ZERO;
        sum.add(f64::MAX, u64::MAX);
        sum.carry();
        assert_eq!(sum.divided_by(u64::MAX.into()), f64::MAX);
        let mut many = ExactSum::ZERO;
        (0..16).for_each(|_| many.add(3.0, 1 << 63));
        many.carry();
        assert_eq!((many.divided_by(16 << 63), many.divided_by(1 << 66)), (3.0, 6.0));
        sum.add(-f64::MAX, u64::MAX);
        sum.carry();
        assert_eq!(sum.to_f64(), 0.0);
        for count in [2u64, 3, 1 << 40, u64::MAX] {
            for value in [1.5, -5e-324, 1e-300] {
                let mut sum = ExactSum::ZERO;
                sum.add(value, count);
                assert_eq!(sum.to_f64(), value * count as f64, "one rounding on either side");
            }
        }
    }

    proptest! {
        /// Integers times a power of two have an exact sum in 128 bits.
        #[test]
        fn against_integers(
            values in proptest::collection::vec((any::<i64>(), 0u32..60), 0..50), exponent in -1074i32..800,
            order in any::<u64>()
        ) {
            let terms: Vec<(i128, f64)> = values.iter().map(|&(value, shift)| {
                let value = value >> 11 << (shift % 11); // within 53 bits and a few zeros
                (value as i128, libm::scalbn(value as f64, exponent))
            }).collect();
            let exact: i128 = terms.iter().map(|term| term.0).sum();
            let mut doubles: Vec<f64> = terms.iter().map(|term| term.1).collect();
            let expected = libm::scalbn(exact as f64, exponent);
            prop_assert_eq!(sum(&doubles).to_f64(), expected);
            // The order changes, and the sum has two parts.
            let length = doubles.len().max(1);
            doubles.rotate_left(order as usize % length);
            let (first, second) = doubles.split_at(doubles.len() / 3);
            let mut merged = sum(first);
            merged.merge(&sum(second));
            prop_assert_eq!(merged.to_f64(), expected);
        }
    }
}
