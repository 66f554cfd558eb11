//! Histograms, one thread, and naive models of what they must contain.

mod doubles;
mod identity;
mod modes;
mod oracle;
mod units;
mod wraps;
