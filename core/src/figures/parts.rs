//! Figures of two parts: of A and B, and of the slowest scopes and the rest.

use super::formula::{Formula, Unknown};
use super::interval::{
    FIGURE_PARTIAL, FigureEstimate, check, estimate_rows, is_whole, never_whole, of_sums, sums, used,
    with_interval,
};
use crate::error::{Error, Result};

/// Estimates by how much a figure of B is larger than that of A, of blocks that each have both. `a` and `b` have a row for each block, as
/// [`estimate_figure`](super::interval::estimate_figure) has for scopes; a block in which an event was not counted on either side is in neither.
///
/// Blocks are what is left out one at a time, A and B together, so that what changed both in one block does not widen the interval.
///
/// # Errors
/// As `estimate_figure`; [`Error::InvalidArgument`] also where A and B have unequal numbers of blocks.
pub fn estimate_figure_difference(
    formula: &Formula,
    a: &[f64],
    b: &[f64],
    events: usize,
    confidence: f64,
) -> Result<core::result::Result<FigureEstimate, Unknown>> {
    check(a.len(), events, confidence)?;
    if a.len() != b.len() {
        return Err(Error::InvalidArgument);
    }
    let used = used(formula);
    let rows = || a.chunks_exact(events).zip(b.chunks_exact(events));
    let whole = || rows().filter(|(a, b)| is_whole(a, &used) && is_whole(b, &used));
    let number = whole().count();
    if number == 0 {
        let either = a.chunks_exact(events).chain(b.chunks_exact(events));
        return Ok(Err(never_whole(either, &used, events)));
    }
    let (sums_a, sums_b) = (sums(whole().map(|(a, _)| a)), sums(whole().map(|(_, b)| b)));
    let difference = |a: &[f64], b: &[f64]| {
        Ok::<f64, Unknown>(of_sums(formula, &sums_b, b, events)? - of_sums(formula, &sums_a, a, events)?)
    };
    let value = match difference(&[], &[]) {
        Ok(value) => value,
        Err(unknown) => return Ok(Err(unknown)),
    };
    let flags = if number < a.len() / events { FIGURE_PARTIAL } else { 0 };
    let others = whole().map(|(a, b)| difference(a, b).ok());
    Ok(Ok(with_interval(value, others, number, confidence, flags)))
}

/// A figure of the slowest scopes, and of the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigureTail {
    /// Of the slowest.
    pub tail: FigureEstimate,
    /// Of all others.
    pub rest: FigureEstimate,
    /// The shortest duration in the tail.
    pub from: f64,
}

/// Estimates a figure of the slowest scopes, and of the rest: "the tail: 0.4 instructions per cycle, and 1.9 elsewhere". `durations` has one
/// for each scope, in any unit, none below 0; `share` is how many are slow, as 0.01, at least one, and as many more as took exactly as long as
/// the fastest of these. A scope whose duration is NaN is in neither, which the flags say.
///
/// The intervals are those of [`estimate_figure`](super::interval::estimate_figure), for scopes that were chosen by their durations.
///
/// Allocates nothing. Cost: some 64 looks at all durations, and twice as many evaluations as there are scopes.
///
/// # Errors
/// As `estimate_figure`; [`Error::InvalidArgument`] also for another number of durations than of scopes, for one below 0 or infinite, and a share
/// beyond 0 to 1. In the inner result, [`Unknown::Undefined`] where all scopes took equally long, so that there is no rest.
pub fn estimate_figure_tail(
    formula: &Formula,
    values: &[f64],
    durations: &[f64],
    events: usize,
    share: f64,
    confidence: f64,
) -> Result<core::result::Result<FigureTail, Unknown>> {
    check(values.len(), events, confidence)?;
    let share_is_one = share > 0.0 && share < 1.0;
    let is_time = |duration: &f64| duration.is_nan() || (0.0..f64::INFINITY).contains(duration);
    if durations.len() != values.len() / events || !share_is_one || !durations.iter().all(is_time) {
        return Err(Error::InvalidArgument);
    }
    let known = durations.iter().filter(|duration| !duration.is_nan()).count();
    if known == 0 {
        return Ok(Err(Unknown::Undefined));
    }
    let slow = ((known as f64 * share) as usize).clamp(1, known);
    let from = slowest(durations, slow);
    let part = |is_slow: bool| {
        let rows = values.chunks_exact(events).zip(durations);
        rows.filter(move |(_, duration)| !duration.is_nan() && (**duration >= from) == is_slow)
            .map(|(row, _)| row)
    };
    if part(false).next().is_none() {
        return Ok(Err(Unknown::Undefined));
    }
    let estimate = |is_slow| {
        let mut found = estimate_rows(formula, part(is_slow), events, confidence)?;
        if known < durations.len() {
            found.flags |= FIGURE_PARTIAL;
        }
        Ok(found)
    };
    Ok(estimate(true).and_then(|tail| Ok(FigureTail { tail, rest: estimate(false)?, from })))
}

