//! Atomics, from wherever the build has them: the hardware, critical sections, or loom's model of the hardware.
//!
//! Everything else in the crate takes atomics from here. Targets without 64-bit atomics, or without compare-and-swap,
//! use `critical-section` for exactly the operations they lack. The build script (`build.rs`) decides which those are.
//! For tests, it can treat any target as such a target.

/// Makes a function `const`, except for loom, whose atomics cannot be made at compile time.
macro_rules! const_unless_loom {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        $(#[$attribute])* #[cfg(not(loom))] $visibility const fn $($rest)*
        $(#[$attribute])* #[cfg(loom)] $visibility fn $($rest)*
    };
}
pub(crate) use const_unless_loom;

/// Whether the 64-bit cells are plain memory that one instruction reads and writes.
pub(crate) const HAS_ATOMIC_64: bool = cfg!(not(picollo_critical_64));

#[cfg(not(loom))]
mod chosen {
    #[cfg(picollo_critical_64)]
    pub use crate::platform::critical::AtomicU64;
    #[cfg(not(picollo_critical_64))]
    pub use core::sync::atomic::AtomicU64;

    #[cfg(all(picollo_critical_32, feature = "alloc"))]
    pub(crate) use crate::platform::critical::words::AtomicPtr;
    #[cfg(picollo_critical_32)]
    pub use crate::platform::critical::words::{AtomicU32, AtomicUsize};
    #[cfg(all(not(picollo_critical_32), feature = "alloc"))]
    pub(crate) use core::sync::atomic::AtomicPtr;
    #[cfg(not(picollo_critical_32))]
    pub use core::sync::atomic::{AtomicU32, AtomicUsize};

    pub(crate) use core::sync::atomic::{Ordering, fence};
}

#[cfg(loom)]
mod chosen {
    pub(crate) use loom::sync::atomic::{AtomicPtr, Ordering, fence};
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
}

#[cfg(feature = "alloc")]
pub(crate) use chosen::AtomicPtr;
pub use chosen::{AtomicU32, AtomicU64};
pub(crate) use chosen::{AtomicUsize, Ordering, fence};
#[cfg(all(feature = "std", loom))]
pub(crate) use loom::cell::UnsafeCell;

/// Has the interface of loom's cell, which checks that no access overlaps.
#[cfg(all(feature = "std", not(loom)))]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(all(feature = "std", not(loom)))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(data))
    }

    pub(crate) fn with_mut<R>(&self, work: impl FnOnce(*mut T) -> R) -> R {
        work(self.0.get())
    }
}

/// Waits for a thread that may not run. It calls [`pause`] for the first attempts; then, if there are threads, it
/// sleeps, so that a thread of lower priority can run, too.
#[cfg_attr(not(all(feature = "std", not(loom))), allow(dead_code, reason = "without threads nobody sleeps"))]
pub(crate) fn wait(attempt: u32, awake: u32) {
    #[cfg(all(feature = "std", not(loom)))]
    if attempt >= awake {
        return nap();
    }
    let _ = awake;
    pause(attempt);
}

/// Sleeps for 50 µs. It does not use `sleep`, a cancellation point: a thread that `pthread_cancel` unwinds here would
/// end the process. On Linux, this wait for a condition that never comes is not a cancellation point.
#[cfg(all(feature = "std", not(loom)))]
fn nap() {
    use std::sync::{Condvar, Mutex, PoisonError};
    let (nothing, never) = (Mutex::new(()), Condvar::new());
    let guard = nothing.lock().unwrap_or_else(PoisonError::into_inner);
    drop(never.wait_timeout(guard, std::time::Duration::from_micros(50)));
}

/// Waits a little before the next look: first on the core, then, if there is a scheduler, by letting others run.
pub(crate) fn pause(attempt: u32) {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(all(feature = "std", not(loom)))]
    if attempt >= 64 {
        std::thread::yield_now();
        return;
    }
    let _ = attempt;
    core::hint::spin_loop();
}
