//! What a collector keeps in an interval: the slowest, the latest of each octave of values, and a sample of all slow
//! ones. All memory is allocated at the start, so that ending an observation does not allocate.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::exemplar::{Context, Exemplar};
use picollo_native::Result;
use picollo_native::seam::vectors::{filled, with_room};

/// Maximum number of slow observations with evidence; beyond that, they are a random sample.
const SAMPLED: usize = 2048;
const OCTAVES: usize = 65;

/// xorshift64* (Vigna), whose state is not 0, and Lemire's multiplication for a number below a bound.
pub(super) fn random_below(state: &mut u64, end: u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    ((u128::from(state.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(end)) >> 64) as u64
}

/// The kept observations of an interval.
#[derive(Debug)]
pub(super) struct Kept {
    most: usize,
    slowest: Vec<Exemplar>,
    /// Value, number (among equal values, the earlier is the slower) and place of the slowest. The smallest is on top.
    order: BinaryHeap<Reverse<(u64, Reverse<u64>, usize)>>,
    octaves: Vec<Option<Exemplar>>,
    sampled: Vec<Exemplar>,
    /// Number of slow ones that were offered.
    slow: u64,
    random: u64,
}

impl Kept {
    /// Allocates space for this many of the slowest. Errors: `OutOfMemory`.
    pub(super) fn new(slowest: usize, seed: u64) -> Result<Kept> {
        Ok(Kept {
            most: slowest,
            slowest: with_room(slowest)?,
            order: BinaryHeap::from(with_room(slowest)?),
            octaves: filled(OCTAVES, None)?,
            sampled: with_room(SAMPLED)?,
            slow: 0,
            random: seed | 1,
        })
    }

    /// Adds an observation. Returns whether it is one of the slowest, or the latest of its octave.
    pub(super) fn offer(&mut self, exemplar: &Exemplar, is_slow: bool, is_for_octave: bool) -> bool {
        if is_slow {
            self.sample(exemplar);
        }
        let octave = exemplar.value.checked_ilog2().map_or(0, |octave| octave as usize + 1);
        let is_latest =
            self.octaves[octave].is_none_or(|kept| is_for_octave && kept.number < exemplar.number);
        if is_latest {
            self.octaves[octave] = Some(*exemplar);
        }
        let key = (exemplar.value, Reverse(exemplar.number));
        if self.slowest.len() < self.most {
            self.order.push(Reverse((key.0, key.1, self.slowest.len())));
            self.slowest.push(*exemplar);
            return true;
        }
        match self.order.peek_mut() {
            Some(mut least) if (least.0.0, least.0.1) < key => {
                let place = least.0.2;
                self.slowest[place] = *exemplar;
                *least = Reverse((key.0, key.1, place));
                true
            }
            _ => is_latest,
        }
    }

    /// Vitter, "Random Sampling with a Reservoir", algorithm R.
    fn sample(&mut self, exemplar: &Exemplar) {
        self.slow += 1;
        if self.sampled.len() < SAMPLED {
            return self.sampled.push(*exemplar);
        }
        if let Some(place) = self.sampled.get_mut(random_below(&mut self.random, self.slow) as usize) {
            *place = *exemplar;
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.slowest.clear();
        self.order.clear();
        self.octaves.fill(None);
        self.sampled.clear();
        self.slow = 0;
    }

    /// The value that one of the slowest must exceed; `None` while there is room.
    pub(super) fn least(&self) -> Option<u64> {
        if self.most == 0 {
            return Some(u64::MAX);
        }
        self.order.peek().filter(|_| self.slowest.len() == self.most).map(|least| least.0.0)
    }

    /// Gives an observation its context. Returns whether it is still kept.
    pub(super) fn annotate(&mut self, number: u64, context: &Context) -> bool {
        let mut found = false;
        let kept = self.octaves.iter_mut().flatten().chain(&mut self.sampled).chain(&mut self.slowest);
        for exemplar in kept.filter(|exemplar| exemplar.number == number) {
            exemplar.context = *context;
            found = true;
        }
        found
    }

    /// The slowest, in descending order, together with the others that are kept for their octaves.
    pub(super) fn exemplars(&self) -> Result<Vec<Exemplar>> {
        let mut all = with_room::<Exemplar>(self.slowest.len() + OCTAVES)?;
        all.extend(&self.slowest);
        let is_new = |exemplar: &&Exemplar| self.slowest.iter().all(|one| one.number != exemplar.number);
        all.extend(self.octaves.iter().flatten().filter(is_new));
        all.sort_unstable_by_key(|exemplar| (Reverse(exemplar.value), exemplar.number));
        Ok(all)
    }

    /// A sample of the slow ones, and the number of all.
    pub(super) fn slow(&self) -> (&[Exemplar], u64) {
        (&self.sampled, self.slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exemplar(number: u64, value: u64) -> Exemplar {
        // The clock always steps back.
        Exemplar { number, value, unix_nanos: u64::MAX - number, ..Exemplar::default() }
    }

    proptest! {
        #[test]
        fn the_slowest_are_those_of_a_sort(values in prop::collection::vec(0u64..200, 0..300), most in 0usize..20) {
            let mut kept = Kept::new(most, 1).unwrap();
            let mut all: Vec<Exemplar> = (1..).zip(&values).map(|(number, &value)| exemplar(number, value)).collect();
            let mut latest = std::collections::BTreeMap::new();
            for one in &all {
                kept.offer(one, false, true);
                latest.insert(one.value.checked_ilog2(), *one);
            }
            all.sort_by_key(|one| (Reverse(one.value), one.number));
            all.truncate(most);
            for one in latest.values() {
                if !all.iter().any(|kept| kept.number == one.number) {
                    all.push(*one);
                }
            }
            all.sort_by_key(|one| (Reverse(one.value), one.number));
            prop_assert_eq!(kept.exemplars().unwrap(), all);
        }
    }

    #[test]
    fn samples_are_fair() {
        // Each hundredth is sampled equally often: chi-square with 99 degrees of freedom exceeds 148 once in a
        // thousand.
        let mut kept = Kept::new(0, 7).unwrap();
        let all = 100_000;
        for number in 1..=all {
            kept.offer(&exemplar(number, 5), true, false);
        }
        let (sampled, of_all) = kept.slow();
        assert_eq!((sampled.len(), of_all), (SAMPLED, all));
        let mut counts = [0f64; 100];
        for one in sampled {
            counts[(one.number - 1) as usize * 100 / all as usize] += 1.0;
        }
        let expected = SAMPLED as f64 / 100.0;
        let distance: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(distance < 148.0, "{distance}");
    }

    #[test]
    fn contexts_belong_to_their_observations() {
        let mut kept = Kept::new(2, 1).unwrap();
        for number in 1..=5 {
            kept.offer(&exemplar(number, number * 1000), true, true);
        }
        let context = Context { words: [7, 8], ..Context::default() };
        assert!(kept.annotate(5, &context) && kept.annotate(1, &context) && !kept.annotate(9, &context));
        let exemplars = kept.exemplars().unwrap();
        assert_eq!(
            exemplars.iter().filter(|one| one.context == context).map(|one| one.number).collect::<Vec<_>>(),
            [5, 1]
        );
        assert_eq!(kept.least(), Some(4000));
    }
}
