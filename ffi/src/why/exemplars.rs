//! Exemplars that explain: the slowest observations of a histogram, the links to their requests, and where their time
//! went.
//!
//!     picollo_exemplars *exemplars;
//!     if (picollo_exemplars_create(latency, NULL, &exemplars, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!
//!     picollo_exemplar_scope scope;                              (each request)
//!     picollo_exemplars_begin(exemplars, &scope);
//!     work();
//!     if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) {
//!         picollo_exemplar_context context = {.words = {request}};
//!         picollo_exemplars_annotate(exemplars, &scope, &context);
//!     }
//!
//!     picollo_exemplars_collect(exemplars, NULL);                (now and then)
//!     picollo_exemplars_format(exemplars, PICOLLO_TEXT_HUMAN, text, sizeof text, &length);
//!
//! A scope records its duration, as picollo_scope_end does. If it was slow, its thread examines it at once. The
//! kernel reports how long the thread ran, how long it blocked, and how long it was runnable without a CPU. A random
//! sample of ordinary observations shows what is usual, and the largest excess is the cause. This needs no
//! privileges, no PMU, and no other thread. With a PMU, PICOLLO_EXEMPLARS_COUNTERS distinguishes more work from
//! slower work. Linux only.
//!
//! Every 100 to 300 microseconds the beginning of a scope reads the thread's accounting, which takes at most 1 % of its time.
//! Only picollo_exemplars_annotate and _collect make a thread wait for another. In the child of a fork a collector
//! starts anew. If another thread of the parent was changing the collector, calls in the child return
//! PICOLLO_ERR_FORKED.

use core::ffi::c_char;
use core::fmt::{self, Write};
use core::ptr::NonNull;

use picollo_native::{TimeUnit, failure};
use picollo_text::Format;
use picollo_why::{
    self as native, Cause, Collector, CollectorInner, EXEMPLARS_COUNTERS, EXEMPLARS_FAULT_TIMES,
    EXEMPLARS_NO_RING, ExemplarOptions, Interval, NO_CPU,
};

use crate::argument::{input, output};
use crate::counted::{Counted, borrow, free};
use crate::exemplar::picollo_exemplars;
use crate::exemplar::*;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_uncancelled, guard_value, guard_void_uncancelled};
use crate::histogram::picollo_histogram;
use crate::options;
use crate::registry::{explain, picollo_registry, with};
use crate::status::{picollo_error, picollo_status};
use crate::text::{PICOLLO_TEXT_HTML, write_text};

const _: () = assert!(PICOLLO_EXEMPLAR_KEPT == true as u32 && PICOLLO_CPU_UNKNOWN == NO_CPU);

/// The flags that native collectors have, too.
const COLLECTOR_FLAGS: u32 = EXEMPLARS_NO_RING | EXEMPLARS_FAULT_TIMES | EXEMPLARS_COUNTERS;

impl Counted for picollo_exemplars {
    type Reference = Collector;

    unsafe fn reference(handle: NonNull<Self>) -> Collector {
        // SAFETY: a handle is such a pointer.
        unsafe { Collector::from_raw(handle.as_ptr().cast::<CollectorInner>()) }
    }
}

exported! { explained(error)
/// Makes a collector, which records into a histogram and observes the records.
///
/// Cost: allocates everything that it will keep: about 700 KB, and 200 bytes per slowest observation.
fn picollo_exemplars_create(
    histogram: *mut picollo_histogram,
    options: *const picollo_exemplars_options,
    out: *mut *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    let (histogram, out, asked) = (borrow(histogram)?, output(out)?, options::read(options)?);
    let mut given = ExemplarOptions::default();
    if let Some(asked) = asked {
        if asked.reserved != 0 || asked.flags & !(COLLECTOR_FLAGS | PICOLLO_EXEMPLARS_NO_SLOWEST) != 0 {
            return Err(Failure::UNSUPPORTED.into());
        }
        let unit = match asked.unit {
            0 => None,
            raw => Some(TimeUnit::from_raw(raw).ok_or(Failure::INVALID_ARGUMENT)?),
        };
        let has_slowest = asked.flags & PICOLLO_EXEMPLARS_NO_SLOWEST == 0;
        given = ExemplarOptions {
            flags: asked.flags & COLLECTOR_FLAGS,
            threshold: asked.threshold,
            unit,
            slowest: if has_slowest { Some(asked.slowest).filter(|&most| most != 0) } else { Some(0) },
            threads: asked.threads,
            rate: asked.rate,
            controls: asked.controls,
        };
    }
    out.deliver(Collector::create(&histogram, &given)?.into_raw().cast_mut().cast())
}
}

/// Begins a measurement. Does nothing if out is NULL. If exemplars is NULL, nothing will be recorded.
///
/// Requires: exemplars outlives the scope.
/// Ownership: nothing to free; a scope that never ends records nothing.
/// Threads: any thread. A scope that ends on another thread is recorded, but without evidence about its time.
/// Cost: hot. One reading of the clock; about a microsecond more if the thread's last checkpoint is older than 100 to
///   300 microseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_begin(
    exemplars: *mut picollo_exemplars,
    out: *mut picollo_exemplar_scope,
) {
    if out.is_null() {
        return;
    }
    // SAFETY: a handle is such a pointer.
    match unsafe { exemplars.cast::<CollectorInner>().as_ref() } {
        // SAFETY: not NULL; the rest is the caller's promise.
        Some(inner) => unsafe { inner.begin(out) },
        None => (*out).exemplars = core::ptr::null_mut(),
    }
}

