//! Processes that are killed, or stopped, at any instruction of what they do to a histogram that others share.
#![cfg(all(feature = "std", target_os = "linux"))]

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::time::{Duration, Instant};

use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};

const ROUNDS: u32 = 100;

fn options(counter_bits: u32) -> Options {
    Options {
        mode: Mode::Interlocked,
        counter_bits,
        relative_error: 0.02,
        max_trackable: u64::MAX,
        ..Options::default()
    }
}

/// A histogram in memory that children share, and a word beside it.
struct Shared {
    histogram: SharedHistogram,
    started: &'static AtomicU32,
}

fn shared(options: &Options) -> Shared {
    let size = SharedHistogram::required_size(options).unwrap();
    // SAFETY: a new mapping, which stays until the process ends.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            size + 4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(start, libc::MAP_FAILED);
        let start = start.cast::<u8>();
        let histogram = SharedHistogram::init_in(start, size, options).unwrap();
        Shared { histogram, started: &*start.add(size).cast() }
    }
}

impl Shared {
    /// A child that says that it has started, and then does something until it is killed, or ends.
    fn child(&self, work: impl FnOnce(&SharedHistogram)) -> libc::pid_t {
        self.started.store(0, Release);
        // SAFETY: the child touches its own memory and what is shared, takes no lock, and does not return.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: a test that fails takes its children along.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            self.started.store(1, Release);
            work(&self.histogram);
            // SAFETY: ends the child alone.
            unsafe { libc::_exit(0) };
        }
        while self.started.load(Acquire) == 0 {
            std::hint::spin_loop();
        }
        child
    }

    fn snapshot(&self) -> Box<Snapshot> {
        let mut snapshot = Snapshot::boxed(*self.histogram.layout()).unwrap();
        self.histogram.update(&mut snapshot, Since::Reset).unwrap();
        snapshot
    }

    /// What each bucket has counted since the reset, which must be the same for all.
    fn of_each(&self) -> u64 {
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

fn signal(child: libc::pid_t, number: libc::c_int) {
    // SAFETY: our own child.
    assert_eq!(unsafe { libc::kill(child, number) }, 0);
}

fn end(child: libc::pid_t) {
    // SAFETY: our own child, which is not waited for elsewhere.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
    }
}

/// Numbers that spread well.
fn below(limit: u64, state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 33) % limit
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn cannot_be_shared() -> bool {
    let cannot = cfg!(picollo_critical_64);
    if cannot {
        println!("SKIPPED: critical sections do not reach into another process");
    }
    cannot
}

/// A process that is killed inside a reset leaves no trace of it: the others read, reset and take deltas as if it had never
/// begun, and no event is lost.
#[test]
fn a_process_killed_inside_a_reset() {
    if cannot_be_shared() {
        return;
    }
    for counter_bits in [64, 32] {
        let shared = shared(&options(counter_bits));
        let histogram = &shared.histogram;
        let buckets = histogram.layout().length() as u64;
        let mut state = 1;
        let mut monitor = shared.snapshot();
        let (mut recorded, mut seen) = (0, 0);
        for round in 0..ROUNDS {
            // Nothing is recorded while the child resets, all the time: so it leaves all of a round, or nothing.
            shared.record_each();
            recorded += buckets;
            let child = shared.child(|histogram| while histogram.reset().is_ok() {});
            spin(Duration::from_nanos(below(60_000, &mut state)));
            end(child);
            assert!(matches!(shared.of_each(), 0 | 1), "round {round}");
            histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
            seen += monitor.counts().total;
            assert_eq!(seen, recorded);
            // Also one that has waited for a while.
            histogram.reset().unwrap();
            assert_eq!(shared.of_each(), 0);
            shared.record_each();
            recorded += buckets;
            assert_eq!(shared.of_each(), 1);
            histogram.reset().unwrap();
        }
    }
}

/// A process that is stopped inside a reset, and goes on when another one has reset: what it still writes changes nothing.
#[test]
fn a_process_stopped_inside_a_reset() {
    if cannot_be_shared() {
        return;
    }
    for counter_bits in [64, 32] {
        let shared = shared(&options(counter_bits));
        let histogram = &shared.histogram;
        let (mut state, mut in_between) = (1, 0);
        for round in 0..ROUNDS {
            shared.record_each();
            // It ends before it resets a second time.
            let child = shared.child(|histogram| {
                let _ = histogram.reset();
            });
            spin(Duration::from_nanos(below(25_000, &mut state)));
            signal(child, libc::SIGSTOP);
            histogram.reset().unwrap();
            assert_eq!(shared.of_each(), 0, "round {round}");
            shared.record_each();
            assert!(matches!(shared.of_each(), 0 | 1), "round {round}");
            signal(child, libc::SIGCONT);
            spin(Duration::from_nanos(below(25_000, &mut state)));
            end(child);
            let left = shared.of_each();
            assert!(left <= 1, "round {round}");
            in_between += left;
            histogram.reset().unwrap();
            histogram.reset().unwrap();
        }
        println!("{in_between} of {ROUNDS} children did not reset after us");
    }
}

/// Two processes that reset, and readers: each says that it was busy, at the worst.
#[test]
fn processes_that_reset_at_once() {
    if cannot_be_shared() {
        return;
    }
    let shared = shared(&options(64));
    let children = [(); 2].map(|()| {
        shared.child(|histogram| {
            loop {
                let _ = histogram.reset();
            }
        })
    });
    let (mut monitor, mut recorded, mut seen, mut read) = (shared.snapshot(), 0, 0, 0);
    let mut since_reset = shared.snapshot();
    for _ in 0..2000 {
        shared.histogram.record_n(12_345, 3);
        recorded += 3;
        shared.histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        seen += monitor.counts().total;
        assert_eq!(seen, recorded);
        if shared.histogram.update(&mut since_reset, Since::Reset).is_ok() {
            let counted = since_reset.counts().total;
            assert!(
                counted <= recorded && counted.is_multiple_of(3),
                "a baseline ahead of the counts: {counted}"
            );
            read += 1;
        }
    }
    children.into_iter().for_each(end);
    assert!(read > 0, "readers were always overtaken");
    shared.histogram.reset().unwrap();
    assert_eq!(shared.of_each(), 0);
}
