//! Collectors: where observations are handed in, and intervals end.
//!
//! A scope that is not slow costs two readings of the clock, a record, and four comparisons: of its beginning with the times at which a
//! checkpoint and a control are due, of its length with a threshold, and of its end with the time at which one is kept for its octave. All
//! else is cold: it neither waits for other threads nor allocates, but for a thread's first scope.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use picollo_core::{SharedHistogram, Since, Snapshot, ValueSelection};

use super::evidence::{Evidence, KNOWN_QUOTA, Missing};
use super::exemplar::{Context, Exemplar, NO_CPU};
use super::interval::{Counted, Interval};
use super::kept::Kept;
use super::options::{EXEMPLARS_FAULT_TIMES, EXEMPLARS_NO_RING, ExemplarOptions, MAX_SLOWEST};
use super::quota::Quota;
use super::thread::{self, Thread, ticks_of};
use super::usual::Usual;
use super::waiting::{Pending, Places, Refused, TryLock};
use crate::base::error::{Error, Result, Status};
use crate::clock::{Clock, Unit, unix_nanos};
use crate::os::cancel::Uncancelled;
use crate::os::thread::process;

/// Values that are offered between two that are kept for their octaves.
const OFFERED: u64 = 1024;
/// Controls in each doubling of the time since the collector was made, more or less, until there are as many as the options say.
const EARLY: u64 = 12;
/// Nanoseconds between two scopes that are kept for their octaves.
const OCTAVE_NANOS: u64 = 10_000_000;
/// Fewer scopes than these pass between the time when a control is due and the control, see [`Inner::control_passes`].
const PASSES: u64 = 16;

/// A scope under way. Its layout is that of `picollo_exemplar_scope`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawScope {
    /// Ticks at the beginning.
    pub start: u64,
    /// Ticks that are not slow yet.
    pub threshold: u64,
    /// Ticks from which on one is kept for its octave.
    pub due: u64,
    /// The thread's checkpoint at the beginning.
    pub checkpoint: u64,
    /// Of the exemplar that it became; 0 while it is none.
    pub number: u64,
    /// 0.
    pub reserved: [u64; 2],
    /// What is kept of the thread that it began on.
    pub thread: *mut core::ffi::c_void,
    /// Its collector; NULL once it has ended.
    pub collector: *mut core::ffi::c_void,
    /// Of which kind it is.
    pub label: u32,
    /// Whether it is a control.
    pub is_control: u32,
}

/// What one thread at a time works on.
#[derive(Debug)]
struct Shared {
    kept: Kept,
    usual: Usual,
    began_unix_nanos: u64,
    /// Of the process that it was last used in.
    process: u64,
    quota: Quota,
}

/// What reads the counts at an interval's end.
#[derive(Debug)]
struct Counts {
    snapshot: Box<Snapshot>,
    ended: Option<Arc<Interval>>,
}

/// Collects observations of one histogram. A counted reference.
#[derive(Clone, Debug)]
pub struct Collector(Arc<Inner>);

/// What is behind it.
#[derive(Debug)]
pub struct Inner {
    /// In ticks: of scopes that begin now.
    threshold: AtomicU64,
    octave_due: AtomicU64,
    control_due: AtomicU64,
    /// How many scopes are let pass when a control is due, at random. Due times pass while long scopes last, so that the very next one is
    /// what comes after a long one: in an order that repeats itself always of the same kind.
    control_passes: AtomicU64,
    histogram: SharedHistogram,
    unit: Unit,
    /// In units of values: above it a value is slow; `u64::MAX` while that is not known.
    slow: AtomicU64,
    /// In units of values: the lesser of that and the least of the slowest.
    least: AtomicU64,
    options: ExemplarOptions,
    /// In ticks.
    created: u64,
    numbers: AtomicU64,
    random: AtomicU64,
    places: Places,
    shared: TryLock<Shared>,
    counts: TryLock<Counts>,
}

// SAFETY: all of it is atomic or behind locks.
unsafe impl Sync for Inner {}
// SAFETY: it has nothing of a thread's own.
unsafe impl Send for Inner {}