/// Ends a measurement, records its duration, and keeps it if it is slow or an example of its octave of values. Ending
/// it again does nothing.
///
/// Requires: scope was begun, with the same exemplars.
/// Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars, scope). Only kept observations need a context from
///   picollo_exemplars_annotate.
/// Threads: as picollo_histogram_record on the collector's histogram.
/// Cost: hot. One reading of the clock, a conversion, a record and two comparisons; about 2 microseconds if it is
///   slow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_end(
    exemplars: *mut picollo_exemplars,
    scope: *mut picollo_exemplar_scope,
) -> u32 {
    if scope.is_null() {
        return 0;
    }
    match exemplars.cast::<CollectorInner>().as_ref() {
        // SAFETY: not NULL; the rest is the caller's promise.
        Some(inner) => unsafe { inner.end(scope) },
        None => 0,
    }
}

/// Links an observation that is kept to its request.
///
/// Requires: picollo_exemplars_end returned PICOLLO_EXEMPLAR_KEPT for scope.
/// Returns: PICOLLO_OK, also if slower observations have replaced it; PICOLLO_ERR_FORKED.
/// Cost: searches the kept observations; waits for another thread that is using them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_annotate(
    exemplars: *mut picollo_exemplars,
    scope: *const picollo_exemplar_scope,
    context: *const picollo_exemplar_context,
) -> picollo_status {
    guard_uncancelled(core::ptr::null_mut(), || {
        let (exemplars, scope, context) = (borrow(exemplars)?, input(scope)?, input(context)?);
        exemplars.inner().annotate(scope.number, context).map(drop)
    })
}

/// Records a value that was timed elsewhere, and keeps it as picollo_exemplars_end does, but without evidence about
/// its thread.
///
/// Requires: value is in the collector's unit; context may be NULL.
/// Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars).
/// Threads: as picollo_histogram_record on the collector's histogram.
/// Cost: a record and a few nanoseconds; if it is slow, as picollo_exemplars_end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_offer(
    exemplars: *mut picollo_exemplars,
    value: u64,
    context: *const picollo_exemplar_context,
) -> u32 {
    guard_value(0, || {
        let Ok(exemplars) = borrow(exemplars) else { return 0 };
        exemplars.offer(value, context.as_ref()).into()
    })
}

exported! { explained(error)
/// Prepares the calling thread, which its first slow observation would do otherwise. It opens
/// /proc/thread-self/schedstat, which separates waiting from the run queue, and with PICOLLO_EXEMPLARS_COUNTERS the
/// thread's counters.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED if that file is unavailable, or the limit of threads in the options is reached;
///   PICOLLO_ERR_BUSY if that limit is reached for counters; for other errors of counters as picollo_session_create.
///   The collector works without what is missing. PICOLLO_ERR_OUT_OF_MEMORY.
/// Cost: a system call, and about 14 KB until the thread ends; with counters as picollo_session_create.
fn picollo_exemplars_prepare_thread(
    exemplars: *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    borrow(exemplars)?.prepare_thread()
}

/// Ends the interval and begins the next one. The calls below read the interval that has ended.
///
/// Returns: PICOLLO_ERR_OUT_OF_MEMORY, or PICOLLO_ERR_BUSY if the histogram cannot be read now. Then nothing is lost:
///   the next call ends the same interval, or a longer one. PICOLLO_ERR_FORKED.
/// Cost: reads the histogram, allocates memory for the next interval, and judges the observations of this one.
fn picollo_exemplars_collect(
    exemplars: *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    borrow(exemplars)?.collect().map(drop)
}
}

/// Returns the interval that has ended.
///
/// # Safety
/// If not NULL, a handle that is not freed meanwhile.
unsafe fn ended(exemplars: *const picollo_exemplars) -> Outcome<native::Counted<Interval>> {
    let ended = borrow(exemplars)?.ended()?;
    ended.ok_or(Failure::from(picollo_core::Error::Empty))
}

