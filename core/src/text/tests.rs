//! What holds for every format and every content of a summary.

use crate::platform::atomics::AtomicU64;
use proptest::prelude::*;
use serde_json::Value;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::histograms::dense::Histogram;
use crate::layout::bucket::Bucket;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::{Since, Snapshot};
use crate::statistics::summary::SUMMARY_PERCENTILES;

const FORMATS: [Format; 6] =
    [Format::Markdown, Format::Line, Format::Json, Format::Csv, Format::Human, Format::Full];

#[test]
fn format_codes() {
    for format in FORMATS {
        assert_eq!(Format::try_from(format as u32), Ok(format));
    }
    for code in [6, u32::MAX] {
        assert_eq!(Format::try_from(code), Err(Error::InvalidArgument));
    }
}

#[test]
fn display() {
    let summary = example::first();
    assert!(summary.to_string().starts_with("99,940 values, 60 below the range\n"));
    assert!(format!("{summary:#}").contains("\nP99.999  "));
}

#[test]
fn a_recorded_histogram_reads_like_the_naive_summary() {
    const LAYOUT: Layout = example::layout();
    let histogram: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
    histogram.record_batch(&example::first_values());
    let mut snapshot: Snapshot<[u64; LAYOUT.snapshot_words()]> = Snapshot::new(LAYOUT);
    snapshot.update(&*histogram, Since::Reset).unwrap();
    let recorded = snapshot.summary(ValueSelection::Midpoint);
    for format in [Format::Markdown, Format::Line] {
        let [of_recorded, _] = texts(&recorded, &recorded, "Example", ("", ""), format);
        let [of_naive, _] = texts(&example::first(), &recorded, "Example", ("", ""), format);
        assert_eq!(of_recorded, of_naive);
    }
    let listed = snapshot.recorded_buckets().next();
    assert_eq!(listed, example::first_buckets().0.first().copied());
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full(usize);
    impl Write for Full {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let summary = example::first();
    for format in FORMATS {
        let single = |out: &mut dyn Write| summary.write(out, "Title", format);
        let diff = |out: &mut dyn Write| summary.write_diff(&summary, out, "Title", "a", "b", format);
        for write in [&single as &dyn Fn(&mut dyn Write) -> fmt::Result, &diff] {
            let mut counter = BufferWriter::new(&mut []);
            write(&mut counter).unwrap();
            assert_eq!(write(&mut Full(counter.needed())), Ok(()));
            for room in [0, 1, counter.needed() / 2, counter.needed() - 1] {
                assert_eq!(write(&mut Full(room)), Err(fmt::Error));
            }
        }
    }
}

/// Integers of all magnitudes, the ends among them.
fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)]
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        Just(0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        0.0..1e6f64,
    ]
}

fn percentile() -> impl Strategy<Value = Percentile> {
    (double(), proptest::array::uniform8(integer())).prop_map(
        |(rank, [value, target_count, lower, upper, step, count, storage_index, logical_index])| Percentile {
            rank,
            value,
            target_count,
            bucket: Bucket { lower, upper, step, count, storage_index, logical_index },
        },
    )
}

fn any_summary() -> impl Strategy<Value = Summary> {
    let percentiles = proptest::collection::vec(percentile(), SUMMARY_PERCENTILES);
    (
        proptest::array::uniform7(integer()),
        [double(), double(), double()],
        prop_oneof![0u32..4, any::<u32>()],
        any::<u32>(),
        percentiles,
    )
        .prop_map(|(integers, [mean, stddev, relative_error], value_selection, flags, percentiles)| {
            Summary {
                total_count: integers[0],
                underflow_count: integers[1],
                overflow_count: integers[2],
                lost_count: integers[3],
                mean,
                stddev,
                relative_error,
                min_trackable: integers[4],
                max_trackable: integers[5],
                timestamp_unix_nanos: integers[6],
                value_selection,
                flags,
                percentiles: percentiles.try_into().unwrap(),
            }
        })
}

