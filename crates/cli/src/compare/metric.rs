//! The metrics of each run, and how they are shown to people.

use picollo_text::Unit;

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Seconds,
    Kibibytes,
    Count,
}

/// A quantity that is measured.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) kind: Kind,
    /// Differences up to this occur between equal programs.
    pub(crate) resolution: f64,
}

/// The place of a process in memory and the length of its name change times by this much.
pub(super) const TIME: f64 = 2e-5;
/// In KiB: the kernel counts memory in steps of 64 pages.
const MEMORY: f64 = 256.0;
/// One tick or wake-up more or less.
const COUNT: f64 = 1.0;

/// Number of metrics before the events.
pub(crate) const OF_PROCESS: usize = 11;

/// The kernel's values for every process, in the order of [`super::runner::Run::values`].
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
    // For the first thread of the first process.
    ("Run queue", "run_queue", Kind::Seconds, TIME),
    // Wall time that is neither CPU time nor time on a run queue. Several threads may hide it.
    ("Waiting", "waiting", Kind::Seconds, TIME),
];

/// Position of the wall time among the metrics.
pub(crate) const WALL: usize = 0;

/// All metrics: those of processes, then the events.
pub(crate) fn all(events: &[String]) -> Vec<Metric> {
    let of_events = events.iter().map(|event| (event.as_str(), event.as_str(), Kind::Count, 0.0));
    let all = OF_PROCESSES.into_iter().chain(of_events);
    all.map(|(name, key, kind, resolution)| Metric { name: name.into(), key: key.into(), kind, resolution })
        .collect()
}

impl Kind {
    /// Text for people.
    pub(crate) fn write(self, value: f64) -> String {
        match self {
            Kind::Seconds => Unit::new("s").number(value).to_string(),
            Kind::Kibibytes => {
                let scales = [(1024.0 * 1024.0, "GiB"), (1024.0, "MiB"), (1.0, "KiB")];
                let (by, name) = scales.into_iter().find(|(by, _)| value >= *by).unwrap_or((1.0, "KiB"));
                // Three digits, except for up to 1,023 KiB.
                let of = if value / by < 999.5 { Unit::COUNT } else { Unit::NONE };
                format!("{} {name}", of.number(value / by).at_most(1))
            }
            Kind::Count if value.abs() < 10_000.0 => Unit::NONE.number(value).to_string(),
            Kind::Count => Unit::COUNT.number(value).to_string(),
        }
    }
}

impl Metric {
    /// Whether a value does not exceed the memory with which a program began, so that it is only an upper bound.
    pub(crate) fn is_bound(&self, value: f64) -> bool {
        self.key == "memory" && value <= floor() + MEMORY
    }

    /// Text for people. A process inherits its parent's peak memory, so that a value not above that is only a bound.
    pub(crate) fn write(&self, value: f64) -> String {
        format!("{}{}", if self.is_bound(value) { "≤ " } else { "" }, self.kind.write(value))
    }
}

/// In KiB: the peak memory of this program so far, with which Linux starts its child processes; 0 if it is unknown.
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
