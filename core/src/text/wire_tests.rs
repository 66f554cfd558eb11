//! Texts for programs: what they are called in one format they are called in the other, and not a byte of them changes unnoticed.

use serde_json::Value;
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::{Conditions, Format, example};
use crate::doubles::{DoubleBucket, DoublePercentile, DoubleStatistics, DoubleSummary};
use crate::statistics::compare::{BlockComparison, Comparison, QuantileInterval};
use crate::statistics::summary::{SUMMARY_APPROXIMATE, Summary};

/// Titles and names that have to be quoted.
const TITLE: &str = "a \"title\", and\nmore";
const NAMES: (&str, &str) = ("x,\\", "");

/// Nothing computed that could differ from machine to machine: by hand.
fn summaries() -> [Summary; 4] {
    let first = Summary { mean: 4332.90625, stddev: 1984.25, timestamp_unix_nanos: 1, ..example::first() };
    let second = Summary { mean: 4488.5, stddev: 2e-7, lost_count: 3, ..example::second() };
    let odd = Summary {
        total_count: u64::MAX,
        mean: 1.0e300,
        stddev: f64::INFINITY,
        flags: SUMMARY_APPROXIMATE,
        value_selection: 2,
        ..first
    };
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

/// Every text of a type in a format.
fn texts(format: Format) -> [(&'static str, String); 4] {
    let all = summaries();
    let (mut of_summaries, mut of_diffs) = (String::new(), String::new());
    for a in &all {
        a.write(&mut of_summaries, TITLE, format).unwrap();
        for b in &all {
            a.write_diff(b, &mut of_diffs, TITLE, NAMES.0, NAMES.1, format).unwrap();
        }
    }
    let (mut of_comparisons, mut of_doubles) = (String::new(), String::new());
    comparison().write(&all[0], &all[3], &mut of_comparisons, TITLE, NAMES.0, NAMES.1, format).unwrap();
    for summary in doubles() {
        summary.write(&mut of_doubles, TITLE, format).unwrap();
    }
    [("summary", of_summaries), ("diff", of_diffs), ("comparison", of_comparisons), ("doubles", of_doubles)]
}

/// FNV-1a, of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Whoever means to change a text changes its checksum here, and says so in the changelog.
#[test]
fn every_byte_stays() {
    for (format, expected) in [
        (
            Format::Json,
            [0xa47b_1668_11ff_7415, 0x3c40_bb1e_d394_abb5, 0xe437_8198_7366_ccc1, 0xb1c7_7f88_e4af_7979],
        ),
        (
            Format::Csv,
            [0xba84_e45f_fd7a_fdeb, 0x1ede_42bf_d765_ee5f, 0xb1b1_438a_dbc0_8e20, 0xa55f_46e9_9d18_d823],
        ),
        (
            Format::Line,
            [0xd978_1414_41f1_ee77, 0x18e3_d73c_a703_ae10, 0x940b_0685_e459_98c8, 0xb813_cf2e_682a_7ae9],
        ),
        (
            Format::Markdown,
            [0x55b9_576a_dc0a_e4b2, 0x9115_8655_44c5_3541, 0xe132_03cb_376f_78a5, 0xca9a_efb9_1ff3_6a64],
        ),
    ] {
        let found = texts(format).map(|(name, text)| (name, fnv(text.as_bytes())));
        let expected: Vec<_> = found.iter().map(|(name, _)| *name).zip(expected).collect();
        assert_eq!(found.to_vec(), expected, "{format:?}: {:#x?}", found.map(|(_, sum)| sum));
    }
}

/// The Markdown of a benchmark: of values above and below the resolution, with everything that may be beside them.
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
                blocks.write_markdown(a, b, conditions, &mut text, TITLE, NAMES.0, NAMES.1).unwrap();
            }
        }
    }
    assert_eq!(fnv(text.as_bytes()), 0x8bd7_f93d_d88c_2147, "{:#x}", fnv(text.as_bytes()));
}

