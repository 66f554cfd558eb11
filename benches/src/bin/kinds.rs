//! Recording by one thread into the kinds that allocate on first touch, hot, beside the dense ones.
//!
//!     cargo run --release -p picollo-benches --bin kinds

use picollo_benches::{Contender, Section, contender, medians, opaque, values};
use picollo_core::{
    DoubleHistogram, DoubleOptions, DoubleSnapshot, Mode, Options, SharedHistogram, Since, Snapshot, Storage,
};

const VALUES: usize = 100_000;
const ROUNDS: usize = 51;

fn print(title: impl Into<String>, unit: &'static str, contenders: &mut [Contender], items: usize) {
    let times = medians(contenders, items, ROUNDS);
    let mut section = Section::new(title, unit);
    section.extend(contenders, &times);
    section.print();
}

fn create(mode: Mode, storage: Storage) -> SharedHistogram {
    let options = Options { mode, storage, ..Options::default() };
    // SAFETY: one thread does everything.
    unsafe { SharedHistogram::create_unguarded(&options) }.expect("a histogram")
}

fn doubles(exact: bool) -> DoubleHistogram {
    DoubleHistogram::new(&DoubleOptions { exact, ..DoubleOptions::default() }).expect("a histogram")
}

fn compare(title: &str, values: &[u64]) {
    let floats: Vec<f64> = values.iter().map(|&value| value as f64 / 1e3).collect();
    let (values, floats) = (&values, &floats[..]);
    let integers = [
        (Mode::Interlocked, Storage::Dense),
        (Mode::Interlocked, Storage::Sparse),
        (Mode::SingleWriter, Storage::Dense),
        (Mode::SingleWriter, Storage::Sparse),
    ];
    let [dense, sparse, dense_alone, sparse_alone] = integers.map(|(mode, storage)| create(mode, storage));
    let (plain, exact) = (doubles(false), doubles(true));
    let each = |histogram: &SharedHistogram| {
        opaque(&values[..]).iter().for_each(|&value| histogram.record(value));
    };
    let mut contenders = [
        contender("interlocked, dense", || each(&dense)),
        contender("interlocked, sparse", || each(&sparse)),
        contender("single writer, dense", || each(&dense_alone)),
        contender("single writer, sparse", || each(&sparse_alone)),
        contender("interlocked, dense, batch", || dense.record_batch(opaque(values))),
        contender("interlocked, sparse, batch", || sparse.record_batch(opaque(values))),
        contender("doubles", || opaque(floats).iter().for_each(|&value| plain.record(value))),
        contender("doubles, exact sum", || opaque(floats).iter().for_each(|&value| exact.record(value))),
    ];
    print(format!("{title}: recording, ratio to interlocked, dense"), "ns/value", &mut contenders, VALUES);
}

/// What a reader pays.
fn reading(values: &[u64]) {
    let [dense, sparse] = [Storage::Dense, Storage::Sparse].map(|storage| create(Mode::Interlocked, storage));
    let floats = doubles(false);
    for &value in values {
        dense.record(value);
        sparse.record(value);
    }
    let [mut first, mut second] =
        [&dense, &sparse].map(|h| Snapshot::boxed(*h.layout()).expect("a snapshot"));
    let mut snapshot = DoubleSnapshot::new();
    let mut contenders = [
        contender("snapshot, dense", || {
            dense.update(&mut first, Since::Reset).expect("no reset is under way")
        }),
        contender("snapshot, sparse", || {
            sparse.update(&mut second, Since::Reset).expect("no reset is under way")
        }),
        contender("record 1000 doubles, collect", || {
            values[..1000].iter().for_each(|&value| floats.record(value as f64));
            floats.collect(&mut snapshot).expect("no collection is under way");
        }),
    ];
    print("Reading", "µs", &mut contenders, 1000);
}

fn main() {
    compare("Values up to 7.7e9", &values::skewed(VALUES, 7_700_000_000));
    compare("Values up to 1e6", &values::skewed(VALUES, 1_000_000));
    reading(&values::skewed(VALUES, 7_700_000_000));
}
