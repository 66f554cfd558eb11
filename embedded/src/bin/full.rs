//! A histogram in `.bss`, into which an interrupt handler and the program record at once, through critical sections;
//! live reset; a summary as text over semihosting.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32 as Word, Ordering::*};

use board::{Console, Tests, start_timer};
use picollo_core::layouts::{AtomicU64, Header, ValueSelection};
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

#[unsafe(no_mangle)]
extern "C" fn tick() {
    if let Some(histogram) = histogram() {
        histogram.record(10_000);
        // Only the handler writes it.
        TICKS.store(TICKS.load(Relaxed) + 1, Relaxed);
    }
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

#[unsafe(no_mangle)]
extern "C" fn main() -> u32 {
    let mut tests = Tests::default();
    // SAFETY: from now on the memory belongs to the histogram.
    let made = unsafe { SharedHistogram::init_in(MEMORY.0.get().cast(), SIZE, &options()) };
    let Ok(shared) = made else {
        tests.check(false, format_args!("no histogram: {made:?}"));
        return tests.finish();
    };
    SHARED.store(shared.into_raw().as_ptr(), Release);
    let Some(histogram) = histogram() else { return 1 };
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
    let heap = SharedHistogram::create(&options()).err();
    tests.check(
        heap == Some(picollo_core::Error::Unsupported),
        format_args!("a histogram on the heap is refused: there is none"),
    );
    tests.finish()
}
