//! Models for loom: everything that threads can see of each other in these small programs. Loom tries every
//! interleaving and every memory order that the language allows, within a bound on preemptions.
//!
//! `ci/loom.sh` runs them. Each fails when its subject is broken: `ci/loom.sh bugs` breaks one thing at a time, and
//! expects a failure.

mod banks;
mod doubles;
mod entries;
mod per_cpu;
mod sparse;

use alloc::boxed::Box;

use loom::sync::Arc;
use loom::thread;

use crate::cells::cell::{Counter, Interlocked, ManyWriters, Unguarded};
use crate::cells::kind::Mode;
use crate::handle::options::Options;
use crate::handle::shared::SharedHistogram;
use crate::histograms::dense::Histogram;
use crate::layout::layout::Layout;
use crate::platform::atomics::Ordering::Relaxed;
use crate::platform::atomics::{AtomicU32, AtomicU64};
use crate::platform::lock::Exclusive;
use crate::snapshot::snapshot::{Counts, Since, Snapshot};
use crate::snapshot::source::Source;

fn model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = runs.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.max_branches = 100_000;
    builder.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        program();
    });
    std::println!("{} executions", runs.load(std::sync::atomic::Ordering::Relaxed));
}

/// Two buckets, for the values 0 and 1.
fn layout() -> Layout {
    Layout::with_scale(0, 0, 1).unwrap()
}

fn create(mode: Mode, counter_bits: u32) -> SharedHistogram {
    // The options allow no fewer buckets than one for each of 8 values.
    let options = Options { mode, counter_bits, relative_error: 0.1, max_trackable: 1, ..Options::default() };
    // SAFETY: a model with one writer has only one.
    unsafe { SharedHistogram::create_unguarded(&options) }.unwrap()
}

fn snapshot(layout: Layout) -> Box<Snapshot> {
    Snapshot::boxed(layout).unwrap()
}

fn counts(snapshot: &Snapshot) -> (u64, u64) {
    (snapshot.count_at(0), snapshot.count_at(1))
}

/// The counts in a new snapshot.
fn counts_since(source: &(impl Source + ?Sized), since: Since) -> (u64, u64) {
    let mut snapshot = snapshot(*Source::layout(source));
    snapshot.update(source, since).unwrap();
    counts(&snapshot)
}

/// The same since the last reset.
fn shared_counts(histogram: &SharedHistogram) -> (u64, u64) {
    counts(&histogram.snapshot().unwrap())
}

/// Starts a thread that works on a shared value.
fn beside<T: Clone + 'static, R: 'static>(
    shared: &T,
    work: impl FnOnce(&T) -> R + 'static,
) -> thread::JoinHandle<R> {
    let shared = shared.clone();
    thread::spawn(move || work(&shared))
}

/// The same for a thread that ends as real ones do: its destructors run before it is joined.
fn beside_until_its_end<T: Clone + 'static>(
    shared: &T,
    work: impl FnOnce(T) + 'static,
) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        work(shared);
        crate::threads::tables::end();
    })
}

