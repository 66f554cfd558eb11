//! Hints: what else happened on the machine, which a thread's accounts do not show. They supplement the causes.
//!
//! They compare two readings of the kernel's sums for the whole machine, at the beginning and the end of an interval.
//! The sums include other programs and events unrelated to slow observations: a hint shows where to look.

use core::fmt::{self, Write};

use picollo_core::seam::Grouped;

use picollo_native::seam::pressure::waited;
use picollo_native::seam::sys::{Files, Kernel};

/// Totals so far. Unreadable ones are unknown.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Sums {
    /// Ticks of all CPUs: those that a host took, and all.
    steal: Option<[u64; 2]>,
    /// Nanoseconds during which something waited.
    cpu: Option<u64>,
    memory: Option<u64>,
    io: Option<u64>,
    /// Pages.
    swapped_in: Option<u64>,
}

/// Changes between two readings.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Hints {
    /// Share of the machine's CPU time that a host took, 0 to 1.
    pub steal: Option<f64>,
    /// Share of the time in which something on the machine waited for a CPU, 0 to 1.
    #[serde(rename = "waited_for_cpu")]
    pub cpu: Option<f64>,
    /// The same for memory.
    #[serde(rename = "waited_for_memory")]
    pub memory: Option<f64>,
    /// The same for a disk.
    #[serde(rename = "waited_for_io")]
    pub io: Option<f64>,
    /// Pages read from swap.
    pub swapped_in: Option<u64>,
}

/// Smaller shares are not worth mentioning.
const LEAST: f64 = 0.01;

impl Sums {
    /// The current sums. Reads five files without allocating.
    pub(super) fn read() -> Sums {
        Sums::from_files(|path, buffer| Kernel.read_file(path, buffer).ok())
    }

    /// Parses the files. `file` writes the beginning of a file into memory and returns its length.
    fn from_files(mut file: impl FnMut(&str, &mut [u8]) -> Option<usize>) -> Sums {
        // The first line of `/proc/stat` suffices, and `pswpin` is in the first half of this much of `/proc/vmstat`.
        let mut buffer = [0; 1 << 12];
        let mut read = |path, parse: &mut dyn FnMut(&str)| {
            let length = file(path, &mut buffer).unwrap_or(0);
            parse(buffer.get(..length).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or(""));
        };
        let mut sums = Sums::default();
        read("/proc/stat", &mut |text| sums.steal = steal(text));
        read("/proc/pressure/cpu", &mut |text| sums.cpu = waited(text.as_bytes()));
        read("/proc/pressure/memory", &mut |text| sums.memory = waited(text.as_bytes()));
        read("/proc/pressure/io", &mut |text| sums.io = waited(text.as_bytes()));
        read("/proc/vmstat", &mut |text| sums.swapped_in = number(text, "pswpin "));
        sums
    }

    /// Changes since `earlier`, which was `nanos` ago.
    pub(super) fn since(&self, earlier: &Sums, nanos: u64) -> Hints {
        let grown = |later: Option<u64>, earlier: Option<u64>| later?.checked_sub(earlier?);
        let share = |later, earlier| {
            (nanos > 0).then(|| grown(later, earlier).map(|waited| waited as f64 / nanos as f64))?
        };
        let steal = || {
            let ([later, all], [earlier, all_earlier]) = (self.steal?, earlier.steal?);
            let all = all.checked_sub(all_earlier).filter(|&all| all > 0)?;
            Some(later.checked_sub(earlier)? as f64 / all as f64)
        };
        Hints {
            steal: steal().map(within),
            cpu: share(self.cpu, earlier.cpu).map(within),
            memory: share(self.memory, earlier.memory).map(within),
            io: share(self.io, earlier.io).map(within),
            swapped_in: grown(self.swapped_in, earlier.swapped_in),
        }
    }
}

/// The sums and the time are not read at the same moment, so that a share could exceed 1.
fn within(share: f64) -> f64 {
    share.clamp(0.0, 1.0)
}

/// Parses `/proc/stat`: steal, and the sum of the first eight numbers. (The times of users include those of guests.)
fn steal(text: &str) -> Option<[u64; 2]> {
    let mut numbers = text.strip_prefix("cpu ")?.lines().next()?.split_ascii_whitespace();
    let mut next = || numbers.next()?.parse::<u64>().ok();
    let (mut all, mut last) = (0u64, 0);
    for _ in 0..8 {
        last = next()?;
        all = all.checked_add(last)?;
    }
    Some([last, all])
}

