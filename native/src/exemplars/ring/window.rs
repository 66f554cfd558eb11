//! From records to what happened between two moments.

use super::image::{End, Image, Record, Records};
use crate::os::kernel::record;

/// What a thread's ring says of it between two moments. Where it is not complete nothing is known, and all is 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Window {
    /// Whether the ring reaches back to the window's beginning, and every switch in it was seen.
    pub complete: bool,
    /// How long the thread was off the CPU.
    pub off_nanos: u64,
    /// In this part of it, it left the CPU although it could have gone on. **Not all of its waiting for a CPU**: a thread that was woken,
    /// and then waits for one, left it by its own call.
    pub preempted_nanos: u64,
    /// How often it left.
    pub outs: u32,
    /// Page faults that it met in user space; `None` unless they were asked for, and the switches are known.
    pub faults: Option<Faults>,
}

/// Page faults in user space: those inside system calls are not seen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Faults {
    /// Whether these are all. Otherwise they are the latest ones, which may stand for the others.
    pub complete: bool,
    /// How many were seen to begin and to end.
    pub timed: u32,
    /// How many began and were not handled: they became signals.
    pub unhandled: u32,
    /// From beginning to end, of those that were timed.
    pub nanos: u64,
    /// In this part of it the thread was off the CPU, waiting for a device or for a CPU.
    pub off_nanos: u64,
}

/// What is asked of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub begin: u64,
    pub end: u64,
    /// The rings hold all that happened since.
    pub since: u64,
}

impl Span {
    /// How much of it lies between these.
    fn part(&self, from: u64, to: u64) -> u64 {
        to.min(self.end).saturating_sub(from.max(self.begin))
    }
}

/// By how much records may be out of order, or later than now: the kernel's clock for records is exact to some nanoseconds where it is
/// updated meanwhile. More than this is another clock, or no time at all.
const JITTER: u64 = 1_000;

/// The rings of the page faults of a thread: when they begin, and when they have been handled as minor ones and as major ones.
pub(crate) type Faulted<T> = [T; 3];

/// What happened in this span, which `now` ends the latest. Reads each ring once or twice, in bounded time; allocates nothing.
pub(crate) fn window<I: Image>(
    switches: &I,
    faults: Option<Faulted<&I>>,
    span: Span,
    now: impl FnOnce() -> u64,
) -> Window {
    if span.end < span.begin {
        return Window::default();
    }
    // All heads first, and then the time: the thread may lose its CPU in between, and no record that is seen can be later.
    // Of faults the ends first: should one come in between, it is one that began and has no end, later than the span, rather than an end that
    // would be taken for that of an earlier one.
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

/// The absences of a thread that runs now, the latest first, back to the span's beginning.
struct Offs<'a, I> {
    records: Records<'a, I>,
    span: Span,
    /// No older record may be later than this.
    last: u64,
    /// When it came back, while its leaving is looked for.
    back: Option<u64>,
    /// How it ended: whether all is known back to the beginning.
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
                    // Who opened the ring was running, so nobody came back before the first leaving.
                    let known =
                        end == End::First && self.back.is_none() && self.span.since <= self.span.begin;
                    self.ended = Some(known);
                }
                Ok(Record { kind: record::SWITCH, misc, time }) => {
                    if let Some(off) = self.switch(misc, time) {
                        return Some(off);
                    }
                }
                // What was lost may have been a switch.
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
            // It has run since before the span, as far as it has not left later.
            (false, None) if before => self.ended = Some(true),
            (false, None) => self.back = Some(time),
            (true, Some(back)) => {
                if before {
                    self.ended = Some(true);
                }
                return Some(Off { out: time, back, preempted: misc & record::PREEMPTED != 0 });
            }
            // It came back twice, or left and runs all the same: a record is missing.
            (false, Some(_)) | (true, None) => self.ended = Some(false),
        }
        None
    }

    /// Whether all was seen, and nothing of it overwritten meanwhile. To be asked at the end.
    fn is_complete(&self) -> bool {
        self.ended == Some(true) && self.records.held()
    }
}

/// The page faults of a span whose switches are known.
fn count<I: Image>(records: Faulted<Records<'_, I>>, mut offs: Offs<'_, I>, now: u64) -> Faults {
    let span = offs.span;
    let mut pairs = Pairs::new(records, span, now);
    let mut off = offs.next();
    let mut faults = Faults::default();
    while let Some((begun, handled)) = pairs.next() {
        // Handled behind the span's beginning, says who gives them; and not begun behind its end.
        if begun > span.end {
            continue;
        }
        faults.timed += 1;
        faults.nanos += span.part(begun, handled);
        // Both go backwards, and neither overlaps with itself.
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
    // The switches were known a moment ago; what is read of them again has to hold again.
    if offs.ended == Some(false) || !offs.records.held() || !pairs.held() {
        return Faults::default();
    }
    faults
}

/// The faults of a thread that runs now, the latest first, back to the span's beginning.
struct Pairs<'a, I> {
    times: Faulted<Times<'a, I>>,
    span: Span,
    unhandled: u32,
    /// How it ended: whether all is known back to the beginning.
    ended: Option<bool>,
}

impl<'a, I: Image> Pairs<'a, I> {
    fn new(records: Faulted<Records<'a, I>>, span: Span, now: u64) -> Self {
        let times = records.map(|records| Times::new(records, span, now));
        Pairs { times, span, unhandled: 0, ended: None }
    }

    /// When it began, and when it had been handled.
    fn next(&mut self) -> Option<(u64, u64)> {
        while self.ended.is_none() {
            let [Ok(begun), Ok(minor), Ok(major)] = self.times.each_mut().map(Times::peek) else {
                self.ended = Some(false);
                break;
            };
            let handled = minor.max(major);
            // What is before the span does not matter, nor does what began before it and should have ended in it: nothing does.
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
                // The end before this one belongs to an earlier fault, or there is none.
                (Some(begun), Some(handled), Ok(Some(before))) if before <= begun => {
                    return Some((begun, handled));
                }
                (Some(begun), Some(handled), Ok(None)) => return Some((begun, handled)),
                _ => self.ended = Some(false),
            }
        }
        None
    }

    /// Whether nothing that was read was overwritten meanwhile. To be asked last.
    fn held(&self) -> bool {
        self.times.iter().all(|times| times.records.held())
    }
}

/// The times of a ring's samples, the latest first.
struct Times<'a, I> {
    records: Records<'a, I>,
    /// No older sample may be later than this.
    last: u64,
    /// The next one, once it was looked at: `None` behind the first of all, an error where older ones are not known.
    next: Option<Result<Option<u64>, Lost>>,
    /// Whether the first of all is early enough.
    whole: bool,
}

/// Older ones are not known.
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

    /// Goes on behind the next one, but not behind an end.
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
