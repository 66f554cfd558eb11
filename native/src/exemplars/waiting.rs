//! What a collector shares between threads without ever making one wait: a lock that is tried, and places for what did not get it.

#[cfg(not(all(loom, test)))]
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(all(loom, test))]
use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use super::exemplar::Exemplar;
use crate::base::error::Result;
use crate::base::vectors::with_room;

/// As loom has it.
#[cfg(not(all(loom, test)))]
#[derive(Debug)]
struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(all(loom, test)))]
impl<T> UnsafeCell<T> {
    const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(data))
    }

    fn with_mut<R>(&self, work: impl FnOnce(*mut T) -> R) -> R {
        work(self.0.get())
    }
}

#[cfg(not(all(loom, test)))]
use crate::os::thread::process;
/// A model is of one process.
#[cfg(all(loom, test))]
fn process() -> u64 {
    1
}

/// Why a lock was not had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// Another thread is at work.
    Busy,
    /// A thread of the process that this one was forked from was at work. It will stay so.
    Forked,
}

/// Data that one thread at a time works on, for those who can do without.
#[derive(Debug)]
pub(super) struct TryLock<T> {
    /// The process whose thread holds the lock; 0 when nobody does.
    holder: AtomicU64,
    data: UnsafeCell<T>,
}

// SAFETY: the data are touched by the holder alone.
unsafe impl<T: Send> Sync for TryLock<T> {}

impl<T> TryLock<T> {
    pub(super) fn new(data: T) -> TryLock<T> {
        TryLock { holder: AtomicU64::new(0), data: UnsafeCell::new(data) }
    }

    /// Works on the data, if nobody else does.
    pub(super) fn try_with<R>(&self, work: impl FnOnce(&mut T) -> R) -> core::result::Result<R, Refused> {
        struct Held<'a>(&'a AtomicU64);
        impl Drop for Held<'_> {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Release);
            }
        }
        let process = process();
        // Acquire, paired with the release: the data are what the last holder left.
        match self.holder.compare_exchange(0, process, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => {
                let _held = Held(&self.holder);
                // SAFETY: this thread alone holds the lock, until the end of this function.
                Ok(self.data.with_mut(|data| work(unsafe { &mut *data })))
            }
            Err(holder) if holder == process => Err(Refused::Busy),
            Err(_) => Err(Refused::Forked),
        }
    }

    /// The same, however long it takes: for who collects or has a context. `Forked` only.
    pub(super) fn with<R>(&self, mut work: impl FnMut(&mut T) -> R) -> core::result::Result<R, Refused> {
        for attempt in 0u32.. {
            match self.try_with(&mut work) {
                Err(Refused::Busy) => pause(attempt),
                done => return done,
            }
        }
        Err(Refused::Busy)
    }
}

#[cfg(not(all(loom, test)))]
fn pause(attempt: u32) {
    match attempt {
        0..100 => core::hint::spin_loop(),
        _ => {
            let _uncancelled = crate::os::cancel::Uncancelled::new();
            // Also a holder of a lower priority has to run.
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    }
}
#[cfg(all(loom, test))]
fn pause(_: u32) {
    loom::thread::yield_now();
}

/// An observation that waits to be taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub exemplar: Exemplar,
    pub is_slow: bool,
    pub is_for_octave: bool,
    /// When it began and ended, in ticks, where that is known.
    pub span: Option<[u64; 2]>,
    /// Of which process it is.
    pub process: u64,
}

/// See [`Places::put`]. A model waits for as long as it takes.
const ROUNDS: usize = if cfg!(all(loom, test)) { usize::MAX } else { 100 };
const PLACES: usize = if cfg!(all(loom, test)) { 1 } else { 32 };

/// Places for observations that came while another thread was at work. The largest of them is never lost.
#[derive(Debug)]
pub(super) struct Places {
    /// So many of them.
    places: Vec<TryLock<Option<Pending>>>,
    full: AtomicU32,
}

impl Places {
    /// `OutOfMemory`.
    pub(super) fn new() -> Result<Places> {
        let mut places = with_room(PLACES)?;
        places.extend((0..PLACES).map(|_| TryLock::new(None)));
        Ok(Places { places, full: AtomicU32::new(0) })
    }

    /// Puts one into a free place, or into that of a smaller one. Whether it has one.
    pub(super) fn put(&self, pending: &Pending, first: u64) -> bool {
        // Others hold a place for as long as copying takes, so that one round is nearly always enough. Whoever is refused every time was
        // smaller than what is there, or met thirty-two that were all taken, a hundred times.
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
                    // In the first round there may be a free one yet.
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

    /// Whether there may be any.
    pub(super) fn has_any(&self) -> bool {
        self.full.load(Ordering::Relaxed) != 0
    }

    /// Takes out what is there of this process: a child's parent has taken in its own, or will.
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

    /// Changes the one with this number. Whether it is there. Waits for whoever looks at a place: it may be the one.
    pub(super) fn change(&self, number: u64, change: impl Fn(&mut Exemplar)) -> bool {
        self.places.iter().any(|place| {
            let changed = place.with(|place| match place {
                Some(pending) if pending.exemplar.number == number => {
                    change(&mut pending.exemplar);
                    true
                }
                _ => false,
            });
            changed == Ok(true)
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
            assert!(places.put(&pending, 0));
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
        largest: TryLock<u64>,
        places: Places,
    }

    fn pending(value: u64) -> Pending {
        let exemplar = Exemplar { value, number: value, ..Exemplar::default() };
        Pending { exemplar, is_slow: true, is_for_octave: false, span: None, process: process() }
    }

    impl Modelled {
        /// As collectors do.
        fn hand_in(&self, value: u64) {
            let taken = self.largest.try_with(|largest| {
                self.places.drain(|pending| *largest = (*largest).max(pending.exemplar.value));
                *largest = (*largest).max(value);
            });
            if taken.is_err() {
                self.places.put(&pending(value), 0);
            }
        }

        /// At the end, when nobody else is there.
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
            let modelled = Arc::new(Modelled { largest: TryLock::new(0), places: Places::new().unwrap() });
            let running: Vec<_> = threads[1..]
                .iter()
                .map(|&values| {
                    let modelled = Arc::clone(&modelled);
                    thread::spawn(move || values.iter().for_each(|&value| modelled.hand_in(value)))
                })
                .collect();
            threads[0].iter().for_each(|&value| modelled.hand_in(value));
            for thread in running {
                thread.join().unwrap();
            }
            let largest = threads.iter().flat_map(|values| values.iter()).max();
            assert_eq!(Some(&modelled.collect()), largest);
        });
    }

    /// One place for what comes at the same time: the largest is in it at the end, or was taken in.
    #[test]
    fn the_largest_is_never_lost() {
        model(&[&[3, 1], &[2, 5]]);
        model(&[&[1], &[3], &[2]]);
    }

    /// While another thread looks for a place for its own.
    #[test]
    fn contexts_find_what_waits() {
        loom::model(|| {
            let places = Arc::new(Places::new().unwrap());
            let other = {
                let places = Arc::clone(&places);
                thread::spawn(move || places.put(&pending(2), 0))
            };
            assert!(places.put(&pending(3), 0));
            assert!(places.change(3, |exemplar| exemplar.context.words = [3, 3]));
            other.join().unwrap();
            let mut words = Vec::new();
            places.drain(|pending| words.push(pending.exemplar.context.words));
            assert_eq!(words, [[3, 3]]);
        });
    }
}
