//! The smallest use: a histogram in a static, into which only the program records, and one count read back. Its size is
//! the cost of recording.
#![no_std]
#![no_main]

use board::Tests;
use picollo_core::layouts::AtomicU32;
use picollo_core::recorders::SingleWriter;
use picollo_core::{Histogram, Layout, Since, Snapshot};

const LAYOUT: Layout = Layout::new(0.05, 0, 65_535);
static mut LATENCY: Histogram<[AtomicU32; LAYOUT.length()], SingleWriter> = Histogram::new(LAYOUT);

#[unsafe(no_mangle)]
extern "C" fn tick() {}

#[unsafe(no_mangle)]
extern "C" fn main() -> u32 {
    // SAFETY: `main` runs once, and nobody else uses the static.
    let latency = unsafe { &mut *(&raw mut LATENCY) };
    for value in 0..1000 {
        latency.record(value);
    }
    let mut snapshot: Snapshot<[u64; LAYOUT.snapshot_words()]> = Snapshot::new(LAYOUT);
    let updated = snapshot.update(&**latency, Since::Reset).is_ok();
    let mut tests = Tests::default();
    tests.check(updated && snapshot.counts().total == 1000, format_args!("1000 values are counted"));
    tests.finish()
}
