//! When a thread was off the CPU, and why: switches as the kernel writes them down.
//!
//! One event of the kernel that counts nothing, but writes a record whenever its thread leaves the CPU or comes back, into a ring of
//! one page that is only read: the latest 256 records, 128 absences. There is nothing to do between a slow observation and the reading of
//! its window but to read soon; windows that the ring no longer holds are *incomplete*, and nothing is said of them.
//!
//! Often it is refused, see [`Refused`]: then the accounts of the kernel say less exactly what happened, and nothing else is lost.
//!
//! **A woken thread that waits for a CPU was not preempted**: what of an absence was waiting for a CPU is the business of the thread's
//! accounts (`run_delay`); the ring says exactly when, how long and how often it was away.
//!
//! **It proves itself.** The kernel also counts how often a thread left the CPU (`getrusage`), and the head of the ring says how many records
//! were ever written: where the two do not agree, as after `PR_TASK_PERF_EVENTS_DISABLE`, nothing is said of any window.
//!
//! No descriptor is kept: a mapping keeps its event, so that a thousand threads take none of the program's descriptors.
//!
//! With page faults ([`Ring::with_faults`]) there are three more rings: a fault is written down when it begins, and when it has been handled
//! as a minor or a major one. They have rings of their own because they come by thousands: some fifty of them would drive all switches out
//! of a common one. Of a span with more than 224, the latest are known.
//!
//! What it costs is told in `docs/why-slow.md`, and printed by `ring/figures_tests.rs`. Half of what a switch costs more is the kernel's
//! switching of any event at all; records that say more than the time (thread, CPU, event) would cost another 0.5 µs, and leave room for 51
//! absences. A user who may lock nothing has 129 rings on a machine of two processors (`kernel.perf_event_mlock_kb` for each processor).

mod image;
mod window;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use super::count::{Count, Counted};
use crate::base::error::{Error, Status};
use crate::machine::diagnose::{Refusal, Target};
use crate::os::cancel::Uncancelled;
use crate::os::kernel::{Attr, CLOEXEC, flag, kind, record, software};
use crate::os::sys::{Errno, Files, Kernel, Perf, Threads, page_size, persist};
use crate::os::thread::{process, token};
use crate::os::wall::clock_nanos;

use image::Image;
pub(crate) use window::Window;
use window::{Faulted, Span};

/// The rings of this process.
static RINGS: Count = Count::new();

/// The switches of the thread that opened it. May be dropped anywhere; only that thread may ask it.
#[derive(Debug)]
pub(crate) struct Ring<S: System = Kernel> {
    sys: S,
    switches: Mapping,
    /// Begun, handled as minor ones, handled as major ones: all or none, once it is open.
    faults: Faulted<Option<Mapping>>,
    /// All that has happened since is, or was, in the rings.
    since: u64,
    /// How often the thread had left the CPU when there was no record yet.
    left: u64,
    thread: u64,
    process: u32,
    /// Where it has not been unmapped, it counts.
    _counted: Counted,
}

impl<S: System> Ring<S> {
    /// Opens it for the calling thread, unless there are `cap` of them in this process. Records begin now: open it before it is needed, or
    /// after the first slow observation. Allocates nothing, and keeps no descriptor.
    pub(crate) fn open(sys: S, cap: usize) -> Result<Ring<S>, Refused> {
        Ring::with(sys, cap, false)
    }

    /// The same with page faults, which takes four times the memory, and makes each fault slower.
    pub(crate) fn with_faults(sys: S, cap: usize) -> Result<Ring<S>, Refused> {
        Ring::with(sys, cap, true)
    }

    fn with(sys: S, cap: usize, faults: bool) -> Result<Ring<S>, Refused> {
        let counted = RINGS.add(cap).ok_or(Refused::Cap)?;
        let _uncancelled = Uncancelled::new();
        if !clocks_agree(&sys) {
            return Err(Refused::Clock);
        }
        let switches = Mapping::new(&sys, software::DUMMY)?;
        let (thread, process) = (token(), process());
        let mut ring = Ring {
            sys,
            switches,
            faults: [const { None }; 3],
            since: 0,
            left: 0,
            thread,
            process,
            _counted: counted,
        };
        // From here on, what is mapped is unmapped by the ring's end.
        if faults {
            let configs = [software::PAGE_FAULTS, software::PAGE_FAULTS_MINOR, software::PAGE_FAULTS_MAJOR];
            for (mapping, config) in ring.faults.iter_mut().zip(configs) {
                *mapping = Some(Mapping::new(&ring.sys, config)?);
            }
        }
        // Should it leave the CPU in between all the time, the ring will not agree with the account, and say nothing.
        ring.left = ring.account()?.unwrap_or(u64::MAX);
        ring.since = ring.sys.raw_nanos();
        Ok(ring)
    }

