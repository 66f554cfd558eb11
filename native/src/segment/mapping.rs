//! A segment as a writer has it: mapped, and there as long as the process, so that what lies in it may be freed in any order.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use super::check::{self, Shape};
use super::directory;
use super::file::{self, Directory, Lock, shown};
use super::format::{self, DIRECTORY_BYTE, Header, LIFE_BYTE, Slot};
use crate::base::error::{Error, Result, Status, failure};
use crate::os::sys::page_size;

/// A mapped segment. It is never unmapped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    pub(crate) capacity: u64,
    pub(crate) max_entries: u32,
    pub(crate) path: PathBuf,
    /// Which file it is, whatever becomes of its name.
    identity: (u64, u64),
    /// The description that is locked and mapped. Where the program closes all descriptors, it lives on in the mapping.
    file: File,
    /// The process that made it, and is to remove it.
    maker: Option<u32>,
    /// How often it had forked before.
    forks: u64,
    /// Where what this process has asked for ends: not read from the file, which somebody may have cut off.
    at_hand: AtomicU64,
    /// The one that was mapped before.
    before: AtomicPtr<Mapping>,
}

// SAFETY: what is changed in the mapping is atomic, or guarded by a lock on the file.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// The last that this process has mapped. A list without a lock, which a fork beside another thread could leave held in the child.
static MAPPED: AtomicPtr<Mapping> = AtomicPtr::new(null_mut());

/// All that this process has mapped.
fn mapped() -> impl Iterator<Item = &'static Mapping> {
    // SAFETY: null, or a mapping that was whole before it was shown, and is never freed.
    let at = |place: &AtomicPtr<Mapping>| unsafe { place.load(Ordering::Acquire).as_ref() };
    core::iter::successors(at(&MAPPED), move |mapping| at(&mapping.before))
}

/// How often this process has forked: since then there may be others who write, by the same description.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Waits for a lock on the directory so often, a millisecond each, before it is called busy.
const WAITS: u32 = 2000;

/// Of each segment so many bytes are had at hand in a child of a fork: about a microsecond for each 16 KiB, also where it goes on to run
/// another program.
const MOST_AT_FORK: u64 = 4 << 20;

impl Mapping {
    /// Maps an open segment whose life is locked; `max_entries` and `capacity` are known to fit it.
    pub(crate) fn map(
        file: File,
        path: PathBuf,
        capacity: u64,
        max_entries: u32,
        is_maker: bool,
    ) -> Result<&'static Mapping> {
        let refuse = |error| file::refused(&path, "cannot be mapped", error);
        let data = file.metadata().map_err(refuse)?;
        let length = usize::try_from(capacity).map_err(|_| refuse(ErrorKind::OutOfMemory.into()))?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice.
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

    /// What this process has mapped of a file already.
    pub(crate) fn of_file(identity: (u64, u64)) -> Option<&'static Mapping> {
        mapped().find(|mapping| mapping.identity == identity)
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the file begins with one, the first page of it is reserved, and the mapping stays. What changes of it is atomic.
        unsafe { self.base.cast().as_ref() }
    }

    /// An entry below [`Mapping::max_entries`].
    ///
    /// Whoever has not found it published must hold the lock of the directory, and have reserved its page.
    pub(crate) fn slot(&self, index: u32) -> NonNull<Slot> {
        debug_assert!(index < self.max_entries);
        let offset = format::HEADER_SIZE as usize + index as usize * format::ENTRY_SIZE as usize;
        // SAFETY: inside of the mapping, which is longer than the directory.
        unsafe { self.base.byte_add(offset).cast() }
    }

    /// The bytes of an object, which are known to lie inside of the file.
    pub(crate) fn object(&self, offset: u64) -> NonNull<u8> {
        debug_assert!(offset < self.capacity);
        // SAFETY: inside of the mapping.
        unsafe { self.base.add(offset as usize) }
    }

    /// Has pages at hand, where the kernel can do that, so that the first records do not wait for them one by one.
    pub(crate) fn populate(&self, offset: u64, length: u64) {
        const POPULATE_WRITE: i32 = 23;
        if length == 0 {
            return;
        }
        self.at_hand.fetch_max(offset + length, Ordering::Relaxed);
        let page = page_size() as u64;
        let (start, end) =
            (offset / page * page, (offset + length).next_multiple_of(page).min(self.capacity));
        // SAFETY: pages of the mapping, which stay what they are.
        unsafe { libc::madvise(self.object(start).as_ptr().cast(), (end - start) as usize, POPULATE_WRITE) };
    }

    /// Puts private pages in the place of some of the file's, filled by `fill`. At one go, so that nobody sees them empty: not those
    /// either who have them from before, nor the child of a fork that comes between.
    ///
    /// # Safety
    /// So many bytes from `offset` on must be whole pages of the mapping; those who use them must find there what `fill` writes.
    pub(crate) unsafe fn have_own_pages(
        &self,
        offset: u64,
        length: usize,
        fill: &dyn Fn(NonNull<u8>),
    ) -> Result<()> {
        let place = self.object(offset);
        let refuse = || file::refused(&self.path, "finds no memory for a table", io::Error::last_os_error());
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, which then takes the place of pages that are ours, as the caller promises.
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

    /// Keeps all others, in this process and elsewhere, from making entries.
    pub(crate) fn lock_directory(&self) -> Result<DirectoryLock> {
        let file = self.reopen()?;
        for _ in 0..WAITS {
            match file::lock(&file, DIRECTORY_BYTE, Lock::Exclusive) {
                Ok(()) => return Ok(DirectoryLock(file)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(core::time::Duration::from_millis(1));
                }
                Err(error) => return Err(file::refused(&self.path, "cannot be locked", error)),
            }
        }
        let path = shown(&self.path);
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
        // The name is gone, or leads elsewhere. The descriptor, too, may be another one by now.
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let file = File::options().read(true).write(true).open(own);
        let file = file.and_then(|file| match is_it(&file) {
            true => Ok(file),
            false => Err(io::Error::from_raw_os_error(libc::ESTALE)),
        });
        file.map_err(|error| file::refused(&self.path, "cannot be opened again", error))
    }

    /// Removes the file, where this process made it and nobody else can be writing.
    fn remove_at_exit(&self) {
        if self.maker != Some(std::process::id()) || FORKS.load(Ordering::Relaxed) != self.forks {
            return;
        }
        // The program may have closed the descriptor, and have another file under its number.
        if self.file.metadata().is_ok_and(|data| file::file_of(&data) == self.identity)
            && let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name())
            && let (Ok(directory), Some(name)) = (Directory::open(parent), name.to_str())
        {
            let _ = remove_if_dead(&directory, name, &self.file);
        }
    }
}

