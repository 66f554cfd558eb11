//! When a thread was off the CPU, and why, from the kernel's records of context switches.
//!
//! A kernel event that counts nothing writes a record whenever its thread leaves the CPU or comes back. The ring of one
//! page is mapped read-only, and holds the latest 256 records, 128 absences. After a slow observation, its window must
//! be read soon: a window that the ring no longer holds is *incomplete*, and its values are unknown.
//!
//! The kernel often refuses the event, see [`Refused`]. Only precision is lost: the accounts are less exact.
//!
//! **A woken thread that waits for a CPU was not preempted.** The thread's accounts (`run_delay`) show how much of an
//! absence was waiting for a CPU. The ring shows exactly when, how long and how often it was away.
//!
//! **It proves itself.** The kernel also counts how often a thread left the CPU (`getrusage`), and the ring's head
//! shows how many records were ever written. If they disagree, as after `PR_TASK_PERF_EVENTS_DISABLE`, all windows are
//! incomplete.
//!
//! No descriptor is kept: a mapping keeps its event, so that a thousand threads use none of the program's descriptors.
//!
//! With page faults, there are three more rings, for the beginning of a fault and for its end
//! as a minor or a major one. They are separate because faults come by thousands: about fifty of them would drive all
//! switches out of a shared ring. If a span has more than 224 faults, only the latest are known.
//!
//! `docs/why-slow.md` reports the costs. Half of the extra cost of a switch is
//! due to the kernel's switching of any event. Records with more than the time (thread, CPU, event) would cost another
//! 0.5 µs, and leave room for 51 absences. A user who may lock no memory has 129 rings on a machine with two processors
//! (`kernel.perf_event_mlock_kb` for each processor).

mod image;
mod window;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use picollo_native::Uncancelled;
use picollo_native::seam::kernel::{Attr, CLOEXEC, flag, kind, record, software};
use picollo_native::seam::sys::{Errno, Files, Kernel, Perf, Threads, page_size, persist};
use picollo_native::seam::thread::{process, token};
use picollo_native::seam::wall::clock_nanos;
use picollo_native::{ExplainedError, Status};
use picollo_perf::seam::diagnose::{Refusal, Target};

use image::Image;
pub(crate) use window::Window;
use window::{Faulted, Span};

/// The switches of the thread that opened it. Any thread may drop it, but only that thread may read it.
#[derive(Debug)]
pub(crate) struct Ring<S: System = Kernel> {
    sys: S,
    switches: Mapping,
    /// For faults that began, minor ones that ended, and major ones that ended: all or none after opening.
    faults: Faulted<Option<Mapping>>,
    /// The rings have recorded everything since this time, even if it was overwritten.
    since: u64,
    /// How often the thread had left the CPU before the first record.
    left: u64,
    thread: u64,
    process: u32,
}

impl<S: System> Ring<S> {
    /// Opens a ring for the calling thread. Records begin now: open it before it is needed, or after the first slow
    /// observation. It allocates nothing and keeps no descriptor. With page faults, it takes four times the memory and
    /// makes each fault slower.
    pub(crate) fn open(sys: S, has_faults: bool) -> Result<Ring<S>, Refused> {
        let _uncancelled = Uncancelled::new();
        if !clocks_agree(&sys) {
            return Err(Refused::Clock);
        }
        let switches = Mapping::new(&sys, software::DUMMY)?;
        let (thread, process) = (token(), process());
        let mut ring =
            Ring { sys, switches, faults: [const { None }; 3], since: 0, left: 0, thread, process };
        // From here on, dropping the ring unmaps everything.
        if has_faults {
            let configs = [software::PAGE_FAULTS, software::PAGE_FAULTS_MINOR, software::PAGE_FAULTS_MAJOR];
            for (mapping, config) in ring.faults.iter_mut().zip(configs) {
                *mapping = Some(Mapping::new(&ring.sys, config)?);
            }
        }
        // If the thread leaves the CPU in every attempt, the ring will disagree with the account, and report nothing.
        ring.left = ring.account()?.unwrap_or(u64::MAX);
        ring.since = ring.sys.raw_nanos();
        Ok(ring)
    }

    /// The same; without page faults if only they are refused.
    pub(crate) fn open_possible(sys: S, has_faults: bool) -> Result<Ring<S>, Refused>
    where
        S: Copy,
    {
        match Ring::open(sys, has_faults) {
            Err(_) if has_faults => Ring::open(sys, false),
            opened => opened,
        }
    }

