//! Picollo: performance counters.
//!
//! A session counts events of the processor and the kernel, such as cycles, branch misses and page faults. Each event
//! has its own histogram. The first functions to know, by task:
//!
//! - Ask what this machine can count: picollo_perf_probe.
//! - Count: picollo_session_open, _read, _record, _free.
//! - Read the results: picollo_session_histogram_ref, _event.
//! - Check a clock or a counter: picollo_work_add_chain_256.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod event;

pub mod session;

pub mod work;

pub mod session_options;
