//! Where programs publish: this user's directories, and on request those of others and of containers.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};
use picollo_segment::segment_directories;

use crate::failure::Failure;
use crate::values::{flag, option};

/// The directories to search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    directory: Option<PathBuf>,
    all: bool,
}

pub(crate) fn arguments() -> [Arg; 2] {
    [
        option("directory", "PATH", "search only this directory")
            .value_parser(value_parser!(PathBuf))
            .conflicts_with("all"),
        flag("all", "also search the directories of other users and containers that this user can read"),
    ]
}

impl Places {
    pub(crate) fn from_matches(matches: &ArgMatches) -> Places {
        Places { directory: matches.get_one("directory").cloned(), all: matches.get_flag("all") }
    }

    /// Whether directories of others are searched, too.
    pub(crate) fn are_others(&self) -> bool {
        self.all
    }

    /// The files in these places that have names of segments. `troubles` gets a sentence for each unreadable directory,
    /// except that with --all those that this user may not read are skipped.
    pub(crate) fn paths(&self, troubles: &mut Vec<String>) -> Vec<PathBuf> {
        let mut all = Vec::new();
        if self.are_others() {
            let mut seen = HashSet::new();
            for directory in directories_of_all() {
                // Compares by identity: a directory is visible under the root of each of its processes.
                let Ok(data) = fs::metadata(&directory) else { continue };
                if data.is_dir() && seen.insert((data.dev(), data.ino())) {
                    all.extend(names_in(&directory).unwrap_or_default());
                }
            }
            return all;
        }
        let of_environment = std::env::var_os("PICOLLO_DIR").filter(|path| !path.is_empty());
        let directories = match self.directory.clone().or_else(|| of_environment.map(PathBuf::from)) {
            Some(directory) => vec![Ok(directory)],
            None => segment_directories(),
        };
        for directory in directories {
            let listed = directory.map_err(Failure::from).and_then(|directory| match names_in(&directory) {
                // The first program that publishes there creates it.
                Err(error) if self.directory.is_none() && error.kind() == ErrorKind::NotFound => {
                    Ok(Vec::new())
                }
                names => names.map_err(|error| Failure::for_file(directory.display(), &error)),
            });
            match listed {
                Ok(paths) => all.extend(paths),
                Err(failure) => troubles.push(failure.text().to_owned()),
            }
        }
        all
    }

    #[cfg(test)]
    pub(crate) fn in_directory(directory: PathBuf) -> Places {
        Places { directory: Some(directory), ..Places::default() }
    }
}

/// Possible directories of segments: the usual ones and those in environments, below the root of each process.
fn directories_of_all() -> Vec<PathBuf> {
    let mut found = usual_below(Path::new("/"));
    let mut roots = HashSet::from([root_of(Path::new("/proc/self"))]);
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !process.file_name().as_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        let root = process.path().join("root");
        if roots.insert(root_of(&process.path())) {
            found.extend(usual_below(&root));
        }
        // These are paths as the process sees them.
        let named = named_in(&process.path().join("environ"));
        found.extend(named.iter().map(|path| root.join(path.strip_prefix("/").unwrap_or(path))));
    }
    found
}

/// A user's name, or the number if it has none.
pub(crate) fn name_of(user: u32) -> String {
    // SAFETY: the C library keeps the result until the next call, and nobody else makes one.
    let entry = unsafe { libc::getpwuid(user).as_ref() };
    let name = entry.map(|entry| {
        // SAFETY: the name of an entry ends in a zero, and it is copied before the next call.
        unsafe { std::ffi::CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned()
    });
    name.unwrap_or_else(|| user.to_string())
}

/// The root of a process: its mount namespace and directory.
fn root_of(process: &Path) -> Option<(PathBuf, PathBuf)> {
    Some((fs::read_link(process.join("ns/mnt")).ok()?, fs::read_link(process.join("root")).ok()?))
}

/// The default directories of segments.
fn usual_below(root: &Path) -> Vec<PathBuf> {
    let inside = |path: &str| fs::read_dir(root.join(path)).into_iter().flatten().flatten();
    let in_memory = inside("dev/shm").filter(|entry| entry.file_name().as_bytes().starts_with(b"picollo-"));
    let of_users = inside("run/user").chain(inside("run")).map(|entry| entry.path().join("picollo"));
    in_memory.map(|entry| entry.path()).chain(of_users).collect()
}

/// The directories in a process's environment.
fn named_in(environment: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(environment).unwrap_or_default();
    let of = |variable: &[u8]| {
        let (name, value) = variable.split_at_checked(variable.iter().position(|&byte| byte == b'=')?)?;
        let path = Path::new(OsStr::from_bytes(&value[1..]));
        match name {
            _ if !path.is_absolute() => None,
            b"PICOLLO_DIR" => Some(path.to_owned()),
            b"RUNTIME_DIRECTORY" | b"XDG_RUNTIME_DIR" => Some(path.join("picollo")),
            _ => None,
        }
    };
    bytes.split(|&byte| byte == 0).filter_map(of).collect()
}

/// The files that have names of segments.
fn names_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let is_segment = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let parts: Vec<&str> = name.split('.').collect();
        matches!(parts[..], [segment, pid, start]
            if !segment.is_empty() && pid.parse::<u32>().is_ok() && start.parse::<u64>().is_ok())
    };
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.flatten().map(|entry| entry.path()).filter(is_segment).collect();
    paths.sort_unstable();
    Ok(paths)
}
