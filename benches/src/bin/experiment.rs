//! The experiment that scalable counters were published with: two threads add to one word together, and the word is compared
//! with what they meant to count, from 12 events to 10^8, for racing, interlocked and scalable counters.
//!
//!     cargo run --release -p picollo-benches --bin experiment [PLOT.svg]
//!
//! prints a table of relative errors (mean, 5th and 95th percentile, extremes) and draws it where a file is named. Counters
//! start at zero. Threads leave a spinning barrier together, so that even few events meet.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use picollo_core::{
    AtomicU64, Counter, SCALABLE_THRESHOLD_BITS, add_approximately, add_interlocked, add_racing,
};

const THREADS: u64 = 2;
const INTENDED: [u64; 8] = [12, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// Events of one kind of counter at one intended count, over all trials.
const BUDGET: u64 = 400_000_000;

#[repr(align(128))]
struct Alone(AtomicU64);

/// Relative errors at one intended count, in per cent.
#[derive(Clone, Copy)]
struct Errors {
    trials: usize,
    mean: f64,
    p5: f64,
    p95: f64,
    low: f64,
    high: f64,
}

fn trials(intended: u64) -> usize {
    usize::try_from((BUDGET / intended).clamp(8, 400)).unwrap_or(8)
}

/// What one word holds after the threads have added `intended` to it together.
fn count_once(intended: u64, add: impl Fn(&AtomicU64) + Sync) -> u64 {
    let cell = Alone(AtomicU64::new(0));
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cell, waiting, add) = (&cell, &waiting, &add);
            let events = intended / THREADS + u64::from(thread < intended % THREADS);
            scope.spawn(move || {
                waiting.fetch_add(1, Ordering::SeqCst);
                while waiting.load(Ordering::SeqCst) < THREADS as usize {
                    std::hint::spin_loop();
                }
                for _ in 0..events {
                    add(&cell.0);
                }
            });
        }
    });
    Counter::load(&cell.0)
}

fn measure(add: impl Fn(&AtomicU64) + Sync) -> Vec<Errors> {
    let at = |intended: u64| {
        let mut errors: Vec<f64> = (0..trials(intended))
            .map(|_| (count_once(intended, &add) as f64 / intended as f64 - 1.0) * 100.0)
            .collect();
        errors.sort_unstable_by(f64::total_cmp);
        let rank = |quantile: f64| {
            let rank = (quantile * errors.len() as f64).ceil() as usize;
            errors[rank.clamp(1, errors.len()) - 1]
        };
        Errors {
            trials: errors.len(),
            mean: errors.iter().sum::<f64>() / errors.len() as f64,
            p5: rank(0.05),
            p95: rank(0.95),
            low: rank(0.0),
            high: rank(1.0),
        }
    };
    INTENDED.map(at).to_vec()
}

fn main() {
    println!("##### {THREADS} threads count together: relative errors in per cent");
    println!("| counter     |    intended | trials |     mean |       p5 |      p95 |   lowest |  highest |");
    println!("| :---------- | ----------: | -----: | -------: | -------: | -------: | -------: | -------: |");
    let bits = SCALABLE_THRESHOLD_BITS;
    let kinds = [
        (
            "racing",
            measure(|cell| {
                add_racing(cell, 1);
            }),
        ),
        (
            "interlocked",
            measure(|cell| {
                add_interlocked(cell, 1);
            }),
        ),
        (
            "scalable",
            measure(|cell| {
                add_approximately(cell, 1, bits);
            }),
        ),
    ];
    for (name, errors) in &kinds {
        for (intended, e) in INTENDED.iter().zip(errors) {
            println!(
                "| {name:11} | {intended:>11} | {:>6} | {:>+8.3} | {:>+8.3} | {:>+8.3} | {:>+8.3} | {:>+8.3} |",
                e.trials, e.mean, e.p5, e.p95, e.low, e.high
            );
        }
    }
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, draw(&kinds)).unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("\nplot: {path}");
    }
}

/// One panel for each kind: the mean as a line, the 5th to 95th percentile as a band, the extremes as dashes.
fn draw(kinds: &[(&str, Vec<Errors>)]) -> String {
    const LEFT: f64 = 70.0;
    const WIDTH: f64 = 640.0;
    const PANEL: f64 = 190.0;
    const TOP: f64 = 56.0;
    let height = TOP + PANEL * kinds.len() as f64 + 40.0;
    let x = |intended: u64| LEFT + 20.0 + ((intended as f64).log10() - 1.0) / 7.0 * (WIDTH - LEFT - 50.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">Error of one word to which {THREADS} threads count, by intended count</text>\n\
         <text x=\"{LEFT}\" y=\"38\" fill=\"#555\">line: mean · band: 5th to 95th percentile · dashes: extremes · per cent of the intended count</text>\n"
    );
    for (panel, (name, errors)) in kinds.iter().enumerate() {
        let top = TOP + PANEL * panel as f64;
        let (middle, half) = (top + PANEL / 2.0 - 6.0, PANEL / 2.0 - 22.0);
        let largest = errors.iter().fold(0.0, |most: f64, e| most.max(e.low.abs()).max(e.high.abs()));
        // The next of 1, 2, 5, 10, … per cent, and one per cent where there is no error at all.
        let scale =
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].into_iter().find(|&scale| largest <= scale).unwrap_or(100.0);
        let y = |error: f64| middle - error / scale * half;
        writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.1}\" font-weight=\"bold\">{name}</text>",
            LEFT + 6.0,
            top + 14.0
        )
        .unwrap();
        for error in [-scale, 0.0, scale] {
            let at = y(error);
            writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{:.0}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{error:+} %</text>",
                WIDTH - 20.0,
                LEFT - 8.0,
                at + 4.0
            )
            .unwrap();
        }
        let points = |of: fn(&Errors) -> f64| -> Vec<String> {
            INTENDED.iter().zip(errors).map(|(&n, e)| format!("{:.1},{:.1}", x(n), y(of(e)))).collect()
        };
        let (upper, mut lower) = (points(|e| e.p95), points(|e| e.p5));
        lower.reverse();
        writeln!(
            svg,
            "<polygon points=\"{} {}\" fill=\"#1f77b4\" fill-opacity=\"0.25\"/>\
             <polyline points=\"{}\" fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\"/>",
            upper.join(" "),
            lower.join(" "),
            points(|e| e.mean).join(" ")
        )
        .unwrap();
        for (&intended, e) in INTENDED.iter().zip(errors) {
            for error in [e.low, e.high] {
                writeln!(
                    svg,
                    "<path d=\"M{:.1} {1:.1}h10\" stroke=\"#d62728\" stroke-width=\"2\"/>",
                    x(intended) - 5.0,
                    y(error)
                )
                .unwrap();
            }
        }
    }
    for intended in INTENDED {
        let label = match intended {
            12 | 100 | 1_000 => intended.to_string(),
            _ => format!("10^{}", intended.ilog10()),
        };
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{label}</text>",
            x(intended),
            height - 26.0
        )
        .unwrap();
    }
    writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">intended count</text>\n</svg>",
        WIDTH / 2.0,
        height - 8.0
    )
    .unwrap();
    svg
}
