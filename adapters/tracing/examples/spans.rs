//! Where a request spends its time:
//!
//!     cargo run -p picollo-tracing --example spans

use std::thread::sleep;
use std::time::Duration;

use picollo_tracing::{SpanTimes, Time};
use tracing::info_span;
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
}
