//! What the JSON of an interval says so that nothing that pages show has to be guessed.

use core::fmt::{self, Write};

use picollo_core::text::Json;

use super::cause::{Cause, PARTS};
use super::interval::Interval;
use super::verdict::Verdict;

/// What reasons are called in JSON, as [`super::evidence::Missing`] has them; the first: a reason that was not told.
pub const MISSING_NAMES: [&str; 8] = [
    "not_told",
    "timed_elsewhere",
    "other_thread",
    "forked",
    "too_many",
    "overwritten",
    "contradictory",
    "unsupported",
];

impl Interval {
    /// Units of values in a second; `None` where they are no times. A whole number, unlike its reciprocal.
    fn units_per_second(&self) -> Option<u64> {
        let units = (1e9 / self.unit_nanos).round();
        (self.unit_nanos > 0.0 && units >= 1.0).then_some(units as u64)
    }

    /// Fields of the interval's object, each with a comma before it.
    pub(super) fn write_json_units(&self, out: &mut dyn Write) -> fmt::Result {
        match self.units_per_second() {
            Some(units) => write!(out, ",\"units_per_second\":{units}")?,
            None => out.write_str(",\"units_per_second\":null")?,
        }
        write!(out, ",\"has_run_delay\":{},\"missing\":{{", self.has_run_delay)?;
        let (_, missing) = self.unknown();
        let found = MISSING_NAMES.iter().zip(missing).filter(|(_, count)| **count > 0);
        for (at, (name, count)) in found.enumerate() {
            write!(out, "{}\"{name}\":{count}", if at == 0 { "" } else { "," })?;
        }
        match &self.uncounted {
            Some(why) => write!(out, "}},\"uncounted\":\"{}\"", Json(why.message())),
            None => out.write_str("},\"uncounted\":null"),
        }
    }
}

/// A field of an exemplar's object, with a comma before it: where its time went.
pub fn write_json_parts(out: &mut dyn Write, verdict: &Verdict) -> fmt::Result {
    out.write_str(",\"parts\":{")?;
    let parts = Cause::ALL.into_iter().take(PARTS).filter(|&cause| verdict.parts.get(cause) > 0);
    for (at, cause) in parts.enumerate() {
        write!(out, "{}\"{}\":{}", if at == 0 { "" } else { "," }, cause.name(), verdict.parts.get(cause))?;
    }
    out.write_char('}')
}
