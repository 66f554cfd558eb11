//! The system below the other crates: clocks, known work, errors.
//!
//! - [`Clock`] and [`TimeUnit`]: the monotonic clock and the CPU's time stamp counter, with exact conversion.
//! - [`work`]: known work to check clocks and counters against.
//! - [`ExplainedError`], [`Status`]: why a call failed, with its explanation.

#![cfg_attr(not(feature = "std"), no_std)]
// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]

// Without `std` there is no clock. `elsewhere/` holds what other systems have.
mod base;
mod clock;
#[allow(missing_docs)] // only the hidden `seam` exposes it: the kernel's constants have the kernel's names
mod os;
pub mod work;

pub use base::error::{ExplainedError, Result, Status};
pub use clock::{Clock, Scope, TimeUnit, unix_nanos};
pub use os::cancel::Uncancelled;

/// What the crates around this one need of it. None of it is part of the interface; it changes without notice.
#[doc(hidden)]
pub mod seam {
    #[cfg(not(picollo_linux))]
    pub use crate::base::refused::refused;
    pub use crate::base::text;
    #[cfg(feature = "std")]
    pub use crate::base::vectors;
    pub use crate::clock::{convert_ticks, tsc};
    pub use crate::failure;
    #[cfg(picollo_linux)]
    pub use crate::os::kernel::{Attr, Page};
    #[cfg(picollo_linux)]
    pub use crate::os::sys::{Errno, Files, Kernel, Perf, Threads};
    pub use crate::os::wall;
    #[cfg(picollo_linux)]
    pub use crate::os::{groups, kernel, sys, thread};
    #[cfg(feature = "std")]
    pub use crate::os::{pressure, valgrind};
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
