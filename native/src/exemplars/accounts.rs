//! The kernel's accounts of the calling thread: what it ran, what it waited for a CPU, how often it went, and its page faults.
//!
//! They are in no one place, and a thread that is taken off the CPU between two readings would seem to have waited: four to ten
//! milliseconds of a hundred, of a thread that never waits, beside three others (tried). So they are read between two looks at the
//! number of its context switches, and again if that has changed.

use core::mem::MaybeUninit;

use super::evidence::{Evidence, KNOWN_ACCOUNTS, KNOWN_RUN_DELAY, Missing};
use super::schedstat::Schedstat;
use crate::clock::{Clock, Unit};
use crate::os::wall::clock_nanos;

/// How often readings are repeated that a switch came into.
const ATTEMPTS: usize = 8;

/// The accounts of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accounts {
    pub ticks: u64,
    cpu_nanos: u64,
    /// [`NOT_READ`], or what schedstat says.
    run_delay_nanos: u64,
    // Their differences count, of some seconds.
    voluntary: u32,
    involuntary: u32,
    minor_faults: u32,
    major_faults: u32,
}

const NOT_READ: u64 = u64::MAX;

impl Accounts {
    /// Made up.
    #[cfg(test)]
    pub(super) fn at(ticks: u64) -> Accounts {
        Accounts { ticks, ..Accounts::default() }
    }

    /// Those of the calling thread now; `None` where there are none. `schedstat` is its own.
    pub(super) fn take(schedstat: Option<&Schedstat>) -> Option<Accounts> {
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

    /// What became of the time since `earlier`.
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
            window_nanos: Clock::Tsc.convert(ticks, Unit::Nanos),
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
    // SAFETY: zero is a valid rusage, and the call filled it in besides.
    Some(unsafe { usage.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

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
