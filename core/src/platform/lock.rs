//! Locks of the cold paths.
//!
//! A fork copies a lock that another thread holds, but not that thread: nobody in the child would ever release it. So a
//! lock records the process of its holder. If that is another process, the child takes over [`Exclusive`], because the
//! data it protects is valid at every step. It cannot take [`Lock`], whose data may be half changed; every caller can
//! continue without it. (`pthread_atfork` handlers would delay every fork of the program, and miss forks that bypass
//! the C library.)

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

/// How often [`Exclusive`] waits: at least ten seconds with threads.
const WAITS: u32 = if cfg!(loom) { 3 } else { 200_000 };

/// The process whose thread holds a lock, see [`process`]; 0 if nobody does.
struct Holder(AtomicU32);

/// Why a lock was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Another thread holds it.
    Busy,
    /// A thread of the parent process held it during the fork. This never changes.
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

    /// Returns `Busy` after this many waits, and `Forked` if another process holds the lock, unless it is taken over.
    fn hold(&self, takes_over: bool, waits: u32) -> core::result::Result<Held<'_>, Refused> {
        let process = process();
        let mut attempt = 0;
        // Acquire, paired with the release: the data is as the last holder left it.
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
            // The holders have little work, so a holder that does not finish is not running.
            wait(attempt, 1000);
            attempt = attempt.saturating_add(1);
        }
        Ok(Held(&self.0))
    }
}

/// Lets one thread at a time work on data that is valid at every step of the work.
pub(crate) struct Exclusive(Holder);

impl Exclusive {
    const_unless_loom! {
        pub(crate) const fn new() -> Exclusive {
            Exclusive(Holder::nobody())
        }
    }

    /// Runs `work` while nobody else does. Fails with [`Error::Busy`] after a long wait: if a thread is stopped in the
    /// middle of its work, or if this call interrupts that thread.
    pub(crate) fn run<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let _held = self.0.hold(true, WAITS).map_err(|_| Error::Busy)?;
        Ok(work())
    }
}

/// Data that only one thread at a time uses.
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

// SAFETY: only the holder touches the data.
#[cfg(feature = "std")]
unsafe impl<T: Send> Sync for Lock<T> {}

#[cfg(feature = "std")]
impl<T> Lock<T> {
    const_unless_loom! {
        /// Creates a lock that nobody holds.
        pub const fn new(data: T) -> Lock<T> {
            Lock { holder: Holder::nobody(), data: UnsafeCell::new(data) }
        }
    }

    /// Works on the data, which is as the last holder left it. Always returns `None` in a process that was forked while
    /// another thread of its parent held the lock.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.hold(u32::MAX, work).ok()
    }

    /// Does the same if nobody holds the lock now.
    pub fn try_with<R>(&self, work: impl FnOnce(&mut T) -> R) -> core::result::Result<R, Refused> {
        self.hold(0, work)
    }

    fn hold<R>(&self, waits: u32, work: impl FnOnce(&mut T) -> R) -> core::result::Result<R, Refused> {
        let _held = self.holder.hold(false, waits)?;
        // SAFETY: only this thread holds the lock, until the end of this function.
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
