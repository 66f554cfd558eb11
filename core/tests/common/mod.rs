//! Common parts of these tests.
#![allow(dead_code, reason = "each test program uses some of them")]

use picollo_core::layouts::Storage;
use picollo_core::snapshots::Counts;
use picollo_core::{Layout, Mode, Options, SharedHistogram, Snapshot};

/// Who may write, and when cells are allocated.
pub const KINDS: [(Mode, Storage); 6] = [
    (Mode::Interlocked, Storage::Dense),
    (Mode::SingleWriter, Storage::Dense),
    (Mode::ThreadLocal, Storage::Dense),
    (Mode::PerCpu, Storage::Dense),
    (Mode::Interlocked, Storage::Sparse),
    (Mode::SingleWriter, Storage::Sparse),
];

/// Returns the options of all kinds that this build has, with cells of 32 and of 64 bits.
pub fn all_kinds(options: Options) -> impl Iterator<Item = Options> {
    let kinds = KINDS.into_iter().flat_map(|kind| [(kind, 32), (kind, 64)]);
    let of_kind = move |((mode, storage), counter_bits)| Options { mode, storage, counter_bits, ..options };
    // The thread-local mode needs threads, and the per-CPU mode needs cells of 64 bits.
    kinds.map(of_kind).filter(|options| SharedHistogram::estimate(options).is_ok())
}

/// Creates a histogram of any kind. Its tests have one writer at a time where the mode requires it.
pub fn create(options: &Options) -> SharedHistogram {
    // SAFETY: as above; and nothing worse can happen than lost counts, which the tests would find.
    unsafe { SharedHistogram::create_unguarded(options) }.unwrap()
}

/// Storage indices and counts, and the counts outside of the buckets.
pub fn contents(snapshot: &Snapshot) -> (Vec<(usize, u64)>, Counts) {
    (snapshot.recorded_counts().collect(), snapshot.counts())
}

/// Memory of the caller, aligned for histograms.
pub struct Memory(Vec<u64>, usize);

impl Memory {
    /// Returns `size` bytes of zeros.
    pub fn new(size: usize) -> Memory {
        Memory(vec![0; size / 8 + 16], size)
    }

    /// Returns as much as a histogram with these options needs.
    pub fn for_options(options: &Options) -> Memory {
        Memory::new(SharedHistogram::required_size(options).unwrap())
    }

    pub fn start(&mut self) -> *mut u8 {
        let start = self.0.as_mut_ptr();
        start.wrapping_add(start.cast::<u8>().align_offset(SharedHistogram::ALIGNMENT) / 8).cast()
    }

    pub fn size(&self) -> usize {
        self.1
    }
}

/// Random numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The number of records of a stress test: `PICOLLO_STRESS_RECORDS`.
pub fn stress_records() -> u64 {
    std::env::var("PICOLLO_STRESS_RECORDS")
        .map_or(2_000_000, |text| text.parse().expect("a number of records"))
}

/// Sums of what was recorded; the code is too simple to be wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Sums {
    /// By storage index.
    pub buckets: Vec<u128>,
    pub underflow: u128,
    pub overflow: u128,
    pub lost: u128,
}

impl Sums {
    pub fn new(layout: &Layout) -> Sums {
        Sums { buckets: vec![0; layout.length()], underflow: 0, overflow: 0, lost: 0 }
    }

    pub fn record(&mut self, layout: &Layout, value: u64, count: u64) {
        let sum = match layout.bucket_of(value) {
            Some(bucket) => &mut self.buckets[bucket.storage_index as usize],
            None if value < layout.min_trackable() => &mut self.underflow,
            None => &mut self.overflow,
        };
        *sum += u128::from(count);
    }

    /// Adds what a snapshot contains, which must agree with itself.
    pub fn add(&mut self, snapshot: &Snapshot) {
        let Counts { total, underflow, overflow, lost } = snapshot.counts();
        let mut sum = 0;
        for (index, count) in snapshot.recorded_counts() {
            self.buckets[index] += u128::from(count);
            sum += count;
        }
        assert_eq!(sum, total, "a snapshot agrees with itself");
        self.underflow += u128::from(underflow);
        self.overflow += u128::from(overflow);
        self.lost += u128::from(lost);
    }

    pub fn merge(&mut self, other: &Sums) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, count)| *sum += count);
        self.underflow += other.underflow;
        self.overflow += other.overflow;
    }

    pub fn total(&self) -> u128 {
        self.buckets.iter().sum()
    }
}
