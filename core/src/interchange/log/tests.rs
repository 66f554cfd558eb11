//! Logs: what others write, and what is broken.

use std::boxed::Box;
use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::Snapshot;

const HISTOGRAM: &str = "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=";

fn snapshot(value: u64) -> Box<Snapshot> {
    let layout = Layout::with_significant_digits(3, 0, 3_600_000_000).unwrap();
    let mut snapshot = Snapshot::boxed(layout).unwrap();
    snapshot.rewrite(|counts| counts.add(layout.storage_index(value) as usize, 7));
    snapshot
}

/// Reads a log whose `H` stands for a histogram.
fn read(log: &str) -> Vec<crate::error::Result<(f64, f64, Option<String>)>> {
    let log = log.replace('H', HISTOGRAM);
    let mut intervals = Vec::new();
    for interval in Reader::new(log.as_bytes()) {
        intervals.push(interval.map(|interval| {
            assert_eq!(interval.histogram, HISTOGRAM.as_bytes());
            assert_eq!(interval.decode(0).unwrap().counts().total, 108);
            (interval.start_seconds, interval.length_seconds, interval.tag.map(String::from))
        }));
    }
    intervals
}

fn times(log: &str) -> Vec<f64> {
    read(log).into_iter().map(|interval| interval.unwrap().0).collect()
}

#[test]
fn what_is_written() {
    let mut log = String::new();
    let header = Header {
        comment: "made by a test\r\n\non two lines",
        start_seconds: Some(1_441_812_279.474),
        base_seconds: Some(1_441_812_279.0),
    };
    write_header(&mut log, &header).unwrap();
    write_interval(&mut log, &snapshot(2_768_895), 0.127, 1.007, Some("A")).unwrap();
    write_interval(&mut log, &snapshot(0), 1.134, 0.9995, None).unwrap();
    let lines: Vec<_> = log.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "#[made by a test]",
            "#[on two lines]",
            "#[Histogram log format version 1.3]",
            "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]",
            "#[BaseTime: 1441812279.000 (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
    );
    assert!(lines[6].starts_with("Tag=A,0.127,1.007,2.769,HISTFAAA"));
    assert!(lines[7].starts_with("1.134,1.000,0.000,HISTFAAA"));
    assert_eq!(lines.len(), 8);
    assert!(log.ends_with('\n'));

    let mut reader = Reader::new(log.as_bytes());
    let first = reader.next().unwrap().unwrap();
    assert_eq!((first.start_seconds, first.tag), (1_441_812_279.127, Some("A")));
    assert_eq!((first.length_seconds, first.max), (1.007, 2.769));
    let decoded = first.decode(0).unwrap();
    assert_eq!(decoded.bucket_of(2_768_895).unwrap().count, 7);
    assert_eq!(decoded.timestamp_unix_nanos(), 1_441_812_280_134_000_000);
    assert_eq!(reader.line(), 7);
    assert!(reader.next().unwrap().unwrap().tag.is_none());
    assert!(reader.next().is_none() && reader.next().is_none());
    assert_eq!((reader.start_seconds(), reader.base_seconds()), (header.start_seconds, header.base_seconds));
    assert_eq!(reader.position(), log.len());
}

#[test]
fn an_empty_header_and_what_cannot_be_written() {
    let mut log = String::new();
    write_header(&mut log, &Header::default()).unwrap();
    assert_eq!(log.lines().count(), 2);
    log.clear();
    for tag in ["a,b", "a b", "a\nb", "a\tb", "\u{a0}"] {
        let written = write_interval(&mut log, &snapshot(1), 0.0, 1.0, Some(tag));
        assert_eq!(written, Err(Error::InvalidArgument));
    }
    for seconds in [f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(write_interval(&mut log, &snapshot(1), seconds, 1.0, None), Err(Error::InvalidArgument));
        assert_eq!(write_interval(&mut log, &snapshot(1), 1.0, seconds, None), Err(Error::InvalidArgument));
        let header = Header { start_seconds: Some(seconds), ..Header::default() };
        assert_eq!(write_header(&mut log, &header), Err(Error::InvalidArgument));
    }
    let other = Snapshot::boxed(Layout::new(0.001, 0, 1000)).unwrap();
    assert_eq!(write_interval(&mut log, &other, 0.0, 1.0, None), Err(Error::Incompatible));
    assert_eq!(log, "");
    struct Full;
    impl core::fmt::Write for Full {
        fn write_str(&mut self, _: &str) -> core::fmt::Result {
            Err(core::fmt::Error)
        }
    }
    assert_eq!(write_interval(&mut Full, &snapshot(1), 0.0, 1.0, None), Err(Error::BufferTooSmall));
    assert_eq!(write_header(&mut Full, &Header::default()), Err(Error::BufferTooSmall));
}

