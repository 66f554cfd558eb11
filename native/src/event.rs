//! Events: what can be counted, and how it is named.

use core::ffi::c_char;
use core::fmt::{self, Write};

use crate::error::{Error, Result, Status};
use crate::kernel::kind;
use crate::sys::{Kernel, Sys};
use crate::{names, sysfs, text};

/// Count in user space. Any of user, kernel and hypervisor overrides the session's choice.
pub const EVENT_USER: u32 = 1 << 0;
/// Count in the kernel.
pub const EVENT_KERNEL: u32 = 1 << 1;
/// Count in the hypervisor.
pub const EVENT_HYPERVISOR: u32 = 1 << 2;
/// The lowest bit of the precision, 0 to 3, as perf's `p`, `pp` and `ppp`. Dropped where the PMU refuses it.
pub const EVENT_PRECISE: u32 = 1 << 3;
/// Both bits of the precision.
pub const EVENT_PRECISE_MASK: u32 = 3 << 3;
/// Do not count in guests.
pub const EVENT_HOST: u32 = 1 << 5;
/// Count in guests only.
pub const EVENT_GUEST: u32 = 1 << 6;
/// Do not count while idle.
pub const EVENT_EXCLUDE_IDLE: u32 = 1 << 7;

const ANY_RING: u32 = EVENT_USER | EVENT_KERNEL | EVENT_HYPERVISOR;
const ALL_MODIFIERS: u32 = ANY_RING | EVENT_PRECISE_MASK | EVENT_HOST | EVENT_GUEST | EVENT_EXCLUDE_IDLE;

/// An event that can be counted. Same layout as `picollo_event` in C; make one with [`Event::parse`] or fill in the fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// The event's number within its type.
    pub config: u64,
    /// More of it; the address of a breakpoint.
    pub config1: u64,
    /// More of it; the length of a breakpoint.
    pub config2: u64,
    /// More of it.
    pub config3: u64,
    /// What one count is worth in `unit`; 1 where the PMU gives none.
    pub scale: f64,
    /// The kernel's event type.
    pub r#type: u32,
    /// Breakpoints: 1 read, 2 write, 3 both, 4 execute.
    pub bp_type: u32,
    /// [`EVENT_USER`] and its siblings; 0: the session's choice.
    pub modifiers: u32,
    /// 0.
    pub reserved: u32,
    /// Unit of the scaled count, NUL-terminated.
    pub unit: [c_char; 16],
    /// Display name, NUL-terminated.
    pub name: [c_char; 128],
}

const _: () = assert!(size_of::<Event>() == 200 && core::mem::offset_of!(Event, name) == 72);

impl Event {
    /// The event that a text names.
    ///
    /// - Generic events in perf's spelling or a plain one: `cycles`, `branch-misses`, `page-faults`, `L1-dcache-load-misses`,
    ///   `L1D-read-miss`. Case, `-` and `_` do not matter. Display names such as `Hardware:CpuCycles` work too.
    /// - Raw events of the CPU: `r01c2` (hexadecimal).
    /// - Breakpoints: `mem:0xADDRESS/8:w` (length 1, 2, 4 or 8, by default 4; access `r`, `w`, `rw` or `x`, by default `rw`).
    /// - Tracepoints: `sched:sched_switch`.
    /// - Events of any PMU that the kernel lists: `cpu/event=0x3c,umask=0x1/`, `msr/tsc/`.
    ///
    /// Modifiers may follow behind a colon: `u` user, `k` kernel, `h` hypervisor, `p` to `ppp` precision, `H` host, `G` guest,
    /// `I` not while idle.
    ///
    /// Errors: `InvalidArgument` for text that is no event name, `NoSuchEvent` for one that this machine does not know,
    /// `Permission` where the kernel's list of tracepoints may not be read.
    pub fn parse(spec: &str) -> Result<Event> {
        Event::parse_with(&Kernel, spec)
    }

    /// [`Event::parse`] on a given system.
    pub fn parse_with<S: Sys>(sys: &S, spec: &str) -> Result<Event> {
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
        if let Some((system, rest)) = spec.split_once(':') {
            return sysfs::tracepoint(sys, spec, system, rest);
        }
        Err(Error::new(
            Status::NoSuchEvent,
            format_args!(
                "unknown event \"{spec}\". Known are names such as cycles, instructions, branch-misses, cache-misses, \
                 L1-dcache-load-misses, page-faults, task-clock, context-switches; raw codes such as r01c2; \
                 mem:0xADDRESS/8:w; tracepoints such as sched:sched_switch; and pmu/term=value/"
            ),
        ))
    }

    /// A generic event by the kernel's numbers.
    pub fn new(kind: u32, config: u64) -> Event {
        let mut event = Event {
            config,
            config1: 0,
            config2: 0,
            config3: 0,
            scale: 1.0,
            r#type: kind,
            bp_type: 0,
            modifiers: 0,
            reserved: 0,
            unit: [0; 16],
            name: [0; 128],
        };
        event.name_by(format_args!("{}", names::Display { kind, config }));
        event
    }

    /// Replaces the display name and adds the modifiers to it.
    pub(crate) fn name_by(&mut self, name: fmt::Arguments<'_>) {
        let modifiers = Modifiers(self.modifiers);
        text::set(&mut self.name, format_args!("{name}{modifiers}"));
    }

    /// Replaces the unit.
    pub(crate) fn set_unit(&mut self, unit: &str) {
        text::set(&mut self.unit, format_args!("{unit}"));
    }

