//! Events that the kernel describes in its file systems: tracepoints, and the PMUs under `/sys/bus/event_source/devices`.

use core::fmt;

use crate::event::event::Event;
use crate::event::near::Near;
use crate::event::spelling::{bad_modifiers, malformed, parse_modifiers, parse_number};
use picollo_native::seam::failure;
use picollo_native::seam::kernel::kind;
use picollo_native::seam::sys::{Errno, Files};
use picollo_native::seam::text;
use picollo_native::{ExplainedError, Result};

/// Where the kernel lists its PMUs.
pub(crate) const DEVICES: &str = "/sys/bus/event_source/devices";
/// Where tracepoints are described: tracefs, then its older home.
const TRACING: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Reads a small file whole into the buffer.
fn read<'a>(
    sys: &dyn Files,
    buffer: &'a mut [u8],
    path: fmt::Arguments<'_>,
) -> core::result::Result<&'a str, Errno> {
    core::str::from_utf8(sys.file(path, buffer)?).map(str::trim).map_err(|_| Errno(libc::EILSEQ))
}

/// The kernel's number of a PMU, which is the type of its events.
pub(crate) fn pmu_type(sys: &dyn Files, pmu: &str) -> Option<u32> {
    let mut buffer = [0; 32];
    let number = parse_number(read(sys, &mut buffer, format_args!("{DEVICES}/{pmu}/type")).ok()?)?;
    u32::try_from(number).ok()
}

/// Whether a name can be one path component: nothing in it may lead out of its directory.
fn is_component(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(plain) && !name.starts_with('.')
}

/// `system:event`.
pub(crate) fn tracepoint(sys: &dyn Files, spec: &str, system: &str, rest: &str) -> Result<Event> {
    let (name, modifiers) = match rest.split_once(':') {
        Some((name, letters)) => {
            (name, parse_modifiers(letters).ok_or_else(|| bad_modifiers(spec, letters))?)
        }
        None => (rest, 0),
    };
    if !is_component(system) || !is_component(name) {
        return Err(malformed(spec, "a tracepoint is named system:event, such as sched:sched_switch"));
    }
    let mut denied = false;
    for root in TRACING {
        let mut buffer = [0; 32];
        match read(sys, &mut buffer, format_args!("{root}/events/{system}/{name}/id")).map(parse_number) {
            Ok(Some(id)) => {
                let mut event = Event::new(kind::TRACEPOINT, id);
                event.modifiers = modifiers;
                event.set_name(format_args!("Tracepoint:{system}:{name}"));
                return Ok(event);
            }
            Err(Errno(libc::EACCES | libc::EPERM)) => denied = true,
            _ => {}
        }
    }
    if denied {
        return Err(failure!(
            Permission,
            "the tracepoint {system}:{name} cannot be looked up: only root may read {}. Run as root, or \
             mount -o remount,mode=755 {0}",
            TRACING[0]
        )
        .with_errno(libc::EACCES));
    }
    Err(failure!(NoSuchEvent, "unknown event \"{system}:{name}\": it is no generic event, and {}/events has no such tracepoint (is tracefs \
         mounted? mount -t tracefs none {0})",
        TRACING[0]).with_errno(libc::ENOENT))
}

/// Offers the tracepoints of a system.
pub(crate) fn offer_tracepoints(sys: &dyn Files, system: &str, near: &mut Near<'_>) {
    if !is_component(system) {
        return;
    }
    for root in TRACING {
        let mut path = [0; 200];
        text::set(&mut path, format_args!("{root}/events/{system}"));
        let _ = sys.list(text::get(&path), &mut |name| {
            // The system's own files lie beside its tracepoints.
            if !matches!(name, "enable" | "filter") {
                near.offer_as(name, format_args!("{system}:{name}"));
            }
        });
    }
}

