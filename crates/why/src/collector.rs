//! Collectors: their options, their data, and how their intervals end.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use picollo_core::layouts::ValueSelection;
use picollo_core::seam::{Counted, Lock};
use picollo_core::{SharedHistogram, Since, Snapshot};

use super::counters;
use super::exemplar::{Context, Exemplar, KNOWN_QUOTA};
use super::hints::Sums;
use super::interval::Interval;
use super::kept::Kept;
use super::quota::Quota;
use super::scope::ExemplarScope;
use super::thread;
use super::usual::Usual;
use super::waiting::Places;
use picollo_native::Uncancelled;
use picollo_native::seam::thread::process;
use picollo_native::{Clock, TimeUnit, unix_nanos};
use picollo_native::{ExplainedError, Result, Status};

/// Do not use the kernel's records of context switches, which make some times more precise.
pub const EXEMPLARS_NO_RING: u32 = 1 << 0;
/// Let the kernel record page faults too, if it allows that, so their times are known. Each then takes about a
/// microsecond more.
pub const EXEMPLARS_FAULT_TIMES: u32 = 1 << 2;

/// Let each examined thread count its instructions and cycles in user space, if it may, to distinguish more work from
/// slower work. Creating a collector tries this once. It then opens a session of counters, which is slow if it is the
/// first of the process. A thread's first examined observation then allocates a few kilobytes and opens two
/// descriptors; preparing the thread does so earlier.
pub const EXEMPLARS_COUNTERS: u32 = 1 << 3;

/// Options of a collector. Zeros are defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExemplarOptions {
    /// `EXEMPLARS_…`.
    pub flags: u32,
    /// Observations above this are slow, in recorded units; 0: the 99th percentile of the previous interval.
    pub threshold: u64,
    /// The unit that scopes record; nanoseconds by default.
    pub unit: Option<TimeUnit>,
    /// How many of the slowest are kept, up to 65,536; 16 by default.
    pub slowest: Option<u32>,
    /// Number of threads in the process that may have descriptors, rings and counters; 0: 64.
    pub threads: u32,
    /// Slow observations to examine, per second and thread; 0: 1,000.
    pub rate: u32,
    /// Ordinary observations to examine per second; 0: 20.
    pub controls: u32,
}

/// Maximum number of slowest observations to keep.
pub const MAX_SLOWEST: u32 = 65_536;

/// Data that one thread at a time uses.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) kept: Kept,
    pub(super) usual: Usual,
    pub(super) began_unix_nanos: u64,
    /// The process that used it last.
    pub(super) process: u32,
    pub(super) quota: Quota,
}

/// Data for reading the counts at the end of an interval.
#[derive(Debug)]
struct Counts {
    snapshot: Box<Snapshot>,
    usual: Usual,
    /// Sums at the beginning of the interval, and the time of that in ticks.
    sums: Sums,
    began: u64,
    /// An interval that ended without memory to return it. The next call returns it, and the current interval goes on.
    unreturned: Option<Unreturned>,
    ended: Option<Counted<Interval>>,
}

#[derive(Debug)]
struct Unreturned {
    counted: Interval,
    kept: Kept,
    /// What a fork's child has of it is its parent's.
    process: u32,
}

/// Collects observations of one histogram. A counted reference.
#[derive(Clone, Debug)]
pub struct Collector(Counted<Inner>);

/// The data of a collector.
#[derive(Debug)]
pub struct Inner {
    /// In ticks: longer observations are examined.
    pub(super) threshold: AtomicU64,
    pub(super) octave_due: AtomicU64,
    pub(super) control_due: AtomicU64,
    /// How many scopes to skip when a control is due, at random. Often it becomes due during a long scope. Without
    /// skipping, it would be the scope after a long one, which in a repeating order is always of the same kind.
    pub(super) control_passes: AtomicU64,
    pub(super) histogram: SharedHistogram,
    pub(super) unit: TimeUnit,
    /// In units of values: values above it are slow; `u64::MAX` while it is unknown.
    pub(super) slow: AtomicU64,
    /// In units of values: the smallest of the slowest; 0 while there is room for more.
    pub(super) least_slowest: AtomicU64,
    /// In units of values: the smaller of both.
    pub(super) least: AtomicU64,
    pub(super) options: ExemplarOptions,
    /// In ticks.
    pub(super) created: u64,
    pub(super) numbers: AtomicU64,
    pub(super) random: AtomicU64,
    pub(super) places: Places,
    pub(super) shared: Lock<Shared>,
    /// Why the counters of one thread, or of all, are unavailable although requested.
    pub(super) uncounted: Lock<Option<ExplainedError>>,
    counts: Lock<Counts>,
}

