//! Texts for people, as printed.

use crate::{Conditions, Format, Unit, example, human, write_blocks_human, write_diff, write_summary};
use picollo_core::Summary;
use picollo_stats::{CompareOptions, compare_blocks};
use std::string::{String, ToString};
use std::vec::Vec;

fn text(summary: &Summary, title: &str, format: Format) -> String {
    let mut text = String::new();
    write_summary(summary, &mut text, title, format).unwrap();
    text
}

#[test]
fn a_summary() {
    let first = example::first();
    assert_eq!(
        text(&first, "Latency (ns)", Format::Human),
        "\
Latency: 99,940 values, 60 below the range
    P50      P90      P99    P99.9      max     mean
3.60 µs  7.46 µs  9.15 µs  9.66 µs  9.79 µs  4.33 µs"
    );
    assert_eq!(
        text(&first, "", Format::Human),
        "\
99,940 values, 60 below the range
  P50    P90    P99  P99.9    max   mean
3,600  7,456  9,152  9,664  9,792  4,333"
    );
    assert_eq!(human(&first, "", Unit::NONE).to_string(), text(&first, "", Format::Human));
    assert_eq!(
        first.to_string(),
        "99,940 values, 60 below the range: P50 3,600, P90 7,456, P99 9,152, P99.9 9,664, max 9,792, mean 4,332.9"
    );
    assert_eq!(
        human(&first, "Latency", Unit::new("ns")).to_string(),
        text(&first, "Latency, ns", Format::Human)
    );
    assert_eq!(text(&example::empty(), "(ns)", Format::Human), "no values");
}

/// The text omits percentiles that the count cannot support, and uses lines for what is too wide.
#[test]
fn few_and_large() {
    let few = Summary { total_count: 92, underflow_count: 0, ..example::first() };
    assert_eq!(
        text(&few, "", Format::Human),
        "92 values\n  P50    P90    max   mean\n3,600  7,456  9,792  4,333"
    );
    let mut large = Summary { total_count: u64::MAX, lost_count: 1_000, mean: u64::MAX as f64, ..few };
    large.percentiles.iter_mut().for_each(|percentile| percentile.value = u64::MAX);
    assert_eq!(
        text(&large, "Large", Format::Human),
        "\
Large: 18,446,744,073,709,551,615 values, 1,000 lost
P50    18,446,744,073,709,551,615
P90    18,446,744,073,709,551,615
P99    18,446,744,073,709,551,615
P99.9  18,446,744,073,709,551,615
max    18,446,744,073,709,551,615
mean                     1.845e19"
    );
}

#[test]
fn a_diff() {
    let mut text = String::new();
    let (first, second) = (example::first(), example::second());
    write_diff(&first, &second, &mut text, "Two days (ns)", "", "Tuesday", Format::Human).unwrap();
    assert_eq!(
        text,
        "\
Two days
The median changed by +2.7 % from Before to Tuesday: 3.60 µs → 3.70 µs.

                  Before  Tuesday  change
P50              3.60 µs  3.70 µs  +2.7 %
P90              7.46 µs  7.90 µs  +6.0 %
P99              9.15 µs  9.79 µs  +7.0 %
P99.9            9.66 µs  10.3 µs  +6.6 %
max              9.79 µs  10.4 µs  +6.5 %
mean             4.33 µs  4.49 µs  +3.6 %
values            99,940  145,798
below the range       60    4,202"
    );
    let mut slow = first;
    slow.percentiles.iter_mut().for_each(|percentile| percentile.value *= 86);
    let mut text = String::new();
    write_diff(&slow, &first, &mut text, "", "A", "B", Format::Human).unwrap();
    let start = "The median of B is 86 × lower than that of A: 309,600 → 3,600 (−98.8 %).\n\n";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("\nP99.9            831,104   9,664  −98.8 %  86 × lower\n"), "{text}");
    let mut text = String::new();
    write_diff(&first, &example::empty(), &mut text, "", "", "B", Format::Human).unwrap();
    assert!(text.starts_with("Nothing to compare: B has no values.\n"), "{text}");
}

/// The text of a benchmark whose values are known to be times.
#[test]
fn a_benchmark() {
    let a: [f64; 40] = core::array::from_fn(|at| 8600.0 + (at * 7 % 10) as f64);
    let b: [f64; 40] = core::array::from_fn(|at| 1000.0 + (at * 3 % 10) as f64);
    let compared = compare_blocks(&a, &b, &mut [0.0; 40], &CompareOptions::default()).unwrap();
    let conditions = Conditions {
        calls: [9_750; 2],
        overhead: [20_100.0; 2],
        overhead_error: [13.25; 2],
        counters: &[
            ("cycles", Some(100.0), Some(10.5)),
            ("branch-misses", None, Some(1.0)),
            ("Software:TaskClock", Some(335_000.0), Some(57_600.0)),
        ],
        notes: &["So it is."],
    };
    let mut text = String::new();
    let (a, b, ps) = (example::second(), example::first(), Unit::new("ps"));
    write_blocks_human(&compared, &a, &b, &conditions, &mut text, "Sorting", "", "", ps).unwrap();
    assert_eq!(
        text,
        "\
Sorting
After is 8.6 × faster than Before (−88.3 %, 95 %: −88.3 to −88.3).

                  Before    After   change
blocks           8.60 ns  1.00 ns  −88.3 %  8.6 × lower
P50              3.70 ns  3.60 ns   −2.6 %
P90              7.90 ns  7.46 ns   −5.7 %
P99              9.79 ns  9.15 ns   −6.5 %
P99.9            10.3 ns  9.66 ns   −6.2 %
max              10.4 ns  9.79 ns   −6.1 %
mean             4.49 ns  4.33 ns   −3.5 %
values           145,798   99,940
below the range    4,202       60

per call            Before    After   change
cycles                 100     10.5  −89.5 %  9.5 × lower
branch-misses          n/a     1.00      n/a
Software:TaskClock  335 µs  57.6 µs  −82.8 %  5.8 × lower
40 blocks, 9,750 calls a sample, without the 20.1 ns (± 13.3 ps) that calling
nothing takes
So it is."
    );
}

/// No line is wider than a terminal, for any titles and names, and an unknown value is never a number.
#[test]
fn columns() {
    let (first, second, empty) = (example::first(), example::second(), example::empty());
    let odd = Summary { mean: f64::NAN, stddev: f64::INFINITY, lost_count: u64::MAX, ..first };
    let words = "many words ".repeat(40);
    for title in ["", "ns", "Latency (us)", "Latency\u{1b}[1m\nB", &words] {
        for (a, b) in [(first, second), (empty, first), (odd, empty), (second, odd)] {
            let mut text = text(&a, title, Format::Human);
            text.push('\n');
            write_diff(&a, &b, &mut text, title, title, "B", Format::Human).unwrap();
            let widest: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(widest.is_empty() || title == words, "{widest:#?}");
            assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains(" \n"), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }
}
