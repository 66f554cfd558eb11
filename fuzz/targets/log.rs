//! Logs: every byte is read once, every interval can be written again and reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_core::log::{Reader, write_interval};
use picollo_fuzz::{Counting, counts, decode};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|text: &[u8]| {
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
    assert_eq!(reader.position().max(text.len().min(3)), text.len());
});
