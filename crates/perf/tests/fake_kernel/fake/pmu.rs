//! The fake kernel's PMU: counters that are read in user space, by the rules of x86. A counter starts at half its range
//! below zero and is armed again when it overflows. Its event's page says what to add to it.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use picollo_native::seam::{Attr, Page};
use picollo_perf::seam::{Finding, PmcSource, Policy, UserReads};

use super::{Fake, Opened};

/// An action in the middle of a reading.
type Happen = dyn FnOnce(&Fake);

/// The parts of the fake machine that user code can touch, and what was asked.
pub struct Pmu {
    pub width: u32,
    /// Whether pages say how time passes.
    pub has_times: bool,
    /// Ticks: one per nanosecond, unless the clock has another rate.
    pub now: u64,
    pages: BTreeMap<i32, Box<[u64; 512]>>,
    /// By index: the counter's owner, and its value.
    registers: BTreeMap<u32, (i32, u64)>,
    /// The counters that were read, in order, with [`FENCE`] between them.
    pub touched: Vec<u32>,
    pub policy: Policy,
    pub finding: Finding,
    /// How often somebody asked whether reading faults.
    pub asked: usize,
    pub tick_rate: Option<u64>,
    /// Happens after the next reading of a register.
    interrupt: Option<Box<Happen>>,
}

/// Replaces an index: no counter has it.
pub const FENCE: u32 = 0;

fn sign_extended(raw: u64, width: u32) -> u64 {
    (((raw << (64 - width)) as i64) >> (64 - width)) as u64
}

impl Pmu {
    fn new(width: u32) -> Pmu {
        Pmu {
            width,
            has_times: true,
            now: 1_000_000,
            pages: BTreeMap::new(),
            registers: BTreeMap::new(),
            touched: Vec::new(),
            policy: Policy::Auto,
            finding: Finding::Safe,
            asked: 0,
            tick_rate: None,
            interrupt: None,
        }
    }

    pub(super) fn map(&mut self, fd: i32) -> NonNull<Page> {
        let memory = self.pages.entry(fd).or_insert_with(|| Box::new([0; 512]));
        let page: NonNull<Page> = NonNull::new(memory.as_mut_ptr()).unwrap().cast();
        self.publish(fd, 0, 0, (0, 0));
        page
    }

    pub(super) fn unmap(&mut self, page: NonNull<Page>) {
        let before = self.pages.len();
        self.pages.retain(|_, memory| memory.as_ptr().cast() != page.as_ptr().cast_const());
        assert_eq!(self.pages.len() + 1, before, "a page was unmapped that was not mapped");
    }

    /// The kernel writes an event's page.
    fn publish(&mut self, fd: i32, index: u32, offset: u64, (enabled, running): (u64, u64)) {
        let Some(memory) = self.pages.get_mut(&fd) else { return };
        // SAFETY: the memory is larger than a page's structure and aligned for it; all its fields are integers.
        let page = unsafe { &*memory.as_mut_ptr().cast::<Page>() };
        page.lock.fetch_add(1, Relaxed);
        page.index.store(index, Relaxed);
        page.offset.store(offset as i64, Relaxed);
        page.pmc_width.store(self.width as u16, Relaxed);
        // The capability bits are valid, user code may read, and the times can be extended.
        page.capabilities.store(2 | 4 | if self.has_times { 8 } else { 0 }, Relaxed);
        page.time_enabled.store(enabled, Relaxed);
        page.time_running.store(running, Relaxed);
        page.time_mult.store(1, Relaxed);
        page.time_offset.store(0u64.wrapping_sub(self.now), Relaxed);
        page.lock.fetch_add(1, Relaxed);
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, nanos: u64) {
        self.now += nanos * self.tick_rate.unwrap_or(1_000_000_000) / 1_000_000_000;
    }

