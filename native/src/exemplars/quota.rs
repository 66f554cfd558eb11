//! Whether the process's group was throttled while an observation lasted.

use crate::clock::Clock;

use super::cgroup::Cgroup;
use super::thread::ticks_of;

/// How often the group was throttled, as far as it was looked at.
#[derive(Debug)]
pub(super) struct Quota {
    group: Option<Cgroup>,
    /// The last reading, where there was any, and when that was, in ticks.
    throttled: Option<u64>,
    read: u64,
    /// The last look was a reading.
    is_readable: bool,
    grown: Growth,
}

/// The last growth that was seen: by how much, and between which readings.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    by: u64,
    since: u64,
    until: u64,
}

impl Quota {
    /// Paths take some kilobytes of the stack, which its caller is not to keep.
    #[inline(never)]
    pub(super) fn open() -> Quota {
        let group = Cgroup::open();
        let mut quota =
            Quota { group, throttled: None, read: 0, is_readable: false, grown: Growth::default() };
        quota.look();
        quota
    }

    /// Reads it again.
    pub(super) fn look(&mut self) {
        let now = self.group.as_ref().and_then(Cgroup::read).map(|now| now.throttled_periods);
        self.seen(now, Clock::Tsc.ticks());
    }

    fn seen(&mut self, now: Option<u64>, until: u64) {
        self.is_readable = now.is_some();
        let Some(now) = now else { return };
        let grown = self.throttled.map_or(0, |before| now.saturating_sub(before));
        if grown > 0 {
            self.grown = Growth { by: grown, since: self.read, until };
        }
        (self.throttled, self.read) = (Some(now), until);
    }

    /// How often the group may have been throttled between these ticks, as far as that is known not to have been before or after; and whether
    /// all of that is known to have been within. `None` where it cannot be read. As of the last look.
    pub(super) fn within(&self, start: u64, end: u64) -> Option<(u32, bool)> {
        if !self.is_readable {
            return None;
        }
        let Growth { by, since, until } = self.grown;
        if by == 0 || until <= start || since >= end {
            return Some((0, false));
        }
        // A look at the end of an observation is always a little later than it.
        Some((
            u32::try_from(by).unwrap_or(u32::MAX),
            since >= start && until <= end.saturating_add(ticks_of(LATER_NANOS)),
        ))
    }
}

const LATER_NANOS: u64 = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_of_what_it_may_have_been_in() {
        Clock::init();
        let mut quota =
            Quota { group: None, throttled: None, read: 0, is_readable: false, grown: Growth::default() };
        assert_eq!(quota.within(0, 10), None, "unreadable is not none");
        let t = 1_000_000;
        quota.seen(Some(5), t);
        assert_eq!(
            quota.within(0, 2 * t),
            Some((0, false)),
            "what was before the first look is not known to be new"
        );
        quota.seen(Some(5), 2 * t);
        quota.seen(Some(7), 3 * t);
        // The look before was within: so was all. It was before: perhaps. It was after, or the last one was before: not.
        assert_eq!(quota.within(2 * t - 5, 3 * t - 5), Some((2, true)));
        assert_eq!(quota.within(2 * t + 5, 3 * t - 5), Some((2, false)));
        assert_eq!(quota.within(t, 2 * t), Some((0, false)));
        assert_eq!(quota.within(3 * t, 4 * t), Some((0, false)));
        // It waited to be taken in, and was over long before the look.
        assert_eq!(quota.within(2 * t - 5, 3 * t - t / 2), Some((2, false)));
        quota.seen(None, 4 * t);
        assert_eq!(quota.within(2 * t + 5, 3 * t), None);
        // When in all that time it grew, nobody knows.
        quota.seen(Some(9), 5 * t);
        assert_eq!(quota.within(4 * t + 5, 5 * t), Some((2, false)));
    }
}
