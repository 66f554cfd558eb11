//! The samples of an event, whose differences are readings, scaled if it was multiplexed; and a session's readings.

use crate::opening::group::Sample;
use crate::session::read::Samples;
use crate::session::reading::{
    READING_CLEAN, READING_FAST, READING_RESYNC, READING_SCALED, READING_TIMES_STALE, Reading,
};
use picollo_native::seam::vectors::{filled, with_room};
use picollo_native::{Result, Status};

/// A sample's flag: it is the kernel's last answer, which still holds because the event is off the PMU since then.
pub(crate) const STANDING: u32 = 1 << 30;
/// Replaces a sample's flags if there was no sample.
const NO_SAMPLE: u32 = 1 << 31;
/// A sample's flag: a calibration has read the counters since. If they have not moved since then, that proves nothing
/// about the time before.
const SKIPPED: u32 = 1 << 29;

/// An event's samples, whose differences are readings.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct History {
    /// Where the session's values start.
    base: Sample,
    /// Where the last delta starts.
    previous: Sample,
    pub last: Sample,
    /// Flags that each of the last two samples earned alone.
    previous_flags: u32,
    last_flags: u32,
    /// Pairs of neighboring samples since the base, both taken in user space and both by system call.
    fast_pairs: u64,
    syscall_pairs: u64,
    /// Somebody reset the counter since the base.
    resynced: bool,
}

impl History {
    /// Starts again from a sample.
    pub(crate) fn rebase(&mut self, sample: Sample) {
        *self = History { base: sample, previous: sample, last: sample, ..History::default() };
    }

    /// Records that no sample was available: the last interval is empty.
    pub(crate) fn advance_without(&mut self) {
        self.previous = self.last;
        (self.previous_flags, self.last_flags) = (self.last_flags, NO_SAMPLE);
    }

    /// Takes the next sample, with the flags that it earned alone.
    #[inline(always)]
    pub(crate) fn advance(&mut self, sample: Sample, flags: u32) {
        self.previous = self.last;
        self.previous_flags = self.last_flags;
        self.last_flags = flags;
        // At most one of the two grows. For a fast sample, the compiler sees that it is not the second.
        self.fast_pairs += u64::from(flags & self.previous_flags & READING_FAST);
        self.syscall_pairs += u64::from((flags | self.previous_flags) & (READING_FAST | NO_SAMPLE) == 0);
        if sample.value < self.last.value {
            self.resync();
        }
        self.last = sample;
    }

    /// Handles a count that has fallen.
    #[cold]
    fn resync(&mut self) {
        // The kernel's 64-bit counts only grow, so somebody who shares the descriptor has reset this one. Its count
        // since then is certain; its count between the last sample and the reset is lost.
        let counted = self.last.value.wrapping_sub(self.base.value);
        self.base.value = 0u64.wrapping_sub(counted);
        self.previous.value = 0;
        self.last_flags |= READING_RESYNC;
        self.resynced = true;
    }

    /// The number of pairs of samples in the last delta, or since the base: taken in user space, and by system call.
    pub(crate) fn pairs(&self, delta: bool) -> (u64, u64) {
        if !delta {
            return (self.fast_pairs, self.syscall_pairs);
        }
        let either = self.last_flags | self.previous_flags;
        let fast = self.last_flags & self.previous_flags & READING_FAST;
        (fast.into(), u64::from(either & (READING_FAST | NO_SAMPLE) == 0))
    }

    /// The flags of the last delta: fast holds for both ends, stale for either.
    fn delta_flags(&self) -> u32 {
        let (before, now) = (self.previous_flags, self.last_flags);
        let clean = if before & SKIPPED == 0 { READING_CLEAN } else { 0 };
        now & before & READING_FAST | now & (clean | READING_RESYNC) | (now | before) & READING_TIMES_STALE
    }

    /// Forgets the counts between two samples, as if nothing had happened.
    pub(crate) fn skip(&mut self, from: Sample, to: Sample) {
        for sample in [&mut self.base, &mut self.previous, &mut self.last] {
            sample.value = sample.value.wrapping_add(to.value.wrapping_sub(from.value));
            sample.enabled = sample.enabled.wrapping_add(to.enabled.wrapping_sub(from.enabled));
            sample.running = sample.running.wrapping_add(to.running.wrapping_sub(from.running));
        }
        self.last_flags |= SKIPPED;
    }

