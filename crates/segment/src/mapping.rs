//! A mapped segment for writers. It stays mapped until the process ends, so that its objects may be freed in any order.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use super::check::{self, Shape};
use super::directory;
use super::file::{self, Directory, Lock, printable};
use super::format::{self, DIRECTORY_BYTE, Header, LIFE_BYTE, Slot};
use picollo_native::seam::failure;
use picollo_native::seam::sys::page_size;
use picollo_native::{ExplainedError, Result, Status};

/// A mapped segment. It is never unmapped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    pub(crate) capacity: u64,
    pub(crate) max_entries: u32,
    pub(crate) path: PathBuf,
    /// Identity of the file, even if its name changes.
    identity: (u64, u64),
    /// The description that is locked and mapped. If the program closes all descriptors, the mapping keeps it alive.
    file: File,
    /// The process that created the segment and must remove it.
    maker: Option<u32>,
    /// Number of forks before this mapping.
    forks: u64,
    /// End of the pages that this process requested. It is not read from the file, which somebody may have truncated.
    at_hand: AtomicU64,
    /// The previous mapping in the list.
    before: AtomicPtr<Mapping>,
}

// SAFETY: everything that changes in the mapping is atomic, or guarded by a lock on the file.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// The latest mapping of this process. The list has no lock, which a fork in another thread could leave locked.
static MAPPED: AtomicPtr<Mapping> = AtomicPtr::new(null_mut());

/// All mappings of this process.
fn mapped() -> impl Iterator<Item = &'static Mapping> {
    // SAFETY: null, or a mapping that was complete before it was published, and that is never freed.
    let at = |place: &AtomicPtr<Mapping>| unsafe { place.load(Ordering::Acquire).as_ref() };
    core::iter::successors(at(&MAPPED), move |mapping| at(&mapping.before))
}

/// Number of forks of this process. After a fork, others may write through the same file description.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Number of attempts to lock the directory, a millisecond apart, before it is reported as busy.
const WAITS: u32 = 2000;

/// Bytes of each segment that a forked child maps in advance. This takes about a microsecond for each 16 KiB, even if
/// the child then runs another program.
const MOST_AT_FORK: u64 = 4 << 20;

impl Mapping {
    /// Maps an open segment after its life byte was locked. The caller has checked `max_entries` and `capacity`.
    pub(crate) fn map(
        file: File,
        path: PathBuf,
        capacity: u64,
        max_entries: u32,
        is_maker: bool,
    ) -> Result<&'static Mapping> {
        let refuse = |error| file::error(&path, "cannot be mapped", error);
        let data = file.metadata().map_err(refuse)?;
        let length = usize::try_from(capacity).map_err(|_| refuse(ErrorKind::OutOfMemory.into()))?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let base = unsafe {
            libc::mmap(core::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        let base = match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => base,
            _ => return Err(refuse(io::Error::last_os_error())),
        };
        watch_process();
        let mapping = Mapping {
            base,
            capacity,
            max_entries,
            identity: file::file_of(&data),
            maker: is_maker.then(std::process::id),
            file,
            path,
            forks: FORKS.load(Ordering::Relaxed),
            at_hand: AtomicU64::new(0),
            before: AtomicPtr::new(null_mut()),
        };
        let mapping: &'static Mapping = Box::leak(Box::new(mapping));
        let own = core::ptr::from_ref(mapping).cast_mut();
        let mut last = MAPPED.load(Ordering::Relaxed);
        while {
            mapping.before.store(last, Ordering::Relaxed);
            MAPPED.compare_exchange(last, own, Ordering::AcqRel, Ordering::Relaxed).is_err()
        } {
            last = MAPPED.load(Ordering::Relaxed);
        }
        Ok(mapping)
    }