// SAFETY: all fields are atomic or behind locks.
unsafe impl Sync for Inner {}
// SAFETY: no field belongs to a thread.
unsafe impl Send for Inner {}

impl Collector {
    /// Creates a collector for a histogram. Scopes and [`Collector::offer`] record into the histogram, too.
    ///
    /// Errors: `InvalidArgument` for options out of range, `Unsupported` for unknown flags, `OutOfMemory`.
    pub fn create(histogram: &SharedHistogram, options: &ExemplarOptions) -> Result<Collector> {
        // Opens the quota while the stack is small, because paths take much of it.
        Collector::with(histogram, *options, Quota::open())
    }

    #[inline(never)]
    fn with(histogram: &SharedHistogram, mut options: ExemplarOptions, quota: Quota) -> Result<Collector> {
        let unit = options.unit.unwrap_or(TimeUnit::Nanos);
        if options.flags & !(EXEMPLARS_NO_RING | EXEMPLARS_FAULT_TIMES | EXEMPLARS_COUNTERS) != 0 {
            return Err(ExplainedError::new(Status::Unsupported, format_args!("unknown flags of exemplars")));
        }
        if options.slowest.is_some_and(|slowest| slowest > MAX_SLOWEST) || options.controls > 1_000_000 {
            let why = format_args!(
                "at most {MAX_SLOWEST} of the slowest are kept, and 1,000,000 controls a second"
            );
            return Err(ExplainedError::new(Status::InvalidArgument, why));
        }
        let or = |number: &mut u32, default| *number = if *number == 0 { default } else { *number };
        or(&mut options.threads, 64);
        or(&mut options.rate, 1000);
        or(&mut options.controls, 20);
        let slowest = *options.slowest.get_or_insert(16);
        Clock::init();
        // A process's first counters take long. If one thread may not have them, no thread may.
        let mut uncounted = None;
        if options.flags & EXEMPLARS_COUNTERS != 0
            && let Err(refused) = counters::try_opening()
        {
            uncounted = Some(refused);
            options.flags &= !EXEMPLARS_COUNTERS;
        }
        let now = Clock::Tsc.ticks();
        let slow = match options.threshold {
            0 => u64::MAX,
            threshold => end_of_bucket(histogram, threshold),
        };
        let mut snapshot = Snapshot::boxed(*histogram.layout())?;
        histogram.update(&mut snapshot, Since::PreviousUpdate)?;
        let shared = Shared {
            kept: Kept::new(slowest as usize, now)?,
            usual: Usual::new()?,
            began_unix_nanos: unix_nanos(),
            process: process(),
            quota,
        };
        let inner = Inner {
            threshold: AtomicU64::new(0),
            octave_due: AtomicU64::new(now),
            control_due: AtomicU64::new(now),
            control_passes: AtomicU64::new(0),
            histogram: histogram.clone(),
            unit,
            slow: AtomicU64::new(slow),
            least_slowest: AtomicU64::new(0),
            least: AtomicU64::new(0),
            options,
            created: now,
            numbers: AtomicU64::new(1),
            random: AtomicU64::new(now | 1),
            places: Places::new()?,
            shared: Lock::new(shared),
            uncounted: Lock::new(uncounted),
            counts: Lock::new(Counts {
                snapshot,
                usual: Usual::new()?,
                sums: Sums::read(),
                began: now,
                unreturned: None,
                ended: None,
            }),
        };
        let collector = Collector(Counted::create(inner)?);
        collector.0.set_least(shared_least(slowest));
        Ok(collector)
    }

    /// Begins a measurement.
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

    /// Records a value that was timed elsewhere, and keeps it if it is slow. There is no evidence about its thread.
    pub fn offer(&self, value: u64, context: Option<&Context>) -> bool {
        self.0.offer(value, context)
    }

