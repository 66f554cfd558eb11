//! Tests the command from outside.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

mod baselines;
#[path = "../../../export/src/http/otlp/tests/peer.rs"]
mod collector;
mod common;
mod counts;
mod exemplars;
mod figures;
mod following;
mod machine;
mod manual;
mod pty;
mod segments;
mod serve;
mod stat;
mod top;
