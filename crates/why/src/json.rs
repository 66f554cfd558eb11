//! Reads and writes an interval as JSON. The fields of the structures are those of the JSON. Unknown values are null.
//!
//! Writing allocates nothing. The input may come from anywhere and from another version: unknown fields are ignored.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::io;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cause::{Cause, PARTS, Parts};
use super::diagnosis::Diagnosis;
use super::exemplar::{
    Evidence, Exemplar, KNOWN_ACCOUNTS, KNOWN_COUNTERS, KNOWN_FAULT_TIMES, KNOWN_QUOTA, KNOWN_RING,
    KNOWN_RUN_DELAY, Missing, NO_CPU,
};
use super::hints::Hints;
use super::interval::Interval;
use picollo_native::{ExplainedError, Status};

/// Larger counts are invalid: at a thousand million per second they take over a hundred days. Sums of valid ones fit.
const MAX_COUNT: u64 = 1 << 53;
/// Maximum number of units per second. Up to this, dividing by a number and writing it gives the same number.
const MAX_UNITS_PER_SECOND: u64 = 1_000_000_000_000_000;

/// The default for writers that did not know the field.
pub(super) fn is_known() -> bool {
    true
}

/// An exemplar and its diagnosis form one object.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    exemplar: Exemplar,
    #[serde(flatten)]
    diagnosis: Diagnosis,
}

/// Evidence: each number, with the bit that shows whether it is known. Numbers with the same bit are known together.
macro_rules! evidence {
    ($($field:ident: $number:ty = $bit:ident;)*) => {
        #[derive(Serialize, Deserialize)]
        pub(super) struct EvidenceFields {
            $($field: Option<$number>,)*
            #[serde(skip_deserializing)]
            ipc: Option<f64>,
            #[serde(default)]
            missing: Option<Missing>,
        }

        impl From<Evidence> for EvidenceFields {
            fn from(evidence: Evidence) -> EvidenceFields {
                EvidenceFields {
                    $($field: evidence.knows($bit).then_some(evidence.$field),)*
                    ipc: evidence.ipc().map(digits),
                    missing: Some(evidence.missing).filter(|&why| why != Missing::Nothing),
                }
            }
        }

        impl TryFrom<EvidenceFields> for Evidence {
            type Error = &'static str;

            fn try_from(fields: EvidenceFields) -> Result<Evidence, &'static str> {
                let known = 0 $(| if fields.$field.is_some() { $bit } else { 0 })*;
                let is_whole = $(fields.$field.is_some() == (known & $bit != 0))&&*;
                let missing = fields.missing.unwrap_or_default();
                let evidence = Evidence { known, missing, $($field: fields.$field.unwrap_or(0),)* ..Evidence::default() };
                is_whole.then_some(evidence).ok_or("what becomes known together is known in part")
            }
        }
    };
}

evidence! {
    window_nanos: u64 = KNOWN_ACCOUNTS;
    cpu_nanos: u64 = KNOWN_ACCOUNTS;
    run_delay_nanos: u64 = KNOWN_RUN_DELAY;
    off_nanos: u64 = KNOWN_RING;
    preempted_nanos: u64 = KNOWN_RING;
    fault_nanos: u64 = KNOWN_FAULT_TIMES;
    throttled: u32 = KNOWN_QUOTA;
    voluntary: u32 = KNOWN_ACCOUNTS;
    involuntary: u32 = KNOWN_ACCOUNTS;
    minor_faults: u32 = KNOWN_ACCOUNTS;
    major_faults: u32 = KNOWN_ACCOUNTS;
    instructions: u64 = KNOWN_COUNTERS;
    cycles: u64 = KNOWN_COUNTERS;
}

/// More digits of a ratio would be meaningless.
fn digits(ratio: f64) -> f64 {
    (ratio * 1e4).round() / 1e4
}

impl Interval {
    /// Writes all data exactly, as a JSON object. Unknown values are null.
    pub fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        serde_json::to_writer(Utf8(out), self).map_err(|_| fmt::Error)
    }

    /// The names of the fields are right, and the values have their types. Returns why they are not valid.
    fn check(&self) -> Result<(), &'static str> {
        let counts = [self.observations, self.slow, self.known, self.controls, self.counted];
        let unknown = [self.without_controls, self.too_short].into_iter().chain(self.missing);
        let shares = self.shares.iter().map(|share| share.observations);
        if counts.into_iter().chain(unknown).chain(shares).any(|count| count > MAX_COUNT) {
            return Err("a count of observations is above 2^53");
        }
        if self.units_per_second > MAX_UNITS_PER_SECOND {
            return Err("units_per_second is above 10^15");
        }
        let Hints { steal, cpu, memory, io, .. } = self.hints;
        if [steal, cpu, memory, io].into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share)) {
            return Err("a share of the machine is not from 0 to 1");
        }
        if !self.shares.iter().map(|share| share.cause).eq(Cause::ALL) {
            return Err("causes are not all of them, in their order");
        }
        if self.shares[PARTS..].iter().any(|share| share.excess_nanos.is_some()) {
            return Err("a cause that is no part of the time has an excess");
        }
        Ok(())
    }
}

