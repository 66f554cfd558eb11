//! Locks of the cold paths.
//!
//! A fork copies a lock that another thread holds, but not that thread: in the child nobody would ever release it. So a lock
//! knows the process of its holder. Where that is another one, [`Exclusive`] is taken over, since what it protects is whole at
//! every step. [`Lock`] is refused, since its data may be half changed, and every caller has a way to go on without it.
//! (Handlers of `pthread_atfork` would hold up every fork of the program instead, and see none that bypasses the C library.)

use crate::error::{Error, Result};
use crate::platform::atomics::Ordering::*;
#[cfg(feature = "std")]
use crate::platform::atomics::UnsafeCell;
use crate::platform::atomics::{AtomicU32, const_unless_loom, wait};
#[cfg(feature = "std")]
pub(crate) use crate::platform::process::process;

/// Without `std` there are no forks.
#[cfg(not(feature = "std"))]
pub(crate) fn process() -> u32 {
    1
}

/// How often [`Exclusive`] waits, ten seconds and more with threads.
const WAITS: u32 = if cfg!(loom) { 3 } else { 200_000 };

/// The process whose thread holds a lock, see [`process`]; 0 when nobody does.
struct Holder(AtomicU32);

/// Why a lock was not had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Another thread is at work.
    Busy,
    /// A thread of the process that this one was forked from was at work. It stays so.
    Forked,
}

/// Releases the lock, also when a panic unwinds.
struct Held<'a>(&'a AtomicU32);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

impl Holder {
    const_unless_loom! {
        const fn nobody() -> Holder {
            Holder(AtomicU32::new(0))
        }
    }

    /// `Busy` after so many waits; `Forked` where another process holds the lock, unless that is to be taken over.
    fn hold(&self, takes_over: bool, waits: u32) -> core::result::Result<Held<'_>, Refused> {
        let process = process();
        let mut attempt = 0;
        // Acquire, paired with the release: the data are what the last holder left.
        while let Err(holder) = self.0.compare_exchange(0, process, Acquire, Relaxed) {
            if holder != process {
                if !takes_over {
                    return Err(Refused::Forked);
                }
                if self.0.compare_exchange(holder, process, Acquire, Relaxed).is_ok() {
                    break;
                }
            }
            if attempt == waits {
                return Err(Refused::Busy);
            }
            // The holders are short of work, so that one that does not come to an end is one that does not run.
            wait(attempt, 1000);
            attempt = attempt.saturating_add(1);
        }
        Ok(Held(&self.0))
    }
}

/// Lets one thread at a time work on what is whole at every step of the work.
pub(crate) struct Exclusive(Holder);

impl Exclusive {
    const_unless_loom! {
        pub(crate) const fn new() -> Exclusive {
            Exclusive(Holder::nobody())
        }
    }

    /// Does the work while nobody else does. [`Error::Busy`] after a long wait: for a thread that is stopped in the middle
    /// of its work, or that this call interrupts.
    pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let _held = self.0.hold(true, WAITS).map_err(|_| Error::Busy)?;
        Ok(work())
    }
}

/// Data that one thread at a time works on.
#[cfg(feature = "std")]
pub struct Lock<T> {
    holder: Holder,
    data: UnsafeCell<T>,
}

#[cfg(feature = "std")]
impl<T> core::fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Lock")
    }
}

// SAFETY: the data are touched by the holder alone.
#[cfg(feature = "std")]
unsafe impl<T: Send> Sync for Lock<T> {}

#[cfg(feature = "std")]
impl<T> Lock<T> {
    const_unless_loom! {
        /// Not held by anyone.
        pub const fn new(data: T) -> Lock<T> {
            Lock { holder: Holder::nobody(), data: UnsafeCell::new(data) }
        }
    }

    /// Works on the data, which is as the last holder left it. `None`, for ever, in a process that was forked while another
    /// thread of its parent was at work.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.hold(u32::MAX, work).ok()
    }

    /// The same, where nobody is at work now.
    pub fn try_with<R>(&self, work: impl FnOnce(&mut T) -> R) -> core::result::Result<R, Refused> {
        self.hold(0, work)
    }

    fn hold<R>(&self, waits: u32, work: impl FnOnce(&mut T) -> R) -> core::result::Result<R, Refused> {
        let _held = self.holder.hold(false, waits)?;
        // SAFETY: this thread alone holds the lock, until the end of this function.
        Ok(self.data.with_mut(|data| work(unsafe { &mut *data })))
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        static SUM: Lock<(u64, u64)> = Lock::new((0, 0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        SUM.with(|(a, b)| {
                            *a += 1;
                            *b += *a % 2;
                        });
                    }
                });
            }
        });
        assert_eq!(SUM.with(|sum| *sum), Some((80_000, 40_000)));
    }

    #[test]
    fn what_another_process_holds_is_refused_or_taken_over() {
        let (lock, exclusive) = (Lock::new(7), Exclusive::new());
        for holder in [&lock.holder, &exclusive.0] {
            holder.0.store(process() + 1, Relaxed);
        }
        assert_eq!((lock.with(|data| *data), lock.try_with(|data| *data)), (None, Err(Refused::Forked)));
        assert_eq!(exclusive.run(|| exclusive.0.0.load(Relaxed)), Ok(process()));
        assert_eq!(exclusive.0.0.load(Relaxed), 0);
        lock.holder.0.store(process(), Relaxed);
        assert_eq!(lock.try_with(|data| *data), Err(Refused::Busy));
        lock.holder.0.store(0, Relaxed);
        assert_eq!((lock.with(|data| *data), lock.try_with(|data| *data)), (Some(7), Ok(7)));
    }

    #[test]
    fn a_panic_releases() {
        let (lock, exclusive) = (Lock::new(7), Exclusive::new());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = exclusive.run(|| lock.with(|_| panic!("this panic is part of a test")));
        }));
        assert!(panicked.is_err());
        assert_eq!(lock.with(|data| *data), Some(7));
        assert_eq!(exclusive.run(|| 7), Ok(7));
    }
}
