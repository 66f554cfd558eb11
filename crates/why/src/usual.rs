//! The usual: a random sample of ordinary observations of each kind, and where their time goes.

use super::cause::{PARTS, Parts};
use super::exemplar::Exemplar;
use super::instructions::{Executed, Execution};
use picollo_native::Result;
use picollo_native::seam::vectors::with_room;

/// Number of distinguished kinds. Later ones have no usual values.
pub const LABELS: usize = 16;
/// Number of recent controls remembered for each kind.
const REMEMBERED: usize = 64;
/// Minimum number of controls for usual values.
pub const LEAST: usize = 5;

#[derive(Clone, Copy, Debug)]
struct Control {
    value: u64,
    faults: u64,
    parts: Parts,
    executed: Option<Executed>,
}

#[derive(Debug)]
struct Kind {
    label: u32,
    controls: Vec<Control>,
    next: usize,
}

/// The controls of all kinds.
#[derive(Debug)]
pub struct Usual {
    kinds: Vec<Kind>,
    taken: u64,
}

/// Where the time of ordinary observations of one kind goes.
#[derive(Clone, Copy, Debug)]
pub struct Ordinary {
    /// Number of controls.
    pub controls: usize,
    /// Mean of each part, in nanoseconds.
    pub mean: [f64; PARTS],
    /// Standard deviation of each part.
    pub deviation: [f64; PARTS],
    /// Mean of the page faults.
    pub faults: f64,
    /// What they execute, if it was counted.
    pub execution: Option<Execution>,
}

impl Usual {
    /// Allocates all memory in advance. Errors: `OutOfMemory`.
    pub(super) fn new() -> Result<Usual> {
        let mut kinds = with_room(LABELS)?;
        for _ in 0..LABELS {
            kinds.push(Kind { label: 0, controls: with_room(REMEMBERED)?, next: 0 });
        }
        Ok(Usual { kinds, taken: 0 })
    }

    /// Copies this to `other` without allocating, since `other` has all memory already.
    pub fn copy_to(&self, other: &mut Usual) {
        for (kind, copy) in self.kinds.iter().zip(&mut other.kinds) {
            (copy.label, copy.next) = (kind.label, kind.next);
            copy.controls.clear();
            copy.controls.extend_from_slice(&kind.controls);
        }
        other.taken = self.taken;
    }

    /// Adds a control if it has accounts.
    pub fn add(&mut self, exemplar: &Exemplar) {
        let Some(parts) = Parts::from_evidence(&exemplar.evidence, exemplar.wall_nanos) else { return };
        let known =
            self.kinds.iter().position(|kind| kind.label == exemplar.label && !kind.controls.is_empty());
        let Some(at) = known.or_else(|| self.kinds.iter().position(|kind| kind.controls.is_empty())) else {
            return;
        };
        let kind = &mut self.kinds[at];
        kind.label = exemplar.label;
        let executed = Executed::from_control(exemplar);
        let control = Control { value: exemplar.value, faults: exemplar.evidence.faults(), parts, executed };
        match kind.controls.get_mut(kind.next) {
            Some(place) => *place = control,
            None => kind.controls.push(control),
        }
        kind.next = (kind.next + 1) % REMEMBERED;
        self.taken += 1;
    }

    /// Number of controls so far.
    pub const fn count(&self) -> u64 {
        self.taken
    }

    /// The usual values for observations of a kind up to this value; `None` if too few are known.
    pub fn for_label(&self, label: u32, most: u64) -> Option<Ordinary> {
        let kind = self.kinds.iter().find(|kind| kind.label == label && !kind.controls.is_empty())?;
        let ordinary = || kind.controls.iter().filter(|control| control.value <= most);
        let count = ordinary().count();
        if count < LEAST {
            return None;
        }
        let mean_of = |part: &dyn Fn(&Control) -> f64| ordinary().map(part).sum::<f64>() / count as f64;
        let (mut mean, mut deviation) = ([0.0; PARTS], [0.0; PARTS]);
        for at in 0..PARTS {
            let middle = mean_of(&|control| control.parts.0[at] as f64);
            mean[at] = middle;
            deviation[at] = mean_of(&|control| (control.parts.0[at] as f64 - middle).powi(2)).sqrt();
        }
        let execution = Execution::from_controls(ordinary().filter_map(|control| control.executed));
        let faults = mean_of(&|control| control.faults as f64);
        Some(Ordinary { controls: count, mean, deviation, faults, execution })
    }
}

#[cfg(test)]
mod tests {
    use super::super::exemplar::{Evidence, KNOWN_ACCOUNTS};
    use super::*;

    #[test]
    fn a_copy_is_the_same_and_takes_no_memory() {
        let (mut usual, mut copy) = (Usual::new().unwrap(), Usual::new().unwrap());
        let places =
            |usual: &Usual| usual.kinds.iter().map(|kind| kind.controls.as_ptr()).collect::<Vec<_>>();
        let before = places(&copy);
        for number in 0..3000u64 {
            let evidence = Evidence { known: KNOWN_ACCOUNTS, window_nanos: number, ..Evidence::default() };
            let (value, label) = (number, number as u32 % 20);
            usual.add(&Exemplar { value, wall_nanos: value, label, evidence, ..Exemplar::default() });
            if number % 700 == 0 || number == 2999 {
                usual.copy_to(&mut copy);
                for label in 0..20 {
                    let [one, other] = [&usual, &copy]
                        .map(|of| of.for_label(label, u64::MAX).map(|of| (of.controls, of.mean)));
                    assert_eq!(one, other);
                }
                assert_eq!(usual.count(), copy.count());
            }
        }
        assert!(copy.for_label(15, u64::MAX).is_some_and(|of| of.controls == REMEMBERED));
        assert!(copy.for_label(16, u64::MAX).is_none());
        assert_eq!(places(&copy), before);
    }
}
