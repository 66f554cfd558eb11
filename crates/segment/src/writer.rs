//! Segments for writers: creating them, and attaching to existing ones.

use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::description::SegmentOptions;
use super::directory;
use super::file::{self, Lock, printable};
use super::format::{self, HEADER_SIZE, Header, LIFE_BYTE, PAGE};
use super::limits;
use super::mapping::{self, Mapping};
use picollo_native::Result;
use picollo_native::seam::failure;
use picollo_native::unix_nanos;

/// A file in memory with histograms and counters. Others can read it while this program runs and after a crash.
///
/// Recording into a segment costs the same as elsewhere: the handles are the same. The file stays mapped until the
/// process ends. A forked child writes into the same segment, and other processes can [attach](Segment::attach).
#[derive(Clone, Copy, Debug)]
pub struct Segment(pub(super) &'static Mapping);

const DEFAULT_CAPACITY: u64 = 128 << 20;

impl Segment {
    /// Creates a segment for this process, and removes abandoned ones with the same name.
    ///
    /// Errors: `InvalidArgument` for an invalid name; `Permission` if no directory belongs to this user alone;
    /// `Unsupported` if the directory is not in memory; `Os`; `OutOfMemory`. Each error says what to do.
    pub fn create(options: &SegmentOptions<'_>) -> Result<Segment> {
        let name = match options.name {
            "" => default_name(),
            name => name.to_owned(),
        };
        if !format::is_name(&name) {
            return Err(failure!(InvalidArgument, "a segment's name is 1 to 64 letters, digits, _ and -"));
        }
        let capacity = match options.max_bytes {
            0 => DEFAULT_CAPACITY,
            bytes => bytes.checked_next_multiple_of(1 << 16).unwrap_or(u64::MAX),
        };
        if capacity > format::MOST_CAPACITY || capacity <= format::directory_end(format::MAX_ENTRIES) {
            let (least, most) =
                (format::directory_end(format::MAX_ENTRIES) >> 20, format::MOST_CAPACITY >> 20);
            return Err(failure!(
                InvalidArgument,
                "a segment has more than {least} MiB, and {most} MiB at most"
            ));
        }
        let directory = directory::choose(options.directory)?;
        directory::remove_abandoned(&directory, &name);
        let last = mapping::name_of(&name);
        let path = directory.path.join(&last);
        let temporary = format!(".{last}.{:x}", file::random()[0]);
        let refuse = |what: &'static str| {
            let path = path.clone();
            move |error: io::Error| match error.kind() {
                ErrorKind::AlreadyExists => failure!(
                    InvalidArgument,
                    "{}: this process has a segment of that name already",
                    printable(&path)
                ),
                _ => file::error(&path, what, error),
            }
        };
        if directory.file_at(&last).is_some() {
            return Err(refuse("")(ErrorKind::AlreadyExists.into()));
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let file = directory.open_file(&temporary, flags).map_err(refuse("cannot be made"))?;
        let made = (|| {
            // The umask of the process must not change the mode.
            file.set_permissions(Permissions::from_mode(0o600)).map_err(refuse("cannot be made"))?;
            if !options.on_disk && !file::file_system(&file).is_ok_and(|kind| kind == file::TMPFS) {
                return Err(failure!(
                    Unsupported,
                    "{}: is not in memory (tmpfs), so that records could wait for a disk; set PICOLLO_DIR to a directory below \
                     /dev/shm, or ask for a segment on disk",
                    printable(&directory.path)
                ));
            }
            file::lock(&file, LIFE_BYTE, Lock::Shared).map_err(refuse("cannot be locked"))?;
            file.set_len(capacity).map_err(refuse("cannot be made so large"))?;
            limits::check(u64::from(HEADER_SIZE) + PAGE)?;
            file::reserve(&file, 0, HEADER_SIZE.into()).map_err(refuse("finds no room"))?;
            let kept = file.try_clone().map_err(refuse("cannot be mapped"))?;
            let mapping = Mapping::map(kept, path.clone(), capacity, format::MAX_ENTRIES, !options.keep)?;
            // SAFETY: the first page, which is reserved and unknown to others.
            unsafe {
                mapping.object(0).cast::<Header>().write(new_header(
                    &name,
                    capacity,
                    format::flags(options.interlocked, options.live_reset),
                ))
            };
            directory.rename(&temporary, &last).map_err(refuse("cannot be put in place"))?;
            Ok(Segment(mapping))
        })();
        if made.is_err() {
            let _ = directory.unlink(&temporary);
        }
        made
    }

    /// Attaches to another process's segment by its path. An empty path means the one in `PICOLLO_SEGMENT`.
    ///
    /// Errors: `Permission` if the file or its directory is not this user's alone; `Corrupt` and `Incompatible` if it
    /// is not a segment, or not one of this build; `Busy` while it is being removed; `Os`.
    pub fn attach(path: &Path) -> Result<Segment> {
        if !path.as_os_str().is_empty() {
            return mapping::attach(path).map(Segment);
        }
        match std::env::var_os("PICOLLO_SEGMENT").filter(|path| !path.is_empty()) {
            Some(path) => mapping::attach(Path::new(&path)).map(Segment),
            None => Err(failure!(
                InvalidArgument,
                "no path of a segment is given, and PICOLLO_SEGMENT is not set"
            )),
        }
    }

    /// Path of the file.
    pub fn path(&self) -> &'static Path {
        &self.0.path
    }
}

fn new_header(name: &str, capacity: u64, flags: u32) -> Header {
    let mut header = Header {
        magic: format::MAGIC,
        image_version: format::IMAGE_VERSION,
        byte_order: format::BYTE_ORDER,
        word_bytes: format::WORD_BYTES,
        header_size: HEADER_SIZE,
        entry_size: format::ENTRY_SIZE,
        max_entries: format::MAX_ENTRIES,
        capacity,
        identity: file::random(),
        used: format::directory_end(format::MAX_ENTRIES).into(),
        entries: 0.into(),
        refused: 0.into(),
        pid: std::process::id(),
        flags,
        start_time: file::start_time("self"),
        created_unix_nanos: unix_nanos(),
        boot_id: [0; 40],
        name: [0; 72],
        program: [0; 128],
    };
    format::write_field(&mut header.boot_id, &file::boot_id());
    format::write_field(&mut header.name, name);
    format::write_field(&mut header.program, &file::program());
    header
}

/// A name for the segment from the program's name, reduced to valid characters.
fn default_name() -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() || one == '-' { one } else { '_' };
    let name: String = file::program().chars().map(plain).take(64).collect();
    if name.is_empty() { "program".into() } else { name }
}