/// A thread that works on several words finds them as the last one left them.
#[test]
fn exclusive() {
    model(3, || {
        let shared = Arc::new((Exclusive::new(), AtomicU64::new(0), AtomicU64::new(0)));
        let others: [_; 2] = [1, 2].map(|number| {
            beside(&shared, move |shared| {
                let _ = shared.0.run(|| {
                    shared.1.store(number, Relaxed);
                    shared.2.store(number, Relaxed);
                });
            })
        });
        let _ = shared.0.run(|| assert_eq!(shared.1.load(Relaxed), shared.2.load(Relaxed)));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// Two counters, and two banks of two.
type Small<C, M> = Histogram<[C; 6], M>;

fn small<C: Counter, M: ManyWriters>() -> Arc<Small<C, M>> {
    Arc::new(Small::new(layout()))
}

/// Deltas add up to everything recorded, and no baseline is ahead of the counts that it is subtracted from.
fn snapshot_against_writers_and_reset<M: ManyWriters>(writers: u64) {
    model(2, move || {
        let histogram = small::<AtomicU64, M>();
        let (mut monitor, mut since_reset) = (snapshot(layout()), snapshot(layout()));
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        let threads = (0..writers).map(|value| {
            beside(&histogram, move |histogram| {
                histogram.record(0);
                histogram.record(value);
            })
        });
        let mut threads: alloc::vec::Vec<_> = threads.collect();
        threads.push(beside(&histogram, |histogram| histogram.reset().unwrap()));
        if since_reset.update(&**histogram, Since::Reset).is_ok() {
            assert!(since_reset.counts().total <= 2 * writers);
        }
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        let first = monitor.counts().total;
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        assert_eq!(first + monitor.counts().total, 2 * writers);
        since_reset.update(&**histogram, Since::Reset).unwrap();
        assert!(since_reset.counts().total <= 2 * writers);
    });
}

#[test]
fn snapshot_against_one_writer_and_reset() {
    snapshot_against_writers_and_reset::<Unguarded>(1);
}

#[test]
fn snapshot_against_two_writers_and_reset() {
    snapshot_against_writers_and_reset::<Interlocked>(2);
}

/// A reported wrap shows in its cell, so that a delta does not count it as lost, and neither does a reset between the
/// two.
#[test]
fn wrap_against_delta_and_reset() {
    model(4, || {
        let histogram = small::<AtomicU32, Interlocked>();
        histogram.record_n(0, u32::MAX as u64);
        // Wraps are unambiguous as long as fewer than 2^32 events come between two reads of a cell.
        histogram.reset().unwrap();
        let mut monitor = snapshot(layout());
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        let writer = beside(&histogram, |histogram| histogram.record(0));
        histogram.reset().unwrap();
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        assert!(matches!(monitor.counts(), Counts { total: 0 | 1, lost: 0, .. }), "{:?}", monitor.counts());
        let first = monitor.counts().total;
        writer.join().unwrap();
        monitor.update(&**histogram, Since::PreviousUpdate).unwrap();
        assert_eq!((first + monitor.counts().total, monitor.counts().lost), (1, 0));
        monitor.update(&**histogram, Since::Reset).unwrap();
        assert!(matches!(monitor.counts(), Counts { total: 0 | 1, lost: 0, .. }), "{:?}", monitor.counts());
    });
}

/// Threads make their shards while a reader sums and a reset takes a baseline.
#[test]
fn lazily_created_shards() {
    model(4, || {
        let histogram = create(Mode::ThreadLocal, 64);
        let writers: [_; 2] =
            [0, 1].map(|value| beside_until_its_end(&histogram, move |histogram| histogram.record(value)));
        let mut monitor = snapshot(*histogram.layout());
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        let first = monitor.counts().total;
        histogram.reset().unwrap();
        let mut since_reset = snapshot(*histogram.layout());
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert!(first + since_reset.counts().total <= 2);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        assert_eq!(first + monitor.counts().total, 2);
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert!(since_reset.counts().total <= 2);
    });
}

/// The next owner of a shard continues from the counts of the last.
#[test]
fn shard_handed_over() {
    model(4, || {
        let histogram = create(Mode::ThreadLocal, 64);
        let record = || beside_until_its_end(&histogram, |histogram| histogram.record(1));
        let writers: [_; 2] = [(); 2].map(|()| record());
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let bytes = histogram.footprint();
        record().join().unwrap();
        assert_eq!(histogram.footprint(), bytes, "the third had one of their shards");
        assert_eq!(shared_counts(&histogram), (0, 3));
    });
}

/// A recorder passes its shard to a thread, or the other way round.
#[test]
fn recorder_hands_over() {
    model(4, || {
        let histogram = create(Mode::ThreadLocal, 64);
        let mut recorder = histogram.recorder().unwrap();
        let other = beside_until_its_end(&histogram, |histogram| {
            histogram.record(1);
            histogram.record(1);
        });
        recorder.record(1);
        drop(recorder);
        let mut recorder = histogram.recorder().unwrap();
        recorder.record(1);
        other.join().unwrap();
        assert_eq!(shared_counts(&histogram), (0, 4));
    });
}

/// A thread ends while another frees the histogram and makes the next in its place.
#[test]
fn histogram_freed_while_a_thread_ends() {
    model(4, || {
        let histogram = create(Mode::ThreadLocal, 64);
        let writer = beside_until_its_end(&histogram, |histogram| {
            histogram.record(1);
            drop(histogram);
        });
        drop(histogram);
        let next = create(Mode::ThreadLocal, 64);
        next.recorder().unwrap().record(0);
        writer.join().unwrap();
        assert_eq!(shared_counts(&next), (1, 0));
    });
}
