//! Histograms into which an interrupt handler and the program record at once: one in `.bss` with live reset and a summary
//! as text over semihosting; then a sparse one and one of doubles, with an allocator. A Cortex-M has no 64-bit atomics, and
//! a Cortex-M0 no compare-and-swap: critical sections take their place.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32 as Word, Ordering::*};

use board::{Console, Tests, start_timer};
use picollo_core::doubles::{DoubleHistogram, DoubleOptions, DoubleSnapshot};
use picollo_core::layouts::{AtomicU64, Header, Storage, ValueSelection};
use picollo_core::recorders::Interlocked;
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram, Since, Snapshot};
use picollo_text::{Format, write_summary};

const LAYOUT: Layout = Layout::new(0.1, 0, 16_383);
fn options() -> Options {
    Options {
        mode: Mode::Interlocked,
        // A Cortex-M cannot read or write such words in one step.
        counter_bits: 64,
        relative_error: 0.1,
        max_trackable: 16_383,
        ..Options::default()
    }
}

const SIZE: usize = match Histogram::<[AtomicU64], Interlocked>::required_size(&LAYOUT, true) {
    Ok(size) => size,
    Err(_) => 0,
};

/// Zeros, so that it takes no space in the program's image.
#[repr(C, align(64))]
struct Memory(UnsafeCell<[MaybeUninit<u8>; SIZE]>);
// SAFETY: `main` uses it once, before anybody else runs.
unsafe impl Sync for Memory {}
static MEMORY: Memory = Memory(UnsafeCell::new([MaybeUninit::zeroed(); SIZE]));

static SHARED: AtomicPtr<Header> = AtomicPtr::new(null_mut());
static TICKS: Word = Word::new(0);

fn histogram() -> Option<ManuallyDrop<SharedHistogram>> {
    // SAFETY: the histogram lives in a static, and the reference is not dropped.
    NonNull::new(SHARED.load(Acquire))
        .map(|header| ManuallyDrop::new(unsafe { SharedHistogram::from_raw(header) }))
}

struct Both {
    sparse: SharedHistogram,
    doubles: DoubleHistogram,
}

/// Set when the first histogram is done.
static BOTH: AtomicPtr<Both> = AtomicPtr::new(null_mut());

#[unsafe(no_mangle)]
extern "C" fn tick() {
    let ticks = TICKS.load(Relaxed);
    // SAFETY: it is never freed after it is set.
    if let Some(both) = unsafe { BOTH.load(Acquire).as_ref() } {
        // Occasionally the chunk is new; otherwise it is one that the program uses.
        both.sparse.record(u64::from(ticks % 4) * 900);
        both.doubles.record(f64::from(1u32 << (ticks % 4)));
    } else if let Some(histogram) = histogram() {
        histogram.record(10_000);
    }
    // Only the handler writes it while the timer runs.
    TICKS.store(ticks + 1, Relaxed);
}

const RECORDS: u64 = 20_000;

fn record_while_ticking(histogram: &SharedHistogram) {
    start_timer(997);
    for value in 0..RECORDS {
        histogram.record(value % 1000);
    }
    // The smallest core may finish before there were enough timer interrupts to prove anything.
    while TICKS.load(Relaxed) < 100 {
        histogram.record_n(0, 0);
    }
    start_timer(0);
}

fn in_static_memory(tests: &mut Tests) {
    // SAFETY: from now on the memory belongs to the histogram.
    let made = unsafe { SharedHistogram::init_in(MEMORY.0.get().cast(), SIZE, &options()) };
    let Ok(shared) = made else {
        return tests.check(false, format_args!("no histogram: {made:?}"));
    };
    SHARED.store(shared.into_raw().as_ptr(), Release);
    let Some(histogram) = histogram() else { return tests.check(false, format_args!("no histogram")) };
    let mut snapshot: Snapshot<[u64; LAYOUT.snapshot_words()]> = Snapshot::new(LAYOUT);

    record_while_ticking(&histogram);
    let ticks = u64::from(TICKS.load(Relaxed));
    let updated = histogram.update(&mut snapshot, Since::Reset);
    let counts = snapshot.counts();
    tests.check(updated.is_ok(), format_args!("a snapshot is taken"));
    tests.check(
        counts.total == RECORDS + ticks && counts.lost == 0,
        format_args!("{RECORDS} records and {ticks} of an interrupt handler are {} counts", counts.total),
    );
    let of_ticks = snapshot.bucket_of(10_000).map_or(0, |bucket| bucket.count);
    tests.check(of_ticks == ticks, format_args!("the handler's are {of_ticks} of them"));
    let summary = snapshot.summary(ValueSelection::Midpoint);
    let median = summary.percentiles[5].bucket;
    // The handler's values are above all others, so each moves the median up by half a record.
    let middle = 500 + ticks * 1000 / (2 * RECORDS);
    tests.check(
        median.lower <= middle + 1 && middle - 1 <= median.upper,
        format_args!("the median is in {}..={}", median.lower, median.upper),
    );
    let written = write_summary(&summary, &mut Console, "Cortex-M, interrupts included", Format::Markdown);
    tests.check(written.is_ok(), format_args!("a table over semihosting"));

    let reset = histogram.reset();
    histogram.record(7);
    histogram.record(20_000);
    let updated = histogram.update(&mut snapshot, Since::Reset);
    let counts = snapshot.counts();
    tests.check(
        reset.is_ok() && updated.is_ok() && (counts.total, counts.overflow) == (1, 1),
        format_args!("a live reset, {} value and {} overflow after it", counts.total, counts.overflow),
    );
}

const MORE: u32 = 5_000;

fn with_an_allocator(tests: &mut Tests) {
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
    let (Ok(sparse), Ok(doubles)) = (sparse, doubles) else { return };
    let both: &Both = Box::leak(Box::new(Both { sparse, doubles }));
    BOTH.store(core::ptr::from_ref(both).cast_mut(), Release);

    TICKS.store(0, Relaxed);
    start_timer(2_003);
    for number in 0..MORE {
        both.sparse.record(u64::from(number % 4) * 1_000);
        both.doubles.record(f64::from(1 + number % 8));
    }
    while TICKS.load(Relaxed) < 50 {
        core::hint::spin_loop();
    }
    start_timer(0);
    let ticks = u64::from(TICKS.load(Relaxed));
    let expected = u64::from(MORE) + ticks;

    let mut snapshot = match Snapshot::boxed(*both.sparse.layout()) {
        Ok(snapshot) => snapshot,
        Err(error) => return tests.check(false, format_args!("no room for a snapshot: {error}")),
    };
    let updated = both.sparse.update(&mut snapshot, Since::Reset);
    let counts = snapshot.counts();
    tests.check(
        updated.is_ok() && counts.total + counts.lost == expected && counts.lost == 0,
        format_args!(
            "sparse: {MORE} records and {ticks} of the handler are {}, lost {}",
            counts.total, counts.lost
        ),
    );
    let zeros = snapshot.bucket_of(0).map_or(0, |bucket| bucket.count);
    tests.check(
        zeros == u64::from(MORE).div_ceil(4) + ticks.div_ceil(4),
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
}

#[unsafe(no_mangle)]
extern "C" fn main() -> u32 {
    let mut tests = Tests::default();
    in_static_memory(&mut tests);
    with_an_allocator(&mut tests);
    tests.finish()
}
