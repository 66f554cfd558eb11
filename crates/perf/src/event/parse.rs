//! How events are named: the texts that [`Event::parse`] takes.

use core::fmt;

use crate::event::event::Event;
use crate::event::near::Near;
use crate::event::pfm::{Library, NoLibrary, Pfm, Refusal};
use crate::event::spelling::{
    bad_modifiers, malformed, parse_modifiers, parse_number, strip_prefix_ignoring_case,
};
use crate::event::{named, names, sysfs};
use picollo_native::seam::failure;
use picollo_native::seam::kernel::kind;
use picollo_native::seam::sys::{Files, Kernel};
use picollo_native::{ExplainedError, Result, Status};

impl Event {
    /// The event that a text names.
    ///
    /// - Generic events in perf's spelling or a plain one: `cycles`, `branch-misses`, `page-faults`, `L1-dcache-load-misses`,
    ///   `L1D-read-miss`. Case, `-` and `_` do not matter. Display names such as `Hardware:CpuCycles` work too.
    /// - Raw events of the CPU: `r01c2` (hexadecimal).
    /// - Breakpoints: `mem:0xADDRESS/8:w` (length 1, 2, 4 or 8, by default 4; access `r`, `w`, `rw` or `x`, by default `rw`).
    /// - Tracepoints: `sched:sched_switch`.
    /// - Events of any PMU that the kernel lists: `cpu/event=0x3c,umask=0x1/`, `msr/tsc/`.
    /// - If libpfm4 is installed, the processor's own names: `MEM_LOAD_RETIRED.L1_MISS`. Attributes follow as libpfm4
    ///   spells them (`:c=2:u`). Display names begin with the PMU, `skx::MEM_LOAD_RETIRED.L1_MISS`, and mean only that
    ///   PMU's event. Names for PMUs that this processor cannot have are refused, unless `LIBPFM_FORCE_PMU` names the
    ///   PMU.
    ///
    /// Modifiers may follow behind a colon: `u` user, `k` kernel, `h` hypervisor, `p` to `ppp` precision, `H` host, `G` guest,
    /// `I` not while idle.
    ///
    /// Errors: `InvalidArgument` for text that is not an event name and for unknown modifiers, `NoSuchEvent` for an
    /// event that this machine does not know, `Permission` if the kernel's list of tracepoints may not be read.
    pub fn parse(spec: &str) -> Result<Event> {
        Event::parse_among(&Kernel, &Pfm, spec)
    }

    /// [`Event::parse`] on a given system that has no libpfm4.
    #[doc(hidden)]
    pub fn parse_with(sys: &dyn Files, spec: &str) -> Result<Event> {
        Event::parse_among(sys, &NoLibrary, spec)
    }

    /// [`Event::parse`] on a given system, with a library that knows the processor's own names.
    #[doc(hidden)]
    pub fn parse_among(sys: &dyn Files, library: &dyn Library, spec: &str) -> Result<Event> {
        let spec = spec.trim();
        if spec.is_empty() || spec.len() > 256 || spec.contains(|c: char| c.is_control()) {
            return Err(malformed(spec, "an event name has 1 to 256 printable characters"));
        }
        if let Some(rest) =
            strip_prefix_ignoring_case(spec, "mem:").or(strip_prefix_ignoring_case(spec, "breakpoint:"))
        {
            return breakpoint(spec, rest);
        }
        if spec.contains('/') {
            return sysfs::dynamic(sys, spec);
        }
        if let Some(event) = generic(spec, 0) {
            return Ok(event);
        }
        if let Some((name, letters)) = spec.rsplit_once(':')
            && let Some(modifiers) = parse_modifiers(letters)
            && let Some(event) = generic(name, modifiers)
        {
            return Ok(event);
        }
        if split_type(spec).is_some() && !spec.contains("::") {
            // A known event's name means that event, unless there is a tracepoint of the same name.
            let letters = known_before_colon(spec);
            let error = || {
                letters.map_or_else(
                    || unknown_event(sys, library, spec, ""),
                    |letters| bad_modifiers(spec, letters),
                )
            };
            let named = spec.split_once(':').map(|(system, rest)| sysfs::tracepoint(sys, spec, system, rest));
            return named.and_then(Result::ok).ok_or_else(error);
        }
        let tracepoint =
            match spec.split_once(':').map(|(system, rest)| sysfs::tracepoint(sys, spec, system, rest)) {
                Some(Ok(event)) => return Ok(event),
                Some(Err(error)) => Some(error),
                None => None,
            };
        let meant = known_before_colon(spec).map(|letters| bad_modifiers(spec, letters));
        named::find(sys, library, spec).map_err(|refusal| match (meant, refusal, tracepoint) {
            (Some(error), ..) | (None, Refusal::Refused(error), _) => error,
            (None, Refusal::Wrong(why), _) => wrong_form(sys, library, spec, why.message()),
            (None, Refusal::Unknown(hint), None) => unknown_event(sys, library, spec, hint.message()),
            (None, Refusal::Unknown(hint), Some(error)) => {
                unknown_pair(sys, library, spec, hint.message(), error)
            }
        })
    }
}

