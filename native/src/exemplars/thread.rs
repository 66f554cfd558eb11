//! What is kept of each thread: its last checkpoints, and a descriptor of its accounts.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::cell::Cell;

use super::accounts::Accounts;
use super::bracket::Bracket;
use super::counters::ThreadCounters;
use super::evidence::{Evidence, KNOWN_FAULT_TIMES, KNOWN_RING, Missing};
use super::ring::Ring;
use crate::base::error::Result;
use crate::clock::{Clock, Unit};
use crate::os::sys::Kernel;
use crate::os::thread::{kernel_id, process};

/// Checkpoints that a thread remembers: scopes that lie in each other take new ones while the outer ones run.
const REMEMBERED: u64 = 8;
/// A checkpoint is taken when the last is older than this.
const INTERVAL_NANOS: u64 = 100_000;
/// At most one part in so many of a thread's time goes into checkpoints: as much again is what they leave behind, cold caches and predictors
/// (tried), which is 1 % together. So they come some quarter of a millisecond apart on a slow machine.
const PART: u64 = 200;

/// Descriptors that all threads of the process have open, and which process that is.
static OPEN: AtomicU32 = AtomicU32::new(0);
static OPENED_BY: AtomicU64 = AtomicU64::new(0);

/// Where the next thread's numbers of checkpoints begin. No two threads have the same: memory of one that has ended may be the next one's, and a
/// scope that is handed to it is not to find its own number there.
static FIRST: AtomicU64 = AtomicU64::new(1 << 32);

const NONE: i32 = -1;
const REFUSED: i32 = -2;

unsafe extern "C" {
    fn picollo_asm_thread_account() -> *mut c_void;
    fn picollo_asm_set_thread_account(thread: *mut c_void);
}

/// What is kept of a thread. It alone uses it.
#[derive(Debug)]
pub(super) struct Thread {
    /// In ticks: when the next checkpoint is due. First, since each scope reads it.
    pub due: u64,
    /// The number of the last checkpoint.
    pub number: u64,
    /// A scope is in the middle of something here: a signal handler's is not to disturb it.
    is_busy: AtomicBool,
    process: u64,
    checkpoints: [Option<Accounts>; REMEMBERED as usize],
    schedstat: i32,
    ring: Option<Ring>,
    /// Opening one is tried once.
    has_tried_ring: bool,
    counters: ThreadCounters,
    pub kernel_id: i32,
    interval: u64,
    /// The second, in ticks, in which slow observations are counted, and how many there were.
    second: u64,
    looked_into: u32,
    /// Values that were offered.
    pub offered: u64,
}

/// Ends with its thread.
struct Owner(Cell<*mut Thread>);

impl Drop for Owner {
    fn drop(&mut self) {
        let thread = self.0.get();
        if thread.is_null() {
            return;
        }
        // SAFETY: of this thread, which ends; a scope in a later destructor finds none.
        unsafe {
            picollo_asm_set_thread_account(core::ptr::null_mut());
            let mut thread = Box::from_raw(thread);
            thread.close();
        }
    }
}

std::thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(core::ptr::null_mut())) };
}

/// What is kept of the calling thread; NULL before its first scope, and at its end.
#[inline(always)]
pub(super) fn current() -> *mut Thread {
    // SAFETY: reads a thread-local variable that C owns.
    unsafe { picollo_asm_thread_account().cast() }
}