    /// What happened to the thread between two moments at which it ran, in nanoseconds of `CLOCK_MONOTONIC_RAW`. Both
    /// must be in the past. The window is incomplete if the ring does not reach back that far, if it was opened in
    /// between, on other threads, and in a forked child. It stays incomplete forever if records were suppressed. The
    /// call neither blocks nor allocates, and the length of the ring limits its time.
    pub(crate) fn window(&self, begin_raw_ns: u64, end_raw_ns: u64) -> Window {
        // A child lacks this memory. Another thread could take unfinished records for whole ones.
        if process() != self.process || token() != self.thread {
            return Window::default();
        }
        if self.account() != Ok(Some(self.left)) {
            return Window::default();
        }
        let span = Span { begin: begin_raw_ns, end: end_raw_ns, since: self.since };
        let images = match &self.faults {
            [Some(begun), Some(minor), Some(major)] => Some([begun, minor, major]),
            _ => None,
        };
        window::window(&self.switches, images, span, || self.sys.raw_nanos())
    }

    /// How often the thread left the CPU without a record in the ring, overwritten or not. This never changes. `None`
    /// if the thread kept leaving during the call.
    fn account(&self) -> Result<Option<u64>, Refused> {
        let left = || self.sys.context_switches().map_err(Refused::Accounts);
        let mut before = left()?;
        for _ in 0..TRIES {
            // Each absence has two records, and this ring has no others.
            let written = self.switches.head().wrapping_neg() / (2 * RECORD);
            let after = left()?;
            if after == before {
                return Ok(Some(after.wrapping_sub(written)));
            }
            before = after;
        }
        Ok(None)
    }
}

impl<S: System> Drop for Ring<S> {
    fn drop(&mut self) {
        // A child has nothing at these addresses, or other memory.
        if process() != self.process {
            return;
        }
        for mapping in self.faults.iter().flatten().chain([&self.switches]) {
            // SAFETY: this process mapped it, and the ring ends here.
            unsafe { mapping.unmap(&self.sys) };
        }
    }
}

/// The mapped ring of one event: a page with its description, and a page of records.
#[derive(Debug)]
struct Mapping(NonNull<u8>);

// SAFETY: the memory belongs to no thread; it is only read, by atomic loads.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Attempts to take an account that is interrupted.
const TRIES: u32 = 8;

/// Bytes of a record: header and time.
const RECORD: u64 = 16;

/// Offset of `data_head` in the first page.
const DATA_HEAD: usize = 1024;

impl Mapping {
    /// Opens a software event of the calling thread that writes its records backwards. The event that counts nothing
    /// records switches; others record each occurrence. Records hold only the time, and so take only 16 bytes.
    fn new<S: System>(sys: &S, config: u64) -> Result<Mapping, Refused> {
        let mut attr = Attr { kind: kind::SOFTWARE, config, sample_type: record::TIME, ..Attr::default() };
        attr.clockid = libc::CLOCK_MONOTONIC_RAW;
        attr.flags = flag::USE_CLOCKID | flag::WRITE_BACKWARD | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
        if config == software::DUMMY {
            attr.flags |= flag::CONTEXT_SWITCH | flag::SAMPLE_ID_ALL;
        } else {
            attr.sample_period = 1;
        }
        let fd = persist(|| sys.open_event(&attr)).map_err(|errno| Refused::Open { attr, errno })?;
        let mapped = sys.map_ring(fd, Mapping::length());
        // The mapping keeps the event. SAFETY: opened above, and not used after this.
        unsafe { sys.close_event(fd) };
        mapped.map(Mapping).map_err(Refused::Memory)
    }

    fn length() -> usize {
        2 * page_size()
    }

    /// # Safety
    /// This process must have mapped it, and nothing may use it after this.
    unsafe fn unmap<S: System>(&self, sys: &S) {
        // SAFETY: the caller's promise; all mappings have this length.
        unsafe { sys.unmap_ring(self.0, Mapping::length()) };
    }
}

impl Image for Mapping {
    fn words(&self) -> usize {
        page_size() / 8
    }

    fn head(&self) -> u64 {
        // SAFETY: the first page has this word, and is mapped as long as the ring; a forked child does not call this.
        unsafe { self.0.byte_add(DATA_HEAD).cast::<AtomicU64>().as_ref() }.load(Ordering::Acquire)
    }

    fn word(&self, index: usize) -> u64 {
        let at = page_size() + (index & (self.words() - 1)) * 8;
        // SAFETY: as above; the second page has this many words. Relaxed and atomic, since the kernel may write
        // meanwhile.
        unsafe { self.0.byte_add(at).cast::<AtomicU64>().as_ref() }.load(Ordering::Relaxed)
    }
}

