//! Whether a container has room: what is reserved beyond its limit is no error there but the end of a process.

use std::format;
use std::string::String;

use crate::base::error::{Error, Result, Status};

/// Where control groups keep what, in the order of their versions.
struct Version {
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Of files, and the part of it that cannot be dropped.
    cached: [&'static str; 2],
}

const VERSIONS: [Version; 2] = [
    Version {
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        used: "memory.current",
        cached: ["file ", "shmem "],
    },
    Version {
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        used: "memory.usage_in_bytes",
        cached: ["total_cache ", "total_shmem "],
    },
];

/// `OutOfMemory` where the control group of this process, or one above it, has less than so many bytes left.
pub(crate) fn check(bytes: u64) -> Result<()> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    check_in(bytes, &groups, &|path| std::fs::read_to_string(path).ok())
}

fn check_in(bytes: u64, groups: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let version = match controllers {
            "" => &VERSIONS[0],
            list if list.split(',').any(|one| one == "memory") => &VERSIONS[1],
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            if let Some(left) = left_in(version, path, bytes, read)
                && left < bytes
            {
                return Err(Error::new(
                    Status::OutOfMemory,
                    format_args!(
                        "the memory limit of this control group leaves {} KiB, and {} are needed; raise it, or publish less",
                        left >> 10,
                        bytes.div_ceil(1024)
                    ),
                ));
            }
            match path.rfind('/') {
                Some(end) => path = &path[..end],
                None => break,
            }
        }
    }
    Ok(())
}

/// What a group has left, with what it could drop where that is needed; `None` where it has no limit, or cannot be seen.
fn left_in(version: &Version, path: &str, bytes: u64, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let file = |name: &str| read(&format!("{}{path}/{name}", version.root));
    let limit = file(version.limit)?.trim().parse::<u64>().ok()?;
    let used = file(version.used)?.trim().parse::<u64>().ok()?;
    // Long, and seldom needed.
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

    #[test]
    fn the_nearest_limit_counts() {
        let files = |path: &str| {
            let content = match path {
                "/sys/fs/cgroup/a/b/memory.max" => "max\n",
                "/sys/fs/cgroup/a/memory.max" => "1000000\n",
                "/sys/fs/cgroup/a/memory.current" => "990000\n",
                "/sys/fs/cgroup/a/memory.stat" => "anon 1\nfile 50000\nfile_mapped 7\nshmem 20000\n",
                _ => return None,
            };
            Some(content.into())
        };
        // 10,000 are free, and 30,000 are files that can be dropped.
        assert!(check_in(40_000, "9:cpu:/\n0::/a/b\n", &files).is_ok());
        let error = check_in(40_001, "0::/a/b\n", &files).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        assert!(error.message().contains("leaves 39 KiB"), "{error}");
        // What fits without asks for nothing more.
        let brief = |path: &str| if path.ends_with("stat") { unreachable!() } else { files(path) };
        assert!(check_in(10_000, "0::/a/b\n", &brief).is_ok());
        assert!(check_in(u64::MAX, "0::/\n", &files).is_ok());
        assert!(check_in(u64::MAX, "nonsense\n4:memory:/x\n", &files).is_ok());
    }

    #[test]
    fn the_older_version() {
        let files = |path: &str| {
            Some(match path {
                "/sys/fs/cgroup/memory/x/memory.limit_in_bytes" => "100000".into(),
                "/sys/fs/cgroup/memory/x/memory.usage_in_bytes" => "60000".into(),
                _ => return None,
            })
        };
        assert!(check_in(40_000, "4:memory:/x\n0::/\n", &files).is_ok());
        assert!(check_in(40_001, "4:memory:/x\n0::/\n", &files).is_err());
    }
}