/// All fields, and sums of them.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten, with = "Interval")]
    interval: &'a Interval,
    counted_only: u64,
    without_evidence: u64,
    excess_nanos: u64,
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ([counted_only, ..], missing) = self.unknown();
        let (without_evidence, excess_nanos) = (missing.iter().sum(), self.excess_nanos());
        Written { interval: self, counted_only, without_evidence, excess_nanos }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Interval, D::Error> {
        let mut interval = Interval::deserialize(deserializer)?;
        let named = interval.missing[1..].iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
        interval.missing[Missing::Nothing as usize] = interval.without_evidence.saturating_sub(named);
        interval.check().map(|()| interval).map_err(D::Error::custom)
    }
}

/// The JSON writer only writes whole characters.
struct Utf8<'a>(&'a mut dyn Write);

impl io::Write for Utf8<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        self.0.write_str(text).map_err(|_| io::ErrorKind::Other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The kept observations, the slowest first.
pub(super) mod kept {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(list: &[(Exemplar, Diagnosis)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|&(exemplar, diagnosis)| Kept { exemplar, diagnosis }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(Exemplar, Diagnosis)>, D::Error> {
        let mut list = Vec::<Kept>::deserialize(from)?;
        list.sort_by_key(|kept| std::cmp::Reverse(kept.exemplar.value));
        Ok(list.into_iter().map(|kept| (kept.exemplar, kept.diagnosis)).collect())
    }
}

/// The message of an error.
pub(super) mod message {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(why: &Option<ExplainedError>, to: S) -> Result<S::Ok, S::Error> {
        why.as_ref().map(ExplainedError::message).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<ExplainedError>, D::Error> {
        let why = Option::<Cow<str>>::deserialize(from)?;
        Ok(why.map(|why| ExplainedError::new(Status::NotCounted, format_args!("{why}"))))
    }
}

/// Null for 0.
pub(super) mod zero {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        Some(number).filter(|&&number| number != 0).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(0))
    }
}

/// Null for [`NO_CPU`].
pub(super) mod cpu {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(cpu: &u32, to: S) -> Result<S::Ok, S::Error> {
        Some(cpu).filter(|&&cpu| cpu != NO_CPU).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(NO_CPU))
    }
}

/// Null for a ratio of 0.
pub(super) mod ratio {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(ratio: &f64, to: S) -> Result<S::Ok, S::Error> {
        Some(digits(*ratio)).filter(|&ratio| ratio > 0.0).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.filter(|&ratio| ratio > 0.0).unwrap_or(0.0))
    }
}

/// Two hexadecimal digits for each byte.
pub(super) mod hex {
    use super::*;

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(&crate::text::hex(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<[u8; N], D::Error> {
        let digits = Cow::<str>::deserialize(from)?;
        if digits.len() != 2 * N || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(D::Error::custom(format_args!("not {} hexadecimal digits", 2 * N)));
        }
        Ok(std::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap_or(0)))
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl TryFrom<String> for Cause {
    type Error = String;

    fn try_from(name: String) -> Result<Cause, String> {
        let found = Cause::ALL.into_iter().find(|cause| cause.name() == name);
        found.ok_or_else(|| format!("{name:?} is no cause that is known"))
    }
}

/// Nanoseconds by cause, without zeros.
impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Cause::ALL.into_iter().zip(self.0).filter(|(_, nanos)| *nanos > 0))
    }
}

impl TryFrom<HashMap<Cause, u64>> for Parts {
    type Error = String;

    fn try_from(by_cause: HashMap<Cause, u64>) -> Result<Parts, String> {
        let mut parts = Parts::default();
        for (cause, nanos) in by_cause {
            let place = parts.0.get_mut(cause as usize - 1);
            *place.ok_or_else(|| format!("{} is no part of the time", cause.name()))? = nanos;
        }
        Ok(parts)
    }
}

/// Counts by [`Missing`], without zeros.
pub(super) mod missing {
    use super::*;

    type Counts = [u64; Missing::ALL.len()];

    pub(crate) fn serialize<S: Serializer>(counts: &Counts, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Missing::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Counts, D::Error> {
        let counts = HashMap::<Missing, u64>::deserialize(from)?;
        Ok(Missing::ALL.map(|why| counts.get(&why).copied().unwrap_or(0)))
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
