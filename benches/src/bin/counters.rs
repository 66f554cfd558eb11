//! 1, 2 and 4 threads count simultaneously in one shared counter: a racing, interlocked, striped or approximate one.
//!
//!     cargo run --release -p picollo-benches --bin counters
//!
//! The counter has already counted a million, as a typical one has. Times are those of one thread, in ns per event. For
//! racing and approximate counters, the table shows their error afterwards.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use picollo_benches::median;
use picollo_core::counters::{
    StripedCounter, add_approximately, add_capped, add_interlocked, add_racing, add_sensing,
};
use picollo_core::layouts::{AtomicU64, Counter};

const EVENTS: u64 = 400_000;
const BEFORE: u64 = 1_000_000;
const ROUNDS: usize = 15;
const THREADS: [usize; 3] = [1, 2, 4];

/// A counter on a separate cache line.
#[repr(align(128))]
struct Alone(AtomicU64);

/// Time per event of a thread, in ns, and the relative error of the counter afterwards, in per cent.
fn run<S: Sync>(
    counter: &S,
    add: impl Fn(&S) + Sync,
    load: impl Fn(&S) -> u64,
    threads: usize,
) -> (f64, f64) {
    let barrier = Barrier::new(threads);
    let times: Vec<Duration> = std::thread::scope(|scope| {
        let thread = || {
            // The thread's generator and its stack are warm after this.
            add(counter);
            barrier.wait();
            let start = Instant::now();
            for _ in 0..EVENTS {
                add(counter);
            }
            start.elapsed()
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let longest = times.into_iter().max().unwrap_or_default();
    let (counted, events) = (load(counter), BEFORE + (EVENTS + 1) * threads as u64);
    (longest.as_nanos() as f64 / EVENTS as f64, (counted as f64 / events as f64 - 1.0) * 100.0)
}

fn word(name: &str, add: impl Fn(&AtomicU64) + Sync) {
    measure(name, || Alone(AtomicU64::new(BEFORE)), |word| add(&word.0), |word| Counter::load(&word.0));
}

fn measure<S: Sync>(name: &str, make: impl Fn() -> S, add: impl Fn(&S) + Sync, load: impl Fn(&S) -> u64) {
    let mut cells = String::new();
    for threads in THREADS {
        let runs: Vec<(f64, f64)> = (0..ROUNDS).map(|_| run(&make(), &add, &load, threads)).collect();
        let mut times: Vec<f64> = runs.iter().map(|run| run.0).collect();
        let worst =
            runs.iter().map(|run| run.1).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or_default();
        cells.push_str(&format!(" {:8.2} {worst:+7.2} |", median(&mut times)));
    }
    println!("| {name:32} |{cells}");
}

fn main() {
    println!(
        "##### One shared counter: ns per event of a thread, and the worst error in per cent ({} cores here)",
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    println!("| {:32} |         1 thread |        2 threads |        4 threads |", "");
    println!("| :{:-<31} | ---------------: | ---------------: | ---------------: |", "");
    word("racing", |cell| _ = add_racing(cell, 1));
    word("interlocked", |cell| _ = add_interlocked(cell, 1));
    measure(
        "striped, 16 words",
        StripedCounter::new,
        |striped| striped.add(1),
        |striped| BEFORE + striped.load(),
    );
    word("scalable, 2^13", |cell| _ = add_approximately(cell, 1, 13));
    word("capped at 1/1024, 2^13", |cell| _ = add_capped(cell, 1, 13, 10));
    word("sensing, 2^13", |cell| _ = add_sensing(cell, 1, 13));
}
