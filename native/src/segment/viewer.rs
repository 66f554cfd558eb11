//! Segments as readers have them: by reading the file into memory of their own. Nothing in it is believed unseen.

use core::mem::offset_of;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

use super::check::{self, Image, Shape, field, number};
use super::description::{SegmentEntry, SegmentInfo};
use super::directory;
use super::file::{self, shown};
use super::format::{self, ENTRY_SIZE, HEADER_SIZE, Header, LIFE_BYTE, Names, mode, state};
use crate::base::error::{Error, Result, Status};
use crate::os::sys::Errno;

/// What is known of an entry besides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// In the directory.
    index: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
}

/// Reads a segment from outside: never writes to it, and survives whatever is in it, also while it changes.
pub struct Viewer {
    fd: OwnedFd,
    path: PathBuf,
    shape: Shape,
    entries: Vec<(SegmentEntry, Place)>,
    /// Entries of the directory that need not be looked at again, since they do not change any more.
    seen: usize,
    /// Room for what is copied, kept for the next.
    pub(super) image: Image,
    faults: Vec<String>,
}

impl Viewer {
    /// Opens a segment, and reads its directory.
    ///
    /// `Permission` for what is neither this user's nor to be looked at by root; `Corrupt` and `Incompatible` for what is none, or
    /// none of this version; `Unsupported` on file systems that may answer when they like; `Os`. Each names the file and the reason.
    pub fn open(path: &Path) -> Result<Viewer> {
        let refuse = |errno| match errno {
            Errno(libc::ELOOP) => Error::new(
                Status::Permission,
                format_args!("{}: is a link; links are not followed", shown(path)),
            ),
            errno => file::refused(path, "cannot be opened", errno),
        };
        let fd = file::open(path, libc::O_RDONLY).map_err(refuse)?;
        let mut viewer = Viewer {
            fd,
            path: path.into(),
            shape: Shape { capacity: 0, max_entries: 0, entries: 0 },
            entries: Vec::new(),
            seen: 0,
            image: Image::default(),
            faults: Vec::new(),
        };
        let stat = viewer.stat()?;
        if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(viewer.doubt((Status::Permission, "is no regular file")));
        }
        if stat.st_uid != directory::user() && directory::user() != 0 {
            return Err(viewer.doubt((Status::Permission, "belongs to another user")));
        }
        if !file::file_system(viewer.fd.as_raw_fd()).is_ok_and(|kind| file::LOCAL.contains(&kind)) {
            let why = "lies on a file system that may keep readers waiting; copy it to a local one";
            return Err(viewer.doubt((Status::Unsupported, why)));
        }
        viewer.refresh()?;
        Ok(viewer)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks for entries that have come since.
    pub fn refresh(&mut self) -> Result<()> {
        let header = self.header()?;
        let shape = Shape::of(&header, self.stat()?.st_size as u64).map_err(|doubt| self.doubt(doubt))?;
        if self.shape.capacity != 0
            && (shape.capacity, shape.max_entries) != (self.shape.capacity, self.shape.max_entries)
        {
            return Err(self.doubt((Status::Corrupt, "has changed its size")));
        }
        self.shape = shape;
        for at in 0..self.entries.len() {
            let (entry, place) = &self.entries[at];
            if !entry.is_retired && self.state_of(place.index)? == state::FREED {
                self.entries[at].0.is_retired = true;
            }
        }
        let mut all_final = true;
        for index in self.seen..shape.entries as usize {
            let mut bytes = [0; ENTRY_SIZE as usize];
            self.read_entry(index, &mut bytes)?;
            let is_known =
                |entries: &[(SegmentEntry, Place)]| entries.iter().any(|(_, place)| place.index == index);
            let is_final = match u32::from_ne_bytes(number(&bytes, 0)) {
                // Where one before it is not final yet, all from there are looked at again.
                state::PUBLISHED if is_known(&self.entries) => true,
                state::PUBLISHED => {
                    // What was written before it was published is there for who reads after having seen that.
                    self.read_entry(index, &mut bytes)?;
                    match self.take(index, &bytes) {
                        Ok(entry) => {
                            self.entries.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
                            self.entries.push(entry);
                        }
                        Err(why) => self.note(index, why)?,
                    }
                    true
                }
                state::FREED => true,
                state::EMPTY | state::BUILDING => false,
                _ => {
                    self.note(index, "is in a state that this version does not know")?;
                    true
                }
            };
            all_final &= is_final;
            if all_final {
                self.seen = index + 1;
            }
        }
        Ok(())
    }

    /// What is wrong with an entry, which is left out, once.
    fn note(&mut self, index: usize, why: &str) -> Result<()> {
        let fault = std::format!("{}: {}", shown(&self.path), check::of_entry(index, why));
        if !self.faults.contains(&fault) {
            self.faults.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
            self.faults.push(fault);
        }
        Ok(())
    }

