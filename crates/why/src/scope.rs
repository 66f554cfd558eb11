//! The path of an observation: a scope that begins and ends, or a value that was timed elsewhere.
//!
//! A scope that is not slow costs two readings of the clock, a record, and four comparisons. It compares its beginning
//! with the due times of a checkpoint and a control, its duration with a threshold, and its end with the due time of one
//! kept for its octave. Other code is cold. It does not wait for other threads; only a thread's first scope allocates.

use core::ffi::c_void;
use core::sync::atomic::Ordering;

use picollo_core::seam::Refused;

use super::collector::{EXEMPLARS_COUNTERS, EXEMPLARS_FAULT_TIMES, EXEMPLARS_NO_RING, Inner, forked};
use super::exemplar::{Context, Evidence, Exemplar, Missing, NO_CPU};
use super::kept::random_below;
use super::thread::{self, Thread, ticks_of};
use super::waiting::Pending;
use picollo_native::Result;
use picollo_native::Uncancelled;
use picollo_native::seam::failure;
use picollo_native::seam::thread::process;
use picollo_native::{Clock, TimeUnit, unix_nanos};

/// One of this many offered values is kept for its octave.
const OFFERED: u64 = 1024;
/// Approximate number of controls in each doubling of the collector's age, until they reach the rate in the options.
const EARLY: u64 = 12;
/// Nanoseconds between two scopes that are kept for their octaves.
const OCTAVE_NANOS: u64 = 10_000_000;
/// Upper limit of the number of scopes to skip when a control is due, see [`Inner::control_passes`].
const PASSES: u64 = 16;

/// A running measurement. It may be copied, because the library keeps no pointer to it. Its fields are private to the
/// library, except label and, for event loops, thread. Same layout as `picollo_exemplar_scope` in C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawScope {
    /// Ticks at the beginning.
    pub start: u64,
    /// Ticks after which it is kept for its octave; 0 for a control.
    pub due: u64,
    /// The thread's checkpoint at the beginning.
    pub checkpoint: u64,
    /// Number of the exemplar that it became; 0: it became none.
    pub number: u64,
    /// 0.
    pub reserved: [u64; 3],
    /// The thread on which it began. Set it to NULL if others work on this thread until the end, as in event loops.
    /// Then the thread's work is not attributed to this observation.
    pub thread: *mut c_void,
    /// Its collector; NULL once it has ended.
    pub exemplars: *mut c_void,
    /// Kind of the observation, which the caller sets before the end; 0 at the beginning. Each of up to 16 kinds has
    /// its own usual values.
    pub label: u32,
    /// Whether it is a control.
    pub is_control: u32,
}

/// Measures the time from its creation to its end.
#[derive(Debug)]
pub struct ExemplarScope<'a> {
    pub(super) collector: &'a Inner,
    pub(super) raw: RawScope,
}

impl ExemplarScope<'_> {
    /// Sets the kind of the scope. Each kind has its own usual values.
    pub fn set_label(&mut self, label: u32) {
        self.raw.label = label;
    }

    /// Ends the scope, records its duration, and returns whether it is kept. Looking up a context for
    /// [`ExemplarScope::annotate`] is only worthwhile then.
    #[inline]
    pub fn end(&mut self) -> bool {
        // SAFETY: the scope was begun by this collector.
        unsafe { self.collector.end(&raw mut self.raw) != 0 }
    }

    /// Adds the context of the request. Returns whether the observation is still kept.
    pub fn annotate(&self, context: &Context) -> Result<bool> {
        self.collector.annotate(self.raw.number, context)
    }
}

