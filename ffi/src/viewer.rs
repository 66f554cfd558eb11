//! Viewers: reading segments from outside.
//!
//! A viewer reads a segment while others write it, or after they ended, by copying. It never writes to it, and whatever
//! the file holds it comes to a right answer or to an error that names the file and the reason. Linux only.
//!
//!     picollo_viewer *viewer;
//!     picollo_snapshot *snapshot = NULL;
//!     if (picollo_viewer_find("checkout", &viewer, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!     for (;;) {
//!         wait_a_second();
//!         picollo_viewer_snapshot(viewer, 0, PICOLLO_SINCE_PREVIOUS, &snapshot, &error);
//!         ... picollo_snapshot_percentiles, picollo_snapshot_summary ...
//!     }

use core::ffi::c_char;
use std::ffi::CString;
use std::path::Path;

use picollo_core::Since;
use picollo_native::{SegmentEntry, SegmentKind, Viewer, find_segment, list_segments};

use crate::argument::{either, exclusive, input, output, text};
use crate::event::picollo_error;
use crate::failure::{Failure, Outcome};
use crate::guard::{guard, guard_uncancelled, guard_void_uncancelled};
use crate::handles::{picollo_snapshot, picollo_viewer};
use crate::memory;
use crate::registry::picollo_label;
use crate::snapshot::{PICOLLO_SINCE_PREVIOUS, PICOLLO_SINCE_RESET};
use crate::snapshot_block::Block;
use crate::status::picollo_status;
use crate::text::write_text;

/// The entry is a histogram.
pub const PICOLLO_ENTRY_HISTOGRAM: u32 = 1;
/// The entry is a counter.
pub const PICOLLO_ENTRY_COUNTER: u32 = 2;

const _: () = assert!(
    PICOLLO_ENTRY_HISTOGRAM == SegmentKind::Histogram as u32
        && PICOLLO_ENTRY_COUNTER == SegmentKind::Counter as u32
);

/// What is published in a segment under one name. Strings are UTF-8 without control characters; they and the labels are the
/// viewer's, and there as long as it is.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_segment_entry {
    /// Since when there are counts, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// Bytes of memory that it takes.
    pub bytes: u64,
    /// Values are to be divided by this where they are exported.
    pub divisor: f64,
    /// Number of labels.
    pub labels_length: u64,
    /// What it is called.
    pub name: *const c_char,
    /// The unit of its values as recorded; may be empty.
    pub unit: *const c_char,
    /// What it means; may be empty.
    pub help: *const c_char,
    /// The labels, in the order of their names.
    pub labels: *const picollo_label,
    /// PICOLLO_ENTRY_...
    pub kind: u32,
    /// In single-writer mode the process that writes it, as it sees itself; otherwise 0.
    pub writer_pid: u32,
    /// 1 where the program has taken it out since this viewer first saw it; what was counted before can still be read.
    pub is_retired: u32,
    /// 0.
    pub reserved: u32,
}

/// What a segment says of itself.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_segment_info {
    /// Who it is, for no two segments the same: the first half.
    pub identity_high: u64,
    /// The second half.
    pub identity_low: u64,
    /// When it was made, in nanoseconds since 1970.
    pub created_unix_nanos: u64,
    /// When the process that made it began, in ticks since the machine did.
    pub start_time: u64,
    /// Entries that can be read.
    pub entries: u64,
    /// How often an entry was refused because something was full.
    pub refused: u64,
    /// Bytes of memory that the file takes.
    pub memory: u64,
    /// Bytes that it may come to take.
    pub capacity: u64,
    /// The process that made it, as it saw itself.
    pub pid: u32,
    /// 1 while a process has it, 0 when all have ended.
    pub is_live: u32,
    /// What it is called; here and below NUL-terminated UTF-8.
    pub name: [c_char; 72],
    /// The program that made it.
    pub program: [c_char; 128],
    /// Which start of the machine that was.
    pub boot_id: [c_char; 40],
}

