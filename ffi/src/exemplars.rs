//! Exemplars that say why: the slowest observations of a histogram, with what leads to their requests and what became of their time.
//!
//!     picollo_exemplars *exemplars;
//!     if (picollo_exemplars_create(latency, NULL, &exemplars, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!
//!     picollo_exemplar_scope scope;                              (each request)
//!     picollo_exemplars_begin(exemplars, &scope);
//!     work();
//!     if (picollo_exemplars_end(exemplars, &scope) == PICOLLO_EXEMPLAR_KEPT) {
//!         picollo_exemplar_context context = {{request}, {0}, {0}};
//!         picollo_exemplars_annotate(exemplars, &scope, &context);
//!     }
//!
//!     picollo_exemplars_collect(exemplars, NULL);                (now and then)
//!     picollo_exemplars_format(exemplars, PICOLLO_TEXT_HUMAN, text, sizeof text, &length);
//!
//! A scope records how long it took, as picollo_scope_end does. What is slow is looked into on the spot: from the kernel's accounts of the
//! thread it is known what it ran, what it waited by its own call, and what it was ready and had no CPU. A random sample of ordinary
//! observations says what of that is usual; the excess is the cause. It needs no privileges, no PMU, and no other
//! thread. Where there is a PMU, PICOLLO_EXEMPLARS_COUNTERS tells more work from slower work. Linux only.
//!
//! The way of a scope that is not slow is two readings of the clock, a record and four comparisons. Every 100 to 300 microseconds a thread's
//! accounts are read when a scope begins, which is at most 1 % of its time. Nothing here makes a thread wait for another, but
//! picollo_exemplars_annotate and _collect. In the child of a fork a collector begins anew.

use core::ffi::c_char;
use core::fmt::{self, Write};
use core::mem::offset_of;
use core::ptr::NonNull;

use picollo_core::text::Format;
use picollo_native::Unit;
use picollo_native::exemplars::{
    self as native, Cause, Collector, CollectorInner, Context, EXEMPLARS_COUNTERS, EXEMPLARS_FAULT_TIMES,
    EXEMPLARS_NO_RING, ExemplarOptions, Interval, NO_CPU, RawScope,
};

use crate::argument::{input, output};
use crate::counted::{Counted, borrow, free};
use crate::event::picollo_error;
use crate::exemplar::*;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_uncancelled, guard_value, guard_void_uncancelled};
use crate::handles::{picollo_exemplars, picollo_histogram, picollo_registry};
use crate::options;
use crate::registry::with;
use crate::status::picollo_status;
use crate::text::{PICOLLO_TEXT_HTML, write_text};

const _: () = {
    macro_rules! same {
        ($($field:ident)*) => { $(assert!(offset_of!(picollo_exemplar_scope, $field) == offset_of!(RawScope, $field));)* };
    }
    same!(start due checkpoint number thread label is_control);
    assert!(size_of::<picollo_exemplar_scope>() == size_of::<RawScope>());
    assert!(offset_of!(picollo_exemplar_scope, exemplars) == offset_of!(RawScope, collector));
    assert!(PICOLLO_EXEMPLAR_KEPT == true as u32 && PICOLLO_CPU_UNKNOWN == NO_CPU);
};

/// Flags that collectors have as well.
const OF_COLLECTORS: u32 = EXEMPLARS_NO_RING | EXEMPLARS_FAULT_TIMES | EXEMPLARS_COUNTERS;

impl Counted for picollo_exemplars {
    type Reference = Collector;

    unsafe fn reference(handle: NonNull<Self>) -> Collector {
        // SAFETY: a handle is such a pointer.
        unsafe { Collector::from_raw(handle.as_ptr().cast::<CollectorInner>()) }
    }
}

fn context_of(context: &picollo_exemplar_context) -> Context {
    Context { trace_id: context.trace_id, span_id: context.span_id, words: context.words }
}

exported! { explained(error)
/// Makes a collector of a histogram's observations, which records into it as well.
///
/// Ownership: *out holds the histogram.
/// Cost: allocates room for all that it will keep: some 700 KB, and 200 bytes for each of the slowest.
fn picollo_exemplars_create(
    histogram: *mut picollo_histogram,
    options: *const picollo_exemplars_options,
    out: *mut *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    let (histogram, out, asked) = (borrow(histogram)?, output(out)?, options::read(options)?);
    let mut given = ExemplarOptions::default();
    if let Some(asked) = asked {
        if asked.reserved != 0 || asked.flags & !(OF_COLLECTORS | PICOLLO_EXEMPLARS_NO_SLOWEST) != 0 {
            return Err(Failure::UNSUPPORTED.into());
        }
        let unit = match asked.unit {
            0 => None,
            raw => Some(Unit::from_raw(raw).ok_or(Failure::INVALID_ARGUMENT)?),
        };
        let has_slowest = asked.flags & PICOLLO_EXEMPLARS_NO_SLOWEST == 0;
        given = ExemplarOptions {
            flags: asked.flags & OF_COLLECTORS,
            threshold: asked.threshold,
            unit,
            slowest: if has_slowest { Some(asked.slowest).filter(|&most| most != 0) } else { Some(0) },
            threads: asked.threads,
            rate: asked.rate,
            controls: asked.controls,
        };
    }
    out.tell(Collector::create(&histogram, &given)?.into_raw().cast_mut().cast())
}
}

