//! Events by the names that the processor's maker gave them, as libpfm4 encodes them.

use core::ffi::c_char;
use core::fmt;

use crate::event::disputed::disputed;
use crate::event::event::Event;
use crate::event::modifiers::{
    EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE, EVENT_PRECISE_MASK, EVENT_USER,
};
use crate::event::pfm::{Encoded, KERNEL_RING, Library, ListedEvent, Pfm, Refusal, USER_RING};
use crate::event::processor::is_disproved;
use crate::event::spelling::{malformed, parse_modifiers};
use picollo_native::seam::failure;
use picollo_native::seam::kernel::{flag, kind};
use picollo_native::seam::sys::{Files, Kernel};
use picollo_native::seam::text;
use picollo_native::{ExplainedError, Result, Status};

const NO_NAMES: &str = "libpfm4 has no names for this processor";

/// Returns the event that the library has for a name, if it belongs to this processor.
pub(crate) fn find(
    sys: &dyn Files,
    library: &dyn Library,
    spec: &str,
) -> core::result::Result<Event, Refusal> {
    let (encoded, letters) = encode(library, spec).map_err(|refusal| match refusal {
        // The library has no names for this processor at all, or it has others.
        Refusal::Unknown(why) if why.message().is_empty() => {
            let mut any = false;
            let _ = library.list(&mut |_| any = true);
            Refusal::unknown(format_args!("{}", if any { "" } else { NO_NAMES }))
        }
        other => other,
    })?;
    let refused =
        |why: fmt::Arguments<'_>| Err(Refusal::Refused(ExplainedError::new(Status::NoSuchEvent, why)));
    let pmu = text::get(&encoded.pmu);
    // The kernel's own names are known here without the library. The kernel also has better names for what counts
    // beyond a core: they come with unit and scale.
    if !encoded.is_core {
        return Err(Refusal::unknown(format_args!(
            "libpfm4 knows it for {pmu:.40}, which is no PMU of a core: picollo events lists what the kernel calls such events"
        )));
    }
    if !is_plain(pmu) {
        return Err(Refusal::unknown(format_args!("libpfm4 cannot be used: it calls a PMU \"{pmu:.40}\"")));
    }
    if !library.is_forced(pmu) {
        let here = |why: fmt::Arguments<'_>| {
            refused(format_args!(
                "\"{spec:.80}\" cannot be counted: {why}. LIBPFM_FORCE_PMU={pmu} in the environment counts it all the same"
            ))
        };
        if !encoded.is_present {
            return here(format_args!("libpfm4 reports that this processor is not a {pmu}"));
        }
        let mut why = [0; 200];
        if is_disproved(sys, pmu, &mut why) {
            return here(format_args!("{}", text::get(&why)));
        }
    }
    let config = encoded.attr.config;
    if let Some(other) = disputed(pmu, text::get(&encoded.full), config) {
        let intels = fmt::from_fn(|f| match other.beside {
            0 => write!(f, "r{:x}", other.code),
            beside => write!(f, "cpu/config={:#x},config1={beside:#x}/", other.code),
        });
        return refused(format_args!(
            "\"{spec:.120}\" has two codes: libpfm4 says r{config:x}, and Intel's own list {intels}. Name the event by the code that you trust"
        ));
    }
    event(&encoded, spec, letters, library).map_err(Refusal::Refused)
}

/// Whether a PMU's name looks like all others.
fn is_plain(pmu: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=40).contains(&pmu.len()) && pmu.bytes().all(plain)
}

/// Returns the encoding, and the modifiers that the library did not take for its own attributes.
///
/// After the last colon come letters of ours (`:upp`) or an attribute of the library's (`:u`, `:c=2`, `:L1_MISS`). If
/// the library does not know it, it is ours. It also accepts upper case, and would read `:H` as hypervisor and `:I` as
/// inversion. Here these mean host and idle, so they are ours too, unless they name a unit mask.
fn encode(library: &dyn Library, spec: &str) -> core::result::Result<(Encoded, u32), Refusal> {
    let whole = library.encode(spec, USER_RING);
    let Some((name, letters)) = spec.rsplit_once(':').filter(|(name, _)| !name.ends_with(':')) else {
        return whole.map(|encoded| (encoded, 0));
    };
    let Some(modifiers) = parse_modifiers(letters) else { return whole.map(|encoded| (encoded, 0)) };
    let is_a_mask =
        |encoded: &Encoded| text::get(&encoded.full).split([':', '.']).any(|part| part == letters);
    match whole {
        Ok(encoded) if letters.bytes().all(|letter| letter.is_ascii_lowercase()) || is_a_mask(&encoded) => {
            Ok((encoded, 0))
        }
        Ok(_) | Err(Refusal::Wrong(_)) => Ok((library.encode(name, USER_RING)?, modifiers)),
        Err(refusal) => Err(refusal),
    }
}