    /// The display name, such as `Hardware:CpuCycles`.
    pub fn name(&self) -> &str {
        text::get(&self.name)
    }

    /// The unit of the scaled count; empty where the PMU gives none.
    pub fn unit(&self) -> &str {
        text::get(&self.unit)
    }

    /// Whether the event itself says where to count.
    pub(crate) fn chooses_rings(&self) -> bool {
        self.modifiers & ANY_RING != 0
    }

    /// Whether the fields are ones that the kernel can be asked for.
    pub(crate) fn is_well_formed(&self) -> bool {
        self.modifiers & !ALL_MODIFIERS == 0
            && self.reserved == 0
            && (self.r#type != kind::BREAKPOINT || (1..=4).contains(&self.bp_type))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("name", &self.name())
            .field("type", &self.r#type)
            .field("config", &format_args!("{:#x}", self.config))
            .field("config1", &format_args!("{:#x}", self.config1))
            .field("config2", &format_args!("{:#x}", self.config2))
            .field("config3", &format_args!("{:#x}", self.config3))
            .field("bp_type", &self.bp_type)
            .field("modifiers", &self.modifiers)
            .field("scale", &self.scale)
            .field("unit", &self.unit())
            .finish()
    }
}

impl PartialEq for Event {
    /// Whether both count the same thing; names do not matter.
    fn eq(&self, other: &Event) -> bool {
        let numbers = |event: &Event| (event.config, event.config1, event.config2, event.config3);
        let rest = |event: &Event| (event.r#type, event.bp_type, event.modifiers);
        numbers(self) == numbers(other) && rest(self) == rest(other)
    }
}

/// Writes modifiers the way they are parsed.
struct Modifiers(u32);

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 & ALL_MODIFIERS == 0 {
            return Ok(());
        }
        f.write_char(':')?;
        let letters = [(EVENT_USER, 'u'), (EVENT_KERNEL, 'k'), (EVENT_HYPERVISOR, 'h')];
        let more = [(EVENT_HOST, 'H'), (EVENT_GUEST, 'G'), (EVENT_EXCLUDE_IDLE, 'I')];
        for (bit, letter) in letters.into_iter().chain(more) {
            if self.0 & bit != 0 {
                f.write_char(letter)?;
            }
        }
        for _ in 0..(self.0 & EVENT_PRECISE_MASK) / EVENT_PRECISE {
            f.write_char('p')?;
        }
        Ok(())
    }
}

/// The modifiers that a run of letters stands for; `None` when it is not one.
pub(crate) fn parse_modifiers(letters: &str) -> Option<u32> {
    let mut modifiers = 0;
    for letter in letters.bytes() {
        match letter {
            b'u' => modifiers |= EVENT_USER,
            b'k' => modifiers |= EVENT_KERNEL,
            b'h' => modifiers |= EVENT_HYPERVISOR,
            b'p' if modifiers & EVENT_PRECISE_MASK < EVENT_PRECISE_MASK => modifiers += EVENT_PRECISE,
            b'P' => modifiers |= EVENT_PRECISE_MASK,
            b'H' => modifiers |= EVENT_HOST,
            b'G' => modifiers |= EVENT_GUEST,
            b'I' => modifiers |= EVENT_EXCLUDE_IDLE,
            _ => return None,
        }
    }
    (!letters.is_empty()).then_some(modifiers)
}

/// A number as people write it: `0x` and hexadecimal, or decimal.
pub(crate) fn parse_number(digits: &str) -> Option<u64> {
    let (digits, radix) = match strip_prefix_ignoring_case(digits, "0x") {
        Some(rest) => (rest, 16),
        None => (digits, 10),
    };
    // from_str_radix would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

pub(crate) fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// An `InvalidArgument` that quotes the text.
pub(crate) fn malformed(spec: &str, why: &str) -> Error {
    Error::new(Status::InvalidArgument, format_args!("malformed event \"{spec:.120}\": {why}"))
}

/// A named or raw event without modifiers of its own.
fn generic(name: &str, modifiers: u32) -> Option<Event> {
    let typed = |prefix, kind| strip_prefix_ignoring_case(name, prefix).map(|rest| (rest, Some(kind)));
    let (plain, within) = typed("hardware:", kind::HARDWARE)
        .or(typed("software:", kind::SOFTWARE))
        .or(typed("cache:", kind::CACHE))
        .or(typed("raw:", kind::RAW))
        .unwrap_or((name, None));
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
    event.name_by(format_args!("{}", names::Display { kind, config }));
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
    let access = match part.and_then(parse_access) {
        Some(access) => {
            part = parts.next();
            access
        }
        None => 3,
    };
    let modifiers = match part {
        None => 0,
        Some(letters) => parse_modifiers(letters).ok_or_else(|| {
            malformed(spec, "after the address come the access (r, w, rw or x) and modifiers")
        })?,
    };
    if parts.next().is_some() {
        return Err(malformed(spec, "there is something behind the modifiers"));
    }
    if access & 4 != 0 && access != 4 {
        return Err(malformed(spec, "a breakpoint is for execution (x) or for data (r, w, rw), not both"));
    }
    let length = match length {
        // perf's defaults: a word of data; the kernel wants the size of a long for instructions.
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
    event.name_by(format_args!("Breakpoint:{address:#x}/{length}:{letters}"));
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
#[path = "event_tests.rs"]
mod tests;
