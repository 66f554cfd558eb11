//! How the benchmarks measure: contenders on the same values, interleaved, medians, ratios in one run.

use std::hint::black_box;
use std::time::Instant;

/// One way of doing the job that is measured.
pub struct Contender<'a> {
    /// How the table names it.
    pub name: &'static str,
    /// Does the whole job once.
    pub run: Box<dyn FnMut() + 'a>,
}

/// A contender from a closure.
pub fn contender<'a>(name: &'static str, run: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, run: Box::new(run) }
}

/// Runs all contenders in turn, `rounds` times, and returns the median time of each in ns per item.
///
/// Interleaving spreads what else the machine does over all of them; the median leaves out what remains.
pub fn medians(contenders: &mut [Contender], items: usize, rounds: usize) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds + 2 {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (contender.run)();
            let elapsed = start.elapsed();
            // The first two rounds warm up.
            if round >= 2 {
                times.push(elapsed.as_nanos() as f64 / items as f64);
            }
        }
    }
    times.iter_mut().map(|times| median(times)).collect()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints a Markdown table of times and their ratios to the contender at index `reference`.
pub fn print_table(title: &str, contenders: &[Contender], medians: &[f64], reference: usize) {
    let width = contenders.iter().map(|c| c.name.chars().count()).max().unwrap_or(3);
    println!("\n##### {title}");
    println!("| {:width$} | ns/value | ratio |\n| :{:-<2$} | -------: | ----: |", "", "", width - 1);
    for (contender, median) in contenders.iter().zip(medians) {
        println!("| {:width$} | {median:8.2} | {:5.2} |", contender.name, median / medians[reference]);
    }
}

/// The generator of all test values: Knuth's 64-bit linear congruential one; its high bits are good.
pub struct Lcg(pub u64);

impl Lcg {
    /// The next value of the sequence.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }
}

/// Values up to `max`, skewed as latencies are: their bit lengths are spread evenly.
pub fn skewed_values(number: usize, max: u64) -> Vec<u64> {
    let mut lcg = Lcg(1);
    (0..number)
        .map(|_| {
            let shift = (lcg.next_u64() >> 32) % u64::from(64 - max.leading_zeros());
            ((lcg.next_u64() as u128 * max as u128) >> 64) as u64 >> shift
        })
        .collect()
}

/// Keeps the compiler from seeing through a value.
pub fn opaque<T>(value: T) -> T {
    black_box(value)
}
