//! An allocator that counts the requested sizes in thread-local histograms, one for each power of two. So every
//! allocation of the library leads back into it, at any moment.
#![cfg(feature = "std")]

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use picollo_core::{Mode, Options, SharedHistogram};

const CLASSES: usize = 40;

static SIZES: [AtomicPtr<SharedHistogram>; CLASSES] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; CLASSES];
/// The allocator's own counts.
static ASKED: [AtomicU64; CLASSES] = [const { AtomicU64::new(0) }; CLASSES];

thread_local! {
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

struct Recording;

// SAFETY: it returns what the system's allocator returns.
unsafe impl GlobalAlloc for Recording {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        if RECORDS.try_with(Cell::get).unwrap_or(false) {
            let class = memory.size().max(1).ilog2() as usize;
            // SAFETY: it is set before any thread records, and never freed.
            if let Some(sizes) = unsafe { SIZES[class].load(Acquire).as_ref() } {
                ASKED[class].fetch_add(1, Relaxed);
                sizes.record(memory.size() as u64);
            }
        }
        // SAFETY: forwarded to the system's allocator.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, block: *mut u8, memory: Memory) {
        // SAFETY: forwarded to the system's allocator.
        unsafe { System.dealloc(block, memory) };
    }
}

#[global_allocator]
static ALLOCATOR: Recording = Recording;

fn create() -> SharedHistogram {
    let options = Options {
        mode: Mode::ThreadLocal,
        relative_error: 0.1,
        max_trackable: 1 << 30,
        ..Options::default()
    };
    SharedHistogram::create(&options).unwrap()
}

fn make_classes(classes: impl Fn(usize) -> bool) {
    for class in (0..CLASSES).filter(|&class| classes(class)) {
        SIZES[class].store(Box::into_raw(Box::new(create())), Release);
    }
}

/// Runs a part of the test in a thread that records everything it allocates, until the deadline.
fn in_time(what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    thread::spawn(move || {
        RECORDS.set(true);
        work();
        RECORDS.set(false);
        let _ = done.send(());
    });
    if let Err(error) = finished.recv_timeout(Duration::from_secs(60)) {
        // A panic would drop histograms, which would hang too.
        eprintln!("FAILED: {what}: {error:?}");
        std::process::abort();
    }
}

#[test]
fn whatever_is_allocated_may_be_recorded() {
    // Small blocks and those of histograms have low places in the tables of threads, others have high ones. So a thread
    // that makes a histogram must grow its table for what the registry allocates.
    let histogram_class = create().footprint().ilog2() as usize;
    let is_low = |class| class < 8 || class == histogram_class;
    make_classes(is_low);
    let mut kept: Vec<SharedHistogram> = (0..60).map(|_| create()).collect();
    make_classes(|class| !is_low(class));

    // The registry of histograms grows several times, each time for a thread that has not recorded before.
    let (send, receive) = mpsc::channel();
    for _ in 0..300 {
        let send = send.clone();
        in_time("the registry grows", move || {
            let _small = std::hint::black_box(Box::new([0u8; 16]));
            send.send(create()).unwrap();
        });
        kept.push(receive.recv().unwrap());
    }

    // Meanwhile other threads record for the first time, and end; histograms come and go.
    let threads: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                for _ in 0..50 {
                    in_time("threads come and go", move || {
                        for size in 0..12 {
                            drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << size)));
                        }
                        if number % 2 == 0 {
                            drop((0..70).map(|_| create()).collect::<Vec<_>>());
                        }
                    });
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    drop(kept);

    for class in 0..CLASSES {
        // SAFETY: it is never freed.
        let histogram = unsafe { &*SIZES[class].load(Acquire) };
        let snapshot = histogram.snapshot().unwrap();
        let counts = snapshot.counts();
        assert_eq!((counts.total, counts.lost), (ASKED[class].load(Relaxed), 0), "class {class}");
    }
    assert!(ASKED.iter().map(|asked| asked.load(Relaxed)).sum::<u64>() > 2000);
}
