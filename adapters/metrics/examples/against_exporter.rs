//! The cost of a record with this recorder and the usual one, in one run: medians of interleaved blocks.
//!
//!     cargo run --release -p picollo-metrics --example against_exporter
//!
//! The other one keeps every value until a scrape; here that happens after each block, outside of the times.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use metrics::{Recorder, histogram, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;

const RECORDS: u32 = 200_000;
const BLOCKS: usize = 15;

type Work = fn(u32);

fn kept(records: u32) {
    let kept = histogram!("kept");
    for record in 0..records {
        kept.record(black_box(record as f64 * 1e-6));
    }
}

fn by_macro(records: u32) {
    for record in 0..records {
        histogram!("by_macro").record(black_box(record as f64 * 1e-6));
    }
}

fn by_macro_with_labels(records: u32) {
    for record in 0..records {
        histogram!("labelled", "route" => "/", "method" => "GET").record(black_box(record as f64 * 1e-6));
    }
}

fn by_macro_with_made_labels(records: u32) {
    for record in 0..records {
        let route = black_box(["/", "/a", "/b", "/c"][record as usize % 4]);
        histogram!("made", "route" => route).record(black_box(record as f64 * 1e-6));
    }
}

/// Nanoseconds per record in each of several threads, which have recorded before.
fn time(recorder: &(dyn Recorder + Sync), threads: usize, work: Work) -> f64 {
    let barrier = Barrier::new(threads);
    let one = || {
        with_local_recorder(recorder, || {
            work(1000);
            barrier.wait();
            let start = Instant::now();
            work(RECORDS);
            start.elapsed().as_nanos() as f64 / f64::from(RECORDS)
        })
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let mine = one();
        (mine + others.into_iter().map(|other| other.join().expect("it does not panic")).sum::<f64>())
            / threads as f64
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let ours = picollo_metrics::Builder::new().build().expect("the defaults are right");
    let theirs = PrometheusBuilder::new().build_recorder();
    let handle = theirs.handle();
    println!("| ns a record | threads | Picollo | exporter | ratio |\n| :-- | --: | --: | --: | --: |");
    let rows: [(&str, usize, Work); 7] = [
        ("kept handle", 1, kept),
        ("macro", 1, by_macro),
        ("macro, labels of literals", 1, by_macro_with_labels),
        ("macro, labels made each time", 1, by_macro_with_made_labels),
        ("kept handle", 2, kept),
        ("macro", 2, by_macro),
        ("macro, labels made each time", 2, by_macro_with_made_labels),
    ];
    for (what, threads, work) in rows {
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            our_times.push(time(&ours, threads, work));
            their_times.push(time(&theirs, threads, work));
            handle.run_upkeep();
        }
        let (our, their) = (median(our_times), median(their_times));
        println!("| {what} | {threads} | {our:.1} | {their:.1} | {:.2} |", our / their);
    }
}
