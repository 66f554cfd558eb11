//! Events by the names that the processor's maker gave them, as libpfm4 encodes them.

use core::ffi::c_char;

use crate::base::error::{Error, Result, Status};
use crate::base::text;
use crate::event::disputed::disputed;
use crate::event::event::Event;
use crate::event::modifiers::{
    EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE, EVENT_PRECISE_MASK, EVENT_USER,
};
use crate::event::pfm::{Encoded, KERNEL_RING, Library, ListedEvent, Pfm, Refusal, USER_RING};
use crate::event::processor::{Fit, Processor, explain, is_known};
use crate::event::spelling::{malformed, parse_modifiers};
use crate::os::kernel::{flag, kind};
use crate::os::sys::{Files, Kernel};

/// What came of a name that nothing else knows.
// By value, as errors are: nothing here may allocate.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Answer {
    Known(Event),
    /// What there is to say to whoever expected the library to know it; may be empty.
    Unknown([c_char; 200]),
    /// The library knows the event, but not with these attributes: what it says to that.
    Wrong([c_char; 80]),
    /// The library knows it, and it can still not be used.
    Refused(Error),
}

fn unknown(why: core::fmt::Arguments<'_>) -> Answer {
    let mut hint = [0; 200];
    text::set(&mut hint, why);
    Answer::Unknown(hint)
}

/// The event that a name means to the library, if it is one of this processor.
pub(crate) fn find<S: Files, L: Library>(sys: &S, library: &L, spec: &str) -> Answer {
    let (encoded, letters) = match encode(library, spec) {
        Ok(found) => found,
        Err(Refusal::Absent) => {
            return unknown(format_args!(
                "libpfm4, which knows the processor's own names, is not installed here"
            ));
        }
        Err(Refusal::Broken(why)) => {
            return unknown(format_args!("libpfm4 cannot be used: {}", text::get(&why)));
        }
        Err(Refusal::NoMemory) => return Answer::Refused(Status::OutOfMemory.into()),
        Err(Refusal::Unknown) => return unknown_to(sys, library),
        Err(Refusal::Wrong(why)) => return Answer::Wrong(why),
    };
    let pmu = text::get(&encoded.pmu);
    // The kernel's own names, which are known here without it, and what counts for more than a core, which the kernel names better:
    // with its unit and scale.
    if !encoded.is_core {
        return unknown(format_args!(
            "libpfm4 knows it for {pmu:.40}, which is no PMU of a core: picollo events lists what the kernel calls such events"
        ));
    }
    if !is_plain(pmu) {
        return unknown(format_args!("libpfm4 cannot be used: it calls a PMU \"{pmu:.40}\""));
    }
    let mut why = [0; 200];
    let processor = Processor::read(sys);
    if processor.fits(pmu) != Fit::Fits && !library.is_forced(pmu) {
        explain(pmu, &processor, &mut why);
        return Answer::Refused(Error::new(
            Status::NoSuchEvent,
            format_args!(
                "\"{spec:.80}\" is not known to be an event of this processor: libpfm4 encodes it for {pmu}, but {}. \
                 LIBPFM_FORCE_PMU={pmu} in the environment takes it for that all the same",
                text::get(&why)
            ),
        ));
    }
    if let Some(other) = disputed(pmu, text::get(&encoded.full), encoded.attr.config) {
        let mut intels = [0; 60];
        match other.beside {
            0 => text::set(&mut intels, format_args!("r{:x}", other.code)),
            beside => {
                text::set(&mut intels, format_args!("cpu/config={:#x},config1={beside:#x}/", other.code))
            }
        }
        return Answer::Refused(Error::new(
            Status::NoSuchEvent,
            format_args!(
                "\"{spec:.120}\" has two codes: libpfm4 says r{:x}, and Intel's own list {}. Name the event by the code that you trust",
                encoded.attr.config,
                text::get(&intels)
            ),
        ));
    }
    match event(&encoded, spec, letters, library) {
        Ok(event) => Answer::Known(event),
        Err(error) => Answer::Refused(error),
    }
}

/// A name of a PMU as all of them are.
fn is_plain(pmu: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=40).contains(&pmu.len()) && pmu.bytes().all(plain)
}

/// Why the library does not know a name: it has none for this processor, or others.
fn unknown_to<S: Files, L: Library>(sys: &S, library: &L) -> Answer {
    let mut any = false;
    let _ = library.list(&mut |_| any = true);
    match any {
        true => unknown(format_args!("")),
        false => unknown(format_args!("libpfm4 has no names for this processor, {}", Processor::read(sys))),
    }
}

