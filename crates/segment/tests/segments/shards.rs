//! Per-CPU histograms and striped counters in segments, with workers that stay on a CPU, that move about, that have no
//! restartable sequences, and that map the segment elsewhere.

use std::path::Path;

use picollo_core::seam::{PerCpuImage, has_restartable_sequences};
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};
use picollo_native::*;
use picollo_segment::*;

use crate::common::named;
use crate::common::skipped;
use crate::common::system::{allowed_cpus, pin_to};
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    workers_stay_and_move_about,
    programs_with_and_without_sequences,
    requests_get_existing_histograms,
    the_cpu_chooses_the_stripe_of_a_counter,
    counters_of_one_word_and_of_many_are_not_mixed_up,
];

/// The argument that makes this program a worker of the segment that the environment names.
pub const WORKER: &str = "--record-and-end";

const EACH: u64 = 20_000;

fn per_cpu() -> Options {
    in_mode(Mode::PerCpu)
}

fn total(histogram: &SharedHistogram) -> u64 {
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    snapshot.counts().total
}

/// The count in the first entry's cells that all share.
fn shared_by_all(path: &Path) -> u64 {
    let file = std::fs::read(path).unwrap();
    let object = &file[4096 + 4096 * 1024..];
    let mut header = Aligned([0; PerCpuImage::HEADER_SIZE / 8]);
    let word = |at: usize| u64::from_ne_bytes(object[at..at + 8].try_into().unwrap());
    for (at, into) in header.0.iter_mut().enumerate() {
        *into = word(PerCpuImage::HEADER + 8 * at);
    }
    let image = PerCpuImage::from_copy(&header.0).unwrap();
    (image.shared()..image.shard(0)).step_by(8).map(word).sum()
}

#[repr(align(64))]
struct Aligned([u64; PerCpuImage::HEADER_SIZE / 8]);

/// Lets the thread run on one of the CPUs that it may run on, and returns which.
fn run_on(which: usize) -> usize {
    let all = allowed_cpus();
    let cpu = all[which % all.len()];
    assert!(pin_to(cpu));
    cpu
}

/// Runs the program as a worker: it records, and its exit status shows whether it had what was expected.
pub fn be_a_worker() -> ! {
    let segment = Segment::attach(Path::new("")).unwrap();
    let histogram = segment.histogram(&metric("x"), &per_cpu()).unwrap();
    let has_been = total(&histogram);
    (0..EACH).for_each(|at| histogram.record(1 + at % 7));
    let expected = std::env::var("PICOLLO_EXPECTED").unwrap();
    assert_eq!(expected, format!("{} {has_been}", has_restartable_sequences()));
    // SAFETY: the call ends the process at once.
    unsafe { libc::_exit(0) };
}

fn workers_stay_and_move_about() {
    let segment = small("move");
    let inherited = segment.histogram(&metric("inherited"), &per_cpu()).unwrap();
    let workers: Vec<i32> = (0..6)
        .map(|worker| {
            start(|| {
                let own = segment.histogram(&metric("own"), &per_cpu()).unwrap();
                let requests = segment.counter(&metric("requests")).unwrap();
                run_on(worker);
                let stays = worker < 3;
                for at in 0..EACH {
                    // The workers that move about do so between any two records.
                    if !stays && at.is_multiple_of(100) {
                        // SAFETY: numbers only: all CPUs, and then one of them.
                        unsafe {
                            let every = [u64::MAX; 16];
                            libc::sched_setaffinity(0, 128, every.as_ptr().cast());
                        }
                        run_on((at / 100) as usize + worker);
                    }
                    inherited.record(1 + at);
                    own.record(1 + at);
                    requests.add(1);
                }
            })
        })
        .collect();
    assert!(workers.into_iter().all(|worker| wait(worker) == 0));
    let mut viewer = view(segment);
    for index in 0..2 {
        let counts = viewer.snapshot(index).unwrap().counts();
        assert_eq!((counts.total, counts.lost), (6 * EACH, 0));
    }
    assert_eq!(viewer.counter(2).unwrap(), 6 * EACH);
    if has_restartable_sequences() {
        // Few additions are interrupted, so the shared count is small.
        let of_all = shared_by_all(segment.path());
        assert!(of_all < EACH, "{of_all} of {}", 6 * EACH);
    }
    // The process itself reads the same.
    assert_eq!(total(&inherited), 6 * EACH);
}

/// Runs this program anew, with or without restartable sequences: a worker of the segment at another address.
fn run(worker: &str, segment: Segment, tunable: &str, expected: &str) {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .arg(worker)
        .env("PICOLLO_SEGMENT", segment.path())
        .env("GLIBC_TUNABLES", format!("glibc.pthread.rseq={tunable}"))
        .env("PICOLLO_EXPECTED", expected)
        .status()
        .unwrap();
    assert!(status.success(), "{tunable}");
}

fn programs_with_and_without_sequences() {
    let segment = small("programs");
    let mut recorded = 0;
    for tunable in ["1", "0", "1"] {
        let is_there = has_restartable_sequences() && tunable == "1";
        run(WORKER, segment, tunable, &format!("{is_there} {recorded}"));
        recorded += EACH;
        let counts = view(segment).snapshot(0).unwrap().counts();
        assert_eq!((counts.total, counts.lost), (recorded, 0), "rseq={tunable}");
    }
    if !has_restartable_sequences() {
        skipped("a program with restartable sequences: this system has none");
    }
}

