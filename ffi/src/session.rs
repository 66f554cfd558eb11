//! Sessions: performance counters.
//!
//! A session opens events for one target, scheduled together where the processor has room, each with a histogram of
//! its own:
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
//! picollo_session_create, _enable and _reset take a base: values and times from which to count. picollo_session_read
//! takes a reading of all events; deltas are between the last two readings, the first one since the base.
//! picollo_session_record never reads: it records the last deltas, or values since the base, once for each read. An
//! event that was not counted records nothing and is tallied in its info. A running counter is never reset: it gets a
//! new base.
//!
//! Reading in user space: PICOLLO_READ_AUTO does it where the kernel allows it and where a child process has tried the
//! instruction and lived, once in a process for each kind of counter. Should somebody forbid it later, while the session
//! is in use (0 written to /sys/devices/cpu/rdpmc, kernel.perf_user_access set to 0, a move to another hypervisor), the
//! next reading raises SIGSEGV (on aarch64 SIGILL), which ends the process. Nothing tells beforehand, so that no check
//! can prevent it. A program that must not risk that asks for PICOLLO_SESSION_SYSCALL_ONLY, or its user sets the
//! environment variable PICOLLO_RDPMC:
//!
//!     auto, on, 1   as above; also without the variable
//!     off, 0        never read in user space; so does every value that is not listed here
//!     force         read in user space without trying it in a child: for simulators, which make the fault good
//!
//! picollo_perf_probe tells whether counters are read in user space, and why not.
//!
//! Threads: PICOLLO_READ_AUTO and picollo_session_calibrate on the opening thread only; everything else on any
//!   thread, one at a time. After a fork the child can only free its copy: all else is PICOLLO_ERR_FORKED, because
//!   the counters are the parent's.

use core::ffi::c_char;

pub use picollo_native::{EventInfo as picollo_event_info, Reading as picollo_reading};
use picollo_native::{MAX_EVENTS, ReadMode, Session};

use crate::argument::{either, exclusive, input, list, output, slice};
use crate::event::{parse_all, picollo_error, picollo_event};
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_explained, guard_void_uncancelled};
use crate::handles::{picollo_histogram, picollo_session};
use crate::histogram::into_handle;
use crate::memory;
use crate::session_options::{picollo_session_options, read_options};
use crate::snapshot::{PICOLLO_SINCE_PREVIOUS, PICOLLO_SINCE_RESET};
use crate::status::{PICOLLO_OK, picollo_status};

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
/// Opens events, starts counting (without PICOLLO_SESSION_DISABLED), and takes a base.
///
/// The events keep their order and number; the same event may be given twice. Those that find no room beside the
/// others get a group of their own, and are then scheduled by turns: see picollo_event_info.group.
///
/// Requires: events leads to 1 to PICOLLO_SESSION_MAX_EVENTS events.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for options, events or their number outside their ranges;
///   PICOLLO_ERR_UNSUPPORTED for unknown flags and options; and why an event cannot be counted:
///   PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED, PICOLLO_ERR_OS. With
///   PICOLLO_SESSION_SKIP_UNAVAILABLE such events stay as entries without counts instead. error tells which event,
///   and what to do about it.
/// Threads: any thread, which becomes the opening thread.
/// Cost: some system calls and the allocation of a histogram for each event. The first session of a process whose
///   counters may be read in user space takes some hundred microseconds more, for a child process that tries it,
///   whatever memory the process has (the child shares it; where a sandbox refuses that, it is forked, which takes
///   some 0.1 s for each GB in small pages), and 2 to 50 ms where neither the kernel nor the processor says how fast
///   its clock runs. Neither with PICOLLO_SESSION_SYSCALL_ONLY.
fn picollo_session_create(
    options: *const picollo_session_options,
    events: *const picollo_event,
    length: usize,
    out: *mut *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    let (out, options, events) = (output(out)?, read_options(options)?, slice(events, length)?);
    let session = Session::create(&options, events)?;
    out.tell(memory::create(session)?.as_ptr().cast())
}

/// Opens the events that texts name: picollo_event_parse for each, and picollo_session_create for all.
///
/// Requires: specs leads to length texts, 1 to PICOLLO_SESSION_MAX_EVENTS, each as for picollo_event_parse; options
///   as for picollo_session_create.
/// Returns: as picollo_event_parse, also with PICOLLO_SESSION_SKIP_UNAVAILABLE, and as picollo_session_create. error
///   tells which text, and what to do about it.
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
    out.tell(memory::create(session)?.as_ptr().cast())
}
}

/// Closes the events and frees the session. Histograms that picollo_session_histogram_ref gave out live on.
///
/// Threads: any thread; also in a child after a fork.
/// Cost: some system calls for each event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_session_free(session: *mut picollo_session) {
    // SAFETY: from `picollo_session_create`, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(session.cast::<Session>()) });
}

exported! {
/// Tells how many events there are: as many as were given.
fn picollo_session_length(session: *const picollo_session, out: *mut usize) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    out.tell(session.length()?)
}