/// What is behind the handle of a viewer.
struct Seen {
    viewer: Viewer,
    /// Of the entries so far, what C is lent: none of it lies in here itself, so that it stays where it is while there come more.
    texts: Vec<Texts>,
}

/// The texts of an entry. The labels lead to those behind them.
struct Texts {
    name: CString,
    unit: CString,
    help: CString,
    _labels: Vec<(CString, CString)>,
    labels: Vec<picollo_label>,
}

impl Seen {
    fn create(viewer: Viewer) -> Result<*mut picollo_viewer, picollo_error> {
        let mut seen = Seen { viewer, texts: Vec::new() };
        seen.take_texts()?;
        Ok(memory::create(seen)?.as_ptr().cast())
    }

    fn take_texts(&mut self) -> Outcome {
        let known = self.texts.len();
        self.texts.try_reserve(self.viewer.length() - known).map_err(|_| Failure::OUT_OF_MEMORY)?;
        for entry in self.viewer.entries().skip(known) {
            self.texts.push(Texts::of(entry));
        }
        Ok(())
    }
}

impl Texts {
    fn of(entry: &SegmentEntry) -> Texts {
        // Viewers let no control characters through.
        let c = |text: &str| CString::new(text).unwrap_or_default();
        let kept: Vec<_> = entry.labels.iter().map(|(name, value)| (c(name), c(value))).collect();
        let labels = kept
            .iter()
            .map(|(name, value)| picollo_label { name: name.as_ptr(), value: value.as_ptr() })
            .collect();
        Texts { name: c(&entry.name), unit: c(&entry.unit), help: c(&entry.help), _labels: kept, labels }
    }
}

/// The viewer behind a handle, to read from.
///
/// # Safety
/// If not NULL, `viewer` must be a handle that is neither changed nor freed during the call.
unsafe fn read<'a>(viewer: *const picollo_viewer) -> Outcome<&'a Seen> {
    // SAFETY: a handle leads to this; the rest is passed on.
    unsafe { input(viewer.cast()) }
}

/// The viewer behind a handle, to change.
///
/// # Safety
/// As for [`read`], and nobody else uses it during the call.
unsafe fn change<'a>(viewer: *mut picollo_viewer) -> Outcome<&'a mut Seen> {
    // SAFETY: a handle leads to this; the rest is passed on.
    unsafe { exclusive(viewer.cast()) }
}

/// Opens a segment for reading.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (path, out); PICOLLO_ERR_INVALID_ARGUMENT for a path that is not UTF-8;
///   PICOLLO_ERR_PERMISSION for a link, for what is no regular file, and for another user's (root may look at all);
///   PICOLLO_ERR_CORRUPT and PICOLLO_ERR_INCOMPATIBLE for what is no segment, or none that this version knows;
///   PICOLLO_ERR_UNSUPPORTED on file systems that may keep readers waiting, and elsewhere than on Linux;
///   PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS. error names the file and the reason.
/// Ownership: *out is the caller's, for picollo_viewer_free.
/// Threads: any thread.
/// Cost: some system calls, two for each entry.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_open(
    path: *const c_char,
    out: *mut *mut picollo_viewer,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (path, out) = unsafe { (named(path)?, output(out)?) };
        out.set(Seen::create(Viewer::open(Path::new(path))?)?);
        Ok(())
    })
}

/// Opens the segment that a text means, for reading: a path, a process, a segment's name, or a program's. Of several of these the
/// one that lives.
///
/// Requires: error may be NULL.
/// Returns: as picollo_viewer_open, of target for path; PICOLLO_ERR_NULL_POINTER (target, out); PICOLLO_ERR_INVALID_ARGUMENT
///   where there is none, and where there are several.
/// Ownership: *out is the caller's, for picollo_viewer_free.
/// Threads: any thread.
/// Cost: opens all segments of this user.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_find(
    target: *const c_char,
    out: *mut *mut picollo_viewer,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (target, out) = unsafe { (named(target)?, output(out)?) };
        out.set(Seen::create(Viewer::open(&find_segment(target)?)?)?);
        Ok(())
    })
}