    /// The interval since the previous sample, or since the base.
    fn interval(&self, delta: bool) -> Interval {
        let from = if delta { self.previous } else { self.base };
        let mut flags = if delta { self.delta_flags() } else { self.last_flags & READING_TIMES_STALE };
        if !delta && self.resynced {
            flags |= READING_RESYNC;
        }
        // The base is a sample by system call, without flags.
        let from_flags = if delta { self.previous_flags } else { 0 };
        let standing = self.last_flags | from_flags;
        let (enabled, running) =
            (elapsed(from.enabled, self.last.enabled), elapsed(from.running, self.last.running));
        let backwards = (self.last.running.wrapping_sub(from.running) as i64) < 0;
        // One time is the kernel's, and the other was extended in user space. They may differ by as much as the
        // interval.
        let fast_and_not =
            (self.last_flags ^ from_flags) & READING_FAST != 0 && standing & (STANDING | NO_SAMPLE) == 0;
        Interval {
            raw: self.last.value.wrapping_sub(from.value),
            enabled,
            running,
            apart: backwards || fast_and_not && (enabled, running) == (0, 0),
            standing: standing & STANDING != 0,
            flags,
        }
    }

    /// The reading since the previous sample, or since the base. `overhead` is the count that reading itself added.
    pub(crate) fn reading(&self, delta: bool, overhead: u64) -> Reading {
        self.interval(delta).reading(overhead)
    }

    /// The reading of an event that several PMUs count alternately.
    pub(crate) fn reading_of_parts<'a>(
        parts: impl Iterator<Item = &'a History>,
        delta: bool,
        overhead: u64,
    ) -> Reading {
        let sum = parts.map(|part| part.interval(delta)).reduce(Interval::and);
        sum.unwrap_or_default().reading(overhead)
    }
}

/// What happened to an event between two samples.
#[derive(Clone, Copy, Default)]
struct Interval {
    raw: u64,
    enabled: u64,
    running: u64,
    /// The running time went backward, or seems to stand still because its ends come from two clocks.
    apart: bool,
    /// One end is an older answer that still holds: its enabled time is old, too.
    standing: bool,
    flags: u32,
}

impl Interval {
    /// Adds the same interval of another part of the event. The parts are enabled together and run alternately.
    fn and(self, other: Interval) -> Interval {
        let enabled = match (self.standing, other.standing) {
            (true, false) => other.enabled,
            (false, true) => self.enabled,
            _ => self.enabled.max(other.enabled),
        };
        // If one part stood still, the other part's proofs hold for both. If both were live, only common proofs hold.
        let proofs = READING_FAST | READING_CLEAN;
        let proven = match (self.standing, other.standing) {
            (true, false) => other.flags,
            (false, true) => self.flags,
            _ => self.flags & other.flags,
        };
        Interval {
            raw: self.raw.wrapping_add(other.raw),
            enabled,
            running: self.running.saturating_add(other.running),
            apart: self.apart || other.apart,
            standing: self.standing && other.standing,
            flags: proven & proofs | (self.flags | other.flags) & !proofs,
        }
    }

    fn reading(self, overhead: u64) -> Reading {
        let Interval { raw, enabled: time_enabled, running: mut time_running, apart, mut flags, .. } = self;
        let mut clean = flags & READING_CLEAN != 0;
        // The two samples' times come from clocks that differ a little, or something was counted in no time, because
        // the clock is too coarse for the interval. The count is certain all the same.
        if time_running == 0 && (raw != 0 || apart) && !clean {
            flags |= READING_TIMES_STALE;
            time_running = time_enabled;
            clean = true;
        }
        let mut value = raw;
        if !clean && time_running == 0 {
            // The event was never on the PMU in the interval: there is no count, and 0 would be wrong.
            return Reading { time_enabled, flags, status: Status::NotCounted.code(), ..Reading::default() };
        }
        if !clean && time_running < time_enabled {
            flags |= READING_SCALED;
            value = scaled(raw, time_enabled, time_running);
        }
        Reading { value: value.saturating_sub(overhead), raw, time_enabled, time_running, flags, status: 0 }
    }
}