    /// Cancels the action for the next reading.
    pub fn calm(&mut self) {
        self.interrupt = None;
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The event gets the counter with this index, armed.
    fn put_on(&mut self, fd: i32, index: u32, event: &Opened) {
        let start = 0u64.wrapping_sub((1 << (self.width - 1)) - 1) & self.mask();
        self.registers.insert(index, (fd, start));
        let offset = event.value.wrapping_sub(sign_extended(start, self.width));
        self.publish(fd, index, offset, (event.enabled, event.running));
    }

    /// The event loses its counter.
    pub(super) fn take_off(&mut self, fd: i32, event: &Opened) {
        self.registers.retain(|_, &mut (owner, _)| owner != fd);
        self.publish(fd, 0, event.value, (event.enabled, event.running));
    }

    fn index_of(&self, fd: i32) -> Option<u32> {
        self.registers.iter().find(|(_, register)| register.0 == fd).map(|(&index, _)| index)
    }

    /// Counts this much; `event` has the resulting count.
    pub(super) fn count(&mut self, fd: i32, count: u64, event: &Opened) {
        let Some(index) = self.index_of(fd) else { return };
        let mask = self.mask();
        let register = &mut self.registers.get_mut(&index).unwrap().1;
        if count > mask - *register {
            return self.put_on(fd, index, event);
        }
        *register += count;
    }
}

impl Fake {
    /// Gives the machine a PMU with counters of this width, before anything is opened.
    pub fn add_pmu(&self, width: u32) {
        self.0.borrow_mut().pmu = Some(Pmu::new(width));
    }

    /// Looks at the PMU, or changes it.
    pub fn pmu<T>(&self, look: impl FnOnce(&mut Pmu) -> T) -> T {
        look(self.0.borrow_mut().pmu.as_mut().unwrap())
    }

    /// Puts the counting events on the PMU, from this index on, as when the thread gets a CPU.
    pub fn on_pmu(&self, first: u32) {
        let state = &mut *self.0.borrow_mut();
        let Some(pmu) = &mut state.pmu else { return };
        for (index, (&fd, event)) in (first..).zip(state.events.iter()) {
            pmu.take_off(fd, event);
            if state.events.get(&event.leader).is_some_and(|leader| leader.counting) {
                pmu.put_on(fd, index, event);
            }
        }
    }

    /// Takes the counters from all events, as when others have their turn.
    pub fn off_pmu(&self) {
        let state = &mut *self.0.borrow_mut();
        let Some(pmu) = &mut state.pmu else { return };
        state.events.iter().for_each(|(&fd, event)| pmu.take_off(fd, event));
    }

    /// Lets something happen in the middle of a reading: after the next counter is read.
    pub fn interrupt(&self, happen: impl FnOnce(&Fake) + 'static) {
        self.pmu(|pmu| pmu.interrupt = Some(Box::new(happen)));
    }

    /// How often the kernel was asked for counts since the last call.
    pub fn taken_reads(&self) -> usize {
        std::mem::take(&mut self.0.borrow_mut().reads)
    }
}

impl<'a> UserReads for &'a Fake {
    type Source = &'a Fake;

    fn policy(&self) -> Policy {
        self.0.borrow().pmu.as_ref().map_or(Policy::Auto, |pmu| pmu.policy)
    }

    fn user_reads(&self, _: &Attr) -> Finding {
        let mut state = self.0.borrow_mut();
        let Some(pmu) = &mut state.pmu else { return Finding::Safe };
        pmu.asked += 1;
        pmu.finding
    }

    fn source(&self) -> &'a Fake {
        self
    }

    fn tick_rate(&self) -> Option<u64> {
        self.pmu(|pmu| pmu.tick_rate)
    }
}

impl PmcSource for &Fake {
    fn has(&self, index: u32) -> bool {
        (1..=64).contains(&index)
    }

    fn read(&self, index: u32) -> u64 {
        let (raw, interrupt) = self.pmu(|pmu| {
            assert!((1..=64).contains(&index), "an index that is none was read: {index}");
            pmu.touched.push(index);
            // A counter that belongs to nobody here belongs to somebody else.
            let raw = pmu.registers.get(&index).map_or(0x1234_5678, |register| register.1);
            // Bits above the width are arbitrary.
            let rubbish = if pmu.width < 64 { !pmu.mask() & 0xa5a5 << 48 } else { 0 };
            (raw | rubbish, pmu.interrupt.take())
        });
        if let Some(happen) = interrupt {
            happen(self);
        }
        raw
    }

    fn timestamp(&self) -> u64 {
        self.pmu(|pmu| pmu.now)
    }

    fn fence(&self) {
        if let Some(pmu) = &mut self.0.borrow_mut().pmu {
            pmu.touched.push(FENCE);
        }
    }
}