/// Writes the paths of all segments of this user, each on a line: of those that live and those that have ended. What cannot be a
/// segment's, and directories that cannot be looked into, are left out.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK, also without any; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (out_length, and buffer with a
///   capacity above 0).
/// Threads: any thread.
/// Cost: opens all segments of this user.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_list(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard_uncancelled(core::ptr::null_mut(), || {
        let all = list_segments();
        // SAFETY: the caller's promises, passed on.
        unsafe {
            write_text(buffer, capacity, out_length, &|out| {
                all.iter().try_for_each(|one| writeln!(out, "{}", one.path.display()))
            })?;
        }
        Ok(())
    })
}

/// A text that must be there.
///
/// # Safety
/// As for [`text`].
unsafe fn named<'a>(pointer: *const c_char) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Err(Failure::NULL_POINTER);
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { text(pointer) }
}

/// Closes a viewer. Snapshots live on. NULL is allowed and does nothing.
///
/// Threads: any thread, once.
/// Cost: frees its memory.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_free(viewer: *mut picollo_viewer) {
    // SAFETY: from one of the above, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(viewer.cast::<Seen>()) });
}

/// Looks for entries that have come since. Those that there were keep their positions.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer); otherwise as picollo_viewer_open.
/// Threads: any thread, one at a time.
/// Cost: two system calls, and two for each new entry.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_refresh(
    viewer: *mut picollo_viewer,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promise, passed on.
        let seen = unsafe { change(viewer)? };
        let refreshed = seen.viewer.refresh();
        seen.take_texts()?;
        refreshed
    })
}

/// Tells the path of the segment.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (viewer, out_length, and buffer with a capacity
///   above 0).
/// Threads: any thread, one at a time.
/// Cost: none to speak of.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_path(
    viewer: *const picollo_viewer,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let path = read(viewer)?.viewer.path();
            write_text(buffer, capacity, out_length, &|out| write!(out, "{}", path.display()))
        }
    })
}

/// Writes which entries of the directory are left out, since they cannot be believed or are of another version, and why: each on a line.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK, also without any; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (viewer, out_length, and buffer with a
///   capacity above 0).
/// Threads: any thread, one at a time.
/// Cost: none to speak of.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_faults(
    viewer: *const picollo_viewer,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let faults = read(viewer)?.viewer.faults();
            write_text(buffer, capacity, out_length, &|out| {
                faults.iter().try_for_each(|one| writeln!(out, "{one}"))
            })
        }
    })
}

/// Tells how many entries there are, at the last look.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer, out).
/// Threads: any thread, one at a time.
/// Cost: none to speak of.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_length(
    viewer: *const picollo_viewer,
    out: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (seen, out) = unsafe { (read(viewer)?, output(out)?) };
        out.set(seen.viewer.length());
        Ok(())
    })
}

/// Tells what is published at a position.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer, out); PICOLLO_ERR_INVALID_ARGUMENT (index).
/// Ownership: strings and labels are the viewer's, as long as it is there.
/// Threads: any thread, one at a time.
/// Cost: none to speak of.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_entry(
    viewer: *const picollo_viewer,
    index: usize,
    out: *mut picollo_segment_entry,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (seen, out) = unsafe { (read(viewer)?, output(out)?) };
        let entry = seen.viewer.entry(index)?;
        let texts = seen.texts.get(index).ok_or(Failure::INVALID_ARGUMENT)?;
        out.set(picollo_segment_entry {
            created_unix_nanos: entry.created_unix_nanos,
            bytes: entry.bytes,
            divisor: entry.divisor,
            labels_length: texts.labels.len() as u64,
            name: texts.name.as_ptr(),
            unit: texts.unit.as_ptr(),
            help: texts.help.as_ptr(),
            labels: texts.labels.as_ptr(),
            kind: entry.kind as u32,
            writer_pid: entry.writer.unwrap_or(0),
            is_retired: entry.is_retired.into(),
            reserved: 0,
        });
        Ok(())
    })
}

