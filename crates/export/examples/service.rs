//! A service that serves its metrics: prints its port, records 1 to 1,000 ms for each line of input, then prints how much it recorded.
//! `ci/prometheus.sh` lets a real Prometheus scrape it.

use std::io::BufRead;
use std::sync::{Arc, Mutex};

use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_export::http::{Server, exposition};
use picollo_export::{MetricExemplar, Registry};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let latency = SharedHistogram::create(&Options { relative_error: 0.01, ..Options::default() })?;
    let seconds = Metric {
        name: "rust_seconds",
        help: "How long requests took",
        unit: "seconds",
        divisor: 1e9,
        native: true,
        ..Metric::default()
    };
    let mut registry = Registry::new();
    let ids = [
        registry.add(&latency, &seconds, &[])?,
        registry.add(&latency, &Metric { name: "rust_classic_seconds", native: false, ..seconds }, &[])?,
    ];
    let registry = Arc::new(Mutex::new(registry));
    let server =
        Server::start("127.0.0.1:0", picollo_export::http::Options::default(), exposition(registry.clone()))?;
    println!("{}", server.address().rsplit(':').next().unwrap_or_default());
    let mut recorded = 0;
    for line in std::io::stdin().lock().lines() {
        line?;
        for millis in 1..=1000 {
            latency.record(millis * 1_000_000);
        }
        recorded += 1000;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_nanos() as u64;
        let mut registry = registry.lock().map_err(|_| "poisoned")?;
        for id in ids {
            let slow = MetricExemplar::new(993e6, now, &[("trace_id", "0af7651916cd43dd8448eb211c80319c")])?;
            registry.set_exemplars(id, vec![slow])?;
        }
    }
    println!("{recorded}");
    std::thread::sleep(std::time::Duration::from_secs(600));
    Ok(())
}
