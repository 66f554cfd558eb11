//! The names of the kernel's generic events: perf's spellings and plain ones. Case, `-` and `_` are ignored.

use core::fmt;

use picollo_native::seam::kernel::kind;

/// One event and all its names, normalized: lower case, without separators. The first belongs to the display name.
struct Entry {
    display: &'static str,
    aliases: &'static [&'static str],
}

const fn entry(display: &'static str, aliases: &'static [&'static str]) -> Entry {
    Entry { display, aliases }
}

/// By `config`.
const HARDWARE: [Entry; 10] = [
    entry("CpuCycles", &["cpucycles", "cycles"]),
    entry("Instructions", &["instructions"]),
    entry("CacheReferences", &["cachereferences"]),
    entry("CacheMisses", &["cachemisses"]),
    entry("BranchInstructions", &["branchinstructions", "branches"]),
    entry("BranchMisses", &["branchmisses"]),
    entry("BusCycles", &["buscycles"]),
    entry("StalledCyclesFrontend", &["stalledcyclesfrontend", "idlecyclesfrontend"]),
    entry("StalledCyclesBackend", &["stalledcyclesbackend", "idlecyclesbackend"]),
    entry("RefCpuCycles", &["refcpucycles", "refcycles"]),
];

/// By `config`.
const SOFTWARE: [Entry; 12] = [
    entry("CpuClock", &["cpuclock"]),
    entry("TaskClock", &["taskclock"]),
    entry("PageFaults", &["pagefaults", "faults"]),
    entry("ContextSwitches", &["contextswitches", "cs"]),
    entry("CpuMigrations", &["cpumigrations", "migrations"]),
    entry("MinorFaults", &["minorfaults", "pagefaultsmin"]),
    entry("MajorFaults", &["majorfaults", "pagefaultsmaj"]),
    entry("AlignmentFaults", &["alignmentfaults"]),
    entry("EmulationFaults", &["emulationfaults"]),
    entry("Dummy", &["dummy"]),
    entry("BpfOutput", &["bpfoutput"]),
    entry("CgroupSwitches", &["cgroupswitches"]),
];

/// Cache names by id. perf's alias `L2` for the last level is left out: it is wrong on nearly every machine.
const CACHES: [Entry; 7] = [
    entry("L1D", &["l1d", "l1dcache", "l1data"]),
    entry("L1I", &["l1i", "l1icache", "l1instruction"]),
    entry("LL", &["ll", "llc"]),
    entry("DTLB", &["dtlb", "datatlb"]),
    entry("ITLB", &["itlb", "instructiontlb"]),
    entry("BPU", &["bpu", "branch", "branches", "btb", "bpc"]),
    entry("Node", &["node"]),
];

const OPERATIONS: [Entry; 3] = [
    entry("Read", &["read", "reads", "load", "loads"]),
    entry("Write", &["write", "writes", "store", "stores"]),
    entry("Prefetch", &["prefetch", "prefetches", "speculativeread", "speculativeload"]),
];

const RESULTS: [Entry; 2] = [
    entry("Access", &["access", "accesses", "refs", "reference", "references", "ops"]),
    entry("Miss", &["miss", "misses"]),
];

/// The type and config of a generic event; `within` restricts the search to one type.
pub(crate) fn find(name: &str, within: Option<u32>) -> Option<(u32, u64)> {
    // The longest name that can mean anything has under 40 letters, so a name that does not fit is unknown.
    let mut buffer = [0u8; 48];
    let mut length = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')) {
        *buffer.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let name = core::str::from_utf8(&buffer[..length]).ok()?;
    let allowed = |kind| within.is_none_or(|only| only == kind);
    let exact = |table: &[Entry]| table.iter().position(|entry| entry.aliases.contains(&name));
    if let Some(config) = exact(&HARDWARE).filter(|_| allowed(kind::HARDWARE)) {
        return Some((kind::HARDWARE, config as u64));
    }
    if let Some(config) = exact(&SOFTWARE).filter(|_| allowed(kind::SOFTWARE)) {
        return Some((kind::SOFTWARE, config as u64));
    }
    find_cache(name).filter(|_| allowed(kind::CACHE)).map(|config| (kind::CACHE, config))
}

/// Returns (position, rest) for each of the table's aliases that `name` begins with.
fn prefixes<'a>(table: &'static [Entry], name: &'a str) -> impl Iterator<Item = (u64, &'a str)> {
    table.iter().enumerate().flat_map(move |(position, entry)| {
        let rests = entry.aliases.iter().filter_map(move |alias| name.strip_prefix(alias));
        rests.map(move |rest| (position as u64, rest))
    })
}

