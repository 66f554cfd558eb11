//! Reads the counters of a group in user space, so that every value is one that the kernel would have returned.
//!
//! The kernel's page gives an offset, and the counter is `width` bits wide. Modulo 2^64, `v = offset + sign-extended
//! counter` is the count `C` or `C − 2^width`. The second happens because the kernel starts a counter at a negative
//! number. It notes that number sign-extended, but without sign whenever it reads the counter itself: a RESET by
//! anybody who holds the descriptor publishes such a note. So the reader keeps a bias for each counter, which the
//! kernel has confirmed, as long as the page's lock does not move:
//!
//! 1. Lock not moved: the count is `v + bias`. The event was on this CPU's PMU without a break since the last reading:
//!    taking it off, moving it and re-arming it all republish the page.
//! 2. Lock moved, and `v` not below the last count: the count is `v`. (More than 2^width events between two readings
//!    are no problem: each overflow re-arms the counter with a sign-extended note.)
//! 3. Lock moved, and `v` below the last count: read(2) decides, and the bias is the multiple of 2^width nearest to the
//!    difference. If that count is below the last one, somebody else has reset the counter.
//!
//! All locks are checked before and after a group's counters are read, so the values belong together: no context switch
//! lies between them.
//!
//! Two cases go unnoticed: a reset by somebody else whose loss the next reading has made up for, and a lock that
//! returns to its old value after 2^31 changes between two readings.

use core::ops::Deref;

use crate::user_read::page::{Reason, TRIES, Times, View, capture};
use crate::user_read::sys::PmcSource;
use picollo_native::seam::vectors::with_room;

/// Why a group must be read by system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doubt {
    /// A counter cannot be read in user space now.
    Unreadable(Reason),
    /// A value is below the last one: the kernel decides.
    Disputed,
    /// The event was interrupted, and the page does not say for how long.
    TimesStale,
}

/// One counter of a group.
#[derive(Debug)]
struct Member<P> {
    page: P,
    /// The sum of offset and bias.
    base: u64,
    /// The last value read, if the reading holds.
    fresh: u64,
    /// The page's lock under which the fields here are valid. Even.
    lock: u32,
    /// The index in the page.
    index: u32,
    /// 64 less the width.
    shift: u32,
    /// The bias is not yet known.
    doubtful: bool,
    /// The page was captured, with the lock above.
    captured: bool,
    times: Times,
}

/// The counters of one group, leader first.
#[derive(Debug)]
pub(crate) struct Pmcs<P> {
    members: Vec<Member<P>>,
    /// Every member is captured and certain, and the anchor holds: the next reading may find nothing moved.
    ready: bool,
    /// Fences around every reading.
    ordered: bool,
    /// Time stamps are useful.
    clocked: bool,
    /// The rate for pages that do not say how time passes.
    own_rate: Option<Rate>,
    anchor: Anchor,
    /// The time stamp of the last successful reading.
    stamp: u64,
    /// When read(2) was last asked, all members were off the PMU, with these locks.
    standing: bool,
    prepared: Prepared,
}

/// The findings before asking the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Prepared {
    Nothing,
    /// All were off the PMU.
    Inactive,
    /// All were read.
    Attempted,
}

/// Sign-extends a counter; `shift` is 64 less its width. Bits above the width are dropped.
#[inline(always)]
fn extend(raw: u64, shift: u32) -> u64 {
    (((raw << (shift & 63)) as i64) >> (shift & 63)) as u64
}

impl<P: Deref<Target: View>> Pmcs<P> {
    /// A reader of the pages of a group's members, leader first. `own_rate` is the rate of the time stamp counter, if
    /// it can be trusted. `None` if memory is short.
    pub(crate) fn try_new(pages: Vec<P>, ordered: bool, own_rate: Option<Rate>) -> Option<Pmcs<P>> {
        let member = |page| Member {
            page,
            base: 0,
            fresh: 0,
            lock: 0,
            index: 0,
            shift: 0,
            doubtful: true,
            captured: false,
            times: Times::default(),
        };
        let mut members = with_room(pages.len()).ok()?;
        members.extend(pages.into_iter().map(member));
        Some(Pmcs {
            members,
            ready: false,
            ordered,
            clocked: false,
            own_rate,
            anchor: Anchor::default(),
            stamp: 0,
            standing: false,
            prepared: Prepared::Nothing,
        })
    }

    /// The members' values in the last successful reading, leader first.
    #[inline(always)]
    pub(crate) fn values(&self) -> impl Iterator<Item = u64> {
        self.members.iter().map(|member| member.fresh)
    }

    /// Time enabled and running at the last successful reading. The group is scheduled as one, so they are its leader's.
    #[inline(always)]
    pub(crate) fn times(&self) -> (u64, u64) {
        if self.clocked {
            self.anchor.times_at(self.stamp)
        } else {
            (self.anchor.enabled, self.anchor.running)
        }
    }

