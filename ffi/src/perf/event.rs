//! Events that can be counted.

use core::ffi::c_char;

pub use picollo_perf::{Event as picollo_event, PerfInfo as picollo_perf_info};
use picollo_perf::{Event, probe};

use crate::argument::{output, text};
use crate::failure::Failure;
use crate::guard::exported;
use crate::status::{picollo_error, picollo_status};

exported! { explained(error)
/// Finds the event that a text names:
///
/// - generic events in perf's spelling or a plain one: cycles, instructions, branch-misses, page-faults, task-clock,
///   L1-dcache-load-misses, L1D-read-miss; case, - and _ do not matter; display names such as Hardware:CpuCycles work
///   too;
/// - raw events of the processor: r01c2;
/// - breakpoints: mem:0xADDRESS/8:w (length 1, 2, 4 or 8, by default 4; r, w, rw or x, by default rw);
/// - tracepoints: sched:sched_switch;
/// - events of any PMU that the kernel lists: cpu/event=0x3c,umask=0x1/, msr/tsc/;
/// - other names if libpfm4 is installed: the processor's own, such as MEM_LOAD_RETIRED.L1_MISS, with libpfm4's
///   attributes (:c=2:u). The display name begins with the PMU and two colons, and means only the event of that PMU.
///   A PMU that this processor cannot have is refused, unless the variable LIBPFM_FORCE_PMU names it.
///
/// Modifiers may follow after a colon: u user, k kernel, h hypervisor, p to ppp precision, H host, G guest, I not
/// while idle. picollo_session_create determines whether the event can be counted.
///
/// Requires: spec is not NULL.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for text that is not an event name, and for unknown modifiers;
///   PICOLLO_ERR_NO_SUCH_EVENT if this machine does not know the event, with the nearest that it knows;
///   PICOLLO_ERR_PERMISSION if the kernel's list of tracepoints is unreadable; PICOLLO_ERR_OUT_OF_MEMORY;
///   PICOLLO_ERR_OS.
/// Cost: microseconds for generic events; others read files of the kernel. The first name that only libpfm4 knows
///   loads libpfm.so.4, which takes about a millisecond and stays loaded.
fn picollo_event_parse(
    spec: *const c_char,
    out: *mut picollo_event,
    error: *mut picollo_error,
) -> picollo_status {
    if spec.is_null() {
        return Err(Failure::NULL_POINTER.into());
    }
    let (spec, out) = (text(spec)?, output(out)?);
    out.deliver(Event::parse(spec)?)
}
}

/// Parses the names of events.
///
/// # Safety
/// Each that is not NULL must lead to a NUL-terminated string that nobody changes during the call.
#[cfg(feature = "std")]
pub unsafe fn parse_all(specs: &[*const c_char]) -> Result<Vec<picollo_event>, picollo_error> {
    use picollo_native::Status;
    use picollo_perf::MAX_EVENTS;

    if specs.len() > MAX_EVENTS {
        let why = format_args!("a session has at most {MAX_EVENTS} events, not {}", specs.len());
        return Err(picollo_error::new(Status::InvalidArgument, why));
    }
    let mut events = Vec::new();
    events.try_reserve_exact(specs.len()).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for (index, &spec) in specs.iter().enumerate() {
        let located = |error: picollo_error| error.with_event(index);
        if spec.is_null() {
            return Err(located(Failure::NULL_POINTER.into()));
        }
        let spec = text(spec).map_err(|failure| located(failure.into()))?;
        events.push(Event::parse(spec).map_err(located)?);
    }
    Ok(events)
}

exported! { explained(error)
/// Determines what this machine can count, what is missing, and how to get it.
///
/// Returns: PICOLLO_OK, also if nothing can be counted: see out.
/// Cost: opens a counter and closes it again, and reads files of the kernel: about a millisecond. If counters can be
///   read in user space, the first call also takes the time of a child process; see picollo_session_create.
fn picollo_perf_probe(
    out: *mut picollo_perf_info,
    error: *mut picollo_error,
) -> picollo_status {
    output(out)?.deliver(probe())
}
}
