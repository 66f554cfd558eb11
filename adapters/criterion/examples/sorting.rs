//! Criterion's line, and histograms beside it:
//!
//!     cargo run --release -p picollo-criterion --example sorting
//!
//! With `PICOLLO_SAVE=main` five times, and then `PICOLLO_AGAINST=main`, it remembers.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use criterion::Criterion;
use picollo_criterion::Picollo;

fn values(length: u64) -> Vec<u64> {
    (0..length).map(|at| at * 7919 % 1009).collect()
}

fn main() -> Result<ExitCode, picollo_native::Error> {
    let picollo = Picollo::new(&["instructions", "page-faults"])?;
    let mut criterion = Criterion::default()
        .with_measurement(picollo.clone())
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(20)
        .without_plots();
    // Short: batches.
    let sorted: Vec<u64> = (0..64).collect();
    criterion.bench_function("search", |bencher| {
        picollo.iter(bencher, "search", || black_box(&sorted).binary_search(black_box(&17)));
    });
    // Long enough for each iteration to be seen.
    criterion.bench_function("sort", |bencher| {
        picollo.iter_each(bencher, "sort", || {
            let mut values = values(1000);
            values.sort_unstable();
            values
        });
    });
    Ok(if picollo.finish()? { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