impl Collector {
    /// A collector for a histogram, which scopes and [`Collector::offer`] record into as well.
    ///
    /// `InvalidArgument` for options out of range, `Unsupported` for unknown flags, `OutOfMemory`.
    pub fn create(histogram: &SharedHistogram, options: &ExemplarOptions) -> Result<Collector> {
        let mut options = *options;
        let unit = options.unit.unwrap_or(Unit::Nanos);
        if options.flags & !(EXEMPLARS_NO_RING | EXEMPLARS_FAULT_TIMES) != 0 {
            return Err(Error::new(Status::Unsupported, format_args!("unknown flags of exemplars")));
        }
        if options.slowest.is_some_and(|slowest| slowest > MAX_SLOWEST) || options.controls > 1_000_000 {
            return Err(Error::new(
                Status::InvalidArgument,
                format_args!(
                    "at most {MAX_SLOWEST} of the slowest are kept, and 1,000,000 controls a second"
                ),
            ));
        }
        let or = |number: &mut u32, default| *number = if *number == 0 { default } else { *number };
        or(&mut options.threads, 64);
        or(&mut options.rate, 1000);
        or(&mut options.controls, 20);
        let slowest = *options.slowest.get_or_insert(16);
        Clock::init();
        let no_memory = || Error::from(Status::OutOfMemory);
        let now = Clock::Tsc.ticks();
        let slow = match options.threshold {
            0 => u64::MAX,
            threshold => end_of_bucket(histogram, threshold),
        };
        let mut snapshot = Snapshot::boxed(*histogram.layout())?;
        histogram.update(&mut snapshot, Since::PreviousUpdate)?;
        let shared = Shared {
            kept: Kept::new(slowest as usize, now)?,
            usual: Usual::new().ok_or_else(no_memory)?,
            began_unix_nanos: unix_nanos(),
            process: process(),
            quota: Quota::open(),
        };
        let inner = Inner {
            threshold: AtomicU64::new(0),
            octave_due: AtomicU64::new(now),
            control_due: AtomicU64::new(now),
            control_passes: AtomicU64::new(0),
            histogram: histogram.clone(),
            unit,
            slow: AtomicU64::new(slow),
            least: AtomicU64::new(0),
            options,
            created: now,
            numbers: AtomicU64::new(1),
            random: AtomicU64::new(now | 1),
            places: Places::new(),
            shared: TryLock::new(shared),
            counts: TryLock::new(Counts { snapshot, ended: None }),
        };
        let collector = Collector(Arc::new(inner));
        collector.0.set_least(shared_least(slowest));
        Ok(collector)
    }

    /// Begins to measure.
    #[inline]
    pub fn scope(&self) -> ExemplarScope<'_> {
        let mut raw = core::mem::MaybeUninit::uninit();
        // SAFETY: memory for a scope.
        let raw = unsafe {
            self.0.begin(raw.as_mut_ptr());
            raw.assume_init()
        };
        ExemplarScope { collector: &self.0, raw }
    }

    /// Records a value that was timed elsewhere, and keeps it if it is slow. There is no evidence of what its thread did.
    pub fn offer(&self, value: u64, context: Option<&Context>) -> bool {
        self.0.offer(value, context)
    }

    /// What C calls.
    pub fn inner(&self) -> &Inner {
        &self.0
    }

    /// Makes ready what the calling thread's first slow observation would make: the descriptor of its accounts.
    pub fn prepare_thread(&self) -> Result<()> {
        let thread = thread::made();
        // SAFETY: NULL, or what is kept of this thread.
        let opened = unsafe { thread.as_mut() }.and_then(|thread| {
            thread.with(|thread| {
                let is_open = thread.open(self.0.options.threads);
                thread.check();
                is_open
            })
        });
        match opened {
            Some(true) => Ok(()),
            Some(false) => Err(Error::new(
                Status::Unsupported,
                format_args!(
                    "/proc/thread-self/schedstat cannot be read, or as many threads as wanted have it open: what this \
                     thread waits for itself and what it waits for a CPU is not told apart"
                ),
            )),
            None => Err(Status::OutOfMemory.into()),
        }
    }

    /// Ends the interval, and begins the next one. Of the one that ended [`Collector::ended`] tells.
    ///
    /// `OutOfMemory`, and nothing has changed; `Forked` in the child of a fork in whose parent another thread was at work on the collector.
    pub fn collect(&self) -> Result<Arc<Interval>> {
        self.0.collect()
    }

    /// The interval that was ended last; `None` before the first.
    pub fn ended(&self) -> Result<Option<Arc<Interval>>> {
        self.0.counts.with(|counts| counts.ended.clone()).map_err(refused)
    }

    /// The histogram that is recorded into.
    pub fn histogram(&self) -> &SharedHistogram {
        &self.0.histogram
    }

    /// The reference as a pointer, which stands for it.
    pub fn into_raw(self) -> *const Inner {
        Arc::into_raw(self.0)
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// From [`Collector::into_raw`], once for each call.
    pub unsafe fn from_raw(raw: *const Inner) -> Collector {
        // SAFETY: the caller's promise.
        Collector(unsafe { Arc::from_raw(raw) })
    }
}

