//! An interval of a collector that has ended: why its slow observations were slow.

use super::cause::{Cause, PARTS};
use super::diagnosis::Diagnosis;
use super::exemplar::{Exemplar, KNOWN_COUNTERS, KNOWN_RUN_DELAY, Missing};
use super::hints::Hints;
use super::json;
use super::usual::Usual;
use picollo_native::seam::vectors::{push, with_room};
use picollo_native::{ExplainedError, Result};
use serde::{Deserialize, Serialize};

/// The share of a cause in the excess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The cause.
    pub cause: Cause,
    /// Nanoseconds beyond the usual, of all observations with known evidence. `None` without such observations, and for
    /// causes that are no part of the time.
    pub excess_nanos: Option<u64>,
    /// Number of observations with this diagnosis.
    pub observations: u64,
    /// The median of the cause's excess in these observations.
    pub typical_nanos: Option<u64>,
    /// The median of their page faults beyond the usual.
    pub typical_faults: Option<u64>,
}

/// An interval that has ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Interval {
    /// Beginning, in nanoseconds since 1970.
    pub begin_unix_nanos: u64,
    /// End.
    pub end_unix_nanos: u64,
    /// Observations above this are slow; 0 if it was unknown at the beginning of the interval.
    #[serde(with = "json::zero", default)]
    pub threshold: u64,
    /// Units of values per second; 0 if values are not times.
    #[serde(with = "json::zero", default)]
    pub units_per_second: u64,
    /// Number of recorded observations.
    pub observations: u64,
    /// Number of slow ones.
    pub slow: u64,
    /// Number of slow ones with known evidence.
    pub known: u64,
    /// Number of ordinary observations for comparison.
    pub controls: u64,
    /// Whether any slow one could be split into waiting and the run queue, as the system had the evidence.
    #[serde(default = "json::is_known")]
    pub has_run_delay: bool,
    /// Number of slow ones with counted instructions.
    #[serde(default)]
    pub counted: u64,
    /// Why some have no counts although counters were requested.
    #[serde(with = "json::message", default)]
    pub uncounted: Option<ExplainedError>,
    /// What else the machine did.
    #[serde(rename = "machine", default)]
    pub hints: Hints,
    /// The slowest first, then those kept for their octaves, with their diagnoses.
    #[serde(with = "json::kept")]
    pub(super) exemplars: Vec<(Exemplar, Diagnosis)>,
    #[serde(rename = "causes")]
    pub(super) shares: [Share; Cause::ALL.len()],
    /// Number of slow ones without accounts, by [`Missing`].
    #[serde(with = "json::missing", default)]
    pub(super) missing: [u64; 8],
    /// The sum of these in JSON, which need not name the reasons.
    #[serde(skip_serializing)]
    pub(super) without_evidence: u64,
    /// Number of slow ones whose kind has too few controls.
    pub(super) without_controls: u64,
    /// Number of slow ones that were short compared with the time before them in their accounts.
    #[serde(default)]
    pub(super) too_short: u64,
}