/// The encoding, and the modifiers that the library did not take for its own attributes.
///
/// Behind the last colon may stand letters of ours (`:upp`) or an attribute of the library's (`:u`, `:c=2`, `:L1_MISS`). What it does not
/// know is ours. Upper case it takes as well, and would make `:H` its hypervisor and `:I` its inversion, which here are host and idle: those
/// are ours, too, unless they are a unit mask's name.
fn encode<L: Library>(library: &L, spec: &str) -> core::result::Result<(Encoded, u32), Refusal> {
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

/// What the kernel is to be asked for, as an event.
fn event<L: Library>(encoded: &Encoded, spec: &str, letters: u32, library: &L) -> Result<Event> {
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
    // Cut, it might name another event.
    if pmu.len() + "::".len() + name.len() >= event.name.len() {
        return Err(malformed(spec, "the name is too long: with its PMU it may have 127 characters"));
    }
    text::set(&mut event.name, format_args!("{pmu}::{name}"));
    Ok(event)
}

/// The modifiers that the name's attributes stand for.
fn modifiers<L: Library>(encoded: &Encoded, spec: &str, letters: u32, library: &L) -> u32 {
    let flags = encoded.attr.flags;
    let precise = (flags & flag::PRECISE_MASK) / flag::precise(1);
    let mut modifiers = (precise as u32 * EVENT_PRECISE) & EVENT_PRECISE_MASK;
    let named = match spec.rsplit_once(':') {
        Some((name, _)) if letters != 0 => name,
        _ => spec,
    };
    // Who names no ring gets the one that is the default: another default is another answer.
    let rings = flag::EXCLUDE_USER | flag::EXCLUDE_KERNEL;
    let of_rings = |part: &str| {
        let (name, _) = part.split_once('=').unwrap_or((part, ""));
        ["u", "k", "h"].iter().any(|ring| ring.eq_ignore_ascii_case(name))
    };
    let is_chosen = named.split([':', '.']).any(of_rings)
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
        // Where the processor has no hypervisor's ring, nothing says so but the name spelled out.
        if has("h=1") {
            set(flag::EXCLUDE_HV, EVENT_HYPERVISOR);
        }
    }
    // Its default leaves guests out; ours says nothing. So only what was written counts.
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

/// Whether an event was taken for this processor's on somebody's word only; then `why` has what speaks against it.
pub(crate) fn is_doubtful<S: Files>(sys: &S, event: &Event, why: &mut [c_char]) -> bool {
    let Some((pmu, _)) = event.name().split_once("::").filter(|_| event.r#type >= kind::RAW) else {
        return false;
    };
    // Somebody who fills in an event may call it what they like; only PMUs that are known are spoken of.
    let processor = Processor::read(sys);
    match processor.fits(pmu) {
        Fit::Fits | Fit::UnknownPmu => false,
        Fit::UnknownProcessor | Fit::Mixed if !is_known(pmu) => false,
        _ => {
            explain(pmu, &processor, why);
            true
        }
    }
}

/// Calls `each` with the names that libpfm4 has for this processor. `each` must parse no events.
///
/// Errors: `NoSuchEvent` where there are none, with the reason: libpfm4 is not installed, does not know the processor, or takes it for
/// another one.
pub fn processor_events(each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<()> {
    list(&Kernel, &Pfm, each)
}

/// The names that the library has for this processor, without those of PMUs that it is not known to have.
pub(crate) fn list<S: Files, L: Library>(
    sys: &S,
    library: &L,
    each: &mut dyn FnMut(&ListedEvent<'_>),
) -> Result<()> {
    let processor = Processor::read(sys);
    let (mut last, mut is_ours) = ([0; 64], false);
    let (mut why, mut any) = ([0; 200], false);
    let result = library.list(&mut |event| {
        if text::get(&last) != event.pmu {
            text::set(&mut last, format_args!("{}", event.pmu));
            is_ours = is_plain(event.pmu)
                && (processor.fits(event.pmu) == Fit::Fits || library.is_forced(event.pmu));
            if !is_ours {
                explain(event.pmu, &processor, &mut why);
            }
        }
        if is_ours {
            any = true;
            each(event);
        }
    });
    let refused = |why: core::fmt::Arguments<'_>| Err(Error::new(Status::NoSuchEvent, why));
    match result {
        Err(Refusal::Absent) => {
            refused(format_args!("libpfm4, which knows the processor's own names, is not installed here"))
        }
        Err(Refusal::Broken(why)) => refused(format_args!("libpfm4 cannot be used: {}", text::get(&why))),
        Err(Refusal::NoMemory) => Err(Status::OutOfMemory.into()),
        Err(Refusal::Unknown | Refusal::Wrong(_)) => refused(format_args!("libpfm4 lists no events")),
        Ok(()) if any => Ok(()),
        Ok(()) if !text::get(&why).is_empty() => refused(format_args!(
            "libpfm4 is not known to be right about this processor: {}",
            text::get(&why)
        )),
        Ok(()) => refused(format_args!("libpfm4 has no names for this processor, {processor}")),
    }
}

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
