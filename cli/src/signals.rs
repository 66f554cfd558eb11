//! Ending in an orderly way, on SIGINT and SIGTERM.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::time::Duration;

/// The signals that end a command, from when this was made: in this thread and those that it starts later they wait until they are asked for.
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    pub(crate) fn new() -> Blocked {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is made before it is used, and lives on the stack.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), null_mut());
            Blocked(set.assume_init())
        }
    }

    /// Waits for one of them, or until the time is over: whether one came.
    pub(crate) fn wait(&self, time: Option<Duration>) -> bool {
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
                return result >= 0;
            }
        }
    }
}
