//! The C interface: one folder for each header of `include/`, and what they share.
//!
//! `picollo/` is `picollo.h`, `perf/` is `picollo_perf.h`, and so on. The documentation of a folder's `mod.rs` is the head of its header.
//! The modules of a folder are the sections, in the order of `mod.rs`. `ci/describe.sh` writes the headers.

#![cfg_attr(not(feature = "std"), no_std)]
// Without std, functions that need the heap are left out.
#![cfg_attr(not(feature = "std"), allow(unused_imports))]
// Types and functions carry their C names, so that this reads like the header that is generated from it.
#![allow(non_camel_case_types)]
// The header has this under "Requires" and "Ownership".
#![allow(clippy::missing_safety_doc)]
// Exported functions pass on the promises of their callers. An unsafe block has another reason, which its comment gives.
#![allow(unsafe_op_in_unsafe_fn)]
// An error carries its explanation by value, because the paths that build one must not allocate. No such path is hot.
#![allow(clippy::result_large_err)]

mod argument;
mod counted;
mod failure;
mod guard;
mod layout;
mod memory;
mod options;
mod snapshot_block;
#[cfg(not(all(feature = "std", target_os = "linux")))]
mod without;
#[cfg(not(feature = "std"))]
mod without_std;

// One folder for each header.
mod compare;
mod counter;
#[cfg(feature = "std")]
mod double;
mod log;
#[cfg(feature = "std")]
mod metrics;
mod perf;
mod picollo;
mod picture;
#[cfg(all(feature = "std", target_os = "linux"))]
mod segment;
#[cfg(all(feature = "std", target_os = "linux"))]
mod why;

// Modules of headers use each other without naming folders.
use compare::*;
#[cfg(feature = "std")]
use double::*;
use log::*;
#[cfg(feature = "std")]
use metrics::*;
use perf::*;
use picollo::*;
#[cfg(all(feature = "std", target_os = "linux"))]
use why::*;
