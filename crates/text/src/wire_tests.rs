//! Texts for programs: no byte of them changes unnoticed.

use std::string::String;

use super::{
    Conditions, Format, example, write_blocks, write_comparison, write_diff, write_double_summary,
    write_summary,
};
use picollo_core::Summary;
use picollo_core::doubles::{DoubleStatistics, DoubleSummary};
use picollo_stats::{BlockComparison, Comparison};

/// Titles and names that need quotes.
const TITLE: &str = "a \"title\", and\nmore";
const NAMES: (&str, &str) = ("x,\\", "");

/// The summaries are written by hand, because computed numbers could differ between machines.
fn summaries() -> [Summary; 4] {
    let first = Summary { mean: 4332.90625, stddev: 1984.25, timestamp_unix_nanos: 1, ..example::first() };
    let second =
        Summary { mean: 4488.5, stddev: 2e-7, lost_count: 3, value_selection: 1, ..example::second() };
    let second = Summary { underflow_count: 0, overflow_count: 5, ..second };
    let odd =
        Summary { total_count: u64::MAX, mean: 1.0e300, stddev: f64::INFINITY, value_selection: 2, ..first };
    [first, second, example::empty(), odd]
}

/// A struct with numbers of all kinds. The later ones repeat the first, from another field on.
fn filled<T: Copy>() -> T {
    let numbers = [0.5, -1004.25, 3e-29, f64::INFINITY, 64.0, -0.0, 1e300, 0.951, f64::NAN, 2e-7, 1e-310];
    let words = numbers.map(f64::to_bits).into_iter().chain([1, 12_345, u64::MAX]);
    // SAFETY: the structs here have only integers and doubles.
    unsafe { example::from_words(words.cycle()) }
}

fn comparison() -> Comparison {
    Comparison { verdict: 1, flags: 5, ..filled() }
}

fn doubles() -> [DoubleSummary; 2] {
    let (mut summary, empty): (DoubleSummary, DoubleStatistics) = (filled(), filled());
    summary.percentiles[3].target_count = 0;
    [summary, DoubleSummary { statistics: DoubleStatistics { count: 0, ..empty }, ..summary }]
}

/// All texts of summaries, differences, comparisons and doubles in one format.
fn texts(format: Format) -> [String; 4] {
    let all = summaries();
    let (mut of_summaries, mut of_diffs) = (String::new(), String::new());
    for a in &all {
        write_summary(a, &mut of_summaries, TITLE, format).unwrap();
        for b in &all {
            write_diff(a, b, &mut of_diffs, TITLE, NAMES.0, NAMES.1, format).unwrap();
        }
    }
    let (mut of_comparisons, mut of_doubles) = (String::new(), String::new());
    write_comparison(&comparison(), &all[0], &all[3], &mut of_comparisons, TITLE, NAMES.0, NAMES.1, format)
        .unwrap();
    for summary in doubles() {
        write_double_summary(&summary, &mut of_doubles, TITLE, format).unwrap();
    }
    [of_summaries, of_diffs, of_comparisons, of_doubles]
}

/// FNV-1a, of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// If you intend to change a text, change its checksum here and mention it in the changelog.
#[test]
fn every_byte_stays() {
    let found = [Format::Json, Format::Line, Format::Markdown]
        .map(|format| texts(format).map(|text| std::format!("{:016x}", fnv(text.as_bytes()))));
    let expected = [
        ["0555e9a78e752ce9", "d3e37e32d778b073", "1929f2466f179fa4", "0b78e4ef7dc4ba6e"],
        ["f29436e0ca98690e", "fab2a34ac3f2fe1c", "f603173419e183de", "a5a02f5a8a7d44d0"],
        ["ad9e4adbf8d64dae", "27e865555bdead3f", "08aea66b3cde7acf", "26b03b792a1dba9c"],
    ];
    assert_eq!(found, expected);
}

/// The Markdown of a benchmark, with values above and below the resolution, and with all possible additions.
#[test]
fn every_byte_of_a_benchmark_stays() {
    let [first, second, empty, odd] = summaries();
    let blocks = BlockComparison { verdict: 1, flags: 0x7f, median_a: 1004.5, resolution: 500.0, ..filled() };
    let conditions = Conditions {
        calls: [9_750, 3],
        overhead: [20_100.0, 0.5],
        overhead_error: [13.25, 0.0],
        counters: &[("cycles", Some(100.0), Some(110.5)), ("a|b", None, Some(1.0))],
        notes: &["So it is."],
    };
    let mut text = String::new();
    for blocks in [blocks, BlockComparison { resolution: 0.0, flags: 0, verdict: 0, ..blocks }] {
        for (a, b) in [(&first, &second), (&empty, &odd)] {
            for conditions in [&conditions, &Conditions::default()] {
                write_blocks(&blocks, a, b, conditions, &mut text, TITLE, NAMES.0, NAMES.1).unwrap();
            }
        }
    }
    assert_eq!(fnv(text.as_bytes()), 0x1009_57bd_bad3_1065, "{:#x}", fnv(text.as_bytes()));
}
