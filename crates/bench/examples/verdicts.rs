//! The same code written twice, as two closures: `verdicts BUDGET RUNS A B`. One of the programs of `ci/verdicts.sh`.

use core::hint::black_box;

use picollo_bench::{BenchmarkOptions, benchmark};

fn compare<A, B>(budget: f64, runs: u32, mut a: impl FnMut() -> A, mut b: impl FnMut() -> B) {
    for _ in 0..runs {
        // Also where others disturb: that is what is tried.
        let options =
            BenchmarkOptions { keep_disturbed: true, budget_seconds: budget, ..BenchmarkOptions::default() };
        let done = benchmark(&options, &[], &mut a, &mut b).expect("a benchmark can be made");
        let blocks = done.result().expect("it has a result").blocks;
        let (a, difference, margin) = (blocks.median_a, blocks.difference, blocks.margin);
        println!("{} {} {a:.1} {difference:.1} {margin:.1}", blocks.verdict, blocks.flags);
    }
}

/// A chain of multiplications, each of which needs the one before it.
macro_rules! chain {
    ($links:literal) => {
        || {
            let mut x = black_box(3u64);
            for _ in 0..$links {
                x = x.wrapping_mul(x | 1);
            }
            x
        }
    };
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [budget, runs, a, b] = &arguments[..] else { panic!("usage: verdicts BUDGET RUNS A B") };
    let (budget, runs) = (budget.parse().expect("seconds"), runs.parse().expect("a number"));
    assert_eq!(a, b, "equal ones only");
    match a.as_str() {
        "0" => compare(budget, runs, || {}, || {}),
        "1" => compare(budget, runs, chain!(1), chain!(1)),
        "2" => compare(budget, runs, chain!(2), chain!(2)),
        "5" => compare(budget, runs, chain!(5), chain!(5)),
        "20" => compare(budget, runs, chain!(20), chain!(20)),
        "100" => compare(budget, runs, chain!(100), chain!(100)),
        "1000" => compare(budget, runs, chain!(1000), chain!(1000)),
        other => panic!("there is none of {other} ns"),
    }
}
