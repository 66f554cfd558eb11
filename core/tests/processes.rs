//! Histograms that processes share, or inherit by forking. Processes record, read and reset, start one after another,
//! and are killed or stopped at any instruction.
#![cfg(all(feature = "std", target_os = "linux", not(miri), not(picollo_critical_64)))]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};

use libc::pid_t;
use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};

const ROUNDS: u32 = 100;

fn options(counter_bits: u32) -> Options {
    Options { counter_bits, relative_error: 0.02, ..Options::default() }
}

/// A histogram in memory that children share, with a word through which processes report their progress to each other.
struct Shared {
    histogram: SharedHistogram,
    start: *mut u8,
    size: usize,
    phase: &'static AtomicU32,
}

impl Shared {
    fn new(options: &Options) -> Shared {
        let size = SharedHistogram::required_size(options).unwrap();
        let (shared, all) = (libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: this is a new mapping, which stays until the process ends.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), size + 4096, all, shared, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let start = start.cast::<u8>();
            let histogram = SharedHistogram::init_in_unguarded(start, size, options).unwrap();
            Shared { histogram, start, size, phase: &*start.add(size).cast() }
        }
    }

    /// A child that reports its start, and then works until it is killed or done.
    fn child(&self, work: impl FnOnce(&SharedHistogram)) -> pid_t {
        self.phase.store(0, Release);
        let child = fork(|| {
            self.phase.store(1, Release);
            work(&self.histogram);
            true
        });
        self.wait_for(1);
        child
    }

    fn wait_for(&self, phase: u32) {
        while self.phase.load(Acquire) < phase {
            thread::yield_now();
        }
    }

    fn snapshot(&self) -> Box<Snapshot> {
        self.histogram.snapshot().unwrap()
    }

    /// The count of each bucket since the reset, which must be the same for all.
    fn count_in_each_bucket(&self) -> u64 {
        let snapshot = self.snapshot();
        let first = snapshot.buckets().next().unwrap().count;
        assert!(snapshot.buckets().all(|bucket| bucket.count == first), "half a reset");
        first
    }

    fn record_each(&self) {
        let layout = self.histogram.layout();
        for index in 0..layout.length() as u64 {
            self.histogram.record(layout.bucket_at(index).lower);
        }
    }
}

/// Runs work in a child, which ends with this process, or when it takes too long.
fn fork(work: impl FnOnce() -> bool) -> pid_t {
    // SAFETY: the child uses only its own copy and shared memory, and does not return.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::alarm(60);
            libc::_exit(!work() as i32);
        }
        child
    }
}

/// Whether a child exited successfully.
fn ended_well(child: pid_t) -> bool {
    let mut status = 1;
    // SAFETY: it is our own child, and nobody else waits for it.
    unsafe { libc::waitpid(child, &mut status, 0) == child && status == 0 }
}

fn signal(child: pid_t, number: libc::c_int) {
    // SAFETY: it is our own child.
    assert_eq!(unsafe { libc::kill(child, number) }, 0);
}

fn end(child: pid_t) {
    signal(child, libc::SIGKILL);
    ended_well(child);
}

