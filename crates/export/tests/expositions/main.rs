//! Reads expositions in Protocol Buffers with a small decoder, validates them, and compares them with naive counting.
#![cfg(not(loom))]

mod buckets;
mod differences;
mod message;
mod metrics;
mod naive;
mod powers;
mod read;
