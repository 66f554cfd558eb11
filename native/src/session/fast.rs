//! The groups of a session that are read in user space.

use crate::opening::group::{Group, positions};
use crate::opening::open::Opened;
use crate::user_read::mapped::Mapped;
use crate::user_read::page::View;
use crate::user_read::pmc::Pmcs;
use crate::user_read::policy::Policy;
use crate::user_read::rate::Rate;
use crate::user_read::sys::Sys;
use crate::user_read::trial::Finding;

/// The groups of a session that can be read in user space.
#[derive(Debug)]
pub(crate) struct Fast {
    /// By group.
    pub groups: Vec<Option<Pmcs<Mapped>>>,
    /// Every event of the session is in such a group.
    pub complete: bool,
}

impl Fast {
    /// None.
    pub(crate) const fn none() -> Fast {
        Fast { groups: Vec::new(), complete: false }
    }

    /// Finds the groups whose members are all mapped. `events` is how many there are in the session.
    pub(crate) fn find<S: Sys>(opened: &Opened<S>, policy: Policy, ordered: bool, events: usize) -> Fast {
        let mut fast = Fast { groups: Vec::new(), complete: false };
        if policy.is_off() || fast.groups.try_reserve_exact(opened.groups.len()).is_err() {
            return Fast::none();
        }
        let mut members = 0u64;
        for group in &opened.groups {
            let pmcs = Self::group(opened, group, policy, ordered);
            if pmcs.is_some() {
                members |= group.members;
            }
            fast.groups.push(pmcs);
        }
        fast.complete = members.count_ones() as usize == events;
        fast
    }

    fn group<S: Sys>(
        opened: &Opened<S>,
        group: &Group,
        policy: Policy,
        ordered: bool,
    ) -> Option<Pmcs<Mapped>> {
        if group.members == 0 {
            return None;
        }
        let mut pages = Vec::new();
        pages.try_reserve_exact(group.members.count_ones() as usize).ok()?;
        for position in positions(group.members) {
            pages.push(opened.pages[position]?);
        }
        if policy == Policy::Auto && opened.sys.user_reads(&opened.attrs[group.leader]) != Finding::Safe {
            return None;
        }
        // Only where the page does not say how time passes is the clock needed; finding out its rate takes a while.
        let tells = pages.first().is_some_and(|page| page.times().extends);
        let own_rate = if tells { None } else { opened.sys.tick_rate().map(Rate::of_hertz) };
        Pmcs::try_new(pages, ordered, own_rate)
    }
}