/// Spins for a time below a limit in nanoseconds; the times are well spread.
fn spin_below(limit: u64, state: &mut u64) {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    let (start, time) = (Instant::now(), Duration::from_nanos((*state >> 33) % limit));
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A process that is killed inside a reset leaves no trace of the reset. The others read, reset and take deltas as if
/// it had never begun, and no event is lost.
#[test]
fn a_process_killed_inside_a_reset() {
    for counter_bits in [64, 32] {
        let shared = Shared::new(&options(counter_bits));
        let histogram = &shared.histogram;
        let buckets = histogram.layout().length() as u64;
        let mut state = 1;
        let mut monitor = shared.snapshot();
        let (mut recorded, mut seen) = (0, 0);
        for round in 0..ROUNDS {
            // Nothing is recorded while the child resets repeatedly, so it leaves everything of a round, or nothing.
            shared.record_each();
            recorded += buckets;
            let child = shared.child(|histogram| while histogram.reset().is_ok() {});
            spin_below(60_000, &mut state);
            end(child);
            assert!(matches!(shared.count_in_each_bucket(), 0 | 1), "round {round}");
            histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
            seen += monitor.counts().total;
            assert_eq!(seen, recorded);
            // A reset by a process that has waited for a while works too.
            histogram.reset().unwrap();
            assert_eq!(shared.count_in_each_bucket(), 0);
            shared.record_each();
            recorded += buckets;
            assert_eq!(shared.count_in_each_bucket(), 1);
            histogram.reset().unwrap();
        }
    }
}

/// A process is stopped inside a reset, and continues after another one has reset: its remaining writes change nothing.
#[test]
fn a_process_stopped_inside_a_reset() {
    for counter_bits in [64, 32] {
        let shared = Shared::new(&options(counter_bits));
        let histogram = &shared.histogram;
        let mut state = 1;
        for round in 0..ROUNDS {
            shared.record_each();
            // The child ends before it resets a second time.
            let child = shared.child(|histogram| {
                let _ = histogram.reset();
            });
            spin_below(25_000, &mut state);
            signal(child, libc::SIGSTOP);
            histogram.reset().unwrap();
            assert_eq!(shared.count_in_each_bucket(), 0, "round {round}");
            shared.record_each();
            assert!(matches!(shared.count_in_each_bucket(), 0 | 1), "round {round}");
            signal(child, libc::SIGCONT);
            spin_below(25_000, &mut state);
            end(child);
            assert!(shared.count_in_each_bucket() <= 1, "round {round}");
            histogram.reset().unwrap();
            histogram.reset().unwrap();
        }
    }
}

/// Two processes reset all the time, and a reader succeeds each time.
#[test]
fn processes_that_reset_at_once() {
    let shared = Shared::new(&options(64));
    let children = [(); 2].map(|()| shared.child(|histogram| while histogram.reset().is_ok() {}));
    let (mut monitor, mut recorded, mut seen) = (shared.snapshot(), 0, 0);
    let mut since_reset = shared.snapshot();
    for _ in 0..2000 {
        shared.histogram.record_n(12_345, 3);
        recorded += 3;
        shared.histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        seen += monitor.counts().total;
        assert_eq!(seen, recorded);
        shared.histogram.update(&mut since_reset, Since::Reset).unwrap();
        let counted = since_reset.counts().total;
        assert!(
            counted <= recorded && counted.is_multiple_of(3),
            "a baseline ahead of the counts: {counted}"
        );
    }
    children.into_iter().for_each(end);
    shared.histogram.reset().unwrap();
    assert_eq!(shared.count_in_each_bucket(), 0);
}

#[test]
fn some_processes_record_and_another_reads_and_resets() {
    const RECORDS: u64 = 300_000;
    for (mode, writers) in [(Mode::SingleWriter, 1), (Mode::Interlocked, 3)] {
        for counter_bits in [64, 32] {
            let shared = Shared::new(&Options { mode, max_trackable: 1 << 20, ..options(counter_bits) });
            let histogram = &shared.histogram;
            let record = |writer| {
                // SAFETY: the memory outlives the histogram; in single-writer mode there is one writer.
                let found = unsafe { SharedHistogram::attach_unguarded(shared.start, shared.size) };
                let Ok(histogram) = found else { return false };
                shared.wait_for(1);
                for record in 0..RECORDS {
                    histogram.record(record % 1000 * 1500 + writer);
                    if record == RECORDS / 2 && writer == 0 {
                        // At least half of the records come after the first reset.
                        shared.wait_for(2);
                    }
                }
                true
            };
            let children: Vec<_> = (0..writers).map(|writer| fork(|| record(writer))).collect();
            let (mut monitor, mut since_reset) = (shared.snapshot(), shared.snapshot());
            shared.phase.store(1, Release);
            let (mut seen, mut overflow) = (0, 0);
            let mut delta = |monitor: &mut Snapshot| {
                histogram.update(monitor, Since::PreviousUpdate).unwrap();
                (seen, overflow) = (seen + monitor.counts().total, overflow + monitor.counts().overflow);
                seen + overflow
            };
            while delta(&mut monitor) < RECORDS / 2 {}
            histogram.reset().unwrap();
            shared.phase.store(2, Release);
            for _ in 0..100 {
                histogram.reset().unwrap();
                delta(&mut monitor);
            }
            assert!(children.into_iter().all(ended_well));
            assert_eq!(delta(&mut monitor), writers * RECORDS);
            histogram.update(&mut since_reset, Since::Reset).unwrap();
            let left = since_reset.counts();
            assert!(left.total + left.overflow <= writers * RECORDS - RECORDS / 2);
            histogram.reset().unwrap();
            assert_eq!(shared.snapshot().counts(), Default::default());
            assert!(overflow > 0 && seen > 0);
        }
    }
}

/// Writers forked one after another from one process have everything in common except the ingredients of identities.
#[test]
fn forked_writers_in_the_same_place() {
    let options = options(64);
    let shared = Shared::new(&options);
    let (mut monitor, mut since_reset) = (shared.snapshot(), shared.snapshot());
    for count in [1067, 100, 5] {
        let child = fork(|| {
            // SAFETY: the memory lives longer, and nobody else uses it meanwhile.
            let made = unsafe { SharedHistogram::init_in(shared.start, shared.size, &options) };
            let Ok(histogram) = made else { return false };
            histogram.record_n(7, 2 * count);
            let reset = histogram.reset();
            histogram.record_n(7, count);
            reset.is_ok()
        });
        assert!(ended_well(child));
        // SAFETY: the child made it, and nobody else uses it until the next child starts.
        let histogram = unsafe { SharedHistogram::attach(shared.start, shared.size) }.unwrap();
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert_eq!((monitor.counts().total, since_reset.counts().total), (count, count));
    }
}

/// Forks 300 times while another thread works; each child must exit successfully.
fn fork_beside(again: impl Fn() + Sync, mut in_child: impl FnMut() -> bool) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                again();
            }
        });
        let all_well = (0..300).all(|_| ended_well(fork(&mut in_child)));
        done.store(true, Relaxed);
        assert!(all_well);
    });
}

