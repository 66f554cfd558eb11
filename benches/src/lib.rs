//! The method of the benchmarks: contenders on the same values, interleaved, medians, ratios in one run.

pub mod values;

use std::time::Instant;

/// One way to do the measured job.
pub struct Contender<'a> {
    /// Its name in the table.
    pub name: &'static str,
    /// Does the whole job once.
    pub run: Box<dyn FnMut() + 'a>,
}

/// Makes a contender from a closure.
pub fn contender<'a>(name: &'static str, run: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, run: Box::new(run) }
}

/// Runs all contenders in turn, `rounds` times, and returns the median time of each in ns per item.
///
/// Interleaving spreads other work of the machine over all contenders, and the median excludes the rest. Each runs once
/// before it is timed, so that the cache contents of others do not count.
pub fn medians(contenders: &mut [Contender], items: usize, rounds: usize) -> Vec<(&'static str, f64)> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds + 1 {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            (contender.run)();
            let start = Instant::now();
            (contender.run)();
            let elapsed = start.elapsed();
            // The first round warms up.
            if round >= 1 {
                times.push(elapsed.as_nanos() as f64 / items as f64);
            }
        }
    }
    contenders.iter().zip(&mut times).map(|(contender, times)| (contender.name, median(times))).collect()
}

/// The median of the times; sorts them.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The number of rounds, which is smaller if `PICOLLO_BENCH_QUICK` is set.
pub fn rounds(full: usize) -> usize {
    if std::env::var_os("PICOLLO_BENCH_QUICK").is_some() { full.div_ceil(10) } else { full }
}

/// Prints a table of contenders that did the same job, as Markdown, with ratios to the first row.
pub fn print_table(title: &str, unit: &str, rows: &[(&str, f64)]) {
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(3).max(3);
    println!("\n##### {title}\n| {:width$} | {unit:>9} | ratio |", "");
    println!("| :{:-<1$} | --------: | ----: |", "", width - 1);
    for (name, number) in rows {
        let digits = if *number >= 1000.0 { 0 } else { 2 };
        println!("| {name:width$} | {number:9.digits$} | {:5.2} |", number / rows[0].1);
    }
}
