//! Thread-local histograms: where shards come from and where they go.
#![cfg(feature = "std")]

use std::cell::RefCell;
use std::sync::Barrier;
use std::thread;

use picollo_core::{Error, Mode, Options, SharedHistogram, Since, Snapshot};

use crate::common::create;

fn options() -> Options {
    Options { mode: Mode::ThreadLocal, relative_error: 0.01, max_trackable: 100_000, ..Options::default() }
}

fn total(histogram: &SharedHistogram) -> u64 {
    let snapshot = histogram.snapshot().unwrap();
    assert_eq!(snapshot.counts().lost, 0);
    snapshot.counts().total
}

/// Runs jobs on separate threads and joins them. A scope alone does not wait for their destructors.
fn on_threads<'a>(jobs: impl IntoIterator<Item = Box<dyn FnOnce() + Send + 'a>>) {
    thread::scope(|scope| {
        let handles: Vec<_> = jobs.into_iter().map(|job| scope.spawn(job)).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    });
}

fn on_a_thread<'a>(job: impl FnOnce() + Send + 'a) {
    on_threads([Box::new(job) as Box<dyn FnOnce() + Send>]);
}

/// The bytes that one shard adds to the footprint.
fn shard_bytes() -> usize {
    let histogram = SharedHistogram::create(&options()).unwrap();
    let before = histogram.footprint();
    histogram.record(1);
    histogram.footprint() - before
}

#[test]
fn ten_thousand_threads_share_the_shards_of_a_few() {
    const ALIVE: usize = 8;
    let histogram = SharedHistogram::create(&options()).unwrap();
    let empty = histogram.footprint();
    for _ in 0..10_000 / ALIVE {
        let barrier = Barrier::new(ALIVE);
        on_threads((0..ALIVE as u64).map(|value| {
            let (histogram, barrier) = (&histogram, &barrier);
            Box::new(move || {
                histogram.record(value);
                barrier.wait();
                histogram.record_n(100_000, 2);
            }) as _
        }));
        assert_eq!(histogram.footprint(), empty + ALIVE * shard_bytes(), "as many shards as threads at once");
    }
    assert_eq!(total(&histogram), 30_000);
}

#[test]
fn a_shard_is_handed_on_uncleared() {
    let histogram = SharedHistogram::create(&options()).unwrap();
    let mut monitor = Snapshot::boxed(*histogram.layout()).unwrap();
    for turn in 1..=100 {
        on_a_thread(|| histogram.record_n(5, turn));
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        assert_eq!(monitor.counts().total, turn);
        if turn % 10 == 0 {
            histogram.reset().unwrap();
            assert_eq!(total(&histogram), 0);
        }
    }
    histogram.record(7);
    assert_eq!(total(&histogram), 1);
}

#[test]
fn a_histogram_may_go_before_its_threads() {
    let (before, after) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let histogram = SharedHistogram::create(&options()).unwrap();
        let other = histogram.clone();
        let thread = scope.spawn(|| {
            other.record(1);
            drop(other);
            before.wait();
            after.wait();
            // The thread ends with a stale entry in its table.
        });
        before.wait();
        assert_eq!(total(&histogram), 1);
        drop(histogram);
        // Another histogram takes the place in the tables.
        let next = SharedHistogram::create(&options()).unwrap();
        after.wait();
        next.record(2);
        assert_eq!(total(&next), 1);
        // The last owner of a thread's result drops it behind a fence, which ThreadSanitizer does not know.
        thread.join().unwrap();
    });
}

thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
}

/// Records when its thread ends.
struct Late(SharedHistogram);

impl Drop for Late {
    fn drop(&mut self) {
        self.0.record(9);
        self.0.record_n(10, 2);
        self.0.record_batch(&[11; 20]);
        self.0.record(u64::MAX);
        self.0.record_n(12, 1 << 63);
    }
}

