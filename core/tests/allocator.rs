//! Recording when memory is short, and from inside the allocator.
#![cfg(feature = "std")]

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::thread;

use picollo_core::{Error, Mode, Options, SharedHistogram, Since, Snapshot};

thread_local! {
    /// Allocations of this size or more fail in the calling thread.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The histogram that measures the calling thread's allocations.
    static SIZES: Cell<*const SharedHistogram> = const { Cell::new(std::ptr::null()) };
}

struct Limited;

// SAFETY: it returns what the system's allocator returns, or NULL, which is allowed.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let sizes = SIZES.try_with(Cell::get).unwrap_or(std::ptr::null());
        // SAFETY: whoever sets it keeps the histogram alive that long.
        if let Some(sizes) = unsafe { sizes.as_ref() } {
            sizes.record(memory.size() as u64);
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
static ALLOCATOR: Limited = Limited;

fn options(counter_bits: u32) -> Options {
    Options { mode: Mode::ThreadLocal, counter_bits, max_trackable: 100_000, ..Options::default() }
}

fn snapshot(histogram: &SharedHistogram) -> Box<Snapshot> {
    histogram.snapshot().unwrap()
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
        let snapshot = snapshot(&histogram);
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
    let modes = [Mode::SingleWriter, Mode::Interlocked, Mode::ThreadLocal, Mode::PerCpu];
    for mode in modes {
        LIMIT.set(1000);
        // SAFETY: nobody records into it.
        let refused =
            unsafe { SharedHistogram::create_unguarded(&Options { mode, counter_bits: 64, ..options(0) }) };
        LIMIT.set(usize::MAX);
        assert_eq!(refused.map(|_| ()), Err(Error::OutOfMemory));
    }
    let huge = Options { relative_error: 1e-6, ..Options::default() };
    for mode in modes {
        let size = SharedHistogram::required_size(&Options { mode, ..huge });
        match mode {
            Mode::SingleWriter | Mode::Interlocked => assert!(size.is_ok_and(|size| size > 1 << 27)),
            Mode::ThreadLocal | Mode::PerCpu => assert_eq!(size, Err(Error::Unsupported)),
        }
    }
}

/// An allocator records what it allocates: the first record of a thread allocates its shard.
#[test]
fn the_allocator_may_record() {
    let sizes = SharedHistogram::create(&options(0)).unwrap();
    let (results, threads) = (Mutex::new(0), 4);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                SIZES.set(&raw const sizes);
                let kept: Vec<_> = (0..100).map(|_| Box::new([0u8; 5000])).collect();
                SIZES.set(std::ptr::null());
                *results.lock().unwrap() += kept.len() as u64;
            });
        }
    });
    let snapshot = snapshot(&sizes);
    assert_eq!(snapshot.bucket_of(5000).unwrap().count, results.into_inner().unwrap());
    // The shards and tables of the threads were allocated inside a record, so the shared counters counted them.
    assert!(snapshot.counts().total + snapshot.counts().overflow >= threads * 102);
}
