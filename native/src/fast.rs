//! The groups of a session that are read in user space.

use core::ptr::NonNull;

use crate::fault;
use crate::group::{Group, positions};
use crate::kernel::{Attr, Page, kind};
use crate::open::Opened;
use crate::page::{Times, View, is_readable};
use crate::pmc::{Pmcs, Rate};
use crate::policy::Policy;
use crate::sys::Sys;
use crate::tsc;

/// A mapped page. Whoever holds one is gone before the page is unmapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped(NonNull<Page>);

// SAFETY: a page may be looked at from any thread. Reading the counter behind it is another matter: that is done on the opening
// thread alone, which the session checks before every reading.
unsafe impl Send for Mapped {}
// SAFETY: as above; and all access to the page is by atomic loads.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// For unmapping.
    pub(crate) fn pointer(self) -> NonNull<Page> {
        self.0
    }

    #[inline(always)]
    fn page(&self) -> &Page {
        // SAFETY: a session drops its `Fast` before its `Opened`, which owns the mapping, and makes a new one when it opens events
        // again; so the page is mapped. In a forked child it is not, and there the session's check comes before any use.
        unsafe { self.0.as_ref() }
    }
}

impl View for Mapped {
    #[inline(always)]
    fn lock_acquire(&self) -> u32 {
        self.page().lock_acquire()
    }
    #[inline(always)]
    fn lock_relaxed(&self) -> u32 {
        self.page().lock_relaxed()
    }
    #[inline(always)]
    fn fence(&self) {
        self.page().fence();
    }
    fn index(&self) -> u32 {
        View::index(self.page())
    }
    fn offset(&self) -> i64 {
        View::offset(self.page())
    }
    fn width(&self) -> u16 {
        self.page().width()
    }
    fn capabilities(&self) -> u64 {
        View::capabilities(self.page())
    }
    fn times(&self) -> Times {
        self.page().times()
    }
}

/// Maps the event's page, for keeps if its counter may be read. That it cannot be mapped is no failure.
pub(crate) fn map<S: Sys>(sys: &S, attr: &Attr, fd: i32) -> Option<Mapped> {
    // These have no counter, and their pages are not kept up to date.
    if matches!(attr.kind, kind::SOFTWARE | kind::TRACEPOINT | kind::BREAKPOINT) {
        return None;
    }
    let page = sys.map_page(fd).ok()?;
    // SAFETY: mapped just now, and unmapped only below.
    if is_readable(unsafe { page.as_ref() }) {
        return Some(Mapped(page));
    }
    // SAFETY: mapped above, and not used any more.
    unsafe { sys.unmap_page(page) };
    None
}

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
        if policy == Policy::Off || fast.groups.try_reserve_exact(opened.groups.len()).is_err() {
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
        if policy == Policy::Auto && !fault::user_reads_are_safe(&opened.attrs[group.leader]) {
            return None;
        }
        // Only where the page does not say how time passes is the clock needed; finding out its rate takes a while.
        let tells = pages.first().is_some_and(|page| page.times().extends);
        let own_rate = if tells { None } else { tsc::hertz().map(Rate::of_hertz) };
        Pmcs::try_new(pages, ordered, own_rate)
    }
}
