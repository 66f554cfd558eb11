//! Logs that others write, and broken ones.

use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

use super::*;
use picollo_core::{Error, Layout, Snapshot};

const HISTOGRAM: &str = "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=";

fn snapshot(value: u64) -> Box<Snapshot> {
    let layout = Layout::with_significant_digits(3, 0, 3_600_000_000).unwrap();
    let mut snapshot = Snapshot::boxed(layout).unwrap();
    snapshot.rewrite(|counts| counts.add(layout.storage_index(value) as usize, 7));
    snapshot
}

/// Reads a log in which every `H` stands for a histogram.
fn read(log: &str) -> Vec<picollo_core::Result<(f64, f64, Option<String>)>> {
    let log = log.replace('H', HISTOGRAM);
    let parts = |interval: Interval| {
        assert_eq!(interval.histogram, HISTOGRAM.as_bytes());
        assert_eq!(interval.decode(0).unwrap().counts().total, 108);
        (interval.start_seconds, interval.length_seconds, interval.tag.map(String::from))
    };
    Reader::new(log.as_bytes()).map(|interval| interval.map(parts)).collect()
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
    let expected = [
        "#[Histogram log format version 1.3]",
        "#[made by a test]",
        "#[on two lines]",
        "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]",
        "#[BaseTime: 1441812279.000 (seconds since epoch)]",
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
    ];
    assert_eq!(lines[..6], expected);
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
    for tag in ["a,b", "a b", "a\nb", "a\rb", "\0", "\x7f", "\u{85}", "\u{2028}", "\u{2029}"] {
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
    for (log, expected) in [
        (
            "#[StartTime: 1441812279.5 (s)]\n#[BaseTime: 1441812000.25 (s)]\n1.5,1,1,H",
            &[1_441_812_001.75][..],
        ),
        ("#[StartTime: 1441812279.5 (s)]\n1.5,1,1,H\n2.5,1,1,H", &[1_441_812_281.0, 1_441_812_282.0]),
        ("#[StartTime: 1441812279.5 (s)]\n1441812280,1,1,H", &[1_441_812_280.0]),
        // The timestamp is less than a year earlier.
        ("#[StartTime: 1441812279.5 (s)]\n1441812000,1,1,H", &[1_441_812_000.0]),
        // It is more than a year earlier, so the timestamps are relative, whatever follows.
        ("#[StartTime: 100000000 (s)]\n68463999,1,1,H\n1,1,1,H", &[168_463_999.0, 100_000_001.0]),
        ("#[StartTime: 100000000 (s)]\n68464000,1,1,H\n1,1,1,H", &[68_464_000.0, 1.0]),
        // Without a start time, the first timestamp counts.
        ("5.5,1,1,H\n6.5,1,1,H", &[5.5, 6.5]),
    ] {
        assert_eq!(times(log), expected, "{log}");
    }
    let mut reader = Reader::new(b"5.5,1,1,H\n");
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
        "5,1,1,H,H",
        "5,1,1,H,",
        "5,1,1,1,1,1,1,H",
        "5,0,1,0,x,0,1,H",
        "5,0,,1,0,1,0,H",
        "5.0,0,1,0,1,0,H",
        "1e999,1,1,H",
        ",,,",
    ] {
        let log = std::format!("{line}\n5,1,1,H");
        assert_eq!(read(&log), [Err(Error::Corrupt), ok.clone()], "{line:?}");
    }
    let bytes = b"Tag=\xff,5,1,1,HIST\n";
    assert_eq!(Reader::new(bytes).next(), Some(Err(Error::Corrupt)), "not UTF-8");
    let broken = Reader::new(b"5,1,1,HIST\n").next().unwrap().unwrap();
    assert_eq!(broken.decode(0).err(), Some(Error::Corrupt));
}

#[test]
fn what_other_implementations_write() {
    let one = |start: f64, length: f64| [Ok((start, length, None))];
    // .NET writes these in different cultures.
    assert_eq!(read("5,500,1,250,2,769,H"), one(5.5, 1.25));
    assert_eq!(read("Tag=A,5,500,1,250,2,769,H"), [Ok((5.5, 1.25, Some("A".into())))]);
    assert_eq!(read("5\u{66b}5,1,1\u{66b}0,H"), one(5.5, 1.0));
    assert_eq!(read("\u{2212}5.5,1,1,H"), one(-5.5, 1.0));
    assert_eq!(read("\u{200e}-5.5,\u{61c}1,1,H"), one(-5.5, 1.0));
    let log = "#[StartTime: 1441812279,474 (seconds since epoch)]\n0,127,1,007,2,769,H";
    assert_eq!(times(log), [1_441_812_279.601]);
    assert_eq!(times("#[BaseTime: 10,5 (seconds since epoch)]\n5,1,1,H"), [15.5]);
    // C writes the end where others write the length.
    assert_eq!(read("1441812279.5,1441812281.75,5000,H"), one(1_441_812_279.5, 2.25));
    assert_eq!(read("1441812279.5,1441812279.5,0,H"), one(1_441_812_279.5, 0.0));
    let strange = one(1_441_812_279.5, 1_441_812_279.25);
    assert_eq!(read("1441812279.5,1441812279.25,0,H"), strange, "a length");
    assert_eq!(read("5,7,1,H"), one(5.0, 7.0), "no absolute time");
    assert_eq!(read("#[BaseTime: 1441812279 (s)]\n5,7,1,H"), one(1_441_812_284.0, 7.0));
    // Java writes this if no time was set.
    assert_eq!(read("9223372036854776.000,-9223372036854776.000,1,H"), one(0.0, 0.0));
    let log = "9223372036854776.000,-9223372036854776.000,1,H\n5,1,1,H";
    assert_eq!(times(log), [0.0, 5.0], "it says nothing about the others");
    assert_eq!(read("-5.5,1,1,H"), one(-5.5, 1.0));
    // Tags extend to the comma.
    for tag in ["A B", "a\tb", " ", "\u{a0}", "=\u{1f40c}"] {
        assert_eq!(read(&std::format!("Tag={tag},5,1,1,H")), [Ok((5.0, 1.0, Some(tag.into())))]);
    }
}