/// The count that an event would have on the PMU for a whole interval instead of a part of it, rounded and saturating.
/// Cumulative counts must not be scaled: the ratio of times changes from interval to interval.
fn scaled(count: u64, enabled: u64, running: u64) -> u64 {
    // At most (2^64 - 1)^2 + 2^63, which is below 2^128.
    let scaled = (u128::from(count) * u128::from(enabled) + u128::from(running / 2)) / u128::from(running);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// The time between two samples; 0 if the later one is a little behind because another clock took it.
fn elapsed(from: u64, to: u64) -> u64 {
    let elapsed = to.wrapping_sub(from);
    if elapsed as i64 >= 0 { elapsed } else { 0 }
}

/// All readings since the base.
#[derive(Debug)]
pub(crate) struct Tally {
    /// By slot: the slot of an event, or of a part of an event.
    pub histories: Vec<History>,
    /// Readings since the base.
    pub reads: u64,
    /// The last of them is recorded.
    pub recorded: bool,
}

impl Tally {
    /// With this many slots, before the first base.
    pub(crate) fn new(slots: usize) -> Result<Tally> {
        Ok(Tally { histories: filled(slots, History::default())?, reads: 0, recorded: false })
    }

    /// An independent copy.
    pub(crate) fn copy(&self) -> Result<Tally> {
        let mut histories = with_room(self.histories.len())?;
        histories.extend_from_slice(&self.histories);
        Ok(Tally { histories, ..*self })
    }

    /// Takes these samples as the base. A slot without a sample starts at its last one.
    pub(crate) fn rebase(&mut self, samples: &Samples) {
        for (slot, history) in self.histories.iter_mut().enumerate() {
            history.rebase(samples.get(slot).unwrap_or(history.last));
        }
        (self.reads, self.recorded) = (0, false);
    }

    /// Takes a reading. A slot without a sample has an empty interval.
    pub(crate) fn advance(&mut self, samples: &Samples) {
        for (slot, history) in self.histories.iter_mut().enumerate() {
            match samples.get(slot) {
                Some(sample) => history.advance(sample, samples.flags[slot]),
                None => history.advance_without(),
            }
        }
        self.end_reading();
    }

    /// Takes one slot of a reading that [`Tally::end_reading`] ends.
    #[inline(always)]
    pub(crate) fn advance_one(&mut self, slot: usize, sample: Sample, flags: u32) {
        // Every slot has a history, but this check is cheaper than a proof.
        if let Some(history) = self.histories.get_mut(slot) {
            history.advance(sample, flags);
        }
    }

    /// Counts a reading, which is not recorded yet.
    #[inline(always)]
    pub(crate) fn end_reading(&mut self) {
        self.reads += 1;
        self.recorded = false;
    }

    /// Forgets what a slot counted between two samples.
    pub(crate) fn skip(&mut self, slot: usize, from: Sample, to: Sample) {
        if let Some(history) = self.histories.get_mut(slot) {
            history.skip(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(value: u64, enabled: u64, running: u64) -> Sample {
        Sample { value, enabled, running }
    }

    #[test]
    fn overhead_comes_off_the_value_alone_and_never_below_zero() {
        let mut history = History::default();
        history.rebase(sample(100, 1000, 1000));
        history.advance(sample(120, 1200, 1100), 0);
        let values = [39, 41]
            .map(|overhead| history.reading(true, overhead))
            .map(|reading| (reading.raw, reading.value));
        assert_eq!(values, [(20, 1), (20, 0)]);
    }

    #[test]
    fn a_foreign_reset_is_detected_and_reported() {
        let mut history = History::default();
        history.rebase(sample(1000, 0, 0));
        history.advance(sample(1500, 10, 10), 0);
        history.advance(sample(70, 20, 20), 0);
        let delta = history.reading(true, 0);
        assert_eq!((delta.value, delta.flags), (70, READING_RESYNC));
        assert_eq!(history.reading(false, 0).value, 570);
        history.advance(sample(80, 30, 30), 0);
        assert_eq!((history.reading(true, 0).value, history.reading(true, 0).flags), (10, 0));
        assert_eq!((history.reading(false, 0).value, history.reading(false, 0).flags), (580, READING_RESYNC));
        history.rebase(sample(80, 30, 30));
        history.advance(sample(81, 31, 31), 0);
        assert_eq!((history.reading(false, 0).value, history.reading(false, 0).flags), (1, 0));
    }

    #[test]
    fn flags_hold_for_both_ends() {
        let flags = |history: &History| history.reading(true, 0).flags;
        let mut history = History::default();
        history.rebase(sample(100, 100, 100));
        // The base is a system call, so the first delta is not fast. Still, it is known that nothing moved.
        history.advance(sample(110, 110, 110), READING_FAST | READING_CLEAN);
        assert_eq!((flags(&history), history.pairs(true)), (READING_CLEAN, (0, 0)));
        history.advance(sample(120, 120, 120), READING_FAST | READING_CLEAN);
        assert_eq!((flags(&history), history.pairs(true)), (READING_FAST | READING_CLEAN, (1, 0)));
        history.advance(sample(130, 130, 130), READING_FAST);
        assert_eq!(flags(&history), READING_FAST);
        history.advance(sample(140, 140, 140), 0);
        assert_eq!((flags(&history), history.pairs(true)), (0, (0, 0)));
        history.advance(sample(150, 150, 150), 0);
        assert_eq!((flags(&history), history.pairs(true)), (0, (0, 1)));
        assert_eq!((history.reading(false, 0).flags, history.pairs(false)), (0, (2, 1)));
    }

    /// Samples are counts, times enabled and running, and flags. The first one is the base.
    #[test]
    fn what_times_prove() {
        use super::{READING_CLEAN as CLEAN, READING_FAST as FAST, READING_TIMES_STALE as STALE};
        type Row = (&'static [(u64, u64, u64, u32)], bool, Option<(u64, u32)>);
        let rows: &[Row] = &[
            // A clean interval needs no times. One that starts with stale times has stale times, too.
            (&[(0, 100, 50, 0), (7, 100, 50, FAST | CLEAN | STALE)], true, Some((7, CLEAN | STALE))),
            (&[(0, 100, 50, 0), (7, 200, 60, CLEAN)], true, Some((7, CLEAN))),
            (&[(8, 20, 20, 0), (8, 20, 20, FAST | CLEAN)], true, Some((0, CLEAN))),
            (&[(0, 1, 1, 0), (7, 1, 1, STALE), (9, 101, 51, 0)], true, Some((4, READING_SCALED | STALE))),
            // A count in no time is a count. The later time is behind, because another clock took it.
            (&[(0, 100, 100, 0), (3, 99, 99, 0)], true, Some((3, STALE))),
            (&[(3, 100, 100, 0), (3, 99, 99, 0)], true, Some((0, STALE))),
            (&[(0, 100, 100, 0), (3, 150, 100, 0)], true, Some((3, STALE))),
            // Two clocks that agree by chance do not prove that nothing was counted.
            (&[(5, 10, 10, 0), (8, 20, 20, FAST), (8, 20, 20, 0)], true, Some((0, STALE))),
            (&[(5, 10, 10, 0), (8, 20, 20, 0), (8, 20, 20, FAST)], true, Some((0, STALE))),
            (&[(8, 20, 20, 0), (8, 20, 20, FAST)], false, Some((0, STALE))),
            // With one clock, or without a second sample, nothing was counted.
            (&[(8, 20, 20, 0), (8, 20, 20, FAST), (8, 20, 20, FAST)], true, None),
            (&[(8, 20, 20, 0), (8, 20, 20, FAST), (8, 20, 20, FAST | STANDING)], true, None),
            (&[(8, 20, 20, 0), (8, 20, 20, 0), (8, 20, 20, STANDING)], true, None),
            (&[(8, 20, 20, 0), (8, 20, 20, FAST), (8, 20, 20, STANDING)], true, None),
            (&[(0, 0, 0, 0), (8, 20, 20, FAST), (0, 0, 0, NO_SAMPLE)], true, None),
            // The event was enabled and did not run: no clock is at fault.
            (&[(8, 20, 20, 0), (8, 30, 20, FAST)], false, None),
        ];
        for (samples, delta, expected) in rows {
            let mut history = History::default();
            for (at, &(value, enabled, running, flags)) in samples.iter().enumerate() {
                match flags {
                    NO_SAMPLE => history.advance_without(),
                    _ if at == 0 => history.rebase(sample(value, enabled, running)),
                    _ => history.advance(sample(value, enabled, running), flags),
                }
            }
            let reading = history.reading(*delta, 0);
            let found = reading.is_counted().then_some((reading.value, reading.flags));
            assert_eq!(found, *expected, "{samples:?}: {reading:?}");
            assert!(reading.is_counted() || reading.status == Status::NotCounted.code());
            // Without proof and without scaling, the count is that of the whole time.
            let is_whole = reading.flags & (CLEAN | READING_SCALED) == 0;
            assert!(!is_whole || found.is_none() || reading.time_running == reading.time_enabled);
        }
    }

    proptest! {
        /// For any sizes, repeated doubling and subtraction give the same answer without a wide product.
        #[test]
        fn scaled_by_any_times(count: u64, enabled: u64, running in 1u64..) {
            let (enabled, running) = (enabled.max(running).max(2), enabled.min(running).max(1));
            prop_assume!(running < enabled);
            let (mut quotient, mut remainder) = (0u128, 0u128);
            for bit in (0..64).rev() {
                // value = value · 2 + (bit of count) · enabled, kept as quotient and remainder by running.
                quotient *= 2;
                remainder *= 2;
                if count >> bit & 1 != 0 {
                    remainder += u128::from(enabled);
                }
                quotient += remainder / u128::from(running);
                remainder %= u128::from(running);
            }
            if remainder + u128::from(running / 2) >= u128::from(running) {
                quotient += 1;
            }
            let expected = u64::try_from(quotient).unwrap_or(u64::MAX);
            prop_assert_eq!(scaled(count, enabled, running), expected);
        }
    }
}