/// Begins to measure. Does nothing when out is NULL; where exemplars is, nothing will be recorded.
///
/// Requires: out leads to a scope; exemplars is NULL or outlives it.
/// Ownership: nothing to free; a scope that never ends is simply not recorded.
/// Threads: any thread. A scope may end on another one: it is recorded, and nothing is known of where its time went.
/// Cost: hot. One reading of the clock; where the thread's last checkpoint is older than 100 to 300 microseconds,
///   some microsecond more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_begin(
    exemplars: *mut picollo_exemplars,
    out: *mut picollo_exemplar_scope,
) {
    if out.is_null() {
        return;
    }
    // SAFETY: a scope has this layout (asserted above).
    match unsafe { exemplars.cast::<CollectorInner>().as_ref() } {
        // SAFETY: not NULL; the rest is the caller's promise.
        Some(inner) => unsafe { inner.begin(out.cast()) },
        None => (*out).exemplars = core::ptr::null_mut(),
    }
}

/// Ends a measurement, records how long it took, and keeps it if it is slow, or an example of its octave of values. Ending it again does
/// nothing.
///
/// Requires: scope was begun, with the same exemplars.
/// Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars, scope). Only for what is kept it is worth while to
///   look up a context for picollo_exemplars_annotate.
/// Threads: as picollo_histogram_record on the collector's histogram.
/// Cost: hot. One reading of the clock, a conversion, a record and two comparisons; some 2 microseconds for what is
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
        Some(inner) => unsafe { inner.end(scope.cast()) },
        None => 0,
    }
}

/// Says what leads to the request of an observation that is kept.
///
/// Requires: picollo_exemplars_end returned PICOLLO_EXEMPLAR_KEPT for scope.
/// Returns: PICOLLO_OK, also where slower ones have taken its place meanwhile; PICOLLO_ERR_FORKED in the child of a
///   fork in whose parent another thread was at work on the collector.
/// Cost: looks through what is kept; waits for a thread that is doing something with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_annotate(
    exemplars: *mut picollo_exemplars,
    scope: *const picollo_exemplar_scope,
    context: *const picollo_exemplar_context,
) -> picollo_status {
    guard_uncancelled(core::ptr::null_mut(), || {
        let (exemplars, scope, context) = (borrow(exemplars)?, input(scope)?, input(context)?);
        exemplars.inner().annotate(scope.number, &context_of(context)).map(drop)
    })
}

/// Records a value that was timed elsewhere, and keeps it as picollo_exemplars_end does. Nothing is known of what its thread did.
///
/// Requires: value is in the collector's unit; context is NULL, or leads to what leads to its request.
/// Returns: PICOLLO_EXEMPLAR_KEPT or 0; 0 for NULL (exemplars).
/// Threads: as picollo_histogram_record on the collector's histogram.
/// Cost: a record and some nanoseconds; for what is slow as picollo_exemplars_end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_offer(
    exemplars: *mut picollo_exemplars,
    value: u64,
    context: *const picollo_exemplar_context,
) -> u32 {
    guard_value(0, || {
        let Ok(exemplars) = borrow(exemplars) else { return 0 };
        let context = context.as_ref().map(context_of);
        exemplars.offer(value, context.as_ref()).into()
    })
}

exported! { explained(error)
/// Makes ready what the calling thread's first slow observation would make: it opens /proc/thread-self/schedstat, without which waiting
/// and the run queue are not told apart, and with PICOLLO_EXEMPLARS_COUNTERS the thread's counters.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED where that cannot be had, or as many threads as the options say have it: the
///   collector works all the same; for counters PICOLLO_ERR_BUSY where as many threads have them, and else as
///   picollo_session_create: the collector works without them; PICOLLO_ERR_OUT_OF_MEMORY.
/// Cost: a system call, and some 14 KB, given back when the thread ends; with counters as picollo_session_create.
fn picollo_exemplars_prepare_thread(
    exemplars: *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    borrow(exemplars)?.prepare_thread()
}

/// Ends the interval and begins the next one. The calls below tell of the one that has ended.
///
/// Returns: PICOLLO_ERR_OUT_OF_MEMORY, when nothing is lost, and the next call tells the same interval, or a longer
///   one; PICOLLO_ERR_BUSY where the histogram cannot be read now, as well; PICOLLO_ERR_FORKED as
///   picollo_exemplars_annotate.
/// Cost: reads the histogram, allocates anew what the next interval keeps, and judges what this one kept.
fn picollo_exemplars_collect(
    exemplars: *mut picollo_exemplars,
    error: *mut picollo_error,
) -> picollo_status {
    borrow(exemplars)?.collect().map(drop)
}
}

