//! Clocks and performance counters: all that touches the OS or the CPU.
//!
//! - [`Clock`] and [`Unit`]: the monotonic clock and the CPU's time stamp counter, with exact conversion.
//! - [`Event`], [`Session`]: performance counters of the Linux kernel, opened together, read together, each feeding a
//!   histogram of its own.
//! - [`probe`]: what this machine can count, and what to change so that it can count more.
//! - [`work`]: known work to check all of them against.
//!
//! ```
//! use picollo_native::{Event, ReadMode, Reading, SESSION_SKIP_UNAVAILABLE, Session, SessionOptions, work};
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
//! # Ok::<(), picollo_native::Error>(())
//! ```

// An error carries its explanation by value: the paths that build one must not allocate, and none of them is hot.
#![allow(clippy::result_large_err)]

mod attr;
mod clock;
mod control;
mod diagnose;
mod error;
mod event;
mod fast;
mod fault;
mod group;
mod hybrid;
mod kernel;
mod machine;
#[cfg(test)]
mod model;
mod names;
mod open;
mod options;
mod overhead;
mod page;
mod pmc;
mod probe;
mod read;
mod reading;
mod sampling;
mod scale;
mod session;
mod slope;
mod substitute;
mod sys;
mod sysfs;
mod text;
mod thread;
mod tsc;
pub mod work;

pub use clock::{Clock, Scope, Unit, unix_nanos};
pub use error::{Error, Result, Status};
pub use event::{
    EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE,
    EVENT_PRECISE_MASK, EVENT_USER, Event,
};
pub use group::MAX_EVENTS;
pub use kernel::{Attr, Page};
pub use options::{
    ReadMode, SESSION_DISABLED, SESSION_INHERIT, SESSION_KERNEL, SESSION_ON_CPU, SESSION_ORDERED,
    SESSION_PINNED, SESSION_SKIP_UNAVAILABLE, SESSION_SUBTRACT, SessionOptions,
};
pub use overhead::Overhead;
pub use probe::{PerfInfo, probe, probe_with};
pub use reading::{
    EVENT_INFO_FAST, EVENT_INFO_SILENT, EVENT_INFO_SUBSTITUTED, EVENT_INFO_UNPINNED, EVENT_INFO_USER_ONLY,
    EventInfo, READING_CLEAN, READING_FAST, READING_RESYNC, READING_SCALED, READING_TIMES_STALE, Reading,
};
pub use session::Session;
pub use slope::Slope;
pub use sys::{Errno, Kernel, Sys};
pub use tsc::TscState;

/// The Rust example of the README, kept working.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
