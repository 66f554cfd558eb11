//! Segments as writers have them.

use core::ptr::NonNull;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::borrow::ToOwned;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::string::String;

use picollo_core::{
    Metric, MetricCounter, Mode, Options, SharedHistogram, SharedWriter, SingleWriterHistogram,
};

use super::check::{self, Shape};
use super::file::{self, Lock, shown};
use super::format::{self, Body, HEADER_SIZE, Header, LIFE_BYTE, Names, PAGE, SegmentKind, mode, state};
use super::given::{allowed, names, too_long};
use super::mapping::{self, DirectoryLock, Mapping};
use super::{directory, housekeeping, limits};
use crate::base::error::{Error, Result, Status};
use crate::os::sys::Errno;
use crate::os::thread::kernel_id;
use crate::os::wall::unix_nanos;

/// What [`Segment::create`] is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentOptions<'a> {
    /// What it is called: 1 to 64 letters, digits, `_` and `-`. Empty: as the program, with `_` for other characters.
    pub name: &'a str,
    /// An existing directory that it goes to, or one that is made; empty: see docs/segments.md for where that is.
    pub directory: &'a str,
    /// The most that the file may come to take; 0: 128 MiB. Address space from the beginning, memory only as entries are made.
    pub max_bytes: u64,
    /// Keep the file at an orderly end of the process.
    pub keep: bool,
    /// Also where the directory is not in memory: then the kernel writes to the disk what changes, and a record may wait for that.
    pub on_disk: bool,
}

