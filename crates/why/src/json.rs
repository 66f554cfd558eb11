//! Reads and writes an interval as JSON. One structure defines the names for both. Unknown values are null.
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
use super::interval::{Interval, Share};
use picollo_native::{ExplainedError, Status};

/// Larger counts are invalid: at a thousand million per second they take over a hundred days. Sums of valid ones fit.
const MAX_COUNT: u64 = 1 << 53;
/// Maximum number of units per second. Up to this, dividing by a number and writing it gives the same number.
const MAX_UNITS_PER_SECOND: u64 = 1_000_000_000_000_000;

#[derive(Serialize, Deserialize)]
struct OfInterval<'a> {
    begin_unix_nanos: u64,
    end_unix_nanos: u64,
    threshold: Option<u64>,
    observations: u64,
    slow: u64,
    known: u64,
    controls: u64,
    #[serde(skip_deserializing)]
    counted_only: u64,
    without_controls: u64,
    #[serde(default)]
    too_short: u64,
    without_evidence: u64,
    #[serde(default)]
    counted: u64,
    #[serde(skip_deserializing)]
    excess_nanos: u64,
    /// A whole number, unlike its reciprocal; `None` if values are not times.
    units_per_second: Option<u64>,
    #[serde(default = "is_known")]
    has_run_delay: bool,
    #[serde(default)]
    missing: Reasons,
    uncounted: Option<Cow<'a, str>>,
    #[serde(default)]
    machine: Hints,
    causes: [OfShare; Cause::ALL.len()],
    #[serde(with = "kept")]
    exemplars: Cow<'a, [(Exemplar, Diagnosis)]>,
}

fn is_known() -> bool {
    true
}

#[derive(Serialize, Deserialize)]
struct OfShare {
    cause: Cause,
    excess_nanos: Option<u64>,
    observations: u64,
    typical_nanos: Option<u64>,
    typical_faults: Option<u64>,
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
macro_rules! of_evidence {
    ($($field:ident: $number:ty = $bit:ident;)*) => {
        #[derive(Serialize, Deserialize)]
        pub(super) struct OfEvidence {
            $($field: Option<$number>,)*
            #[serde(skip_deserializing)]
            ipc: Option<f64>,
            #[serde(default)]
            missing: Option<Missing>,
        }

        impl From<Evidence> for OfEvidence {
            fn from(evidence: Evidence) -> OfEvidence {
                OfEvidence {
                    $($field: evidence.knows($bit).then_some(evidence.$field),)*
                    ipc: evidence.ipc().map(digits),
                    missing: Some(evidence.missing).filter(|&why| why != Missing::Nothing),
                }
            }
        }

        impl TryFrom<OfEvidence> for Evidence {
            type Error = &'static str;

            fn try_from(told: OfEvidence) -> Result<Evidence, &'static str> {
                let known = 0 $(| if told.$field.is_some() { $bit } else { 0 })*;
                let is_whole = $(told.$field.is_some() == (known & $bit != 0))&&*;
                let missing = told.missing.unwrap_or_default();
                let evidence = Evidence { known, missing, $($field: told.$field.unwrap_or(0),)* ..Evidence::default() };
                is_whole.then_some(evidence).ok_or("what becomes known together is known in part")
            }
        }
    };
}