/// Returns the names that are nearest to an unknown one.
fn nearest<'a>(sys: &dyn Files, library: &dyn Library, spec: &'a str) -> Near<'a> {
    let mut near = Near::new(spec);
    near.offer_generic();
    near.offer_devices(sys, sysfs::DEVICES);
    let _ = named::list(sys, library, &mut |event| near.offer(event.name));
    near
}

/// The event names nearest to an unknown one, as a question after a full stop; empty if none is near.
pub fn did_you_mean(name: &str) -> impl fmt::Display {
    nearest(&Kernel, &Pfm, name)
}

/// The error for text that looks like no kind of event. `hint` explains why libpfm4 does not know it.
fn unknown_event(sys: &dyn Files, library: &dyn Library, spec: &str, hint: &str) -> ExplainedError {
    let near = nearest(sys, library, spec);
    let also = if hint.is_empty() { "" } else { ". " };
    if !near.is_empty() {
        let why = format_args!("unknown event \"{spec:.120}\"{near}{}{hint}", also.trim_start_matches('.'));
        return ExplainedError::new(Status::NoSuchEvent, why);
    }
    failure!(
        NoSuchEvent,
        "unknown event \"{spec:.80}\". Known are names such as cycles, branch-misses, cache-misses, L1-dcache-load-misses, \
             page-faults, task-clock; raw codes such as r01c2; mem:0xADDRESS/8:w; tracepoints such as sched:sched_switch; \
             and pmu/term=value/{also}{hint}"
    )
}

/// The error for an event that libpfm4 knows, with attributes that it does not know.
fn wrong_form(sys: &dyn Files, library: &dyn Library, spec: &str, why: &str) -> ExplainedError {
    let mut near = Near::new(spec).or_longer();
    let _ = named::list(sys, library, &mut |event| near.offer(event.name));
    let why = if why.is_empty() { "no reason given" } else { why };
    malformed(spec, format_args!("libpfm4 knows the event, but not in this form: {why}{near}"))
}

/// The error for `a:b`, which may have been meant as a tracepoint or as an event with attributes.
fn unknown_pair(
    sys: &dyn Files,
    library: &dyn Library,
    spec: &str,
    hint: &str,
    tracepoint: ExplainedError,
) -> ExplainedError {
    // Two colons mean a name of libpfm4's.
    if spec.contains("::") {
        return unknown_event(sys, library, spec, hint);
    }
    let mut near = nearest(sys, library, spec);
    if let Some((system, name)) = spec.split_once(':') {
        let mut tracepoints = Near::new(name);
        sysfs::offer_tracepoints(sys, system, &mut tracepoints);
        if !tracepoints.is_empty() {
            near = tracepoints;
        }
    }
    let is_told = near.is_empty() || tracepoint.status() == Status::Permission;
    // Processor makers write names in capitals; authors of tracepoints do not.
    let is_a_makers = !hint.is_empty() && spec.bytes().any(|letter| letter.is_ascii_uppercase());
    match (is_told, is_a_makers) {
        (true, false) => tracepoint,
        (true, true) => {
            ExplainedError::new(tracepoint.status(), format_args!("{}. {hint}", tracepoint.message()))
                .with_errno(tracepoint.os_errno())
        }
        (false, _) => failure!(NoSuchEvent, "unknown event \"{spec:.120}\"{near}"),
    }
}

