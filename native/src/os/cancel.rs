//! Deferring `pthread_cancel`.
//!
//! A canceled thread forcibly unwinds its stack from within the next cancellation point: `open`, `read`, `close`,
//! `nanosleep` and more. Rust's frames on the way do not survive that, and the process would abort. So functions that C
//! calls and that may reach such a point defer cancellation: it acts later, in the caller's own code.
//!
//! It costs about 25 ns. Readings of counters do not need it: their one system call is no cancellation point.

/// Defers the cancellation of the calling thread as long as it lives. Without cancellation it does nothing.
#[derive(Debug)]
pub struct Uncancelled {
    #[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
    before: core::ffi::c_int,
    /// Not `Send`: the state belongs to a thread.
    _thread: core::marker::PhantomData<*const ()>,
}

#[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
mod c {
    use core::ffi::c_int;

    pub const DISABLE: c_int = 1;

    unsafe extern "C" {
        pub fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    }
}

impl Uncancelled {
    /// Defers cancellation from now on.
    #[must_use]
    #[inline]
    #[allow(clippy::new_without_default)] // nothing about it is a default
    pub fn new() -> Uncancelled {
        #[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
        {
            let mut before = 0;
            // SAFETY: the call writes the live variable, and cannot fail for a valid state.
            unsafe { c::pthread_setcancelstate(c::DISABLE, &raw mut before) };
            Uncancelled { before, _thread: core::marker::PhantomData }
        }
        #[cfg(not(all(picollo_linux, any(target_env = "gnu", target_env = "musl"))))]
        Uncancelled { _thread: core::marker::PhantomData }
    }
}

#[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
impl Drop for Uncancelled {
    #[inline]
    fn drop(&mut self) {
        let mut unused = 0;
        // SAFETY: restores the previous state. (musl requires the pointer. A pending cancellation does not act here,
        // since setting the state is no cancellation point.)
        unsafe { c::pthread_setcancelstate(self.before, &raw mut unused) };
    }
}

#[cfg(all(test, picollo_linux, any(target_env = "gnu", target_env = "musl")))]
mod tests {
    use super::*;

    /// Sets this state and returns the previous one.
    fn state(new: core::ffi::c_int) -> core::ffi::c_int {
        let mut before = -1;
        // SAFETY: the call writes the live variable.
        unsafe { c::pthread_setcancelstate(new, &raw mut before) };
        before
    }

    #[test]
    fn states_nest() {
        assert_eq!(state(0), 0);
        {
            let _outer = Uncancelled::new();
            {
                let _inner = Uncancelled::new();
                assert_eq!(state(c::DISABLE), c::DISABLE);
            }
            assert_eq!(state(c::DISABLE), c::DISABLE);
        }
        assert_eq!(state(0), 0);
    }
}
