//! What knows the events of processors by their makers' names: libpfm4, or nobody where it is not installed. What it is asked goes through [`Library`], so that tests can stand in for it.

use core::ffi::{c_char, c_int};
use core::ptr;

use crate::base::text;
use crate::os::kernel::Attr;
use crate::os::pfm::{
    CORE, EncodeArguments, FOR_PERF, Functions, Held, INVALID, NO_MEMORY, NOT_FOUND, PmuInfo, UMASK,
    Unloaded, broken, copy, load,
};

/// The longest name that is asked for or told, with its NUL.
pub(crate) const NAME: usize = 256;

/// A name's encoding.
pub struct Encoded {
    /// What the kernel is to be asked for.
    pub attr: Attr,
    /// The CPU that the name asks for; -1: none.
    pub cpu: i32,
    /// The PMU that it is an event of.
    pub pmu: [c_char; 64],
    /// The PMU counts for a core: it is no part of what cores share, nor the kernel's own.
    pub is_core: bool,
    /// The name with all attributes spelled out.
    pub full: [c_char; 512],
}

/// Why there is no encoding.
pub enum Refusal {
    /// The library is not installed.
    Absent,
    /// It is there, and of no use: why.
    Broken([c_char; 160]),
    /// It has no memory.
    NoMemory,
    /// It does not know the name.
    Unknown,
    /// It knows the event, but not so: why.
    Wrong([c_char; 80]),
}

/// An event that the library lists.
pub struct ListedEvent<'a> {
    /// The PMU.
    pub pmu: &'a str,
    /// `EVENT`, or `EVENT.UMASK`.
    pub name: &'a str,
    /// What it counts.
    pub about: &'a str,
}

impl From<Unloaded> for Refusal {
    fn from(why: Unloaded) -> Refusal {
        match why {
            Unloaded::Absent => Refusal::Absent,
            Unloaded::NoMemory => Refusal::NoMemory,
            Unloaded::Broken(why) => Refusal::Broken(why),
        }
    }
}

/// What knows events of processors by name.
pub trait Library {
    /// Encodes a name. `ring` is where it counts if the name does not say: [`USER_RING`] or [`KERNEL_RING`].
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal>;
    /// Calls `each` with the events of the PMUs of cores that the library takes this machine to have. `each` must not call the library.
    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal>;
    /// Whether the user said that the machine has this PMU.
    fn is_forced(&self, pmu: &str) -> bool;
}

/// `PFM_PLM3`.
pub const USER_RING: i32 = 8;
/// `PFM_PLM0`.
pub const KERNEL_RING: i32 = 1;

/// No library.
pub struct Nobody;

impl Library for Nobody {
    fn encode(&self, _: &str, _: i32) -> Result<Encoded, Refusal> {
        Err(Refusal::Absent)
    }

    fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        Err(Refusal::Absent)
    }

    fn is_forced(&self, _: &str) -> bool {
        false
    }
}

/// The library that is installed.
pub struct Pfm;