fn number(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

impl Hints {
    /// Writes a sentence if it is worthwhile: "Meanwhile, on the whole machine: 12% of the CPU time was stolen by the
    /// host."
    pub(super) fn write_text(&self, out: &mut dyn Write) -> fmt::Result {
        let mut begin = "Meanwhile, on the whole machine: ";
        let mut part = |out: &mut dyn Write, text: fmt::Arguments<'_>| {
            out.write_str(core::mem::replace(&mut begin, "; "))?;
            out.write_fmt(text)
        };
        let worthwhile =
            |share: Option<f64>| share.filter(|&share| share >= LEAST).map(|share| share * 100.0);
        if let Some(percent) = worthwhile(self.steal) {
            part(out, format_args!("{percent:.0}% of the CPU time was stolen by the host"))?;
        }
        for (share, what) in [(self.cpu, "a CPU"), (self.memory, "memory"), (self.io, "a disk")] {
            if let Some(percent) = worthwhile(share) {
                part(out, format_args!("something waited for {what} in {percent:.0}% of the time"))?;
            }
        }
        if let Some(pages) = self.swapped_in.filter(|&pages| pages > 0) {
            part(out, format_args!("{} pages were read from swap", Grouped::from(pages)))?;
        }
        if begin == "; " { out.write_str(".") } else { Ok(()) }
    }

    /// Whether [`Hints::write_text`] writes anything.
    pub(super) fn is_empty(&self) -> bool {
        let shares = [self.steal, self.cpu, self.memory, self.io];
        shares.into_iter().flatten().all(|share| share < LEAST) && self.swapped_in.unwrap_or(0) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(text: &str) -> impl Fn(&mut [u8]) -> Option<usize> {
        move |buffer| {
            buffer.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
            Some(text.len())
        }
    }

    fn sums(at: u64) -> Sums {
        Sums::from_files(|path, buffer| {
            let text = match path {
                "/proc/stat" => {
                    format!(
                        "cpu  {} 0 100 {} 7 0 5 {} 9999 8888\ncpu0 1 2 3 4 5 6 7 8 9\n",
                        1000 + at,
                        8000,
                        10 * at
                    )
                }
                "/proc/pressure/memory" => {
                    format!(
                        "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total=7\n",
                        500 + at * 1000
                    )
                }
                "/proc/pressure/io" => "some avg10=1.00 avg60=1.00 avg300=1.00 total=77\n".into(),
                "/proc/vmstat" => format!("nr_free_pages 1\npswpin {}\npswpout 3\n", 4000 + at * 12),
                _ => return None,
            };
            planted(&text)(buffer)
        })
    }

    fn text(hints: &Hints) -> String {
        let mut out = String::new();
        hints.write_text(&mut out).unwrap();
        assert_eq!(out.is_empty(), hints.is_empty());
        out
    }

    #[test]
    fn growth_is_a_hint() {
        let hints = sums(100).since(&sums(0), 1_000_000_000);
        assert_eq!(hints.steal, Some(1000.0 / 1100.0));
        assert_eq!(
            (hints.cpu, hints.memory, hints.io, hints.swapped_in),
            (None, Some(0.1), Some(0.0), Some(1200))
        );
        assert_eq!(
            text(&hints),
            "Meanwhile, on the whole machine: 91% of the CPU time was stolen by the host; something waited for memory in 10% of \
             the time; 1,200 pages were read from swap."
        );
    }

    #[test]
    fn nothing_gives_no_hint() {
        let same = sums(5).since(&sums(5), 1_000_000_000);
        assert_eq!((same.steal, same.memory, same.swapped_in), (None, Some(0.0), Some(0)));
        assert_eq!(text(&same), "");
        // Sums that decreased, and files that are missing or malformed.
        let back = sums(0).since(&sums(5), 1_000_000_000);
        assert_eq!((back.steal, back.memory, back.swapped_in), (None, None, None));
        for file in
            ["", "cpu", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 x", "some total=", "some", "pswpin -1", "\u{fffd}"]
        {
            assert_eq!(Sums::from_files(|_, buffer| planted(file)(buffer)), Sums::default(), "{file}");
        }
        assert_eq!(text(&Sums::default().since(&sums(1), 5)), "");
        assert_eq!(sums(9).since(&sums(1), 0).memory, None);
    }
}
