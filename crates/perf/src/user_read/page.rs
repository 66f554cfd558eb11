//! The page that the kernel keeps up to date for a mapped event: how to read it whole, and its information about time.
//!
//! The page is a seqlock. The kernel makes `lock` odd (on newer kernels merely different), writes, and moves it on. A
//! reader takes the lock, then the fields, then the lock again, and starts over if it moved. For an event of the
//! calling thread, the writer is an interrupt or a context switch on this very CPU, so order in the compiler would be
//! enough. The fences here are real all the same, so a test with a writer on another thread is valid for them.

use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};

use picollo_native::seam::kernel::{Attr, CAP_USER_READ, CAP_USER_TIME, Page, capability, kind};
use picollo_native::seam::sys::Perf;

/// How often a reader starts over before it leaves the reading to the kernel.
pub(crate) const TRIES: u32 = if cfg!(loom) { 3 } else { 64 };

/// Access to a page's fields, so that a model checker can replace memory. The loads are relaxed and atomic: the kernel
/// writes at any moment, and racing plain loads would be undefined.
pub(crate) trait View: Sized {
    /// The lock, before anything that it guards.
    fn lock_acquire(&self) -> u32;
    /// The lock again, after [`View::fence`].
    fn lock_relaxed(&self) -> u32;
    /// Keeps earlier loads from moving after the second load of the lock.
    fn fence(&self);
    fn index(&self) -> u32;
    fn offset(&self) -> i64;
    fn width(&self) -> u16;
    fn capabilities(&self) -> u64;
    /// All information about time.
    fn times(&self) -> Times;
}

impl View for Page {
    #[inline(always)]
    fn lock_acquire(&self) -> u32 {
        self.lock.load(Ordering::Acquire)
    }
    #[inline(always)]
    fn lock_relaxed(&self) -> u32 {
        self.lock.load(Ordering::Relaxed)
    }
    #[inline(always)]
    fn fence(&self) {
        fence(Ordering::Acquire);
    }
    fn index(&self) -> u32 {
        self.index.load(Ordering::Relaxed)
    }
    fn offset(&self) -> i64 {
        self.offset.load(Ordering::Relaxed)
    }
    fn width(&self) -> u16 {
        self.pmc_width.load(Ordering::Relaxed)
    }
    fn capabilities(&self) -> u64 {
        self.capabilities.load(Ordering::Relaxed)
    }
    fn times(&self) -> Times {
        let capabilities = self.capabilities.load(Ordering::Relaxed);
        // Older kernels leave the fields after `size` zero. A zero mask would make every time equal to the last one.
        let short = capabilities & CAP_USER_TIME_SHORT != 0 && self.size.load(Ordering::Relaxed) >= 96;
        Times {
            enabled: self.time_enabled.load(Ordering::Relaxed),
            running: self.time_running.load(Ordering::Relaxed),
            extends: capabilities & CAP_USER_TIME != 0,
            mult: self.time_mult.load(Ordering::Relaxed),
            shift: self.time_shift.load(Ordering::Relaxed),
            offset: self.time_offset.load(Ordering::Relaxed),
            wrap: short
                .then(|| (self.time_cycles.load(Ordering::Relaxed), self.time_mask.load(Ordering::Relaxed))),
        }
    }
}

/// `cap_bit0_is_deprecated`: without it the capability bits mean something else (kernels before 3.12).
const CAP_BIT0_DEPRECATED: u64 = capability(1);
/// `cap_user_time_short`: the time counter wraps, see [`Times::wrap`].
const CAP_USER_TIME_SHORT: u64 = capability(5);

/// Why a counter cannot be read in user space at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// The kernel does not allow it for this event.
    NotAllowed,
    /// The index is 0: the event is not on the PMU now. (On aarch64 also: it is on the PMU, but must not be read.)
    Inactive,
    /// No counter can have this width.
    Width,
    /// The index names no counter.
    Index,
    /// The page kept changing.
    Contended,
}

/// The page's fields for a counter, all from one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fields {
    pub lock: u32,
    pub counter: Result<Readable, Reason>,
    pub times: Times,
}

/// How to read a counter that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Readable {
    /// The index in the page: not 0.
    pub index: u32,
    /// 1 to 64.
    pub width: u32,
    /// What to add to the counter's sign-extended value, modulo 2^64.
    pub offset: u64,
}

