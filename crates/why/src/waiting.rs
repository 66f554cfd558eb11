//! Places for observations that a collector could not take in because another thread was using it. Nobody waits.

#[cfg(not(all(loom, test)))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(all(loom, test))]
use loom::sync::atomic::{AtomicU32, Ordering};

use picollo_core::seam::Lock;

use super::exemplar::Exemplar;
use picollo_native::Result;
use picollo_native::seam::thread::process;
use picollo_native::seam::vectors::with_room;

/// An observation that waits to be taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub exemplar: Exemplar,
    pub is_slow: bool,
    pub is_for_octave: bool,
    /// Beginning and end in ticks, if known.
    pub span: Option<[u64; 2]>,
    /// The process that it belongs to.
    pub process: u32,
}

/// Maximum number of rounds in [`Places::keep`]. A model waits as long as needed.
const ROUNDS: usize = if cfg!(all(loom, test)) { usize::MAX } else { 100 };
const PLACES: usize = if cfg!(all(loom, test)) { 1 } else { 32 };

/// Places for observations that arrive while another thread uses the collector. The largest of them is never lost.
#[derive(Debug)]
pub(super) struct Places {
    /// Always [`PLACES`] elements.
    places: Vec<Lock<Option<Pending>>>,
    full: AtomicU32,
}

impl Places {
    /// Errors: `OutOfMemory`.
    pub(super) fn new() -> Result<Places> {
        let mut places = with_room(PLACES)?;
        places.extend((0..PLACES).map(|_| Lock::new(None)));
        Ok(Places { places, full: AtomicU32::new(0) })
    }

    /// Puts an observation into a free place, or replaces a smaller one. Returns whether it has a place.
    pub(super) fn keep(&self, pending: &Pending, first: u64) -> bool {
        // Others lock a place only while they copy, so that one round is nearly always enough. A refused observation
        // was smaller than all others, or met locked places in a hundred rounds.
        for round in 0..ROUNDS {
            let mut was_refused = false;
            for at in 0..PLACES {
                let place = &self.places[(first as usize + at) % PLACES];
                let put = place.try_with(|place| match place {
                    None => {
                        *place = Some(*pending);
                        self.full.fetch_add(1, Ordering::Relaxed);
                        true
                    }
                    // In the first round, another place may be free.
                    Some(smaller) if round > 0 && smaller.exemplar.value < pending.exemplar.value => {
                        *smaller = *pending;
                        true
                    }
                    Some(_) => false,
                });
                match put {
                    Ok(true) => return true,
                    Ok(false) => {}
                    Err(_) => was_refused = true,
                }
            }
            if round > 0 && !was_refused {
                return false;
            }
            #[cfg(all(loom, test))]
            loom::thread::yield_now();
        }
        false
    }

    /// Whether there may be waiting observations.
    pub(super) fn has_any(&self) -> bool {
        self.full.load(Ordering::Relaxed) != 0
    }

    /// Removes this process's observations. Those of a parent process are discarded: the parent takes them in itself.
    pub(super) fn drain(&self, mut each: impl FnMut(&mut Pending)) {
        if self.full.load(Ordering::Relaxed) == 0 {
            return;
        }
        for place in &self.places {
            if let Ok(Some(mut pending)) = place.try_with(Option::take) {
                self.full.fetch_sub(1, Ordering::Relaxed);
                if pending.process == process() {
                    each(&mut pending);
                }
            }
        }
    }

    /// Changes the observation with this number. Returns whether it is here. Waits for locked places: one may hold it.
    pub(super) fn change(&self, number: u64, change: impl Fn(&mut Exemplar)) -> bool {
        self.places.iter().any(|place| {
            let changed = place.with(|place| {
                let found = place.as_mut().filter(|pending| pending.exemplar.number == number);
                found.map(|pending| change(&mut pending.exemplar)).is_some()
            });
            changed == Some(true)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_child_takes_in_none_of_its_parents() {
        let places = Places::new().unwrap();
        for (value, process) in [(1, process()), (2, process() + 1), (3, process())] {
            let exemplar = Exemplar { value, ..Exemplar::default() };
            let pending = Pending { exemplar, is_slow: true, is_for_octave: false, span: None, process };
            assert!(places.keep(&pending, 0));
        }
        assert!(places.has_any());
        let mut values = Vec::new();
        places.drain(|pending| values.push(pending.exemplar.value));
        assert_eq!(values, [1, 3]);
        assert!(!places.has_any());
    }
}

#[cfg(all(loom, test))]
mod model {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    struct Modelled {
        /// The largest that was taken in.
        largest: Lock<u64>,
        places: Places,
    }

    fn pending(value: u64) -> Pending {
        let exemplar = Exemplar { value, number: value, ..Exemplar::default() };
        Pending { exemplar, is_slow: true, is_for_octave: false, span: None, process: process() }
    }

    impl Modelled {
        /// Does the same as a collector.
        fn submit(&self, value: u64) {
            let taken = self.largest.try_with(|largest| {
                self.places.drain(|pending| *largest = (*largest).max(pending.exemplar.value));
                *largest = (*largest).max(value);
            });
            if taken.is_err() {
                self.places.keep(&pending(value), 0);
            }
        }

        /// Collects at the end, without other threads.
        fn collect(&self) -> u64 {
            let collected = self.largest.try_with(|largest| {
                self.places.drain(|pending| *largest = (*largest).max(pending.exemplar.value));
                *largest
            });
            collected.unwrap()
        }
    }

    fn model(threads: &'static [&'static [u64]]) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(move || {
            let modelled = Arc::new(Modelled { largest: Lock::new(0), places: Places::new().unwrap() });
            let running: Vec<_> = threads[1..]
                .iter()
                .map(|&values| {
                    let modelled = Arc::clone(&modelled);
                    thread::spawn(move || values.iter().for_each(|&value| modelled.submit(value)))
                })
                .collect();
            threads[0].iter().for_each(|&value| modelled.submit(value));
            for thread in running {
                thread.join().unwrap();
            }
            let largest = threads.iter().flat_map(|values| values.iter()).max();
            assert_eq!(Some(&modelled.collect()), largest);
        });
    }

    /// There is one place for concurrent observations: at the end, the largest is in it or was taken in.
    #[test]
    fn the_largest_is_never_lost() {
        model(&[&[3, 1], &[2, 5]]);
        model(&[&[1], &[3], &[2]]);
    }

    /// Another thread looks for a place for its observation meanwhile.
    #[test]
    fn contexts_find_what_waits() {
        loom::model(|| {
            let places = Arc::new(Places::new().unwrap());
            let other = {
                let places = Arc::clone(&places);
                thread::spawn(move || places.keep(&pending(2), 0))
            };
            assert!(places.keep(&pending(3), 0));
            assert!(places.change(3, |exemplar| exemplar.context.words = [3, 3]));
            other.join().unwrap();
            let mut words = Vec::new();
            places.drain(|pending| words.push(pending.exemplar.context.words));
            assert_eq!(words, [[3, 3]]);
        });
    }
}