    /// What the segment says of itself, now.
    pub fn info(&self) -> Result<SegmentInfo> {
        let header = self.header()?;
        let stat = self.stat()?;
        Shape::of(&header, stat.st_size as u64).map_err(|doubt| self.doubt(doubt))?;
        let text = |at: usize, length: usize| format::field(header.get(at..at + length).unwrap_or_default());
        let live = file::is_locked(self.fd.as_raw_fd(), LIFE_BYTE);
        Ok(SegmentInfo {
            name: text(offset_of!(Header, name), 72),
            program: text(offset_of!(Header, program), 128),
            pid: field!(&header, u32, Header, pid),
            start_time: field!(&header, u64, Header, start_time),
            boot_id: text(offset_of!(Header, boot_id), 40),
            created_unix_nanos: field!(&header, u64, Header, created_unix_nanos),
            identity: [0, 8].map(|at| u64::from_ne_bytes(number(&header, offset_of!(Header, identity) + at))),
            entries: self.entries.len(),
            refused: field!(&header, u32, Header, refused).into(),
            memory: (stat.st_blocks as u64).saturating_mul(512),
            capacity: self.shape.capacity,
            is_live: live.map_err(|errno| file::refused(&self.path, "cannot be asked for locks", errno))?,
        })
    }

    /// The entries, in the order in which they came. Their positions stay what they are.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &SegmentEntry> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// The entries that are left out since they cannot be believed, or are of another version: which, and why.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// How many entries there are.
    pub fn length(&self) -> usize {
        self.entries.len()
    }

    /// The entry at a position.
    pub fn entry(&self, index: usize) -> Result<&SegmentEntry> {
        self.at(index).map(|(entry, _)| entry)
    }

    pub(super) fn read(&self, offset: u64, words: &mut [u64]) -> Result<()> {
        // SAFETY: words are bytes, any of which are words.
        let bytes =
            unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), size_of_val(words)) };
        self.read_bytes(offset, bytes)
    }

    fn read_entry(&self, index: usize, bytes: &mut [u8; ENTRY_SIZE as usize]) -> Result<()> {
        self.read_bytes(u64::from(HEADER_SIZE) + index as u64 * u64::from(ENTRY_SIZE), bytes)
    }

    fn state_of(&self, index: usize) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read_bytes(u64::from(HEADER_SIZE) + index as u64 * u64::from(ENTRY_SIZE), &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn read_bytes(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        match file::read_at(self.fd.as_raw_fd(), bytes, offset) {
            Ok(length) if length == bytes.len() => Ok(()),
            Ok(_) => Err(self.doubt((Status::Corrupt, "is cut off"))),
            Err(errno) => Err(file::refused(&self.path, "cannot be read", errno)),
        }
    }

    /// As much of a header as there is.
    fn header(&self) -> Result<Vec<u8>> {
        let mut bytes = std::vec![0; size_of::<Header>()];
        let read = file::read_at(self.fd.as_raw_fd(), &mut bytes, 0);
        let length = read.map_err(|errno| file::refused(&self.path, "cannot be read", errno))?;
        bytes.truncate(length);
        Ok(bytes)
    }

    fn stat(&self) -> Result<libc::stat64> {
        file::stat(self.fd.as_raw_fd())
            .map_err(|errno| file::refused(&self.path, "cannot be examined", errno))
    }

    /// An entry as what it is, or what is wrong with it.
    fn take(
        &self,
        index: usize,
        bytes: &[u8; ENTRY_SIZE as usize],
    ) -> core::result::Result<(SegmentEntry, Place), &'static str> {
        let body = check::body(bytes);
        let kind = check::place(&body, &self.shape)?;
        let Names { name, unit, help, labels } = format::unpack(&body)?;
        if self.entries.iter().any(|(_, place)| place.offset == body.offset) {
            return Err("lies where another does");
        }
        let entry = SegmentEntry {
            kind,
            name,
            unit,
            help,
            labels,
            divisor: body.divisor,
            created_unix_nanos: body.created_unix_nanos,
            bytes: body.size,
            writer: (body.mode == mode::SINGLE_WRITER).then_some(body.owner_pid),
            is_retired: false,
        };
        Ok((entry, Place { index, offset: body.offset, size: body.size, mode: body.mode }))
    }

    pub(super) fn at(&self, index: usize) -> Result<&(SegmentEntry, Place)> {
        self.entries.get(index).ok_or_else(|| {
            Error::new(
                Status::InvalidArgument,
                format_args!("{}: has {} entries", shown(&self.path), self.entries.len()),
            )
        })
    }

    pub(super) fn doubt(&self, (status, why): check::Doubt) -> Error {
        Error::new(status, format_args!("{}: {why}", shown(&self.path)))
    }
}

impl core::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Viewer")
            .field("path", &self.path)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
