//! The predefined figures: a name, a unit, events, and a function of their counts.
//!
//! Event names are those of perf; cycles and instructions are those of the program, not of the kernel.

use super::interval::Unknown;

/// Most events that a figure may have.
pub const FIGURE_EVENTS: usize = 5;

/// A figure.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// The name of the figure.
    pub name: &'static str,
    /// The unit of its values; empty if there is no unit.
    pub unit: &'static str,
    /// The names of its events, at most [`FIGURE_EVENTS`]; see [`event_of_figure`].
    pub events: &'static [&'static str],
    /// A description in a sentence or two.
    pub about: &'static str,
    /// Computes its value from the counts of its events. A result that is not finite means that there is no value.
    pub value: fn(&[f64]) -> f64,
}

impl Figure {
    /// Returns the figure of this name.
    pub fn named(name: &str) -> Option<&'static Figure> {
        FIGURES.iter().find(|figure| figure.name == name)
    }

    /// Computes the value; `count` returns the count of each event by its number, or `None` if it was not counted.
    ///
    /// # Errors
    /// [`Unknown`]: the figure is unknown if an event was not counted or if it divides by zero; it is never 0 then.
    pub fn evaluate(&self, mut count: impl FnMut(usize) -> Option<f64>) -> Result<f64, Unknown> {
        let mut counts = [0.0; FIGURE_EVENTS];
        for (event, place) in counts.iter_mut().enumerate().take(self.events.len()) {
            *place = count(event).filter(|count| !count.is_nan()).ok_or(Unknown::NotCounted(event))?;
        }
        let value = (self.value)(&counts);
        if value.is_finite() { Ok(value) } else { Err(Unknown::Undefined) }
    }
}

/// Returns the event that a session opens for a figure: the name itself, except for events of only one vendor.
pub fn event_of_figure(name: &str) -> &str {
    SPELLED.iter().find(|(known, _)| *known == name).map_or(name, |(_, event)| event)
}

const SPELLED: &[(&str, &str)] = &[
    ("topdown-retiring", "cpu/topdown-retiring/"),
    ("topdown-bad-spec", "cpu/topdown-bad-spec/"),
    ("topdown-fe-bound", "cpu/topdown-fe-bound/"),
    ("topdown-be-bound", "cpu/topdown-be-bound/"),
    ("topdown-heavy-ops", "cpu/topdown-heavy-ops/"),
    ("topdown-br-mispredict", "cpu/topdown-br-mispredict/"),
    ("topdown-fetch-lat", "cpu/topdown-fetch-lat/"),
    ("topdown-mem-bound", "cpu/topdown-mem-bound/"),
    ("ls_not_halted_cyc", "cpu/event=0x76/"),
    ("de_no_dispatch.no_ops_from_frontend", "cpu/event=0x1a0,umask=0x01/"),
    ("de_no_dispatch.backend_stalls", "cpu/event=0x1a0,umask=0x1e/"),
    ("de_no_dispatch.smt_contention", "cpu/event=0x1a0,umask=0x60/"),
    ("de_src_op_disp.all", "cpu/event=0xaa,umask=0x07/"),
    ("ex_ret_ops", "cpu/event=0xc1/"),
];

const RATIO: fn(&[f64]) -> f64 = |n| n[0] / n[1];
const PER_THOUSAND: fn(&[f64]) -> f64 = |n| 1000.0 * n[0] / n[1];
const PER_SECOND: fn(&[f64]) -> f64 = |n| 1e9 * n[0] / n[1];

/// The first level of Intel's top-down method: it adds up to the slots.
const SLOTS: [&str; 4] = ["topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound"];
/// The first level, and one event of the second level.
macro_rules! slots_and {
    ($event:literal) => {
        &[SLOTS[0], SLOTS[1], SLOTS[2], SLOTS[3], $event]
    };
}

fn share(part: f64, n: &[f64]) -> f64 {
    part / (n[0] + n[1] + n[2] + n[3])
}

/// Returns the share of the rest of a category beside one of its parts. Hardware rounds, so the part can be larger.
fn rest(whole: f64, n: &[f64]) -> f64 {
    share(f64::max(0.0, whole - n[4]), n)
}

