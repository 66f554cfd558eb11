//! Clocks and performance counters: all that touches the OS or the CPU.
//!
//! - [`Clock`] and [`Unit`]: the monotonic clock and the CPU's time stamp counter, with exact conversion.
//! - [`Event`], [`Session`]: performance counters of the Linux kernel, opened together, read together, each feeding a
//!   histogram of its own.
//! - [`benchmark()`]: which of two pieces of code is faster.
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

#![cfg_attr(not(feature = "std"), no_std)]
// An error carries its explanation by value: the paths that build one must not allocate, and none of them is hot.
#![allow(clippy::result_large_err)]

// Counting is done by Linux. Elsewhere, and without `std`, the calls that the C interface makes are there as well, and the answer
// is `Unsupported`; `elsewhere/` holds what answers so. What shows Linux itself is there on Linux only: [`Sys`] and what takes one
// (`with_sys`, `parse_with`, `probe_with`), the kernel's structures, events by the kernel's numbers, overheads and slopes.
#[cfg(picollo_linux)]
mod attr;
#[cfg_attr(not(feature = "std"), path = "elsewhere/benchmark.rs")]
pub mod benchmark;
#[cfg(picollo_linux)]
mod blame;
mod cancel;
mod clock;
#[cfg(picollo_linux)]
mod control;
#[cfg(picollo_linux)]
mod diagnose;
mod error;
mod event;
#[cfg(picollo_linux)]
mod fast;
#[cfg(picollo_linux)]
mod fault;
#[cfg(picollo_linux)]
mod group;
#[cfg(picollo_linux)]
mod history;
#[cfg(picollo_linux)]
mod hybrid;
#[cfg(picollo_linux)]
mod kernel;
#[cfg(picollo_linux)]
mod machine;
#[cfg(all(test, picollo_linux))]
mod model;
#[cfg(picollo_linux)]
mod names;
#[cfg(picollo_linux)]
mod open;
mod options;
#[cfg(picollo_linux)]
mod overhead;
#[cfg(picollo_linux)]
mod page;
#[cfg_attr(not(picollo_linux), path = "elsewhere/event.rs")]
mod parse;
mod perf_info;
#[cfg(picollo_linux)]
mod pinning;
#[cfg(picollo_linux)]
mod pmc;
#[cfg(picollo_linux)]
mod policy;
#[cfg(picollo_linux)]
mod probe;
#[cfg(picollo_linux)]
mod read;
mod reading;
#[cfg(picollo_linux)]
mod sampling;
#[cfg(picollo_linux)]
mod scale;
#[cfg_attr(not(picollo_linux), path = "elsewhere/session.rs")]
mod session;
#[cfg(picollo_linux)]
mod slope;
#[cfg(picollo_linux)]
mod substitute;
#[cfg(picollo_linux)]
mod sys;
#[cfg(picollo_linux)]
mod sysfs;
mod text;
#[cfg(picollo_linux)]
mod thread;
#[cfg(picollo_linux)]
mod trial;
#[cfg_attr(not(picollo_linux), path = "elsewhere/tsc.rs")]
mod tsc;
#[cfg_attr(not(picollo_linux), path = "elsewhere/wall.rs")]
mod wall;
#[cfg(picollo_linux)]
mod whom;
pub mod work;

#[cfg(feature = "std")]
pub use benchmark::benchmark;
pub use benchmark::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_NO_OVERHEAD, BENCHMARK_NOTHING_A, BENCHMARK_NOTHING_B, Benchmark,
    BenchmarkCounter, BenchmarkOptions, BenchmarkResult, Side, Step,
};
pub use cancel::Uncancelled;
pub use clock::{Clock, Scope, Unit, unix_nanos};
pub use error::{Error, Result, Status};
pub use event::{
    EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE,
    EVENT_PRECISE_MASK, EVENT_USER, Event,
};
#[cfg(picollo_linux)]
pub use kernel::{Attr, Page};
pub use options::{
    MAX_EVENTS, ReadMode, SESSION_DISABLED, SESSION_INHERIT, SESSION_KERNEL, SESSION_ON_CPU, SESSION_ORDERED,
    SESSION_PINNED, SESSION_SKIP_UNAVAILABLE, SESSION_SUBTRACT, SESSION_SYSCALL_ONLY, SessionOptions,
};
#[cfg(picollo_linux)]
pub use overhead::Overhead;
#[cfg(not(picollo_linux))]
pub use parse::probe;
pub use perf_info::PerfInfo;
#[cfg(picollo_linux)]
pub use probe::{probe, probe_with};
pub use reading::{
    EVENT_INFO_FAST, EVENT_INFO_SILENT, EVENT_INFO_SUBSTITUTED, EVENT_INFO_UNPINNED, EVENT_INFO_USER_ONLY,
    EventInfo, READING_CLEAN, READING_FAST, READING_RESYNC, READING_SCALED, READING_TIMES_STALE, Reading,
};
pub use session::Session;
#[cfg(picollo_linux)]
pub use slope::Slope;
#[cfg(picollo_linux)]
pub use sys::{Errno, Kernel, Sys};
#[cfg(picollo_linux)]
pub use tsc::TscState;

/// The Rust example of the README, kept working.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
