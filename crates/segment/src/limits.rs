//! Checks that a container has enough memory: exceeding its limit kills the process instead of returning an error.

use std::path::Path;

use picollo_native::Result;
use picollo_native::seam::failure;
use picollo_native::seam::groups::Groups;

/// Names of the files in one version of control groups.
struct Version {
    limit: &'static str,
    used: &'static str,
    /// Memory of files, and the part of it that the kernel cannot drop.
    cached: [&'static str; 2],
}

const COMMON_TREE: Version =
    Version { limit: "memory.max", used: "memory.current", cached: ["file ", "shmem "] };
const OWN_TREE: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_cache ", "total_shmem "],
};

/// Fails with `OutOfMemory` if the control group of this process, or one above it, has less than this many bytes left.
pub(crate) fn check(bytes: u64) -> Result<()> {
    Groups::for_process("memory").map_or(Ok(()), |groups| check_in(bytes, &groups))
}

fn check_in(bytes: u64, groups: &Groups) -> Result<()> {
    let version = if groups.has_own_tree { OWN_TREE } else { COMMON_TREE };
    let mut least = u64::MAX;
    groups.each("", |folder| least = least.min(free_bytes(&version, folder, bytes).unwrap_or(u64::MAX)));
    if least >= bytes {
        return Ok(());
    }
    Err(failure!(
        OutOfMemory,
        "the memory limit of this control group leaves {} KiB, and {} are needed; raise it, or publish less",
        least >> 10,
        bytes.div_ceil(1024)
    ))
}

/// Bytes that a group has left, including what the kernel could drop if needed. `None` if unlimited or unreadable.
fn free_bytes(version: &Version, folder: &Path, bytes: u64) -> Option<u64> {
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let limit = file(version.limit)?.trim().parse::<u64>().ok()?;
    let used = file(version.used)?.trim().parse::<u64>().ok()?;
    // Reading `memory.stat` is slow and seldom needed.
    if limit.saturating_sub(used) >= bytes {
        return Some(limit - used);
    }
    let stat = file("memory.stat").unwrap_or_default();
    let cached = |name: &str| {
        stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let [files, kept] = version.cached.map(cached);
    Some(limit.saturating_sub(used.saturating_sub(files.saturating_sub(kept))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_native::Status;

    #[test]
    fn the_nearest_limit_counts_in_both_versions() {
        let root = std::env::temp_dir().join(format!("picollo-limits-{}", std::process::id()));
        let put = |path: &str, content: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        put("a/b/memory.max", "max\n");
        put("a/memory.max", "1000000\n");
        put("a/memory.current", "990000\n");
        put("a/memory.stat", "anon 1\nfile 50000\nfile_mapped 7\nshmem 20000\n");
        put("x/memory.limit_in_bytes", "100000");
        put("x/memory.usage_in_bytes", "60000");
        let check = |bytes: u64, groups: &str, kind: &str| {
            let mounts = format!("30 22 0:26 / {} rw - {kind}\n", root.display());
            Groups::find("memory", groups.as_bytes(), mounts.as_bytes())
                .map_or(Ok(()), |groups| check_in(bytes, &groups))
        };
        let (second, first) = ("cgroup2 cgroup2 rw", "cgroup cgroup rw,memory");
        // 10,000 bytes are free, and 30,000 are files that the kernel can drop.
        assert!(check(40_000, "9:cpu:/\n0::/a/b\n", second).is_ok());
        let error = check(40_001, "0::/a/b\n", second).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        assert!(error.message().contains("leaves 39 KiB"), "{error}");
        assert!(check(u64::MAX, "0::/\n", second).is_ok());
        assert!(check(40_000, "4:memory:/x\n0::/\n", first).is_ok());
        assert!(check(40_001, "4:memory:/x\n0::/\n", first).is_err());
        std::fs::remove_dir_all(root).unwrap();
    }
}