    /// The object behind the functions of the C ABI.
    pub fn inner(&self) -> &Inner {
        &self.0
    }

    /// Does in advance what the calling thread's first slow observation would do: it opens the descriptor for the
    /// thread's accounts, and counters if requested. An error reports what is unavailable.
    pub fn prepare_thread(&self) -> Result<()> {
        let _uncancelled = Uncancelled::new();
        let thread = thread::get_or_create();
        // SAFETY: NULL, or the data of this thread.
        let opened = unsafe { thread.as_mut() }.and_then(|thread| {
            thread.with(|thread| {
                let is_watched = thread.is_watched(self.0.options.threads);
                let is_open = is_watched && thread.open_schedstat();
                let counters = self.0.open_counters(thread);
                thread.check();
                (is_open, counters)
            })
        });
        match opened {
            Some((true, counters)) => counters,
            Some((false, _)) => Err(ExplainedError::new(
                Status::Unsupported,
                format_args!(
                    "/proc/thread-self/schedstat cannot be read, or as many threads as wanted have it open: what this \
                     thread waits for itself and what it waits for a CPU is not told apart"
                ),
            )),
            None => Err(Status::OutOfMemory.into()),
        }
    }

    /// Ends the interval, returns it as [`Collector::ended`] does later, and begins the next one.
    ///
    /// `OutOfMemory`: nothing is lost, and the next call returns the same interval, or a longer one; `Forked` in the child of a fork in whose parent another thread was using the collector.
    pub fn collect(&self) -> Result<Counted<Interval>> {
        self.0.collect()
    }

    /// The interval that was ended last; `None` before the first.
    pub fn ended(&self) -> Result<Option<Counted<Interval>>> {
        self.0.counts.with(|counts| counts.ended.clone()).ok_or_else(forked)
    }

    /// The histogram of the collector.
    pub fn histogram(&self) -> &SharedHistogram {
        &self.0.histogram
    }

    /// Turns the reference into a pointer.
    pub fn into_raw(self) -> *const Inner {
        self.0.into_raw().as_ptr().cast()
    }

    /// Turns a pointer back into the reference.
    ///
    /// # Safety
    /// The pointer must come from [`Collector::into_raw`], and may be used once per call of that.
    pub unsafe fn from_raw(raw: *const Inner) -> Collector {
        // SAFETY: the caller's promise; such a pointer is not NULL.
        Collector(unsafe { Counted::from_raw(NonNull::new_unchecked(raw.cast_mut().cast())) })
    }
}

/// The error for a lock that nobody will release.
pub(super) fn forked() -> ExplainedError {
    let why = format_args!("this process was forked while another thread was using the collector");
    ExplainedError::new(Status::Forked, why)
}

fn shared_least(slowest: u32) -> u64 {
    if slowest == 0 { u64::MAX } else { 0 }
}

/// The counts above a value begin with the next bucket.
fn end_of_bucket(histogram: &SharedHistogram, value: u64) -> u64 {
    let layout = histogram.layout();
    layout.bucket_of(value).map_or(value, |bucket| bucket.upper)
}

impl Inner {
    /// Sets which observations are examined from now on.
    pub(super) fn set_least(&self, least_slowest: u64) {
        self.least_slowest.store(least_slowest, Ordering::Relaxed);
        let least = least_slowest.min(self.slow.load(Ordering::Relaxed));
        self.least.store(least, Ordering::Relaxed);
        self.threshold.store(self.ticks_of_value(least), Ordering::Relaxed);
    }

    /// Ticks that convert to at most this value.
    fn ticks_of_value(&self, value: u64) -> u64 {
        match self.unit.per_second() {
            None => value,
            Some(per_second) => {
                let ticks = u128::from(value) * u128::from(Clock::Tsc.frequency()) / u128::from(per_second);
                u64::try_from(ticks).unwrap_or(u64::MAX)
            }
        }
    }

    fn collect(&self) -> Result<Counted<Interval>> {
        self.counts.with(|counts| self.collect_with(counts)).ok_or_else(forked)?
    }

