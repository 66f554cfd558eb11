//! Recording when memory is short, and from inside the allocator: it counts the requested sizes in thread-local
//! histograms, one for each power of two. So every allocation of the library leads back into it, at any moment.
#![cfg(feature = "std")]

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use picollo_core::{Error, Mode, Options, SharedHistogram, Since, Snapshot};

const CLASSES: usize = 40;

static SIZES: [AtomicPtr<SharedHistogram>; CLASSES] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; CLASSES];
/// The allocator's own counts.
static ASKED: [AtomicU64; CLASSES] = [const { AtomicU64::new(0) }; CLASSES];

thread_local! {
    /// Allocations of this size or more fail in the calling thread.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Whether the allocations of the calling thread are counted.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

struct LimitedAndRecording;

// SAFETY: it returns what the system's allocator returns, or NULL, which is allowed.
unsafe impl GlobalAlloc for LimitedAndRecording {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        if RECORDS.try_with(Cell::get).unwrap_or(false) {
            let class = memory.size().max(1).ilog2() as usize;
            // SAFETY: it is set before any thread records, and never freed.
            if let Some(sizes) = unsafe { SIZES[class].load(Acquire).as_ref() } {
                ASKED[class].fetch_add(1, Relaxed);
                sizes.record(memory.size() as u64);
            }
        }
        if memory.size() > LIMIT.try_with(Cell::get).unwrap_or(usize::MAX) {
            return std::ptr::null_mut();
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
static ALLOCATOR: LimitedAndRecording = LimitedAndRecording;

fn options(counter_bits: u32) -> Options {
    Options { mode: Mode::ThreadLocal, counter_bits, max_trackable: 100_000, ..Options::default() }
}

#[test]
fn without_memory_for_a_shard_nothing_is_lost() {
    for counter_bits in [32, 64] {
        let histogram = SharedHistogram::create(&options(counter_bits)).unwrap();
        // Cells that use critical sections have no recorder at all.
        let lacking = cfg!(picollo_critical_64);
        let refused = if lacking && counter_bits == 64 { Error::Unsupported } else { Error::OutOfMemory };
        let empty = histogram.footprint();
        let record = || {
            histogram.record(5);
            histogram.record_n(6, 1 << 33);
            histogram.record_batch(&[7; 9]);
            histogram.record(u64::MAX);
        };
        thread::scope(|scope| {
            // First there is room for neither a table nor a shard, then for a table but no shard.
            for limit in [8, 1000] {
                let (histogram, record) = (&histogram, &record);
                scope.spawn(move || {
                    LIMIT.set(limit);
                    record();
                    let recorder = histogram.recorder().map(|_| ());
                    LIMIT.set(usize::MAX);
                    assert_eq!(recorder, Err(refused));
                });
            }
        });
        assert_eq!(histogram.footprint(), empty, "no shard was made");
        // A thread that has memory again gets a shard.
        record();
        assert!(histogram.footprint() > empty);
        let snapshot = histogram.snapshot().unwrap();
        let count = |value| snapshot.bucket_of(value).unwrap().count;
        assert_eq!([count(5), count(7)], [3, 27]);
        let counts = snapshot.counts();
        assert_eq!((counts.total + counts.lost, counts.overflow), (3 * (1 + (1 << 33) + 9), 3));
        histogram.reset().unwrap();
        histogram.update(&mut Snapshot::boxed(*histogram.layout()).unwrap(), Since::Reset).unwrap();
    }
}

#[test]
fn creation_without_memory_is_an_error() {
    for mode in [Mode::SingleWriter, Mode::Interlocked, Mode::ThreadLocal, Mode::PerCpu] {
        LIMIT.set(1000);
        // SAFETY: nobody records into it.
        let refused =
            unsafe { SharedHistogram::create_unguarded(&Options { mode, counter_bits: 64, ..options(0) }) };
        LIMIT.set(usize::MAX);
        assert_eq!(refused.map(|_| ()), Err(Error::OutOfMemory));
        let huge = Options { mode, relative_error: 1e-6, ..Options::default() };
        let size = SharedHistogram::required_size(&huge);
        match mode {
            Mode::SingleWriter | Mode::Interlocked => assert!(size.is_ok_and(|size| size > 1 << 27)),
            Mode::ThreadLocal | Mode::PerCpu => assert_eq!(size, Err(Error::Unsupported)),
        }
    }
}

fn create() -> SharedHistogram {
    let options = Options { relative_error: 0.1, max_trackable: 1 << 30, ..options(0) };
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