exported! {
/// Reports the counts of the interval that has ended.
///
/// Returns: PICOLLO_ERR_EMPTY before the first picollo_exemplars_collect; PICOLLO_ERR_FORKED.
fn picollo_exemplars_interval(
    exemplars: *const picollo_exemplars,
    out: *mut picollo_exemplar_interval,
) -> picollo_status {
    let (interval, out) = (ended(exemplars)?, output(out)?);
    out.deliver(picollo_exemplar_interval {
        begin_unix_nanos: interval.begin_unix_nanos,
        end_unix_nanos: interval.end_unix_nanos,
        threshold: interval.threshold,
        observations: interval.observations,
        slow: interval.slow,
        known: interval.known,
        controls: interval.controls,
        excess_nanos: interval.excess_nanos(),
        length: interval.exemplars().len() as u64,
    })
}

/// Reports the share of a cause in the excess.
///
/// Requires: cause is PICOLLO_CAUSE_....
/// Returns: as picollo_exemplars_interval.
fn picollo_exemplars_share(
    exemplars: *const picollo_exemplars,
    cause: u32,
    out: *mut picollo_exemplar_share,
) -> picollo_status {
    let (interval, out) = (ended(exemplars)?, output(out)?);
    let share = interval.share(Cause::from_raw(cause).ok_or(Failure::INVALID_ARGUMENT)?);
    out.deliver(picollo_exemplar_share {
        share: match interval.excess_nanos() {
            0 => 0.0,
            all => share.excess_nanos.unwrap_or(0) as f64 / all as f64,
        },
        excess_nanos: share.excess_nanos.unwrap_or(0),
        observations: share.observations,
        typical_nanos: share.typical_nanos.unwrap_or(0),
    })
}

/// Reports one of the observations that the ended interval kept: the slowest first, then the latest of each octave of
/// values.
///
/// Returns: PICOLLO_END after the last; otherwise as picollo_exemplars_interval.
fn picollo_exemplars_get(
    exemplars: *const picollo_exemplars,
    index: usize,
    out: *mut picollo_exemplar,
) -> picollo_status {
    let (interval, out) = (ended(exemplars)?, output(out)?);
    let (exemplar, verdict) = interval.exemplars().get(index).ok_or(Failure::END)?;
    let evidence = &exemplar.evidence;
    out.deliver(picollo_exemplar {
        value: exemplar.value,
        wall_nanos: exemplar.wall_nanos,
        unix_nanos: exemplar.unix_nanos,
        window_nanos: evidence.window_nanos,
        cpu_nanos: evidence.cpu_nanos,
        run_delay_nanos: evidence.run_delay_nanos,
        off_nanos: evidence.off_nanos,
        preempted_nanos: evidence.preempted_nanos,
        fault_nanos: evidence.fault_nanos,
        excess_nanos: verdict.excess.get(verdict.cause),
        instructions: evidence.instructions,
        cycles: evidence.cycles,
        usual_ipc: verdict.usual_ipc,
        reserved: 0,
        context: exemplar.context,
        cause: verdict.cause as u32,
        known: evidence.known,
        missing: evidence.missing as u32,
        label: exemplar.label,
        thread: exemplar.thread,
        cpu: exemplar.cpu,
        voluntary: evidence.voluntary,
        involuntary: evidence.involuntary,
        minor_faults: evidence.minor_faults,
        major_faults: evidence.major_faults,
        throttled: evidence.throttled,
        is_slow: (interval.threshold != 0 && exemplar.value > interval.threshold).into(),
    })
}

/// Writes the interval that has ended. PICOLLO_TEXT_HUMAN has the answer, the causes, and the slowest observations
/// with the links to their requests. PICOLLO_TEXT_MARKDOWN has the same in tables. PICOLLO_TEXT_HTML is a section
/// with bars for a page or notebook; it refers to nothing outside and takes over the page's style. PICOLLO_TEXT_JSON
/// has everything exactly, as `picollo report` reads it.
///
/// Requires: format is one of these four. HTML has at most 50,000 bytes.
/// Returns: PICOLLO_ERR_UNSUPPORTED for other formats; otherwise as picollo_exemplars_interval.
fn picollo_exemplars_format(
    exemplars: *const picollo_exemplars,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let interval = ended(exemplars)?;
    let write: fn(&Interval, &mut dyn Write) -> fmt::Result = match format {
        json if json == Format::Json as u32 => Interval::write_json,
        human if human == Format::Human as u32 => Interval::write_text,
        markdown if markdown == Format::Markdown as u32 => Interval::write_markdown,
        PICOLLO_TEXT_HTML => Interval::write_html,
        _ => return Err(Failure::UNSUPPORTED),
    };
    write_text(buffer, capacity, out_length, &|out| write(&interval, out))
}
}

exported! { explained(error)
/// Replaces the exemplars of a registry's histogram by the observations that the ended interval kept: with their
/// traces, and their known causes as the label cause.
///
/// Requires: id is that of the histogram's entry in registry.
/// Returns: PICOLLO_ERR_EMPTY as picollo_exemplars_interval; otherwise as picollo_registry_set_exemplars.
fn picollo_exemplars_publish(
    exemplars: *const picollo_exemplars,
    registry: *mut picollo_registry,
    id: u64,
    error: *mut picollo_error,
) -> picollo_status {
    let interval = borrow(exemplars)?.ended()?;
    let interval = interval.ok_or_else(|| failure!(Empty, "no interval has ended yet: collect one first"))?;
    let metrics = interval.metric_exemplars().map_err(Failure::from)?;
    with(registry, |registry| registry.set_exemplars(id, metrics).map_err(explain))
}
}

/// Frees a collector.
///
/// Requires: none of its scopes is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_free(exemplars: *mut picollo_exemplars) {
    guard_void_uncancelled(|| free(exemplars));
}
