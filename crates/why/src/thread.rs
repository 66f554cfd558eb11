//! Data of each thread: its checkpoints, and the sources of its accounts.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::cell::Cell;

use super::accounts::{Accounts, Schedstat};
use super::bracket::Bracket;
use super::checkpoints::Checkpoints;
use super::count::{Count, Counted};
use super::counters::ThreadCounters;
use super::exemplar::{Evidence, KNOWN_FAULT_TIMES, KNOWN_RING, Missing};
use super::ring::Ring;
use picollo_native::Result;
use picollo_native::seam::sys::Kernel;
use picollo_native::seam::thread::{kernel_id, process};
use picollo_native::seam::vectors::with_room;
use picollo_native::{Clock, TimeUnit};

/// A checkpoint is taken if the last one is older than this.
const INTERVAL_NANOS: u64 = 100_000;
/// Checkpoints take at most one part in this many of a thread's time. Cold caches and predictors afterwards cost as
/// much again in experiments, 1 % in total. On a slow machine, checkpoints are about a quarter of a millisecond apart.
const PART: u64 = 200;

/// Number of threads that have descriptors, rings or counters.
static WATCHED: Count = Count::new();

/// First number of checkpoints for the next thread. Threads never share numbers: the memory of a dead thread may be
/// reused, and a scope passed to the new thread must not find its number there.
static FIRST: AtomicU64 = AtomicU64::new(OF_EACH);
/// Numbers per thread: enough for 10,000 checkpoints per second during three years.
const OF_EACH: u64 = 1 << 40;

unsafe extern "C" {
    fn picollo_asm_thread_account() -> *mut c_void;
    fn picollo_asm_set_thread_account(thread: *mut c_void);
}

/// Data of a thread, used only by the thread itself.
#[derive(Debug)]
pub(super) struct Thread {
    /// In ticks: when the next checkpoint is due. This is the first field because each scope reads it.
    pub due: u64,
    /// The number of the last checkpoint.
    pub number: u64,
    /// A scope is using this data: a scope in a signal handler must not interfere.
    is_busy: AtomicBool,
    process: u32,
    checkpoints: Box<Checkpoints<Accounts>>,
    /// Whether the last checkpoint has accounts.
    has_accounts: bool,
    schedstat: Option<Schedstat>,
    ring: Option<Ring>,
    /// Opening them is tried once.
    has_tried_schedstat: bool,
    has_tried_ring: bool,
    counters: ThreadCounters,
    /// Counts the thread while it has any of these. Fields drop in this order: the place of this thread is free when its
    /// descriptors are closed.
    counted: Option<Counted>,
    pub kernel_id: i32,
    interval: u64,
    /// The current second for limiting slow observations, in ticks, and the number of them.
    second: u64,
    examined: u32,
    /// Number of offered values.
    pub offered: u64,
}

/// Frees the data at the end of its thread.
struct Owner(Cell<*mut Thread>);

impl Drop for Owner {
    fn drop(&mut self) {
        let thread = self.0.get();
        if thread.is_null() {
            return;
        }
        // SAFETY: the data belongs to this thread, which ends; a scope in a later destructor finds NULL.
        unsafe {
            picollo_asm_set_thread_account(core::ptr::null_mut());
            drop(Box::from_raw(core::ptr::slice_from_raw_parts_mut(thread, 1)));
        }
    }
}

std::thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(core::ptr::null_mut())) };
}

/// Data of the calling thread; NULL before its first scope, and at its end.
#[inline(always)]
pub(super) fn current() -> *mut Thread {
    // SAFETY: reads a thread-local variable that C owns.
    unsafe { picollo_asm_thread_account().cast() }
}