/// The page's information about time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Times {
    /// Nanoseconds, when the page was last written.
    pub enabled: u64,
    pub running: u64,
    /// Whether the rest is valid: the kernel's clock runs on a counter that user code can read.
    pub extends: bool,
    pub mult: u32,
    pub shift: u16,
    pub offset: u64,
    /// For a counter of less than 64 bits: its value when the page was written, and its mask.
    pub wrap: Option<(u64, u64)>,
}

impl Times {
    /// Nanoseconds from the last write to the moment of the time stamp `stamp`; `None` if the page does not define
    /// them.
    pub(crate) fn since_written(&self, stamp: u64) -> Option<u64> {
        if !self.extends {
            return None;
        }
        let cycles = match self.wrap {
            Some((cycles, mask)) => cycles.wrapping_add(stamp.wrapping_sub(cycles) & mask),
            None => stamp,
        };
        // The kernel's own arithmetic is modulo 2^64, and so is its offset. A shift of 128 or more would be invalid,
        // but must not cause a panic.
        let scaled = (u128::from(cycles) * u128::from(self.mult)).checked_shr(self.shift.into()).unwrap_or(0);
        let since = self.offset.wrapping_add(scaled as u64);
        // Time stamps of two CPUs may differ a little, but never by five centuries.
        Some(if since as i64 >= 0 { since } else { 0 })
    }
}

/// The capabilities that a page must have for its counter to be read in user space.
pub(crate) const CAPABILITIES_NEEDED: u64 = CAP_USER_READ | CAP_BIT0_DEPRECATED;

/// Whether the kernel allows reads in user space.
pub(crate) fn allows(capabilities: u64) -> bool {
    capabilities & CAPABILITIES_NEEDED == CAPABILITIES_NEEDED
}

/// Copies the page's fields, all from one moment; `None` if it kept changing. `has` reports which indices are counters.
pub(crate) fn capture<P: View>(page: &P, has: impl Fn(u32) -> bool) -> Option<Fields> {
    for _ in 0..TRIES {
        let lock = page.lock_acquire();
        if lock & 1 != 0 {
            core::hint::spin_loop();
            continue;
        }
        let (capabilities, index, width) = (page.capabilities(), page.index(), page.width());
        let (offset, times) = (page.offset(), page.times());
        page.fence();
        if page.lock_relaxed() != lock {
            continue;
        }
        let counter = if !allows(capabilities) {
            Err(Reason::NotAllowed)
        } else if index == 0 {
            Err(Reason::Inactive)
        } else if !(1..=64).contains(&width) {
            Err(Reason::Width)
        } else if !has(index) {
            Err(Reason::Index)
        } else {
            Ok(Readable { index, width: u32::from(width), offset: offset as u64 })
        };
        return Some(Fields { lock, counter, times });
    }
    None
}

/// A mapped page. Every holder must be gone before the page is unmapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped(NonNull<Page>);

// SAFETY: any thread may read a page. Only the opening thread may read the counter behind it, which the session checks
// before every reading.
unsafe impl Send for Mapped {}

// SAFETY: as above; and all access to the page is through atomic loads.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// The pointer, for unmapping.
    pub(crate) fn pointer(self) -> NonNull<Page> {
        self.0
    }
}

impl Deref for Mapped {
    type Target = Page;

    #[inline(always)]
    fn deref(&self) -> &Page {
        // SAFETY: the page is mapped: a session drops its `Fast` before its `Opened`, which owns the mapping, and
        // renews it when it opens events again. In a forked child it is not, but the session's check comes first.
        unsafe { self.0.as_ref() }
    }
}