fn requests_get_existing_histograms() {
    let segment = small("asked");
    // Whatever the default is, a request without a mode gets what exists.
    let any = open(segment, "any");
    any.record(1);
    open(segment, "any").record(1);
    segment.histogram(&metric("shards"), &per_cpu()).unwrap().record(1);
    open(segment, "shards").record(1);
    let plain = Segment::create(&SegmentOptions { interlocked: true, ..called("plain") }).unwrap();
    open(plain, "one set").record(1);
    let error = plain.histogram(&metric("one set"), &per_cpu()).unwrap_err();
    assert_eq!(error.status(), Status::Incompatible, "{error}");
    let mut viewer = view(segment);
    assert_eq!([0, 1].map(|index| viewer.snapshot(index).unwrap().counts().total), [2, 2]);
    let bytes = |viewer: &Viewer, index| viewer.entry(index).unwrap().bytes;
    let one_set = bytes(&view(plain), 0);
    assert!(one_set < 20_000, "{one_set}");
    if has_restartable_sequences() {
        // A page for the header, one for the table, and sets of whole pages.
        assert_eq!(bytes(&viewer, 1) % 4096, 0);
        assert!(bytes(&viewer, 1) > 2 * one_set);
    }
    // If a shard or the sum of shards wraps around, that is reported.
    let wrapping = segment.histogram(&metric("wraps"), &per_cpu()).unwrap();
    for _ in 0..3 {
        wrapping.record_n(5, u64::MAX / 2);
    }
    viewer.refresh().unwrap();
    let counts = viewer.snapshot(2).unwrap().counts();
    assert!(counts.lost > 0, "{counts:?}");
    assert_eq!(total(&wrapping), counts.total);
}

/// The words of a striped counter that is the first entry, at the places that docs/segment-format.md gives.
fn stripes(path: &Path) -> Vec<u64> {
    let file = std::fs::read(path).unwrap();
    let object = &file[4096 + 4096 * 1024..];
    (0..16).map(|at| u64::from_ne_bytes(object[at * 64..at * 64 + 8].try_into().unwrap())).collect()
}

/// Forked workers have the same stacks, so stacks do not distinguish them.
fn the_cpu_chooses_the_stripe_of_a_counter() {
    let segment = small("striped");
    let inherited = segment.striped_counter(&metric("x")).unwrap();
    let mut expected = vec![0; 16];
    for worker in 0..4 {
        let cpu = std::thread::spawn(move || run_on(worker)).join().unwrap();
        let inherited = &inherited;
        in_child(move || {
            assert_eq!(run_on(worker), cpu);
            let own = segment.striped_counter(&metric("x")).unwrap();
            (0..EACH).for_each(|_| inherited.add(1));
            own.add(EACH << 32);
        });
        expected[cpu % 16] += EACH + (EACH << 32);
        assert_eq!(stripes(segment.path()), expected);
    }
    let total = 4 * (EACH + (EACH << 32));
    assert_eq!((inherited.load(), view(segment).counter(0).unwrap()), (total, total));
    // Programs whose threads have no area for sequences ask the system.
    for tunable in ["1", "0"] {
        let cpu = std::thread::spawn(|| run_on(1)).join().unwrap();
        run(COUNTER, segment, tunable, "");
        expected[cpu % 16] += EACH;
        assert_eq!(stripes(segment.path()), expected, "rseq={tunable}");
    }
}

/// The argument that makes this program count on the second CPU that it may run on.
pub const COUNTER: &str = "--count-and-end";

pub fn be_a_counter() -> ! {
    run_on(1);
    let counter = Segment::attach(Path::new("")).unwrap().striped_counter(&metric("x")).unwrap();
    (0..EACH).for_each(|_| counter.add(1));
    // SAFETY: the call ends the process at once.
    unsafe { libc::_exit(0) };
}

fn counters_of_one_word_and_of_many_are_not_mixed_up() {
    let segment = small("words");
    let before = segment.counter(&metric("plain")).unwrap();
    before.add(7);
    segment.striped_counter(&metric("striped")).unwrap().add(9);
    for error in [
        segment.striped_counter(&metric("plain")).map(drop).unwrap_err(),
        segment.counter(&metric("striped")).map(drop).unwrap_err(),
        segment.histogram(&metric("striped"), &Options::default()).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.status(), Status::Incompatible, "{error}");
    }
    // Modulo 2^64, like all counters.
    segment.striped_counter(&metric("striped")).unwrap().add(u64::MAX);
    let mut viewer = view(segment);
    assert_eq!([0, 1].map(|at| viewer.counter(at).unwrap()), [7, 8]);
    let entry = |viewer: &Viewer, at: usize| viewer.entry(at).map(|entry| (entry.kind, entry.bytes)).unwrap();
    assert_eq!(entry(&viewer, 0), (SegmentKind::Counter, 128));
    assert_eq!(entry(&viewer, 1), (SegmentKind::Counter, 1088));
    segment.retire(&metric("striped")).unwrap();
    segment.counter(&metric("striped")).unwrap().add(1);
    viewer.refresh().unwrap();
    assert_eq!((viewer.length(), viewer.counter(1).unwrap(), viewer.counter(2).unwrap()), (3, 8, 1));
}