/// A file in memory that histograms and counters lie in, for others to read while this program runs, and after it crashed.
///
/// What is recorded into one costs what it costs elsewhere: the handles are the same. The file is mapped as long as the process lives.
/// A forked child writes into the same segment, and so may whoever [attaches](Segment::attach).
#[derive(Clone, Copy, Debug)]
pub struct Segment(&'static Mapping);

const DEFAULT_CAPACITY: u64 = 128 << 20;

impl Segment {
    /// Makes a segment for this process. What is dead of the same name is removed.
    ///
    /// `InvalidArgument` for names that are none; `Permission` where there is no directory that is this user's alone; `Unsupported`
    /// where that is not in memory; `Os`, `OutOfMemory`; each says what to do.
    pub fn create(options: &SegmentOptions<'_>) -> Result<Segment> {
        let name = match options.name {
            "" => default_name(),
            name => name.to_owned(),
        };
        if !format::is_name(&name) {
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!("a segment's name is 1 to 64 letters, digits, _ and -"),
            ));
        }
        let capacity = match options.max_bytes {
            0 => DEFAULT_CAPACITY,
            bytes => bytes.checked_next_multiple_of(1 << 16).unwrap_or(u64::MAX),
        };
        if capacity > format::MOST_CAPACITY || capacity <= format::directory_end(format::MAX_ENTRIES) {
            let (least, most) =
                (format::directory_end(format::MAX_ENTRIES) >> 20, format::MOST_CAPACITY >> 20);
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!("a segment has more than {least} MiB, and {most} MiB at most"),
            ));
        }
        let directory = directory::choose(options.directory)?;
        housekeeping::sweep(&directory, &name);
        let last = mapping::name_of(&name);
        let path = directory.path.join(&last);
        let temporary = std::format!(".{last}.{:x}", file::random()[0]);
        let refuse = |what: &'static str| {
            let path = path.clone();
            move |errno| match errno {
                Errno(libc::EEXIST) => Error::new(
                    Status::InvalidArgument,
                    format_args!("{}: this process has a segment of that name already", shown(&path)),
                ),
                errno => file::refused(&path, what, errno),
            }
        };
        if directory.file_at(&last).is_some() {
            return Err(refuse("")(Errno(libc::EEXIST)));
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let fd = directory.open_file(&temporary, flags).map_err(refuse("cannot be made"))?;
        let made = (|| {
            let raw = fd.as_raw_fd();
            // Whatever the process lets new files be.
            // SAFETY: numbers only.
            if unsafe { libc::fchmod(raw, 0o600) } != 0 {
                return Err(refuse("cannot be made")(Errno::last()));
            }
            if !options.on_disk && file::file_system(raw) != Ok(file::TMPFS) {
                return Err(Error::new(
                    Status::Unsupported,
                    format_args!(
                        "{}: is not in memory (tmpfs), so that records could wait for a disk; set PICOLLO_DIR to a directory \
                         below /dev/shm, or ask for a segment on disk",
                        shown(&directory.path)
                    ),
                ));
            }
            file::lock(raw, LIFE_BYTE, Lock::Shared).map_err(refuse("cannot be locked"))?;
            file::set_length(raw, capacity).map_err(refuse("cannot be made so large"))?;
            limits::check(u64::from(HEADER_SIZE) + PAGE)?;
            file::reserve(raw, 0, HEADER_SIZE.into()).map_err(refuse("finds no room"))?;
            let kept = fd.try_clone().map_err(|_| refuse("cannot be mapped")(Errno::last()))?;
            let mapping = Mapping::map(kept, path.clone(), capacity, format::MAX_ENTRIES, !options.keep)?;
            // SAFETY: the first page, which is reserved, and which nobody else knows.
            unsafe { mapping.object(0).cast::<Header>().write(new_header(&name, capacity)) };
            directory.rename(&temporary, &last).map_err(refuse("cannot be put in place"))?;
            Ok(Segment(mapping))
        })();
        if made.is_err() {
            let _ = directory.unlink(&temporary);
        }
        made
    }

    /// A segment that another process has made, by its path; an empty path: that of the environment variable `PICOLLO_SEGMENT`.
    ///
    /// `Permission` for what is not this user's alone; `Corrupt` and `Incompatible` for what is none, or none of this build;
    /// `Busy` while it is being removed; `Os`.
    pub fn attach(path: &Path) -> Result<Segment> {
        if !path.as_os_str().is_empty() {
            return mapping::attach(path).map(Segment);
        }
        match std::env::var_os("PICOLLO_SEGMENT").filter(|path| !path.is_empty()) {
            Some(path) => mapping::attach(Path::new(&path)).map(Segment),
            None => Err(Error::new(
                Status::InvalidArgument,
                format_args!("no path of a segment is given, and PICOLLO_SEGMENT is not set"),
            )),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &'static Path {
        &self.0.path
    }

    /// The histogram of this name and these labels: the one that there is, or a new one, into which any process records by atomic
    /// additions. Options that say nothing about values mean 1 % from 1 to 3.6e12, an hour in nanoseconds.
    ///
    /// `Incompatible` where there is one with another layout or mode; `Unsupported` for modes, storages and widths that cannot lie in
    /// a segment, saying what to use; `InvalidArgument`; `OutOfMemory` where the segment, its directory or the file system is full;
    /// `Busy` where another process is stopped while it makes an entry.
    pub fn histogram(&self, metric: &Metric<'_>, options: &Options) -> Result<SharedHistogram> {
        if options.mode == Mode::SingleWriter {
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!("a histogram of one writer is made by Segment::single_writer"),
            ));
        }
        // SAFETY: not of that mode.
        unsafe { self.histogram_unguarded(metric, options) }
    }

    /// The writer of a new histogram that one thread of one process records into. `Incompatible` where there is one of this name and
    /// these labels already; else as [`Segment::histogram`].
    pub fn single_writer(&self, metric: &Metric<'_>, options: &Options) -> Result<SharedWriter> {
        let options = Options { mode: Mode::SingleWriter, ..*options };
        let (_, body, is_new) = self.find_or_make(metric, &options)?;
        if !is_new {
            return Err(taken(metric.name));
        }
        let memory = self.0.object(body.offset).as_ptr();
        // SAFETY: the object was just made, and stays.
        let histogram = unsafe { SingleWriterHistogram::attach(memory, body.size as usize) }?;
        // SAFETY: nobody else gets one of this entry: whoever asks for it from now on finds it taken.
        Ok(unsafe { histogram.writer_unchecked() })
    }

    /// As [`Segment::histogram`], in any mode; one of a single writer is given to its thread again.
    ///
    /// # Safety
    /// In the mode [`Mode::SingleWriter`] the calling thread alone records.
    #[doc(hidden)]
    pub unsafe fn histogram_unguarded(
        &self,
        metric: &Metric<'_>,
        options: &Options,
    ) -> Result<SharedHistogram> {
        self.find_or_make(metric, options).map(|(histogram, ..)| histogram)
    }

    /// The counter of this name and these labels: the one that there is, or a new one at zero. Errors as for
    /// [`Segment::histogram`].
    pub fn counter(&self, metric: &Metric<'_>) -> Result<MetricCounter> {
        let names = names(metric)?;
        let (offset, _, _) =
            self.entry(&names, metric, SegmentKind::Counter, 0, format::COUNTER_SIZE, &mut |memory| {
                // SAFETY: reserved for this, of this size, and aligned to a page.
                unsafe { MetricCounter::init_at(memory) };
                Ok(())
            })?;
        // SAFETY: made so, by this or another process, in a mapping that stays.
        Ok(unsafe { MetricCounter::attach(self.0.object(offset)) })
    }

    fn find_or_make(&self, metric: &Metric<'_>, options: &Options) -> Result<(SharedHistogram, Body, bool)> {
        let names = names(metric)?;
        let options = allowed(options)?;
        let layout = options.layout()?;
        let size = SharedHistogram::required_size(&options)?;
        let way = if options.mode == Mode::SingleWriter { mode::SINGLE_WRITER } else { mode::INTERLOCKED };
        if size as u64 > format::MOST_OBJECT {
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!(
                    "a histogram in a segment takes {} MiB at most, and this one {}: give it a smaller range or a larger error",
                    format::MOST_OBJECT >> 20,
                    size >> 20
                ),
            ));
        }
        let make = &mut |memory: NonNull<u8>| {
            // SAFETY: reserved for this, of this size, and nobody else's: not yet published. Whoever gets a histogram of one
            // writer is told.
            unsafe { SharedHistogram::init_in_unguarded(memory.as_ptr(), size, &options) }?;
            Ok(())
        };
        let (offset, found, is_new) =
            self.entry(&names, metric, SegmentKind::Histogram, way, size as u64, make)?;
        // SAFETY: an image in a mapping that stays; of a single writer only with the promise of the caller.
        let histogram = unsafe {
            SharedHistogram::attach_unguarded(self.0.object(offset).as_ptr(), found.size as usize)
        }?;
        if *histogram.layout() != layout || found.mode != way {
            return Err(Error::new(
                Status::Incompatible,
                format_args!(
                    "{}: there is a histogram of that name with another range, error or mode",
                    metric.name
                ),
            ));
        }
        if way == mode::SINGLE_WRITER && !is_owner(&found) {
            return Err(taken(metric.name));
        }
        self.0.populate(offset, found.size);
        Ok((histogram, found, is_new))
    }

    /// The published entry of these names, and what was begun and not finished is freed. The lock is held.
    fn find(&self, names: &Names) -> Result<Option<Body>> {
        let shape = self.shape()?;
        let (lengths, text) = format::pack(names).ok_or_else(too_long)?;
        // The help is no part of what tells entries apart.
        let [name, unit, help, labels] = lengths.map(usize::from);
        for index in 0..shape.entries {
            let slot = self.0.slot(index);
            // SAFETY: the state is atomic; the rest is read once it is published, after which it does not change.
            let state = unsafe { &(*slot.as_ptr()).state };
            match state.load(Acquire) {
                state::PUBLISHED => {}
                // Who was at it held the lock that is ours now.
                state::BUILDING => {
                    state.store(state::FREED, Release);
                    continue;
                }
                _ => continue,
            }
            // SAFETY: as above.
            let body = unsafe { &(*slot.as_ptr()).body };
            let behind = usize::from(body.name) + usize::from(body.unit) + usize::from(body.help);
            let is_it = body.name as usize == name
                && body.labels as usize == labels
                && body.text.get(..name) == text.get(..name)
                && body.text.get(behind..behind + labels) == text.get(name + unit + help..);
            if is_it {
                check::place(body, &shape).map_err(|why| self.broken(index, why))?;
                return Ok(Some(*body));
            }
        }
        Ok(None)
    }

    fn shape(&self) -> Result<Shape> {
        let entries = self.0.header().entries.load(Acquire);
        let shape = Shape { capacity: self.0.capacity, max_entries: self.0.max_entries, entries };
        if entries > self.0.max_entries {
            Err(self.broken(entries, "does not fit the directory"))
        } else {
            Ok(shape)
        }
    }

    fn broken(&self, index: u32, why: &str) -> Error {
        Error::new(Status::Corrupt, format_args!("{}: entry {index} {why}", shown(&self.0.path)))
    }

    /// The entry of these names, or a new one, made by `make`: where its object is, and whether it is new.
    fn entry(
        &self,
        names: &Names,
        metric: &Metric<'_>,
        kind: SegmentKind,
        way: u32,
        size: u64,
        make: &mut dyn FnMut(NonNull<u8>) -> Result<()>,
    ) -> Result<(u64, Body, bool)> {
        let lock = self.0.lock_directory()?;
        if let Some(body) = self.find(names)? {
            if body.kind != kind as u32 {
                return Err(Error::new(
                    Status::Incompatible,
                    format_args!("{}: there is something else of that name", metric.name),
                ));
            }
            return Ok((body.offset, body, false));
        }
        let (index, offset) = self.room(&lock, size)?;
        let (lengths, text) = format::pack(names).ok_or_else(too_long)?;
        let mut body = Body {
            kind: kind as u32,
            reserved: 0,
            offset,
            size,
            divisor: if metric.divisor > 0.0 && metric.divisor.is_finite() { metric.divisor } else { 1.0 },
            created_unix_nanos: if metric.created_unix_nanos == 0 {
                unix_nanos()
            } else {
                metric.created_unix_nanos
            },
            mode: way,
            owner_pid: 0,
            owner_start_time: 0,
            owner_thread: 0,
            name: lengths[0],
            unit: lengths[1],
            help: lengths[2],
            labels: lengths[3],
            text: [0; format::TEXT],
        };
        body.text[..text.len()].copy_from_slice(&text);
        if way == mode::SINGLE_WRITER {
            (body.owner_pid, body.owner_start_time, body.owner_thread) = caller();
        }
        let header = self.0.header();
        let slot = self.0.slot(index).as_ptr();
        // Whoever dies from here on leaves an entry that the next one frees, and memory that nobody uses.
        // SAFETY: reserved, and nobody's who does not hold the lock; its state, which others look at, is atomic.
        unsafe { &(*slot).state }.store(state::BUILDING, Relaxed);
        header.used.store((offset + size).next_multiple_of(PAGE), Relaxed);
        header.entries.store(index + 1, Release);
        // SAFETY: as above.
        unsafe { (&raw mut (*slot).body).write(body) };
        self.0.populate(offset, size);
        make(self.0.object(offset))?;
        // Whoever finds it published finds all of the above.
        // SAFETY: as above.
        unsafe { &(*slot).state }.store(state::PUBLISHED, Release);
        Ok((offset, body, true))
    }

    /// The next entry, and room for an object of this size, both reserved.
    fn room(&self, lock: &DirectoryLock, size: u64) -> Result<(u32, u64)> {
        let header = self.0.header();
        let index = self.shape()?.entries;
        let full = |what: &str, remedy: &str| {
            header.refused.fetch_add(1, Relaxed);
            Err(Error::new(
                Status::OutOfMemory,
                format_args!("{}: {what} is full; {remedy}", shown(&self.0.path)),
            ))
        };
        if index >= self.0.max_entries {
            return full("the directory", "publish fewer histograms, with fewer values of labels");
        }
        let end_of_directory = format::directory_end(self.0.max_entries);
        let offset = header.used.load(Acquire).max(end_of_directory).checked_next_multiple_of(PAGE);
        let end = offset.and_then(|offset| offset.checked_add(size));
        let (Some(offset), Some(end)) = (offset, end) else { return Err(self.broken(index, "has no place")) };
        if end > self.0.capacity {
            return full("the segment", "make it with a larger max_bytes");
        }
        limits::check(size + PAGE)?;
        let of_entry = u64::from(HEADER_SIZE) + u64::from(index) * u64::from(format::ENTRY_SIZE);
        for (start, length) in [(of_entry / PAGE * PAGE, PAGE), (offset, size.next_multiple_of(PAGE))] {
            file::reserve(lock.fd(), start, length).map_err(|errno| {
                header.refused.fetch_add(1, Relaxed);
                file::refused(&self.0.path, "the file system has no room for another histogram", errno)
            })?;
        }
        Ok((index, offset))
    }
}

fn new_header(name: &str, capacity: u64) -> Header {
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
        reserved: 0,
        start_time: file::start_time("self"),
        created_unix_nanos: unix_nanos(),
        boot_id: [0; 40],
        name: [0; 72],
        program: [0; 128],
    };
    format::fill(&mut header.boot_id, &file::boot_id());
    format::fill(&mut header.name, name);
    format::fill(&mut header.program, &file::program());
    header
}

/// The program's name, as far as it may be a segment's.
fn default_name() -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() || one == '-' { one } else { '_' };
    let name: String = file::program().chars().map(plain).take(64).collect();
    if name.is_empty() { "program".into() } else { name }
}

/// Process, its start, thread: who calls.
fn caller() -> (u32, u64, u32) {
    (std::process::id(), file::start_time("self"), kernel_id() as u32)
}

fn is_owner(body: &Body) -> bool {
    (body.owner_pid, body.owner_start_time, body.owner_thread) == caller()
}

fn taken(name: &str) -> Error {
    Error::new(
        Status::Incompatible,
        format_args!(
            "{name}: is the histogram of another thread; give each its own label, or use the default mode"
        ),
    )
}
