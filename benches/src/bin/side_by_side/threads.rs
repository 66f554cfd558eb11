//! Recording by 1 to 4 threads simultaneously.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use picollo_benches::{Report, Section, median, opaque, rounds, values};
use picollo_core::recorders::{Interlocked, SingleWriter};
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram};

use crate::peers::{self, Hdr, Through};
use crate::{ERROR, MAIN_RANGE};

pub const VALUES: usize = 65_536;
const THREADS: [usize; 4] = [1, 2, 3, 4];

/// The job of each thread with its values; the argument is the thread's number.
pub type Job<'a> = Box<dyn Fn(usize) + Sync + 'a>;

/// Runs the job on `threads` threads at once. Returns the time per record of the slowest, in ns.
pub fn time(job: &(dyn Fn(usize) + Sync), threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    // The first run of a thread warms up its shard and its caches.
                    job(thread);
                    barrier.wait();
                    let start = Instant::now();
                    job(thread);
                    start.elapsed()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    times.into_iter().max().unwrap().as_nanos() as f64 / VALUES as f64
}

/// A job that records each value.
pub fn each<'a>(values: &'a [u64], record: impl Fn(u64) + Sync + 'a) -> Job<'a> {
    Box::new(move |_| opaque(values).iter().for_each(|&value| record(value)))
}

pub fn run(report: &mut Report) {
    compare(report, "narrow range, up to 1000", 1000);
    compare(report, "up to 7716549600", MAIN_RANGE);
}

fn compare(report: &mut Report, range: &str, max: u64) {
    let values = values::skewed(VALUES, max);
    let layout = Layout::new(ERROR, 0, max);
    let indices: Vec<u32> = values.iter().map(|&value| layout.storage_index(value) as u32).collect();
    let (values, indices) = (&values[..], &indices[..]);

    let counts: Vec<AtomicU64> = (0..layout.length()).map(|_| AtomicU64::new(0)).collect();
    let single = || Histogram::<[AtomicU64], SingleWriter>::boxed(layout, true).unwrap();
    // These are locked once for all values.
    let owned: Vec<_> = THREADS.map(|_| Mutex::new(single())).into();
    let interlocked = Histogram::<[AtomicU64], Interlocked>::boxed(layout, true).unwrap();
    let options = |mode| Options { mode, relative_error: ERROR, max_trackable: max, ..Options::default() };
    let thread_local = SharedHistogram::create(&options(Mode::ThreadLocal)).unwrap();
    let hdr = || hdrhistogram::Histogram::<u64>::new_with_bounds(1, max.max(2), 3).unwrap();
    let locked = Mutex::new(hdr());
    let synced = Mutex::new(hdrhistogram::SyncHistogram::from(hdr()));
    let hdr_c = Hdr::new(max, false);
    let through = |mode| Through::new(mode, 64, max);
    let through_owned: Vec<_> = THREADS.map(|_| through(Mode::SingleWriter)).into();
    let (through_thread, through_atomic) = (through(Mode::ThreadLocal), through(Mode::Interlocked));

    const SO: &str = ".so: picollo, a single-writer histogram for each";
    const SO_THREAD: &str = ".so: picollo, thread-local";
    let mut jobs: Vec<(&str, Job)> = vec![
        (
            "fetch_add on a precomputed index",
            Box::new(|_| {
                for &index in opaque(indices) {
                    counts[index as usize].fetch_add(1, Relaxed);
                }
            }),
        ),
        (
            "picollo, a single-writer histogram for each",
            Box::new(|thread| {
                let own = &mut **owned[thread].lock().unwrap();
                opaque(values).iter().for_each(|&value| own.record(value));
            }),
        ),
        ("picollo, thread-local", each(values, |value| thread_local.record(value))),
        ("picollo, thread-local, batch", Box::new(|_| thread_local.record_batch(opaque(values)))),
        ("picollo, interlocked", each(values, |value| interlocked.record(value))),
        (
            "hdrhistogram crate, sync recorder",
            Box::new(|_| {
                let mut recorder = synced.lock().unwrap().recorder();
                for &value in opaque(values) {
                    recorder.record(value).unwrap();
                }
                // This hands over the counts; otherwise the phase of the recorder never ends.
                drop(recorder);
            }),
        ),
        ("hdrhistogram crate, Mutex", each(values, |value| locked.lock().unwrap().record(value).unwrap())),
    ];
    if let (Some(hdr_c), Some(through_thread), Some(through_atomic)) =
        (&hdr_c, &through_thread, &through_atomic)
    {
        jobs.push((
            "HdrHistogram_c, atomic",
            each(values, |value| {
                // SAFETY: the histogram is alive, and only this function records into it.
                unsafe { peers::static_hdr_record_value_atomic(hdr_c.handle, value as i64) };
            }),
        ));
        let through_owned = &through_owned;
        jobs.push((
            SO,
            Box::new(move |thread| {
                if let Some(histogram) = &through_owned[thread] {
                    histogram.record(opaque(values));
                }
            }),
        ));
        jobs.push((SO_THREAD, Box::new(|_| through_thread.record(opaque(values)))));
        jobs.push((".so: picollo, interlocked", Box::new(|_| through_atomic.record(opaque(values)))));
    }

    let mut times = vec![[const { Vec::new() }; THREADS.len()]; jobs.len()];
    for round in 0..rounds(31) + 1 {
        for ((_, job), times) in jobs.iter().zip(&mut times) {
            for (&threads, times) in THREADS.iter().zip(times) {
                let time = time(job, threads);
                if round > 0 {
                    times.push(time);
                }
            }
        }
        if round % 4 == 0 {
            synced.lock().unwrap().refresh_timeout(Duration::from_millis(1));
        }
    }
    for (at, threads) in THREADS.into_iter().enumerate() {
        let plural = if threads == 1 { "" } else { "s" };
        let mut section = Section::new(format!("Recording by {threads} thread{plural}, {range}"), "ns/value");
        section.rows =
            jobs.iter().zip(&mut times).map(|(job, times)| (job.0.into(), median(&mut times[at]))).collect();
        section.reference = 1;
        if max == MAIN_RANGE && threads <= 2 {
            let what = format!("thread-local .so / single-writer .so, {threads} thread{plural}");
            report.target(what, section.ratio(SO_THREAD, SO), 1.10);
        }
        section.print();
    }
}