/// A cache, then at most one operation and one result, in either order. The defaults are read and access.
fn find_cache(name: &str) -> Option<u64> {
    let config = |id: u64, operation: u64, result: u64| id | operation << 8 | result << 16;
    for (id, rest) in prefixes(&CACHES, name) {
        if rest.is_empty() {
            return Some(config(id, 0, 0));
        }
        for (operation, rest) in prefixes(&OPERATIONS, rest).chain([(0, rest)]) {
            if rest.is_empty() {
                return Some(config(id, operation, 0));
            }
            for (result, rest) in prefixes(&RESULTS, rest) {
                if rest.is_empty() {
                    return Some(config(id, operation, result));
                }
            }
        }
        for (result, rest) in prefixes(&RESULTS, rest) {
            if let Some((operation, _)) = prefixes(&OPERATIONS, rest).find(|(_, rest)| rest.is_empty()) {
                return Some(config(id, operation, result));
            }
        }
    }
    None
}

/// The display name of a generic event: `Hardware:CpuCycles`.
pub(crate) struct Display {
    pub kind: u32,
    pub config: u64,
}

impl fmt::Display for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |table: &'static [Entry], position: u64| {
            usize::try_from(position).ok().and_then(|position| table.get(position)).map(|entry| entry.display)
        };
        match self.kind {
            kind::HARDWARE => match at(&HARDWARE, self.config) {
                Some(name) => write!(f, "Hardware:{name}"),
                None => write!(f, "Hardware:{:#x}", self.config),
            },
            kind::SOFTWARE => match at(&SOFTWARE, self.config) {
                Some(name) => write!(f, "Software:{name}"),
                None => write!(f, "Software:{:#x}", self.config),
            },
            kind::CACHE => {
                let parts = (
                    at(&CACHES, self.config & 0xff),
                    at(&OPERATIONS, self.config >> 8 & 0xff),
                    at(&RESULTS, self.config >> 16),
                );
                match parts {
                    (Some(cache), Some(operation), Some(result)) => {
                        write!(f, "Cache:{cache}{operation}{result}")
                    }
                    _ => write!(f, "Cache:{:#x}", self.config),
                }
            }
            kind::RAW => write!(f, "Raw:{:#x}", self.config),
            other => write!(f, "Type{other}:{:#x}", self.config),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(id: u64, operation: u64, result: u64) -> Option<(u32, u64)> {
        Some((kind::CACHE, id | operation << 8 | result << 16))
    }

    #[test]
    fn spellings() {
        // By number, with all other spellings.
        let hardware = "cycles cpu-cycles|instructions|cache-references|cache-misses|branches branch-instructions|\
            branch-misses|bus-cycles|idle-cycles-frontend|stalled-cycles-backend|ref-cycles";
        let software = "cpu-clock|task-clock|faults page-faults|cs context-switches|migrations|minor-faults|major-faults|\
            alignment-faults|emulation-faults|dummy|bpf-output|cgroup-switches";
        for (kind, all) in [(kind::HARDWARE, hardware), (kind::SOFTWARE, software)] {
            for (config, names) in all.split('|').enumerate() {
                for name in names.split(' ') {
                    assert_eq!(find(name, None), Some((kind, config as u64)), "{name}");
                }
            }
        }
        for (name, id, operation, result) in [
            ("L1-dcache-load-misses", 0, 0, 1),
            ("L1-dcache-loads", 0, 0, 0),
            ("L1-dcache-misses", 0, 0, 1),
            ("L1-icache-prefetches", 1, 2, 0),
            ("LLC-store-misses", 2, 1, 1),
            ("dTLB-stores", 3, 1, 0),
            ("iTLB-load-misses", 4, 0, 1),
            ("branch-load-misses", 5, 0, 1),
            ("node-prefetch-misses", 6, 2, 1),
            // Plain spellings.
            ("L1D-read-miss", 0, 0, 1),
            ("LL-write-access", 2, 1, 0),
            ("L1D-miss-write", 0, 1, 1),
        ] {
            assert_eq!(find(name, None), cache(id, operation, result), "{name}");
        }
        assert_eq!(find("CPU_CYCLES", None), Some((kind::HARDWARE, 0)));
        assert_eq!(find("branches", Some(kind::CACHE)), cache(5, 0, 0));
        assert_eq!(find("cycles", Some(kind::SOFTWARE)), None);
        for unknown in ["", "-", "l1", "l1dx", "l1dreadreadmiss", "l2loads", "cycle", &"x".repeat(100)] {
            assert_eq!(find(unknown, None), None, "{unknown}");
        }
    }

    /// An alias must not hide a longer one that begins with it.
    #[test]
    fn aliases_are_unique() {
        for table in [&HARDWARE[..], &SOFTWARE, &CACHES, &OPERATIONS, &RESULTS] {
            let all: Vec<_> = table.iter().flat_map(|entry| entry.aliases).collect();
            let distinct: std::collections::BTreeSet<_> = all.iter().collect();
            assert_eq!(all.len(), distinct.len());
        }
    }
}
