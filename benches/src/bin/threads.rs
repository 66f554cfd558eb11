//! Recording by 1, 2 and 4 threads at once: every mode beside single-writer recording, a plain `fetch_add` on a
//! precomputed index, and the concurrent recorders of the `hdrhistogram` crate.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use picollo_benches::{opaque, skewed_values};
use picollo_core::{Histogram, Interlocked, Layout, Mode, Options, SharedHistogram};

const ERROR: f64 = 0.0005;
const VALUES: usize = 100_000;
const ROUNDS: usize = 21;

/// One way of recording: what each thread does with its values.
struct Contender<'a> {
    name: &'static str,
    /// Whether it makes sense with several threads.
    shared: bool,
    job: Box<dyn Fn(usize) + Sync + 'a>,
}

fn contender<'a>(name: &'static str, shared: bool, job: impl Fn(usize) + Sync + 'a) -> Contender<'a> {
    Contender { name, shared, job: Box::new(job) }
}

/// Runs the job on `threads` threads at once; the time per record of one thread, in ns.
fn run(job: &(dyn Fn(usize) + Sync), threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    // The first run of a thread warms up: its shard, its caches.
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
    let longest = times.into_iter().max().unwrap();
    longest.as_nanos() as f64 / VALUES as f64
}

fn options(mode: Mode, counter_bits: u32, max: u64) -> Options {
    Options { mode, counter_bits, relative_error: ERROR, max_trackable: max, ..Options::default() }
}

fn compare(title: &str, max: u64) {
    let values = skewed_values(VALUES, max);
    let layout = Layout::new(ERROR, 0, max);
    let indices: Vec<u32> = values.iter().map(|&value| layout.storage_index(value) as u32).collect();
    let (values, indices) = (&values, &indices);

    let counts: Vec<AtomicU64> = (0..layout.length()).map(|_| AtomicU64::new(0)).collect();
    let sinks: Vec<AtomicU64> = (0..64).map(|_| AtomicU64::new(0)).collect();
    let single = Histogram::<[AtomicU64]>::boxed(layout, true).unwrap();
    let interlocked = Histogram::<[AtomicU64], Interlocked>::boxed(layout, true).unwrap();
    let create = |mode, bits| SharedHistogram::create(&options(mode, bits, max)).unwrap();
    let [thread_64, thread_32] = [64, 32].map(|bits| create(Mode::ThreadLocal, bits));
    let [inter_64, inter_32] = [64, 32].map(|bits| create(Mode::Interlocked, bits));
    let hdr = || hdrhistogram::Histogram::<u64>::new_with_bounds(1, max.max(2), 3).unwrap();
    let locked = Mutex::new(hdr());
    let synced = Mutex::new(hdrhistogram::SyncHistogram::from(hdr()));
    let shared_64 = create(Mode::SingleWriter, 64);

    fn each<'a>(values: &'a [u64], record: impl Fn(u64) + Sync + 'a) -> impl Fn(usize) + Sync + 'a {
        move |_| opaque(values).iter().for_each(|&value| record(value))
    }
    let contenders = [
        contender("the mapping alone", true, |thread| {
            let sum = opaque(&values[..]).iter().fold(0, |sum, &value| sum ^ layout.storage_index(value));
            sinks[thread * 8 % 64].store(sum, Relaxed);
        }),
        contender("fetch_add on a precomputed index", true, |_| {
            for &index in opaque(&indices[..]) {
                counts[index as usize].fetch_add(1, Relaxed);
            }
        }),
        contender("single writer", false, each(values, |value| single.record(value))),
        contender("single writer, kind at run time", false, each(values, |value| shared_64.record(value))),
        contender("interlocked", true, each(values, |value| interlocked.record(value))),
        contender("interlocked, kind at run time", true, each(values, |value| inter_64.record(value))),
        contender(
            "interlocked, 32-bit, kind at run time",
            true,
            each(values, |value| inter_32.record(value)),
        ),
        contender("thread-local", true, each(values, |value| thread_64.record(value))),
        contender("thread-local, 32-bit", true, each(values, |value| thread_32.record(value))),
        contender("hdrhistogram, SyncHistogram", true, |_| {
            let mut recorder = synced.lock().unwrap().recorder();
            for &value in opaque(&values[..]) {
                recorder.record(value).unwrap();
            }
            // Hand the counts over, or the phase of the recorder never ends.
            drop(recorder);
        }),
        contender(
            "hdrhistogram, Mutex<Histogram>",
            true,
            each(values, |value| {
                locked.lock().unwrap().record(value).unwrap();
            }),
        ),
    ];
    let threads = [1, 2, 4];
    let mut times = vec![[const { Vec::new() }; 3]; contenders.len()];
    for round in 0..ROUNDS + 1 {
        for (contender, times) in contenders.iter().zip(&mut times) {
            for (&threads, times) in threads.iter().zip(times) {
                if threads == 1 || contender.shared {
                    let time = run(&contender.job, threads);
                    if round > 0 {
                        times.push(time);
                    }
                }
            }
        }
        if round % 4 == 0 {
            synced.lock().unwrap().refresh_timeout(Duration::from_millis(1));
        }
    }
    let medians: Vec<[Option<f64>; 3]> = times
        .iter_mut()
        .map(|times| {
            times.each_mut().map(|times| {
                times.sort_unstable_by(f64::total_cmp);
                times.get(times.len() / 2).copied()
            })
        })
        .collect();
    let reference = medians[2][0].unwrap();
    println!("\n##### {title}: ns per record of a thread, and ratio to one single writer");
    println!("| {:38} |     1 thread |    2 threads |    4 threads |", "");
    println!("| :------------------------------------- | -----------: | -----------: | -----------: |");
    for (contender, medians) in contenders.iter().zip(&medians) {
        let cells = medians.map(|median| match median {
            Some(median) => format!("{median:6.2} {:5.2}", median / reference),
            None => String::from("-"),
        });
        println!("| {:38} | {:>12} | {:>12} | {:>12} |", contender.name, cells[0], cells[1], cells[2]);
    }
    let bare = medians[0][0].unwrap() + medians[1][0].unwrap();
    println!("interlocked / (bare fetch_add + mapping) = {:.2}", medians[4][0].unwrap() / bare);
    println!("thread-local / single writer = {:.2}", medians[7][0].unwrap() / reference);
}

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores");
    compare("Narrow range, up to 1 000", 1_000);
    compare("Full range", u64::MAX);
}
