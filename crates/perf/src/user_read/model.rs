//! A model of how the kernel counts events and writes their pages: the rules of `arch/x86/events/core.c` and
//! `kernel/events/core.c` that matter to a reader of a page. For tests.

use core::sync::atomic::Ordering::Relaxed;

pub(crate) use crate::testing::Random;
use picollo_native::seam::Page;

/// This many pages in ordinary memory, written by the model.
pub(crate) fn pages<const N: usize>() -> [Page; N] {
    // SAFETY: all fields are integers, for which zero is valid.
    core::array::from_fn(|_| unsafe { core::mem::zeroed() })
}

/// One event: `struct perf_event` and its counter, as far as needed.
#[derive(Default, Debug)]
struct Event {
    count: u64,
    /// The counter's value when it was last written or read: sign-extended after a write, raw after a read.
    prev_count: u64,
    period_left: i64,
    register: u64,
    /// All events since the last reset: the count that the kernel would return.
    truth: u64,
}

/// A group of events of one task, all counting the same.
pub(crate) struct Kernel<'a> {
    pages: &'a [Page],
    events: Vec<Event>,
    width: u32,
    period: u64,
    active: bool,
    /// The counter of the first event; the others follow.
    first: u32,
    pub now: u64,
    switched: u64,
    enabled: u64,
    running: u64,
    /// Whether the pages say how time passes.
    pub extends: bool,
}

impl<'a> Kernel<'a> {
    /// A group that is enabled, but not on the PMU.
    pub(crate) fn new(pages: &'a [Page], width: u32, period: u64) -> Self {
        let events = pages.iter().map(|_| Event { period_left: period as i64, ..Event::default() }).collect();
        let mut kernel = Kernel {
            pages,
            events,
            width,
            period,
            active: false,
            first: 0,
            now: 1000,
            switched: 1000,
            enabled: 0,
            running: 0,
            extends: true,
        };
        kernel.publish();
        kernel
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// `perf_event_update_userpage` for every event.
    pub(crate) fn publish(&mut self) {
        (0..self.pages.len()).for_each(|member| self.publish_one(member));
    }

    fn publish_one(&mut self, member: usize) {
        let (page, event) = (&self.pages[member], &self.events[member]);
        page.lock.fetch_add(1, Relaxed);
        let index = if self.active { self.first + member as u32 + 1 } else { 0 };
        page.index.store(index, Relaxed);
        let offset = if index == 0 { event.count } else { event.count.wrapping_sub(event.prev_count) };
        page.offset.store(offset as i64, Relaxed);
        page.pmc_width.store(self.width as u16, Relaxed);
        page.capabilities.store(2 | 4 | if self.extends { 8 } else { 0 }, Relaxed);
        let (enabled, running) = self.times();
        page.time_enabled.store(enabled, Relaxed);
        page.time_running.store(running, Relaxed);
        page.time_mult.store(1, Relaxed);
        page.time_offset.store(0u64.wrapping_sub(self.now), Relaxed);
        page.lock.fetch_add(1, Relaxed);
    }

    /// Time enabled and running, now.
    pub(crate) fn times(&self) -> (u64, u64) {
        let since = self.now - self.switched;
        (self.enabled + since, self.running + if self.active { since } else { 0 })
    }

    fn note_times(&mut self) {
        (self.enabled, self.running) = self.times();
        self.switched = self.now;
    }

    /// `x86_perf_event_set_period`.
    fn set_period(&mut self, member: usize) {
        let (mask, period) = (self.mask(), self.period as i64);
        let event = &mut self.events[member];
        if event.period_left <= period.wrapping_neg() {
            event.period_left = period;
        } else if event.period_left <= 0 {
            event.period_left += period;
        }
        event.prev_count = event.period_left.wrapping_neg() as u64;
        event.register = event.prev_count & mask;
        self.publish_one(member);
    }

    /// `x86_perf_event_update`.
    fn update(&mut self, member: usize) {
        let shift = 64 - self.width;
        let event = &mut self.events[member];
        let (before, raw) = (event.prev_count, event.register);
        event.prev_count = raw;
        let delta = ((raw << shift).wrapping_sub(before << shift) as i64) >> shift;
        event.count = event.count.wrapping_add(delta as u64);
        event.period_left = event.period_left.wrapping_sub(delta);
    }

    /// The task comes onto a CPU, and the group onto its PMU.
    pub(crate) fn switch_in(&mut self, random: &mut Random) {
        if !self.active {
            self.note_times();
            self.active = true;
            self.first = random.below(4) as u32;
            (0..self.events.len()).for_each(|member| self.set_period(member));
            self.publish();
        }
    }

    pub(crate) fn switch_out(&mut self) {
        if self.active {
            (0..self.events.len()).for_each(|member| self.update(member));
            self.note_times();
            self.active = false;
            self.publish();
        }
    }

    /// Lets `n` events of each kind happen in the task, with an interrupt whenever a counter overflows.
    pub(crate) fn count(&mut self, mut n: u64) {
        if !self.active {
            return;
        }
        for event in &mut self.events {
            event.truth = event.truth.wrapping_add(n);
        }
        while n > 0 {
            // All count the same, but each has a different distance to its overflow.
            let to_go = |event: &Event| (self.mask() - event.register).saturating_add(1);
            let step = self.events.iter().map(to_go).min().unwrap_or(n).min(n);
            for member in 0..self.events.len() {
                let register = self.events[member].register;
                let overflows = u128::from(register) + u128::from(step) > u128::from(self.mask());
                self.events[member].register = register.wrapping_add(step) & self.mask();
                if overflows {
                    self.update(member);
                    self.set_period(member);
                }
            }
            n -= step;
        }
    }

    /// The result of `rdpmc`. Bits above the width are arbitrary, as the architecture allows.
    pub(crate) fn register(&self, index: u32) -> u64 {
        let member = index.wrapping_sub(self.first + 1) as usize;
        // A counter that was this group's a moment ago may be another's now.
        let register = self.events.get(member).map_or(0x1234_5678, |event| event.register);
        if self.width < 64 { register | 0xa5a5 << 48 & !self.mask() } else { register }
    }

    /// read(2) of the group: the counts, and the times.
    pub(crate) fn read_syscall(&mut self) -> (Vec<u64>, (u64, u64)) {
        self.foreign_read();
        (self.events.iter().map(|event| event.count).collect(), self.times())
    }

    /// Somebody reads by system call: the raw counters are noted, and the pages stay.
    pub(crate) fn foreign_read(&mut self) {
        if self.active {
            (0..self.events.len()).for_each(|member| self.update(member));
        }
    }

    /// Somebody who holds the descriptors resets the counts.
    pub(crate) fn reset(&mut self) {
        self.foreign_read();
        for event in &mut self.events {
            (event.count, event.truth) = (0, 0);
        }
        self.publish();
    }

    pub(crate) fn truth(&self, member: usize) -> u64 {
        self.events[member].truth
    }
}
