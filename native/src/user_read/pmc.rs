//! Reading the counters of a group in user space, so that every value is one that the kernel would have given.
//!
//! The kernel's page gives an offset, the counter is `width` bits wide, and `v = offset + sign-extended counter`, modulo 2^64, is
//! the count `C` or `C − 2^width`. The second happens because the kernel starts a counter at a negative number, which it notes
//! sign-extended, but notes it without sign whenever it reads the counter itself: a RESET by anybody who holds the descriptor
//! publishes such a note. So for each counter the reader keeps a bias, which the kernel itself confirmed, for as long as the
//! page's lock stands:
//!
//! 1. Lock as it was: the count is `v + bias`, and the event was on this CPU's PMU without a break since the last reading, because
//!    taking it off, moving it and re-arming it all republish the page.
//! 2. Lock moved, and `v` is not below the last count: the count is `v`. (More than 2^width events between two readings are no
//!    trouble: each overflow re-arms the counter with a sign-extended note.)
//! 3. Lock moved, and `v` is below the last count: read(2) decides, and the bias is the multiple of 2^width nearest to the
//!    difference. A count below the last one is then a reset by somebody else.
//!
//! The counters of a group are read between one look at all locks and another, so that their values belong together: no context
//! switch lies between them.
//!
//! Not seen: a reset by somebody else whose loss has been made up for by the next reading, and a lock that comes round to its old
//! value after 2^31 changes between two readings.

use crate::user_read::page::{Reason, TRIES, Times, View, capture};
use crate::user_read::sys::PmcSource;

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
    /// Offset and bias.
    base: u64,
    /// The value read last, if the reading holds.
    fresh: u64,
    /// The page's lock under which the fields here are valid. Even.
    lock: u32,
    /// As the page has it.
    index: u32,
    /// 64 less the width.
    shift: u32,
    /// The bias is not yet known.
    doubtful: bool,
    /// The page was captured at all, with the lock above.
    captured: bool,
    times: Times,
}

/// The counters of one group, leader first.
#[derive(Debug)]
pub(crate) struct Pmcs<P> {
    members: Vec<Member<P>>,
    /// Every member is captured and beyond doubt, and the anchor holds: the next reading may find nothing moved.
    ready: bool,
    /// Fences around every reading.
    ordered: bool,
    /// Time stamps are worth taking.
    clocked: bool,
    /// For pages that do not say how time passes.
    own_rate: Option<Rate>,
    anchor: Anchor,
    /// When the last successful reading was taken.
    stamp: u64,
    /// All members were off the PMU, with these locks, when read(2) was last asked.
    standing: bool,
    prepared: Prepared,
}

/// What was found out before asking the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Prepared {
    Nothing,
    /// All were off the PMU.
    Inactive,
    /// All were read.
    Attempted,
}

/// Sign-extends a counter; `shift` is 64 less its width. What is above the width falls out.
#[inline(always)]
fn extend(raw: u64, shift: u32) -> u64 {
    (((raw << (shift & 63)) as i64) >> (shift & 63)) as u64
}

impl<P: View> Pmcs<P> {
    /// For the pages of a group's members, leader first. `own_rate` is that of the time stamp counter, where it can be trusted.
    /// `None` when memory is out.
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
        let mut members = Vec::new();
        members.try_reserve_exact(pages.len()).ok()?;
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

    /// Whether the times of a reading stand still since the last system call, because nobody says how to extend them.
    #[inline(always)]
    pub(crate) fn times_stale(&self) -> bool {
        !self.clocked || self.anchor.rate.mult == 0
    }

    /// Reads all counters if no lock has moved since the last successful reading. Then the group was on the PMU throughout.
    #[inline]
    pub(crate) fn read_unmoved<S: PmcSource>(&mut self, source: &S) -> bool {
        self.ready && self.attempt(source)
    }

    /// One reading under the locks as they are known; false when one of them moved.
    #[inline(always)]
    fn attempt<S: PmcSource>(&mut self, source: &S) -> bool {
        // The usual case, in as few instructions as it takes.
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

    /// The same for any number of counters, and with fences. In a function of its own, for the sake of the registers of the other.
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

    /// Brings what is known of every page up to date. Errors where one cannot be read in user space.
    fn refresh<S: PmcSource>(&mut self, source: &S) -> Result<(), Doubt> {
        self.ready = false;
        let mut result = Ok(());
        for member in &mut self.members {
            if member.captured && member.index != 0 && member.page.lock_acquire() == member.lock {
                continue;
            }
            let fields = capture(&member.page, |index| source.has(index));
            // The kernel's last answer was for the lock that is about to be forgotten: another thread may have started and stopped
            // the event since then.
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
                // The other pages are captured all the same: their locks tell whether all stand still.
                Err(reason) => result = Err(Doubt::Unreadable(reason)),
            }
        }
        // Where neither the page nor the clock makes anything of a time stamp, it is not taken: the instruction may be forbidden.
        self.clocked =
            self.own_rate.is_some() || self.members.first().is_some_and(|leader| leader.times.extends);
        result
    }