/// Measures the time from its making to its end.
#[derive(Debug)]
pub struct ExemplarScope<'a> {
    collector: &'a Inner,
    raw: RawScope,
}

impl ExemplarScope<'_> {
    /// Of another kind than others: what is usual is told of each kind.
    pub fn set_label(&mut self, label: u32) {
        self.raw.label = label;
    }

    /// Ends it, records how long it took, and tells whether it is kept: only then looking up a context for [`ExemplarScope::annotate`] is
    /// worth it.
    #[inline]
    pub fn end(&mut self) -> bool {
        // SAFETY: begun, of this collector.
        unsafe { self.collector.end(&raw mut self.raw) != 0 }
    }

    /// Says what leads to the request. Whether it is still kept.
    pub fn annotate(&self, context: &Context) -> Result<bool> {
        self.collector.annotate(self.raw.number, context)
    }
}

fn refused(why: Refused) -> Error {
    match why {
        Refused::Forked => Error::new(
            Status::Forked,
            format_args!("this process was forked while another thread was at work on the collector"),
        ),
        Refused::Busy => Status::Busy.into(),
    }
}

fn shared_least(slowest: u32) -> u64 {
    if slowest == 0 { u64::MAX } else { 0 }
}

/// What is counted above a value begins with the next bucket.
fn end_of_bucket(histogram: &SharedHistogram, value: u64) -> u64 {
    let layout = histogram.layout();
    layout.bucket_of(value).map_or(value, |bucket| bucket.upper)
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
            threshold: self.threshold.load(Ordering::Relaxed),
            due: self.octave_due.load(Ordering::Relaxed),
            // SAFETY: as above, where it is read.
            checkpoint: if is_due { 0 } else { unsafe { (*thread).number } },
            number: 0,
            reserved: [0; 2],
            thread: thread.cast(),
            collector: core::ptr::from_ref(self).cast_mut().cast(),
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
        let thread = thread::made();
        scope.thread = thread.cast();
        // SAFETY: NULL, or what is kept of this thread.
        if let Some(thread) = unsafe { thread.as_mut() } {
            thread.with(|thread| {
                if scope.start >= thread.due {
                    thread.check();
                }
                scope.checkpoint = thread.number;
            });
        }
        let due = self.control_due.load(Ordering::Relaxed);
        // Shorter at first, so that a program that soon ends knows what is usual as well.
        let mean = (Clock::Tsc.frequency() / u64::from(self.options.controls))
            .min(scope.start.saturating_sub(self.created) / EARLY);
        let passes = self.control_passes.load(Ordering::Relaxed);
        // Where scopes are few, each that is due is a control.
        if scope.start >= due && scope.start - due < mean && passes > 0 {
            self.control_passes.store(passes - 1, Ordering::Relaxed);
        } else if scope.start >= due {
            // Uniform, from none to twice the mean.
            let next = scope.start + 1 + self.random_below(2 * mean);
            if self.control_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.control_passes.store(self.random_below(PASSES), Ordering::Relaxed);
                scope.is_control = 1;
                scope.threshold = 0;
            }
        }
        scope.start = Clock::Tsc.ticks();
    }

    /// xorshift64* (Vigna). Threads that come at once may draw the same.
    fn random_below(&self, end: u64) -> u64 {
        let mut random = self.random.load(Ordering::Relaxed);
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        self.random.store(random, Ordering::Relaxed);
        ((u128::from(random.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(end)) >> 64) as u64
    }

    /// Ends a scope: 1 if it is kept, 0 otherwise.
    ///
    /// # Safety
    /// Begun, by this collector. It may have ended before.
    #[inline]
    pub unsafe fn end(&self, scope: *mut RawScope) -> u32 {
        let now = Clock::Tsc.ticks();
        // SAFETY: the caller's promise.
        let scope = unsafe { &mut *scope };
        if scope.collector.is_null() {
            return 0;
        }
        scope.collector = core::ptr::null_mut();
        let elapsed = now.saturating_sub(scope.start);
        let value = Clock::Tsc.convert(elapsed, self.unit);
        self.histogram.record(value);
        if elapsed > scope.threshold || now >= scope.due {
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
        // Whoever has cleared it says that others worked on this thread meanwhile.
        let is_elsewhere = scope.thread.is_null();
        let is_control = scope.is_control != 0 && !is_slow && !is_elsewhere;
        // The scope's threshold may be of an earlier time, or a control's.
        if !is_slow && !is_for_octave && !is_control && value <= self.least.load(Ordering::Relaxed) {
            return 0;
        }
        let thread = thread::made();
        let begun_on = scope.thread.cast::<Thread>();
        // SAFETY: NULL, or what is kept of this thread.
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
                if !thread.may_look_into(now, self.options.rate) {
                    return Evidence::none(Missing::TooMany);
                }
                let evidence = thread.evidence(scope.checkpoint, scope.start, now);
                self.open(thread);
                evidence
            })
        });
        let evidence = evidence.unwrap_or(Evidence::none(Missing::Unsupported));
        let wall_nanos = Clock::Tsc.convert(elapsed, Unit::Nanos);
        let mut exemplar = Exemplar {
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            value,
            wall_nanos,
            unix_nanos: unix_nanos().saturating_sub(wall_nanos),
            // SAFETY: as above.
            thread: unsafe { thread.as_ref() }.map_or(0, |thread| thread.kernel_id),
            cpu: current_cpu(),
            label: scope.label,
            context: Context::default(),
            evidence,
        };
        let first = thread.addr() as u64 >> 8;
        let is_kept =
            self.hand_in(&mut exemplar, [is_slow, is_for_octave, is_control], Some(scope.start), first);
        if is_kept {
            scope.number = exemplar.number;
        }
        is_kept.into()
    }

    /// Opens what says more of the thread from now on. Whether its waiting can be split.
    fn open(&self, thread: &mut Thread) -> bool {
        if self.options.flags & EXEMPLARS_NO_RING == 0 {
            thread.open_ring(self.options.threads, self.options.flags & EXEMPLARS_FAULT_TIMES != 0);
        }
        thread.open(self.options.threads)
    }

    /// Whether the caller is the one that is kept for its octave.
    fn take_octave(&self, now: u64) -> bool {
        let due = self.octave_due.load(Ordering::Relaxed);
        let next = now.saturating_add(ticks_of(OCTAVE_NANOS));
        now >= due
            && self.octave_due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Takes an observation in, or leaves it in a place of those that wait.
    fn hand_in(
        &self,
        exemplar: &mut Exemplar,
        [is_slow, is_for_octave, is_control]: [bool; 3],
        start: Option<u64>,
        first: u64,
    ) -> bool {
        let taken = self.shared.try_with(|shared| {
            shared.renew();
            if let (Some(start), true) = (start, exemplar.evidence.known != 0) {
                let (throttled, is_within) = shared.quota.grown_since(start);
                (exemplar.evidence.throttled, exemplar.evidence.is_throttled_within) = (throttled, is_within);
                exemplar.evidence.known |= if shared.quota.is_known() { KNOWN_QUOTA } else { 0 };
            }
            self.places.drain(|pending| {
                shared.kept.offer(&pending.exemplar, pending.is_slow, pending.is_for_octave);
            });
            if is_control {
                shared.usual.take(exemplar);
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
            Err(Refused::Busy) => {
                self.places.put(&Pending { exemplar: *exemplar, is_slow, is_for_octave }, first)
            }
            Err(Refused::Forked) => false,
        }
    }

    /// What is worth looking at from now on.
    fn set_least(&self, of_slowest: u64) {
        let least = of_slowest.min(self.slow.load(Ordering::Relaxed));
        self.least.store(least, Ordering::Relaxed);
        self.threshold.store(self.ticks_of_value(least), Ordering::Relaxed);
    }

    /// Ticks that are converted to this value, or less.
    fn ticks_of_value(&self, value: u64) -> u64 {
        match self.unit.per_second() {
            None => value,
            Some(per_second) => {
                let ticks = u128::from(value) * u128::from(Clock::Tsc.frequency()) / u128::from(per_second);
                u64::try_from(ticks).unwrap_or(u64::MAX)
            }
        }
    }

    /// See [`Collector::offer`].
    pub fn offer(&self, value: u64, context: Option<&Context>) -> bool {
        self.histogram.record(value);
        let thread = thread::made();
        // SAFETY: NULL, or what is kept of this thread.
        let is_for_octave = unsafe { thread.as_mut() }.is_some_and(|thread| {
            thread.offered = thread.offered.wrapping_add(1);
            thread.offered % OFFERED == 1
        });
        if value <= self.least.load(Ordering::Relaxed) && !is_for_octave {
            return false;
        }
        let is_slow = value > self.slow.load(Ordering::Relaxed);
        let wall_nanos = match self.unit.per_second() {
            None => Clock::Tsc.convert(value, Unit::Nanos),
            Some(per_second) => (u128::from(value) * 1_000_000_000 / u128::from(per_second)) as u64,
        };
        let mut exemplar = Exemplar {
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            value,
            wall_nanos,
            unix_nanos: unix_nanos().saturating_sub(wall_nanos),
            // SAFETY: as above.
            thread: unsafe { thread.as_ref() }.map_or(0, |thread| thread.kernel_id),
            cpu: NO_CPU,
            label: 0,
            context: context.copied().unwrap_or_default(),
            evidence: Evidence::none(Missing::TimedElsewhere),
        };
        self.hand_in(&mut exemplar, [is_slow, is_for_octave, false], None, thread.addr() as u64 >> 8)
    }

    /// See [`ExemplarScope::annotate`]. Waits for a thread that is at work on what is kept.
    pub fn annotate(&self, number: u64, context: &Context) -> Result<bool> {
        if number == 0 {
            return Ok(false);
        }
        let is_pending = self.places.change(number, |exemplar| exemplar.context = *context);
        if is_pending {
            return Ok(true);
        }
        self.shared.with(|shared| shared.kept.annotate(number, context)).map_err(refused)
    }

    fn collect(&self) -> Result<Arc<Interval>> {
        let slowest = self.options.slowest.unwrap_or(16);
        let mut next = Some(Kept::new(slowest as usize, Clock::Tsc.ticks())?);
        let now = unix_nanos();
        let slow = self.slow.load(Ordering::Relaxed);
        self.counts
            .with(|counts| {
                self.histogram.update(&mut counts.snapshot, Since::PreviousUpdate)?;
                let taken = self.shared.with(|shared| {
                    shared.renew();
                    self.places.drain(|pending| {
                        shared.kept.offer(&pending.exemplar, pending.is_slow, pending.is_for_octave);
                    });
                    let kept = next.take().map(|next| core::mem::replace(&mut shared.kept, next));
                    let usual = shared.usual.clone();
                    (kept, usual, core::mem::replace(&mut shared.began_unix_nanos, now))
                });
                let (Some(kept), usual, began) = taken.map_err(refused)? else {
                    return Err(Status::Busy.into());
                };
                let snapshot = &counts.snapshot;
                let observations = snapshot.counts();
                let above = |bucket: &picollo_core::Bucket| bucket.lower > slow;
                let in_range: u64 =
                    snapshot.recorded_buckets().filter(above).map(|bucket| bucket.count).sum();
                let counted = Counted {
                    unix_nanos: [began, now],
                    threshold: if slow == u64::MAX { 0 } else { slow },
                    unit_nanos: self.unit_nanos(),
                    observations: observations
                        .total
                        .saturating_add(observations.underflow)
                        .saturating_add(observations.overflow),
                    slow: in_range.saturating_add(if slow == u64::MAX { 0 } else { observations.overflow }),
                };
                if self.options.threshold == 0
                    && let Ok(found) = snapshot.percentile(99.0, ValueSelection::Upper)
                {
                    self.slow.store(found.value, Ordering::Relaxed);
                }
                self.set_least(shared_least(slowest));
                let exemplars = kept.exemplars()?;
                let (sampled, of_slow) = kept.slow();
                let interval =
                    Arc::new(Interval::new(counted, &exemplars, slowest as usize, sampled, of_slow, &usual)?);
                counts.ended = Some(interval.clone());
                Ok(interval)
            })
            .map_err(refused)?
    }

    fn unit_nanos(&self) -> f64 {
        1e9 / self.unit.per_second().unwrap_or(Clock::Tsc.frequency()) as f64
    }
}

impl Shared {
    /// In the child of a fork: what is kept is its parent's.
    fn renew(&mut self) {
        let process = process();
        if self.process != process {
            self.process = process;
            self.kept.clear();
        }
    }
}

/// Where the calling thread runs.
fn current_cpu() -> u32 {
    // SAFETY: a query without arguments.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(NO_CPU)
}