/// Returns what follows the colon after a known event's name.
fn known_before_colon(spec: &str) -> Option<&str> {
    let known = |&(position, _): &(usize, &str)| generic(&spec[..position], 0).is_some();
    spec.rmatch_indices(':').find(known).map(|(position, _)| &spec[position + 1..])
}

/// For a name that begins with its type, as display names do: the rest of the name, and the type.
fn split_type(name: &str) -> Option<(&str, u32)> {
    let typed = |prefix, kind| strip_prefix_ignoring_case(name, prefix).map(|rest| (rest, kind));
    typed("hardware:", kind::HARDWARE)
        .or(typed("software:", kind::SOFTWARE))
        .or(typed("cache:", kind::CACHE))
        .or(typed("raw:", kind::RAW))
}

/// A named or raw event, whose name has no modifiers.
fn generic(name: &str, modifiers: u32) -> Option<Event> {
    let (plain, within) = split_type(name).map_or((name, None), |(plain, kind)| (plain, Some(kind)));
    let raw_digits = |plain: &str| {
        let digits = strip_prefix_ignoring_case(plain, "r")?;
        let digits = strip_prefix_ignoring_case(digits, "0x").unwrap_or(digits);
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok())?
    };
    let (kind, config) = match within {
        Some(kind::RAW) => (kind::RAW, parse_number(plain).or_else(|| raw_digits(plain))?),
        _ => match names::find(plain, within) {
            Some(found) => found,
            None if within.is_none() => (kind::RAW, raw_digits(plain)?),
            None => return None,
        },
    };
    let mut event = Event::new(kind, config);
    event.modifiers = modifiers;
    event.set_name(format_args!("{}", names::display(kind, config)));
    Some(event)
}

/// `ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]`.
fn breakpoint(spec: &str, rest: &str) -> Result<Event> {
    let mut parts = rest.split(':');
    let place = parts.next().unwrap_or_default();
    let (address, length) = match place.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (place, None),
    };
    let address = parse_number(address).ok_or_else(|| malformed(spec, "the address is not a number"))?;
    let mut part = parts.next();
    let has_access = part.and_then(parse_access).is_some();
    let access = match part.and_then(parse_access) {
        Some(access) => {
            part = parts.next();
            access
        }
        None => 3,
    };
    let modifiers = match part {
        None => 0,
        // If the access is missing, these letters may have been meant as one.
        Some(letters) => parse_modifiers(letters).ok_or_else(|| match has_access {
            true => bad_modifiers(spec, letters),
            false => malformed(spec, "after the address come the access (r, w, rw or x) and modifiers"),
        })?,
    };
    if parts.next().is_some() {
        return Err(malformed(spec, "there is something behind the modifiers"));
    }
    if access & 4 != 0 && access != 4 {
        return Err(malformed(spec, "a breakpoint is for execution (x) or for data (r, w, rw), not both"));
    }
    let length = match length {
        // perf's defaults: a word of data. For instructions the kernel requires the size of a long.
        None if access == 4 => size_of::<usize>() as u64,
        None => 4,
        Some(length) => parse_number(length)
            .filter(|length| matches!(length, 1 | 2 | 4 | 8))
            .ok_or_else(|| malformed(spec, "the length is 1, 2, 4 or 8"))?,
    };
    let mut event = Event::new(kind::BREAKPOINT, 0);
    (event.config1, event.config2, event.bp_type, event.modifiers) = (address, length, access, modifiers);
    let letters = match access {
        1 => "r",
        2 => "w",
        3 => "rw",
        _ => "x",
    };
    event.set_name(format_args!("Breakpoint:{address:#x}/{length}:{letters}"));
    Ok(event)
}

fn parse_access(letters: &str) -> Option<u32> {
    let mut access = 0;
    for letter in letters.bytes() {
        access |= match letter {
            b'r' => 1,
            b'w' => 2,
            b'x' => 4,
            _ => return None,
        };
    }
    (access != 0).then_some(access)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
