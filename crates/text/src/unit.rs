//! Values with their units, for people: `526 ns`, `4.51 µs`, `1.23 GB`.

use core::fmt::{self, Display};

use crate::escape::trim;
use picollo_core::seam::{Decimal, NOT_AVAILABLE, write_rounded, write_scientific};

/// The spellings of known units, with their kind and power of ten.
const KNOWN: [(&[&str], Kind); 8] = [
    (&["ps", "picosecond", "picoseconds"], Kind::Time(-12)),
    (&["ns", "nanosecond", "nanoseconds"], Kind::Time(-9)),
    (&["us", "µs", "μs", "microsecond", "microseconds"], Kind::Time(-6)),
    (&["ms", "millisecond", "milliseconds"], Kind::Time(-3)),
    (&["s", "sec", "second", "seconds"], Kind::Time(0)),
    (&["B", "byte", "bytes"], Kind::Bytes),
    (&["cycle", "cycles"], Kind::Count),
    (&["instruction", "instructions"], Kind::Count),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Unknown: numbers are unchanged.
    Raw,
    /// A power of ten of a second.
    Time(i32),
    Bytes,
    /// A number of things whose name appears elsewhere.
    Count,
}

/// The unit of values.
///
/// Known units are times (`ps`, `ns`, `us`, `ms`, `s` and their long names), `bytes`, `cycles` and `instructions`.
/// Values in these have three digits and a prefix; values in other units, and without one, are unchanged.
///
/// ```
/// use picollo_text::Unit;
///
/// assert_eq!(Unit::new("ns").integer(4_509_696).to_string(), "4.51 ms");
/// assert_eq!(Unit::new("ns").integer(526).to_string(), "526 ns");
/// assert_eq!(Unit::new("apples").integer(4_509_696).to_string(), "4,509,696");
/// assert_eq!(Unit::from_title("Sorting (us)"), ("Sorting", Unit::new("us")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit<'a> {
    name: &'a str,
    kind: Kind,
}

impl<'a> Unit<'a> {
    /// No unit: numbers are unchanged.
    pub const NONE: Unit<'static> = Unit { name: "", kind: Kind::Raw };
    /// A number of things: `181 k`.
    pub const COUNT: Unit<'static> = Unit { name: "", kind: Kind::Count };

    /// The unit with this name. An unknown unit has its name, and leaves numbers unchanged.
    pub fn new(name: &'a str) -> Unit<'a> {
        let name = trim(name);
        let is_same = |known: &str| known == name || known.len() > 2 && known.eq_ignore_ascii_case(name);
        let found = KNOWN.iter().find(|(names, _)| names.iter().copied().any(is_same));
        Unit { name, kind: found.map_or(Kind::Raw, |(_, kind)| *kind) }
    }

    /// The unit that a title ends with, in parentheses or after a comma, and the title without it if values name it:
    /// `Latency (ns)` and `Latency, ns` become `Latency`. A title that is only a unit stays: `Nanoseconds`. Only known
    /// units count: `Sorting (fast)` has no unit. Titles of events that are clocks, such as `task-clock`, are in
    /// nanoseconds.
    pub fn from_title(title: &'a str) -> (&'a str, Unit<'a>) {
        let title = trim(title);
        let ends = [('(', ")"), ('[', "]"), (',', "")];
        for (start, end) in ends {
            let inside = title.strip_suffix(end).and_then(|rest| rest.rsplit_once(start));
            let Some((before, unit)) = inside.map(|(before, name)| (before, Unit::new(name))) else {
                continue;
            };
            match unit.kind {
                Kind::Raw => {}
                Kind::Count => return (title, unit),
                Kind::Time(_) | Kind::Bytes => return (trim(before), unit),
            }
        }
        // Events that are clocks, as users write them and as reports name them.
        let is_clock =
            ["task-clock", "cpu-clock", "Software:TaskClock", "Software:CpuClock"].contains(&title);
        let whole = if is_clock { Unit::new("ns") } else { Unit::new(title) };
        (title, if whole.kind == Kind::Raw { Unit::NONE } else { whole })
    }

    /// The name as given, trimmed.
    pub const fn name(self) -> &'a str {
        self.name
    }

