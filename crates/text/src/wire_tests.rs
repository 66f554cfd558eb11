//! Texts for programs: no byte of them changes unnoticed.

use std::string::String;
use std::vec::Vec;

use super::{
    Conditions, Format, example, write_blocks, write_comparison, write_diff, write_double_summary,
    write_summary,
};
use picollo_core::Summary;
use picollo_core::doubles::{DoubleBucket, DoublePercentile, DoubleStatistics, DoubleSummary};
use picollo_stats::{BlockComparison, Comparison, QuantileInterval};

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

fn comparison() -> Comparison {
    let a = QuantileInterval {
        quantile: 0.5,
        confidence: 0.95,
        coverage: 0.951,
        total_count: 1,
        target_count: 2,
        value: 3,
        lower: 4,
        upper: 5,
        lower_midpoint: 6,
        upper_midpoint: 7,
        lower_count: 8,
        upper_count: 9,
        bucket_width: 10,
    };
    Comparison {
        a,
        b: QuantileInterval { value: u64::MAX, coverage: f64::NAN, ..a },
        difference: 1.5,
        difference_lower: -0.0,
        difference_upper: f64::INFINITY,
        bucket_width: 64.0,
        margin: 36.0,
        smallest_detectable: 68.25,
        mann_whitney_u: 1e300,
        mann_whitney_z: 11.25,
        mann_whitney_p: 3e-29,
        common_language: 0.5,
        cliffs_delta: 0.0,
        ks_distance: f64::NAN,
        ks_p: 1e-44,
        cohens_d: 0.0625,
        verdict: 1,
        flags: 5,
    }
}

fn doubles() -> [DoubleSummary; 2] {
    let bucket = DoubleBucket { lower: 1e-310, upper: 3.0, midpoint: 2.5, count: 4 };
    let percentile = DoublePercentile { rank: 99.9, value: 2.5, target_count: 7, bucket };
    let statistics = DoubleStatistics {
        count: 8,
        not_finite: 9,
        lost: 10,
        sum: f64::INFINITY,
        min: -1e300,
        max: 0.1,
        mean: 1.0,
        stddev: -0.0,
        relative_error: 0.0078125,
    };
    let nothing = DoubleBucket { lower: f64::NAN, upper: f64::NAN, midpoint: f64::NAN, count: 0 };
    let none = DoublePercentile { rank: 0.0, value: f64::NAN, target_count: 0, bucket: nothing };
    let mut summary = DoubleSummary { statistics, percentiles: [percentile; 16] };
    summary.percentiles[3] = none;
    [
        summary,
        DoubleSummary { statistics: DoubleStatistics { count: 0, ..statistics }, percentiles: [none; 16] },
    ]
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
    let mut changed = Vec::new();
    for (format, expected) in [
        (
            Format::Json,
            [0x0555_e9a7_8e75_2ce9, 0xd3e3_7e32_d778_b073, 0x4d1e_e64f_8c0a_9ec7, 0xb1c7_7f88_e4af_7979],
        ),
        (
            Format::Line,
            [0xf294_36e0_ca98_690e, 0xfab2_a34a_c3f2_fe1c, 0xb4e3_bb3a_8d9c_4ec9, 0xb813_cf2e_682a_7ae9],
        ),
        (
            Format::Markdown,
            [0xad9e_4adb_f8d6_4dae, 0x27e8_6555_5bde_ad3f, 0x2f9e_9ecb_fa29_09d4, 0xca9a_efb9_1ff3_6a64],
        ),
    ] {
        let found = texts(format).map(|text| fnv(text.as_bytes()));
        if found != expected {
            changed.push((format, found));
        }
    }
    assert!(changed.is_empty(), "{changed:#x?}");
}

/// The Markdown of a benchmark, with values above and below the resolution, and with all possible additions.
#[test]
fn every_byte_of_a_benchmark_stays() {
    let [first, second, empty, odd] = summaries();
    let blocks = BlockComparison {
        block_count: 40,
        confidence: 0.95,
        coverage: 0.96,
        median_a: 1004.5,
        median_b: 104.5,
        difference: -900.0,
        difference_lower: -902.25,
        difference_upper: f64::INFINITY,
        margin: 10.0,
        smallest_detectable: 12.875,
        lag1: -0.33,
        inflation: 1.0,
        verdict: 1,
        flags: 0x7f,
        resolution: 500.0,
    };
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
    assert_eq!(fnv(text.as_bytes()), 0x0d93_35f8_e4a3_95cd, "{:#x}", fnv(text.as_bytes()));
}
