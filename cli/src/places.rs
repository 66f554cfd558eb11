//! Where programs publish: this user's directories, and for those who may look at others', theirs and those of containers.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};
use picollo_native::segment_directories;

use crate::failure::Failure;
use crate::values::{flag, option};

/// Which of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    directory: Option<PathBuf>,
    all: bool,
}

pub(crate) fn arguments() -> [Arg; 2] {
    [
        option("directory", "PATH", "look there and nowhere else")
            .value_parser(value_parser!(PathBuf))
            .conflicts_with("all"),
        flag("all", "look at what anybody publishes, also in containers, as far as this user may"),
    ]
}

impl Places {
    pub(crate) fn of(matches: &ArgMatches) -> Places {
        Places { directory: matches.get_one("directory").cloned(), all: matches.get_flag("all") }
    }

    /// Whether others' are asked for as well.
    pub(crate) fn are_others(&self) -> bool {
        self.all
    }

    /// What is named like a segment in them; and which directories cannot be looked into, a sentence each. Where all are asked for, those that
    /// this user may not read are left out.
    pub(crate) fn paths(&self, troubles: &mut Vec<String>) -> Vec<PathBuf> {
        let mut all = Vec::new();
        if self.are_others() {
            let mut seen = HashSet::new();
            for directory in directories_of_all() {
                // By what it is: a directory is found under the root of each of its processes.
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
                // Whoever publishes there makes it.
                Err(error) if self.directory.is_none() && error.kind() == ErrorKind::NotFound => {
                    Ok(Vec::new())
                }
                names => names.map_err(|error| Failure::of_file(directory.display(), &error)),
            });
            match listed {
                Ok(paths) => all.extend(paths),
                Err(failure) => troubles.push(failure.to_string()),
            }
        }
        all
    }

    #[cfg(test)]
    pub(crate) fn in_directory(directory: PathBuf) -> Places {
        Places { directory: Some(directory), ..Places::default() }
    }
}

/// Where segments may be: the usual places, and what processes have in their environment, below each root that a process has.
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
        // Paths as the process sees them.
        let named = named_in(&process.path().join("environ"));
        found.extend(named.iter().map(|path| root.join(path.strip_prefix("/").unwrap_or(path))));
    }
    found
}

/// A user's name, or number where there is none.
pub(crate) fn name_of(user: u32) -> String {
    // SAFETY: what is returned is the C library's until the next call, and nobody else calls it.
    let entry = unsafe { libc::getpwuid(user).as_ref() };
    let name = entry.map(|entry| {
        // SAFETY: where there is an entry its name ends in a zero, and it is copied before the next call.
        unsafe { std::ffi::CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned()
    });
    name.unwrap_or_else(|| user.to_string())
}

/// What a process sees as its root: the mounts, and the directory.
fn root_of(process: &Path) -> Option<(PathBuf, PathBuf)> {
    Some((fs::read_link(process.join("ns/mnt")).ok()?, fs::read_link(process.join("root")).ok()?))
}

/// The directories that segments are in unless a program was told otherwise.
fn usual_below(root: &Path) -> Vec<PathBuf> {
    let inside = |path: &str| fs::read_dir(root.join(path)).into_iter().flatten().flatten();
    let in_memory = inside("dev/shm").filter(|entry| entry.file_name().as_bytes().starts_with(b"picollo-"));
    let of_users = inside("run/user").chain(inside("run")).map(|entry| entry.path().join("picollo"));
    in_memory.map(|entry| entry.path()).chain(of_users).collect()
}

/// The directories that a process was told.
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

/// What is named like a segment.
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
