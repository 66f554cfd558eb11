//! What the tests share.
#![allow(dead_code)] // each test program uses its own part

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

/// A place in memory that nothing else writes to.
///
/// One test at a time has any: where two threads use debug registers at once, a virtual machine may lose writes, or deliver traps that
/// its kernel cannot make sense of, and then kills the process.
pub struct Cell {
    word: Box<std::cell::UnsafeCell<u64>>,
    _alone: Option<std::sync::MutexGuard<'static, ()>>,
}

static DEBUG_REGISTERS: std::sync::Mutex<()> = std::sync::Mutex::new(());

std::thread_local! {
    static CELLS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

// SAFETY: all access is by volatile writes of one aligned word, which nobody reads.
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

/// Says aloud that a test, or the rest of it, cannot run here: past the test program, which would swallow it.
pub fn skipped(why: &str) {
    aloud(&format!("SKIPPED: {why}\n"));
}

/// Writes straight to the standard error.
pub fn aloud(text: &str) {
    // SAFETY: writes a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Whether tests may change what is not theirs, such as settings of the kernel: only where somebody said so.
pub fn may_change_this_machine() -> bool {
    std::env::var_os("PICOLLO_MAY_CHANGE_THIS_MACHINE").is_some_and(|value| value == "1")
}

/// How many values a histogram holds.
pub fn total(histogram: &SingleWriterHistogram) -> u64 {
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    snapshot.counts().total
}

/// The lower end of a histogram's last bucket in use.
pub fn largest(histogram: &SingleWriterHistogram) -> u64 {
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    snapshot.recorded_buckets().last().unwrap().lower
}

/// Touches pages that were not there before.
pub fn page_faults(count: usize) {
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice, used within its bounds and given back.
    unsafe {
        let length = count * 4096;
        let memory = libc::mmap(std::ptr::null_mut(), length, protection, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, length, libc::MADV_NOHUGEPAGE);
        for page in 0..count {
            memory.cast::<u8>().add(page * 4096).write_volatile(1);
        }
        libc::munmap(memory, length);
    }
}

/// Sleeps twenty times; how many context switches that makes. Not always twenty: a thread that is held up on its way to sleep
/// until the time is over does not leave the CPU, and one that is awake may be made to.
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
pub fn two_cpus() -> Option<(usize, usize)> {
    // SAFETY: a zeroed set is an empty one, and the calls stay inside it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
        let mut allowed = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set));
        Some((allowed.next()?, allowed.next()?))
    }
}

/// Moves this thread to a CPU, for good.
pub fn pin_to(cpu: usize) {
    // SAFETY: as above.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
    }
}

/// Runs a closure in a forked child; its exit code, 101 when it panicked, minus the signal when one killed it. Only for programs
/// with a single thread: in a child of others, locks may be held by threads that are no more.
pub fn child_exit_code(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: one thread only, says the caller; the child ends by _exit.
    match unsafe { libc::fork() } {
        0 => {
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(code) };
        }
        child => {
            assert!(child > 0, "fork failed");
            let mut status = 0;
            // SAFETY: waits for the child just made.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
        }
    }
}