    /// Whether a reading repeats the times of the last system call, because nothing shows how to extend them.
    #[inline(always)]
    pub(crate) fn times_stale(&self) -> bool {
        !self.clocked || self.anchor.rate.mult == 0
    }

    /// Reads all counters if no lock has moved since the last successful reading. Then the group was on the PMU throughout.
    #[inline]
    pub(crate) fn read_unmoved<S: PmcSource>(&mut self, source: &S) -> bool {
        self.ready && self.attempt(source)
    }

    /// Makes one reading under the known locks; false if one of them moved.
    #[inline(always)]
    fn attempt<S: PmcSource>(&mut self, source: &S) -> bool {
        // The usual case, in as few instructions as possible.
        if let [only] = self.members.as_mut_slice()
            && !self.ordered
        {
            if only.page.lock_acquire() != only.lock {
                return false;
            }
            let raw = source.read(only.index);
            only.fresh = only.base.wrapping_add(extend(raw, only.shift));
            if self.clocked {
                self.stamp = source.timestamp();
            }
            only.page.fence();
            return only.page.lock_relaxed() == only.lock;
        }
        self.attempt_any(source)
    }

    /// The same for any number of counters, and with fences. It is a separate function to save registers in the other.
    #[inline(never)]
    fn attempt_any<S: PmcSource>(&mut self, source: &S) -> bool {
        if self.ordered {
            source.fence();
        }
        let members = self.members.as_mut_slice();
        if members.iter().any(|member| member.page.lock_acquire() != member.lock) {
            return false;
        }
        for member in members.iter_mut() {
            let raw = source.read(member.index);
            member.fresh = member.base.wrapping_add(extend(raw, member.shift));
        }
        if self.clocked {
            self.stamp = source.timestamp();
        }
        members.first().inspect(|leader| leader.page.fence());
        let held = members.iter().all(|member| member.page.lock_relaxed() == member.lock);
        if self.ordered {
            source.fence();
        }
        held
    }

    /// Updates what is known of every page. Fails if one counter cannot be read in user space.
    fn refresh<S: PmcSource>(&mut self, source: &S) -> Result<(), Doubt> {
        self.ready = false;
        let mut result = Ok(());
        for member in &mut self.members {
            if member.captured && member.index != 0 && member.page.lock_acquire() == member.lock {
                continue;
            }
            let fields = capture(&*member.page, |index| source.has(index));
            // The kernel's last answer was for the lock that is about to be forgotten. Another thread may have started
            // and stopped the event since then.
            self.standing &=
                member.captured && fields.as_ref().is_some_and(|fields| fields.lock == member.lock);
            member.captured = fields.is_some();
            (member.doubtful, member.index) = (true, 0);
            let Some(fields) = fields else {
                return Err(Doubt::Unreadable(Reason::Contended));
            };
            member.lock = fields.lock;
            member.times = fields.times;
            match fields.counter {
                Ok(readable) => {
                    member.index = readable.index;
                    member.shift = 64 - readable.width;
                    member.base = readable.offset;
                }
                // The other pages are still captured: their locks show whether all stand still.
                Err(reason) => result = Err(Doubt::Unreadable(reason)),
            }
        }
        // A time stamp that neither the page nor the clock can use is not taken: the instruction may be forbidden.
        self.clocked =
            self.own_rate.is_some() || self.members.first().is_some_and(|leader| leader.times.extends);
        result
    }

    /// Reads all counters after a lock has moved. `last` returns a member's count at the last reading of any kind.
    #[cold]
    pub(crate) fn read_moved<S: PmcSource>(
        &mut self,
        source: &S,
        last: impl Fn(usize) -> u64,
    ) -> Result<(), Doubt> {
        for _ in 0..TRIES {
            self.refresh(source)?;
            // If nothing moved after all (the last reading was by system call, or another member failed), the times
            // still hold. Otherwise the page must have them.
            let anchored = self.members.iter().all(|member| !member.doubtful);
            if !anchored && !self.members[0].times.extends {
                return Err(Doubt::TimesStale);
            }
            if !self.attempt(source) {
                continue;
            }
            for (position, member) in self.members.iter_mut().enumerate() {
                // In doubt the bias is 0, and a count that has not fallen is right. The comparison is signed, because
                // the wrong value of a young counter is below zero.
                if member.doubtful && member.shift != 0 && (member.fresh as i64) < last(position) as i64 {
                    return Err(Doubt::Disputed);
                }
            }
            for member in &mut self.members {
                member.doubtful = false;
            }
            self.anchor_to_page();
            self.ready = true;
            return Ok(());
        }
        Err(Doubt::Unreadable(Reason::Contended))
    }

    /// Takes the times of the last successful attempt from the leader's page, if it has them.
    fn anchor_to_page(&mut self) {
        let times = self.members[0].times;
        if let Some(since) = times.since_written(self.stamp).filter(|_| self.clocked) {
            self.anchor = Anchor {
                stamp: self.stamp,
                enabled: times.enabled.wrapping_add(since),
                running: times.running.wrapping_add(since),
                rate: Rate::from_page(&times),
            };
        }
    }