#[test]
fn times_are_relative_or_absolute() {
    assert_eq!(
        times("#[StartTime: 1441812279.5 (s)]\n#[BaseTime: 1441812000.25 (s)]\n1.5,1,1,H"),
        [1_441_812_001.75]
    );
    assert_eq!(
        times("#[StartTime: 1441812279.5 (s)]\n1.5,1,1,H\n2.5,1,1,H"),
        [1_441_812_281.0, 1_441_812_282.0]
    );
    assert_eq!(times("#[StartTime: 1441812279.5 (s)]\n1441812280,1,1,H"), [1_441_812_280.0]);
    // Less than a year before.
    assert_eq!(times("#[StartTime: 1441812279.5 (s)]\n1441812000,1,1,H"), [1_441_812_000.0]);
    // More: taken to be relative, whatever follows.
    assert_eq!(times("#[StartTime: 100000000 (s)]\n68463999,1,1,H\n1,1,1,H"), [168_463_999.0, 100_000_001.0]);
    assert_eq!(times("#[StartTime: 100000000 (s)]\n68464000,1,1,H\n1,1,1,H"), [68_464_000.0, 1.0]);
    // No start time: the first timestamp.
    assert_eq!(times("5.5,1,1,H\n6.5,1,1,H"), [5.5, 6.5]);
    let mut reader = Reader::new(b"5.5,1,1,H");
    assert!(reader.start_seconds().is_none());
    reader.next();
    assert_eq!(reader.start_seconds(), Some(5.5));
}

#[test]
fn liberal_in_what_is_read() {
    let one = [Ok((5.0, 1.0, None))];
    for log in [
        "5,1,1,H",
        "5,1,1,H\r\n",
        "5,1,1,H\r",
        "\u{feff}5,1,1,H",
        "\n\n 5,1,1,H \n\n",
        "5.000,1.,1.0,H",
        "5, 1, 1, H",
        "5 1 1 H",
        "5\t,\t1,1,H",
        "5,1,,H",
        "5,1,NaN,H",
        "5,1,anything,H",
        "# comment\n5,1,1,H\n#[Another]\n",
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\r\n5,1,1,H",
        "StartTimestamp,Interval_Length,Interval_Max,Interval_Compressed_Histogram\r\n5,1,1,H",
        "#[StartTime: nonsense]\n#[BaseTime:]\n#[StartTime:\n#\n5,1,1,H",
    ] {
        assert_eq!(read(log), one, "{log:?}");
    }
    for name in ["BaseTime", "Basetime", "basetime"] {
        assert_eq!(times(&std::format!("#[{name}: 10.000 (seconds since epoch)]\n5,1,1,H")), [15.0]);
        assert_eq!(times(&std::format!("#[{name}:10]\n5,1,1,H")), [15.0]);
    }
    assert_eq!(read("Tag=A,5,1,1,H"), [Ok((5.0, 1.0, Some("A".into())))]);
    assert_eq!(read("Tag=\u{e4}=b,5,1,1,H"), [Ok((5.0, 1.0, Some("\u{e4}=b".into())))]);
    assert_eq!(read("Tag=,5,1,1,H"), [Ok((5.0, 1.0, Some("".into())))]);
    assert_eq!(read(""), []);
    assert_eq!(read("#"), []);
}

#[test]
fn a_broken_line_is_one_error() {
    let ok = Ok((5.0, 1.0, None));
    for line in [
        "5",
        "5,1",
        "5,1,1",
        "5,1,1,",
        "x,1,1,H",
        "5,x,1,H",
        ",1,1,H",
        "inf,1,1,H",
        "nan,1,1,H",
        "Tag=A",
        "Tag=A,",
        "Tag=A B,5,1,1,H",
        "1e999,1,1,H",
        ",,,",
    ] {
        let log = std::format!("{line}\n5,1,1,H");
        assert_eq!(read(&log), [Err(Error::Corrupt), ok.clone()], "{line:?}");
    }
    let bytes = b"Tag=\xff,5,1,1,HIST\n";
    assert_eq!(Reader::new(bytes).next(), Some(Err(Error::Corrupt)), "not UTF-8");
    let broken = Reader::new(b"5,1,1,HIST").next().unwrap().unwrap();
    assert_eq!(broken.decode(0).err(), Some(Error::Corrupt));
}

proptest! {
    #[test]
    fn anything_at_all(pieces in prop::collection::vec(prop_oneof![
        Just("5.5"), Just(","), Just("\n"), Just("\r"), Just("#[StartTime: "), Just("#[BaseTime: "), Just("Tag="), Just("-"),
        Just(HISTOGRAM), Just("\""), Just(" "), Just("9e99"), Just("\u{fffd}")], 0..60), cut in any::<prop::sample::Index>()) {
        let text: String = pieces.concat();
        let bytes = &text.as_bytes()[..cut.index(text.len() + 1)];
        let mut reader = Reader::new(bytes);
        let lines = text.split(['\n', '\r']).count();
        let read: Vec<_> = reader.by_ref().collect();
        prop_assert!(read.len() <= lines);
        prop_assert_eq!(reader.position(), bytes.len());
        for interval in read.into_iter().flatten() {
            prop_assert!(interval.start_seconds.is_finite() || interval.start_seconds.is_infinite());
            let _ = interval.decode(1000);
        }
    }
}
