//! The lock of the cold paths.
//!
//! A fork copies a lock that another thread holds, but not that thread. In the child nobody would ever release it, and what it
//! protects may be half changed. So the lock knows the process of its holder: where that is another one, it is refused, and
//! every caller has a way to go on without it. (Handlers of `pthread_atfork` would hold up every fork of the program instead,
//! and see none that bypasses the C library.)

use super::process::process;
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, UnsafeCell, const_unless_loom};

/// Data that one thread at a time works on.
pub struct Lock<T> {
    /// The process whose thread holds the lock, see [`process`]; 0 when nobody does.
    holder: AtomicU32,
    data: UnsafeCell<T>,
}

// SAFETY: the data are touched by the holder alone.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    const_unless_loom! {
        /// Not held by anyone.
        pub const fn new(data: T) -> Lock<T> {
            Lock { holder: AtomicU32::new(0), data: UnsafeCell::new(data) }
        }
    }

    /// Works on the data, which is as the last holder left it. `None`, for ever, in a process that was forked while another
    /// thread of its parent was at work.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        struct Held<'a>(&'a AtomicU32);
        impl Drop for Held<'_> {
            fn drop(&mut self) {
                self.0.store(0, Release);
            }
        }
        let process = process();
        let mut attempt = 0;
        // Acquire, paired with the release: the data are what the last holder left.
        while let Err(holder) = self.holder.compare_exchange(0, process, Acquire, Relaxed) {
            if holder != process {
                return None;
            }
            wait(attempt);
            attempt = attempt.saturating_add(1);
        }
        let _held = Held(&self.holder);
        // SAFETY: this thread alone holds the lock, until the end of this function.
        Some(self.data.with_mut(|data| work(unsafe { &mut *data })))
    }
}

/// The holders are short of work, so that one that does not come to an end is one that does not run.
fn wait(attempt: u32) {
    if cfg!(loom) || attempt < 1000 {
        crate::platform::atomics::pause(attempt);
    } else {
        // Also a holder of a lower priority than ours has to run.
        nap();
    }
}

/// Sleeps for 50 µs. Not by `sleep`, which is a cancellation point: a thread that `pthread_cancel` unwinds here would end the process.
/// On Linux the wait for a condition that never comes is none.
fn nap() {
    use std::sync::{Condvar, Mutex, PoisonError};
    let (nothing, never) = (Mutex::new(()), Condvar::new());
    let guard = nothing.lock().unwrap_or_else(PoisonError::into_inner);
    drop(never.wait_timeout(guard, std::time::Duration::from_micros(50)));
}

#[cfg(all(test, not(loom)))]
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
    fn what_another_process_holds_is_refused() {
        let lock = Lock::new(7);
        lock.holder.store(process() + 1, Relaxed);
        assert_eq!(lock.with(|data| *data), None);
        lock.holder.store(0, Relaxed);
        assert_eq!(lock.with(|data| *data), Some(7));
    }

    #[test]
    fn a_panic_releases() {
        let lock = Lock::new(7);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lock.with(|_| panic!("this panic is part of a test"));
        }));
        assert!(panicked.is_err());
        assert_eq!(lock.with(|data| *data), Some(7));
    }
}