#[test]
fn logs_that_were_joined() {
    let first = "#[histogram log format version 1.3]\n#[StartTime: 1441812279.5 (s)]\n1.5,1,1,H\n";
    let second = "\u{feff}#[histogram log format version 1.3]\n#[StartTime: 1500000000 (s)]\n2.5,1,1,H\n";
    let third = "#[histogram log format version 1.2]\n1600000000,1,1,H\n1600000001,1,1,H\n";
    let fourth = "#[StartTime: 1700000000 (s)]\n7,1,1,H\n";
    let expected = [1_441_812_281.0, 1_500_000_002.5, 1.6e9, 1_600_000_001.0, 1_700_000_007.0];
    assert_eq!(times(&[first, second, third, fourth].concat()), expected);
    // Everything before the first interval belongs to it, in any order. A log whose base changes is still one log.
    let log = "#[BaseTime: 10 (s)]\n#[StartTime: 12 (s)]\n#[histogram log format version 1.3]\n5,1,1,H\n#[BaseTime: 20 (s)]\n5,1,1,H";
    assert_eq!(times(log), [15.0, 25.0]);
}

#[test]
fn what_is_not_there_yet() {
    let log = std::format!("5,1,1,{HISTOGRAM}\nTag=A,6,1,1,{HISTOGRAM}\n");
    let first = log.find('\n').unwrap() + 1;
    for cut in first..log.len() {
        let mut reader = Reader::new(&log.as_bytes()[..cut]);
        assert!(reader.next().unwrap().is_ok());
        let second = reader.next();
        if cut == log.len() - 1 {
            // Only the line end is missing.
            assert!(second.unwrap().unwrap().decode(0).is_ok(), "{cut}");
            continue;
        }
        // Without an allocator, the reader does not examine the histogram.
        if cfg!(feature = "alloc") || cut >= log.len() - 3 {
            assert_eq!((second, reader.position(), reader.line()), (None, first, 1), "cut at {cut}");
            assert_eq!(reader.next(), None);
        }
    }
    // The reader also skips partial comments and legends.
    for line in ["#[StartTime: 1441812279.5 (s)]", "\"StartTimestamp\",\"Int", "StartTimestamp,Int"] {
        for cut in 1..=line.len() {
            let log = [&log[..first], &line[..cut]].concat();
            let mut reader = Reader::new(log.as_bytes());
            assert!(reader.next().unwrap().is_ok());
            assert_eq!((reader.next(), reader.position()), (None, first), "{log:?}");
            assert_eq!(reader.start_seconds(), Some(5.0), "{log:?}");
        }
    }
    // With a line end, it is an error.
    let broken = std::format!("{}\n", &log[..first + 9]);
    assert_eq!(Reader::new(broken.as_bytes()).nth(1), Some(Err(Error::Corrupt)));
    // The log has a tail of NULs.
    let tail = [&log.as_bytes()[..first], &[0; 100]].concat();
    let mut reader = Reader::new(&tail);
    assert!(reader.next().unwrap().is_ok());
    assert_eq!((reader.next(), reader.position()), (None, first));
    let tail = [&log.as_bytes()[..first + 20], &[0; 100]].concat();
    assert_eq!(Reader::new(&tail).count(), 1);
    let within = [&[0; 100], &log.as_bytes()[..first]].concat();
    assert_eq!(Reader::new(&within).next(), Some(Err(Error::Corrupt)), "not at the end");
}

#[test]
fn utf_16_is_not_read_as_it_is() {
    let log: Vec<u8> = "\u{feff}5,1,1,H".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut reader = Reader::new(&log);
    assert_eq!(reader.next(), Some(Err(Error::Unsupported)));
    assert_eq!((reader.next(), reader.position()), (None, log.len()));
}

#[test]
fn long_comments_are_broken_where_the_reader_of_c_can_read_them() {
    let comment = "\u{1f40c}".repeat(100) + "\n" + &"x".repeat(117) + "\nend";
    let mut log = String::new();
    write_header(&mut log, &Header { comment: &comment, ..Header::default() }).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "#[Histogram log format version 1.3]");
    assert!(lines.iter().all(|line| line.len() <= 120), "{lines:?}");
    let joined: String = lines[1..lines.len() - 1].iter().map(|line| &line[2..line.len() - 1]).collect();
    assert_eq!(joined, comment.replace('\n', ""));
    assert_eq!(lines.len(), 1 + 4 + 1 + 1 + 1);
}
