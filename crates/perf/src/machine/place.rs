//! Where and when something was measured, for the head of a report.

use core::ffi::c_char;
use core::fmt::{self, Write};

use picollo_core::seam::Day;

use picollo_native::seam::text;

/// Where this process runs, and the present time, in a kilobyte of fixed memory. Unknown facts are empty.
pub struct Place {
    date: [c_char; 24],
    host: [c_char; 72],
    command: [c_char; 320],
    kernel: [c_char; 136],
    cpu: [c_char; 136],
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.facts()).finish()
    }
}

impl Place {
    /// This process, here and now. If the environment variable `PICOLLO_NO_ARGUMENTS` is set and not empty, the command
    /// is the program without its arguments, which may contain secrets. Cost: it reads four small files.
    pub fn here() -> Place {
        let mut place =
            Place { date: [0; 24], host: [0; 72], command: [0; 320], kernel: [0; 136], cpu: [0; 136] };
        // Text that does not fit is cut.
        let _ = write_date(&mut text::Writer::new(&mut place.date), picollo_native::seam::wall::unix_nanos());
        #[cfg(picollo_linux)]
        place.read(
            &picollo_native::seam::sys::Kernel,
            std::env::var_os("PICOLLO_NO_ARGUMENTS").is_none_or(|set| set.is_empty()),
        );
        place
    }

    #[cfg(picollo_linux)]
    fn read(&mut self, files: &impl picollo_native::seam::sys::Files, arguments: bool) {
        let mut buffer = [0; 2048];
        let mut read = |path: &str, each: &mut dyn FnMut(&[u8])| {
            let length = files.read_file(path, &mut buffer).unwrap_or(0);
            each(buffer.get(..length).unwrap_or_default());
        };
        read("/proc/sys/kernel/hostname", &mut |line| write_words(&mut self.host, line));
        read("/proc/sys/kernel/osrelease", &mut |line| write_words(&mut self.kernel, line));
        read("/proc/self/cmdline", &mut |words| {
            let program = words.split(|&byte| byte == 0).next().unwrap_or_default();
            write_words(&mut self.command, if arguments { words } else { program });
        });
        read("/proc/cpuinfo", &mut |info| {
            let lines = info.split(|&byte| byte == b'\n');
            let mut values = lines.filter_map(|line| {
                let rest = line.strip_prefix(b"model name")?;
                rest.iter().position(|&byte| byte == b':').and_then(|at| rest.get(at + 1..))
            });
            write_words(&mut self.cpu, values.next().unwrap_or_default());
        });
    }

    /// Each fact with its name: date (UTC), host, command, kernel and processor.
    pub fn facts(&self) -> [(&str, &str); 5] {
        [
            ("Date", text::get(&self.date)),
            ("Host", text::get(&self.host)),
            ("Command", text::get(&self.command)),
            ("Kernel", text::get(&self.kernel)),
            ("Processor", text::get(&self.cpu)),
        ]
    }
}

/// Replaces a text by the words of another one, with one space between them. It may end with an ellipsis.
#[cfg(any(picollo_linux, test))]
fn write_words(buffer: &mut [c_char], bytes: &[u8]) {
    let words = fmt::from_fn(|f| {
        let words =
            bytes.split(|byte| *byte == 0 || byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        for (at, word) in words.enumerate() {
            f.write_str(if at == 0 { "" } else { " " })?;
            for chunk in word.utf8_chunks() {
                f.write_str(chunk.valid())?;
                f.write_str(if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })?;
            }
        }
        Ok(())
    });
    text::set_sentences(buffer, format_args!("{words}"));
}

/// A time in UTC, to the minute; empty for 0.
fn write_date(out: &mut dyn Write, unix_nanos: u64) -> fmt::Result {
    if unix_nanos == 0 {
        return Ok(());
    }
    let minutes = unix_nanos / 60_000_000_000;
    let of_day = minutes % 1440;
    write!(out, "{} {:02}:{:02} UTC", Day((minutes / 1440) as i64), of_day / 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, ""),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_868_799, "2000-02-29 23:59 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_700_000_000, "2023-11-14 22:13 UTC"),
            (18_446_744_073, "2554-07-21 23:34 UTC"),
        ] {
            let mut found = String::new();
            write_date(&mut found, seconds * 1_000_000_000).unwrap();
            assert_eq!(found, text);
        }
    }

    #[test]
    fn words() {
        let mut buffer = [0; 16];
        write_words(&mut buffer, b"\0 a\0b\n\n\tc\xff ");
        assert_eq!(text::get(&buffer), "a b c\u{fffd}");
        for bytes in ["ä".repeat(40), "word ".repeat(9)] {
            write_words(&mut buffer, bytes.as_bytes());
            let text = text::get(&buffer);
            assert!(text.ends_with('…') && text.len() > 11, "{text}");
        }
    }

    #[test]
    #[cfg(picollo_linux)]
    fn here() {
        let place = Place::here();
        let [date, host, command, kernel, _] = place.facts().map(|(_, fact)| fact);
        assert!(date.ends_with(" UTC") && !host.is_empty() && !kernel.is_empty(), "{place:?}");
        assert!(command.contains("picollo"), "{command}");
    }

    #[test]
    #[cfg(picollo_linux)]
    fn without_arguments() {
        let mut place = Place::here();
        place.read(&picollo_native::seam::sys::Kernel, false);
        let program = std::env::args().next().unwrap_or_default();
        assert!(place.facts()[2].1 == program || place.facts()[2].1.ends_with('…'), "{place:?}");
    }
}
