//! Ending in an orderly way, on SIGINT, SIGTERM and SIGHUP; and waiting for the ends of intervals, until one of them comes.

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// Those that end a command.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Signals, from when this was made: in this thread and those that it starts later they wait until they are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    pub(crate) fn new() -> Blocked {
        Blocked::of(&ENDING)
    }

    pub(crate) fn of(signals: &[libc::c_int]) -> Blocked {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is made before it is used, and lives on the stack.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in signals {
                // What waits for a signal gets it although it is ignored, and `nohup` means that this goes on without its terminal.
                if signal != libc::SIGHUP || !is_ignored(signal) {
                    libc::sigaddset(set.as_mut_ptr(), signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), null_mut());
            Blocked(set.assume_init())
        }
    }

    /// From now on they are what they were before: one that came meanwhile ends this process.
    pub(crate) fn unblock(&self) {
        // SAFETY: the set is whole.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const self.0, null_mut()) };
    }

    /// Waits for one of them, or until the time is over: whether one came.
    pub(crate) fn wait(&self, time: Option<Duration>) -> bool {
        self.next(time).is_some()
    }

    /// Does what may have to wait for somebody who never comes, as a pipe that nobody reads: a signal ends the process meanwhile.
    pub(crate) fn released<R>(&self, work: impl FnOnce() -> R) -> R {
        extern "C" fn end(_: libc::c_int) {
            // SAFETY: ends the process, and runs nothing that could wait.
            unsafe { libc::_exit(0) };
        }
        let handler = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler calls nothing but what handlers may; the set is whole.
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

    /// Waits for one of them, or until the time is over: which one came.
    pub(crate) fn next(&self, time: Option<Duration>) -> Option<libc::c_int> {
        loop {
            let result = match time {
                // SAFETY: the set is whole, and nobody wants to know more of the signal.
                None => unsafe { libc::sigwaitinfo(&raw const self.0, null_mut()) },
                Some(time) => {
                    let time = libc::timespec {
                        tv_sec: time.as_secs() as libc::time_t,
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

/// Whether whoever started this had it ignore a signal.
fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed, and what there is is written to the stack; of zeros it would be the default.
    unsafe {
        libc::sigaction(signal, null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Waits for the ends of intervals, which are not put off by what is done in between.
pub(crate) struct Pace {
    pub(crate) blocked: Blocked,
    interval: Duration,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(blocked: Blocked, interval: Duration) -> Pace {
        Pace { blocked, interval, next: Instant::now() + interval }
    }

    /// Waits for the end of the interval; whether a signal came before, or the end of all.
    pub(crate) fn wait_until(&mut self, end: Option<Instant>) -> bool {
        let now = Instant::now();
        while self.next <= now {
            // Some were missed: the one that runs is longer.
            self.next += self.interval;
        }
        let until = end.map_or(self.next, |end| end.clamp(now, self.next));
        let is_last = self.blocked.wait(Some(until - now)) || end.is_some_and(|end| until >= end);
        self.next += self.interval;
        is_last
    }
}
