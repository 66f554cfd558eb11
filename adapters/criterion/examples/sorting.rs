//! Prints criterion's line, and histograms next to it:
//!
//!     cargo run --release -p picollo-criterion --example sorting
//!
//! Run it five times with `PICOLLO_SAVE=main`, and then with `PICOLLO_AGAINST=main`, to compare it with those runs.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use criterion::Criterion;
use picollo_criterion::Picollo;

fn values(length: u64) -> Vec<u64> {
    (0..length).map(|at| at * 7919 % 1009).collect()
}

fn main() -> Result<ExitCode, picollo_native::ExplainedError> {
    let picollo = Picollo::new(&["instructions", "page-faults"])?;
    let mut criterion = Criterion::default()
        .with_measurement(picollo.clone())
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(20)
        .without_plots();
    // This is too short for single iterations, so it measures batches.
    let sorted: Vec<u64> = (0..64).collect();
    criterion.bench_function("search", |bencher| {
        picollo.iter(bencher, "search", || black_box(&sorted).binary_search(black_box(&17)));
    });
    // This is long enough to measure each iteration.
    criterion.bench_function("sort", |bencher| {
        picollo.iter_each(bencher, "sort", || {
            let mut values = values(1000);
            values.sort_unstable();
            values
        });
    });
    Ok(if picollo.finish()? { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
