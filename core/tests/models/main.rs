//! Histograms, one thread, and naive models of what they must contain.

#[path = "../common/mod.rs"]
mod common;

mod doubles;
mod identity;
mod modes;
mod oracle;
mod units;
mod wraps;
