//! The kernel's accounts of the calling thread: what it ran, what it waited for a CPU, how often it went, and its page faults.
//!
//! They are in no one place, and a thread that is taken off the CPU between two readings would seem to have waited: four to ten
//! milliseconds of a hundred, of a thread that never waits, beside three others (tried). So they are read between two looks at the
//! number of its context switches, and again if that has changed.

use core::mem::MaybeUninit;

use super::evidence::{Evidence, KNOWN_ACCOUNTS, KNOWN_RUN_DELAY, Missing};
use crate::clock::{Clock, Unit};
use crate::os::wall::clock_nanos;

/// How often readings are repeated that a switch came into.
const ATTEMPTS: usize = 8;

/// The accounts of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    pub ticks: u64,
    cpu_nanos: u64,
    run_delay_nanos: Option<u64>,
    voluntary: u64,
    involuntary: u64,
    minor_faults: u64,
    major_faults: u64,
}

impl Accounts {
    /// Those of the calling thread now; `None` where there are none. `schedstat` is the descriptor of its own file of that name.
    pub(super) fn take(schedstat: Option<i32>) -> Option<Accounts> {
        for _ in 0..ATTEMPTS {
            let before = usage()?;
            let run_delay_nanos = schedstat.and_then(run_delay);
            let cpu_nanos = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
            let ticks = Clock::Tsc.ticks();
            let usage = usage()?;
            if (before.ru_nvcsw, before.ru_nivcsw) == (usage.ru_nvcsw, usage.ru_nivcsw) {
                return Some(Accounts {
                    ticks,
                    cpu_nanos,
                    run_delay_nanos,
                    voluntary: usage.ru_nvcsw as u64,
                    involuntary: usage.ru_nivcsw as u64,
                    minor_faults: usage.ru_minflt as u64,
                    major_faults: usage.ru_majflt as u64,
                });
            }
        }
        None
    }

    /// What became of the time since `earlier`.
    pub(super) fn since(&self, earlier: &Accounts) -> Evidence {
        let difference =
            |later: u64, earlier: u64| u32::try_from(later.wrapping_sub(earlier)).unwrap_or(u32::MAX);
        let (Some(ticks), Some(cpu_nanos)) =
            (self.ticks.checked_sub(earlier.ticks), self.cpu_nanos.checked_sub(earlier.cpu_nanos))
        else {
            return Evidence::none(Missing::Contradictory);
        };
        let run_delay = match (self.run_delay_nanos, earlier.run_delay_nanos) {
            (Some(later), Some(earlier)) => later.checked_sub(earlier),
            _ => None,
        };
        Evidence {
            known: KNOWN_ACCOUNTS | if run_delay.is_some() { KNOWN_RUN_DELAY } else { 0 },
            window_nanos: Clock::Tsc.convert(ticks, Unit::Nanos),
            cpu_nanos,
            run_delay_nanos: run_delay.unwrap_or(0),
            voluntary: difference(self.voluntary, earlier.voluntary),
            involuntary: difference(self.involuntary, earlier.involuntary),
            minor_faults: difference(self.minor_faults, earlier.minor_faults),
            major_faults: difference(self.major_faults, earlier.major_faults),
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
    // SAFETY: zero is a valid rusage, and the call filled it in besides.
    Some(unsafe { usage.assume_init() })
}

/// The second number of `schedstat`: nanoseconds that the thread was ready and did not run.
fn run_delay(descriptor: i32) -> Option<u64> {
    let mut text = [0u8; 96];
    // By number, as the C library's is a cancellation point.
    // SAFETY: the buffer is live and as long as said.
    let length = unsafe {
        libc::syscall(libc::SYS_pread64, descriptor, text.as_mut_ptr(), text.len(), 0 as libc::off_t)
    };
    let text = text.get(..usize::try_from(length).ok()?)?;
    parse(text)
}

fn parse(text: &[u8]) -> Option<u64> {
    let mut numbers = text.split(|byte| byte.is_ascii_whitespace()).filter(|number| !number.is_empty());
    let mut number = || core::str::from_utf8(numbers.next()?).ok()?.parse().ok();
    let (ran, delay): (u64, u64) = (number()?, number()?);
    // A kernel without these accounts has zeroes for a thread that runs.
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

    /// A thread that sleeps is off the CPU and waits; one that works is on it.
    #[test]
    fn sleep_and_work_are_told_apart() {
        let before = Accounts::take(None).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let slept = Accounts::take(None).unwrap().since(&before);
        assert!(
            slept.window_nanos >= 20_000_000 && slept.cpu_nanos < 5_000_000 && slept.voluntary > 0,
            "{slept:?}"
        );
        let before = Accounts::take(None).unwrap();
        crate::work::add_chain_256(100_000);
        let worked = Accounts::take(None).unwrap().since(&before);
        assert!(
            worked.cpu_nanos > 1_000_000 && worked.cpu_nanos <= worked.window_nanos + 100_000,
            "{worked:?}"
        );
        assert_eq!(before.since(&Accounts::take(None).unwrap()).missing, Missing::Contradictory);
    }
}