/// The event that the kernel is asked for.
fn event(encoded: &Encoded, spec: &str, letters: u32, library: &dyn Library) -> Result<Event> {
    let attr = &encoded.attr;
    if attr.sample_period != 0 || attr.flags & (flag::PINNED | flag::EXCLUSIVE) != 0 || encoded.cpu >= 0 {
        let why = "period, freq, excl, pinned and cpu are no part of an event: sessions decide them";
        return Err(malformed(spec, why));
    }
    let mut event = Event::new(attr.kind, attr.config);
    (event.config1, event.config2, event.config3) = (attr.config1, attr.config2, attr.config3);
    event.modifiers = letters | modifiers(encoded, spec, letters, library);
    let pmu = text::get(&encoded.pmu);
    let name = spec.split_once("::").map_or(spec, |(_, name)| name);
    // If cut, the name might mean another event.
    if pmu.len() + "::".len() + name.len() >= event.name.len() {
        return Err(malformed(spec, "the name is too long: with its PMU it may have 127 characters"));
    }
    text::set(&mut event.name, format_args!("{pmu}::{name}"));
    Ok(event)
}

/// The modifiers that the name's attributes mean.
fn modifiers(encoded: &Encoded, spec: &str, letters: u32, library: &dyn Library) -> u32 {
    let flags = encoded.attr.flags;
    let precise = (flags & flag::PRECISE_MASK) / flag::precise(1);
    let mut modifiers = (precise as u32 * EVENT_PRECISE) & EVENT_PRECISE_MASK;
    let named = match spec.rsplit_once(':') {
        Some((name, _)) if letters != 0 => name,
        _ => spec,
    };
    // A name that chooses no ring gets the default ring, so another default changes the encoding.
    let rings = flag::EXCLUDE_USER | flag::EXCLUDE_KERNEL;
    let is_ring = |part: &str| {
        let (name, _) = part.split_once('=').unwrap_or((part, ""));
        ["u", "k", "h"].iter().any(|ring| ring.eq_ignore_ascii_case(name))
    };
    let is_chosen = named.split([':', '.']).any(is_ring)
        && library.encode(named, KERNEL_RING).is_ok_and(|other| other.attr.flags & rings == flags & rings);
    let has = |attribute: &str| text::get(&encoded.full).split(':').any(|part| part == attribute);
    if is_chosen {
        let mut set = |excluded: u64, modifier: u32| {
            if flags & excluded == 0 {
                modifiers |= modifier;
            }
        };
        set(flag::EXCLUDE_USER, EVENT_USER);
        set(flag::EXCLUDE_KERNEL, EVENT_KERNEL);
        // If the processor has no ring for a hypervisor, only the spelled-out name shows this choice.
        if has("h=1") {
            set(flag::EXCLUDE_HV, EVENT_HYPERVISOR);
        }
    }
    // The library's default excludes guests; ours does not. So only attributes that were written count.
    let written = |attribute: &str| {
        named.split([':', '.']).any(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, "1"));
            name.eq_ignore_ascii_case(attribute) && matches!(value, "1" | "y" | "Y" | "t" | "T")
        })
    };
    if written("mh") {
        modifiers |= EVENT_HOST;
    }
    if written("mg") {
        modifiers |= EVENT_GUEST;
    }
    modifiers
}

/// Whether an event was accepted only because the user forced its PMU. If so, `why` gets the evidence against it.
pub(crate) fn is_doubtful(sys: &dyn Files, event: &Event, why: &mut [c_char]) -> bool {
    let pmu = event.name().split_once("::").filter(|_| event.r#type >= kind::RAW);
    pmu.is_some_and(|(pmu, _)| is_disproved(sys, pmu, why))
}

/// Calls `each` with the names that libpfm4 has for this processor. `each` must parse no events.
///
/// Errors: `NoSuchEvent` if there are no names, with the reason: libpfm4 is not installed, does not know the processor,
/// or takes it for another one.
pub fn processor_events(each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<()> {
    list(&Kernel, &Pfm, each)
}

/// Lists the library's names for this processor, without those of PMUs that it cannot have.
pub(crate) fn list(
    sys: &dyn Files,
    library: &dyn Library,
    each: &mut dyn FnMut(&ListedEvent<'_>),
) -> Result<()> {
    let (mut last, mut is_ours) = ([0; 64], false);
    let (mut why, mut any) = ([0; 200], false);
    let result = library.list(&mut |event| {
        if text::get(&last) != event.pmu {
            text::set(&mut last, format_args!("{}", event.pmu));
            is_ours = is_plain(event.pmu)
                && (library.is_forced(event.pmu) || !is_disproved(sys, event.pmu, &mut why));
        }
        if is_ours {
            any = true;
            each(event);
        }
    });
    result.map_err(Refusal::error)?;
    match text::get(&why) {
        _ if any => Ok(()),
        "" => Err(failure!(NoSuchEvent, "{NO_NAMES}")),
        why => Err(failure!(NoSuchEvent, "{why}")),
    }
}

#[cfg(test)]
#[path = "named_tests.rs"]
pub(super) mod tests;
