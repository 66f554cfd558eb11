//! Code that the tests share.
#![allow(dead_code, unused_imports, unused_macros)] // each test program uses its own part

#[path = "../../../../native/tests/common/harness.rs"]
mod harness;
pub use harness::*;

use picollo_core::{Since, SingleWriterHistogram, Snapshot};
use picollo_native::Clock;
use picollo_perf::{Event, ReadMode, Reading, Session, SessionOptions};

/// All readings of a session.
pub fn readings(session: &Session, deltas: bool) -> Vec<Reading> {
    let mut out = vec![Reading::default(); session.length().unwrap()];
    session.readings(deltas, &mut out).unwrap();
    out
}

/// Reads, and returns the delta of each event.
pub fn read(session: &mut Session) -> Vec<Reading> {
    session.read(ReadMode::Auto).unwrap();
    readings(session, true)
}

/// A session with these flags, and defaults otherwise.
pub fn create(flags: u32, events: &[Event]) -> Session {
    Session::create(&SessionOptions { flags, ..SessionOptions::default() }, events).unwrap()
}

/// A place in memory to which nothing else writes.
///
/// Only one test at a time has one. If two threads use debug registers at once, a virtual machine may lose writes, or
/// deliver traps that its kernel cannot interpret, and the kernel then kills the process.
pub struct Cell {
    word: Box<std::cell::UnsafeCell<u64>>,
    _alone: Option<std::sync::MutexGuard<'static, ()>>,
}

static DEBUG_REGISTERS: std::sync::Mutex<()> = std::sync::Mutex::new(());

std::thread_local! {
    static CELLS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

// SAFETY: all access is through volatile writes of one aligned word, which nobody reads.
unsafe impl Sync for Cell {}

impl Cell {
    pub fn new() -> Cell {
        let first = CELLS.replace(CELLS.get() + 1) == 0;
        let alone = first.then(|| DEBUG_REGISTERS.lock().unwrap_or_else(|failed| failed.into_inner()));
        Cell { word: Box::new(std::cell::UnsafeCell::new(0)), _alone: alone }
    }

    /// Writes to it exactly `count` times.
    pub fn write(&self, count: u64) {
        for value in 0..count {
            // SAFETY: the pointer is to the live word of this cell.
            unsafe { self.word.get().write_volatile(value) };
        }
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        CELLS.set(CELLS.get() - 1);
    }
}

/// The event that counts writes to a cell: exact on every CPU with debug registers, with a PMU or without.
pub fn watch(cell: &Cell) -> Event {
    Event::parse(&format!("mem:{:p}/8:w", cell.word.get())).unwrap()
}

/// The number of values in a histogram.
pub fn total(histogram: &SingleWriterHistogram) -> u64 {
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    snapshot.counts().total
}

/// Sleeps twenty times; returns the possible numbers of context switches. A thread that is delayed before a sleep until
/// its time is over does not leave the CPU, and a running thread may be made to leave it.
pub fn naps() -> std::ops::Range<u64> {
    (0..20).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(2)));
    10..1000
}

/// Keeps the CPU busy.
pub fn busy(nanos: u64) {
    let start = Clock::Monotonic.ticks();
    while Clock::Monotonic.ticks() - start < nanos {
        std::hint::spin_loop();
    }
}
