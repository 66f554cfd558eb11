//! Shows where a request spends its time:
//!
//!     cargo run --release -p picollo-tracing --example spans
//!
//! It also prints the cost of a span, with this layer and without any.

use std::thread::sleep;
use std::time::{Duration, Instant};

use picollo_tracing::{SpanTimes, Time};
use tracing::{Dispatch, dispatcher::with_default, info_span};
use tracing_subscriber::layer::SubscriberExt;

fn main() {
    let times = SpanTimes::new();
    let subscriber = tracing_subscriber::registry().with(times.clone());
    tracing::subscriber::with_default(subscriber, || {
        for request in 0..50 {
            info_span!("request", request).in_scope(|| {
                info_span!("query").in_scope(|| sleep(Duration::from_micros(300)));
                sleep(Duration::from_micros(100));
            });
        }
    });
    println!("| span | time | count | mean, us |\n| :-- | :-- | --: | --: |");
    for name in times.names() {
        for time in [Time::Total, Time::Busy, Time::Idle, Time::SelfTime] {
            let snapshot = times.snapshot(name, time).expect("there were some");
            let mean = snapshot.moments().mean / 1e3;
            println!("| {name} | {time:?} | {} | {mean:.0} |", snapshot.counts().total);
        }
    }
    let with = Dispatch::new(tracing_subscriber::registry().with(SpanTimes::new()));
    let without = Dispatch::new(tracing_subscriber::registry());
    // They alternate, and the fastest of each counts, because other work on the machine only adds time.
    let (mut ours, mut bare) = (f64::MAX, f64::MAX);
    for _ in 0..15 {
        (ours, bare) = (ours.min(cost(&with)), bare.min(cost(&without)));
    }
    println!("\na span takes {ours:.0} ns with this layer, and {bare:.0} without any");
}

/// Nanoseconds for an empty span.
fn cost(dispatch: &Dispatch) -> f64 {
    const SPANS: u32 = 20_000;
    with_default(dispatch, || {
        let start = Instant::now();
        (0..SPANS).for_each(|_| info_span!("empty").in_scope(|| ()));
        start.elapsed().as_nanos() as f64 / f64::from(SPANS)
    })
}