fn json(write: impl Fn(&mut String, Format)) -> Value {
    let mut text = String::new();
    write(&mut text, Format::Json);
    serde_json::from_str(&text).unwrap()
}

/// The columns but for the title and the names.
fn columns(write: impl Fn(&mut String, Format)) -> BTreeSet<String> {
    let mut text = String::new();
    write(&mut text, Format::Csv);
    let header = example::parse_csv(&text).swap_remove(0);
    let length = header.len();
    let columns: BTreeSet<_> = header.into_iter().collect();
    assert_eq!(columns.len(), length, "no two columns of one name: {columns:?}");
    let own = ["title", "name_a", "name_b"];
    columns.into_iter().filter(|column| !own.contains(&column.as_str())).collect()
}

/// The keys of an object but for those that are objects of their own, or no fields.
fn keys(value: &Value) -> BTreeSet<String> {
    let no_field =
        |key: &str, value: &Value| value.is_object() || value.is_array() || ["title", "name"].contains(&key);
    let all = value.as_object().unwrap().iter().filter(|(key, value)| !no_field(key, value));
    all.map(|(key, _)| key.clone()).collect()
}

fn suffixed(keys: &BTreeSet<String>, suffix: &str) -> BTreeSet<String> {
    keys.iter().map(|key| format!("{key}{suffix}")).collect()
}

/// What a percentile says, and its bucket.
fn of_percentile(value: &Value) -> BTreeSet<String> {
    let percentile = &value["percentiles"][0];
    &keys(percentile) | &keys(&percentile["bucket"])
}

#[test]
fn columns_are_called_what_keys_are() {
    let [first, second, _, odd] = summaries();
    // Only what is approximate says so in JSON.
    let write = |out: &mut String, format| odd.write(out, TITLE, format).unwrap();
    let found = json(write);
    assert_eq!(&keys(&found) | &of_percentile(&found), columns(write));

    let write = |out: &mut String, format| doubles()[0].write(out, TITLE, format).unwrap();
    let found = json(write);
    let mut expected = &keys(&found) | &of_percentile(&found);
    // `count` is the bucket's, which has one as well.
    expected.insert("total_count".into());
    assert_eq!(expected, columns(write));

    let compared = comparison();
    let write = |out: &mut String, format| {
        compared.write(&first, &second, out, TITLE, NAMES.0, NAMES.1, format).unwrap();
    };
    let found = &json(write)["comparison"];
    let question: BTreeSet<String> = ["quantile", "confidence"].map(String::from).into();
    let side = |key: &str| suffixed(&(&keys(&found[key]) - &question), &format!("_{key}"));
    assert_eq!(&(&(&side("a") | &side("b")) | &keys(found)) | &question, columns(write));

    let write =
        |out: &mut String, format| odd.write_diff(&odd, out, TITLE, NAMES.0, NAMES.1, format).unwrap();
    let found = json(write);
    // The table is of what changes: not of ranges and moments.
    let left_out: BTreeSet<String> =
        ["min_trackable", "max_trackable", "timestamp_unix_nanos", "value_selection"]
            .map(String::from)
            .into();
    let side = |key: &str| suffixed(&(&keys(&found[key]) - &left_out), &format!("_{key}"));
    let percentiles: BTreeSet<String> = keys(&found["percentiles"][0])
        .iter()
        .map(|key| if ["a", "b"].contains(&key.as_str()) { format!("value_{key}") } else { key.clone() })
        .collect();
    let changes = keys(&found["change_percent"]);
    let told = suffixed(&changes, "_change_percent");
    let found_columns = columns(write);
    let expected = &(&(&side("a") | &side("b")) | &percentiles) | &keys(&found);
    assert_eq!(&found_columns - &told, expected);
    assert_eq!(
        found_columns.intersection(&told).collect::<Vec<_>>(),
        ["mean_change_percent", "stddev_change_percent"]
    );
}
