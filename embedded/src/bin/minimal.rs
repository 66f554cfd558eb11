//! The smallest use: a histogram in a static, recorded into, and one count read back. Its size is what recording costs.
#![no_std]
#![no_main]

use board::Tests;
use picollo_core::{AtomicU32, Histogram, Layout, Since, Snapshot};

const LAYOUT: Layout = Layout::new(0.05, 0, 65_535);
static LATENCY: Histogram<[AtomicU32; LAYOUT.length()]> = Histogram::new(LAYOUT);

#[unsafe(no_mangle)]
fn tick() {}

#[unsafe(no_mangle)]
fn program() -> u32 {
    for value in 0..1000 {
        LATENCY.record(value);
    }
    let mut snapshot: Snapshot<[u64; LAYOUT.snapshot_words()]> = Snapshot::new(LAYOUT);
    let updated = snapshot.update(&*LATENCY, Since::Reset).is_ok();
    let mut tests = Tests::default();
    tests.check(updated && snapshot.counts().total == 1000, format_args!("1000 values are counted"));
    tests.finish()
}