    /// What happened to the thread between two moments at which it ran, in nanoseconds of `CLOCK_MONOTONIC_RAW`, neither of which lies
    /// in the future. Not complete when the ring does not reach back that far, when it was opened in between, on other
    /// threads, in a forked child, and for good when records were kept from being written. Neither blocks nor allocates; the time is
    /// bounded by the length of the ring.
    pub(crate) fn window(&self, begin_raw_ns: u64, end_raw_ns: u64) -> Window {
        // A child has no such memory; and to another thread, records that are just being written could look whole.
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
}

impl<S: System> Ring<S> {
    /// How often the thread left the CPU and it is not in the ring, overwritten or not: the same at all times. `None` when it kept leaving
    /// while it was asked.
    fn account(&self) -> Result<Option<u64>, Refused> {
        let left = || self.sys.context_switches().map_err(Refused::Accounts);
        let mut before = left()?;
        for _ in 0..TRIES {
            // Each absence is two records, and nothing else is written to this ring.
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
        // In a child there is nothing at these addresses, or something of its own.
        if process() != self.process {
            return;
        }
        for mapping in self.faults.iter().flatten().chain([&self.switches]) {
            // SAFETY: mapped by this process, and gone with the ring.
            unsafe { mapping.unmap(&self.sys) };
        }
    }
}

/// One event's ring, mapped: a page that describes it, and a page of records.
#[derive(Debug)]
struct Mapping(NonNull<u8>);

// SAFETY: the memory belongs to no thread; it is only read, by atomic loads.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// How often an account is taken again that was interrupted.
const TRIES: u32 = 8;

/// Bytes of a record: header and time.
const RECORD: u64 = 16;

/// Where `data_head` is in the first page.
const DATA_HEAD: usize = 1024;

impl Mapping {
    /// A software event of the calling thread that writes its records backwards: switches for the one that counts nothing, and otherwise
    /// every time that it happens. Records have nothing but the time: that is all that is asked of them, and each is a line of
    /// 16 bytes.
    fn new<S: System>(sys: &S, config: u64) -> Result<Mapping, Refused> {
        let mut attr = Attr { kind: kind::SOFTWARE, config, sample_type: record::TIME, ..Attr::default() };
        attr.clockid = libc::CLOCK_MONOTONIC_RAW;
        attr.flags = flag::USE_CLOCKID | flag::WRITE_BACKWARD | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
        if config == software::DUMMY {
            attr.flags |= flag::CONTEXT_SWITCH | flag::SAMPLE_ID_ALL;
        } else {
            attr.sample_period = 1;
        }
        let asked = attr;
        let fd = persist(|| sys.open(&mut attr, 0, -1, -1, CLOEXEC))
            .map_err(|errno| Refused::Open { attr: asked, errno })?;
        let mapped = sys.map_ring(fd, Mapping::length());
        // The mapping keeps the event. SAFETY: opened above, and not used after this.
        unsafe { sys.close(fd) };
        mapped.map(Mapping).map_err(Refused::Memory)
    }

    fn length() -> usize {
        2 * page_size()
    }

    /// # Safety
    /// This process has mapped it, and nothing uses it after this.
    unsafe fn unmap<S: System>(&self, sys: &S) {
        // SAFETY: says the caller; the length is that of every mapping.
        unsafe { sys.unmap_ring(self.0, Mapping::length()) };
    }
}

impl Image for Mapping {
    fn words(&self) -> usize {
        page_size() / 8
    }

    fn head(&self) -> u64 {
        // SAFETY: the first page has this word, and stays mapped while the ring is there, which a child does not ask.
        unsafe { self.0.byte_add(DATA_HEAD).cast::<AtomicU64>().as_ref() }.load(Ordering::Acquire)
    }