of_evidence! {
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

    /// Units of values per second; `None` if they are not times.
    fn units_per_second(&self) -> Option<u64> {
        let units = (1e9 / self.unit_nanos).round();
        (self.unit_nanos > 0.0 && units >= 1.0).then_some(units as u64)
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

/// Whether a cause has its own share of the time.
fn is_part(cause: Cause, known: u64) -> bool {
    cause as usize <= PARTS && known > 0
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ([counted_only, without_controls, too_short], missing) = self.unknown();
        let share = |cause: Cause| {
            let share = self.share(cause);
            let is_part = is_part(cause, self.known);
            let has_typical = is_part && share.observations > 0;
            OfShare {
                cause,
                excess_nanos: is_part.then_some(share.excess_nanos),
                observations: share.observations,
                typical_nanos: has_typical.then_some(share.typical_nanos),
                typical_faults: has_typical.then_some(share.typical_faults),
            }
        };
        let whole = OfInterval {
            begin_unix_nanos: self.unix_nanos[0],
            end_unix_nanos: self.unix_nanos[1],
            threshold: Some(self.threshold).filter(|&threshold| threshold != 0),
            observations: self.observations,
            slow: self.slow,
            known: self.known,
            controls: self.controls,
            counted_only,
            without_controls,
            too_short,
            without_evidence: missing.iter().sum(),
            counted: self.counted,
            excess_nanos: self.excess_nanos(),
            units_per_second: self.units_per_second(),
            has_run_delay: self.has_run_delay,
            missing: Reasons(*missing),
            uncounted: self.uncounted.as_ref().map(|why| why.message().into()),
            machine: self.hints,
            causes: Cause::ALL.map(share),
            exemplars: Cow::Borrowed(&self.exemplars),
        };
        whole.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Interval, D::Error> {
        OfInterval::deserialize(deserializer)?.told().map_err(D::Error::custom)
    }
}

impl OfInterval<'_> {
    fn told(self) -> Result<Interval, &'static str> {
        let mut missing = self.missing.0;
        let named = missing.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        // Observations without a reported reason.
        missing[0] = self.without_evidence.saturating_sub(named);
        let counts = [self.observations, self.slow, self.known, self.controls, self.counted];
        let unknown = [self.without_controls, self.too_short, self.without_evidence, named];
        let shares = self.causes.iter().map(|share| share.observations);
        if counts.into_iter().chain(unknown).chain(shares).any(|count| count > MAX_COUNT) {
            return Err("a count of observations is above 2^53");
        }
        if self.units_per_second.is_some_and(|units| units > MAX_UNITS_PER_SECOND) {
            return Err("units_per_second is above 10^15");
        }
        let Hints { steal, cpu, memory, io, .. } = self.machine;
        if [steal, cpu, memory, io].into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share)) {
            return Err("a share of the machine is not from 0 to 1");
        }
        if !self.causes.iter().map(|share| share.cause).eq(Cause::ALL) {
            return Err("causes are not all of them, in their order");
        }
        let mut exemplars = self.exemplars.into_owned();
        exemplars.sort_by_key(|(exemplar, _)| std::cmp::Reverse(exemplar.value));
        Ok(Interval {
            unix_nanos: [self.begin_unix_nanos, self.end_unix_nanos],
            threshold: self.threshold.unwrap_or(0),
            unit_nanos: self
                .units_per_second
                .filter(|&units| units > 0)
                .map_or(0.0, |units| 1e9 / units as f64),
            observations: self.observations,
            slow: self.slow,
            known: self.known,
            controls: self.controls,
            has_run_delay: self.has_run_delay,
            counted: self.counted,
            uncounted: self
                .uncounted
                .map(|why| ExplainedError::new(Status::NotCounted, format_args!("{why}"))),
            hints: self.machine,
            exemplars,
            shares: self.causes.map(|share| {
                // Sums exclude values that are not written.
                let is_part = is_part(share.cause, self.known);
                let typical = |number: Option<u64>| number.filter(|_| is_part && share.observations > 0);
                Share {
                    excess_nanos: share.excess_nanos.filter(|_| is_part).unwrap_or(0),
                    observations: share.observations,
                    typical_nanos: typical(share.typical_nanos).unwrap_or(0),
                    typical_faults: typical(share.typical_faults).unwrap_or(0),
                }
            }),
            missing,
            without_controls: self.without_controls,
            too_short: self.too_short,
        })
    }
}

mod kept {
    use super::*;

    type Pairs<'a> = Cow<'a, [(Exemplar, Diagnosis)]>;

    pub(super) fn serialize<S: Serializer>(list: &Pairs<'_>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|&(exemplar, diagnosis)| Kept { exemplar, diagnosis }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Pairs<'static>, D::Error> {
        let list = Vec::<Kept>::deserialize(from)?;
        Ok(list.into_iter().map(|kept| (kept.exemplar, kept.diagnosis)).collect())
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

    fn try_from(told: HashMap<Cause, u64>) -> Result<Parts, String> {
        let mut parts = Parts::default();
        for (cause, nanos) in told {
            let place = parts.0.get_mut(cause as usize - 1);
            *place.ok_or_else(|| format!("{} is no part of the time", cause.name()))? = nanos;
        }
        Ok(parts)
    }
}

/// Slow ones without evidence, by [`Missing`]. The first number counts those without a reported reason.
#[derive(Default, Deserialize)]
#[serde(from = "HashMap<Missing, u64>")]
struct Reasons([u64; Missing::ALL.len()]);

impl Serialize for Reasons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Missing::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0))
    }
}

impl From<HashMap<Missing, u64>> for Reasons {
    fn from(told: HashMap<Missing, u64>) -> Reasons {
        // The first number is computed from the others.
        Reasons(
            Missing::ALL.map(|why| told.get(&why).copied().filter(|_| why != Missing::Nothing).unwrap_or(0)),
        )
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
