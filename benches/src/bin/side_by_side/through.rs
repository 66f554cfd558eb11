//! Recording through the shared library into each kind of histogram, with one thread and with two.

use std::hint::black_box;

use picollo_benches::{rounds, values};
use picollo_core::Mode;

use crate::MAIN_RANGE;
use crate::peers::Through;
use crate::threads::{Job, VALUES, compare, time};

/// The number of thread-local histograms that have an entry in the threads' storage.
const ENTRIES: usize = 16;

pub fn run() {
    let values = values::skewed(VALUES, MAIN_RANGE);
    let create = |mode, bits| Through::new(mode, bits, MAIN_RANGE);
    let for_each = |bits| [(); 2].map(|()| create(Mode::SingleWriter, bits));
    let ([Some(wide), Some(wide_too)], [Some(narrow), Some(narrow_too)]) = (for_each(64), for_each(32))
    else {
        return;
    };
    let (wide, narrow) = ([wide, wide_too], [narrow, narrow_too]);
    let shared = |mode, bits| create(mode, bits).expect("as those before");
    let (atomic, atomic_32) = (shared(Mode::Interlocked, 64), shared(Mode::Interlocked, 32));
    let (thread, thread_32) = (shared(Mode::ThreadLocal, 64), shared(Mode::ThreadLocal, 32));
    for _ in 0..20 {
        shared(Mode::ThreadLocal, 64).record(&values);
    }
    let again = shared(Mode::ThreadLocal, 64);
    let _others: Vec<Through> = (3..ENTRIES).map(|_| shared(Mode::ThreadLocal, 64)).collect();
    let beyond = shared(Mode::ThreadLocal, 64);

    let all = |histogram: &Through| histogram.record(black_box(&values));
    let jobs: [(&str, Job); 8] = [
        ("single writer, a histogram for each", Box::new(|at| all(&wide[at]))),
        ("single writer, 32-bit, a histogram for each", Box::new(|at| all(&narrow[at]))),
        ("interlocked", Box::new(|_| all(&atomic))),
        ("interlocked, 32-bit", Box::new(|_| all(&atomic_32))),
        ("thread-local", Box::new(|_| all(&thread))),
        ("thread-local, 32-bit", Box::new(|_| all(&thread_32))),
        ("thread-local, with the entry of one that is gone", Box::new(|_| all(&again))),
        ("thread-local, the seventeenth", Box::new(|_| all(&beyond))),
    ];
    let title = format!(".so: recording into each kind by {{}}, up to {MAIN_RANGE}");
    compare(&title, &jobs, &[1, 2], rounds(101), time, || ());
}