    /// Reads all counters after a lock has moved. `last` gives a member's count at the last reading of any kind.
    #[cold]
    pub(crate) fn read_moved<S: PmcSource>(
        &mut self,
        source: &S,
        last: impl Fn(usize) -> u64,
    ) -> Result<(), Doubt> {
        for _ in 0..TRIES {
            self.refresh(source)?;
            // Where nothing moved after all (the last reading was by system call, or another member failed), the times still
            // hold; else the page must tell them.
            let anchored = self.members.iter().all(|member| !member.doubtful);
            if !anchored && !self.members[0].times.extends {
                return Err(Doubt::TimesStale);
            }
            if !self.attempt(source) {
                continue;
            }
            for (position, member) in self.members.iter_mut().enumerate() {
                // In doubt the bias is 0, and a count that has not fallen is right. The comparison is signed: the false value
                // of a young counter is below zero.
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

    /// Takes the times of the last successful attempt from the leader's page, where it tells.
    fn anchor_to_page(&mut self) {
        let times = self.members[0].times;
        if let Some(since) = times.since_written(self.stamp).filter(|_| self.clocked) {
            self.anchor = Anchor {
                stamp: self.stamp,
                enabled: times.enabled.wrapping_add(since),
                running: times.running.wrapping_add(since),
                rate: Rate::of_page(&times),
            };
        }
    }

    /// Looks at everything once more before the kernel is asked, so that [`Pmcs::confirm`] can learn from its answer.
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

    /// Learns every bias from what the kernel said after [`Pmcs::prepare`]: the group's times and each member's count. The answer
    /// stands whatever is learnt from it.
    #[cold]
    pub(crate) fn confirm(&mut self, (enabled, running): (u64, u64), count: impl Fn(usize) -> u64) {
        let prepared = core::mem::replace(&mut self.prepared, Prepared::Nothing);
        if prepared == Prepared::Nothing {
            return;
        }
        // What was learnt before the call is worth something only if nothing moved until after it.
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
            // A counter of 64 bits has no multiple to be wrong by.
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
        // The page's own arithmetic is the kernel's, where there is one.
        let times = self.members[0].times;
        if times.extends && self.clocked {
            self.anchor.rate = Rate::of_page(&times);
        }
        self.ready = true;
    }

    /// Whether all members are off the PMU since the kernel was last asked: then its answer stands, as far as counts go.
    pub(crate) fn stands(&self) -> bool {
        self.standing && self.members.iter().all(|member| member.page.lock_acquire() == member.lock)
    }
}

/// Turns time stamps into nanoseconds. The default is that of a clock that stands still.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rate {
    pub mult: u64,
    pub shift: u32,
    pub mask: u64,
}

impl Rate {
    /// For a time stamp counter of this frequency.
    pub(crate) fn of_hertz(hertz: u64) -> Rate {
        // Errs by less than one part in 2^30 at 1 GHz and above.
        Rate { mult: (1_000_000_000u64 << 32) / hertz.max(1), shift: 32, mask: u64::MAX }
    }

    /// As the page itself has it.
    pub(crate) fn of_page(times: &Times) -> Rate {
        let mask = times.wrap.map_or(u64::MAX, |(_, mask)| mask);
        Rate { mult: times.mult.into(), shift: u32::from(times.shift).min(63), mask }
    }

    #[inline(always)]
    pub(crate) fn nanos(&self, from: u64, to: u64) -> u64 {
        ((u128::from(to.wrapping_sub(from) & self.mask) * u128::from(self.mult)) >> (self.shift & 63)) as u64
    }
}

/// A pair of times that holds at a time stamp, and from there on as long as no lock moves.
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
            let nanos = Rate::of_hertz(hertz).nanos(17, 17 + hertz * 3600);
            assert!(nanos.abs_diff(3600 * 1_000_000_000) < 5000, "{hertz}: {nanos}");
        }
        let masked = Rate { mult: 1, shift: 0, mask: 0xffff };
        assert_eq!(masked.nanos(0xfffe, 3), 5);
    }
}