    /// Checks everything once more before the kernel is asked, so that [`Pmcs::confirm`] can learn from its answer.
    #[cold]
    pub(crate) fn prepare<S: PmcSource>(&mut self, source: &S) {
        self.prepared = Prepared::Nothing;
        for _ in 0..TRIES {
            match self.refresh(source) {
                Ok(()) if self.attempt(source) => self.prepared = Prepared::Attempted,
                Ok(()) => continue,
                Err(Doubt::Unreadable(Reason::Inactive)) => self.prepared = Prepared::Inactive,
                Err(_) => {}
            }
            break;
        }
        self.ready = false;
        self.standing = false;
    }

    /// Learns every bias from the kernel's answer after [`Pmcs::prepare`]: the group's times and each member's count.
    /// The answer is valid whatever is learned from it.
    #[cold]
    pub(crate) fn confirm(&mut self, (enabled, running): (u64, u64), count: impl Fn(usize) -> u64) {
        let prepared = core::mem::replace(&mut self.prepared, Prepared::Nothing);
        if prepared == Prepared::Nothing {
            return;
        }
        // Findings from before the call are valid only if nothing moved until after it.
        self.members.first().inspect(|leader| leader.page.fence());
        if self.members.iter().any(|member| !member.captured || member.page.lock_relaxed() != member.lock) {
            return;
        }
        if prepared == Prepared::Inactive {
            self.standing = self.members.iter().all(|member| member.index == 0);
            return;
        }
        for (position, member) in self.members.iter_mut().enumerate() {
            let difference = count(position).wrapping_sub(member.fresh);
            // A counter of 64 bits cannot be wrong by a multiple.
            let bias = if member.shift == 0 {
                0
            } else {
                let width = 64 - member.shift;
                (difference.wrapping_add(1 << (width - 1)) >> width) << width
            };
            member.base = member.base.wrapping_add(bias);
            member.fresh = member.fresh.wrapping_add(bias);
            member.doubtful = false;
        }
        self.anchor = Anchor { stamp: self.stamp, enabled, running, rate: self.own_rate.unwrap_or_default() };
        // If the page has arithmetic for times, it is the kernel's.
        let times = self.members[0].times;
        if times.extends && self.clocked {
            self.anchor.rate = Rate::from_page(&times);
        }
        self.ready = true;
    }

    /// Whether all members have been off the PMU since the kernel was last asked. If so, its counts still hold.
    pub(crate) fn stands(&self) -> bool {
        self.standing && self.members.iter().all(|member| member.page.lock_acquire() == member.lock)
    }
}

/// Turns time stamps into nanoseconds. The default is the rate of a clock that stands still.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rate {
    pub mult: u64,
    pub shift: u32,
    pub mask: u64,
}

impl Rate {
    /// The rate of a time stamp counter with this frequency.
    pub(crate) fn from_hertz(hertz: u64) -> Rate {
        // The error is less than one part in 2^30 at 1 GHz and above.
        Rate { mult: (1_000_000_000u64 << 32) / hertz.max(1), shift: 32, mask: u64::MAX }
    }

    /// The rate in the page itself.
    pub(crate) fn from_page(times: &Times) -> Rate {
        let mask = times.wrap.map_or(u64::MAX, |(_, mask)| mask);
        Rate { mult: times.mult.into(), shift: u32::from(times.shift).min(63), mask }
    }

    #[inline(always)]
    pub(crate) fn nanos(&self, from: u64, to: u64) -> u64 {
        ((u128::from(to.wrapping_sub(from) & self.mask) * u128::from(self.mult)) >> (self.shift & 63)) as u64
    }
}

/// A pair of times at a time stamp. It holds from there on as long as no lock moves.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Anchor {
    pub stamp: u64,
    pub enabled: u64,
    pub running: u64,
    pub rate: Rate,
}

impl Anchor {
    /// The two times at a later time stamp.
    #[inline(always)]
    pub(crate) fn times_at(&self, stamp: u64) -> (u64, u64) {
        let since = self.rate.nanos(self.stamp, stamp);
        (self.enabled.wrapping_add(since), self.running.wrapping_add(since))
    }
}

#[cfg(test)]
#[path = "pmc_tests.rs"]
mod tests;

#[cfg(test)]
mod rate_tests {
    use super::*;

    #[test]
    fn rates() {
        for hertz in [1_000_000u64, 24_000_000, 1_000_000_000, 2_445_437_000, 5_000_000_000] {
            let nanos = Rate::from_hertz(hertz).nanos(17, 17 + hertz * 3600);
            assert!(nanos.abs_diff(3600 * 1_000_000_000) < 5000, "{hertz}: {nanos}");
        }
        let masked = Rate { mult: 1, shift: 0, mask: 0xffff };
        assert_eq!(masked.nanos(0xfffe, 3), 5);
    }
}
