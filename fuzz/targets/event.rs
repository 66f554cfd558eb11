//! Names of events, and the files of sysfs that describe them: whatever stands in either, parsing ends in an event or an error,
//! and an event's name means the event again.
//!
//! Input: the spec up to the first newline, then files, each a line with its path and a line with its content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_native::Event;
use picollo_native::seam::{Errno, Files};

/// A system of nothing but files.
struct Tree<'a>(Vec<(&'a str, &'a str)>);

const DEVICES: &str = "/sys/bus/event_source/devices/";
const NOT_THERE: Errno = Errno(2);

impl Files for Tree<'_> {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno> {
        assert!(path.split('/').all(|part| part != ".."), "a name led out of its directory: {path}");
        let path = path.strip_prefix(DEVICES).unwrap_or(path);
        let (_, content) = self.0.iter().find(|(name, _)| *name == path).ok_or(NOT_THERE)?;
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content.as_bytes()[..length]);
        Ok(length)
    }
    fn list(&self, _: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno> {
        self.0.iter().for_each(|(name, _)| each(name));
        Ok(())
    }
}

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let spec = lines.next().unwrap_or_default();
    let mut files = Vec::new();
    while let (Some(path), Some(content)) = (lines.next(), lines.next()) {
        files.push((path, content));
    }
    let files = Tree(files);
    match Event::parse_with(&files, spec) {
        Ok(event) => {
            // A name that was cut to its buffer no longer says everything.
            if event.name().len() < 120 {
                let again = Event::parse_with(&files, event.name());
                assert_eq!(
                    again.as_ref().ok(),
                    Some(&event),
                    "{spec:?} is named {:?}: {again:?}",
                    event.name()
                );
            }
        }
        Err(error) => assert!(!error.message().is_empty()),
    }
});
