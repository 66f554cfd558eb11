//! The kernel's accounts of the calling thread: CPU time, waiting for a CPU, context switches, and page faults.
//!
//! They come from several places. A thread that loses the CPU between two readings would seem to have waited: in an
//! experiment, four to ten of a hundred milliseconds, for a thread that never waits, beside three others. So the count
//! of context switches is read before and after, and all readings are repeated if it changed.

use core::mem::{ManuallyDrop, MaybeUninit};
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::checkpoints::Remembered;
use super::exemplar::{Evidence, KNOWN_ACCOUNTS, KNOWN_RUN_DELAY, Missing};
use picollo_native::seam::thread::process;
use picollo_native::seam::wall::clock_nanos;
use picollo_native::{Clock, TimeUnit};

/// Maximum number of attempts if a context switch comes between readings.
const ATTEMPTS: usize = 8;

/// The accounts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    pub ticks: u64,
    cpu_nanos: u64,
    /// [`NOT_READ`], or the run delay from schedstat.
    run_delay_nanos: u64,
    // Only their differences over a few seconds matter.
    voluntary: u32,
    involuntary: u32,
    minor_faults: u32,
    major_faults: u32,
}

// SAFETY: all fields are numbers.
unsafe impl Remembered for Accounts {}

const NOT_READ: u64 = u64::MAX;

impl Accounts {
    /// Reads the accounts of the calling thread; `None` if they are unavailable. `schedstat` must be this thread's.
    pub(super) fn read(schedstat: Option<&Schedstat>) -> Option<Accounts> {
        for _ in 0..ATTEMPTS {
            let before = usage()?;
            let run_delay_nanos = schedstat.and_then(Schedstat::run_delay).unwrap_or(NOT_READ);
            let cpu_nanos = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
            let ticks = Clock::Tsc.ticks();
            let usage = usage()?;
            if (before.ru_nvcsw, before.ru_nivcsw) == (usage.ru_nvcsw, usage.ru_nivcsw) {
                return Some(Accounts {
                    ticks,
                    cpu_nanos,
                    run_delay_nanos,
                    voluntary: usage.ru_nvcsw as u32,
                    involuntary: usage.ru_nivcsw as u32,
                    minor_faults: usage.ru_minflt as u32,
                    major_faults: usage.ru_majflt as u32,
                });
            }
        }
        None
    }

    /// How the time since `earlier` was spent.
    pub(super) fn since(&self, earlier: &Accounts) -> Evidence {
        let (Some(ticks), Some(cpu_nanos)) =
            (self.ticks.checked_sub(earlier.ticks), self.cpu_nanos.checked_sub(earlier.cpu_nanos))
        else {
            return Evidence::none(Missing::Contradictory);
        };
        let run_delay = match (self.run_delay_nanos, earlier.run_delay_nanos) {
            (NOT_READ, _) | (_, NOT_READ) => None,
            (later, earlier) => later.checked_sub(earlier),
        };
        Evidence {
            known: KNOWN_ACCOUNTS | if run_delay.is_some() { KNOWN_RUN_DELAY } else { 0 },
            window_nanos: Clock::Tsc.convert(ticks, TimeUnit::Nanos),
            cpu_nanos,
            run_delay_nanos: run_delay.unwrap_or(0),
            voluntary: self.voluntary.wrapping_sub(earlier.voluntary),
            involuntary: self.involuntary.wrapping_sub(earlier.involuntary),
            minor_faults: self.minor_faults.wrapping_sub(earlier.minor_faults),
            major_faults: self.major_faults.wrapping_sub(earlier.major_faults),
            ..Evidence::default()
        }
    }
}

fn usage() -> Option<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of the right type, which is all that the call writes.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: all zeros are a valid rusage, and the call filled it in.
    Some(unsafe { usage.assume_init() })
}

/// The calling thread's `/proc/thread-self/schedstat`. Dropping it closes the file, which only this thread may do.
/// Callers that open or read it must block `pthread_cancel`.
#[derive(Debug)]
pub(super) struct Schedstat {
    file: ManuallyDrop<File>,
    process: u32,
}

impl Schedstat {
    /// Opens the file. `None` if the system does not have it, or has no free descriptors.
    pub(super) fn open() -> Option<Schedstat> {
        let file = File::open("/proc/thread-self/schedstat").ok()?;
        Some(Schedstat { file: ManuallyDrop::new(file), process: process() })
    }

    /// Nanoseconds since its start during which the thread was ready but did not run.
    fn run_delay(&self) -> Option<u64> {
        let mut text = [0u8; 96];
        let length = self.file.read_at(&mut text, 0).ok()?;
        parse(text.get(..length)?)
    }
}

impl Drop for Schedstat {
    fn drop(&mut self) {
        // A forked child may have closed the inherited descriptor and opened another file under its number.
        if self.process == process() {
            // SAFETY: not used after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// Returns the second number.
fn parse(text: &[u8]) -> Option<u64> {
    let mut numbers = text.split(|byte| byte.is_ascii_whitespace()).filter(|number| !number.is_empty());
    let mut number = || core::str::from_utf8(numbers.next()?).ok()?.parse().ok();
    let (ran, delay): (u64, u64) = (number()?, number()?);
    // A kernel without these accounts reports zeros even for a running thread.
    (ran > 0).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_is_read_as_it_is_written() {
        assert_eq!(parse(b"12 34 5\n"), Some(34));
        for none in [&b""[..], b"12", b"0 0 0\n", b"12 x 5", b"\xff 3 4", b"99999999999999999999 1 2"] {
            assert_eq!(parse(none), None);
        }
    }

    #[test]
    fn a_delay_is_known_if_both_are_read() {
        let [unread, read] =
            [NOT_READ, 7].map(|run_delay_nanos| Accounts { run_delay_nanos, ..Accounts::default() });
        for (later, earlier) in [(unread, read), (read, unread), (unread, unread)] {
            assert!(!later.since(&earlier).knows(KNOWN_RUN_DELAY), "{later:?} {earlier:?}");
        }
        assert!(read.since(&read).knows(KNOWN_RUN_DELAY));
    }

    #[test]
    fn accounts_that_go_back_are_contradictory() {
        let [before, after] = [(); 2].map(|()| Accounts::read(None).unwrap());
        assert_eq!(before.since(&after).missing, Missing::Contradictory);
        let earlier =
            Accounts { ticks: 10, cpu_nanos: 20, run_delay_nanos: 30, voluntary: 1, ..Accounts::default() };
        let later = Accounts {
            ticks: 11,
            cpu_nanos: 22,
            run_delay_nanos: 33,
            voluntary: 5,
            involuntary: 5,
            minor_faults: 6,
            major_faults: 7,
        };
        let found = later.since(&earlier);
        assert_eq!((found.cpu_nanos, found.run_delay_nanos), (2, 3));
        assert_eq!((found.voluntary, found.involuntary), (4, 5));
        assert_eq!((found.minor_faults, found.major_faults), (6, 7));
        for back in [Accounts { ticks: 9, ..later }, Accounts { cpu_nanos: 19, ..later }] {
            assert_eq!(back.since(&earlier).missing, Missing::Contradictory);
        }
    }
}
