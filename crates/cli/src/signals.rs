//! Ends in an orderly way on SIGINT, SIGTERM and SIGHUP, and waits for ends of intervals unless one arrives.

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// The signals that end a command.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Blocks signals: from now on, they wait until requested, in this thread and in those that it starts later.
#[derive(Clone, Copy)]
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    pub(crate) fn new() -> Blocked {
        Blocked::block(&ENDING)
    }

    pub(crate) fn block(signals: &[libc::c_int]) -> Blocked {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialized before use, and lives on the stack.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in signals {
                // A blocked signal arrives even if it is ignored. Under `nohup`, SIGHUP must stay ignored.
                if signal != libc::SIGHUP || !is_ignored(signal) {
                    libc::sigaddset(set.as_mut_ptr(), signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), null_mut());
            Blocked(set.assume_init())
        }
    }

    /// Unblocks the signals. One that arrived meanwhile ends this process.
    pub(crate) fn unblock(&self) {
        // SAFETY: the set is initialized.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const self.0, null_mut()) };
    }

    /// Waits for a signal or the end of the time. Returns whether a signal arrived.
    pub(crate) fn wait(&self, time: Option<Duration>) -> bool {
        self.next(time).is_some()
    }

    /// Runs work that may block forever, such as writing to an unread pipe. A signal ends the process meanwhile.
    pub(crate) fn released<R>(&self, work: impl FnOnce() -> R) -> R {
        extern "C" fn end(_: libc::c_int) {
            // SAFETY: this ends the process, and runs nothing that could wait.
            unsafe { libc::_exit(0) };
        }
        let handler = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler calls only async-signal-safe functions; the set is initialized.
        unsafe {
            for signal in
                ENDING.into_iter().filter(|&signal| libc::sigismember(&raw const self.0, signal) == 1)
            {
                libc::signal(signal, handler);
            }
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const self.0, null_mut());
        }
        let done = work();
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const self.0, null_mut()) };
        done
    }

    /// Waits for a signal or the end of the time. Returns the signal that arrived.
    pub(crate) fn next(&self, time: Option<Duration>) -> Option<libc::c_int> {
        loop {
            let result = match time {
                // SAFETY: the set is initialized, and null is allowed for the signal's details.
                None => unsafe { libc::sigwaitinfo(&raw const self.0, null_mut()) },
                Some(time) => {
                    let time = libc::timespec {
                        tv_sec: time.as_secs() as _,
                        tv_nsec: time.subsec_nanos() as libc::c_long,
                    };
                    // SAFETY: as above; the time is on the stack.
                    unsafe { libc::sigtimedwait(&raw const self.0, null_mut(), &raw const time) }
                }
            };
            let is_interrupted = std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
            if result >= 0 || !is_interrupted {
                return Some(result).filter(|&signal| signal >= 0);
            }
        }
    }
}

/// Whether this process inherited an ignored signal.
fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: this changes nothing and writes to the stack; all zeros are the default action.
    unsafe {
        libc::sigaction(signal, null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Waits for the ends of intervals. Work in between does not shift them.
pub(crate) struct Pace {
    pub(crate) blocked: Blocked,
    interval: Duration,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(blocked: Blocked, interval: Duration) -> Pace {
        Pace { blocked, interval, next: Instant::now() + interval }
    }

    /// Waits for the end of the interval. Returns whether a signal or the final end came first.
    pub(crate) fn wait_until(&mut self, end: Option<Instant>) -> bool {
        let now = Instant::now();
        while self.next <= now {
            // After missed ends, the current interval is longer.
            self.next += self.interval;
        }
        let until = end.map_or(self.next, |end| end.clamp(now, self.next));
        let is_last = self.blocked.wait(Some(until - now)) || end.is_some_and(|end| until >= end);
        self.next += self.interval;
        is_last
    }
}
