//! Expositions in Protocol Buffers, read back by a decoder of a few lines, validated, and compared with naive counting.
#![cfg(not(loom))]

mod buckets;
mod differences;
mod message;
mod metrics;
mod naive;
mod read;
