//! Deferring `pthread_cancel`.
//!
//! A canceled thread forcibly unwinds its stack from within the next cancellation point: `open`, `read`, `close`,
//! `nanosleep` and more. Rust's frames on the way do not survive that, and the process would abort. So functions that C
//! calls and that may reach such a point defer cancellation: it acts later, in the caller's own code.
//!
//! It costs about 25 ns. Readings of counters do not need it: their one system call is no cancellation point.

use core::ffi::c_int;

/// `PTHREAD_CANCEL_DISABLE`.
const DISABLE: c_int = 1;

/// Sets the calling thread's state of cancellation, and returns the previous one.
#[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
#[inline]
fn set_state(state: c_int) -> c_int {
    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    }
    let mut before = 0;
    // SAFETY: the call writes the live variable, and cannot fail for a valid state. It is no cancellation point itself.
    unsafe { pthread_setcancelstate(state, &raw mut before) };
    before
}

/// There is no cancellation here.
#[cfg(not(all(picollo_linux, any(target_env = "gnu", target_env = "musl"))))]
fn set_state(_: c_int) -> c_int {
    0
}

/// Defers the cancellation of the calling thread as long as it lives. Without cancellation it does nothing.
#[derive(Debug)]
pub struct Uncancelled {
    before: c_int,
    /// Not `Send`: the state belongs to a thread.
    _thread: core::marker::PhantomData<*const ()>,
}

impl Uncancelled {
    /// Defers cancellation from now on.
    #[must_use]
    #[inline]
    #[allow(clippy::new_without_default)] // nothing about it is a default
    pub fn new() -> Uncancelled {
        Uncancelled { before: set_state(DISABLE), _thread: core::marker::PhantomData }
    }
}

impl Drop for Uncancelled {
    #[inline]
    fn drop(&mut self) {
        set_state(self.before);
    }
}

#[cfg(all(test, picollo_linux, any(target_env = "gnu", target_env = "musl")))]
mod tests {
    use super::*;

    #[test]
    fn states_nest() {
        assert_eq!(set_state(0), 0);
        {
            let _outer = Uncancelled::new();
            {
                let _inner = Uncancelled::new();
                assert_eq!(set_state(DISABLE), DISABLE);
            }
            assert_eq!(set_state(DISABLE), DISABLE);
        }
        assert_eq!(set_state(0), 0);
    }
}