    fn word(&self, index: usize) -> u64 {
        let at = page_size() + (index & (self.words() - 1)) * 8;
        // SAFETY: as above; the second page has as many words. Relaxed and atomic, because the kernel may write meanwhile.
        unsafe { self.0.byte_add(at).cast::<AtomicU64>().as_ref() }.load(Ordering::Relaxed)
    }
}

/// Whether `CLOCK_MONOTONIC_RAW` is what the kernel dates records by: in a time namespace it is apart by a constant.
fn clocks_agree<S: Files>(sys: &S) -> bool {
    let mut buffer = [0; 256];
    match sys.read_file("/proc/self/timens_offsets", &mut buffer) {
        // Lines of a clock, seconds, and nanoseconds.
        Ok(length) => match core::str::from_utf8(&buffer[..length]) {
            Ok(text) => text
                .lines()
                .filter(|line| line.starts_with("monotonic"))
                .all(|line| line.split_ascii_whitespace().skip(1).all(|number| number == "0")),
            Err(_) => false,
        },
        // Kernels before 5.6 have none; and where /proc is not to be read, one is hardly ever there.
        Err(_) => true,
    }
}

/// What a ring asks of the system, so that tests can stand in for it: events, what of them is mapped, and the thread's own account of its
/// switches.
pub(crate) trait System: Files + Perf + Threads {
    /// Maps the beginning of an event's ring for reading only, which makes it one that overwrites what is oldest. Children do not
    /// have it.
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno>;
    /// Undoes [`System::map_ring`].
    ///
    /// # Safety
    /// The address came from `map_ring` of this very process with this length, and nothing uses it after this.
    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize);
    /// `CLOCK_MONOTONIC_RAW`, by which records are dated.
    fn raw_nanos(&self) -> u64;
}

impl System for Kernel {
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno> {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let at = unsafe { libc::mmap(core::ptr::null_mut(), length, read, shared, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        // Mappings of events are marked so from the beginning; it is asked for all the same, because everything depends on it: a
        // failure changes nothing. SAFETY: the range is the mapping just made.
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

/// Why a thread has no ring. Nothing but precision is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// There are as many in this process as there may be.
    Cap,
    /// The kernel opens no such event.
    Open {
        /// What was asked for.
        attr: Attr,
        errno: Errno,
    },
    /// It does not map the ring: `EPERM` where the user may lock no more memory.
    Memory(Errno),
    /// How often the thread has left the CPU, by which the ring proves itself, is not said.
    Accounts(Errno),
    /// The clock that the program reads is not the one that records are dated by: a time namespace lies in between.
    Clock,
}

impl Refused {
    /// In words, with what to do about it. Reads files of the system; meant for the first refusal of its kind.
    pub(crate) fn explain<S: Files + Perf>(&self, sys: &S) -> Error {
        match *self {
            Refused::Cap => Error::new(
                Status::Os,
                format_args!(
                    "context switches: as many threads are watched as there may be; of the others, the time off CPU is split by accounts \
                     alone. Ask for more rings"
                ),
            ),
            Refused::Open { attr, errno } => {
                let target = Target { pid: 0, cpu: -1 };
                Refusal { name: "context switches", attr: &attr, target, errno }.explain(sys)
            }
            Refused::Memory(Errno(libc::EPERM)) => Error::new(
                Status::Permission,
                format_args!(
                    "context switches: no more memory may be locked (EPERM): events of this user have taken what \
                     kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK allow. Raise one of them (ulimit -l, LimitMEMLOCK= of a service), \
                     or ask for fewer rings"
                ),
            )
            .with_errno(libc::EPERM),
            Refused::Memory(Errno(errno)) => Error::new(
                if errno == libc::ENOMEM { Status::OutOfMemory } else { Status::Os },
                format_args!(
                    "context switches: their ring cannot be mapped: {}",
                    std::io::Error::from_raw_os_error(errno)
                ),
            )
            .with_errno(errno),
            Refused::Accounts(Errno(errno)) => Error::new(
                Status::Os,
                format_args!(
                    "context switches: getrusage, by which what is written of them is checked, was refused: {}",
                    std::io::Error::from_raw_os_error(errno)
                ),
            )
            .with_errno(errno),
            Refused::Clock => Error::new(
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

#[cfg(test)]
#[path = "ring/limits_tests.rs"]
mod limits_tests;

#[cfg(test)]
#[path = "ring/figures_tests.rs"]
mod figures_tests;
