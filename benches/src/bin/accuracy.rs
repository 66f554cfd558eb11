//! How far approximate counters are off, by threshold: many counters of known counts, simulated event by event.
//!
//!     cargo run --release -p picollo-benches --bin accuracy [PLOT.svg]
//!
//! prints a table, and draws it where a file is named.

use std::fmt::Write;

use picollo_core::{
    AtomicU64, Counter, SCALABLE_THRESHOLD_BITS, add_approximately, add_capped, add_interlocked, add_sensing,
};

/// Counters of each kind.
const TRIALS: usize = 200;
/// Where each counter is looked at.
const CHECKPOINTS: [u64; 4] = [8_192, 100_000, 1_000_000, 10_000_000];
const CAP_BITS: u32 = 10;

/// Relative errors at one checkpoint, in per cent.
#[derive(Clone, Copy, Default)]
struct Errors {
    mean: f64,
    two_sigma: f64,
    worst: f64,
}

fn simulate(events: &[u64], add: impl Fn(&AtomicU64)) -> Vec<Errors> {
    let mut errors = vec![Vec::with_capacity(TRIALS); events.len()];
    for _ in 0..TRIALS {
        let (cell, mut done) = (AtomicU64::new(0), 0);
        for (&events, errors) in events.iter().zip(&mut errors) {
            while done < events {
                add(&cell);
                done += 1;
            }
            errors.push((Counter::load(&cell) as f64 / events as f64 - 1.0) * 100.0);
        }
    }
    let summary = |errors: &Vec<f64>| {
        let mean = errors.iter().sum::<f64>() / TRIALS as f64;
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        Errors {
            mean,
            two_sigma: 2.0 * (squares / TRIALS as f64).sqrt(),
            worst: errors.iter().fold(0.0, |worst: f64, error| worst.max(error.abs())),
        }
    };
    errors.iter().map(summary).collect()
}

fn print_row(name: &str, errors: &[Errors]) {
    let mut row = format!("| {name:34} |");
    for errors in (0..CHECKPOINTS.len()).map(|at| errors.get(at)) {
        match errors {
            Some(Errors { two_sigma, worst, .. }) => write!(row, " {two_sigma:5.2} {worst:5.2} |").unwrap(),
            None => row.push_str("             |"),
        }
    }
    println!("{row} {:+6.3} |", errors.last().map_or(0.0, |errors| errors.mean));
}

fn main() {
    println!("##### Relative errors in per cent: 2σ and the worst of {TRIALS} counters");
    let mut header = format!("| {:34} |", "counter");
    let mut rule = format!("| :{:-<33} |", "");
    for events in CHECKPOINTS {
        write!(header, " {:>11} |", format!("{events}")).unwrap();
        rule.push_str(" ----------: |");
    }
    println!("{header}   mean |\n{rule} -----: |");
    let mut plot = Vec::new();
    for bits in 8..=18 {
        // The largest counts tell no more than those before, and take most of the time.
        let checkpoints = if bits == SCALABLE_THRESHOLD_BITS { &CHECKPOINTS[..] } else { &CHECKPOINTS[..3] };
        let errors = simulate(checkpoints, |cell| {
            add_approximately(cell, 1, bits);
        });
        let default = if bits == SCALABLE_THRESHOLD_BITS { " (default)" } else { "" };
        print_row(&format!("scalable, exact to 2^{bits}{default}"), &errors);
        plot.push((bits, errors[2]));
    }
    let bits = SCALABLE_THRESHOLD_BITS;
    print_row(
        &format!("capped at 1/1024, exact to 2^{bits}"),
        &simulate(&CHECKPOINTS, |cell| {
            add_capped(cell, 1, bits, CAP_BITS);
        }),
    );
    print_row(
        "capped at 1/16, exact to 2^8",
        &simulate(&CHECKPOINTS[..3], |cell| {
            add_capped(cell, 1, 8, 4);
        }),
    );
    print_row(
        "sensing, one thread",
        &simulate(&CHECKPOINTS[..3], |cell| {
            add_sensing(cell, 1, bits);
        }),
    );
    print_row(
        "interlocked",
        &simulate(&CHECKPOINTS[..3], |cell| {
            add_interlocked(cell, 1);
        }),
    );
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, draw(&plot)).unwrap_or_else(|error| panic!("{path}: {error}"));
        println!("\nplot: {path}");
    }
}

/// The theory: σ = 2^-((t + 1) / 2) sqrt(4/3) of the count, in per cent, twice.
fn stated(bits: f64) -> f64 {
    200.0 * 2f64.powf(-(bits + 1.0) / 2.0) * (4.0f64 / 3.0).sqrt()
}

/// A plot of the errors by threshold, the errors on a logarithmic axis.
fn draw(points: &[(u32, Errors)]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 400.0;
    const LEFT: f64 = 70.0;
    const BOTTOM: f64 = 340.0;
    let x = |bits: f64| LEFT + (bits - 8.0) * (WIDTH - LEFT - 30.0) / 10.0;
    // Two decades and a half, from 0.1 to 30 per cent.
    let y = |error: f64| BOTTOM - (error / 0.1).log10() * (BOTTOM - 50.0) / 300f64.log10();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"14\">Relative error of scalable counters at 1,000,000 events \
         ({TRIALS} counters each)</text>\n"
    );
    for error in [0.1, 0.3, 1.0, 3.0, 10.0, 30.0] {
        let at = y(error);
        writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{:.0}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{:.1}\" \
             text-anchor=\"end\">{error} %</text>",
            WIDTH - 30.0,
            LEFT - 8.0,
            at + 4.0
        )
        .unwrap();
    }
    for bits in 8..=18 {
        let at = x(f64::from(bits));
        writeln!(svg, "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{bits}</text>", BOTTOM + 20.0)
            .unwrap();
    }
    writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">threshold: counts are exact below 2 to this power</text>",
        (LEFT + WIDTH - 30.0) / 2.0,
        BOTTOM + 42.0
    )
    .unwrap();
    let line: String = (0..=100)
        .map(|step| 8.0 + f64::from(step) / 10.0)
        .map(|bits| format!("{:.1},{:.1} ", x(bits), y(stated(bits))))
        .collect();
    writeln!(svg, "<polyline points=\"{line}\" fill=\"none\" stroke=\"#888\" stroke-dasharray=\"4 3\"/>")
        .unwrap();
    for &(bits, errors) in points {
        let at = x(f64::from(bits));
        writeln!(
            svg,
            "<circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#1f77b4\"/><rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" \
             height=\"7\" fill=\"#d62728\"/>",
            y(errors.two_sigma),
            at - 3.5,
            y(errors.worst) - 3.5
        )
        .unwrap();
    }
    let legend = WIDTH - 190.0;
    writeln!(
        svg,
        "<circle cx=\"{legend}\" cy=\"60\" r=\"4\" fill=\"#1f77b4\"/><text x=\"{0}\" y=\"64\">2σ</text>\
         <rect x=\"{1}\" y=\"76.5\" width=\"7\" height=\"7\" fill=\"#d62728\"/><text x=\"{0}\" y=\"84\">worst</text>\
         <path d=\"M{2} 100H{3}\" stroke=\"#888\" stroke-dasharray=\"4 3\"/><text x=\"{0}\" y=\"104\">2σ, by theory</text>\n\
         </svg>",
        legend + 14.0,
        legend - 3.5,
        legend - 10.0,
        legend + 8.0
    )
    .unwrap();
    svg
}
