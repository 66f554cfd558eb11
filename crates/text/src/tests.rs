//! Properties of every format for every content of a summary.

use proptest::prelude::*;
use serde_json::Value;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use picollo_core::Error;
use picollo_core::seam::{BufferWriter, Written, write_c_string};

const FORMATS: [Format; 4] = [Format::Markdown, Format::Line, Format::Json, Format::Human];

#[test]
fn format_codes() {
    for format in FORMATS {
        assert_eq!(Format::try_from(format as u32), Ok(format));
    }
    for code in [3, 5, u32::MAX] {
        assert_eq!(Format::try_from(code), Err(Error::InvalidArgument));
    }
}

#[test]
fn display() {
    let summary = example::first();
    assert_eq!(summary.percentiles[11].to_string(), "P99=9,152 [138 / 519]: [9,088, 9,216) 386");
    let people = human(&summary, "", Unit::NONE).to_string();
    assert!(people.starts_with("99,940 values, 60 below the range\n"));
    assert!(summary.to_string().starts_with("99,940 values, 60 below the range: P50 "));
}

#[test]
fn a_writer_that_fails_is_reported() {
    let summary = example::first();
    for format in FORMATS {
        let single = |out: &mut dyn Write| write_summary(&summary, out, "Title", format);
        let diff = |out: &mut dyn Write| write_diff(&summary, &summary, out, "Title", "a", "b", format);
        for write in [&single as &dyn Fn(&mut dyn Write) -> fmt::Result, &diff] {
            let mut counter = BufferWriter::new(&mut []);
            write(&mut counter).unwrap();
            assert_eq!(write(&mut example::Full(counter.needed())), Ok(()));
            for room in [0, 1, counter.needed() / 2, counter.needed() - 1] {
                assert_eq!(write(&mut example::Full(room)), Err(fmt::Error));
            }
        }
    }
}

fn percentile() -> impl Strategy<Value = Percentile> {
    // SAFETY: the struct has only integers and doubles.
    unsafe { example::anything() }
}

fn any_summary() -> impl Strategy<Value = Summary> {
    // SAFETY: the struct has only integers and doubles.
    unsafe { example::anything() }
}

/// Text with many characters that have a meaning in some format.
fn title() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_|\\\\*`<>\\[\\]#&;~\",: \r\n\t\u{85}\u{2028}äß😀]{0,12}", any::<String>()]
}

fn texts(a: &Summary, b: &Summary, title: &str, names: (&str, &str), format: Format) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    write_summary(a, &mut texts[0], title, format).unwrap();
    write_diff(a, b, &mut texts[1], title, names.0, names.1, format).unwrap();
    texts
}

/// The number of scalars of a Markdown row, and the cells between its unescaped pipes.
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
        for (value, percentile) in value["percentiles"].as_array().unwrap().iter().zip(a.known_percentiles()) {
            let expected = super::value(&a, percentile);
            prop_assert_eq!(value["value"].as_u64(), expected);
            prop_assert_eq!(value["bucket"]["lower"].as_u64(), expected.map(|_| percentile.bucket.lower));
        }
        let value: Value = serde_json::from_str(&diff).unwrap();
        prop_assert_eq!(value["a"]["name"].as_str(), Some(x.as_str()));
        prop_assert_eq!(value["b"]["lost_count"].as_u64(), Some(b.lost_count));
        let both = a.percentiles.iter().zip(&b.percentiles);
        let known = both.filter(|(of_a, of_b)| !of_a.rank.is_nan() && !of_b.rank.is_nan()).count();
        prop_assert_eq!(value["percentiles"].as_array().unwrap().len(), known);
    }

    #[test]
    fn percentiles_never_panic(percentile in percentile(), rank in any::<u64>().prop_map(f64::from_bits)) {
        let text = Percentile { rank, ..percentile }.to_string();
        prop_assert_eq!(text.ends_with("=n/a"), percentile.target_count == 0);
    }

    #[test]
    fn buffers_hold_all_or_the_beginning(summary in any_summary(), title in title(), capacity in 0usize..4096) {
        for format in FORMATS {
            let mut whole = String::new();
            write_summary(&summary, &mut whole, &title, format).unwrap();
            let mut bytes = std::vec![0xee; capacity];
            let mut writer = BufferWriter::new(&mut bytes);
            write_summary(&summary, &mut writer, &title, format).unwrap();
            prop_assert_eq!((writer.needed(), writer.fits()), (whole.len(), whole.len() <= capacity));
            prop_assert!(whole.starts_with(writer.as_str()));
            let mut bytes = std::vec![0xee; capacity];
            // SAFETY: only text is written there.
            let room = unsafe { picollo_core::seam::room(&mut bytes) };
            let written = write_c_string(room, &|out| write_summary(&summary, out, &title, format));
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
