//! Where something was measured, and when: what belongs at the head of a report.

use core::fmt::{self, Write};

/// Text in memory of its own, cut where there is no room.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    const EMPTY: Self = Text { bytes: [0; N], length: 0 };

    fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let room = self.bytes.get_mut(self.length..).and_then(|rest| rest.get_mut(..c.len_utf8()));
            c.encode_utf8(room.ok_or(fmt::Error)?);
            self.length += c.len_utf8();
        }
        Ok(())
    }
}

/// Where this process runs, and when this was asked: in fixed memory, a kilobyte. What is not known is empty.
pub struct Place {
    date: Text<24>,
    host: Text<72>,
    command: Text<320>,
    kernel: Text<136>,
    cpu: Text<136>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.facts()).finish()
    }
}

impl Place {
    /// This process, here and now. Cost: reads four small files; allocates nothing.
    pub fn here() -> Place {
        let mut place = Place {
            date: Text::EMPTY,
            host: Text::EMPTY,
            command: Text::EMPTY,
            kernel: Text::EMPTY,
            cpu: Text::EMPTY,
        };
        // What does not fit ends there.
        let _ = write_date(&mut place.date, crate::os::wall::unix_nanos());
        #[cfg(picollo_linux)]
        place.read(&crate::os::sys::Kernel);
        place
    }

    #[cfg(picollo_linux)]
    fn read(&mut self, files: &impl crate::os::sys::Files) {
        let mut buffer = [0; 2048];
        let mut read = |path: &str, each: &mut dyn FnMut(&[u8])| {
            let length = files.read_file(path, &mut buffer).unwrap_or(0);
            each(buffer.get(..length).unwrap_or_default());
        };
        read("/proc/sys/kernel/hostname", &mut |line| write_words(&mut self.host, line));
        read("/proc/sys/kernel/osrelease", &mut |line| write_words(&mut self.kernel, line));
        read("/proc/self/cmdline", &mut |words| write_words(&mut self.command, words));
        read("/proc/cpuinfo", &mut |info| {
            let lines = info.split(|&byte| byte == b'\n');
            let mut values = lines.filter_map(|line| {
                let rest = line.strip_prefix(b"model name")?;
                rest.iter().position(|&byte| byte == b':').and_then(|at| rest.get(at + 1..))
            });
            write_words(&mut self.cpu, values.next().unwrap_or_default());
        });
    }

    /// Each by name: date (UTC), host, command, kernel and processor.
    pub fn facts(&self) -> [(&str, &str); 5] {
        [
            ("Date", self.date.as_str()),
            ("Host", self.host.as_str()),
            ("Command", self.command.as_str()),
            ("Kernel", self.kernel.as_str()),
            ("Processor", self.cpu.as_str()),
        ]
    }
}

/// Words with one space between them, whatever stood there, and an ellipsis where there is no room.
#[cfg(any(picollo_linux, test))]
fn write_words<const N: usize>(text: &mut Text<N>, bytes: &[u8]) {
    const ELLIPSIS: &str = "…";
    let mut is_space = true;
    for chunk in bytes.utf8_chunks() {
        let invalid = if chunk.invalid().is_empty() { "" } else { "\u{fffd}" };
        for c in chunk.valid().chars().chain(invalid.chars()) {
            let is_gap = c == '\0' || c.is_whitespace();
            if is_gap {
                is_space = true;
                continue;
            }
            let gap = if is_space && text.length > 0 { " " } else { "" };
            is_space = false;
            if text.length + gap.len() + c.len_utf8() + ELLIPSIS.len() > N {
                let _ = text.write_str(ELLIPSIS);
                return;
            }
            let _ = write!(text, "{gap}{c}");
        }
    }
}

/// A time in UTC, to the minute; nothing of none.
fn write_date(out: &mut dyn Write, unix_nanos: u64) -> fmt::Result {
    if unix_nanos == 0 {
        return Ok(());
    }
    let minutes = unix_nanos / 60_000_000_000;
    let of_day = minutes % 1440;
    write_day(out, minutes / 1440)?;
    write!(out, " {:02}:{:02} UTC", of_day / 60, of_day % 60)
}

/// A day, as so many days after the first of 1970. Years from March: Howard Hinnant, "chrono-compatible low-level date algorithms".
pub(crate) fn write_day(out: &mut dyn Write, days: u64) -> fmt::Result {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    write!(out, "{year:04}-{month:02}-{day:02}")
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
            let mut found = Text::<24>::EMPTY;
            write_date(&mut found, seconds * 1_000_000_000).unwrap();
            assert_eq!(found.as_str(), text);
        }
    }

    #[test]
    fn words() {
        let mut text = Text::<16>::EMPTY;
        write_words(&mut text, b"\0 a\0b\n\n\tc\xff ");
        assert_eq!(text.as_str(), "a b c\u{fffd}");
        for bytes in ["ä".repeat(40), "word ".repeat(9)] {
            let mut text = Text::<16>::EMPTY;
            write_words(&mut text, bytes.as_bytes());
            assert!(text.as_str().ends_with('…') && text.length > 11, "{}", text.as_str());
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
}
