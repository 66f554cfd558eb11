//! The mapped page of an event.

use core::ptr::NonNull;

use crate::os::kernel::{Attr, Page, kind};
use crate::os::sys::Perf;
use crate::user_read::page::{Times, View, is_readable};

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
pub(crate) fn map<S: Perf>(sys: &S, attr: &Attr, fd: i32) -> Option<Mapped> {
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
