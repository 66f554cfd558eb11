//! Sessions: performance counters.
//!
//! A session opens events for one target and schedules them together if the processor has room. Each event has its
//! own histogram:
//!
//!     const char *const specs[] = {"cycles", "branch-misses"};
//!     picollo_error error;
//!     picollo_session *session;
//!     if (picollo_session_open(specs, 2, NULL, &session, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!     for (...) {
//!         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
//!         work();
//!         picollo_session_read(session, PICOLLO_READ_AUTO, NULL);
//!         picollo_session_record(session, PICOLLO_SINCE_PREVIOUS);
//!     }
//!
//! picollo_session_create, _enable and _reset take a base: the values and times at which counting starts.
//! picollo_session_read takes a reading of all events. Deltas are between the last two readings; the first one is
//! since the base. picollo_session_record does not read. It records the last deltas, or the values since the base,
//! once per read. If an event was not counted, it records nothing, and the event's info counts such cases. A running
//! counter is never reset; it gets a new base.
//!
//! PICOLLO_READ_AUTO reads in user space if the kernel allows it. Once per process and kind of counter, a child
//! process tries the instruction first. If somebody forbids it later, while the session is in use, the next reading
//! raises SIGSEGV (on aarch64 SIGILL), which ends the process. This happens after writing 0 to /sys/devices/cpu/rdpmc
//! or kernel.perf_user_access, and after a move to another hypervisor. No check can prevent it, because there is no
//! warning. PICOLLO_SESSION_SYSCALL_ONLY excludes it, and so does the environment variable PICOLLO_RDPMC=off
//! (docs/counters.md). picollo_perf_probe reports whether counters are read in user space, and if not, why.
//!
//! Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
//!   thread, one at a time. In the child of a fork all calls except picollo_session_free return PICOLLO_ERR_FORKED,
//!   because the counters are the parent's.

use core::ffi::c_char;

pub use picollo_perf::{EventInfo as picollo_event_info, Reading as picollo_reading};
use picollo_perf::{MAX_EVENTS, ReadMode, Session};

use crate::argument::{either, exclusive, input, list, output, slice};
#[cfg(feature = "std")]
use crate::event::parse_all;
use crate::event::picollo_event;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_explained, guard_void_uncancelled};
use crate::histogram::{into_handle, picollo_histogram};
use crate::memory;
use crate::session_options::{picollo_session_options, read_options};
use crate::snapshot::{PICOLLO_SINCE_PREVIOUS, PICOLLO_SINCE_RESET};
use crate::status::{PICOLLO_OK, picollo_error, picollo_status};

/// Performance counters of one target.
pub struct picollo_session(());

/// The session behind a handle, to read from.
///
/// # Safety
/// If not NULL, `session` must be a handle that is not freed, nor used elsewhere, during the call.
unsafe fn read<'a>(session: *const picollo_session) -> Outcome<&'a Session> {
    // SAFETY: a handle leads to a session; the rest is passed on.
    unsafe { input(session.cast()) }
}

/// The session behind a handle, to change.
///
/// # Safety
/// As for [`read`].
unsafe fn change<'a>(session: *mut picollo_session) -> Outcome<&'a mut Session> {
    // SAFETY: a handle leads to a session; the rest is passed on.
    unsafe { exclusive(session.cast()) }
}

exported! { explained(error)
/// Opens events, starts counting (unless PICOLLO_SESSION_DISABLED is set), and takes a base.
///
/// The events keep their order and number, and an event may be given twice. Events without room beside the others get
/// a separate group and are scheduled alternately: see picollo_event_info.group.
///
/// Requires: events leads to 1 to PICOLLO_SESSION_MAX_EVENTS events.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, events or their number outside their ranges;
///   PICOLLO_ERR_UNSUPPORTED for unknown flags and options; and the reason why an event cannot be counted:
///   PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With
///   PICOLLO_SESSION_SKIP_UNAVAILABLE such events stay as entries without counts instead. error names the event and
///   explains what to do.
/// Threads: any thread, which becomes the opening thread.
/// Cost: a few system calls and the allocation of a histogram per event. If counters can be read in user space, the
///   first session of a process also starts a child process that tries it. This takes a few hundred microseconds,
///   because the child shares the memory. Another 2 to 50 ms are necessary if neither the kernel nor the processor
///   reports the rate of its clock. Neither happens with PICOLLO_SESSION_SYSCALL_ONLY.
fn picollo_session_create(
    options: *const picollo_session_options,
    events: *const picollo_event,
    length: usize,
    out: *mut *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    let (out, options, events) = (output(out)?, read_options(options)?, slice(events, length)?);
    let session = Session::create(&options, events)?;
    out.deliver(memory::create(session)?.as_ptr().cast())
}
}

#[cfg(feature = "std")]
exported! { explained(error)
/// Opens events by name: picollo_event_parse for each, then picollo_session_create for all.
///
/// Requires: specs leads to length names, 1 to PICOLLO_SESSION_MAX_EVENTS, as for picollo_event_parse.
/// Returns: as picollo_event_parse, also with PICOLLO_SESSION_SKIP_UNAVAILABLE, and as picollo_session_create. error
///   names the event and explains what to do.
/// Threads: any thread, which becomes the opening thread.
/// Cost: that of both.
fn picollo_session_open(
    specs: *const *const c_char,
    length: usize,
    options: *const picollo_session_options,
    out: *mut *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    let (out, options, specs) = (output(out)?, read_options(options)?, slice(specs, length)?);
    let events = parse_all(specs)?;
    let session = Session::create(&options, &events)?;
    out.deliver(memory::create(session)?.as_ptr().cast())
}
}

