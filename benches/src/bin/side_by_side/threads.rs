//! Recording by 1 to 4 threads simultaneously.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use histogram::{AtomicHistogram, Histogram as H2};
use picollo_benches::{median, print_table, rounds, values};
use picollo_core::recorders::{Interlocked, SingleWriter};
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram};

use crate::peers::{self, Hdr, Through};
use crate::record::powers;
use crate::{ERROR, MAIN_RANGE};

pub const VALUES: usize = 65_536;
const THREADS: [usize; 4] = [1, 2, 3, 4];

/// The job of each thread with its values; the argument is the thread's number.
pub type Job<'a> = Box<dyn Fn(usize) + Sync + 'a>;

/// Runs the job on `threads` threads at once. Returns the time per record of the slowest, in ns.
pub fn time(job: &Job, threads: usize) -> f64 {
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
    Box::new(move |_| black_box(values).iter().for_each(|&value| record(value)))
}

/// Prints the median times of all jobs in a table for each number of threads, whose text replaces `{}` in the title.
/// `time` runs a job on so many threads, and `between` runs between rounds.
pub fn compare(
    title: &str,
    jobs: &[(&str, Job)],
    threads: &[usize],
    rounds: usize,
    time: fn(&Job, usize) -> f64,
    between: impl Fn(),
) {
    for &threads in threads {
        let mut times = vec![Vec::new(); jobs.len()];
        // The first round warms up.
        for round in 0..rounds + 1 {
            for ((_, job), times) in jobs.iter().zip(&mut times) {
                let time = time(job, threads);
                if round > 0 {
                    times.push(time);
                }
            }
            between();
        }
        let text = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
        let rows: Vec<_> = jobs.iter().zip(&mut times).map(|(job, times)| (job.0, median(times))).collect();
        print_table(&title.replace("{}", &text), "ns/value", &rows);
    }
}

pub fn run() {
    record("narrow range, up to 1000", 1000);
    record("up to 7716549600", MAIN_RANGE);
}

fn record(range: &str, max: u64) {
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
    let (grouping, power) = powers(&layout, max);
    let h2_atomic = AtomicHistogram::new(grouping, power).unwrap();
    let h2_owned = THREADS.map(|_| Mutex::new(H2::new(grouping, power).unwrap()));
    let hdr_c = Hdr::new(max, false);
    let through = |mode| Through::new(mode, 64, max);
    let through_owned: Vec<_> = THREADS.map(|_| through(Mode::SingleWriter)).into();
    let (through_thread, through_atomic) = (through(Mode::ThreadLocal), through(Mode::Interlocked));

    let mut jobs: Vec<(&str, Job)> = vec![
        (
            "picollo, a single-writer histogram for each",
            Box::new(|thread| {
                let own = &mut **owned[thread].lock().unwrap();
                black_box(values).iter().for_each(|&value| own.record(value));
            }),
        ),
        (
            "fetch_add on a precomputed index",
            Box::new(|_| {
                for &index in black_box(indices) {
                    counts[index as usize].fetch_add(1, Relaxed);
                }
            }),
        ),
        ("picollo, thread-local", each(values, |value| thread_local.record(value))),
        ("picollo, thread-local, batch", Box::new(|_| thread_local.record_batch(black_box(values)))),
        ("picollo, interlocked", each(values, |value| interlocked.record(value))),
        ("histogram crate, atomic", each(values, |value| h2_atomic.increment(value).unwrap())),
        (
            "histogram crate, one for each",
            Box::new(|thread| {
                let own = &mut *h2_owned[thread].lock().unwrap();
                black_box(values).iter().for_each(|&value| own.increment(value).unwrap());
            }),
        ),
        (
            "hdrhistogram crate, sync recorder",
            Box::new(|_| {
                let mut recorder = synced.lock().unwrap().recorder();
                for &value in black_box(values) {
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
                unsafe { peers::hdr_record_value_atomic(hdr_c.handle, value as i64) };
            }),
        ));
        let through_owned = &through_owned;
        jobs.push((
            ".so: picollo, a single-writer histogram for each",
            Box::new(move |thread| {
                if let Some(histogram) = &through_owned[thread] {
                    histogram.record(black_box(values));
                }
            }),
        ));
        jobs.push((".so: picollo, thread-local", Box::new(|_| through_thread.record(black_box(values)))));
        jobs.push((".so: picollo, interlocked", Box::new(|_| through_atomic.record(black_box(values)))));
    }

    compare(&format!("Recording by {{}}, {range}"), &jobs, &THREADS, rounds(31), time, || {
        synced.lock().unwrap().refresh_timeout(Duration::from_millis(1));
    });
}
