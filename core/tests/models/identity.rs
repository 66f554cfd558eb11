//! Snapshots distinguish histograms by identity, not by address or by the number of resets.
#![cfg(feature = "std")]

use picollo_core::layouts::AtomicU64;
use picollo_core::{Histogram, Layout, Options, SharedHistogram, Since, Snapshot};

use crate::common::Memory;

const LAYOUT: Layout = Layout::new(0.1, 0, 1000);
type OnStack = Histogram<[AtomicU64; LAYOUT.cells()]>;

fn snapshot() -> Box<Snapshot> {
    Snapshot::boxed(LAYOUT).unwrap()
}

/// The total after an update.
fn total(snapshot: &mut Snapshot, histogram: &OnStack, since: Since) -> u64 {
    snapshot.update(&**histogram, since).unwrap();
    snapshot.counts().total
}

/// Makes a histogram in memory, as a writer does that starts or restarts.
fn make(memory: &mut Memory) -> SharedHistogram {
    // SAFETY: the memory outlives the histograms of these tests, which use one at a time.
    unsafe { SharedHistogram::init_in(memory.start(), memory.size(), &options()) }.unwrap()
}

fn options() -> Options {
    Options { counter_bits: 64, relative_error: 0.1, max_trackable: 1000, ..Options::default() }
}

#[test]
fn histograms_on_the_stack_one_after_another() {
    let (mut monitor, mut since_reset) = (snapshot(), snapshot());
    for count in [100, 30, 1000] {
        let histogram = OnStack::new(LAYOUT);
        histogram.record_n(7, count);
        assert_eq!(total(&mut monitor, &histogram, Since::PreviousUpdate), count);
        histogram.reset().unwrap();
        histogram.record_n(7, 1);
        // Another one was reset as often.
        assert_eq!(total(&mut since_reset, &histogram, Since::Reset), 1);
    }
}

#[test]
fn a_writer_that_starts_again_in_the_same_place() {
    let mut memory = Memory::for_options(&options());
    let (mut monitor, mut since_reset) = (snapshot(), snapshot());
    for count in [1000, 30, 100] {
        let histogram = make(&mut memory);
        histogram.record_n(7, count);
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        assert_eq!(monitor.counts().total, count);
        histogram.reset().unwrap();
        histogram.record(7);
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert_eq!(since_reset.counts().total, 1);
    }
}

#[test]
fn a_cleared_histogram_starts_anew() {
    let (mut monitor, mut since_reset) = (snapshot(), snapshot());
    let mut histogram = OnStack::new(LAYOUT);
    let mut boxed = Histogram::<[AtomicU64]>::boxed(LAYOUT, true).unwrap();
    for count in [1000, 30, 100] {
        histogram.record_n(7, count);
        assert_eq!(total(&mut monitor, &histogram, Since::PreviousUpdate), count);
        histogram.reset().unwrap();
        assert_eq!(total(&mut since_reset, &histogram, Since::Reset), 0);
        histogram = OnStack::new(LAYOUT);
        boxed.record_n(7, count);
        monitor.update(&*boxed, Since::PreviousUpdate).unwrap();
        assert_eq!(monitor.counts().total, count);
        boxed.clear();
    }
}

/// A histogram that moves stays the same one.
#[test]
fn a_histogram_elsewhere_goes_on() {
    let mut monitor = snapshot();
    let histogram = OnStack::new(LAYOUT);
    histogram.record_n(7, 10);
    assert_eq!(total(&mut monitor, &histogram, Since::PreviousUpdate), 10);
    let moved = Box::new(histogram);
    moved.record_n(7, 3);
    assert_eq!(total(&mut monitor, &moved, Since::PreviousUpdate), 3);
}

/// A copied image has the same identity, until one of the two is made anew. A snapshot that follows one and then reads
/// the other counts from what it knew.
#[test]
fn a_copied_image_goes_on_where_the_original_was() {
    let [mut first, mut second] = [(); 2].map(|()| Memory::for_options(&options()));
    let mut monitor = snapshot();
    let original = make(&mut first);
    original.record_n(7, 10);
    original.update(&mut monitor, Since::PreviousUpdate).unwrap();
    // SAFETY: the memory lives as long as both, and the copy is attached only when it is complete.
    let copy = unsafe {
        std::ptr::copy_nonoverlapping(first.start(), second.start(), second.size());
        SharedHistogram::attach(second.start(), second.size()).unwrap()
    };
    copy.record_n(7, 5);
    copy.update(&mut monitor, Since::PreviousUpdate).unwrap();
    assert_eq!(monitor.counts().total, 5);
}

#[test]
fn statics_are_distinguished() {
    static FIRST: OnStack = OnStack::new(LAYOUT);
    static SECOND: OnStack = OnStack::new(LAYOUT);
    let mut monitor = snapshot();
    FIRST.record_n(7, 10);
    SECOND.record_n(7, 4);
    assert_eq!(total(&mut monitor, &FIRST, Since::PreviousUpdate), 10);
    assert_eq!(total(&mut monitor, &SECOND, Since::PreviousUpdate), 4);
    FIRST.record(7);
    // Since the reset, because another one was between.
    assert_eq!(total(&mut monitor, &FIRST, Since::PreviousUpdate), 11);
}