/// Tells the event at a position, as it was given.
fn picollo_session_event(
    session: *const picollo_session,
    index: usize,
    out: *mut picollo_event,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    out.tell(session.event(index)?)
}

/// Tells how an event came to be counted, or why it is not.
fn picollo_session_event_info(
    session: *const picollo_session,
    index: usize,
    out: *mut picollo_event_info,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    out.tell(session.event_info(index)?)
}
}

exported! { explained(error)
/// Starts counting, and takes a new base. A processor that turns out to count nothing is no error:
/// PICOLLO_EVENT_INFO_SILENT says so.
///
/// Returns: PICOLLO_ERR_OS; and where pinned events had to be opened again without pinning (PICOLLO_SESSION_PINNED),
///   why that was refused: PICOLLO_ERR_NO_SUCH_EVENT, PICOLLO_ERR_PERMISSION, PICOLLO_ERR_UNSUPPORTED,
///   PICOLLO_ERR_OS. These events are closed then, which their infos say, too; with PICOLLO_SESSION_SKIP_UNAVAILABLE
///   only the infos say it. After an error nothing counts.
/// Cost: some system calls.
fn picollo_session_enable(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.enable()
}

/// Stops counting. What was counted can still be read.
///
/// Returns: PICOLLO_ERR_OS.
/// Cost: some system calls.
fn picollo_session_disable(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.disable()
}

/// Measures what a pair of reads adds to each event by itself, and notes it in the infos. What was read and recorded
/// stays as it is, as if no time had passed.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED where another thread or a CPU is counted, which reading does not slow down;
///   PICOLLO_ERR_WRONG_THREAD; PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
/// Threads: opening thread only.
/// Cost: some milliseconds.
fn picollo_session_calibrate(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.calibrate()
}
}

/// Takes a reading of all events: of all of them, or an error that changes nothing.
///
/// Requires: how is PICOLLO_READ_....
/// Returns: PICOLLO_OK, also when some events were not counted: their readings say so; PICOLLO_ERR_WRONG_THREAD;
///   PICOLLO_ERR_OS; PICOLLO_ERR_FORKED.
/// Threads: PICOLLO_READ_AUTO opening thread only; PICOLLO_READ_SYSCALL any thread, one at a time.
/// Cost: one system call for each group. Where pinned events were pushed off their counters, some
///   more, and an allocation if they have to be opened again.
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

/// All of [`picollo_session_read`] that is not its hot path.
///
/// # Safety
/// As for [`picollo_session_read`].
#[cold]
#[inline(never)]
unsafe fn read_slowly(session: *mut picollo_session, how: u32, error: *mut picollo_error) -> picollo_status {
    guard_explained(error, || {
        let session = change(session)?;
        session.read(ReadMode::from_raw(how).ok_or(Failure::INVALID_ARGUMENT)?)
    })
}

exported! {
/// Records the last reading of each event into its histogram. An event that was not counted records nothing, and is
/// tallied in picollo_event_info.not_counted_count.
///
/// Requires: since is PICOLLO_SINCE_PREVIOUS for what was counted between the last two reads, or PICOLLO_SINCE_RESET
///   for what was counted since the base.
/// Returns: PICOLLO_ERR_EMPTY when nothing was read since the base, or since the last record.
/// Cost: a record for each event; no system call, no allocation.
fn picollo_session_record(session: *mut picollo_session, since: u32) -> picollo_status {
    let session = change(session)?;
    Ok(session.record(either(since, PICOLLO_SINCE_RESET, PICOLLO_SINCE_PREVIOUS)?)?)
}

/// Tells the last reading of each event.
///
/// Requires: since as for picollo_session_record. There are as many readings as events.
/// Returns: PICOLLO_ERR_EMPTY before the first read since the base.
/// Cost: none to speak of; no system call, no allocation.
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
/// Takes a new base, and resets the histograms. The counters themselves run on.
///
/// Returns: PICOLLO_ERR_OS, which changes nothing; PICOLLO_ERR_BUSY against others that reset the same histogram;
///   PICOLLO_ERR_FORKED. After PICOLLO_ERR_BUSY the event that error names has kept its histogram together with its
///   not_counted_count, so that the two still add up to the records made; the base is new, and all other events are
///   reset. To be tried again.
/// Cost: one system call for each group, and a copy of all counters of the histograms.
fn picollo_session_reset(
    session: *mut picollo_session,
    error: *mut picollo_error,
) -> picollo_status {
    change(session)?.reset()
}
}

exported! {
/// Gives out the histogram of an event, for reading: it is in single-writer mode, and picollo_session_record is the
/// writer.
///
/// Requires: nobody else records into it.
/// Ownership: *out is a reference of its own, for picollo_histogram_free; it outlives the session.
/// Threads: any thread, one at a time. The histogram may be read on any thread at any time.
fn picollo_session_histogram_ref(
    session: *const picollo_session,
    index: usize,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (session, out) = (read(session)?, output(out)?);
    // SAFETY: nobody records into it, as the caller promises.
    out.tell(into_handle(unsafe { session.histogram(index)?.into_unguarded() }))
}
}
