//! The text format of OpenMetrics 1.0: classic histograms.

use core::fmt::{self, Display, Write};

use super::taken::Taken;
use super::{Family, Member, Registry};

impl Registry {
    /// Writes what the last update has taken as OpenMetrics text, whose media type is
    /// `application/openmetrics-text; version=1.0.0; charset=utf-8`. Fails only where `out` does.
    ///
    /// Every histogram has its buckets, `_count`, `_sum` and, where that is known, `_created`. With negative bounds or values
    /// there is no `_count` and `_sum`, as the standard has it. Where observations were lost, or were not finite, a counter
    /// with the name of the histogram and `_lost` or `_not_finite` tells how many; they are in none of the others.
    pub fn write_openmetrics(&self, mut out: &mut (impl Write + ?Sized)) -> fmt::Result {
        for family in &self.families {
            family.write(&mut out)?;
        }
        out.write_str("# EOF\n")
    }
}

impl Family {
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let name = &self.name;
        writeln!(out, "# TYPE {name} histogram")?;
        if !self.unit.is_empty() {
            writeln!(out, "# UNIT {name} {}", self.unit)?;
        }
        if !self.help.is_empty() {
            writeln!(out, "# HELP {name} {}", Escaped(&self.help))?;
        }
        self.members.iter().try_for_each(|member| member.write(out, name))?;
        self.write_counter(out, "lost", &|taken| taken.lost)?;
        self.write_counter(out, "not_finite", &|taken| taken.not_finite)
    }

    /// A counter beside the histograms, where it is not zero for all of them.
    fn write_counter(&self, out: &mut dyn Write, what: &str, count: &dyn Fn(&Taken) -> u64) -> fmt::Result {
        let name = &self.name;
        if self.members.iter().all(|member| count(&member.taken) == 0) {
            return Ok(());
        }
        writeln!(out, "# TYPE {name}_{what} counter")?;
        for member in &self.members {
            writeln!(out, "{name}_{what}_total{} {}", Braced(member), count(&member.taken))?;
        }
        Ok(())
    }
}

impl Member {
    fn write(&self, out: &mut dyn Write, name: &str) -> fmt::Result {
        let (labels, taken) = (Labels(&self.labels), &self.taken);
        for (bound, count) in self.bounds().zip(&taken.counts) {
            writeln!(out, "{name}_bucket{{{labels}le=\"{}\"}} {count}", Number(bound))?;
        }
        writeln!(out, "{name}_bucket{{{labels}le=\"+Inf\"}} {}", taken.total)?;
        let labels = Braced(self);
        if let Some(sum) = taken.sum.filter(|_| self.bounds().all(|bound| bound >= 0.0)) {
            writeln!(out, "{name}_count{labels} {}", taken.total)?;
            writeln!(out, "{name}_sum{labels} {}", Number(sum / self.divisor))?;
        }
        if self.created_unix_nanos != 0 {
            let (seconds, nanos) =
                (self.created_unix_nanos / 1_000_000_000, self.created_unix_nanos % 1_000_000_000);
            writeln!(out, "{name}_created{labels} {seconds}.{:03}", nanos / 1_000_000)?;
        }
        Ok(())
    }
}

/// Labels, each followed by a comma.
struct Labels<'a>(&'a [(alloc::string::String, alloc::string::String)]);

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| write!(f, "{name}=\"{}\",", Escaped(value)))
    }
}

/// All labels in braces; nothing where there are none.
struct Braced<'a>(&'a Member);

impl Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.0.labels.iter().enumerate() {
            write!(f, "{}{name}=\"{}\"", if position == 0 { "{" } else { "," }, Escaped(value))?;
        }
        f.write_str(if self.0.labels.is_empty() { "" } else { "}" })
    }
}

/// A text on one line, inside quotes or not.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            c => f.write_char(c),
        })
    }
}

/// A number as the standard's canonical numbers are written, those of Go: the shortest digits that read back as the same
/// double, with a decimal point from 0.0001 to 100000.0, with an exponent of two digits beyond.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(value) = *self;
        if value == 0.0 {
            return f.write_str("0.0");
        }
        if (1e-4..1e6).contains(&value.abs()) {
            return write!(f, "{value:?}");
        }
        if !value.is_finite() {
            return f.write_str(if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            });
        }
        // Longest: sign, 17 digits, point, sign and exponent.
        let mut bytes = [0; 32];
        let mut text = crate::format::buffer::BufferWriter::new(&mut bytes);
        write!(text, "{value:e}")?;
        let (digits, exponent) = text.as_str().split_once('e').unwrap_or((text.as_str(), "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        write!(f, "{digits}e{sign}{exponent:0>2}")
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
