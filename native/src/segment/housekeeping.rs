//! Which segments there are, and removing those that nobody holds.

use core::time::Duration;
use std::format;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::string::String;
use std::time::SystemTime;
use std::vec::Vec;

use super::description::SegmentInfo;
use super::file::{self, Directory};
use super::viewer::Viewer;
use super::{directory, format as names, mapping};
use crate::base::error::{Error, Result, Status};

/// A file below a directory of segments, and what it is.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// What it says of itself, or why it is not believed.
    pub info: Result<SegmentInfo>,
}

/// The segments of this user, in the order of their directories and names.
pub fn list_segments() -> Vec<Listed> {
    let mut all = Vec::new();
    for directory in directory::present() {
        all.extend(list_in(&directory));
    }
    all
}

/// The segments in a directory, which has to be this user's own.
pub fn list_segments_in(path: &Path) -> Result<Vec<Listed>> {
    Ok(list_in(&directory::open(path)?))
}

fn list_in(directory: &Directory) -> Vec<Listed> {
    let listed = directory::names(directory).unwrap_or_default();
    let segments = listed.into_iter().filter(|name| names::file_name(name).is_some());
    segments
        .map(|name| directory.path.join(name))
        .map(|path| Listed { info: Viewer::open(&path).and_then(|viewer| viewer.info()), path })
        .collect()
}

/// The one segment of this user that somebody means by a process, a name, a program, or a path: of several the one that lives.
pub fn find_segment(target: &str) -> Result<PathBuf> {
    if target.contains('/') {
        return Ok(target.into());
    }
    find_segment_among(target, list_segments())
}

/// As [`find_segment`], of these segments.
pub fn find_segment_among(target: &str, listed: Vec<Listed>) -> Result<PathBuf> {
    if target.contains('/') {
        return Ok(target.into());
    }
    let pid = target.parse::<u32>().ok();
    let mut found: Vec<(PathBuf, SegmentInfo)> = Vec::new();
    for listed in listed {
        let Ok(info) = listed.info else { continue };
        if pid == Some(info.pid) || info.name == target || info.program == target {
            found.push((listed.path, info));
        }
    }
    if found.iter().any(|(_, info)| info.is_live) {
        found.retain(|(_, info)| info.is_live);
    }
    let target = names::quiet(target);
    match &mut found[..] {
        [] => Err(Error::new(
            Status::InvalidArgument,
            format_args!("no segment of {target}; `picollo list` shows those that there are"),
        )),
        [(path, _)] => Ok(core::mem::take(path)),
        several => {
            let pids: Vec<String> = several.iter().map(|(_, info)| info.pid.to_string()).collect();
            let (number, pids) = (several.len(), pids.join(", "));
            Err(Error::new(
                Status::InvalidArgument,
                format_args!(
                    "there are {number} segments of {target}; choose one by its process or path: {pids}"
                ),
            ))
        }
    }
}

/// Removes what nobody holds, of one name. Those that are made and not named yet are left alone for a minute.
pub(crate) fn sweep(directory: &Directory, segment: &str) {
    let begun = format!(".{segment}.");
    for name in directory::names(directory).unwrap_or_default() {
        let is_dead = |age| remove(directory, &name, age).unwrap_or(false);
        if names::file_name(&name).is_some_and(|(of, ..)| of == segment) {
            is_dead(Duration::ZERO);
        } else if name.starts_with(&begun) {
            is_dead(Duration::from_secs(60));
        }
    }
}

/// Removes segments of this user that nobody holds, last written at least so long ago. Returns what was removed.
pub fn prune_segments(older: Duration) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for directory in directory::present() {
        for name in directory::names(&directory)? {
            let bare = name
                .strip_prefix('.')
                .map_or(name.as_str(), |name| name.rsplit_once('.').map_or("", |all| all.0));
            if names::file_name(bare).is_some() && remove(&directory, &name, older)? {
                removed.push(directory.path.join(name));
            }
        }
    }
    Ok(removed)
}

/// Removes a file that nobody holds and that is older than this; whether it did.
fn remove(directory: &Directory, name: &str, age: Duration) -> Result<bool> {
    let path = || directory.path.join(name);
    let Ok(fd) = directory.open_file(name, libc::O_RDWR) else { return Ok(false) };
    let raw = fd.as_raw_fd();
    let refuse = |errno| file::refused(&path(), "cannot be removed", errno);
    let stat = file::stat(raw).map_err(refuse)?;
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG || stat.st_uid != directory::user() {
        return Ok(false);
    }
    let mut magic = [0; 8];
    let is_segment = file::read_at(raw, &mut magic, 0) == Ok(8) && magic == names::MAGIC;
    // What is begun and not named yet may be empty.
    if !is_segment && !name.starts_with('.') {
        return Ok(false);
    }
    let changed =
        SystemTime::UNIX_EPOCH + Duration::new(stat.st_mtime.max(0) as u64, stat.st_mtime_nsec as u32);
    if !age.is_zero() && changed.elapsed().unwrap_or_default() < age {
        return Ok(false);
    }
    mapping::remove_if_dead(directory, name, raw).map_err(refuse)
}