    /// The existing mapping of a file in this process, if any.
    pub(crate) fn find(identity: (u64, u64)) -> Option<&'static Mapping> {
        mapped().find(|mapping| mapping.identity == identity)
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the file begins with a header in a reserved page, and the mapping stays. Changing fields are atomic.
        unsafe { self.base.cast().as_ref() }
    }

    /// An entry below [`Mapping::max_entries`].
    ///
    /// Unless the entry was found published, the caller must hold the directory lock and have reserved its page.
    pub(crate) fn slot(&self, index: u32) -> NonNull<Slot> {
        debug_assert!(index < self.max_entries);
        let offset = format::HEADER_SIZE as usize + index as usize * format::ENTRY_SIZE as usize;
        // SAFETY: inside the mapping, which is longer than the directory.
        unsafe { self.base.byte_add(offset).cast() }
    }

    /// The bytes of an object, which the caller knows to lie inside the file.
    pub(crate) fn object(&self, offset: u64) -> NonNull<u8> {
        debug_assert!(offset < self.capacity);
        // SAFETY: inside the mapping.
        unsafe { self.base.add(offset as usize) }
    }

    /// Maps pages in advance if the kernel supports it, so that the first records do not cause page faults.
    pub(crate) fn populate(&self, offset: u64, length: u64) {
        const POPULATE_WRITE: i32 = 23;
        if length == 0 {
            return;
        }
        self.at_hand.fetch_max(offset + length, Ordering::Relaxed);
        let page = page_size() as u64;
        let (start, end) =
            (offset / page * page, (offset + length).next_multiple_of(page).min(self.capacity));
        // SAFETY: the pages belong to the mapping, and their contents do not change.
        unsafe { libc::madvise(self.object(start).as_ptr().cast(), (end - start) as usize, POPULATE_WRITE) };
    }

    /// Replaces some pages of the file by private ones that `fill` writes. The exchange is atomic, so that nobody sees
    /// empty pages: neither threads that use the old ones nor the child of a concurrent fork.
    ///
    /// # Safety
    /// The bytes from `offset` on must be whole pages of the mapping. Their users must expect what `fill` writes.
    pub(crate) unsafe fn have_own_pages(
        &self,
        offset: u64,
        length: usize,
        fill: &dyn Fn(NonNull<u8>),
    ) -> Result<()> {
        let place = self.object(offset);
        let refuse = || file::error(&self.path, "finds no memory for a table", io::Error::last_os_error());
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, which then replaces pages of this mapping, as the caller promises.
        unsafe {
            let pages = libc::mmap(core::ptr::null_mut(), length, protection, flags, -1, 0);
            let Some(pages) = NonNull::new(pages).filter(|pages| pages.as_ptr() != libc::MAP_FAILED) else {
                return Err(refuse());
            };
            fill(pages.cast());
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            if libc::mremap(pages.as_ptr(), length, length, flags, place.as_ptr()) == libc::MAP_FAILED {
                let error = refuse();
                libc::munmap(pages.as_ptr(), length);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Prevents all others, in this process and elsewhere, from creating entries.
    pub(crate) fn lock_directory(&self) -> Result<DirectoryLock> {
        let file = self.reopen()?;
        for _ in 0..WAITS {
            match file::lock(&file, DIRECTORY_BYTE, Lock::Exclusive) {
                Ok(()) => return Ok(DirectoryLock(file)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(core::time::Duration::from_millis(1));
                }
                Err(error) => return Err(file::error(&self.path, "cannot be locked", error)),
            }
        }
        let path = printable(&self.path);
        Err(failure!(
            Busy,
            "{path}: another process has been making an entry for two seconds; is it stopped?"
        ))
    }

    /// Another open file description of the same file: locks of one description do not exclude each other.
    fn reopen(&self) -> Result<File> {
        let is_it = |file: &File| file.metadata().is_ok_and(|data| file::file_of(&data) == self.identity);
        if let Some(file) = file::open(&self.path, true).ok().filter(is_it) {
            return Ok(file);
        }
        // The name is gone, or leads to another file. Even the descriptor may refer to another file by now.
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let file = File::options().read(true).write(true).open(own);
        let file = file.and_then(|file| match is_it(&file) {
            true => Ok(file),
            false => Err(io::Error::from_raw_os_error(libc::ESTALE)),
        });
        file.map_err(|error| file::error(&self.path, "cannot be opened again", error))
    }

    /// Removes the file if this process created it and nobody else can be writing.
    fn remove_at_exit(&self) {
        if self.maker != Some(std::process::id()) || FORKS.load(Ordering::Relaxed) != self.forks {
            return;
        }
        // The program may have closed the descriptor and opened another file with the same number.
        if self.file.metadata().is_ok_and(|data| file::file_of(&data) == self.identity)
            && let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name())
            && let (Ok(directory), Some(name)) = (Directory::open(parent), name.to_str())
        {
            let _ = remove_if_dead(&directory, name, &self.file);
        }
    }
}

/// The lock of a directory, on a separate description.
pub(crate) struct DirectoryLock(pub(crate) File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Unlocks explicitly: a child forked meanwhile has the same description and would keep it locked.
        let _ = file::lock(&self.0, DIRECTORY_BYTE, Lock::None);
    }
}