/// The same, created if needed; NULL if the thread ends, or without memory.
#[cold]
pub(super) fn get_or_create() -> *mut Thread {
    let thread = current();
    if !thread.is_null() {
        return thread;
    }
    // The first access registers the destructor, which allocates a few words; glibc ends the process if it cannot.
    if !picollo_core::seam::is_at_hand() {
        return thread;
    }
    let thread = OWNER.try_with(|owner| {
        let thread = Thread::new().map_or(core::ptr::null_mut(), |thread| Box::into_raw(thread).cast());
        owner.0.set(thread);
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
    /// Creates the data of a thread. (`Box` would end the process without memory.)
    fn new() -> Option<Box<[Thread]>> {
        let mut thread = with_room(1).ok()?;
        thread.push(Thread {
            due: 0,
            // The first checkpoint's number is a multiple of [`OF_EACH`], so that all levels contain it.
            number: FIRST.fetch_add(OF_EACH, Ordering::Relaxed).wrapping_sub(1),
            is_busy: AtomicBool::new(false),
            process: process(),
            checkpoints: Checkpoints::new()?,
            has_accounts: false,
            schedstat: None,
            ring: None,
            has_tried_schedstat: false,
            has_tried_ring: false,
            counters: ThreadCounters::default(),
            counted: None,
            kernel_id: kernel_id(),
            interval: ticks_of(INTERVAL_NANOS),
            second: 0,
            examined: 0,
            offered: 0,
        });
        Some(thread.into_boxed_slice())
    }

    /// Runs `work` unless this is a signal handler that interrupted such work.
    pub(super) fn with<R>(&mut self, work: impl FnOnce(&mut Thread) -> R) -> Option<R> {
        if self.is_busy.swap(true, Ordering::Relaxed) {
            return None;
        }
        // A signal handler must see consistent data.
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.forget_parent();
        let result = work(self);
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        self.is_busy.store(false, Ordering::Relaxed);
        Some(result)
    }

    /// In a forked child, forgets the parent's data.
    fn forget_parent(&mut self) {
        let process = process();
        if self.process == process {
            return;
        }
        (self.counted, self.schedstat) = (None, None);
        // The child does not have its memory.
        self.ring = None;
        (self.has_tried_schedstat, self.has_tried_ring) = (false, false);
        self.counters.forget();
        self.process = process;
        self.kernel_id = kernel_id();
        self.number = self.checkpoints.clear(self.number);
        self.due = 0;
    }

    /// Whether the last checkpoint is of this process.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.process == process()
    }

    /// Takes a checkpoint and schedules the next.
    pub(super) fn check(&mut self) {
        let began = Clock::Tsc.ticks();
        let accounts = Accounts::read(self.schedstat.as_ref());
        self.number += 1;
        self.has_accounts = accounts.is_some();
        if let Some(accounts) = accounts {
            self.checkpoints.insert(self.number, accounts);
        }
        self.counters.check(self.number);
        let now = Clock::Tsc.ticks();
        // An interruption is not part of the checkpoint's cost.
        let cost = now.saturating_sub(began).min(ticks_of(20_000));
        self.interval = (self.interval - self.interval / 8 + cost * PART / 8).max(ticks_of(INTERVAL_NANOS));
        self.due = now + self.interval;
    }

    /// How the time since a checkpoint, and between these ticks, was spent.
    pub(super) fn evidence(&mut self, checkpoint: u64, begin: u64, end: u64) -> Evidence {
        let Some((checkpoint, before)) = self.checkpoints.before(checkpoint) else {
            let why = if self.has_accounts { Missing::Overwritten } else { Missing::Unsupported };
            return Evidence::none(why);
        };
        let Some(now) = Accounts::read(self.schedstat.as_ref()) else {
            return Evidence::none(Missing::Contradictory);
        };
        let mut evidence = now.since(before);
        if evidence.known != 0 {
            self.add_ring(begin, end, &mut evidence);
            self.counters.add_to(checkpoint, &mut evidence);
        }
        evidence
    }

    /// Adds the kernel's records of switches and faults between these ticks.
    fn add_ring(&self, begin: u64, end: u64, evidence: &mut Evidence) {
        let (Some(ring), Some(bracket)) = (&self.ring, Bracket::read()) else { return };
        let (from, to) = (bracket.raw(begin), bracket.raw(end));
        // If the error exceeds a hundredth of the observation, the ring adds no precision.
        if (from.error + to.error) * 100 > Clock::Tsc.convert(end.saturating_sub(begin), TimeUnit::Nanos) {
            return;
        }
        let window = ring.window(from.at, to.at);
        if !window.complete {
            return;
        }
        evidence.known |= KNOWN_RING;
        (evidence.off_nanos, evidence.preempted_nanos) = (window.off_nanos, window.preempted_nanos);
        let Some(faults) = window.faults else { return };
        // The faults that no longer fit in the ring may have been quite different from the latest ones. Otherwise, ten
        // times the work that ends with a few huge pages would be reported as page faults. The same holds for faults
        // inside system calls, which the ring does not show. A few missing ones do no harm.
        if !faults.complete || u64::from(faults.timed) * 10 < evidence.faults() * 9 {
            return;
        }
        evidence.fault_nanos = faults.nanos.saturating_sub(faults.off_nanos);
        evidence.known |= KNOWN_FAULT_TIMES;
    }

    /// Whether the thread may have descriptors, a ring and counters: `most` threads may.
    pub(super) fn is_watched(&mut self, most: u32) -> bool {
        self.counted = self.counted.take().or_else(|| WATCHED.add(most as usize));
        self.counted.is_some()
    }

    /// Starts the kernel's records of the thread's switches and page faults, if allowed.
    pub(super) fn open_ring(&mut self, has_faults: bool) {
        if !core::mem::replace(&mut self.has_tried_ring, true) {
            self.ring = Ring::open_possible(Kernel, has_faults).ok();
        }
    }

    /// Starts counting what the thread executes, if allowed.
    pub(super) fn open_counters(&mut self) -> Result<()> {
        if self.counters.open()? {
            // Earlier checkpoints do not have them.
            self.due = 0;
        }
        Ok(())
    }

    /// Takes a checkpoint when a control begins, if there are counters, so that the counts cover only the control.
    pub(super) fn check_control(&mut self) {
        if self.counters.are_open() {
            self.check();
        }
    }

    /// Whether one more slow observation may be examined in this second.
    pub(super) fn may_examine(&mut self, now: u64, rate: u32) -> bool {
        if now.saturating_sub(self.second) > Clock::Tsc.frequency() {
            self.second = now;
            self.examined = 0;
        }
        self.examined = self.examined.saturating_add(1);
        self.examined <= rate
    }

    /// Opens the file with the thread's run-queue accounts. Returns whether it is open.
    pub(super) fn open_schedstat(&mut self) -> bool {
        if !core::mem::replace(&mut self.has_tried_schedstat, true) {
            self.schedstat = Schedstat::open();
            // Earlier checkpoints do not have it.
            self.due = 0;
        }
        self.schedstat.is_some()
    }
}