/// The same, made if there is none; NULL where the thread ends, or there is no memory.
#[cold]
pub(super) fn made() -> *mut Thread {
    let thread = current();
    if !thread.is_null() {
        return thread;
    }
    let thread = OWNER.try_with(|owner| {
        let layout = std::alloc::Layout::new::<Thread>();
        // SAFETY: the layout is not empty. (Box would end the process without memory.)
        let thread = unsafe { std::alloc::alloc(layout) }.cast::<Thread>();
        if !thread.is_null() {
            let interval = ticks_of(INTERVAL_NANOS);
            // SAFETY: just allocated for it.
            unsafe {
                thread.write(Thread {
                    due: 0,
                    number: FIRST.fetch_add(1 << 32, Ordering::Relaxed),
                    is_busy: AtomicBool::new(false),
                    process: process(),
                    checkpoints: [None; REMEMBERED as usize],
                    schedstat: NONE,
                    ring: None,
                    has_tried_ring: false,
                    counters: ThreadCounters::default(),
                    kernel_id: kernel_id(),
                    interval,
                    second: 0,
                    looked_into: 0,
                    offered: 0,
                });
            }
            owner.0.set(thread);
        }
        thread
    });
    let thread = thread.unwrap_or(core::ptr::null_mut());
    // SAFETY: writes the same variable.
    unsafe { picollo_asm_set_thread_account(thread.cast()) };
    thread
}

/// Ticks of the scopes' clock.
pub(super) fn ticks_of(nanos: u64) -> u64 {
    (u128::from(nanos) * u128::from(Clock::Tsc.frequency()) / 1_000_000_000) as u64
}

impl Thread {
    /// Works on it, unless that is what a signal handler interrupted.
    pub(super) fn with<R>(&mut self, work: impl FnOnce(&mut Thread) -> R) -> Option<R> {
        if self.is_busy.swap(true, Ordering::Relaxed) {
            return None;
        }
        // What a handler sees is in order.
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.renew();
        let result = work(self);
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.is_busy.store(false, Ordering::Relaxed);
        Some(result)
    }

    /// In the child of a fork: what is remembered is its parent's.
    fn renew(&mut self) {
        let process = process();
        if self.process == process {
            return;
        }
        // It is not closed: a child that has closed what it inherited may have a file of its own under that number.
        self.schedstat = NONE;
        // Its memory is not there.
        self.ring = None;
        self.has_tried_ring = false;
        self.counters.forget();
        self.process = process;
        self.kernel_id = kernel_id();
        self.checkpoints = [None; REMEMBERED as usize];
        self.number += REMEMBERED;
        self.due = 0;
    }