/// Figures in rows: name, unit, events, value, and description.
macro_rules! figures {
    ($($name:literal, $unit:literal, $events:expr, $value:expr, $about:literal;)*) => {
        &[$(Figure { name: $name, unit: $unit, events: $events, about: $about, value: $value }),*]
    };
}

/// All figures.
pub const FIGURES: &[Figure] = figures! {
    "ipc", "", &["instructions", "cycles"], RATIO,
        "Instructions per cycle. Modern processors can do four to eight; below 1 the program mostly waits, often for memory.";
    "cpi", "", &["cycles", "instructions"], RATIO,
        "Cycles per instruction.";
    "clock", "GHz", &["cycles", "task-clock"], RATIO,
        "How fast the processor ran while the program did.";
    "branch-miss-rate", "", &["branch-misses", "branches"], RATIO,
        "The share of branches that were predicted wrongly. Each costs some 15 to 20 cycles.";
    "branch-mpki", "/1000", &["branch-misses", "instructions"], PER_THOUSAND,
        "Wrongly predicted branches per thousand instructions.";
    "cache-miss-rate", "", &["cache-misses", "cache-references"], RATIO,
        "The share of accesses to the last level of cache that found nothing there.";
    "cache-mpki", "/1000", &["cache-misses", "instructions"], PER_THOUSAND,
        "Accesses to memory per thousand instructions.";
    "l1d-mpki", "/1000", &["L1-dcache-load-misses", "instructions"], PER_THOUSAND,
        "Loads that the first level of data cache did not have, per thousand instructions.";
    "l1i-mpki", "/1000", &["L1-icache-load-misses", "instructions"], PER_THOUSAND,
        "Fetches that the first level of instruction cache did not have, per thousand instructions.";
    "llc-mpki", "/1000", &["LLC-load-misses", "instructions"], PER_THOUSAND,
        "Loads that no cache had, per thousand instructions.";
    "dtlb-mpki", "/1000", &["dTLB-load-misses", "instructions"], PER_THOUSAND,
        "Loads whose page was not known, per thousand instructions.";
    "itlb-mpki", "/1000", &["iTLB-load-misses", "instructions"], PER_THOUSAND,
        "Fetches whose page was not known, per thousand instructions.";
    "frontend-stalls", "", &["stalled-cycles-frontend", "cycles"], RATIO,
        "The share of cycles in which no instructions came.";
    "backend-stalls", "", &["stalled-cycles-backend", "cycles"], RATIO,
        "The share of cycles in which instructions waited for what they need.";
    "cpus", "CPUs", &["task-clock", "wall-clock"], RATIO,
        "How many processors were busy with the program on average.";
    "faults-per-second", "/s", &["page-faults", "task-clock"], PER_SECOND,
        "Page faults per second of processor time.";
    "switches-per-second", "/s", &["context-switches", "task-clock"], PER_SECOND,
        "Context switches per second of processor time.";
    // Top-down for Intel processors from Ice Lake on, by slots: the use of each place in which an operation could be
    // issued. The four of the first level add up to 1. The second level is that of Sapphire Rapids and later.
    "tma-retiring", "", &SLOTS, |n| share(n[0], n),
        "The share of slots whose operations were of use.";
    "tma-bad-speculation", "", &SLOTS, |n| share(n[1], n),
        "The share of slots that were lost to what was predicted wrongly.";
    "tma-frontend-bound", "", &SLOTS, |n| share(n[2], n),
        "The share of slots for which no instructions came.";
    "tma-backend-bound", "", &SLOTS, |n| share(n[3], n),
        "The share of slots that waited for memory, or for units that were busy.";
    "tma-heavy-operations", "", slots_and!("topdown-heavy-ops"), |n| share(n[4], n),
        "Retiring: of instructions that are many operations.";
    "tma-light-operations", "", slots_and!("topdown-heavy-ops"), |n| rest(n[0], n),
        "Retiring: the others.";
    "tma-branch-mispredicts", "", slots_and!("topdown-br-mispredict"), |n| share(n[4], n),
        "Bad speculation: of branches.";
    "tma-machine-clears", "", slots_and!("topdown-br-mispredict"), |n| rest(n[1], n),
        "Bad speculation: of all else, as of memory that somebody wrote to.";
    "tma-fetch-latency", "", slots_and!("topdown-fetch-lat"), |n| share(n[4], n),
        "Front end: nothing came at all.";
    "tma-fetch-bandwidth", "", slots_and!("topdown-fetch-lat"), |n| rest(n[2], n),
        "Front end: less came than could have been done.";
    "tma-memory-bound", "", slots_and!("topdown-mem-bound"), |n| share(n[4], n),
        "Back end: waited for memory and caches.";
    "tma-core-bound", "", slots_and!("topdown-mem-bound"), |n| rest(n[3], n),
        "Back end: waited for units that were busy.";
    // Top-down for AMD Zen 4, which has six slots a cycle. The five add up to 1.
    "zen4-retiring", "", &["ex_ret_ops", "ls_not_halted_cyc"], |n| n[0] / (6.0 * n[1]),
        "The share of slots whose operations were of use.";
    "zen4-bad-speculation", "", &["de_src_op_disp.all", "ex_ret_ops", "ls_not_halted_cyc"], |n| f64::max(0.0, n[0] - n[1]) / (6.0 * n[2]),
        "The share of slots that were lost to what was predicted wrongly.";
    "zen4-frontend-bound", "", &["de_no_dispatch.no_ops_from_frontend", "ls_not_halted_cyc"], |n| n[0] / (6.0 * n[1]),
        "The share of slots for which no operations came.";
    "zen4-backend-bound", "", &["de_no_dispatch.backend_stalls", "ls_not_halted_cyc"], |n| n[0] / (6.0 * n[1]),
        "The share of slots that waited for memory, or for units that were busy.";
    "zen4-smt-contention", "", &["de_no_dispatch.smt_contention", "ls_not_halted_cyc"], |n| n[0] / (6.0 * n[1]),
        "The share of slots that the other thread of the core had.";
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value of a figure for planted counts.
    fn of(name: &str, counts: &[(&str, f64)]) -> f64 {
        let figure = Figure::named(name).unwrap_or_else(|| panic!("{name}"));
        let count = |event: usize| counts.iter().find(|(known, _)| *known == figure.events[event]);
        figure.evaluate(|event| Some(count(event)?.1)).unwrap()
    }

    #[test]
    fn figures_have_one_name_each_and_an_explanation() {
        assert!(FIGURES.len() >= 20);
        for figure in FIGURES {
            assert!((1..=FIGURE_EVENTS).contains(&figure.events.len()), "{}", figure.name);
            assert!(figure.about.ends_with('.'), "{}", figure.name);
            assert_eq!(
                FIGURES.iter().filter(|other| other.name == figure.name).count(),
                1,
                "{}",
                figure.name
            );
        }
        assert_eq!(event_of_figure("ex_ret_ops"), "cpu/event=0xc1/");
        assert_eq!(event_of_figure("cycles"), "cycles");
    }

    #[test]
    fn what_is_not_known_is_no_number() {
        let ipc = Figure::named("ipc").unwrap();
        let of = |counts: [Option<f64>; 2]| ipc.evaluate(|event| counts[event]);
        assert_eq!(of([Some(3.0), Some(2.0)]), Ok(1.5));
        assert_eq!(of([Some(3.0), None]), Err(Unknown::NotCounted(1)));
        assert_eq!(of([Some(f64::NAN), Some(2.0)]), Err(Unknown::NotCounted(0)));
        assert_eq!(of([Some(3.0), Some(0.0)]), Err(Unknown::Undefined));
        assert_eq!(of([Some(0.0), Some(0.0)]), Err(Unknown::Undefined));
        assert_eq!(of([Some(1e308), Some(1e-308)]), Err(Unknown::Undefined));
    }

    #[test]
    fn planted_counts() {
        let counts = [
            ("instructions", 3e9),
            ("cycles", 2e9),
            ("task-clock", 1e9),
            ("branches", 5e8),
            ("branch-misses", 1e7),
            ("L1-dcache-load-misses", 6e6),
            ("LLC-load-misses", 3e6),
            ("wall-clock", 4e9),
            ("page-faults", 500.0),
            ("context-switches", 70.0),
            ("cache-references", 2.4e7),
            ("cache-misses", 1.2e7),
            ("L1-icache-load-misses", 1.5e7),
            ("dTLB-load-misses", 1.8e7),
            ("iTLB-load-misses", 2.1e7),
            ("stalled-cycles-frontend", 5e8),
            ("stalled-cycles-backend", 1e9),
        ];
        for (name, value) in [
            ("ipc", 1.5),
            ("cpi", 2.0 / 3.0),
            ("clock", 2.0),
            ("branch-miss-rate", 0.02),
            ("branch-mpki", 1e7 / 3e6),
            ("l1d-mpki", 2.0),
            ("llc-mpki", 1.0),
            ("cpus", 0.25),
            ("faults-per-second", 500.0),
            ("switches-per-second", 70.0),
            ("cache-miss-rate", 0.5),
            ("cache-mpki", 4.0),
            ("l1i-mpki", 5.0),
            ("dtlb-mpki", 6.0),
            ("itlb-mpki", 7.0),
            ("frontend-stalls", 0.25),
            ("backend-stalls", 0.5),
        ] {
            assert_eq!(of(name, &counts), value, "{name}");
        }
    }

    /// The kernel reports slots for each category, and one part of the second level; the other part is the rest.
    #[test]
    fn top_down_of_intel_adds_up() {
        let planted = [
            ("topdown-retiring", 400.0),
            ("topdown-bad-spec", 100.0),
            ("topdown-fe-bound", 200.0),
            ("topdown-be-bound", 300.0),
            ("topdown-heavy-ops", 60.0),
            ("topdown-br-mispredict", 90.0),
            ("topdown-fetch-lat", 150.0),
            ("topdown-mem-bound", 250.0),
        ];
        let parts = ["tma-retiring", "tma-bad-speculation", "tma-frontend-bound", "tma-backend-bound"];
        let values = parts.map(|name| of(name, &planted));
        assert_eq!(values, [0.4, 0.1, 0.2, 0.3]);
        assert_eq!(values.iter().sum::<f64>(), 1.0);
        for (whole, parts) in [
            ("tma-retiring", ["tma-heavy-operations", "tma-light-operations"]),
            ("tma-bad-speculation", ["tma-branch-mispredicts", "tma-machine-clears"]),
            ("tma-frontend-bound", ["tma-fetch-latency", "tma-fetch-bandwidth"]),
            ("tma-backend-bound", ["tma-memory-bound", "tma-core-bound"]),
        ] {
            let sum = parts.map(|name| of(name, &planted)).iter().sum::<f64>();
            assert!((sum - of(whole, &planted)).abs() < 1e-12, "{whole}");
        }
        for (part, value) in [
            ("tma-heavy-operations", 0.06),
            ("tma-branch-mispredicts", 0.09),
            ("tma-fetch-latency", 0.15),
            ("tma-memory-bound", 0.25),
        ] {
            assert_eq!(of(part, &planted), value, "{part}");
        }
        // Hardware rounds, so a part may be larger than the whole.
        let rounded =
            planted.map(|(name, count)| (name, if name == "topdown-heavy-ops" { 404.0 } else { count }));
        assert_eq!(of("tma-light-operations", &rounded), 0.0);
    }

    /// Each slot is in one of five categories.
    #[test]
    fn top_down_of_amd_adds_up() {
        let planted = [
            ("ls_not_halted_cyc", 1000.0),
            ("de_no_dispatch.no_ops_from_frontend", 1200.0),
            ("de_no_dispatch.backend_stalls", 1800.0),
            ("de_no_dispatch.smt_contention", 600.0),
            ("de_src_op_disp.all", 2400.0),
            ("ex_ret_ops", 2100.0),
        ];
        let parts = [
            "zen4-retiring",
            "zen4-bad-speculation",
            "zen4-frontend-bound",
            "zen4-backend-bound",
            "zen4-smt-contention",
        ];
        let values = parts.map(|name| of(name, &planted));
        assert_eq!(values, [0.35, 0.05, 0.2, 0.3, 0.1]);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