/// The lock of a directory, on a description of its own.
pub(crate) struct DirectoryLock(pub(crate) File);

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // In so many words: a child that was forked meanwhile has a descriptor of the same description, and would keep it locked.
        let _ = file::lock(&self.0, DIRECTORY_BYTE, Lock::None);
    }
}

/// Removes a file that nobody but this description of it holds; returns whether it did.
pub(crate) fn remove_if_dead(directory: &Directory, name: &str, file: &File) -> io::Result<bool> {
    // A program that holds no lock may be at work all the same.
    if check::header(file)?.0.is_by_another() {
        return Ok(false);
    }
    // Whoever attaches from now on finds it locked, and is refused.
    match file::lock(file, LIFE_BYTE, Lock::Exclusive) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
        answer => answer?,
    }
    if directory.file_at(name) != Some(file::file_of(&file.metadata()?)) {
        return Ok(false);
    }
    directory.unlink(name).map(|()| true)
}

/// Sees to it that the end of the process and its forks are noticed.
fn watch_process() {
    extern "C" fn at_exit() {
        mapped().for_each(Mapping::remove_at_exit);
    }
    extern "C" fn at_fork() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    /// A child begins without the pages of shared mappings: it gets them at once and not one by one, where they are few. Nothing but system
    /// calls, since other threads of the parent may hold any lock.
    extern "C" fn in_child() {
        for mapping in mapped() {
            let start = format::directory_end(mapping.max_entries);
            let end = mapping.at_hand.load(Ordering::Relaxed);
            mapping.populate(start, end.saturating_sub(start).min(MOST_AT_FORK));
        }
    }
    // Threads that come here at once all see to it, so that none waits for another, which a fork may leave behind; twice does no harm.
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if IS_DONE.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the functions stay where they are: a library with them is never unloaded.
    unsafe {
        libc::atexit(at_exit);
        libc::pthread_atfork(None, Some(at_fork), Some(in_child));
    }
    IS_DONE.store(true, Ordering::Release);
}

/// Opens a segment of a path to write into, and checks that it is one that this build can use.
pub(crate) fn attach(path: &Path) -> Result<&'static Mapping> {
    let refuse = |status, why: &str| Error::new(status, format_args!("{}: {why}", shown(path)));
    let failed = |what| move |error| file::refused(path, what, error);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(refuse(Status::InvalidArgument, "is no path of a segment"));
    };
    let directory = directory::open(parent)?;
    let file = directory.open_file(name, libc::O_RDWR).map_err(failed("cannot be opened"))?;
    let data = file.metadata().map_err(failed("cannot be examined"))?;
    if !directory::is_own_file(&data) {
        return Err(refuse(Status::Permission, "is no regular file of this user"));
    }
    if let Some(mapping) = Mapping::of_file(file::file_of(&data)) {
        return Ok(mapping);
    }
    let locked = file::lock(&file, LIFE_BYTE, Lock::Shared);
    // Locked for good, or removed between opening and locking.
    if locked.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        || locked.is_ok() && directory.file_at(name) != Some(file::file_of(&data))
    {
        return Err(refuse(Status::Busy, "is being removed"));
    }
    locked.map_err(failed("cannot be locked"))?;
    let header = check::header(&file).map_err(failed("cannot be read"))?;
    let shape = Shape::of(&header, data.len()).map_err(|(status, why)| refuse(status, why))?;
    if header.0.flags & format::MUST_BE_KNOWN != 0 {
        return Err(refuse(
            Status::Incompatible,
            "has a property that this version does not know; use the version that made it",
        ));
    }
    Mapping::map(file, path.into(), shape.capacity, shape.max_entries, false)
}

/// The name of a file of a segment.
pub(crate) fn name_of(segment: &str) -> String {
    format!("{segment}.{}.{}", std::process::id(), file::start_time("self"))
}
