//! What a span costs with this layer and with `tracing-timing`, side by side in one run: medians of interleaved blocks.
//!
//!     cargo run --release -p picollo-tracing --example against_timing
//!
//! The two do not know the same: `tracing-timing` has the time between events in a span, here of one event that ends it; this
//! layer has
//! the total, busy, idle and self time of each span, and sees no events.

use std::hint::black_box;
use std::time::Instant;

use picollo_tracing::{SpanTimes, Time};
use tracing::{Dispatch, dispatcher::with_default, trace, trace_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_timing::{Builder, Histogram, TimingLayer};

const SPANS: u64 = 20_000;
const BLOCKS: usize = 15;

/// A span with an event at its end, as `tracing-timing` wants it.
fn spans(threads: usize, dispatch: &Dispatch) -> f64 {
    let one = || {
        with_default(dispatch, || {
            let start = Instant::now();
            for at in 0..SPANS {
                trace_span!("request").in_scope(|| {
                    black_box(at);
                    trace!("done");
                });
            }
            start.elapsed().as_nanos() as f64 / SPANS as f64
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
    let times = SpanTimes::new();
    let ours = Dispatch::new(tracing_subscriber::registry().with(times.clone()));
    let timing = Builder::default().layer(|| Histogram::new_with_max(1_000_000_000, 2).expect("two digits"));
    let theirs = Dispatch::new(tracing_subscriber::registry().with(timing));
    let neither = Dispatch::new(tracing_subscriber::registry());
    println!(
        "| ns a span | threads | Picollo | tracing-timing | registry alone | ratio |\n| :-- | --: | --: | --: | --: | --: |"
    );
    let mut recorded = 0;
    for threads in [1, 2] {
        let mut blocks = [const { Vec::new() }; 3];
        for block in 0..=BLOCKS {
            // In turns, one way and the other.
            for at in 0..3 {
                let at = if block % 2 == 0 { at } else { 2 - at };
                let took = spans(threads, [&ours, &theirs, &neither][at]);
                if block > 0 {
                    blocks[at].push(took);
                }
            }
            recorded += SPANS * threads as u64;
            // Its histograms are merged when somebody asks; outside of the times, as a scrape is.
            theirs.downcast_ref::<TimingLayer>().expect("it is in there").force_synchronize();
        }
        let [ours, theirs, neither] = blocks.map(median);
        println!(
            "| a span with an event | {threads} | {ours:.0} | {theirs:.0} | {neither:.0} | {:.2} |",
            ours / theirs
        );
    }
    // The same spans into both: equal counts.
    let counted = times.snapshot("request", Time::Total).expect("there were some").counts().total;
    assert_eq!(counted, recorded);
    let mut theirs_counted = 0;
    theirs.downcast_ref::<TimingLayer>().expect("it is in there").with_histograms(|spans| {
        for histogram in spans.values_mut().flat_map(|events| events.values_mut()) {
            histogram.refresh();
            theirs_counted += histogram.len();
        }
    });
    assert_eq!(theirs_counted, recorded);
    println!("\n{recorded} spans are in both.");
}