impl Inner {
    /// Begins a scope.
    ///
    /// # Safety
    /// `out` must be valid for a write.
    #[inline]
    pub unsafe fn begin(&self, out: *mut RawScope) {
        let thread = thread::current();
        let start = Clock::Tsc.ticks();
        // SAFETY: not NULL, and of this thread.
        let is_due = thread.is_null() || start >= unsafe { (*thread).due };
        let scope = RawScope {
            start,
            due: self.octave_due.load(Ordering::Relaxed),
            // SAFETY: as above, if it is read.
            checkpoint: if is_due { 0 } else { unsafe { (*thread).number } },
            number: 0,
            reserved: [0; 3],
            thread: thread.cast(),
            exemplars: core::ptr::from_ref(self).cast_mut().cast(),
            label: 0,
            is_control: 0,
        };
        // SAFETY: the caller's promise.
        unsafe { out.write(scope) };
        if is_due || start >= self.control_due.load(Ordering::Relaxed) {
            // SAFETY: just written.
            self.begin_slowly(unsafe { &mut *out });
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_slowly(&self, scope: &mut RawScope) {
        let _uncancelled = Uncancelled::new();
        let thread = thread::get_or_create();
        scope.thread = thread.cast();
        // SAFETY: NULL, or the data of this thread.
        if let Some(thread) = unsafe { thread.as_mut() } {
            thread.with(|thread| {
                if scope.start >= thread.due {
                    thread.check();
                }
                scope.checkpoint = thread.number;
            });
        }
        let due = self.control_due.load(Ordering::Relaxed);
        // The interval is shorter at first, so that short programs get usual values, too.
        let mean = (Clock::Tsc.frequency() / u64::from(self.options.controls))
            .min(scope.start.saturating_sub(self.created) / EARLY);
        let passes = self.control_passes.load(Ordering::Relaxed);
        // If scopes are rare, each that is due is a control.
        if scope.start >= due && scope.start - due < mean && passes > 0 {
            self.control_passes.store(passes - 1, Ordering::Relaxed);
        } else if scope.start >= due {
            // Uniform between zero and twice the mean.
            let next = scope.start + 1 + self.random_below(2 * mean);
            if self.control_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.control_passes.store(self.random_below(PASSES), Ordering::Relaxed);
                scope.is_control = 1;
                scope.due = 0;
                // SAFETY: as above.
                if let Some(thread) = unsafe { thread.as_mut() } {
                    thread.with(|thread| {
                        thread.check_control();
                        scope.checkpoint = thread.number;
                    });
                }
            }
        }
        scope.start = Clock::Tsc.ticks();
    }

    /// Concurrent threads may draw the same number.
    fn random_below(&self, end: u64) -> u64 {
        let mut random = self.random.load(Ordering::Relaxed);
        let drawn = random_below(&mut random, end);
        self.random.store(random, Ordering::Relaxed);
        drawn
    }

    /// Ends a scope. Returns 1 if it is kept, 0 otherwise.
    ///
    /// # Safety
    /// This collector must have begun it. It may have ended before.
    #[inline]
    pub unsafe fn end(&self, scope: *mut RawScope) -> u32 {
        let now = Clock::Tsc.ticks();
        // SAFETY: the caller's promise.
        let scope = unsafe { &mut *scope };
        if scope.exemplars.is_null() {
            return 0;
        }
        scope.exemplars = core::ptr::null_mut();
        let elapsed = now.saturating_sub(scope.start);
        let value = Clock::Tsc.convert(elapsed, self.unit);
        self.histogram.record(value);
        if elapsed > self.threshold.load(Ordering::Relaxed) || now >= scope.due {
            return self.end_slowly(scope, now, elapsed, value);
        }
        0
    }

    #[cold]
    #[inline(never)]
    fn end_slowly(&self, scope: &mut RawScope, now: u64, elapsed: u64, value: u64) -> u32 {
        let _uncancelled = Uncancelled::new();
        let is_slow = value > self.slow.load(Ordering::Relaxed);
        let is_for_octave = now >= scope.due && self.take_octave(now);
        // A caller clears this if others worked on this thread meanwhile.
        let is_elsewhere = scope.thread.is_null();
        let is_control = scope.is_control != 0 && !is_slow && !is_elsewhere;
        // Another thread may have raised the limit meanwhile.
        if !is_slow && !is_for_octave && !is_control && value <= self.least.load(Ordering::Relaxed) {
            return 0;
        }
        let thread = thread::get_or_create();
        let begun_on = scope.thread.cast::<Thread>();
        // SAFETY: NULL, or the data of this thread.
        let evidence = unsafe { thread.as_mut() }.and_then(|thread| {
            if !thread.is_of_this_process() {
                return Some(Evidence::none(Missing::Forked));
            }
            thread.with(|thread| {
                if is_elsewhere {
                    return Evidence::none(Missing::TimedElsewhere);
                }
                if !core::ptr::eq(begun_on, thread) {
                    return Evidence::none(Missing::OtherThread);
                }
                if !thread.may_examine(now, self.options.rate) {
                    return Evidence::none(Missing::TooMany);
                }
                let evidence = thread.evidence(scope.checkpoint, scope.start, now);
                self.open(thread);
                evidence
            })
        });
        let evidence = evidence.unwrap_or(Evidence::none(Missing::Unsupported));
        // With so many slow ones, those neither among the slowest nor the latest of their octave are only counted.
        if evidence.missing == Missing::TooMany
            && !is_for_octave
            && value <= self.least_slowest.load(Ordering::Relaxed)
        {
            return 0;
        }
        let wall_nanos = Clock::Tsc.convert(elapsed, TimeUnit::Nanos);
        // SAFETY: as above.
        let mut exemplar = self.exemplar(value, wall_nanos, unsafe { thread.as_ref() }, evidence);
        (exemplar.cpu, exemplar.label) = (current_cpu(), scope.label);
        let first = thread.addr() as u64 >> 8;
        let is_kept =
            self.submit(&mut exemplar, [is_slow, is_for_octave, is_control], Some([scope.start, now]), first);
        if is_kept {
            scope.number = exemplar.number;
        }
        is_kept.into()
    }

    /// An exemplar that ends now, on this thread.
    fn exemplar(&self, value: u64, wall_nanos: u64, thread: Option<&Thread>, evidence: Evidence) -> Exemplar {
        Exemplar {
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            value,
            wall_nanos,
            unix_nanos: unix_nanos().saturating_sub(wall_nanos),
            thread: thread.map_or(0, |thread| thread.kernel_id),
            cpu: NO_CPU,
            label: 0,
            context: Context::default(),
            evidence,
        }
    }

    /// Opens more sources of evidence about the thread from now on. Returns whether its waiting can be split.
    pub(super) fn open(&self, thread: &mut Thread) -> bool {
        let is_watched = thread.is_watched(self.options.threads);
        if is_watched && self.options.flags & EXEMPLARS_NO_RING == 0 {
            thread.open_ring(self.options.flags & EXEMPLARS_FAULT_TIMES != 0);
        }
        let _ = self.open_counters(thread);
        is_watched && thread.open_schedstat()
    }

    /// Starts counting what the thread executes, if requested. The interval reports the error, too.
    pub(super) fn open_counters(&self, thread: &mut Thread) -> Result<()> {
        if self.options.flags & EXEMPLARS_COUNTERS == 0 {
            return self.uncounted.try_with(|why| *why).ok().flatten().map_or(Ok(()), Err);
        }
        let opened = match thread.is_watched(self.options.threads) {
            true => thread.open_counters(),
            false => Err(failure!(Busy, "as many threads as wanted have counters open")),
        };
        if let Err(refused) = opened {
            let _ = self.uncounted.try_with(|why| *why = Some(refused));
        }
        opened
    }

    /// Whether the caller is the one that is kept for its octave.
    fn take_octave(&self, now: u64) -> bool {
        let due = self.octave_due.load(Ordering::Relaxed);
        let next = now.saturating_add(ticks_of(OCTAVE_NANOS));
        now >= due
            && self.octave_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Takes in an observation, or leaves it in a place to wait.
    fn submit(
        &self,
        exemplar: &mut Exemplar,
        [is_slow, is_for_octave, is_control]: [bool; 3],
        span: Option<[u64; 2]>,
        first: u64,
    ) -> bool {
        let taken = self.shared.try_with(|shared| {
            self.take_pending(shared, span.is_some());
            if let Some(span) = span {
                shared.add_quota(exemplar, span);
            }
            if is_control {
                shared.usual.add(exemplar);
            }
            let is_kept = shared.kept.offer(exemplar, is_slow, is_for_octave);
            self.set_least(shared.kept.least().unwrap_or(0));
            is_kept
        });
        match taken {
            Ok(is_kept) => is_kept,
            Err(_) if !is_slow && !is_for_octave && exemplar.value <= self.least.load(Ordering::Relaxed) => {
                false
            }
            Err(Refused::Busy) => self.places.keep(
                &Pending { exemplar: *exemplar, is_slow, is_for_octave, span, process: process() },
                first,
            ),
            Err(Refused::Forked) => false,
        }
    }

    /// See [`offer`](crate::Collector::offer).
    pub fn offer(&self, value: u64, context: Option<&Context>) -> bool {
        self.histogram.record(value);
        let thread = thread::get_or_create();
        // SAFETY: NULL, or the data of this thread.
        let is_for_octave = unsafe { thread.as_mut() }.is_some_and(|thread| {
            thread.offered = thread.offered.wrapping_add(1);
            thread.offered % OFFERED == 1
        });
        if value <= self.least.load(Ordering::Relaxed) && !is_for_octave {
            return false;
        }
        let is_slow = value > self.slow.load(Ordering::Relaxed);
        let wall_nanos = match self.unit.per_second() {
            None => Clock::Tsc.convert(value, TimeUnit::Nanos),
            Some(per_second) => (u128::from(value) * 1_000_000_000 / u128::from(per_second)) as u64,
        };
        let evidence = Evidence::none(Missing::TimedElsewhere);
        // SAFETY: as above.
        let mut exemplar = self.exemplar(value, wall_nanos, unsafe { thread.as_ref() }, evidence);
        exemplar.context = context.copied().unwrap_or_default();
        self.submit(&mut exemplar, [is_slow, is_for_octave, false], None, thread.addr() as u64 >> 8)
    }

    /// See [`ExemplarScope::annotate`]. It waits for a thread that uses the kept observations.
    pub fn annotate(&self, number: u64, context: &Context) -> Result<bool> {
        if number == 0 {
            return Ok(false);
        }
        let is_pending = self.places.change(number, |exemplar| exemplar.context = *context);
        if is_pending {
            return Ok(true);
        }
        self.shared.with(|shared| shared.kept.annotate(number, context)).ok_or_else(forked)
    }
}

/// The CPU of the calling thread.
fn current_cpu() -> u32 {
    // SAFETY: a query without arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(NO_CPU)
}