impl Interval {
    /// Combines the `counted` numbers with `exemplars`, the first `slowest` of which are the slowest, and with a sample
    /// of `of_slow` slow ones. Without a known threshold, the slowest stand for the slow ones. Errors: `OutOfMemory`.
    pub(super) fn new(
        counted: Interval,
        exemplars: &[Exemplar],
        slowest: usize,
        sampled: &[Exemplar],
        of_slow: u64,
        usual: &Usual,
    ) -> Result<Interval> {
        let slowest = exemplars.get(..slowest).unwrap_or(exemplars);
        let (sampled, of_slow, most) = match counted.threshold {
            0 => (
                slowest,
                slowest.len() as u64,
                slowest.last().map_or(u64::MAX, |least| least.value.saturating_sub(1)),
            ),
            threshold => (sampled, of_slow, threshold),
        };
        // An observation that ended together with the interval may be kept in it and counted in the next, or vice
        // versa. There cannot be more slow ones than counted ones.
        let slow = counted.slow.max(of_slow).min(counted.observations);
        let of_slow = of_slow.min(slow);
        let diagnosis =
            |exemplar: &Exemplar| Diagnosis::new(exemplar, usual.for_label(exemplar.label, most).as_ref());
        let mut judged = with_room(exemplars.len())?;
        judged.extend(exemplars.iter().map(|exemplar| (*exemplar, diagnosis(exemplar))));
        let mut interval = Interval { slow, controls: usual.count(), exemplars: judged, ..counted };
        // A sample represents all slow ones.
        let weight = if sampled.is_empty() { 0.0 } else { of_slow as f64 / sampled.len() as f64 };
        let scaled = |number: u64| (number as f64 * weight).round() as u64;
        let mut typical: [Vec<(u64, u64)>; PARTS] = Default::default();
        let mut excess = [0u128; PARTS];
        let (mut known, mut counts) = (0, [0u64; Cause::ALL.len()]);
        for exemplar in sampled {
            let diagnosis = diagnosis(exemplar);
            interval.has_run_delay |= exemplar.evidence.knows(KNOWN_RUN_DELAY);
            counts[diagnosis.cause as usize - 1] += 1;
            if diagnosis.cause == Cause::NotKnown {
                match exemplar.evidence.missing {
                    Missing::Nothing if diagnosis.is_too_short => interval.too_short += 1,
                    Missing::Nothing => interval.without_controls += 1,
                    why => interval.missing[why as usize] += 1,
                }
                continue;
            }
            known += 1;
            interval.counted += u64::from(exemplar.evidence.knows(KNOWN_COUNTERS));
            for (sum, nanos) in excess.iter_mut().zip(diagnosis.excess.0) {
                *sum += u128::from(nanos);
            }
            if let Some(of_cause) = typical.get_mut(diagnosis.cause as usize - 1) {
                push(of_cause, (diagnosis.excess.get(diagnosis.cause), diagnosis.faults))?;
            }
        }
        interval.known = scaled(known);
        interval.counted = scaled(interval.counted);
        interval.without_controls = scaled(interval.without_controls);
        interval.too_short = scaled(interval.too_short);
        interval.missing = interval.missing.map(scaled);
        for (at, share) in interval.shares.iter_mut().enumerate() {
            (share.cause, share.observations) = (Cause::ALL[at], scaled(counts[at]));
            if let Some(of_cause) = typical.get_mut(at).filter(|_| known > 0) {
                share.excess_nanos = Some((excess[at] as f64 * weight) as u64);
                of_cause.sort_unstable();
                share.typical_nanos = of_cause.get(of_cause.len() / 2).map(|of| of.0);
                of_cause.sort_unstable_by_key(|of| of.1);
                share.typical_faults = of_cause.get(of_cause.len() / 2).map(|of| of.1);
            }
        }
        // These were counted but never handed in.
        interval.shares[Cause::NotKnown as usize - 1].observations += interval.slow.saturating_sub(of_slow);
        Ok(interval)
    }

    /// The kept observations, the slowest first, with diagnoses.
    pub fn exemplars(&self) -> &[(Exemplar, Diagnosis)] {
        &self.exemplars
    }

    /// The kept observations as exemplars of a registry's histogram: with traces, and causes if they are known.
    pub fn metric_exemplars(&self) -> Result<Vec<picollo_export::MetricExemplar>> {
        let mut metrics = with_room(self.exemplars.len())?;
        for (exemplar, diagnosis) in &self.exemplars {
            let cause = [("cause", diagnosis.cause.name())];
            let labels = if diagnosis.cause == Cause::NotKnown { &cause[..0] } else { &cause[..] };
            let context = &exemplar.context;
            let exemplar = picollo_export::MetricExemplar::with_trace(
                exemplar.value as f64,
                exemplar.unix_nanos,
                context.trace_id,
                context.span_id,
                labels,
            );
            metrics.push(exemplar.map_err(picollo_core::Error::from)?);
        }
        Ok(metrics)
    }

    /// A cause's share of the excess.
    pub const fn share(&self, cause: Cause) -> Share {
        self.shares[cause as usize - 1]
    }

    /// The whole excess in nanoseconds.
    pub fn excess_nanos(&self) -> u64 {
        self.shares.iter().filter_map(|share| share.excess_nanos).fold(0, u64::saturating_add)
    }

    /// Number of slow ones without evidence, by reason: only counted, without controls, too short, and by [`Missing`].
    pub(super) fn unknown(&self) -> ([u64; 3], &[u64; 8]) {
        let without = self.without_controls + self.too_short + self.missing.iter().sum::<u64>();
        let counted_only = self.slow.saturating_sub(self.known + without);
        ([counted_only, self.without_controls, self.too_short], &self.missing)
    }
}