/// Text with many of the characters that mean something somewhere.
fn title() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_|\\\\*`<>\\[\\]#&;~\",: \r\n\t\u{85}\u{2028}äß😀]{0,12}", any::<String>()]
}

fn texts(a: &Summary, b: &Summary, title: &str, names: (&str, &str), format: Format) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    a.write(&mut texts[0], title, format).unwrap();
    a.write_diff(b, &mut texts[1], title, names.0, names.1, format).unwrap();
    texts
}

/// The number of scalars of a Markdown row and the cells between its unescaped pipes.
fn cells(line: &str) -> (usize, Vec<String>) {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut scalars = line.chars();
    while let Some(c) = scalars.next() {
        match c {
            '|' => cells.push(core::mem::take(&mut cell)),
            '\\' => cell.extend(scalars.next()),
            c => cell.push(c),
        }
    }
    assert_eq!((cells.remove(0), cell), (String::new(), String::new()), "pipes at both ends: {line:?}");
    (line.chars().count(), cells)
}

proptest! {
    #[test]
    fn markdown_columns_line_up(a in any_summary(), b in any_summary(), title in title(), x in title(), y in title()) {
        for text in texts(&a, &b, &title, (&x, &y), Format::Markdown) {
            prop_assert!(text.ends_with("|\n") && !text.contains(|c: char| c.is_control() && c != '\n'));
            let mut lines = text.split_terminator('\n').peekable();
            if !escape::trim(&title).is_empty() {
                prop_assert!(lines.next().unwrap().starts_with("##### "));
            }
            let (length, header) = cells(lines.peek().unwrap());
            prop_assert_eq!(header.len(), 4);
            for line in lines {
                let (this_length, cells) = cells(line);
                prop_assert_eq!((this_length, cells.len()), (length, 4), "{}", line);
                prop_assert!(cells.iter().all(|cell| cell.starts_with(' ') && cell.ends_with(' ')));
            }
        }
    }

    #[test]
    fn a_line_is_one_line(a in any_summary(), b in any_summary(), title in title(), x in title(), y in title()) {
        for text in texts(&a, &b, &title, (&x, &y), Format::Line) {
            let breaks = text.contains(|c: char| c.is_control() || c == '\u{2028}');
            prop_assert!(!breaks);
            prop_assert!(text.contains("Total="));
        }
    }

    #[test]
    fn json_reads_back(a in any_summary(), b in any_summary(), title in title(), x in title(), y in title()) {
        let [text, diff] = texts(&a, &b, &title, (&x, &y), Format::Json);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(value["title"].as_str(), Some(title.as_str()));
        prop_assert_eq!(value["total_count"].as_u64(), Some(a.total_count));
        prop_assert_eq!(value["timestamp_unix_nanos"].as_u64(), Some(a.timestamp_unix_nanos));
        prop_assert_eq!(value["mean"].as_f64(), Some(super::mean(&a)).filter(|mean| mean.is_finite()));
        prop_assert_eq!(value["relative_error"].as_f64(), Some(a.relative_error).filter(|error| error.is_finite()));
        prop_assert_eq!(value.get("approximate").is_some(), a.flags & 1 == 1);
        for (value, percentile) in value["percentiles"].as_array().unwrap().iter().zip(&a.percentiles) {
            let expected = super::value(&a, percentile);
            prop_assert_eq!(value["value"].as_u64(), expected);
            prop_assert_eq!(value["bucket"]["lower"].as_u64(), expected.map(|_| percentile.bucket.lower));
        }
        let value: Value = serde_json::from_str(&diff).unwrap();
        prop_assert_eq!(value["a"]["name"].as_str(), Some(x.as_str()));
        prop_assert_eq!(value["b"]["lost_count"].as_u64(), Some(b.lost_count));
        prop_assert_eq!(value["percentiles"].as_array().unwrap().len(), SUMMARY_PERCENTILES);
    }

    #[test]
    fn csv_reads_back(a in any_summary(), b in any_summary(), title in title(), x in title(), y in title()) {
        let [text, diff] = texts(&a, &b, &title, (&x, &y), Format::Csv);
        let records = example::parse_csv(&text);
        prop_assert_eq!(records.len(), 1 + SUMMARY_PERCENTILES);
        for (record, percentile) in records[1..].iter().zip(&a.percentiles) {
            prop_assert_eq!(record.len(), records[0].len());
            prop_assert_eq!(&record[0], &title);
            prop_assert_eq!(record[2].parse().ok(), super::value(&a, percentile));
            prop_assert_eq!(record[10].parse(), Ok(a.total_count));
        }
        let records = example::parse_csv(&diff);
        prop_assert_eq!(records.len(), 1 + SUMMARY_PERCENTILES);
        for record in &records[1..] {
            prop_assert_eq!(record.len(), records[0].len());
            prop_assert_eq!(&record[..3], &[title.clone(), x.clone(), y.clone()]);
        }
    }

    #[test]
    fn percentiles_and_buckets_never_panic(percentile in percentile(), rank in double()) {
        let text = percentile.to_string();
        prop_assert_eq!(text.ends_with("=n/a"), percentile.target_count == 0);
        let listed = ListedBucket(Percentile { rank, ..percentile });
        prop_assert!(listed.to_string().contains("]: ["));
    }

    #[test]
    fn buffers_hold_all_or_the_beginning(summary in any_summary(), title in title(), capacity in 0usize..4096) {
        for format in FORMATS {
            let mut whole = String::new();
            summary.write(&mut whole, &title, format).unwrap();
            let mut bytes = std::vec![0xee; capacity];
            let mut writer = BufferWriter::new(&mut bytes);
            summary.write(&mut writer, &title, format).unwrap();
            prop_assert_eq!((writer.needed(), writer.fits()), (whole.len(), whole.len() <= capacity));
            prop_assert!(whole.starts_with(writer.as_str()));
            let mut bytes = std::vec![0xee; capacity];
            let written = write_c_string(&mut bytes, &|out| summary.write(out, &title, format));
            prop_assert_eq!(written, Written { length: whole.len(), fits: whole.len() < capacity });
            if written.fits {
                prop_assert_eq!(&bytes[..whole.len()], whole.as_bytes());
                prop_assert_eq!(bytes[whole.len()], 0);
            } else {
                prop_assert!(bytes.iter().take(1).all(|&byte| byte == 0));
                prop_assert!(bytes.iter().skip(1).all(|&byte| byte == 0xee));
            }
        }
    }
}
