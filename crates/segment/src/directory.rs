//! Which directories hold segments, who may create them there, and how abandoned segments are removed.

use core::time::Duration;
use std::fs::{DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::description::SegmentInfo;
use super::file::{self, Directory, printable};
use super::viewer::Viewer;
use super::{format, mapping};
use picollo_native::seam::failure;
use picollo_native::{Result, Status};

/// A candidate directory, and whether it is the only one allowed.
struct Candidate {
    path: PathBuf,
    /// The user named it: if it cannot be used, that is an error.
    is_required: bool,
}

/// The directories to try, in this order.
fn candidates(given: &str) -> Vec<Candidate> {
    if !given.is_empty() {
        return [Candidate { path: given.into(), is_required: true }].into();
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = variable("PICOLLO_DIR") {
        return [Candidate { path: path.into(), is_required: true }].into();
    }
    let mut all = Vec::new();
    let mut add = |path: PathBuf| all.push(Candidate { path, is_required: false });
    if let Some(list) = variable("RUNTIME_DIRECTORY") {
        // If a service has several, the first one is used.
        let first = list.as_bytes().split(|&byte| byte == b':').next().unwrap_or_default();
        add(Path::new(std::ffi::OsStr::from_bytes(first)).join("picollo"));
    }
    if let Some(path) = variable("XDG_RUNTIME_DIR") {
        add(Path::new(&path).join("picollo"));
    }
    let user = user();
    add(format!("/dev/shm/picollo-{user}").into());
    // A fallback if another user owns the first name.
    add(format!("/dev/shm/picollo-{user}-own").into());
    all
}

pub(crate) fn user() -> u32 {
    // SAFETY: a query without arguments.
    unsafe { libc::geteuid() }
}

/// Whether it is a regular file of this user.
pub(crate) fn is_own_file(data: &Metadata) -> bool {
    data.is_file() && data.uid() == user()
}

/// Opens a directory and checks that only this user can write to it.
pub(crate) fn open(path: &Path) -> Result<Directory> {
    let refuse = |why: &str| Err(failure!(Permission, "{}: {why}", printable(path)));
    let directory = match Directory::open(path) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return refuse("is a link or no directory; remove it, or set PICOLLO_DIR");
        }
        opened => opened.map_err(|error| file::error(path, "cannot be opened", error))?,
    };
    let data = directory.file.metadata();
    let data = data.map_err(|error| file::error(path, "cannot be examined", error))?;
    if data.uid() != user() {
        return refuse("the directory belongs to another user; set PICOLLO_DIR to one of your own");
    }
    if data.mode() & 0o022 != 0 {
        return refuse("others may write to the directory; set PICOLLO_DIR to one of your own");
    }
    Ok(directory)
}

/// Returns the directory for new segments and creates it if needed. A given directory is the only candidate.
pub(crate) fn choose(given: &str) -> Result<Directory> {
    let mut first = None;
    for Candidate { path, is_required } in candidates(given) {
        if !path.is_absolute() {
            let error =
                failure!(InvalidArgument, "{}: directories of segments begin with a slash", printable(&path));
            if is_required {
                return Err(error);
            }
            first.get_or_insert(error);
            continue;
        }
        let made = DirBuilder::new().mode(0o700).create(&path);
        match open(&path) {
            Ok(directory) => return Ok(directory),
            Err(error) => {
                let error = match made {
                    Err(why) if why.kind() != ErrorKind::AlreadyExists => {
                        file::error(&path, "cannot be made", why)
                    }
                    _ => error,
                };
                if is_required {
                    return Err(error);
                }
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or_else(|| Status::Unsupported.into()))
}

/// The existing directories that may hold segments of this user, without duplicates, or why one cannot be opened.
/// Another user's directory under such a name is skipped: it has no segments of this user.
pub(crate) fn existing() -> Vec<Result<Directory>> {
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for Candidate { path, .. } in candidates("") {
        // Compares by identity: two variables may name the same directory, one of them through a link.
        if let Ok(data) = std::fs::symlink_metadata(&path)
            && data.uid() == user()
            && !seen.contains(&(data.dev(), data.ino()))
        {
            seen.push((data.dev(), data.ino()));
            found.push(open(&path));
        }
    }
    found
}

/// The names in a directory.
pub(crate) fn names(directory: &Directory) -> Result<Vec<String>> {
    let refuse = |error| file::error(&directory.path, "cannot be listed", error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory.path).map_err(refuse)? {
        names.extend(entry.map_err(refuse)?.file_name().to_str().map(ToOwned::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// A file in a directory of segments, and its description.
#[derive(Debug)]
pub struct Listed {
    /// Path of the file.
    pub path: PathBuf,
    /// What the segment reports about itself, or why it is not trusted.
    pub info: Result<SegmentInfo>,
}

/// The existing directories that may hold segments of this user, or why one of them cannot be opened.
pub fn segment_directories() -> Vec<Result<PathBuf>> {
    existing().into_iter().map(|found| found.map(|directory| directory.path)).collect()
}

/// The segments of this user, sorted by directory and name.
pub fn list_segments() -> Vec<Listed> {
    let mut all = Vec::new();
    for directory in existing().into_iter().flatten() {
        let listed = names(&directory).unwrap_or_default();
        let segments = listed.into_iter().filter(|name| format::file_name(name).is_some());
        all.extend(
            segments
                .map(|name| directory.path.join(name))
                .map(|path| Listed { info: Viewer::open(&path).and_then(|viewer| viewer.info()), path }),
        );
    }
    all
}

/// Removes abandoned segments with this name. Files still without their final name are kept for a minute.
pub(crate) fn remove_abandoned(directory: &Directory, segment: &str) {
    let begun = format!(".{segment}.");
    for name in names(directory).unwrap_or_default() {
        let is_dead = |age| remove(directory, &name, age).unwrap_or(false);
        if format::file_name(&name).is_some_and(|(of, ..)| of == segment) {
            is_dead(Duration::ZERO);
        } else if name.starts_with(&begun) {
            is_dead(Duration::from_secs(60));
        }
    }
}

/// Removes abandoned segments of this user from all readable directories, if their last write is at least this old.
/// Returns the paths that were removed.
pub fn prune_segments(older: Duration) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for directory in existing().into_iter().flatten() {
        for name in names(&directory)? {
            let bare = name
                .strip_prefix('.')
                .map_or(name.as_str(), |name| name.rsplit_once('.').map_or("", |all| all.0));
            if format::file_name(bare).is_some() && remove(&directory, &name, older)? {
                removed.push(directory.path.join(name));
            }
        }
    }
    Ok(removed)
}

/// Removes a file that nobody holds and that is older than this. Returns whether it did.
fn remove(directory: &Directory, name: &str, age: Duration) -> Result<bool> {
    let Ok(file) = directory.open_file(name, libc::O_RDWR) else { return Ok(false) };
    let refuse = |error| file::error(&directory.path.join(name), "cannot be removed", error);
    let data = file.metadata().map_err(refuse)?;
    let mut magic = [0; 8];
    let is_segment =
        file::read_at(&file, &mut magic, 0).is_ok_and(|read| read == 8 && magic == format::MAGIC);
    // A file still without its final name may be empty.
    if !is_own_file(&data) || !is_segment && !name.starts_with('.') {
        return Ok(false);
    }
    let changed = data.modified().map_err(refuse)?;
    if !age.is_zero() && changed.elapsed().unwrap_or_default() < age {
        return Ok(false);
    }
    mapping::remove_if_dead(directory, name, &file).map_err(refuse)
}
