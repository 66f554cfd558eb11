//! Names of events, and the sysfs files that describe them: for any contents, parsing returns an event or an error, and
//! an event's name parses to the same event.
//!
//! Input: the spec up to the first newline, then files, each as a line with its path and a line with its content; "pmu"
//! and "forced" are for the substitute of libpfm4.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_native::seam::{Attr, Errno, Files};
use picollo_perf::seam::{Encoded, Library, Refusal};
use picollo_perf::{Event, ListedEvent};

/// A system that consists only of files.
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

/// Substitutes libpfm4: it knows all names that begin in upper case, for the given PMU, with some attributes. Its
/// answers repeat the request wherever there is room for text.
struct Names<'a> {
    pmu: &'a str,
    is_forced: bool,
}

fn copied<const N: usize>(from: &str) -> [core::ffi::c_char; N] {
    let mut to = [0; N];
    for (place, byte) in to[..N - 1].iter_mut().zip(from.bytes()) {
        *place = byte as core::ffi::c_char;
    }
    to
}

impl Library for Names<'_> {
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal> {
        let (pmu, name) = name.split_once("::").unwrap_or((self.pmu, name));
        let mut parts = name.split(':');
        let event = parts.next().unwrap_or_default();
        if pmu != self.pmu || !event.starts_with(|first: char| first.is_ascii_uppercase()) {
            return Err(Refusal::unknown(format_args!("")));
        }
        let config = event.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let mut attr = Attr { kind: 4, config, ..Attr::default() };
        let (mut user, mut kernel) = (false, false);
        for part in parts {
            match part.split_once('=').unwrap_or((part, "1")) {
                ("u" | "U", _) => user = true,
                ("k" | "K", _) => kernel = true,
                ("c", count) => attr.config1 = count.parse().map_err(|_| Refusal::wrong(part))?,
                ("period", _) => attr.sample_period = 1,
                ("H" | "I", _) => attr.config ^= 1,
                _ => return Err(Refusal::wrong(part)),
            }
        }
        if !user && !kernel {
            (user, kernel) = (ring == 8, ring == 1);
        }
        // The kernel's exclusion bits: 4 for user, 5 for kernel.
        attr.flags = u64::from(!user) << 4 | u64::from(!kernel) << 5;
        Ok(Encoded {
            attr,
            cpu: -1,
            pmu: copied(pmu),
            is_core: true,
            is_present: true,
            full: copied(&format!("{pmu}::{name}")),
        })
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        for name in ["MEM_LOAD_RETIRED.L1_MISS", "A", "", self.pmu] {
            each(&ListedEvent { pmu: self.pmu, name, about: name });
        }
        Ok(())
    }

    fn is_forced(&self, _: &str) -> bool {
        self.is_forced
    }
}

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let spec = lines.next().unwrap_or_default();
    let mut files = Vec::new();
    while let (Some(path), Some(content)) = (lines.next(), lines.next()) {
        files.push((path, content));
    }
    // The content under paths that no system has.
    let content_at = |name: &str| files.iter().find(|(path, _)| *path == name).map(|(_, content)| *content);
    let pmu = content_at("pmu").unwrap_or("skx").split('\0').next().unwrap_or_default();
    let names = Names { pmu, is_forced: content_at("forced").is_some() };
    let files = Tree(files);
    match Event::parse_among(&files, &names, spec) {
        Ok(event) => {
            // A name that was cut to its buffer is incomplete.
            if event.name().len() < 120 {
                let again = Event::parse_among(&files, &names, event.name());
                let name = event.name();
                assert_eq!(again.as_ref().ok(), Some(&event), "{spec:?} is named {name:?}: {again:?}");
            }
        }
        Err(error) => assert!(!error.message().is_empty()),
    }
});