/// Tells what the segment says of itself, now.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer, out); otherwise as picollo_viewer_open.
/// Threads: any thread, one at a time.
/// Cost: some system calls.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_info(
    viewer: *const picollo_viewer,
    out: *mut picollo_segment_info,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (seen, out) = unsafe { (read(viewer)?, output(out)?) };
        let info = seen.viewer.info()?;
        out.set(picollo_segment_info {
            identity_high: info.identity[0],
            identity_low: info.identity[1],
            created_unix_nanos: info.created_unix_nanos,
            start_time: info.start_time,
            entries: info.entries as u64,
            refused: info.refused,
            memory: info.memory,
            capacity: info.capacity,
            pid: info.pid,
            is_live: info.is_live.into(),
            name: fixed(&info.name),
            program: fixed(&info.program),
            boot_id: fixed(&info.boot_id),
        });
        Ok(())
    })
}

/// A text in a field, cut at a character.
fn fixed<const N: usize>(text: &str) -> [c_char; N] {
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut field = [0; N];
    field.iter_mut().zip(text.as_bytes()[..end].iter()).for_each(|(to, &from)| *to = from as c_char);
    field
}

/// Takes the counts of a histogram in the segment, into a snapshot that is made, or anew into one that was: of any viewer, or of a
/// histogram of the same layout. Deltas go on while it is the same histogram.
///
/// Requires: *snapshot is NULL, or a snapshot; since is PICOLLO_SINCE_...; error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer, snapshot); PICOLLO_ERR_INVALID_ARGUMENT (index, since, or the entry is no
///   histogram); PICOLLO_ERR_INCOMPATIBLE for a snapshot of another layout; PICOLLO_ERR_UNSUPPORTED for one that was
///   decoded or copied; PICOLLO_ERR_CORRUPT; PICOLLO_ERR_BUSY; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS. *snapshot is the same then.
/// Ownership: a new *snapshot is the caller's, for picollo_snapshot_free. It needs no viewer. picollo_snapshot_update, which takes the
///   histogram that a snapshot was made of, is PICOLLO_ERR_UNSUPPORTED.
/// Threads: any thread, one at a time with this viewer and this snapshot.
/// Cost: two system calls for each 8 KiB of the histogram; allocates as it grows to the largest so far.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_snapshot(
    viewer: *mut picollo_viewer,
    index: usize,
    since: u32,
    snapshot: *mut *mut picollo_snapshot,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (seen, snapshot) = unsafe { (change(viewer)?, exclusive(snapshot)?) };
        let since = match either(since, PICOLLO_SINCE_RESET, PICOLLO_SINCE_PREVIOUS)? {
            true => Since::PreviousUpdate,
            false => Since::Reset,
        };
        if snapshot.is_null() {
            let made = seen.viewer.snapshot(index)?;
            *snapshot = Block::detached(made, 1.0)?.as_ptr().cast();
            return Ok(());
        }
        // SAFETY: a handle, as the caller promises.
        let block = unsafe { exclusive((*snapshot).cast::<Block>())? };
        seen.viewer.update(index, block.counts_mut(), since)
    })
}

/// Reads a counter in the segment.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (viewer, out); PICOLLO_ERR_INVALID_ARGUMENT (index, or the entry is no counter);
///   PICOLLO_ERR_CORRUPT; PICOLLO_ERR_BUSY; PICOLLO_ERR_OS.
/// Threads: any thread, one at a time.
/// Cost: two system calls.
/// Since: 0.2
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_viewer_counter(
    viewer: *const picollo_viewer,
    index: usize,
    out: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (seen, out) = unsafe { (read(viewer)?, output(out)?) };
        out.set(seen.viewer.counter(index)?);
        Ok(())
    })
}