/// Whether the kernel dates records by this process's `CLOCK_MONOTONIC_RAW`. Time namespaces add a constant.
fn clocks_agree<S: Files>(sys: &S) -> bool {
    let mut buffer = [0; 256];
    match sys.read_file("/proc/self/timens_offsets", &mut buffer) {
        // Each line has a clock, seconds, and nanoseconds.
        Ok(length) => match core::str::from_utf8(&buffer[..length]) {
            Ok(text) => text
                .lines()
                .filter(|line| line.starts_with("monotonic"))
                .all(|line| line.split_ascii_whitespace().skip(1).all(|number| number == "0")),
            Err(_) => false,
        },
        // Kernels before 5.6 lack this file. Where /proc is unreadable, a time namespace is very unlikely.
        Err(_) => true,
    }
}

/// The system calls of a ring, so that tests can replace them: events, mapping them, and the thread's own count of
/// switches.
pub(crate) trait System: Files + Threads {
    /// Opens an event of the calling thread on any CPU.
    fn open_event(&self, attr: &Attr) -> Result<i32, Errno>;
    /// Closes it.
    ///
    /// # Safety
    /// The event must come from `open_event`, and nothing may use it after this.
    unsafe fn close_event(&self, fd: i32);
    /// Maps the beginning of an event's ring for reading only. The kernel then overwrites the oldest records. Forked
    /// children do not inherit the mapping.
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno>;
    /// Undoes [`System::map_ring`].
    ///
    /// # Safety
    /// The address must come from `map_ring` in this process with this length, and nothing may use it after this.
    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize);
    /// `CLOCK_MONOTONIC_RAW`, by which records are dated.
    fn raw_nanos(&self) -> u64;
}

impl System for Kernel {
    fn open_event(&self, attr: &Attr) -> Result<i32, Errno> {
        self.open(attr, 0, -1, -1, CLOEXEC)
    }

    unsafe fn close_event(&self, fd: i32) {
        // SAFETY: the caller's promise.
        unsafe { self.close(fd) };
    }

    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno> {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses does not touch existing memory.
        let at = unsafe { libc::mmap(core::ptr::null_mut(), length, read, shared, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        // The kernel marks mappings of events this way already. This requests it again because everything depends on
        // it; a failure changes nothing. SAFETY: the range is the mapping just made.
        unsafe { libc::madvise(at, length, libc::MADV_DONTFORK) };
        NonNull::new(at.cast()).ok_or(Errno(libc::ENOMEM))
    }

    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize) {
        // SAFETY: the caller gives up exactly what map_ring has mapped.
        unsafe { libc::munmap(at.as_ptr().cast(), length) };
    }

    fn raw_nanos(&self) -> u64 {
        clock_nanos(libc::CLOCK_MONOTONIC_RAW)
    }
}

/// Why a thread has no ring. Only precision is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// The kernel refused the event.
    Open {
        /// The request.
        attr: Attr,
        errno: Errno,
    },
    /// The kernel did not map the ring: `EPERM` if the user may not lock more memory.
    Memory(Errno),
    /// The count of switches, by which the ring proves itself, is unavailable.
    Accounts(Errno),
    /// The program's clock differs from the one that dates records, because of a time namespace.
    Clock,
}

impl Refused {
    /// Explains the refusal and what to do. It reads system files and is meant for the first refusal of its kind.
    pub(crate) fn explain(&self) -> ExplainedError {
        match *self {
            Refused::Open { attr, errno } => {
                let target = Target { pid: 0, cpu: -1 };
                Refusal { name: "context switches", attr: &attr, target, errno }.explain(&Kernel)
            }
            Refused::Memory(Errno(libc::EPERM)) => ExplainedError::new(
                Status::Permission,
                format_args!(
                    "context switches: no more memory may be locked (EPERM): events of this user have taken what \
                     kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK allow. Raise one of them (ulimit -l, LimitMEMLOCK= of a service), \
                     or ask for fewer rings"
                ),
            )
            .with_errno(libc::EPERM),
            Refused::Memory(Errno(errno)) => ExplainedError::new(
                if errno == libc::ENOMEM { Status::OutOfMemory } else { Status::Os },
                format_args!(
                    "context switches: their ring cannot be mapped: {}",
                    std::io::Error::from_raw_os_error(errno)
                ),
            )
            .with_errno(errno),
            Refused::Accounts(Errno(errno)) => ExplainedError::new(
                Status::Os,
                format_args!(
                    "context switches: getrusage, by which what is written of them is checked, was refused: {}",
                    std::io::Error::from_raw_os_error(errno)
                ),
            )
            .with_errno(errno),
            Refused::Clock => ExplainedError::new(
                Status::Unsupported,
                format_args!(
                    "context switches: this process is in a time namespace with a clock of its own, and the kernel dates them by the \
                     machine's. Run it without one (unshare --time, or timeOffsets of the container)"
                ),
            ),
        }
    }
}

#[cfg(test)]
#[path = "ring/opening_tests.rs"]
mod opening_tests;

#[cfg(test)]
#[path = "ring/kernel_tests.rs"]
mod kernel_tests;