/// Closes the events and frees the session. Histograms from picollo_session_histogram_ref stay valid.
///
/// Threads: any thread; also in a child after a fork.
/// Cost: a few system calls per event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_session_free(session: *mut picollo_session) {
    // SAFETY: from `picollo_session_create`, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(session.cast::<Session>()) });
}

exported! {
/// Reports the event at an index, as it was given.
fn picollo_session_event(
    session: *const picollo_session,
    index: usize,
    out: *mut picollo_event,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    out.deliver(session.event(index)?)
}

/// Reports how an event is counted, or why it is not.
fn picollo_session_event_info(
    session: *const picollo_session,
    index: usize,
    out: *mut picollo_event_info,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    out.deliver(session.event_info(index)?)
}
}

exported! { explained(error)
/// Starts counting, and takes a new base. If the processor turns out to count nothing, this is not an error:
/// PICOLLO_EVENT_INFO_SILENT is set.
///
/// Returns: PICOLLO_ERR_OS. If pinned events had to be opened again without pinning (PICOLLO_SESSION_PINNED) and that
///   was refused, also PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION and PICOLLO_ERR_UNSUPPORTED. These events
///   are then closed, as their infos show; with PICOLLO_SESSION_SKIP_UNAVAILABLE only the infos report it. After an
///   error nothing counts.
/// Cost: a few system calls.
fn picollo_session_enable(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.enable()
}

/// Stops counting. The counts can still be read.
///
/// Returns: PICOLLO_ERR_OS.
/// Cost: a few system calls.
fn picollo_session_disable(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.disable()
}

/// Measures how much a pair of reads adds to each event, and stores it in the infos. Previous readings and records
/// stay as they are, as if no time had passed.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED if the session counts another thread or a CPU, which reading does not slow down;
///   PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
/// Threads: opening thread only.
/// Cost: a few milliseconds.
fn picollo_session_calibrate(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.calibrate()
}
}

/// Takes a reading of all events. If one fails, nothing changes.
///
/// Requires: how is PICOLLO_READ_....
/// Returns: PICOLLO_OK, also if some events were not counted: see their readings; PICOLLO_ERR_WRONG_THREAD;
///   PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
/// Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
/// Cost: one system call per group, unless it reads in user space. If pinned events lost their counters, a few more,
///   and an allocation if they must be opened again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_session_read(
    session: *mut picollo_session,
    how: u32,
    error: *mut picollo_error,
) -> picollo_status {
    if how == ReadMode::Auto as u32 {
        // The hot path, without a landing pad: nothing on it can panic.
        if let Ok(session) = change(session)
            && session.read_unmoved()
        {
            return PICOLLO_OK;
        }
    }
    read_slowly(session, how, error)
}

/// Everything in [`picollo_session_read`] except its hot path.
///
/// # Safety As for [`picollo_session_read`].
#[cold]
#[inline(never)]
unsafe fn read_slowly(session: *mut picollo_session, how: u32, error: *mut picollo_error) -> picollo_status {
    guard_explained(error, || {
        let session = change(session)?;
        session.read(ReadMode::from_raw(how).ok_or(Failure::INVALID_ARGUMENT)?)
    })
}

exported! {
/// Records the last reading of each event into its histogram. An event that was not counted records nothing, and
/// picollo_event_info.not_counted_count grows.
///
/// Returns: PICOLLO_ERR_EMPTY if nothing was read since the base, or since the last record.
/// Cost: a record per event.
fn picollo_session_record(session: *mut picollo_session, since: u32) -> picollo_status {
    let session = change(session)?;
    Ok(session.record(either(since, PICOLLO_SINCE_RESET, PICOLLO_SINCE_PREVIOUS)?)?)
}

/// Reports the last reading of each event. There are as many readings as events.
///
/// Returns: PICOLLO_ERR_EMPTY before the first read since the base.
fn picollo_session_readings(
    session: *const picollo_session,
    since: u32,
    out: *mut picollo_reading,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (session, list) = (read(session)?, list(out, capacity, out_length)?);
    let mut all = [picollo_reading::default(); MAX_EVENTS];
    session.readings(either(since, PICOLLO_SINCE_RESET, PICOLLO_SINCE_PREVIOUS)?, &mut all)?;
    list.fill(all.into_iter(), session.length()?)
}
}

exported! { explained(error)
/// Takes a new base, and resets the histograms. The counters themselves continue.
///
/// Returns: PICOLLO_ERR_OS, and nothing has changed; PICOLLO_ERR_BUSY if others reset the same histogram;
///   PICOLLO_ERR_FORKED. After PICOLLO_ERR_BUSY the event that error names has kept its histogram and its
///   not_counted_count, so these still add up to the records made. The base is new, and all other events are reset.
///   Try again.
/// Cost: one system call per group, and a copy of all counters of the histograms.
fn picollo_session_reset(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.reset()
}
}

exported! {
/// Returns the histogram of an event, for reading. It is in single-writer mode, and picollo_session_record is the
/// writer.
///
/// Requires: nobody else records into it.
/// Returns: for a skipped event (PICOLLO_SESSION_SKIP_UNAVAILABLE) the status of its info, which explains the reason.
/// Ownership: free *out with picollo_histogram_free; it outlives the session.
/// Threads: any thread, one at a time. The histogram may be read on any thread at any time.
fn picollo_session_histogram_ref(
    session: *const picollo_session,
    index: usize,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    // SAFETY: nobody records into it, as the caller promises.
    out.deliver(into_handle(unsafe { session.histogram(index)?.into_unguarded() }))
}
}