/// Removes a file that is held only through this description. Returns whether it did.
pub(crate) fn remove_if_dead(directory: &Directory, name: &str, file: &File) -> io::Result<bool> {
    // The creator may still run even if it holds no lock.
    if check::header(file)?.0.is_by_another() {
        return Ok(false);
    }
    // From here on, attaching fails because the file is locked.
    match file::lock(file, LIFE_BYTE, Lock::Exclusive) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
        answer => answer?,
    }
    if directory.file_at(name) != Some(file::file_of(&file.metadata()?)) {
        return Ok(false);
    }
    directory.unlink(name).map(|()| true)
}

/// Registers the handlers for the exit of the process and for forks.
fn watch_process() {
    extern "C" fn at_exit() {
        mapped().for_each(Mapping::remove_at_exit);
    }
    extern "C" fn at_fork() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    /// A forked child starts without the pages of shared mappings. This maps them at once if there are few. It only
    /// makes system calls, since other threads of the parent may hold any lock.
    extern "C" fn in_child() {
        for mapping in mapped() {
            let start = format::directory_end(mapping.max_entries);
            let end = mapping.at_hand.load(Ordering::Relaxed);
            mapping.populate(start, end.saturating_sub(start).min(MOST_AT_FORK));
        }
    }
    // Concurrent callers all register, so that none waits for another, which a fork may leave behind. Twice is
    // harmless.
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if IS_DONE.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the functions stay in memory: a library that contains them is never unloaded.
    unsafe {
        libc::atexit(at_exit);
        libc::pthread_atfork(None, Some(at_fork), Some(in_child));
    }
    IS_DONE.store(true, Ordering::Release);
}

/// Opens a segment by path for writing, and checks that this build can use it.
pub(crate) fn attach(path: &Path) -> Result<&'static Mapping> {
    let refuse = |status, why: &str| ExplainedError::new(status, format_args!("{}: {why}", printable(path)));
    let failed = |what| move |error| file::error(path, what, error);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(refuse(Status::InvalidArgument, "is no path of a segment"));
    };
    let directory = directory::open(parent)?;
    let file = directory.open_file(name, libc::O_RDWR).map_err(failed("cannot be opened"))?;
    let data = file.metadata().map_err(failed("cannot be examined"))?;
    if !directory::is_own_file(&data) {
        return Err(refuse(Status::Permission, "is no regular file of this user"));
    }
    if let Some(mapping) = Mapping::find(file::file_of(&data)) {
        return Ok(mapping);
    }
    let locked = file::lock(&file, LIFE_BYTE, Lock::Shared);
    // Locked permanently, or removed between opening and locking.
    if locked.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        || locked.is_ok() && directory.file_at(name) != Some(file::file_of(&data))
    {
        return Err(refuse(Status::Busy, "is being removed"));
    }
    locked.map_err(failed("cannot be locked"))?;
    let header = check::header(&file).map_err(failed("cannot be read"))?;
    let shape = Shape::from_header(&header, data.len()).map_err(|(status, why)| refuse(status, why))?;
    if header.0.flags & format::MUST_BE_KNOWN != 0 {
        return Err(refuse(
            Status::Incompatible,
            "has a property that this version does not know; use the version that made it",
        ));
    }
    Mapping::map(file, path.into(), shape.capacity, shape.max_entries, false)
}

/// The file name of a segment.
pub(crate) fn name_of(segment: &str) -> String {
    format!("{segment}.{}.{}", std::process::id(), file::start_time("self"))
}
