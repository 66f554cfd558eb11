//! Logs: every byte is read once, and every interval can be written again and reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_codec::log::{Reader, from_utf16, is_utf16, write_interval};
use picollo_fuzz::{counts, decode};

/// Lines with a later timestamp, in seconds, may have the end of the interval instead of its length.
const YEAR: f64 = 365.0 * 24.0 * 3600.0;

fuzz_target!(|bytes: &[u8]| {
    let copy = from_utf16(bytes).unwrap();
    assert_eq!(copy.is_some(), is_utf16(bytes));
    if copy.is_some() {
        let mut reader = Reader::new(bytes);
        assert_eq!(reader.next(), Some(Err(picollo_core::Error::Unsupported)));
        assert!(reader.next().is_none());
    }
    let text = copy.as_deref().map_or(bytes, str::as_bytes);
    // A mark in the copy would come from the text itself.
    if copy.is_some() && is_utf16(text) {
        return;
    }
    let mut reader = Reader::new(text);
    let mut position = 0;
    while let Some(interval) = reader.next() {
        assert!(reader.position() > position, "reading goes on");
        position = reader.position();
        let Ok(interval) = interval else { continue };
        assert!(!interval.length_seconds.is_nan() && !interval.start_seconds.is_nan());
        let Ok(snapshot) = decode(interval.histogram) else { continue };
        let mut line = String::from("#[BaseTime: 0]\n");
        let (start, length) = (interval.start_seconds, interval.length_seconds);
        if start >= YEAR - 1.0 && length >= start - 1.0 {
            continue;
        }
        let Ok(()) = write_interval(&mut line, &snapshot, start, length, interval.tag) else { continue };
        let mut again = Reader::new(line.as_bytes());
        let copy = again.next().unwrap().unwrap();
        assert_eq!(copy.tag.unwrap_or(""), interval.tag.unwrap_or(""));
        let near = |a: f64, b: f64| (a - b).abs() <= 0.0005 + a.abs() * 1e-12;
        assert!(near(copy.start_seconds, start) && near(copy.length_seconds, length));
        if let Ok(decoded) = decode(copy.histogram) {
            assert_eq!(counts(&decoded), counts(&snapshot));
        }
        assert!(again.next().is_none());
    }
    // The rest consists of NULs, or ends with an incomplete line.
    let rest = &text[reader.position()..];
    assert!(rest.iter().all(|&byte| byte == 0) || !rest.ends_with(b"\n") && !rest.ends_with(b"\r"));
});