    /// Whether it is a unit of time.
    pub const fn is_time(self) -> bool {
        matches!(self.kind, Kind::Time(_))
    }

    /// Whether it is known, so that values have three digits.
    pub const fn is_known(self) -> bool {
        !matches!(self.kind, Kind::Raw)
    }

    /// Whether values do not name it: `4.51 M` for cycles.
    pub const fn is_counted(self) -> bool {
        matches!(self.kind, Kind::Count)
    }

    /// For a unit of time, the power of ten of a second.
    pub(super) const fn seconds(self) -> Option<i32> {
        match self.kind {
            Kind::Time(power) => Some(power),
            _ => None,
        }
    }

    /// A whole number of this unit. It has no more decimals than were counted: `5 ns`.
    pub fn integer(self, value: u64) -> Quantity {
        Quantity {
            kind: self.kind,
            value: Some(Decimal::from(value)),
            is_whole: true,
            most_decimals: 99,
            sign: "",
        }
    }

    /// A number of this unit. It prints `n/a` if it is not finite.
    pub fn number(self, value: f64) -> Quantity {
        Quantity { kind: self.kind, value: Decimal::new(value), is_whole: false, most_decimals: 99, sign: "" }
    }
}

/// A value with its unit, for people. Times, bytes and counts have three significant digits and a prefix: there is no
/// `1000 ns`. Whole seconds from a thousand on have all digits, as do whole numbers without a known unit. Other numbers
/// without one have four, or all before the point. Rounding is half away from zero, on the exact value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantity {
    kind: Kind,
    value: Option<Decimal>,
    is_whole: bool,
    most_decimals: i32,
    sign: &'static str,
}

impl Quantity {
    /// Adds a plus sign if the value is above zero.
    pub fn signed(self) -> Quantity {
        let is_above = self.value.is_some_and(|value| !value.is_zero() && !value.is_negative());
        Quantity { sign: if is_above { "+" } else { "" }, ..self }
    }

    /// The size of the value, without its sign.
    pub fn magnitude(self) -> Quantity {
        Quantity { value: self.value.map(Decimal::abs), ..self }
    }

    /// Limits the decimals; the value has three digits if the limit allows it.
    pub const fn at_most(self, decimals: u32) -> Quantity {
        Quantity { most_decimals: decimals as i32, ..self }
    }
}

impl Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.value else { return f.write_str(NOT_AVAILABLE) };
        f.write_str(self.sign)?;
        let (base, lowest, highest, suffix) = match self.kind {
            Kind::Raw if self.is_whole => return value.write(f, 0),
            Kind::Raw => return write_rounded(f, value),
            Kind::Time(base) => (base, -12, 0, "s"),
            Kind::Bytes => (0, 0, 18, "B"),
            Kind::Count => (0, 0, 18, ""),
        };
        // A value that rounds to the next thousand gets its prefix.
        let magnitude = value.significant(3).magnitude() + base;
        // The prefix is not smaller than the unit that was counted in.
        let lowest = if self.is_whole || value.is_zero() { base.max(lowest) } else { lowest };
        let power = (magnitude.div_euclid(3) * 3).clamp(lowest, highest);
        let scaled = value.shifted(base - power);
        if !(-6..24).contains(&(magnitude - power)) {
            write_scientific(f, scaled, 3)?;
        } else {
            let counted = if self.is_whole { power - base } else { i32::MAX };
            let counted = if value.is_zero() { 0 } else { counted };
            let decimals = (2 - (magnitude - power)).clamp(0, 8).min(counted).min(self.most_decimals.max(0));
            scaled.rounded(decimals).write(f, decimals as u32)?;
        }
        let prefix = prefix(power);
        if prefix.is_empty() && suffix.is_empty() { Ok(()) } else { write!(f, " {prefix}{suffix}") }
    }
}

/// The letter of a power of a thousand.
pub(super) fn prefix(power: i32) -> &'static str {
    const LETTERS: [&str; 11] = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];
    LETTERS.get((power.div_euclid(3) + 4) as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