/// After a fork, nobody in the child finishes the reset that another thread of the parent was running.
#[test]
fn children_forked_beside_resets_and_readers() {
    for (mode, storage) in common::KINDS {
        let histogram = common::create(&Options { mode, storage, relative_error: 1e-3, ..options(64) });
        histogram.record_n(5, 3);
        let read = |snapshot: &mut Snapshot| {
            histogram.update(snapshot, Since::Reset).map(|()| snapshot.counts().total)
        };
        let other = || {
            histogram.reset().unwrap();
            read(&mut Snapshot::boxed(*histogram.layout()).unwrap()).unwrap();
        };
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        fork_beside(other, || {
            let before = read(&mut snapshot);
            (0..7).for_each(|_| histogram.record(5));
            // This baseline is new to the snapshot.
            let after = read(&mut snapshot);
            let reset = histogram.reset().and_then(|()| read(&mut snapshot));
            matches!(before, Ok(0 | 3)) && after == before.map(|total| total + 7) && reset == Ok(0)
        });
    }
}

/// This includes records with exact sums, which take a stripe.
#[test]
fn children_forked_beside_collections() {
    for exact in [false, true] {
        let histogram = DoubleHistogram::new(&DoubleOptions { exact, ..DoubleOptions::default() }).unwrap();
        let other = || {
            (-300..300).for_each(|power| histogram.record(f64::from(power).exp2()));
            histogram.peek(&mut DoubleSnapshot::new()).unwrap();
            histogram.collect(&mut DoubleSnapshot::new()).unwrap();
        };
        fork_beside(other, || {
            let mut snapshot = DoubleSnapshot::new();
            let rest = histogram.collect(&mut snapshot);
            histogram.record(2.5);
            let peeked = histogram.peek(&mut snapshot).map(|()| snapshot.count());
            let is_alone = !exact || snapshot.statistics().sum == 2.5;
            let collected = histogram.collect(&mut snapshot);
            rest.is_ok() && peeked == Ok(1) && is_alone && collected.is_ok() && snapshot.count() == 1
        });
    }
}