/// `pmu/term[=value],…/modifiers`.
pub(crate) fn dynamic(sys: &dyn Files, spec: &str) -> Result<Event> {
    let (pmu, rest) = spec.split_once('/').unwrap_or((spec, ""));
    let (terms, letters) = rest.rsplit_once('/').ok_or_else(|| {
        malformed(spec, "an event of a PMU is written pmu/term=value,…/, with both slashes")
    })?;
    let letters = letters.strip_prefix(':').unwrap_or(letters);
    let modifiers = match letters {
        "" => 0,
        _ => parse_modifiers(letters).ok_or_else(|| bad_modifiers(spec, letters))?,
    };
    if !is_component(pmu) || terms.contains('/') {
        return Err(malformed(spec, "that cannot be the name of a PMU"));
    }
    let kind = pmu_type(sys, pmu).ok_or_else(|| unknown_pmu(sys, pmu))?;
    let mut event = Event::new(kind, 0);
    event.modifiers = modifiers;
    apply_terms(sys, &mut event, spec, pmu, terms, true)?;
    event.set_name(format_args!("{pmu}/{terms}/"));
    Ok(event)
}

fn unknown_pmu(sys: &dyn Files, pmu: &str) -> ExplainedError {
    let names = fmt::from_fn(|f| {
        let mut result = Ok(());
        let _ = sys.list(DEVICES, &mut |name| result = result.and_then(|()| write!(f, " {name}")));
        result
    });
    failure!(NoSuchEvent, "this machine has no PMU \"{pmu}\". {DEVICES} lists:{names}")
        .with_errno(libc::ENOENT)
}

/// Applies a list of terms. Aliases (`events/NAME`) expand to lists that hold no further aliases.
fn apply_terms(
    sys: &dyn Files,
    event: &mut Event,
    spec: &str,
    pmu: &str,
    terms: &str,
    aliases: bool,
) -> Result<()> {
    for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        let (name, value) = match term.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (term, None),
        };
        if !is_component(name) {
            return Err(malformed(spec, "a term is a name, or a name, an equals sign and a number"));
        }
        let mut buffer = [0; 256];
        let format = read(sys, &mut buffer, format_args!("{DEVICES}/{pmu}/format/{name}"));
        // A format of this name comes first, then an alias, then the kernel's fields by their own names.
        if format.is_err() && value.is_none() && aliases {
            let mut buffer = [0; 512];
            if let Ok(expansion) = read(sys, &mut buffer, format_args!("{DEVICES}/{pmu}/events/{name}")) {
                apply_terms(sys, event, spec, pmu, expansion, false)?;
                apply_unit(sys, event, pmu, name);
                continue;
            }
        }
        let value = match value {
            None => 1,
            Some("?") => {
                return Err(malformed(
                    spec,
                    "this event needs a number where its description has a question mark",
                ));
            }
            Some(digits) => {
                parse_number(digits).ok_or_else(|| malformed(spec, "a term's value is not a number"))?
            }
        };
        let bits = match (&format, name) {
            (Ok(bits), _) => bits,
            (Err(_), "config" | "config1" | "config2" | "config3") => name,
            _ => {
                let mut near = Near::new(name);
                for place in ["events", "format"] {
                    let mut path = [0; 300];
                    text::set(&mut path, format_args!("{DEVICES}/{pmu}/{place}"));
                    let _ = sys.list(text::get(&path), &mut |known| near.offer(known));
                }
                return Err(failure!(NoSuchEvent, "the PMU \"{pmu}\" knows no event or term \"{name}\": see {DEVICES}/{pmu}/events and …/format{near}").with_errno(libc::ENOENT));
            }
        };
        scatter(event, bits, value).map_err(|why| malformed(spec, why))?;
    }
    Ok(())
}

/// Applies the scale and unit of an alias, if the kernel gives them.
fn apply_unit(sys: &dyn Files, event: &mut Event, pmu: &str, alias: &str) {
    let mut buffer = [0; 64];
    if let Ok(scale) = read(sys, &mut buffer, format_args!("{DEVICES}/{pmu}/events/{alias}.scale"))
        && let Ok(scale) = scale.parse::<f64>()
        && scale.is_finite()
        && scale != 0.0
    {
        event.scale = scale;
    }
    let mut buffer = [0; 64];
    if let Ok(unit) = read(sys, &mut buffer, format_args!("{DEVICES}/{pmu}/events/{alias}.unit")) {
        event.set_unit(unit);
    }
}

