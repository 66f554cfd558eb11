//! The names of the kernel's generic events: perf's spellings and plain ones. Case, `-` and `_` are ignored.

use core::fmt;

use picollo_native::seam::kernel::kind;

/// One event or part of one, and all its names in lower case; those of parts are without separators. The first belongs
/// to the display name.
struct Entry {
    display: &'static str,
    aliases: &'static [&'static str],
}

const fn entry(display: &'static str, aliases: &'static [&'static str]) -> Entry {
    Entry { display, aliases }
}

/// By `config`.
const HARDWARE: [Entry; 10] = [
    entry("CpuCycles", &["cpu-cycles", "cycles"]),
    entry("Instructions", &["instructions"]),
    entry("CacheReferences", &["cache-references"]),
    entry("CacheMisses", &["cache-misses"]),
    entry("BranchInstructions", &["branch-instructions", "branches"]),
    entry("BranchMisses", &["branch-misses"]),
    entry("BusCycles", &["bus-cycles"]),
    entry("StalledCyclesFrontend", &["stalled-cycles-frontend", "idle-cycles-frontend"]),
    entry("StalledCyclesBackend", &["stalled-cycles-backend", "idle-cycles-backend"]),
    entry("RefCpuCycles", &["ref-cpu-cycles", "ref-cycles"]),
];

/// By `config`.
const SOFTWARE: [Entry; 12] = [
    entry("CpuClock", &["cpu-clock"]),
    entry("TaskClock", &["task-clock"]),
    entry("PageFaults", &["page-faults", "faults"]),
    entry("ContextSwitches", &["context-switches", "cs"]),
    entry("CpuMigrations", &["cpu-migrations", "migrations"]),
    entry("MinorFaults", &["minor-faults", "page-faults-min"]),
    entry("MajorFaults", &["major-faults", "page-faults-maj"]),
    entry("AlignmentFaults", &["alignment-faults"]),
    entry("EmulationFaults", &["emulation-faults"]),
    entry("Dummy", &["dummy"]),
    entry("BpfOutput", &["bpf-output"]),
    entry("CgroupSwitches", &["cgroup-switches"]),
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
    let is_name = |alias: &&str| alias.bytes().filter(|&byte| byte != b'-').eq(name.bytes());
    for (kind, table) in [(kind::HARDWARE, &HARDWARE[..]), (kind::SOFTWARE, &SOFTWARE)] {
        if let Some(config) = table.iter().position(|entry| entry.aliases.iter().any(is_name))
            && allowed(kind)
        {
            return Some((kind, config as u64));
        }
    }
    find_cache(name).filter(|_| allowed(kind::CACHE)).map(|config| (kind::CACHE, config))
}

/// All names of generic events, except those of cache events, which are composed of parts.
pub(crate) fn generic() -> impl Iterator<Item = &'static str> {
    HARDWARE.iter().chain(&SOFTWARE).flat_map(|entry| entry.aliases).copied()
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
    prefixes(&CACHES, name).find_map(|(id, rest)| {
        let ordered = find_parts(&OPERATIONS, &RESULTS, rest);
        let exchanged =
            || find_parts(&RESULTS, &OPERATIONS, rest).map(|(result, operation)| (operation, result));
        let (operation, result) = ordered.or_else(exchanged)?;
        Some(id | operation << 8 | result << 16)
    })
}

/// Positions in two tables, for a text of at most one alias of each.
fn find_parts(first: &'static [Entry], second: &'static [Entry], text: &str) -> Option<(u64, u64)> {
    prefixes(first, text).chain([(0, text)]).find_map(|(one, rest)| {
        let mut ends = prefixes(second, rest).chain([(0, rest)]);
        ends.find_map(|(other, rest)| rest.is_empty().then_some((one, other)))
    })
}

/// The display name of a generic event: `Hardware:CpuCycles`.
pub(crate) fn display(kind: u32, config: u64) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        let at = |table: &'static [Entry], position: u64| {
            usize::try_from(position).ok().and_then(|position| table.get(position)).map(|entry| entry.display)
        };
        let (kind, parts) = match kind {
            kind::HARDWARE => ("Hardware", [at(&HARDWARE, config), Some(""), Some("")]),
            kind::SOFTWARE => ("Software", [at(&SOFTWARE, config), Some(""), Some("")]),
            kind::CACHE => {
                let (cache, operation) = (at(&CACHES, config & 0xff), at(&OPERATIONS, config >> 8 & 0xff));
                ("Cache", [cache, operation, at(&RESULTS, config >> 16)])
            }
            kind::RAW => ("Raw", [None; 3]),
            other => return write!(f, "Type{other}:{config:#x}"),
        };
        match parts {
            [Some(name), Some(operation), Some(result)] => write!(f, "{kind}:{name}{operation}{result}"),
            _ => write!(f, "{kind}:{config:#x}"),
        }
    })
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
