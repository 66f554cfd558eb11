//! Computes from records what happened between two moments.

use super::image::{End, Image, Record, Records};
use picollo_native::seam::kernel::record;

/// What a thread's ring shows between two moments. If it is incomplete, everything is unknown and 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Window {
    /// Whether the ring reaches back to the window's beginning, and no switch in it is missing.
    pub complete: bool,
    /// Time off the CPU.
    pub off_nanos: u64,
    /// The part of it after the thread left the CPU although it could have continued. **This is not all of its waiting
    /// for a CPU**: a thread that is woken and then waits for a CPU left it by its own call.
    pub preempted_nanos: u64,
    /// How often the thread left the CPU.
    pub outs: u32,
    /// Page faults in user space; `None` unless they were requested and the switches are known.
    pub faults: Option<Faults>,
}

/// Page faults in user space. Those inside system calls are not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Faults {
    /// Whether these are all. Otherwise they are the latest ones, which may represent the others.
    pub complete: bool,
    /// Number of faults with a known beginning and end.
    pub timed: u32,
    /// Number of faults that began but were not handled: they became signals.
    pub unhandled: u32,
    /// Total duration of the timed ones.
    pub nanos: u64,
    /// The part of it off the CPU, waiting for a device or for a CPU.
    pub off_nanos: u64,
}

/// The span of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub begin: u64,
    pub end: u64,
    /// The rings have recorded everything since this time.
    pub since: u64,
}

impl Span {
    /// How much of the time between `from` and `to` lies in the span.
    fn part(&self, from: u64, to: u64) -> u64 {
        to.min(self.end).saturating_sub(from.max(self.begin))
    }
}

/// Maximum disorder of records, and how far they may be in the future. The kernel's clock for records is exact to a few
/// nanoseconds while it is being updated. A larger difference means another clock, or an invalid time.
const JITTER: u64 = 1_000;

/// Rings of a thread's page faults: for their beginning, for the end of minor ones, and for the end of major ones.
pub(crate) type Faulted<T> = [T; 3];

/// What happened in this span, which ends before `now`. It reads each ring once or twice, in bounded time, and
/// allocates nothing.
pub(crate) fn window<I: Image>(
    switches: &I,
    faults: Option<Faulted<&I>>,
    span: Span,
    now: impl FnOnce() -> u64,
) -> Window {
    if span.end < span.begin {
        return Window::default();
    }
    // Reads all heads before the time. The thread may lose its CPU in between, and no visible record may be later than
    // `now`. For faults, it reads the ends first. Then a fault in between has a beginning after the span and no end,
    // rather than an end that would be matched to an earlier fault.
    let faults = faults.map(|[begun, minor, major]| {
        let [major, minor, begun] = [major, minor, begun].map(Records::latest);
        [begun, minor, major]
    });
    let switches = Records::new(switches);
    let now = now();
    let mut offs = Offs::new(switches, span, now);
    let mut window = Window::default();
    while let Some(off) = offs.next() {
        let nanos = span.part(off.out, off.back);
        if nanos > 0 {
            window.off_nanos += nanos;
            window.preempted_nanos += if off.preempted { nanos } else { 0 };
            window.outs += 1;
        }
    }
    if !offs.is_complete() {
        return Window::default();
    }
    window.complete = true;
    window.faults = faults.map(|faults| count(faults, Offs::new(switches, span, now), now));
    window
}

/// One absence from the CPU.
#[derive(Clone, Copy, Debug)]
struct Off {
    out: u64,
    back: u64,
    preempted: bool,
}

/// The absences of a running thread, the latest first, back to the span's beginning.
struct Offs<'a, I> {
    records: Records<'a, I>,
    span: Span,
    /// No older record may be later than this.
    last: u64,
    /// When the thread came back, while its leaving is not yet found.
    back: Option<u64>,
    /// After the end: whether everything back to the beginning is known.
    ended: Option<bool>,
}

impl<'a, I: Image> Offs<'a, I> {
    fn new(records: Records<'a, I>, span: Span, now: u64) -> Self {
        Offs { records, span, last: now, back: None, ended: None }
    }

    fn next(&mut self) -> Option<Off> {
        while self.ended.is_none() {
            match self.records.next() {
                Err(end) => {
                    // The thread that opened the ring was running, so it first left the CPU before it came back.
                    let known =
                        end == End::First && self.back.is_none() && self.span.since <= self.span.begin;
                    self.ended = Some(known);
                }
                Ok(Record { kind: record::SWITCH, misc, time }) => {
                    if let Some(off) = self.switch(misc, time) {
                        return Some(off);
                    }
                }
                // A lost record may have been a switch.
                Ok(Record { kind: record::LOST, .. }) => self.ended = Some(false),
                Ok(_) => {}
            }
        }
        None
    }

    fn switch(&mut self, misc: u16, time: u64) -> Option<Off> {
        if time > self.last.saturating_add(JITTER) {
            self.ended = Some(false);
            return None;
        }
        let time = time.min(self.last);
        self.last = time;
        let before = time <= self.span.begin;
        match (misc & record::OUT != 0, self.back.take()) {
            // The thread has run since before the span, until a later absence.
            (false, None) if before => self.ended = Some(true),
            (false, None) => self.back = Some(time),
            (true, Some(back)) => {
                if before {
                    self.ended = Some(true);
                }
                return Some(Off { out: time, back, preempted: misc & record::PREEMPTED != 0 });
            }
            // It came back twice, or left and still runs: a record is missing.
            (false, Some(_)) | (true, None) => self.ended = Some(false),
        }
        None
    }