/// Maps the event's page, and keeps it if its counter may be read. A failed mapping is not an error.
pub(crate) fn map<S: Perf>(sys: &S, attr: &Attr, fd: i32) -> Option<Mapped> {
    // These have no counter, and the kernel does not update their pages.
    if matches!(attr.kind, kind::SOFTWARE | kind::TRACEPOINT | kind::BREAKPOINT) {
        return None;
    }
    let page = sys.map_page(fd).ok()?;
    // SAFETY: mapped just now, and unmapped only below.
    if allows(View::capabilities(unsafe { page.as_ref() })) {
        return Some(Mapped(page));
    }
    // SAFETY: mapped above, and not used after this.
    unsafe { sys.unmap_page(page) };
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;

    /// Writes everything that belongs to one number, as the kernel does: an odd lock, the fields, an even lock.
    fn write(page: &Page, n: u64) {
        let lock = page.lock.load(Ordering::Relaxed);
        page.lock.store(lock.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        page.capabilities.store((n % 4 * 8) | 6, Ordering::Relaxed);
        page.index.store(1 + (n % 60) as u32, Ordering::Relaxed);
        page.pmc_width.store(1 + (n % 64) as u16, Ordering::Relaxed);
        page.offset.store(n as i64, Ordering::Relaxed);
        page.time_enabled.store(n * 3, Ordering::Relaxed);
        page.time_running.store(n * 2, Ordering::Relaxed);
        page.lock.store(lock.wrapping_add(2), Ordering::Release);
    }

    /// The number that all fields belong to.
    fn number(fields: &Fields) -> Option<u64> {
        let readable = fields.counter.ok()?;
        let n = readable.offset;
        let is_whole = readable.index == 1 + (n % 60) as u32
            && readable.width == 1 + (n % 64) as u32
            && fields.times.enabled == n * 3
            && fields.times.running == n * 2
            && fields.times.extends == (n % 2 != 0);
        is_whole.then_some(n)
    }

    /// The page itself, whose loads no model checker sees.
    #[test]
    fn never_torn_beside_a_writer() {
        let [page] = crate::user_read::model::pages();
        write(&page, 1);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut n = 1u64;
                while !stop.load(Ordering::Relaxed) {
                    n += 1;
                    write(&page, n);
                    // Without pauses the reader would have no chance. The kernel's pauses last milliseconds.
                    (0..n % 100).for_each(|_| core::hint::spin_loop());
                }
                n
            });
            let began = std::time::Instant::now();
            // Only readings beside writes show anything. On a busy machine the two threads may have to take turns.
            let (mut newest, mut moves, mut is_right) = (0, 0, true);
            while is_right && moves < 100_000 && began.elapsed().as_secs() < 2 {
                for fields in (0..100).filter_map(|_| capture(&page, |_| true)) {
                    let found = number(&fields);
                    is_right &= found.is_some_and(|n| n >= newest);
                    moves += u32::from(found > Some(newest));
                    newest = newest.max(found.unwrap_or(0));
                }
            }
            stop.store(true, Ordering::Relaxed);
            let written = writer.join().unwrap();
            eprintln!("{moves} moves seen, {written} written");
            assert!(is_right, "a reading after {newest} is torn or older");
            assert!(newest > 0 && written > 1000);
        });
    }

    #[test]
    fn time_goes_on_from_the_last_write() {
        let times =
            Times { extends: true, mult: 3, shift: 1, offset: 0u64.wrapping_sub(1500), ..Times::default() };
        assert_eq!(times.since_written(1000), Some(0));
        assert_eq!(times.since_written(1100), Some(150));
        // A time stamp from before the write, from another CPU's counter.
        assert_eq!(times.since_written(990), Some(0));
        assert_eq!(Times { extends: false, ..times }.since_written(1100), None);
        // A product of more than 64 bits.
        let large = Times { extends: true, mult: u32::MAX, shift: 32, offset: 0, ..Times::default() };
        assert_eq!(large.since_written(1 << 62), Some((1 << 62) - (1 << 30)));
        // Invalid values do no harm.
        assert_eq!(Times { shift: 200, ..large }.since_written(5), Some(0));
        // A counter of 8 bits that wrapped around.
        let short =
            Times { wrap: Some((0x1f0, 0xff)), mult: 1, shift: 0, offset: 0u64.wrapping_sub(0x1f0), ..times };
        assert_eq!(short.since_written(0x05), Some(0x15));
    }

    #[test]
    fn short_times_need_a_page_that_has_them() {
        let [page] = crate::user_read::model::pages();
        page.capabilities.store(2 | 8 | 32, Ordering::Relaxed);
        page.time_mask.store(0xff, Ordering::Relaxed);
        assert_eq!(page.times().wrap, None);
        page.size.store(96, Ordering::Relaxed);
        assert_eq!(page.times().wrap, Some((0, 0xff)));
    }
}

#[cfg(all(test, loom))]
#[path = "page_loom.rs"]
mod model;
