//! Performance counters of the Linux kernel.
//!
//! - [`Event`], [`Session`]: counters that are opened and read together, each with a separate histogram.
//! - [`probe`]: what this machine can count, and what to change so that it can count more.
//!
//! ```
//! use picollo_native::work;
//! use picollo_perf::{Event, ReadMode, Reading, SESSION_SKIP_UNAVAILABLE, Session, SessionOptions};
//!
//! let events = [Event::parse("task-clock")?, Event::parse("instructions")?];
//! // Where there is no PMU, `instructions` stays as an entry that says why.
//! let options = SessionOptions { flags: SESSION_SKIP_UNAVAILABLE, ..SessionOptions::default() };
//! let mut session = Session::create(&options, &events)?;
//! for _ in 0..100 {
//!     work::add_chain_256(10);
//!     session.read(ReadMode::Auto)?;
//!     session.record(true)?;
//! }
//! let mut readings = [Reading::default(); 2];
//! session.readings(false, &mut readings)?;
//! for (index, reading) in readings.iter().enumerate() {
//!     match reading.is_counted() {
//!         true => println!("{}: {}", session.event(index)?.name(), reading.value),
//!         false => println!("{}", session.event_info(index)?.message()),
//!     }
//! }
//! assert!(readings[0].value > 0);
//! # Ok::<(), picollo_native::ExplainedError>(())
//! ```

#![cfg_attr(not(feature = "std"), no_std)]
// An error carries its explanation by value: code that builds one must not allocate, and none of it is hot.
#![allow(clippy::result_large_err)]
// The main file of a module has the module's name.
#![allow(clippy::module_inception)]

// Counting is done by Linux. Elsewhere, and without `std`, the calls that the C interface makes are there as well, and the answer
// is `Unsupported`; `elsewhere/` holds what answers so. What shows Linux itself is there on Linux only: events by the kernel's numbers,
// and what tests stand in for (`seam`).
mod event;
mod machine;
#[cfg(picollo_linux)]
mod opening;
mod session;
/// For tests: each part is used somewhere.
#[cfg(all(test, picollo_linux))]
#[path = "../../../native/tests/common/system.rs"]
pub(crate) mod testing;
#[cfg(picollo_linux)]
mod user_read;

pub use event::event::{Event, MAX_EVENTS};
pub use event::info::{
    EVENT_INFO_FAST, EVENT_INFO_SILENT, EVENT_INFO_SUBSTITUTED, EVENT_INFO_UNPINNED, EVENT_INFO_USER_ONLY,
    EventInfo,
};
pub use event::modifiers::{
    EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE,
    EVENT_PRECISE_MASK, EVENT_USER,
};
#[cfg(picollo_linux)]
pub use event::named::processor_events;
#[cfg(picollo_linux)]
pub use event::parse::did_you_mean;
#[cfg(not(picollo_linux))]
pub use event::parse::probe;
#[cfg(picollo_linux)]
pub use event::pfm::ListedEvent;
pub use machine::perf_info::PerfInfo;
pub use machine::place::Place;
#[cfg(picollo_linux)]
pub use opening::probe::probe;
pub use session::options::{
    ReadMode, SESSION_DISABLED, SESSION_INHERIT, SESSION_KERNEL, SESSION_ON_CPU, SESSION_ORDERED,
    SESSION_PINNED, SESSION_SKIP_UNAVAILABLE, SESSION_SUBTRACT, SESSION_SYSCALL_ONLY, SessionOptions,
};
pub use session::reading::{
    READING_CLEAN, READING_FAST, READING_RESYNC, READING_SCALED, READING_TIMES_STALE, Reading,
};
pub use session::session::Session;

/// What other crates need of this one, and the layer between sessions and the machine, for tests that replace the machine,
/// through `SessionOn::with_sys`, `Event::parse_with` and `probe_with`. None of it is part of the interface; it changes
/// without notice.
#[cfg(picollo_linux)]
#[doc(hidden)]
pub mod seam {
    pub use crate::event::pfm::{Encoded, Library, NoLibrary, Pfm, Refusal};
    pub use crate::machine::diagnose;
    pub use crate::opening::probe::probe_with;
    pub use crate::session::session::{SessionOn, counts_in_kernel, descriptor};
    pub use crate::user_read::sys::{Cpu, PmcSource, Policy, Sys, UserReads};
    pub use crate::user_read::trial::Finding;
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