    /// Whether no record was missing or overwritten meanwhile. Call this at the end.
    fn is_complete(&self) -> bool {
        self.ended == Some(true) && self.records.is_intact()
    }
}

/// Counts the page faults of a span whose switches are known.
fn count<I: Image>(records: Faulted<Records<'_, I>>, mut offs: Offs<'_, I>, now: u64) -> Faults {
    let span = offs.span;
    let mut pairs = Pairs::new(records, span, now);
    let mut off = offs.next();
    let mut faults = Faults::default();
    while let Some((begun, handled)) = pairs.next() {
        // `pairs` ends at faults handled before the span. This skips faults that began after it.
        if begun > span.end {
            continue;
        }
        faults.timed += 1;
        faults.nanos += span.part(begun, handled);
        // Both go backwards, and their elements do not overlap.
        while let Some(at) = off {
            faults.off_nanos += span.part(at.out.max(begun), at.back.min(handled));
            if at.out < begun {
                break;
            }
            off = offs.next();
        }
    }
    faults.unhandled = pairs.unhandled;
    faults.complete = pairs.ended == Some(true);
    // The switches were known before; the second reading of them must be valid, too.
    if offs.ended == Some(false) || !offs.records.is_intact() || !pairs.is_intact() {
        return Faults::default();
    }
    faults
}

/// The faults of a running thread, the latest first, back to the span's beginning.
struct Pairs<'a, I> {
    times: Faulted<Times<'a, I>>,
    span: Span,
    unhandled: u32,
    /// After the end: whether everything back to the beginning is known.
    ended: Option<bool>,
}

impl<'a, I: Image> Pairs<'a, I> {
    fn new(records: Faulted<Records<'a, I>>, span: Span, now: u64) -> Self {
        let times = records.map(|records| Times::new(records, span, now));
        Pairs { times, span, unhandled: 0, ended: None }
    }

    /// When the next fault began, and when it was handled.
    fn next(&mut self) -> Option<(u64, u64)> {
        while self.ended.is_none() {
            let [Ok(begun), Ok(minor), Ok(major)] = self.times.each_mut().map(Times::peek) else {
                self.ended = Some(false);
                break;
            };
            let handled = minor.max(major);
            // Records before the span do not matter. An unhandled fault from before it has no end in it either.
            if begun.max(handled).is_none_or(|latest| latest <= self.span.begin) {
                self.ended = Some(true);
                break;
            }
            if begun > handled {
                self.times[0].take();
                self.unhandled += u32::from(begun.is_some_and(|at| at <= self.span.end));
                continue;
            }
            self.times[if major > minor { 2 } else { 1 }].take();
            self.times[0].take();
            match (begun, handled, self.times[1].peek().max(self.times[2].peek())) {
                // The previous end belongs to an earlier fault, or does not exist.
                (Some(begun), Some(handled), Ok(Some(before))) if before <= begun => {
                    return Some((begun, handled));
                }
                (Some(begun), Some(handled), Ok(None)) => return Some((begun, handled)),
                _ => self.ended = Some(false),
            }
        }
        None
    }

    /// Whether nothing was overwritten while reading. Call this last.
    fn is_intact(&self) -> bool {
        self.times.iter().all(|times| times.records.is_intact())
    }
}

/// The times of a ring's samples, the latest first.
struct Times<'a, I> {
    records: Records<'a, I>,
    /// No older sample may be later than this.
    last: u64,
    /// The next one, after a look at it: `None` behind the first of all, an error if older ones are unknown.
    next: Option<Result<Option<u64>, Lost>>,
    /// Whether the rings were open before the span, so that no older sample is missing.
    whole: bool,
}

/// Older samples are unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Lost;

impl<'a, I: Image> Times<'a, I> {
    fn new(records: Records<'a, I>, span: Span, now: u64) -> Self {
        Times { records, last: now, next: None, whole: span.since <= span.begin }
    }

    fn peek(&mut self) -> Result<Option<u64>, Lost> {
        if let Some(next) = self.next {
            return next;
        }
        let next = self.read();
        self.next = Some(next);
        next
    }

    /// Moves past the next one, but not past an end.
    fn take(&mut self) {
        if let Some(Ok(Some(_))) = self.next {
            self.next = None;
        }
    }

    fn read(&mut self) -> Result<Option<u64>, Lost> {
        loop {
            match self.records.next() {
                Ok(Record { kind: record::SAMPLE, time, .. }) if time <= self.last.saturating_add(JITTER) => {
                    self.last = time.min(self.last);
                    return Ok(Some(self.last));
                }
                Ok(Record { kind: record::SAMPLE | record::LOST, .. }) => return Err(Lost),
                Ok(_) => {}
                Err(End::First) if self.whole => return Ok(None),
                Err(_) => return Err(Lost),
            }
        }
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