/// Puts a value into the bits that a format names, such as `config1:0-7,32-35`: lowest value bit first, in the order written.
fn scatter(event: &mut Event, format: &str, value: u64) -> core::result::Result<(), &'static str> {
    const MALFORMED: &str = "the kernel's description of a term cannot be understood";
    let (field, ranges) = format.split_once(':').unwrap_or((format, "0-63"));
    let target = match field.trim() {
        "config" => &mut event.config,
        "config1" => &mut event.config1,
        "config2" => &mut event.config2,
        "config3" => &mut event.config3,
        _ => return Err(MALFORMED),
    };
    let (mut rest, mut used, mut result) = (value, 0u64, *target);
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let bit = |digits: &str| digits.trim().parse::<u32>().ok().filter(|&bit| bit < 64).ok_or(MALFORMED);
        let (first, last) = (bit(first)?, bit(last)?);
        if first > last {
            return Err(MALFORMED);
        }
        let width = last - first + 1;
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        // Bits named twice would receive part of the value twice.
        if used & mask << first != 0 {
            return Err(MALFORMED);
        }
        used |= mask << first;
        result = result & !(mask << first) | (rest & mask) << first;
        rest = rest.checked_shr(width).unwrap_or(0);
    }
    if rest != 0 {
        return Err("a term's value has more bits than the PMU has room for");
    }
    *target = result;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_native::Status;
    use proptest::prelude::*;

    proptest! {
        /// Compares with the simple way: one bit at a time.
        #[test]
        fn scattering_bit_by_bit(
            (value, shift) in (any::<u64>(), 0u32..64), before: u64, ranges in prop::collection::vec((0u32..64, 1u32..20), 1..4)
        ) {
            // Of any length: most ranges have no room for 64 bits.
            let value = value >> shift;
            let mut bits = Vec::new();
            let mut text = String::new();
            for (first, width) in ranges {
                let last = (first + width - 1).min(63);
                bits.extend(first..=last);
                text += &format!("{}{first}-{last}", if text.is_empty() { "config:" } else { "," });
            }
            let distinct = bits.iter().collect::<std::collections::BTreeSet<_>>().len() == bits.len();
            let fits = bits.len() >= 64 || value >> bits.len() == 0;
            let mut expected = before;
            for (position, bit) in bits.iter().enumerate() {
                let one = position < 64 && value >> position & 1 != 0;
                expected = expected & !(1 << bit) | u64::from(one) << bit;
            }
            let mut event = Event::new(4, before);
            let result = scatter(&mut event, &text, value);
            prop_assert_eq!(result.is_ok(), distinct && fits, "{}", text);
            prop_assert_eq!(event.config, if result.is_ok() { expected } else { before });
        }
    }

    #[test]
    fn the_msr_pmu_of_this_machine() {
        if std::fs::metadata("/sys/bus/event_source/devices/msr/events/tsc").is_err() {
            eprintln!("SKIPPED: this machine has no msr PMU");
            return;
        }
        let event = Event::parse("msr/tsc/").unwrap();
        assert_eq!((event.config, event.name()), (0, "msr/tsc/"));
        assert!(event.r#type > 5);
        assert_eq!(Event::parse("msr/event=0x00/"), Ok(event));
        assert_eq!(Event::parse("msr/no-such/").unwrap_err().status(), Status::NoSuchEvent);
    }

    #[test]
    fn unknown_and_malformed() {
        let error = Event::parse("no_such_pmu/event=1/").unwrap_err();
        assert_eq!(error.status(), Status::NoSuchEvent);
        assert!(error.message().contains("no_such_pmu") && error.message().contains("software"), "{error}");
        for wrong in ["/", "//", "cpu/event=1", "../x/y/", "a/b/c/", "msr/tsc/zz"] {
            assert_eq!(Event::parse(wrong).unwrap_err().status(), Status::InvalidArgument, "{wrong}");
        }
        assert_ne!(Event::parse("nosuch:tracepoint").unwrap_err().status(), Status::InvalidArgument);
    }
}
