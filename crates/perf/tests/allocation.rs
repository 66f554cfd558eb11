//! Reading and recording allocate nothing, as a counting allocator shows.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as StdCell;

use common::{Cell, create, watch};
use picollo_native::*;
use picollo_perf::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: StdCell<u64> = const { StdCell::new(0) };
}

// SAFETY: passes everything on to the system's allocator, and counts in a variable without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(body: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(StdCell::get);
    body();
    ALLOCATIONS.with(StdCell::get) - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn reading_and_recording() {
    let cell = Cell::new();
    let events = [watch(&cell), Event::parse("page-faults").unwrap(), Event::parse("task-clock").unwrap()];
    for flags in [0, SESSION_ORDERED | SESSION_SUBTRACT, SESSION_INHERIT] {
        let mut session = create(flags, &events);
        let mut out = [Reading::default(); 3];
        let count = allocations(|| {
            for _ in 0..10 {
                cell.write(3);
                session.read(ReadMode::Auto).unwrap();
                session.readings(true, &mut out).unwrap();
                session.record(true).unwrap();
                session.read(ReadMode::Syscall).unwrap();
                session.readings(false, &mut out).unwrap();
                session.record(false).unwrap();
                session.record(false).unwrap_err();
                session.disable().unwrap();
                session.enable().unwrap();
                session.reset().unwrap();
            }
        });
        assert_eq!(count, 0);
    }
}

/// A refusal to read does not allocate either.
#[test]
fn other_threads() {
    let events = [Event::parse("page-faults").unwrap(), Event::parse("context-switches").unwrap()];
    let mut session = create(0, &events);
    std::thread::scope(|scope| {
        let child = scope.spawn(|| {
            allocations(|| {
                assert_eq!(session.read(ReadMode::Auto).unwrap_err().status(), Status::WrongThread);
                session.read(ReadMode::Syscall).unwrap();
            })
        });
        assert_eq!(child.join().unwrap(), 0);
    });
}

#[test]
fn clocks() {
    let count = allocations(|| {
        Clock::init();
        for clock in [Clock::Monotonic, Clock::Tsc] {
            std::hint::black_box(clock.convert(clock.ticks(), TimeUnit::Picos));
        }
    });
    assert_eq!(count, 0);
}