#[test]
fn records_after_the_destructors_of_a_thread_are_not_lost() {
    let histogram = SharedHistogram::create(&options()).unwrap();
    let empty = histogram.footprint();
    for early in [true, false] {
        on_a_thread(|| {
            // Destructors run in reverse order of first use, so `Late` runs before or after the library's.
            if early {
                LATE.with_borrow_mut(|late| *late = Some(Late(histogram.clone())));
            }
            histogram.record(8);
            LATE.with_borrow_mut(|late| *late = Some(Late(histogram.clone())));
            if early {
                histogram.record(8);
            }
        });
    }
    let snapshot = histogram.snapshot().unwrap();
    let count = |value| snapshot.bucket_of(value).unwrap().count;
    // The early thread drops a first `Late` when it makes the second.
    assert_eq!([count(8), count(9), count(10), count(11)], [3, 3, 6, 60]);
    assert_eq!(snapshot.counts().overflow, 3);
    assert_eq!(histogram.footprint(), empty + shard_bytes(), "both threads had the same shard");
    // Three times 2^63 is 2^63 and a wrap, which the shared counter counts.
    assert_eq!((count(12), snapshot.counts().lost), (1 << 63, u64::MAX));
}

#[test]
fn a_wrap_of_the_sum_of_a_shard_and_the_shared_counters_is_reported() {
    let histogram = SharedHistogram::create(&Options { counter_bits: 64, ..options() }).unwrap();
    on_a_thread(|| {
        // Destructors run in reverse order of first use, so the records of this one go to the shared counters.
        LATE.with_borrow_mut(|late| *late = Some(Late(histogram.clone())));
        histogram.record_n(12, 1 << 63);
    });
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    for since in [Since::Reset, Since::PreviousUpdate, Since::Reset] {
        histogram.update(&mut snapshot, since).unwrap();
        assert_eq!(snapshot.bucket_of(12).unwrap().count, 0);
        let lost = if since == Since::Reset { u64::MAX } else { 0 };
        assert_eq!(snapshot.counts().lost, lost, "{since:?}");
    }
    // With one more shard, the sum is computed in several passes.
    let one = histogram.footprint();
    on_a_thread(|| {
        histogram.record(1);
        on_a_thread(|| histogram.record(1));
    });
    assert!(histogram.footprint() > one);
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    assert_eq!((snapshot.counts().lost, snapshot.bucket_of(1).unwrap().count), (u64::MAX, 2));
}

#[test]
fn a_recorder_owns_a_shard_whatever_happens_to_threads() {
    let histogram = SharedHistogram::create(&options()).unwrap();
    let empty = histogram.footprint();
    let mut slot = None;
    on_a_thread(|| {
        let recorder = slot.insert(histogram.recorder().unwrap());
        recorder.record(1);
        histogram.record(1);
    });
    let mut recorder = slot.unwrap();
    assert_eq!(histogram.footprint(), empty + 2 * shard_bytes());
    // The thread's shard is free again, but the recorder's is not.
    on_a_thread(|| histogram.record_n(1, 10));
    assert_eq!(histogram.footprint(), empty + 2 * shard_bytes());
    on_a_thread(|| {
        (0..1000).for_each(|_| recorder.record(2));
        recorder.record(u64::MAX);
    });
    // From here on, both handles belong to the recorder.
    let other = histogram.clone();
    drop(histogram);
    assert_eq!(total(&other), 1012);
    let bytes = other.footprint();
    drop(recorder);
    let again = other.recorder().unwrap();
    assert_eq!(other.footprint(), bytes, "the released shard is used again");
    let again_histogram = other.clone();
    let (histogram, owner) = again.into_raw();
    drop(other);
    // SAFETY: these are the parts just taken, used once.
    let mut again = unsafe { picollo_core::recorders::Recorder::from_raw(histogram, owner) };
    again.record(3);
    assert_eq!(total(&again_histogram), 1013);
}

#[test]
fn a_narrow_recorder_passes_the_wrap_on() {
    for mode in [Mode::SingleWriter, Mode::ThreadLocal] {
        let histogram = create(&Options { mode, counter_bits: 32, ..options() });
        let mut monitor = Snapshot::boxed(*histogram.layout()).unwrap();
        let mut recorder = histogram.recorder().unwrap();
        // SAFETY: this is a cell of 32 bits, which nobody else uses now.
        unsafe { recorder.counters().cast::<u32>().add(5).write(u32::MAX - 1) };
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        (0..10).for_each(|_| recorder.record(5));
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        assert_eq!((monitor.counts().total, monitor.counts().lost), (10, 0));
    }
}

#[test]
fn other_modes_have_no_recorder() {
    for mode in [Mode::Interlocked, Mode::PerCpu] {
        let histogram = SharedHistogram::create(&Options { mode, counter_bits: 64, ..options() }).unwrap();
        assert_eq!(histogram.recorder().map(|_| ()), Err(Error::Unsupported));
    }
}
