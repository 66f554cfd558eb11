//! Recording compared with the `histogram` crate (H2), the nearest peer: its buckets are as wide, and both are inlined.
//!
//! The cost of its branches depends on whether the processor can learn the values, so there are few and many.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use histogram::{AtomicHistogram, Histogram as H2};
use picollo_benches::{Report, Section, contender, medians, opaque, rounds, values};
use picollo_core::recorders::{Interlocked, SingleWriter};
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram};

use crate::threads::{Job, each, time};
use crate::{ERROR, MAIN_RANGE};

const WRITER: &str = "picollo, single writer, a writer in a loop";
const INLINED: &str = "picollo, single writer, inlined";
const H2_INLINED: &str = "histogram crate";
const INTERLOCKED: &str = "picollo, interlocked, inlined";
const H2_ATOMIC: &str = "histogram crate, atomic";
const THREAD_LOCAL: &str = "picollo, thread-local";

pub fn run(report: &mut Report) {
    for (what, number, limit) in
        [("4,096 skewed values, cached", 4096, 0.95), ("a million skewed values", 1 << 20, 0.5)]
    {
        let section = by_one_thread(what, &values::skewed(number, MAIN_RANGE));
        report.target(
            format!("inlined in a loop / histogram crate, {what}"),
            section.ratio(WRITER, H2_INLINED),
            limit,
        );
        section.print();
    }
    by_threads(report);
}

/// As wide as ours: 1024 buckets for each doubling, up to the power of two just above the range.
fn powers() -> (u8, u8) {
    let layout = Layout::new(ERROR, 0, MAIN_RANGE);
    (layout.scale() as u8, (64 - MAIN_RANGE.leading_zeros()) as u8)
}

fn by_one_thread(what: &str, values: &[u64]) -> Section {
    let layout = Layout::new(ERROR, 0, MAIN_RANGE);
    let single = || Histogram::<[AtomicU64], SingleWriter>::boxed(layout, true).unwrap();
    let (mut inlined, mut batch, mut of_writer) = (single(), single(), single());
    let interlocked = Histogram::<[AtomicU64], Interlocked>::boxed(layout, true).unwrap();
    let (grouping, max) = powers();
    let mut h2 = H2::new(grouping, max).unwrap();
    let h2_atomic = AtomicHistogram::new(grouping, max).unwrap();
    assert!(h2.config().error() >= 200.0 * layout.relative_error(), "buckets as wide as ours");

    let mut contenders = [
        contender(H2_INLINED, || opaque(values).iter().for_each(|&value| h2.increment(value).unwrap())),
        contender(WRITER, || {
            let (mut writer, _) = of_writer.split();
            opaque(values).iter().for_each(|&value| writer.record(value));
        }),
        contender(INLINED, || opaque(values).iter().for_each(|&value| inlined.record(value))),
        contender("picollo, single writer, batch", || batch.record_batch(opaque(values))),
        contender(H2_ATOMIC, || {
            opaque(values).iter().for_each(|&value| h2_atomic.increment(value).unwrap());
        }),
        contender(INTERLOCKED, || opaque(values).iter().for_each(|&value| interlocked.record(value))),
    ];
    let mut section = Section::new(format!("Recording beside the histogram crate, {what}"), "ns/value");
    let medians =
        medians(&mut contenders, values.len(), rounds(if values.len() < 10_000 { 501 } else { 41 }));
    section.extend(&contenders, &medians);
    section
}

fn by_threads(report: &mut Report) {
    const THREADS: usize = 2;
    let values = values::skewed(crate::threads::VALUES, MAIN_RANGE);
    let values = &values[..];
    let layout = Layout::new(ERROR, 0, MAIN_RANGE);
    let interlocked = Histogram::<[AtomicU64], Interlocked>::boxed(layout, true).unwrap();
    let options = Options {
        mode: Mode::ThreadLocal,
        relative_error: ERROR,
        max_trackable: MAIN_RANGE,
        ..Options::default()
    };
    let thread_local = SharedHistogram::create(&options).unwrap();
    let (grouping, max) = powers();
    let h2_atomic = AtomicHistogram::new(grouping, max).unwrap();
    let owned = [(); THREADS].map(|()| Mutex::new(H2::new(grouping, max).unwrap()));
    let jobs: [(&str, Job); 4] = [
        (H2_ATOMIC, each(values, |value| h2_atomic.increment(value).unwrap())),
        (
            "histogram crate, one for each",
            Box::new(|thread| {
                let own = &mut *owned[thread].lock().unwrap();
                opaque(values).iter().for_each(|&value| own.increment(value).unwrap());
            }),
        ),
        (THREAD_LOCAL, each(values, |value| thread_local.record(value))),
        (INTERLOCKED, each(values, |value| interlocked.record(value))),
    ];
    let mut times = jobs.each_ref().map(|_| Vec::new());
    for round in 0..rounds(31) + 1 {
        for ((_, job), times) in jobs.iter().zip(&mut times) {
            let time = time(job, THREADS);
            if round > 0 {
                times.push(time);
            }
        }
    }
    let mut section = Section::new(
        format!("Recording by {THREADS} threads beside the histogram crate, up to {MAIN_RANGE}"),
        "ns/value",
    );
    let medians = times.iter_mut().map(|times| picollo_benches::median(times));
    section.rows = jobs.iter().zip(medians).map(|(job, median)| (job.0.into(), median)).collect();
    for (what, of, limit) in [("thread-local", THREAD_LOCAL, 0.5), ("interlocked", INTERLOCKED, 1.1)] {
        report.target(
            format!("{what} / histogram crate, atomic, {THREADS} threads"),
            section.ratio(of, H2_ATOMIC),
            limit,
        );
    }
    section.print();
}
