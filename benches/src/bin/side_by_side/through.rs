//! Recording through the shared library into each kind of histogram, with one thread and with two.

use picollo_benches::{Report, Section, median, opaque, rounds, values};
use picollo_core::Mode;

use crate::MAIN_RANGE;
use crate::peers::Through;
use crate::threads::{VALUES, time};

/// The number of thread-local histograms that have an entry in the threads' storage.
const ENTRIES: usize = 16;

const SINGLE: &str = "single writer, a histogram for each";
const SINGLE_32: &str = "single writer, 32-bit, a histogram for each";
const INTERLOCKED: &str = "interlocked";
const INTERLOCKED_32: &str = "interlocked, 32-bit";
const THREAD: &str = "thread-local";
const THREAD_32: &str = "thread-local, 32-bit";
const AGAIN: &str = "thread-local, with the entry of one that is gone";
const BEYOND: &str = "thread-local, the seventeenth";

pub fn run(report: &mut Report) {
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

    let all = |histogram: &Through| histogram.record(opaque(&values));
    let jobs: [(&str, &(dyn Fn(usize) + Sync)); 8] = [
        (SINGLE, &|at| all(&wide[at])),
        (SINGLE_32, &|at| all(&narrow[at])),
        (INTERLOCKED, &|_| all(&atomic)),
        (INTERLOCKED_32, &|_| all(&atomic_32)),
        (THREAD, &|_| all(&thread)),
        (THREAD_32, &|_| all(&thread_32)),
        (AGAIN, &|_| all(&again)),
        (BEYOND, &|_| all(&beyond)),
    ];
    for threads in [1, 2] {
        let mut times = [const { Vec::new() }; 8];
        // The first round warms up.
        for round in 0..rounds(101) + 1 {
            for ((_, job), times) in jobs.iter().zip(&mut times) {
                let time = time(*job, threads);
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let plural = if threads == 1 { "" } else { "s" };
        let title = format!(".so: recording into each kind by {threads} thread{plural}, up to {MAIN_RANGE}");
        let mut section = Section::new(title, "ns/value");
        section.rows =
            jobs.iter().zip(&mut times).map(|(job, times)| (job.0.into(), median(times))).collect();
        for (of, to, limit) in [
            (THREAD, SINGLE, 1.10),
            (AGAIN, SINGLE, 1.10),
            (BEYOND, SINGLE, 1.45),
            (SINGLE_32, SINGLE, 1.10),
            (THREAD_32, THREAD, 1.25),
        ] {
            report.target(
                format!(".so: {of} / {to}, {threads} thread{plural}"),
                section.ratio(of, to),
                limit,
            );
        }
        section.print();
    }
}
