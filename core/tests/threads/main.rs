//! Histograms and threads that record, read, reset, come and go.

#[path = "../common/mod.rs"]
mod common;

mod beside_resets;
mod doubles;
mod entries;
mod shards;
mod single_writer;
mod sparse;
mod stress;
