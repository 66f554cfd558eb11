//! Where segments lie, and who may put them there.

use std::borrow::ToOwned;
use std::format;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::vec::Vec;

use super::file::{self, Directory, shown};
use crate::base::error::{Error, Result, Status};
use crate::os::sys::Errno;

/// A directory that may be the one, and whether it is the only one that may.
struct Candidate {
    path: PathBuf,
    /// Somebody named it: if it cannot be used, that is an error.
    is_asked_for: bool,
}

/// The directories to try, in this order.
fn candidates(given: &str) -> Vec<Candidate> {
    if !given.is_empty() {
        return [Candidate { path: given.into(), is_asked_for: true }].into();
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = variable("PICOLLO_DIR") {
        return [Candidate { path: path.into(), is_asked_for: true }].into();
    }
    let mut all = Vec::new();
    let mut add = |path: PathBuf| all.push(Candidate { path, is_asked_for: false });
    if let Some(list) = variable("RUNTIME_DIRECTORY") {
        // Where a service has several, the first one.
        let first = list.as_bytes().split(|&byte| byte == b':').next().unwrap_or_default();
        add(Path::new(std::ffi::OsStr::from_bytes(first)).join("picollo"));
    }
    if let Some(path) = variable("XDG_RUNTIME_DIR") {
        add(Path::new(&path).join("picollo"));
    }
    let user = user();
    add(format!("/dev/shm/picollo-{user}").into());
    // For when somebody else has the name.
    add(format!("/dev/shm/picollo-{user}-own").into());
    all
}

pub(crate) fn user() -> u32 {
    // SAFETY: a query without arguments.
    unsafe { libc::geteuid() }
}

fn check(directory: &Directory) -> Result<()> {
    let path = &directory.path;
    let refuse = |why: &str| {
        Err(Error::new(
            Status::Permission,
            format_args!("{}: {why}; set PICOLLO_DIR to one of your own", shown(path)),
        ))
    };
    let stat = directory.stat().map_err(|errno| file::refused(path, "cannot be examined", errno))?;
    if stat.st_uid != user() {
        return refuse("the directory belongs to another user");
    }
    if stat.st_mode & 0o022 != 0 {
        return refuse("others may write to the directory");
    }
    Ok(())
}

/// Opens a directory and looks whether it is ours alone.
pub(crate) fn open(path: &Path) -> Result<Directory> {
    let directory = Directory::open(path).map_err(|errno| match errno {
        Errno(libc::ELOOP | libc::ENOTDIR) => Error::new(
            Status::Permission,
            format_args!("{}: is a link or no directory; remove it, or set PICOLLO_DIR", shown(path)),
        ),
        errno => file::refused(path, "cannot be opened", errno),
    })?;
    check(&directory)?;
    Ok(directory)
}

/// The directory for new segments, which is made if it is not there: the one that is given, if any.
pub(crate) fn choose(given: &str) -> Result<Directory> {
    let mut first = None;
    for Candidate { path, is_asked_for } in candidates(given) {
        if !path.is_absolute() {
            let error = Error::new(
                Status::InvalidArgument,
                format_args!("{}: directories of segments begin with a slash", shown(&path)),
            );
            if is_asked_for {
                return Err(error);
            }
            first.get_or_insert(error);
            continue;
        }
        let made = file::make_directory(&path);
        match open(&path) {
            Ok(directory) => return Ok(directory),
            Err(error) => {
                let error = match made {
                    Err(errno) if errno != Errno(libc::EEXIST) => {
                        file::refused(&path, "cannot be made", errno)
                    }
                    _ => error,
                };
                if is_asked_for {
                    return Err(error);
                }
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or_else(|| Status::Unsupported.into()))
}

/// The directories where there may be segments of this user: those that are there, and are the user's own.
pub(crate) fn present() -> Vec<Directory> {
    let mut found: Vec<Directory> = Vec::new();
    for Candidate { path, .. } in candidates("") {
        if let Ok(directory) = open(&path)
            && found.iter().all(|other| other.path != directory.path)
        {
            found.push(directory);
        }
    }
    found
}

/// The names in a directory.
pub(crate) fn names(directory: &Directory) -> Result<Vec<std::string::String>> {
    let refuse = |error: std::io::Error| {
        file::refused(&directory.path, "cannot be listed", Errno(error.raw_os_error().unwrap_or(libc::EIO)))
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory.path).map_err(refuse)? {
        if let Some(name) = entry.map_err(refuse)?.file_name().to_str() {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}
