//! Workers that are killed at any moment: their records are there, once, and nobody waits for them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use picollo_segment::*;

use crate::common::named;
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![killed_workers_leave_right_counts,];

const WORKERS: usize = 4;

/// Memory that children share.
fn ledgers() -> &'static [AtomicU64; WORKERS] {
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: new memory, zeroed, which stays.
    unsafe {
        let memory =
            libc::mmap(core::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        &*memory.cast()
    }
}

/// `PICOLLO_KILLS=1000` is the long form.
fn killed_workers_leave_right_counts() {
    let kills: u64 = std::env::var("PICOLLO_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    let segment =
        Segment::create(&SegmentOptions { name: "killed", max_bytes: 64 << 20, ..Default::default() })
            .unwrap();
    let histogram = open(segment, "x");
    let ledgers = ledgers();
    let mut random = Random(42);
    let mut born = 0;
    let mut work = |at: usize| {
        born += 1;
        let seed = born;
        start(|| {
            end_with_parent();
            let mut random = Random(seed * 0x9e37_79b9);
            loop {
                for _ in 0..50 {
                    histogram.record(1 + random.next() % 1_000_000);
                    ledgers[at].fetch_add(1, Relaxed);
                }
                // Workers are also killed while an entry is made or found.
                segment.counter(&metric(&format!("of{}", random.next() % 2000))).unwrap();
            }
        })
    };
    let mut workers: Vec<i32> = (0..WORKERS).map(&mut work).collect();
    for round in 1..=kills {
        let at = random.next() as usize % WORKERS;
        std::thread::sleep(std::time::Duration::from_micros(random.next() % 3000));
        kill(workers[at]);
        workers[at] = work(at);
        if round.is_multiple_of(16) {
            // Read while they write: at least what they noted before, at most what they noted afterwards or have open.
            let before: u64 = ledgers.iter().map(|ledger| ledger.load(Relaxed)).sum();
            let mut viewer = view(segment);
            let total = viewer.snapshot(0).unwrap().counts().total;
            let after: u64 = ledgers.iter().map(|ledger| ledger.load(Relaxed)).sum();
            assert!((before..=after + round + WORKERS as u64).contains(&total), "{before} {total} {after}");
        }
    }
    for worker in workers {
        kill(worker);
    }
    let noted: u64 = ledgers.iter().map(|ledger| ledger.load(Relaxed)).sum();
    let mut viewer = view(segment);
    let counts = viewer.snapshot(0).unwrap().counts();
    assert!(
        (noted..=noted + kills + WORKERS as u64).contains(&counts.total),
        "{noted} noted, {} there",
        counts.total
    );
    assert_eq!((counts.underflow, counts.overflow, counts.lost), (0, 0, 0));
    // No name occurs twice, and unfinished entries are not in the way.
    let mut names: Vec<&str> = viewer.entries().map(|entry| entry.name.as_str()).collect();
    let number = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), number);
    segment.counter(&metric("afterwards")).unwrap().add(1);
    viewer.refresh().unwrap();
    assert_eq!(viewer.length(), number + 1);
    println!("{kills} kills, {noted} records, {number} entries");
}