    fn collect_with(&self, counts: &mut Counts) -> Result<Counted<Interval>> {
        let unreturned = match counts.unreturned.take().filter(|unreturned| unreturned.process == process()) {
            Some(unreturned) => unreturned,
            None => self.end_interval(counts)?,
        };
        let Unreturned { counted, kept, .. } = counts.unreturned.insert(unreturned);
        let exemplars = kept.exemplars()?;
        let (sampled, of_slow) = kept.slow();
        let slowest = self.options.slowest.unwrap_or(16) as usize;
        let mut interval =
            Interval::new(counted.clone(), &exemplars, slowest, sampled, of_slow, &counts.usual)?;
        if interval.counted < interval.known {
            interval.uncounted = self.uncounted.with(|why| *why).flatten();
        }
        let interval = Counted::create(interval)?;
        counts.unreturned = None;
        counts.ended = Some(interval.clone());
        Ok(interval)
    }

    /// Begins the next interval. If that fails, the current one goes on.
    fn end_interval(&self, counts: &mut Counts) -> Result<Unreturned> {
        let slowest = self.options.slowest.unwrap_or(16);
        let next = Kept::new(slowest as usize, Clock::Tsc.ticks())?;
        let now = unix_nanos();
        let slow = self.slow.load(Ordering::Relaxed);
        let taken = self.shared.with(|shared| -> Result<_> {
            self.histogram.update(&mut counts.snapshot, Since::PreviousUpdate)?;
            self.take_pending(shared, false);
            shared.usual.copy_to(&mut counts.usual);
            let kept = core::mem::replace(&mut shared.kept, next);
            Ok((kept, core::mem::replace(&mut shared.began_unix_nanos, now)))
        });
        let (kept, began) = taken.ok_or_else(forked)??;
        let (sums, ended) = (Sums::read(), Clock::Tsc.ticks());
        let lasted = Clock::Tsc.convert(ended.saturating_sub(counts.began), TimeUnit::Nanos);
        let hints = sums.since(&counts.sums, lasted);
        (counts.sums, counts.began) = (sums, ended);
        let snapshot = &counts.snapshot;
        let observations = snapshot.counts();
        let above = |bucket: &picollo_core::Bucket| bucket.lower > slow;
        let in_range: u64 = snapshot.recorded_buckets().filter(above).map(|bucket| bucket.count).sum();
        let counted = Interval {
            begin_unix_nanos: began,
            end_unix_nanos: now,
            threshold: if slow == u64::MAX { 0 } else { slow },
            units_per_second: self.unit.per_second().unwrap_or(Clock::Tsc.frequency()),
            observations: observations
                .total
                .saturating_add(observations.underflow)
                .saturating_add(observations.overflow),
            hints,
            slow: in_range.saturating_add(if slow == u64::MAX { 0 } else { observations.overflow }),
            ..Interval::default()
        };
        if self.options.threshold == 0
            && let Ok(found) = snapshot.percentile(99.0, ValueSelection::Upper)
        {
            self.slow.store(found.value, Ordering::Relaxed);
        }
        self.set_least(shared_least(slowest));
        Ok(Unreturned { counted, kept, process: process() })
    }

    /// Takes in the waiting observations. Reads the quota if there are any, or if `looks` is set.
    pub(super) fn take_pending(&self, shared: &mut Shared, looks: bool) {
        shared.forget_parent();
        if looks || self.places.has_any() {
            shared.quota.refresh();
        }
        self.places.drain(|pending| {
            if let Some(span) = pending.span {
                shared.add_quota(&mut pending.exemplar, span);
            }
            shared.kept.offer(&pending.exemplar, pending.is_slow, pending.is_for_octave);
        });
    }
}

impl Shared {
    /// Adds whether the group was throttled during an observation.
    pub(super) fn add_quota(&self, exemplar: &mut Exemplar, [start, end]: [u64; 2]) {
        let evidence = &mut exemplar.evidence;
        if evidence.known != 0
            && let Some((throttled, is_within)) = self.quota.within(start, end)
        {
            (evidence.throttled, evidence.is_throttled_within) = (throttled, is_within);
            evidence.known |= KNOWN_QUOTA;
        }
    }

    /// Discards the parent's observations in a forked child.
    pub(super) fn forget_parent(&mut self) {
        let process = process();
        if self.process != process {
            self.process = process;
            self.kept.clear();
        }
    }
}