    /// Whether the last checkpoint is of this process.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.process == process()
    }

    /// Takes a checkpoint, and says when the next is due.
    pub(super) fn check(&mut self) {
        let began = Clock::Tsc.ticks();
        let accounts = Accounts::take(self.descriptor());
        self.number += 1;
        self.checkpoints[(self.number % REMEMBERED) as usize] = accounts;
        self.counters.check(self.number);
        let now = Clock::Tsc.ticks();
        // What an interruption takes is not the checkpoint's own.
        let cost = now.saturating_sub(began).min(ticks_of(20_000));
        self.interval = (self.interval - self.interval / 8 + cost * PART / 8).max(ticks_of(INTERVAL_NANOS));
        self.due = now + self.interval;
    }

    /// What became of the time since a checkpoint, and between these ticks.
    pub(super) fn evidence(&mut self, checkpoint: u64, begin: u64, end: u64) -> Evidence {
        if checkpoint == 0 || checkpoint > self.number || self.number - checkpoint >= REMEMBERED {
            return Evidence::none(Missing::Overwritten);
        }
        let Some(before) = self.checkpoints[(checkpoint % REMEMBERED) as usize] else {
            return Evidence::none(Missing::Unsupported);
        };
        let Some(now) = Accounts::take(self.descriptor()) else {
            return Evidence::none(Missing::Contradictory);
        };
        let mut evidence = now.since(&before);
        if evidence.known != 0 {
            self.ask_ring(begin, end, &mut evidence);
            self.counters.tell(checkpoint, &mut evidence);
        }
        evidence
    }

    /// What the kernel has written down of the switches and faults between these ticks.
    fn ask_ring(&self, begin: u64, end: u64, evidence: &mut Evidence) {
        let (Some(ring), Some(bracket)) = (&self.ring, Bracket::take()) else { return };
        let (from, to) = (bracket.raw(begin), bracket.raw(end));
        // What cannot be placed within a hundredth of it is not known better by this.
        if (from.error + to.error) * 100 > Clock::Tsc.convert(end.saturating_sub(begin), Unit::Nanos) {
            return;
        }
        let window = ring.window(from.at, to.at);
        if !window.complete {
            return;
        }
        evidence.known |= KNOWN_RING;
        (evidence.off_nanos, evidence.preempted_nanos) = (window.off_nanos, window.preempted_nanos);
        let Some(faults) = window.faults else { return };
        // Those that the ring has no room for any more may have been quite different ones, and the latest do not stand for them: ten times the
        // work that ends with a few huge pages would be said to be page faults. The same holds for those inside system calls, which it does
        // not see. A few that are missing do no harm.
        if !faults.complete || u64::from(faults.timed) * 10 < evidence.faults() * 9 {
            return;
        }
        evidence.fault_nanos = faults.nanos.saturating_sub(faults.off_nanos);
        evidence.known |= KNOWN_FAULT_TIMES;
    }

    /// Has the kernel write down the thread's switches, and page faults, from now on, where it may, and for so many threads.
    pub(super) fn open_ring(&mut self, most: u32, has_faults: bool) {
        if self.has_tried_ring {
            return;
        }
        self.has_tried_ring = true;
        let most = most as usize;
        let with_faults = has_faults.then(|| Ring::with_faults(Kernel, most).ok()).flatten();
        self.ring = with_faults.or_else(|| Ring::open(Kernel, most).ok());
    }

    /// Counts what the thread executes from now on, where it may, and for so many threads.
    pub(super) fn open_counters(&mut self, most: u32) -> Result<()> {
        if self.counters.open(REMEMBERED as usize, most)? {
            // What was checked before does not have them.
            self.due = 0;
        }
        Ok(())
    }

    /// Takes a checkpoint for a control that begins, where there are counters: what it executes is known of nothing but the control.
    pub(super) fn check_control(&mut self) {
        if self.counters.are_open() {
            self.check();
        }
    }

    /// Whether one more slow observation may be looked into in this second.
    pub(super) fn may_look_into(&mut self, now: u64, rate: u32) -> bool {
        if now.saturating_sub(self.second) > Clock::Tsc.frequency() {
            self.second = now;
            self.looked_into = 0;
        }
        self.looked_into = self.looked_into.saturating_add(1);
        self.looked_into <= rate
    }

    fn descriptor(&self) -> Option<i32> {
        (self.schedstat >= 0).then_some(self.schedstat)
    }

    /// Opens the file with the thread's accounts of the run queue, if no more than `most` are open. Whether it is.
    pub(super) fn open(&mut self, most: u32) -> bool {
        if self.schedstat != NONE {
            return self.schedstat >= 0;
        }
        // A child's threads have none of their parent's.
        if OPENED_BY.swap(self.process, Ordering::Relaxed) != self.process {
            OPEN.store(0, Ordering::Relaxed);
        }
        if OPEN.fetch_add(1, Ordering::Relaxed) >= most {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        // SAFETY: the name ends in NUL. By number, as the C library's is a cancellation point.
        let opened = unsafe {
            libc::syscall(
                libc::SYS_openat,
                libc::AT_FDCWD,
                c"/proc/thread-self/schedstat".as_ptr(),
                libc::O_RDONLY | libc::O_CLOEXEC,
            )
        };
        self.schedstat = i32::try_from(opened).ok().filter(|&descriptor| descriptor >= 0).unwrap_or(REFUSED);
        if self.schedstat == REFUSED {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        // What was checked before does not have it.
        self.due = 0;
        true
    }

    fn close(&mut self) {
        if self.schedstat >= 0 && self.is_of_this_process() {
            // SAFETY: opened by this thread, which gives it up. (A child of a fork has a copy, which is its own to close.)
            unsafe { libc::syscall(libc::SYS_close, self.schedstat) };
            self.schedstat = NONE;
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