impl Library for Pfm {
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal> {
        let mut spelled = [0; NAME + 1];
        if name.len() >= spelled.len() || name.bytes().any(|byte| byte == 0) {
            return Err(Refusal::Unknown);
        }
        text::set(&mut spelled, format_args!("{name}"));
        let held = Held::take();
        let functions = load(&held)?;
        let attr = Attr { size: size_of::<Attr>() as u32, ..Attr::default() };
        let mut found = Encoded { attr, cpu: -1, pmu: [0; 64], is_core: false, full: [0; 512] };
        let mut full = ptr::null_mut();
        let mut arguments = EncodeArguments {
            attr: &mut found.attr,
            full: &mut full,
            size: size_of::<EncodeArguments>(),
            index: -1,
            cpu: -1,
            flags: 0,
            padding: 0,
        };
        // SAFETY: a NUL-terminated name; the structures are as large as their sizes say, and live during the call.
        let result =
            unsafe { (functions.encode)(spelled.as_ptr(), ring, FOR_PERF, (&raw mut arguments).cast()) };
        let (index, cpu) = (arguments.index, arguments.cpu);
        copy(full, &mut found.full);
        // SAFETY: the library's answer, from the C library's malloc, and the caller's to free; or NULL.
        unsafe { libc::free(full.cast()) };
        match result {
            0 => {}
            // A name with a comma in it is two names to it.
            NOT_FOUND | INVALID => return Err(Refusal::Unknown),
            NO_MEMORY => return Err(Refusal::NoMemory),
            _ => {
                let mut why = [0; 80];
                functions.why(result, &mut why);
                return Err(Refusal::Wrong(why));
            }
        }
        found.cpu = cpu;
        let pmu = match functions.event_info(index) {
            Err(NO_MEMORY) => return Err(Refusal::NoMemory),
            info => info.ok().and_then(|info| functions.pmu_info(info.pmu)),
        };
        let pmu = pmu.ok_or_else(|| broken(format_args!("it does not say which PMU the event is of")))?;
        found.is_core = pmu.kind == CORE;
        copy(pmu.name, &mut found.pmu);
        Ok(found)
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        let held = Held::take();
        let functions = load(&held)?;
        // Numbers of PMUs have gaps, and newer versions have more of them.
        for pmu in (0..4096).filter_map(|number| functions.pmu_info(number)) {
            // The lowest bit, as compilers lay out bit-fields on little-endian machines.
            let present = if cfg!(target_endian = "little") { 1 } else { 1 << 31 };
            if pmu.flags & present == 0 || pmu.kind != CORE {
                continue;
            }
            let mut index = pmu.first_event;
            let mut left = pmu.events;
            while index >= 0 && left > 0 {
                list_event(&functions, &pmu, index, each)?;
                // SAFETY: takes any number.
                index = unsafe { (functions.next)(index) };
                left -= 1;
            }
        }
        Ok(())
    }

    fn is_forced(&self, pmu: &str) -> bool {
        let mut forced = [0; 128];
        // SAFETY: a NUL-terminated name. The library reads it in the same way.
        copy(unsafe { libc::getenv(c"LIBPFM_FORCE_PMU".as_ptr()) }, &mut forced);
        forces(text::get(&forced), pmu)
    }
}

/// Whether what a user set is this PMU's name, or begins it, up to a comma: so the library takes it. Nothing means nothing, other than to
/// the library, which takes it for its first PMU.
fn forces(forced: &str, pmu: &str) -> bool {
    let name = forced.split(',').next().unwrap_or_default();
    let begin = pmu.as_bytes().get(..name.len());
    !name.is_empty() && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
}

/// An event, and each of its unit masks as an event. What the library does not tell of is left out, but not for want of memory.
fn list_event(
    functions: &Functions,
    pmu: &PmuInfo,
    index: c_int,
    each: &mut dyn FnMut(&ListedEvent<'_>),
) -> Result<(), Refusal> {
    let event = match functions.event_info(index) {
        Err(NO_MEMORY) => return Err(Refusal::NoMemory),
        Err(_) => return Ok(()),
        Ok(event) => event,
    };
    let (mut name, mut about, mut of) = ([0; NAME], [0; 512], [0; 64]);
    copy(pmu.name, &mut of);
    copy(event.name, &mut name);
    let mut has_masks = false;
    for at in 0..event.attributes.min(4096) {
        let attribute = match functions.attribute_info(index, at) {
            Err(NO_MEMORY) => return Err(Refusal::NoMemory),
            Ok(attribute) if attribute.kind == UMASK => attribute,
            _ => continue,
        };
        has_masks = true;
        let (mut mask, mut with_mask) = ([0; NAME], [0; NAME]);
        copy(attribute.name, &mut mask);
        copy(attribute.about, &mut about);
        text::set(&mut with_mask, format_args!("{}.{}", text::get(&name), text::get(&mask)));
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&with_mask), about: text::get(&about) });
    }
    if !has_masks {
        copy(event.about, &mut about);
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&name), about: text::get(&about) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_forces() {
        for (forced, pmu, is) in [
            ("skx", "skx", true),
            ("SKX", "skx", true),
            ("skx,1", "skx", true),
            ("sk", "skx", true),
            ("skx", "skl", false),
            ("skxx", "skx", false),
            ("", "skx", false),
            (",skx", "skx", false),
            ("ä", "ä", true),
        ] {
            assert_eq!(forces(forced, pmu), is, "{forced} {pmu}");
        }
    }
}