/// The interval that has ended.
///
/// # Safety
/// If not NULL, a handle that is not freed meanwhile.
unsafe fn ended(exemplars: *const picollo_exemplars) -> Outcome<native::Reference<Interval>> {
    let ended = borrow(exemplars)?.ended()?;
    ended.ok_or(Failure::from(picollo_core::Error::Empty))
}

exported! {
/// Tells what was counted in the interval that has ended.
///
/// Returns: PICOLLO_ERR_EMPTY before the first picollo_exemplars_collect; PICOLLO_ERR_FORKED as
///   picollo_exemplars_annotate.
fn picollo_exemplars_interval(
    exemplars: *const picollo_exemplars,
    out: *mut picollo_exemplar_interval,
) -> picollo_status {
    let (interval, out) = (ended(exemplars)?, output(out)?);
    out.tell(picollo_exemplar_interval {
        begin_unix_nanos: interval.unix_nanos[0],
        end_unix_nanos: interval.unix_nanos[1],
        threshold: interval.threshold,
        observations: interval.observations,
        slow: interval.slow,
        known: interval.known,
        controls: interval.controls,
        excess_nanos: interval.excess_nanos(),
        length: interval.exemplars().len() as u64,
    })
}

/// Tells what a cause has of the excess.
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
    out.tell(picollo_exemplar_share {
        share: match interval.excess_nanos() {
            0 => 0.0,
            all => share.excess_nanos as f64 / all as f64,
        },
        excess_nanos: share.excess_nanos,
        observations: share.observations,
        typical_nanos: share.typical_nanos,
    })
}

/// Tells one of the observations that the ended interval kept: the slowest first, then the latest of each octave of values.
///
/// Returns: PICOLLO_END behind the last; PICOLLO_ERR_EMPTY and PICOLLO_ERR_FORKED as picollo_exemplars_interval.
fn picollo_exemplars_get(
    exemplars: *const picollo_exemplars,
    index: usize,
    out: *mut picollo_exemplar,
) -> picollo_status {
    let (interval, out) = (ended(exemplars)?, output(out)?);
    let (exemplar, verdict) = interval.exemplars().get(index).ok_or(Failure::END)?;
    let evidence = &exemplar.evidence;
    out.tell(picollo_exemplar {
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
        context: picollo_exemplar_context {
            words: exemplar.context.words,
            trace_id: exemplar.context.trace_id,
            span_id: exemplar.context.span_id,
        },
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

/// Writes the interval that has ended: for people (PICOLLO_TEXT_HUMAN) the answer, the causes, and the slowest with what leads to their
/// requests; for reports (PICOLLO_TEXT_MARKDOWN) the same in tables; for pages and notebooks (PICOLLO_TEXT_HTML) a section with bars, that
/// refers to nothing outside and looks as the page does; for programs (PICOLLO_TEXT_JSON) all of it, exactly, as `picollo report` reads it.
///
/// Requires: format is PICOLLO_TEXT_HUMAN, PICOLLO_TEXT_MARKDOWN, PICOLLO_TEXT_HTML or PICOLLO_TEXT_JSON; buffer,
///   capacity and out_length as at the head of "Text". HTML has at most 50,000 bytes.
/// Returns: PICOLLO_ERR_UNSUPPORTED for other formats; PICOLLO_ERR_EMPTY and PICOLLO_ERR_FORKED as
///   picollo_exemplars_interval.
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

/// Makes the observations that the ended interval kept the exemplars of a registry's histogram, instead of those before: with their traces,
/// and their causes as the label cause, but for those of which nothing is known.
///
/// Requires: id is that of the histogram's entry in registry.
/// Returns: PICOLLO_ERR_EMPTY as picollo_exemplars_interval; otherwise as picollo_registry_set_exemplars.
fn picollo_exemplars_publish(
    exemplars: *const picollo_exemplars,
    registry: *mut picollo_registry,
    id: u64,
) -> picollo_status {
    let metrics = ended(exemplars)?.metric_exemplars()?;
    with(registry, |registry| Ok(registry.set_exemplars(id, metrics)?))
}
}

/// Frees a collector.
///
/// Requires: no scope of it is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_exemplars_free(exemplars: *mut picollo_exemplars) {
    guard_void_uncancelled(|| free(exemplars));
}
