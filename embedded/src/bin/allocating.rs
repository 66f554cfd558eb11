//! Sparse histograms and histograms of doubles, with an allocator. An interrupt handler and the program record into
//! them at once. On a Cortex-M0, which has no compare-and-swap, the first touch of a chunk uses critical sections.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32 as Word, Ordering::*};

use board::{Tests, start_timer};
use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
use picollo_core::layouts::Storage;
use picollo_core::{Mode, Options, SharedHistogram, Since, Snapshot};

struct Both {
    sparse: SharedHistogram,
    doubles: DoubleHistogram,
}

static BOTH: AtomicPtr<Both> = AtomicPtr::new(null_mut());
static TICKS: Word = Word::new(0);

#[unsafe(no_mangle)]
extern "C" fn tick() {
    // SAFETY: it is never freed after it is set.
    if let Some(both) = unsafe { BOTH.load(Acquire).as_ref() } {
        let ticks = TICKS.load(Relaxed);
        // Occasionally the chunk is new; otherwise it is one that the program uses.
        both.sparse.record(u64::from(ticks % 4) * 900);
        both.doubles.record(f64::from(1u32 << (ticks % 4)));
        TICKS.store(ticks + 1, Relaxed);
    }
}

const RECORDS: u32 = 5_000;

#[unsafe(no_mangle)]
extern "C" fn main() -> u32 {
    let mut tests = Tests::default();
    let options = Options {
        mode: Mode::Interlocked,
        storage: Storage::Sparse,
        relative_error: 0.1,
        max_trackable: 4_095,
        ..Options::default()
    };
    let sparse = SharedHistogram::create(&options);
    let doubles = DoubleHistogram::new(&DoubleOptions { relative_error: 0.1, ..DoubleOptions::default() });
    tests.check(
        sparse.is_ok() && doubles.is_ok(),
        format_args!("sparse: {:?}, doubles: {:?}", sparse.as_ref().err(), doubles.as_ref().err()),
    );
    let (Ok(sparse), Ok(doubles)) = (sparse, doubles) else { return tests.finish() };
    let both: &Both = Box::leak(Box::new(Both { sparse, doubles }));
    BOTH.store(core::ptr::from_ref(both).cast_mut(), Release);

    start_timer(2_003);
    for number in 0..RECORDS {
        both.sparse.record(u64::from(number % 4) * 1_000);
        both.doubles.record(f64::from(1 + number % 8));
    }
    while TICKS.load(Relaxed) < 50 {
        core::hint::spin_loop();
    }
    start_timer(0);
    let ticks = u64::from(TICKS.load(Relaxed));
    let expected = u64::from(RECORDS) + ticks;

    let mut snapshot = match Snapshot::boxed(*both.sparse.layout()) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            tests.check(false, format_args!("no room for a snapshot: {error}"));
            return tests.finish();
        }
    };
    let updated = both.sparse.update(&mut snapshot, Since::Reset);
    let counts = snapshot.counts();
    tests.check(
        updated.is_ok() && counts.total + counts.lost == expected && counts.lost == 0,
        format_args!(
            "sparse: {RECORDS} records and {ticks} of the handler are {}, lost {}",
            counts.total, counts.lost
        ),
    );
    let zeros = snapshot.bucket_of(0).map_or(0, |bucket| bucket.count);
    tests.check(
        zeros == u64::from(RECORDS).div_ceil(4) + ticks.div_ceil(4),
        format_args!("sparse: {zeros} of them are 0"),
    );
    tests.check(
        both.sparse.reset().is_ok()
            && both.sparse.update(&mut snapshot, Since::Reset).is_ok()
            && snapshot.counts().total == 0,
        format_args!("sparse: a live reset"),
    );

    let mut collected = DoubleSnapshot::new();
    let done = both.doubles.collect(&mut collected);
    tests.check(
        done.is_ok() && collected.count() == expected && collected.lost() == 0,
        format_args!("doubles: {} values, {} lost", collected.count(), collected.lost()),
    );
    let median = collected.quantile(0.5).unwrap_or(0.0);
    tests.check((3.0..=6.0).contains(&median), format_args!("doubles: the median is {median:.2}"));
    both.doubles.record(1.0);
    let done = both.doubles.collect(&mut collected);
    tests.check(done.is_ok() && collected.count() == 1, format_args!("doubles: a new interval"));
    tests.finish()
}
