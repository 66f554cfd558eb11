//! Estimates how much larger a figure of B is than that of A.

use super::interval::{
    FIGURE_PARTIAL, FigureCounts, FigureEstimate, Row, Unknown, is_whole, never_whole, of_sums, sums,
    with_interval,
};
use super::table::{FIGURE_EVENTS, Figure};
use picollo_core::{Error, Result};

/// Estimates how much larger a figure of B is than that of A, from blocks that each have both. `a` and `b` have a row
/// for each block. A block in which an event was not counted on either side is excluded from both.
///
/// Blocks are left out one at a time, A and B together, so changes to both in one block do not widen the interval.
///
/// # Errors
/// As [`estimate_figure`](super::interval::estimate_figure); also [`Error::InvalidArgument`] for unequal numbers of
/// blocks.
pub fn estimate_figure_difference(
    figure: &Figure,
    a: FigureCounts<'_>,
    b: FigureCounts<'_>,
    confidence: f64,
) -> Result<core::result::Result<FigureEstimate, Unknown>> {
    a.check(confidence).and(b.check(confidence))?;
    let all = a.rows().count();
    if all != b.rows().count() {
        return Err(Error::InvalidArgument);
    }
    let whole = a.rows().zip(b.rows()).filter(|(a, b)| is_whole(figure, a) && is_whole(figure, b));
    let number = whole.clone().count();
    if number == 0 {
        return Ok(Err(never_whole(figure, a.rows().chain(b.rows()))));
    }
    let (sums_a, sums_b) = (sums(whole.clone().map(|(a, _)| a)), sums(whole.clone().map(|(_, b)| b)));
    let difference =
        |a: &Row, b: &Row| Ok::<f64, Unknown>(of_sums(figure, &sums_b, b)? - of_sums(figure, &sums_a, a)?);
    let value = match difference(&[0.0; FIGURE_EVENTS], &[0.0; FIGURE_EVENTS]) {
        Ok(value) => value,
        Err(unknown) => return Ok(Err(unknown)),
    };
    let flags = if number < all { FIGURE_PARTIAL } else { 0 };
    let others = whole.map(|(a, b)| difference(&a, &b).ok());
    Ok(Ok(with_interval(value, others, number, confidence, flags)))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::interval::{FIGURE_FEW_SCOPES, estimate_figure};
    use super::*;
    use crate::compare::Random;

    fn ratio() -> &'static Figure {
        Figure::named("ipc").unwrap()
    }

    fn difference(
        a: &[f64],
        b: &[f64],
        confidence: f64,
    ) -> Result<core::result::Result<FigureEstimate, Unknown>> {
        let [a, b] = [a, b].map(|values| FigureCounts::in_order(ratio(), values));
        estimate_figure_difference(ratio(), a, b, confidence)
    }

    #[test]
    fn differences_hold_the_truth_as_often_as_they_say() {
        // A disturbance of a block affects both sides of it, three times as much as the noise of each side.
        for (blocks, confidence) in [(10, 0.95), (40, 0.95), (200, 0.99)] {
            let (mut random, mut held, mut width) = (Random(blocks), 0, 0.0);
            for _ in 0..2000 {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                for _ in 0..blocks {
                    let (size, shared) = (1e6 * libm::exp(0.3 * random.normal()), 0.3 * random.normal());
                    for (side, ipc) in [(&mut a, 2.0), (&mut b, 1.5)] {
                        side.extend([size * (ipc + shared + 0.1 * random.normal()), size]);
                    }
                }
                let found = difference(&a, &b, confidence).unwrap().unwrap();
                let alone = [&a, &b].map(|side| {
                    let counts = FigureCounts::in_order(ratio(), side);
                    estimate_figure(ratio(), counts, confidence).unwrap().unwrap()
                });
                assert!((found.value - (alone[1].value - alone[0].value)).abs() < 1e-12);
                held += u32::from(found.lower <= -0.5 && -0.5 <= found.upper);
                width += (found.upper - found.lower) / (alone[0].upper - alone[0].lower) / 2000.0;
            }
            let held = f64::from(held) / 2000.0;
            assert!((held - confidence).abs() <= 0.02, "{blocks} blocks: {held} and not {confidence}");
            assert!(width < 0.7, "what both have in common widens the interval: {width}");
        }
    }

    #[test]
    fn blocks_that_were_not_counted_on_one_side_are_in_neither() {
        let nan = f64::NAN;
        let (a, b) = ([1.0, 2.0, 9.0, 1.0, 1.0, 2.0, nan, 1.0], [3.0, 2.0, nan, 1.0, 3.0, 2.0, 9.0, 1.0]);
        let found = difference(&a, &b, 0.95).unwrap().unwrap();
        assert_eq!((found.value, found.scopes, found.flags), (1.0, 2, FIGURE_PARTIAL));
        assert_eq!((found.lower, found.upper), (1.0, 1.0));
        let never = difference(&[nan, 1.0], &[1.0, 1.0], 0.95);
        assert_eq!(never, Ok(Err(Unknown::NotCounted(0))));
        let zero = difference(&[1.0, 1.0], &[1.0, 0.0], 0.95);
        assert_eq!(zero, Ok(Err(Unknown::Undefined)));
        let one = difference(&[1.0, 1.0], &[2.0, 1.0], 0.95).unwrap().unwrap();
        assert!(one.value == 1.0 && one.lower.is_nan() && one.flags == FIGURE_FEW_SCOPES);
        for (a, b) in [(&[1.0, 1.0][..], &[1.0; 4][..]), (&[1.0], &[1.0])] {
            assert_eq!(difference(a, b, 0.95), Err(Error::InvalidArgument));
        }
    }
}
