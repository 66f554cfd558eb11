//! Common parts of the fuzz targets: an allocator that detects excess, and properties of any decoded snapshot.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use picollo_codec::{Codec, Encoding};
use picollo_core::{Error, Snapshot};

/// The largest number of counters of a decoded snapshot here.
pub const MAX_COUNTERS: u64 = 1 << 10;

/// Counts what the process has allocated.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let live = LIVE.fetch_add(memory.size(), Relaxed) + memory.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's promise is forwarded.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, block: *mut u8, memory: Memory) {
        LIVE.fetch_sub(memory.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, memory) }
    }
}

/// Decodes, and panics if that took more memory than the limit on the counters and the length of the input allow.
pub fn decode(bytes: &[u8]) -> Result<Box<Snapshot>, Error> {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let decoded = Snapshot::decode(bytes, MAX_COUNTERS);
    let used = PEAK.load(Relaxed) - before;
    // This covers the snapshot, the inflated encoding (twice, while it grows), and the text as bytes.
    let limit = 16 * MAX_COUNTERS as usize + 2 * (64 + 9 * MAX_COUNTERS as usize) + bytes.len() + 65_536;
    assert!(used <= limit, "{used} bytes allocated for {} of input", bytes.len());
    decoded
}

/// Counts by logical index.
pub fn counts(snapshot: &Snapshot) -> Vec<(u64, u64)> {
    snapshot.recorded_buckets().map(|bucket| (bucket.logical_index, bucket.count)).collect()
}

/// Checks the properties of any decoded snapshot: totals and limits, and that encoding it again preserves it.
pub fn check(snapshot: &Snapshot) {
    let layout = snapshot.layout();
    assert!(layout.length() as u64 <= MAX_COUNTERS);
    let recorded = counts(snapshot);
    let total: u128 = recorded.iter().map(|&(_, count)| u128::from(count)).sum();
    assert_eq!(u128::from(snapshot.counts().total), total.min(u128::from(u64::MAX)));

    let native = snapshot.encode_to_vec(Encoding::Native).unwrap();
    assert_eq!(snapshot.encoded_length(Encoding::Native), Ok(native.len()));
    let again = decode(&native).unwrap();
    assert_eq!(again.layout(), layout);
    assert_eq!(again.counts(), snapshot.counts());
    assert_eq!(counts(&again), recorded);
    assert_eq!(again.encode_to_vec(Encoding::Native).unwrap(), native);

    // HdrHistogram's layouts begin at 0, so they may need more counters than the limit.
    let Ok(v2) = snapshot.encode_to_vec(Encoding::HdrV2) else { return };
    match decode(&v2) {
        Ok(again) => {
            assert_eq!(counts(&again), recorded);
            assert_eq!(again.encode_to_vec(Encoding::HdrV2).unwrap(), v2);
        }
        Err(error) => assert_eq!((error, layout.first_index() > 0), (Error::OutOfMemory, true)),
    }
}
