//! What a collector keeps in an interval: the slowest, the latest of each octave of values, and a sample of all slow ones. All memory is
//! there from the start: nothing is allocated where an observation ends.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::exemplar::{Context, Exemplar};
use crate::base::error::{Error, Result, Status};

/// Slow observations whose evidence is kept; beyond that, a random sample of so many.
const SAMPLED: usize = 2048;
const OCTAVES: usize = 65;

/// By value, and among equal ones the earlier is the slower.
#[derive(Debug)]
struct ByValue(Exemplar);

impl ByValue {
    fn key(&self) -> (u64, Reverse<u64>) {
        (self.0.value, Reverse(self.0.number))
    }
}

impl PartialEq for ByValue {
    fn eq(&self, other: &ByValue) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByValue {}

impl PartialOrd for ByValue {
    fn partial_cmp(&self, other: &ByValue) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByValue {
    fn cmp(&self, other: &ByValue) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// What is kept of an interval.
#[derive(Debug)]
pub struct Kept {
    most: usize,
    /// The least of them is on top.
    slowest: BinaryHeap<Reverse<ByValue>>,
    octaves: Box<[Option<Exemplar>]>,
    sampled: Vec<Exemplar>,
    /// Slow ones that were handed in.
    slow: u64,
    random: u64,
}

impl Kept {
    /// Room for so many of the slowest. `OutOfMemory`.
    pub fn new(slowest: usize, seed: u64) -> Result<Kept> {
        let no_memory = |_| Error::from(Status::OutOfMemory);
        let mut heap = Vec::new();
        heap.try_reserve_exact(slowest).map_err(no_memory)?;
        let mut octaves = Vec::new();
        octaves.try_reserve_exact(OCTAVES).map_err(no_memory)?;
        octaves.resize(OCTAVES, None);
        let mut sampled = Vec::new();
        sampled.try_reserve_exact(SAMPLED).map_err(no_memory)?;
        Ok(Kept {
            most: slowest,
            slowest: BinaryHeap::from(heap),
            octaves: octaves.into_boxed_slice(),
            sampled,
            slow: 0,
            random: seed | 1,
        })
    }

    /// Takes an observation in. Whether it is one of the slowest, or the latest of its octave.
    pub fn offer(&mut self, exemplar: &Exemplar, is_slow: bool, is_for_octave: bool) -> bool {
        if is_slow {
            self.sample(exemplar);
        }
        let octave = exemplar.value.checked_ilog2().map_or(0, |octave| octave as usize + 1);
        let is_latest =
            self.octaves[octave].is_none_or(|kept| is_for_octave && kept.number < exemplar.number);
        if is_latest {
            self.octaves[octave] = Some(*exemplar);
        }
        let one = ByValue(*exemplar);
        if self.slowest.len() < self.most {
            self.slowest.push(Reverse(one));
        } else {
            match self.slowest.peek_mut() {
                Some(mut least) if least.0 < one => *least = Reverse(one),
                _ => return is_latest,
            }
        }
        true
    }

    /// Vitter, "Random Sampling with a Reservoir", algorithm R.
    fn sample(&mut self, exemplar: &Exemplar) {
        self.slow += 1;
        if self.sampled.len() < SAMPLED {
            return self.sampled.push(*exemplar);
        }
        // xorshift64* (Vigna), and Lemire's multiplication for a number below a bound.
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let drawn = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D);
        let at = (u128::from(drawn) * u128::from(self.slow)) >> 64;
        if let Some(place) = self.sampled.get_mut(at as usize) {
            *place = *exemplar;
        }
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.slowest.clear();
        self.octaves.fill(None);
        self.sampled.clear();
        self.slow = 0;
    }

    /// What a value has to exceed to be one of the slowest.
    pub fn least(&self) -> Option<u64> {
        if self.most == 0 {
            return Some(u64::MAX);
        }
        self.slowest.peek().filter(|_| self.slowest.len() == self.most).map(|least| least.0.0.value)
    }

    /// Gives an observation its context. Whether it is still kept.
    pub fn annotate(&mut self, number: u64, context: &Context) -> bool {
        let mut found = false;
        let mut put = |exemplar: &mut Exemplar| {
            if exemplar.number == number {
                exemplar.context = *context;
                found = true;
            }
        };
        self.octaves.iter_mut().flatten().for_each(&mut put);
        self.sampled.iter_mut().for_each(&mut put);
        // The order is by what is not changed, but the heap does not know that: its memory is taken out and put back.
        let mut slowest = core::mem::take(&mut self.slowest).into_vec();
        slowest.iter_mut().for_each(|one| put(&mut one.0.0));
        self.slowest = BinaryHeap::from(slowest);
        found
    }

    /// The slowest, slowest first, and then the others that are kept for their octaves.
    pub fn exemplars(&self) -> Result<Vec<Exemplar>> {
        let mut all = Vec::new();
        all.try_reserve_exact(self.slowest.len() + OCTAVES).map_err(|_| Error::from(Status::OutOfMemory))?;
        all.extend(self.slowest.iter().map(|one| one.0.0));
        let is_new = |exemplar: &&Exemplar| self.slowest.iter().all(|one| one.0.0.number != exemplar.number);
        all.extend(self.octaves.iter().flatten().filter(is_new));
        all.sort_unstable_by_key(|exemplar| (Reverse(exemplar.value), exemplar.number));
        Ok(all)
    }

    /// A sample of the slow ones, and how many it is of.
    pub fn slow(&self) -> (&[Exemplar], u64) {
        (&self.sampled, self.slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(number: u64, value: u64) -> Exemplar {
        // The clock steps back all the time.
        Exemplar { number, value, unix_nanos: u64::MAX - number, ..Exemplar::default() }
    }

    proptest! {
        #[test]
        fn the_slowest_are_those_of_a_sort(values in prop::collection::vec(0u64..200, 0..300), most in 0usize..20) {
            let mut kept = Kept::new(most, 1).unwrap();
            let mut all: Vec<Exemplar> = (1..).zip(&values).map(|(number, &value)| of(number, value)).collect();
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
        // Each of 100 tenths of the slow ones as often as any other: chi-square with 99 degrees of freedom is above 148 once in a thousand.
        let mut kept = Kept::new(0, 7).unwrap();
        let all = 100_000;
        for number in 1..=all {
            kept.offer(&of(number, 5), true, false);
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
    fn contexts_are_put_where_the_observation_is() {
        let mut kept = Kept::new(2, 1).unwrap();
        for number in 1..=5 {
            kept.offer(&of(number, number * 1000), true, true);
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
