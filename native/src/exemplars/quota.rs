//! Whether the process's group was throttled while an observation lasted.

use crate::clock::Clock;

use super::cgroup::Cgroup;

/// The last two readings of how often the group was throttled.
#[derive(Debug)]
pub(super) struct Quota {
    group: Option<Cgroup>,
    read: u64,
    throttled: u64,
    /// The last growth that was seen: by how much, and between which readings.
    grown: u64,
    since: u64,
    until: u64,
}

impl Quota {
    pub(super) fn open() -> Quota {
        let group = Cgroup::open();
        let throttled = group.as_ref().and_then(Cgroup::read).map_or(0, |now| now.throttled_periods);
        Quota { group, read: Clock::Tsc.ticks(), throttled, grown: 0, since: 0, until: 0 }
    }

    pub(super) const fn is_known(&self) -> bool {
        self.group.is_some()
    }

    /// How often the group may have been throttled since `start`, in ticks: as far as it is not known to have been before; and whether all of
    /// that is known to have been since.
    pub(super) fn grown_since(&mut self, start: u64) -> (u32, bool) {
        let Some(now) = self.group.as_ref().and_then(Cgroup::read) else { return (0, false) };
        let grown = now.throttled_periods.saturating_sub(self.throttled);
        let (since, until) = (self.read, Clock::Tsc.ticks());
        (self.throttled, self.read) = (now.throttled_periods, until);
        if grown > 0 {
            (self.grown, self.since, self.until) = (grown, since, until);
        }
        if self.until <= start {
            return (0, false);
        }
        (u32::try_from(self.grown).unwrap_or(u32::MAX), self.since >= start)
    }
}
