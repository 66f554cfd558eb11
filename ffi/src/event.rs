//! Events: what can be counted.

use core::ffi::c_char;

use picollo_native::{
    EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE,
    EVENT_PRECISE_MASK, EVENT_USER, Event, probe,
};
pub use picollo_native::{Error as picollo_error, Event as picollo_event, PerfInfo as picollo_perf_info};

use crate::argument::{output, text};
use crate::failure::Failure;
use crate::guard::guard_uncancelled;
use crate::status::picollo_status;

/// Count in user space. Any of user, kernel and hypervisor takes the place of the session's choice.
pub const PICOLLO_EVENT_USER: u32 = 1 << 0;
/// Count in the kernel.
pub const PICOLLO_EVENT_KERNEL: u32 = 1 << 1;
/// Count in the hypervisor.
pub const PICOLLO_EVENT_HYPERVISOR: u32 = 1 << 2;
/// Precision 0 to 3, times this: as p, pp and ppp of perf. Dropped where the machine does not offer it.
pub const PICOLLO_EVENT_PRECISE: u32 = 1 << 3;
/// Both bits of the precision.
pub const PICOLLO_EVENT_PRECISE_MASK: u32 = 3 << 3;
/// Do not count in guests.
pub const PICOLLO_EVENT_HOST: u32 = 1 << 5;
/// Count in guests only.
pub const PICOLLO_EVENT_GUEST: u32 = 1 << 6;
/// Do not count while idle.
pub const PICOLLO_EVENT_EXCLUDE_IDLE: u32 = 1 << 7;

const _: () = assert!(
    PICOLLO_EVENT_USER == EVENT_USER
        && PICOLLO_EVENT_KERNEL == EVENT_KERNEL
        && PICOLLO_EVENT_HYPERVISOR == EVENT_HYPERVISOR
        && PICOLLO_EVENT_PRECISE == EVENT_PRECISE
        && PICOLLO_EVENT_PRECISE_MASK == EVENT_PRECISE_MASK
        && PICOLLO_EVENT_HOST == EVENT_HOST
        && PICOLLO_EVENT_GUEST == EVENT_GUEST
        && PICOLLO_EVENT_EXCLUDE_IDLE == EVENT_EXCLUDE_IDLE
);

/// Finds the event that a text names:
///
/// - generic events in perf's spelling or a plain one: cycles, instructions, branch-misses, page-faults, task-clock,
///   L1-dcache-load-misses, L1D-read-miss; case, - and _ do not matter; display names such as Hardware:CpuCycles work
///   too;
/// - raw events of the processor: r01c2;
/// - breakpoints: mem:0xADDRESS/8:w (length 1, 2, 4 or 8, by default 4; r, w, rw or x, by default rw);
/// - tracepoints: sched:sched_switch;
/// - events of any PMU that the kernel lists: cpu/event=0x3c,umask=0x1/, msr/tsc/;
/// - where libpfm4 is installed, names that none of these know: the processor's own, MEM_LOAD_RETIRED.L1_MISS, with libpfm4's
///   attributes (:c=2:u). The display name begins with the PMU and two colons, and means the event of that PMU or none. A
///   PMU that this processor is not known to have is refused, unless the variable LIBPFM_FORCE_PMU names it.
///
/// Modifiers may follow behind a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
/// while idle. Whether the event can be counted is found out by picollo_session_create.
///
/// Requires: spec is NUL-terminated UTF-8; error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (spec, out); PICOLLO_ERR_INVALID_ARGUMENT for text that is no event
///   name, and for letters that are no modifiers; PICOLLO_ERR_NO_SUCH_EVENT for one that this machine does not know, with
///   the nearest that it does; PICOLLO_ERR_PERMISSION where the kernel's list of tracepoints may not be read;
///   PICOLLO_ERR_OUT_OF_MEMORY; PICOLLO_ERR_OS.
/// Threads: any thread.
/// Cost: microseconds for generic events; others read files of the kernel. Names that nothing else knows load libpfm.so.4, the
///   first of them, which takes about a millisecond and stays loaded.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_event_parse(
    spec: *const c_char,
    out: *mut picollo_event,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        if spec.is_null() {
            return Err(Failure::NULL_POINTER.into());
        }
        // SAFETY: the caller's promises, passed on.
        let (spec, out) = unsafe { (text(spec)?, output(out)?) };
        out.set(Event::parse(spec)?);
        Ok(())
    })
}

/// The events that texts name.
///
/// # Safety
/// Each that is not NULL must lead to a NUL-terminated string that nobody changes during the call.
#[cfg(feature = "std")]
pub unsafe fn parse_all(specs: &[*const c_char]) -> Result<Vec<picollo_event>, picollo_error> {
    use crate::session_options::PICOLLO_SESSION_MAX_EVENTS;
    use picollo_native::Status;

    if specs.len() > PICOLLO_SESSION_MAX_EVENTS {
        let why =
            format_args!("a session has at most {PICOLLO_SESSION_MAX_EVENTS} events, not {}", specs.len());
        return Err(picollo_error::new(Status::InvalidArgument, why));
    }
    let mut events = Vec::new();
    events.try_reserve_exact(specs.len()).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for (index, &spec) in specs.iter().enumerate() {
        let of_it = |error: picollo_error| error.with_event(index);
        if spec.is_null() {
            return Err(of_it(Failure::NULL_POINTER.into()));
        }
        // SAFETY: the caller's promise, passed on.
        let spec = unsafe { text(spec) }.map_err(|failure| of_it(failure.into()))?;
        events.push(Event::parse(spec).map_err(of_it)?);
    }
    Ok(events)
}

/// There is no memory for them, nor anything that counts.
///
/// # Safety
/// None: nothing is looked at.
#[cfg(not(feature = "std"))]
pub unsafe fn parse_all(_: &[*const c_char]) -> Result<[picollo_event; 0], picollo_error> {
    Err(Failure::UNSUPPORTED.into())
}

/// Looks what this machine can count, what is missing and how to get it.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK, also where nothing can be counted: out says so; PICOLLO_ERR_NULL_POINTER (out).
/// Threads: any thread.
/// Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond. Where counters may be
///   read in user space, the first time also what the first picollo_session_create takes for a child process.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_perf_probe(
    out: *mut picollo_perf_info,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promise, passed on.
        let out = unsafe { output(out)? };
        out.set(probe());
        Ok(())
    })
}
