//! Holding off `pthread_cancel`.
//!
//! A thread that is cancelled unwinds its stack by force from within the next cancellation point: `open`, `read`, `close`, `nanosleep`
//! and more. Rust's frames on the way do not survive that; the process would be aborted. So whoever is called from C and may come
//! to such a point holds cancellation off meanwhile: it stays pending, and acts in the caller's own code.
//!
//! It costs some 25 ns. Readings of counters do without: they make their one system call in a way that is no cancellation point.

/// Holds off the cancellation of the calling thread as long as it lives. Where there is no such thing, it does nothing.
#[derive(Debug)]
pub struct Uncancelled {
    #[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
    before: core::ffi::c_int,
    /// Not to be sent: the state is a thread's own.
    _thread: core::marker::PhantomData<*const ()>,
}

#[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
mod c {
    use core::ffi::c_int;

    pub(crate) const DISABLE: c_int = 1;

    unsafe extern "C" {
        pub(crate) fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    }
}

impl Uncancelled {
    /// From now on.
    #[must_use]
    #[inline]
    #[allow(clippy::new_without_default)] // nothing about it is a default
    pub fn new() -> Uncancelled {
        #[cfg(all(picollo_linux, any(target_env = "gnu", target_env = "musl")))]
        {
            let mut before = 0;
            // SAFETY: writes the live variable; cannot fail for a state that exists.
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
        // SAFETY: sets what was in force before. (musl wants the pointer; a cancellation that is pending does not act here, since
        // the state alone is no cancellation point.)
        unsafe { c::pthread_setcancelstate(self.before, &raw mut unused) };
    }
}

#[cfg(all(test, picollo_linux, any(target_env = "gnu", target_env = "musl")))]
mod tests {
    use super::*;

    /// Sets the state that there is, and says which it was.
    fn state(new: core::ffi::c_int) -> core::ffi::c_int {
        let mut before = -1;
        // SAFETY: writes the live variable.
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
