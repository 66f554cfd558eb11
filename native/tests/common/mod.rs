//! Code that the tests share.
#![allow(dead_code, unused_imports, unused_macros)] // each test program uses its own part

#[cfg(target_os = "linux")]
pub mod system;
#[cfg(target_os = "linux")]
pub use system::{page_faults, pin_to};

use picollo_core::{Since, SingleWriterHistogram, Snapshot};
use picollo_native::{Clock, Event, Reading, Session, SessionOptions};

/// All readings of a session.
pub fn readings(session: &Session, deltas: bool) -> Vec<Reading> {
    let mut out = vec![Reading::default(); session.length().unwrap()];
    session.readings(deltas, &mut out).unwrap();
    out
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

/// Reports, past the test harness, which would swallow it, that a test or the rest of it cannot run here.
pub fn skipped(why: &str) {
    aloud(&format!("SKIPPED: {why}\n"));
}

/// Writes straight to the standard error.
pub fn aloud(text: &str) {
    // SAFETY: writes a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Whether tests may change things outside themselves, such as kernel settings: only if the environment allows it.
pub fn may_change_this_machine() -> bool {
    std::env::var_os("PICOLLO_MAY_CHANGE_THIS_MACHINE").is_some_and(|value| value == "1")
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

/// Two CPUs that this thread may run on.
#[cfg(target_os = "linux")]
pub fn two_cpus() -> Option<(usize, usize)> {
    match system::allowed_cpus()[..] {
        [first, second, ..] => Some((first, second)),
        _ => None,
    }
}

/// Tests with their names.
macro_rules! named {
    ($($test:ident),* $(,)?) => { &[$((stringify!($test), $test as fn())),*] };
}
pub(crate) use named;

/// Runs tests in this thread, one after the other, and prints what the usual harness would. If there are names before
/// the options, only those tests run. The value of `place` lives as long as a test.
pub fn run<T>(tests: &[(&str, fn())], place: fn() -> T) -> ! {
    let wanted: Vec<String> =
        std::env::args().skip(1).take_while(|argument| !argument.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let _place = place();
        let outcome = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        passed += i32::from(outcome.is_ok());
        failed += i32::from(outcome.is_err());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed");
    std::process::exit(i32::from(failed != 0));
}
