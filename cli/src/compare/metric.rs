//! What is measured of each run, and how people read it.

use picollo_core::text::Unit;

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Seconds,
    Kibibytes,
    Count,
}

/// Something that is measured.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) kind: Kind,
    /// What cannot be told apart: of equal programs it differs by as much.
    pub(crate) resolution: f64,
}

/// Where a process lies in memory, and how long its name is.
pub(super) const TIME: f64 = 2e-5;
/// KiB: the kernel adds up memory in steps of 64 pages.
const MEMORY: f64 = 256.0;
/// A tick or a wake-up more or less.
const COUNT: f64 = 1.0;

/// How many metrics come before the events.
pub(crate) const OF_PROCESS: usize = 11;

/// What the kernel says of every process, in the order of [`super::runner::Run::values`].
const OF_PROCESSES: [(&str, &str, Kind, f64); OF_PROCESS] = [
    ("Wall time", "wall", Kind::Seconds, TIME),
    ("CPU time", "cpu", Kind::Seconds, TIME),
    ("  user", "user", Kind::Seconds, TIME),
    ("  system", "system", Kind::Seconds, TIME),
    ("Peak memory", "memory", Kind::Kibibytes, MEMORY),
    ("Page faults", "page_faults", Kind::Count, COUNT),
    ("  from disk", "major_faults", Kind::Count, COUNT),
    ("Waits", "waits", Kind::Count, COUNT),
    ("Preemptions", "preemptions", Kind::Count, COUNT),
    // Of the first thread of the first process.
    ("Run queue", "run_queue", Kind::Seconds, TIME),
    // Wall time that is neither CPU time nor on a run queue. Several threads may hide it.
    ("Waiting", "waiting", Kind::Seconds, TIME),
];

/// Where the wall time is among the metrics.
pub(crate) const WALL: usize = 0;

/// All metrics: those of processes, then the events.
pub(crate) fn all(events: &[String]) -> Vec<Metric> {
    let of_events = events.iter().map(|event| (event.as_str(), event.as_str(), Kind::Count, 0.0));
    let all = OF_PROCESSES.into_iter().chain(of_events);
    all.map(|(name, key, kind, resolution)| Metric { name: name.into(), key: key.into(), kind, resolution })
        .collect()
}

impl Kind {
    /// For people.
    pub(crate) fn write(self, value: f64) -> String {
        match self {
            Kind::Seconds => Unit::new("s").number(value).to_string(),
            Kind::Kibibytes => {
                let scales = [(1024.0 * 1024.0, "GiB"), (1024.0, "MiB"), (1.0, "KiB")];
                let (by, name) = scales.into_iter().find(|(by, _)| value >= *by).unwrap_or((1.0, "KiB"));
                // Three digits, but for 1,023 KiB.
                let of = if value / by < 999.5 { Unit::COUNT } else { Unit::NONE };
                format!("{} {name}", of.number(value / by).at_most(1))
            }
            Kind::Count if value.abs() < 10_000.0 => Unit::NONE.number(value).to_string(),
            Kind::Count => Unit::COUNT.number(value).to_string(),
        }
    }
}

impl Metric {
    /// Whether a value is not known above the memory with which a program began.
    pub(crate) fn is_bound(&self, value: f64) -> bool {
        self.key == "memory" && value <= floor() + MEMORY
    }

    /// For people. A process starts with the peak memory of who started it, so that what is not above that is known as a bound only.
    pub(crate) fn write(&self, value: f64) -> String {
        format!("{}{}", if self.is_bound(value) { "≤ " } else { "" }, self.kind.write(value))
    }
}

/// KiB: the peak memory of this program so far, with which Linux lets each program begin that it starts; 0 where the kernel does not say.
fn floor() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_people() {
        for (kind, value, text) in [
            (Kind::Seconds, 1234.5, "1,235 s"),
            (Kind::Seconds, 0.0123, "12.3 ms"),
            (Kind::Seconds, 4e-6, "4.00 µs"),
            (Kind::Seconds, 0.0, "0 s"),
            (Kind::Kibibytes, 512.0, "512 KiB"),
            (Kind::Kibibytes, 2048.0, "2.0 MiB"),
            (Kind::Kibibytes, 12_345.0, "12.1 MiB"),
            (Kind::Count, 1_234.0, "1,234"),
            (Kind::Count, 12_345.6, "12.3 k"),
            (Kind::Count, 1.5, "1.5"),
        ] {
            assert_eq!(kind.write(value), text);
        }
    }

    #[test]
    fn memory_that_was_there_before_is_a_bound() {
        let metrics = all(&[]);
        let [memory, other] = [4, 5].map(|at: usize| &metrics[at]);
        assert!(floor() > 0.0 && memory.write(floor() + 100.0).starts_with("≤ "));
        assert!(!memory.is_bound(1e12) && !other.is_bound(0.0));
    }
}