/// The largest duration that `number` of them reach at least. Numbers from 0 on are in the order of their bits, which are found one by one.
fn slowest(durations: &[f64], number: usize) -> f64 {
    let reached = |from: f64| durations.iter().filter(|&&duration| duration >= from).count();
    let (mut least, mut over) = (0u64, f64::INFINITY.to_bits());
    while over - least > 1 {
        let middle = least.midpoint(over);
        if reached(f64::from_bits(middle)) >= number { least = middle } else { over = middle }
    }
    f64::from_bits(least)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::interval::{FIGURE_FEW_SCOPES, estimate_figure};
    use super::*;
    use proptest::prelude::*;

    fn ratio() -> Formula {
        Formula::parse("a / b", |name| ["a", "b"].iter().position(|known| *known == name)).unwrap()
    }

    /// A small generator of its own: the same numbers each time.
    struct Random(u64);

    impl Random {
        fn share(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.share()).sum::<f64>() - 6.0
        }
    }

    #[test]
    fn differences_hold_the_truth_as_often_as_they_say() {
        // What disturbs a block disturbs both sides of it: three times as much as what is each side's own.
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
                let found = estimate_figure_difference(&ratio(), &a, &b, 2, confidence).unwrap().unwrap();
                let alone =
                    [&a, &b].map(|side| estimate_figure(&ratio(), side, 2, confidence).unwrap().unwrap());
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
        let found = estimate_figure_difference(&ratio(), &a, &b, 2, 0.95).unwrap().unwrap();
        assert_eq!((found.value, found.scopes, found.flags), (1.0, 2, FIGURE_PARTIAL));
        assert_eq!((found.lower, found.upper), (1.0, 1.0));
        let never = estimate_figure_difference(&ratio(), &[nan, 1.0], &[1.0, 1.0], 2, 0.95);
        assert_eq!(never, Ok(Err(Unknown::NotCounted(0))));
        let zero = estimate_figure_difference(&ratio(), &[1.0, 1.0], &[1.0, 0.0], 2, 0.95);
        assert_eq!(zero, Ok(Err(Unknown::Undefined)));
        let one = estimate_figure_difference(&ratio(), &[1.0, 1.0], &[2.0, 1.0], 2, 0.95).unwrap().unwrap();
        assert!(one.value == 1.0 && one.lower.is_nan() && one.flags == FIGURE_FEW_SCOPES);
        for (a, b) in [(&[1.0, 1.0][..], &[1.0; 4][..]), (&[1.0], &[1.0])] {
            assert_eq!(estimate_figure_difference(&ratio(), a, b, 2, 0.95), Err(Error::InvalidArgument));
        }
    }

    #[test]
    fn a_planted_tail_is_found() {
        // One of a hundred waits: 0.4 instructions per cycle, and takes five times as long; the others have 1.9.
        let (mut random, mut values, mut durations) = (Random(3), Vec::new(), Vec::new());
        for scope in 0..10_000 {
            let is_slow = scope % 100 == 37;
            let work = 1e6 * libm::exp(0.1 * random.normal());
            let cycles = work / if is_slow { 0.4 } else { 1.9 };
            values.extend([work, cycles]);
            durations.push(cycles / 3.0);
        }
        let found = estimate_figure_tail(&ratio(), &values, &durations, 2, 0.01, 0.99).unwrap().unwrap();
        assert_eq!((found.tail.scopes, found.rest.scopes, found.tail.flags), (100, 9900, 0));
        assert!((found.tail.value - 0.4).abs() < 1e-9 && (found.rest.value - 1.9).abs() < 1e-9, "{found:?}");
        assert!(found.tail.lower <= found.tail.value && found.tail.value <= found.tail.upper);
        // Of the mean of all of them, nobody would see it.
        assert!(estimate_figure(&ratio(), &values, 2, 0.95).unwrap().unwrap().value > 1.8);
    }

    #[test]
    fn what_cannot_be_parted() {
        let tail = |durations: &[f64], share: f64| {
            let values = [1.0, 2.0].repeat(4);
            estimate_figure_tail(&ratio(), &values, durations, 2, share, 0.95)
        };
        assert_eq!(tail(&[5.0; 4], 0.5), Ok(Err(Unknown::Undefined)));
        assert_eq!(tail(&[f64::NAN; 4], 0.5), Ok(Err(Unknown::Undefined)));
        for (durations, share) in [
            (&[1.0; 3][..], 0.5),
            (&[1.0; 4], 0.0),
            (&[1.0; 4], 1.0),
            (&[1.0; 4], f64::NAN),
            (&[1.0, 2.0, 3.0, -1.0], 0.5),
            (&[1.0, 2.0, 3.0, f64::INFINITY], 0.5),
        ] {
            assert_eq!(tail(durations, share), Err(Error::InvalidArgument), "{durations:?} {share}");
        }
        let found = tail(&[1.0, f64::NAN, 2.0, 0.0], 0.01).unwrap().unwrap();
        assert_eq!((found.tail.scopes, found.rest.scopes, found.from), (1, 2, 2.0));
        assert_eq!(
            (found.tail.flags, found.rest.flags),
            (FIGURE_PARTIAL | FIGURE_FEW_SCOPES, FIGURE_PARTIAL)
        );
    }

    proptest! {
        /// Against sorting.
        #[test]
        fn the_slowest_are_the_slowest(durations in proptest::collection::vec(0u32..40, 2..60), share in 0.001f64..0.999) {
            let durations: Vec<f64> = durations.iter().map(|&duration| f64::from(duration) / 3.0).collect();
            let values: Vec<f64> = durations.iter().flat_map(|&duration| [duration, 1.0]).collect();
            let mut sorted = durations.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let slow = ((durations.len() as f64 * share) as usize).max(1);
            let from = sorted[slow - 1];
            let found = estimate_figure_tail(&ratio(), &values, &durations, 2, share, 0.95).unwrap();
            if from == sorted[durations.len() - 1] {
                prop_assert_eq!(found, Err(Unknown::Undefined));
                return Ok(());
            }
            let found = found.unwrap();
            let tail: Vec<f64> = durations.iter().copied().filter(|&duration| duration >= from).collect();
            prop_assert_eq!((found.from, found.tail.scopes as usize), (from, tail.len()));
            prop_assert_eq!(found.rest.scopes as usize, durations.len() - tail.len());
            prop_assert!((found.tail.value - tail.iter().sum::<f64>() / tail.len() as f64).abs() < 1e-9);
        }
    }
}
