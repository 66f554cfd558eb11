//! The same environment for each run, so that counts repeat: variables and their size, addresses, names of programs.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;
use crate::signals::Blocked;

/// Fills the variables up, so that the stack begins at the same address whatever they are.
pub(super) const PADDING: &str = "PICOLLO_PADDING";
const PAGE: usize = 4096;

/// What programs get: the path, nothing else of the user's but what is asked for, one seed for Python's hashes, and functions of
/// libraries bound at the start, so that whoever calls one first does not pay for it.
pub(super) fn environment<'a>(given: impl Iterator<Item = &'a str>) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut all: Vec<(OsString, OsString)> = vec![("PATH".into(), path)];
    all.extend(
        [("HOME", "/"), ("LC_ALL", "C.UTF-8"), ("PYTHONHASHSEED", "0"), ("LD_BIND_NOW", "1")]
            .map(|(name, value)| (name.into(), value.into())),
    );
    for one in given {
        let (name, value) = match one.split_once('=') {
            Some((name, value)) => (name, Some(value.into())),
            None => (one, std::env::var_os(one)),
        };
        all.retain(|(known, _)| known != name);
        all.extend(value.map(|value| (name.into(), value)));
    }
    all
}

/// As much as fills variables and arguments up to whole pages. The name of a program is among them twice: the kernel adds what it was found as.
pub(super) fn padding(environment: &[(OsString, OsString)], name: &OsStr, arguments: &[String]) -> String {
    let variables: usize = environment.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    let arguments: usize = arguments.iter().map(|argument| argument.len() + 1).sum();
    ".".repeat(PAGE - (variables + 2 * (name.len() + 1) + arguments) % PAGE)
}

/// Where a shell would find a program.
pub(super) fn find_program(name: &str, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let is_program = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let paths = environment.iter().filter(|(variable, _)| variable == "PATH" && !name.contains('/'));
    let directories = paths.flat_map(|(_, value)| std::env::split_paths(value));
    let here = name.contains('/').then(PathBuf::new);
    directories.chain(here).map(|directory| directory.join(name)).find(is_program)
}

/// A program, and the name that it shares with another one.
pub(super) type Alike = (PathBuf, OsString);

/// The programs of commands that start under one name, that of the first. `None` if they have one name already, or if a name may have a
/// meaning, as those of links and scripts do.
pub(super) fn alike(commands: &[&[String]], environment: &[(OsString, OsString)]) -> Vec<Option<Alike>> {
    let are_same = commands.iter().all(|parts| parts[0] == commands[0][0]);
    let plain = |parts: &&[String]| {
        let file = find_program(&parts[0], environment)?;
        let about = fs::symlink_metadata(&file).ok()?;
        let mut head = [0; 4];
        File::open(&file).ok()?.read_exact(&mut head).ok()?;
        let has_other_names = about.is_symlink() || about.nlink() > 1;
        if has_other_names || head != *b"\x7fELF" { None } else { file.canonicalize().ok() }
    };
    let files: Option<Vec<PathBuf>> = commands.iter().map(plain).collect();
    let Some(files) = files.filter(|_| !are_same) else { return vec![None; commands.len()] };
    let name = files[0].file_name().unwrap_or_default().to_owned();
    files.into_iter().map(|file| Some((file, name.clone()))).collect()
}

/// Puts programs and their stacks at the same address each time. If a sandbox refuses that, counts may differ, which the runs show.
/// Programs get the signals that this process blocks.
pub(super) fn same_addresses(command: &mut Command, signals: Blocked) {
    // SAFETY: between fork and exec, three system calls that take no memory.
    unsafe {
        command.pre_exec(move || {
            signals.unblock();
            let now = libc::personality(0xffff_ffff);
            if now >= 0 {
                libc::personality(now as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            }
            Ok(())
        });
    }
}

/// A directory of this process, in which files of counts are, and the name that programs share. Its name always has the same length.
/// Signals that would end this process wait until it is gone.
pub(super) struct Directory {
    pub(super) path: PathBuf,
    pub(super) signals: Blocked,
}

impl Directory {
    pub(super) fn new() -> Result<Directory, Failure> {
        let above = std::env::temp_dir();
        let failed = |error: io::Error| Failure::for_file(above.display(), &error);
        let signals = Blocked::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD]);
        let mut builder = tempfile::Builder::new();
        builder.prefix("picollo-").permissions(fs::Permissions::from_mode(0o700));
        let path = builder.tempdir_in(above.canonicalize().map_err(failed)?).map_err(failed)?.keep();
        let directory = Directory { path, signals };
        // A per cent sign is a marker in names that valgrind is given.
        if directory.path.as_os_str().as_bytes().contains(&b'%') {
            return Err(format!("TMPDIR is {}, and Valgrind cannot use a directory with a percent sign: set TMPDIR to another one", above.display()).into());
        }
        Ok(directory)
    }

    /// A new directory for one run.
    pub(super) fn run(&self) -> Result<tempfile::TempDir, Failure> {
        tempfile::tempdir_in(&self.path).map_err(|error| Failure::for_file(self.path.display(), &error))
    }

    /// The name that all programs have, now of this one.
    pub(super) fn link(&self, (program, name): &Alike) -> Result<String, Failure> {
        let link = self.path.join("as").join(name);
        let _ = fs::create_dir(self.path.join("as"));
        let _ = fs::remove_file(&link);
        let linked = std::os::unix::fs::symlink(program, &link);
        linked.map_err(|error| Failure::for_file(link.display(), &error))?;
        Ok(link.to_string_lossy().into_owned())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        self.signals.unblock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_asked_for() {
        let all = environment(["A=1", "PATH=/x", "NO_SUCH_VARIABLE_HERE", "B="].into_iter());
        let names: Vec<&str> = all.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PYTHONHASHSEED", "LD_BIND_NOW", "A", "PATH", "B"]);
        assert_eq!(all[5].1, "/x");
    }

    #[test]
    fn names_that_may_mean_something_stay() {
        let words = |text: &str| vec![text.to_owned()];
        let all = environment(std::iter::empty());
        let directory = tempfile::tempdir().unwrap();
        let name = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        for program in ["a", "b", "c"] {
            fs::copy("/bin/true", name(program)).unwrap();
        }
        fs::hard_link(name("c"), name("d")).unwrap();
        fs::write(name("script"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(name("script"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("a", name("link")).unwrap();
        let alike = |a: &str, b: &str| alike(&[&words(&name(a)), &words(&name(b))], &all);
        assert!(alike("a", "b").iter().flatten().all(|(_, name)| name == "a"));
        for (a, b) in [("a", "a"), ("a", "script"), ("link", "b"), ("a", "missing"), ("a", "c")] {
            assert_eq!(alike(a, b), [None, None], "{a} {b}");
        }
    }
}
