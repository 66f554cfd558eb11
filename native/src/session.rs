//! Sessions: events opened for one target, scheduled together where the PMU has room, each with a histogram.

use core::fmt;

use picollo_core::SharedHistogram;

use crate::attr::Wish;
use crate::diagnose::Target;
use crate::error::{Error, Result, Status};
use crate::event::Event;
use crate::group::{Counter, MAX_EVENTS, Sample, Unreadable, persist, positions};
use crate::kernel::{Attr, request};
use crate::open::{Opened, Plan};
use crate::reading::{EVENT_INFO_SILENT, EVENT_INFO_UNPINNED, EventInfo, History, Reading};
use crate::substitute::Substitute;
use crate::sys::{Errno, Kernel, Sys};
use crate::{thread, tsc, work};

/// Ask the kernel to keep the events on the PMU all the time. Where it cannot, they are opened again without, and their info says
/// so.
pub const SESSION_PINNED: u32 = 1 << 0;
/// Count in the kernel too.
pub const SESSION_KERNEL: u32 = 1 << 1;
/// Do not start counting at once.
pub const SESSION_DISABLED: u32 = 1 << 2;
/// Count the threads and processes that the target starts from now on, too.
pub const SESSION_INHERIT: u32 = 1 << 3;
/// Keep events that cannot be opened as entries with a status, and take user space where the kernel is denied.
pub const SESSION_SKIP_UNAVAILABLE: u32 = 1 << 4;
/// Fences around reads: everything before a read is counted, nothing after it.
pub const SESSION_ORDERED: u32 = 1 << 5;
/// Count on one CPU only.
pub const SESSION_ON_CPU: u32 = 1 << 6;
/// Subtract the calibrated overhead of reading from values.
pub const SESSION_SUBTRACT: u32 = 1 << 7;

const ALL_FLAGS: u32 = (SESSION_SUBTRACT << 1) - 1;

/// What a session is made from. All zero is a good default: the calling thread, user space, counting at once.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SessionOptions {
    /// [`SESSION_PINNED`] and its siblings.
    pub flags: u32,
    /// 0: the calling thread; -1 with [`SESSION_ON_CPU`]: everything on that CPU; else a thread's kernel id.
    pub thread: i32,
    /// Used only with [`SESSION_ON_CPU`].
    pub cpu: i32,
    /// Of the histograms: 32 or 64; 0 means 64.
    pub counter_bits: u32,
    /// Of the histograms: 0 means 0.001.
    pub relative_error: f64,
}

/// How to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ReadMode {
    /// In user space where that is possible and provably right, else by system call. Only on the thread that opened the session.
    Auto = 0,
    /// By system call, on any thread.
    Syscall = 1,
}

impl ReadMode {
    /// The mode with this number in the C ABI.
    pub const fn from_raw(raw: u32) -> Option<ReadMode> {
        match raw {
            0 => Some(ReadMode::Auto),
            1 => Some(ReadMode::Syscall),
            _ => None,
        }
    }
}

/// What belongs to one event and is not needed to read it.
struct Entry {
    event: Event,
    info: EventInfo,
    substitute: Option<Substitute>,
    histogram: SharedHistogram,
}

/// Events opened for one target.
///
/// `create`, `enable` and `reset` take a base by system call. [`Session::read`] takes a reading of all events; deltas are between
/// the last two readings, the first since the base. [`Session::record`] never reads: it records the last deltas, once per read.
/// An event that was not counted records nothing and is tallied in its info.
///
/// Threads: [`ReadMode::Auto`] on the opening thread, the rest on any thread, one at a time, which `&mut` sees to. After a fork the
/// child can only drop its copy: every call answers `Forked`, because its descriptors still are the parent's counters.
///
/// Reading and recording allocate nothing.
pub struct Session<S: Sys = Kernel> {
    pub(crate) opened: Opened<S>,
    entries: Vec<Entry>,
    pub(crate) histories: Vec<History>,
    options: SessionOptions,
    target: Target,
    /// The opening thread, by its never-reused token and by its kernel id.
    opener: (u64, i32),
    process: u64,
    enabled: bool,
    /// Whether the PMU was seen to count, or to be silent.
    proven: bool,
    /// Since the base.
    reads: u64,
    recorded: bool,
}

/// One sample per event, and which of them there are.
pub(crate) struct Samples {
    pub(crate) all: [Sample; MAX_EVENTS],
    pub(crate) taken: u64,
}

/// A session's counts while something else is counted.
pub(crate) struct Kept {
    histories: [History; MAX_EVENTS],
    before: Samples,
    reads: u64,
    recorded: bool,
    enabled: bool,
}

impl Session {
    /// Opens events; between 1 and [`MAX_EVENTS`].
    ///
    /// Errors: `InvalidArgument` and `Unsupported` for options and events outside their ranges; else why an event cannot be
    /// counted, with its position: `NoSuchEvent`, `Permission`, `Unsupported`, `Os`. With [`SESSION_SKIP_UNAVAILABLE`] such events
    /// stay as entries without counts instead.
    pub fn create(options: &SessionOptions, events: &[Event]) -> Result<Session> {
        Session::with_sys(Kernel, options, events)
    }
}

impl<S: Sys> Session<S> {
    /// [`Session::create`] on a given system.
    pub fn with_sys(sys: S, options: &SessionOptions, events: &[Event]) -> Result<Session<S>> {
        let target = check_options(options)?;
        if events.is_empty() || events.len() > MAX_EVENTS {
            let why = format_args!("a session has 1 to {MAX_EVENTS} events, not {}", events.len());
            return Err(Error::new(Status::InvalidArgument, why));
        }
        let counters = filled(events.len(), Counter::CLOSED)?;
        let attrs = filled(events.len(), Attr::default())?;
        let opened = Opened { sys, counters, attrs, groups: with_room(events.len())? };
        let mut session = Session {
            opened,
            entries: with_room(events.len())?,
            histories: filled(events.len(), History::default())?,
            options: *options,
            target,
            opener: (thread::token(), thread::kernel_id()),
            process: thread::process(),
            enabled: false,
            proven: false,
            reads: 0,
            recorded: false,
        };
        session.open_all(events)?;
        if options.flags & SESSION_DISABLED == 0 {
            session.enable()?;
        } else {
            session.rebase()?;
        }
        Ok(session)
    }

    fn has(&self, flag: u32) -> bool {
        self.options.flags & flag != 0
    }

    fn open_all(&mut self, events: &[Event]) -> Result<()> {
        let inherit = self.has(SESSION_INHERIT);
        let one_thread = self.target.pid >= 0 && self.target.cpu < 0 && !inherit;
        let thread = if self.target.pid == 0 { self.opener.1 } else { self.target.pid };
        let plan = Plan {
            target: self.target,
            wish: Wish { kernel: self.has(SESSION_KERNEL), inherit, pinned: self.has(SESSION_PINNED) },
            lenient: self.has(SESSION_SKIP_UNAVAILABLE),
            thread: one_thread.then_some(thread),
        };
        let histogram_options = picollo_core::Options {
            relative_error: self.options.relative_error,
            counter_bits: self.options.counter_bits,
            ..picollo_core::Options::default()
        };
        for (position, event) in events.iter().enumerate() {
            let mut info = EventInfo::new();
            let invalid = || {
                Error::new(
                    Status::InvalidArgument,
                    format_args!("{}: no such event type or modifiers", event.name()),
                )
            };
            let opened = match event.is_well_formed() {
                true => self.opened.open(&plan, position, event, &mut info),
                false => Err(invalid().with_event(position)),
            };
            let substitute = match opened {
                Ok(substitute) => substitute,
                Err(error) if plan.lenient => {
                    info.status = error.status().code();
                    info.os_errno = error.os_errno();
                    info.say(format_args!("{}", error.message()));
                    None
                }
                Err(error) => return Err(error),
            };
            let histogram = SharedHistogram::create(&histogram_options)
                .map_err(|error| Error::from(error).with_event(position))?;
            self.entries.push(Entry { event: *event, info, substitute, histogram });
        }
        Ok(())
    }

    /// Whether this process may touch the counters.
    pub(crate) fn check(&self) -> Result<()> {
        if thread::process() == self.process {
            return Ok(());
        }
        let why = format_args!(
            "this process was forked from the one that opened the session, and its descriptors are that process's counters. Free \
             the session here, and open another one"
        );
        Err(Error::new(Status::Forked, why))
    }

    /// The kernel id of the calling thread where it is the opening thread; else a number that no thread has. Spares a system call.
    fn caller(&self) -> i32 {
        if thread::token() == self.opener.0 { self.opener.1 } else { -1 }
    }

    pub(crate) fn is_opener(&self) -> bool {
        thread::token() == self.opener.0
    }

    /// Whether the session counts its own opening thread.
    pub(crate) fn counts_opener(&self) -> bool {
        self.target.pid == 0
    }

    fn entry(&self, index: usize) -> Result<&Entry> {
        self.check()?;
        let count = self.entries.len();
        self.entries.get(index).ok_or_else(|| {
            Error::new(
                Status::InvalidArgument,
                format_args!("there is no event {index}: the session has {count}"),
            )
        })
    }

    /// How many events there are: as many as were given.
    pub fn length(&self) -> Result<usize> {
        self.check()?;
        Ok(self.entries.len())
    }

    /// The event at a position, as it was given.
    pub fn event(&self, index: usize) -> Result<Event> {
        Ok(self.entry(index)?.event)
    }

    /// How the event came to be counted.
    pub fn event_info(&self, index: usize) -> Result<EventInfo> {
        Ok(self.entry(index)?.info)
    }

    /// The event's histogram: a reference of its own, which outlives the session.
    pub fn histogram(&self, index: usize) -> Result<SharedHistogram> {
        Ok(self.entry(index)?.histogram.clone())
    }

    pub(crate) fn infos(&mut self) -> impl Iterator<Item = &mut EventInfo> {
        self.entries.iter_mut().map(|entry| &mut entry.info)
    }

    /// Keeps everything counted so far apart, and starts counting if need be.
    pub(crate) fn set_aside(&mut self) -> Result<Kept> {
        let before = self.sample_all()?;
        let mut histories = [History::default(); MAX_EVENTS];
        histories[..self.histories.len()].copy_from_slice(&self.histories);
        let kept =
            Kept { histories, before, reads: self.reads, recorded: self.recorded, enabled: self.enabled };
        if !self.enabled {
            self.enable()?;
        }
        Ok(kept)
    }

    /// Goes on from what was kept, as if nothing had been counted in between.
    pub(crate) fn put_back(&mut self, kept: Kept) -> Result<()> {
        let stopped = if kept.enabled { Ok(()) } else { self.stop() };
        let after = self.sample_all()?;
        for (position, history) in self.histories.iter_mut().enumerate() {
            *history = kept.histories[position];
            if (kept.before.taken & after.taken) >> position & 1 != 0 {
                history.skip(kept.before.all[position], after.all[position]);
            }
        }
        (self.reads, self.recorded) = (kept.reads, kept.recorded);
        stopped
    }

    /// Starts counting, and takes a new base.
    pub fn enable(&mut self) -> Result<()> {
        self.check()?;
        let result = self.start();
        if result.is_err() {
            // Half a session must not go on counting.
            let _ = self.stop();
        }
        result
    }

    fn start(&mut self) -> Result<()> {
        for index in 0..self.opened.groups.len() {
            self.control(index, request::ENABLE)?;
        }
        let caller = self.caller();
        for entry in &mut self.entries {
            if let Some(substitute) = &mut entry.substitute {
                substitute.enable(&self.opened.sys, caller);
            }
        }
        self.enabled = true;
        self.unpin_where_needed()?;
        if !self.proven && self.counts_opener() && self.is_opener() {
            self.proven = true;
            self.look_for_silence()?;
        }
        self.rebase()
    }

    /// Stops counting. What was counted stays readable.
    pub fn disable(&mut self) -> Result<()> {
        self.check()?;
        self.stop()
    }

    fn stop(&mut self) -> Result<()> {
        self.enabled = false;
        let mut result = Ok(());
        for index in 0..self.opened.groups.len() {
            result = result.and(self.control(index, request::DISABLE));
        }
        let caller = self.caller();
        for entry in &mut self.entries {
            if let Some(substitute) = &mut entry.substitute {
                substitute.disable(&self.opened.sys, caller);
            }
        }
        result
    }

    /// Starts or stops a group. Only the leader: its members run exactly when it does, so they start and stop together.
    fn control(&self, index: usize, request: u64) -> Result<()> {
        let leader = self.opened.groups[index].leader;
        let fd = self.opened.counters[leader].fd;
        // SAFETY: ENABLE and DISABLE take an integer.
        persist(|| unsafe { self.opened.sys.ioctl(fd, request, 0) }).map_err(|Errno(errno)| {
            let name = self.entries[leader].event.name();
            let verb = if request == request::ENABLE { "started" } else { "stopped" };
            let error = std::io::Error::from_raw_os_error(errno);
            let why = format_args!("{name}: counting could not be {verb}: {error}");
            Error::new(Status::Os, why).with_errno(errno).with_event(leader)
        })
    }

    /// A pinned group that the PMU had no room for reads as end of file. It would stay so for ever: open it again unpinned.
    fn unpin_where_needed(&mut self) -> Result<()> {
        for index in 0..self.opened.groups.len() {
            let group = self.opened.groups[index];
            let mut samples = [Sample::default(); MAX_EVENTS];
            if !group.pinned || self.read_group(index, &mut samples) != Err(Unreadable::PinnedOut) {
                continue;
            }
            self.opened.reopen_unpinned(index, self.target).map_err(|(position, refused)| {
                self.opened.explain(self.entries[position].event.name(), position, self.target, refused)
            })?;
            for position in positions(group.members) {
                let info = &mut self.entries[position].info;
                info.flags |= EVENT_INFO_UNPINNED;
                info.say(format_args!(
                    "not pinned: the PMU has no room to keep the group on it all the time. It takes turns with others, and values \
                     are scaled"
                ));
            }
            self.control(index, request::ENABLE)?;
        }
        Ok(())
    }

    /// Works a little and looks whether hardware events noticed; marks those that did not.
    fn look_for_silence(&mut self) -> Result<()> {
        use crate::kernel::kind::{CACHE, HARDWARE, RAW};
        let hardware =
            |entry: &Entry| matches!(entry.event.r#type, HARDWARE | CACHE | RAW) && entry.info.status == 0;
        if !self.entries.iter().any(hardware) {
            return Ok(());
        }
        let before = self.sample_all()?;
        work::add_chain_256(100);
        let after = self.sample_all()?;
        for (position, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| hardware(entry)) {
            let (from, to) = (before.all[position], after.all[position]);
            let is_cycles = (entry.event.r#type, entry.event.config) == (HARDWARE, 0);
            if to.running == from.running {
                entry.info.flags |= EVENT_INFO_SILENT;
                entry.info.say(format_args!(
                    "opened, but not on the PMU at once: others use it. The NMI watchdog holds one counter (sudo sysctl \
                     kernel.nmi_watchdog=0 frees it); other profilers hold more"
                ));
            } else if is_cycles && to.value == from.value {
                entry.info.flags |= EVENT_INFO_SILENT;
                entry.info.say(format_args!(
                    "opened and scheduled, but it does not count: the virtual machine's PMU is there in name only, or another ring \
                     was asked for than the one that works"
                ));
            }
        }
        Ok(())
    }

    fn read_group(&self, index: usize, samples: &mut [Sample]) -> core::result::Result<(), Unreadable> {
        let (group, sys, counters) = (&self.opened.groups[index], &self.opened.sys, &self.opened.counters);
        if self.has(SESSION_INHERIT) {
            group.read_singly(sys, counters, samples)
        } else {
            group.read(sys, counters, samples)
        }
    }

    /// A sample of every event by system call: all of them, or an error.
    pub(crate) fn sample_all(&self) -> Result<Samples> {
        let mut samples = Samples { all: [Sample::default(); MAX_EVENTS], taken: 0 };
        let ordered = self.has(SESSION_ORDERED);
        if ordered {
            tsc::fence();
        }
        for (index, group) in self.opened.groups.iter().enumerate() {
            match self.read_group(index, &mut samples.all) {
                Ok(()) => samples.taken |= group.members,
                Err(Unreadable::PinnedOut) => {}
                Err(unreadable) => return Err(self.unreadable(group.leader, unreadable)),
            }
        }
        for (position, entry) in self.entries.iter().enumerate() {
            if let Some(substitute) = &entry.substitute
                && let Some(sample) = substitute.sample(&self.opened.sys, self.caller())
            {
                samples.all[position] = sample;
                samples.taken |= 1 << position;
            }
        }
        if ordered {
            tsc::fence();
        }
        Ok(samples)
    }

    #[cold]
    fn unreadable(&self, leader: usize, unreadable: Unreadable) -> Error {
        let name = self.entries[leader].event.name();
        let errno = match unreadable {
            Unreadable::Errno(Errno(errno)) => errno,
            Unreadable::PinnedOut | Unreadable::Malformed => libc::EIO,
        };
        let error = match unreadable {
            Unreadable::Malformed => Error::new(
                Status::Os,
                format_args!(
                    "{name}: the kernel's answer does not list the events that were opened; were descriptors mixed up?"
                ),
            ),
            _ => {
                let error = std::io::Error::from_raw_os_error(errno);
                Error::new(Status::Os, format_args!("{name}: the counters could not be read: {error}"))
            }
        };
        error.with_errno(errno).with_event(leader)
    }

    /// Takes a new base for everything.
    pub(crate) fn rebase(&mut self) -> Result<()> {
        let samples = self.sample_all()?;
        for (position, history) in self.histories.iter_mut().enumerate() {
            let taken = samples.taken >> position & 1 != 0;
            let sample = if taken { samples.all[position] } else { history.last() };
            history.rebase(sample);
        }
        self.reads = 0;
        self.recorded = false;
        Ok(())
    }

    /// Takes a reading of all events: all of them, or an error, which changes nothing.
    pub fn read(&mut self, how: ReadMode) -> Result<()> {
        self.check()?;
        if how == ReadMode::Auto && !self.is_opener() {
            let why = format_args!(
                "only the thread that opened the session may read it in this mode; other threads can read it by system call"
            );
            return Err(Error::new(Status::WrongThread, why));
        }
        let samples = self.sample_all()?;
        for (position, history) in self.histories.iter_mut().enumerate() {
            let taken = samples.taken >> position & 1 != 0;
            history.advance(taken.then(|| samples.all[position]));
        }
        self.reads += 1;
        self.recorded = false;
        Ok(())
    }

    /// The reading of one event. There was at least one read.
    fn reading(&self, position: usize, deltas: bool) -> Reading {
        let entry = &self.entries[position];
        if entry.info.status != 0 {
            return Reading { status: entry.info.status, ..Reading::default() };
        }
        let overhead = if self.has(SESSION_SUBTRACT) && self.counts_opener() {
            // Since the base, every read has added its own.
            entry.info.overhead_syscall.saturating_mul(if deltas { 1 } else { self.reads })
        } else {
            0
        };
        self.histories[position].reading(deltas, overhead)
    }

    fn check_was_read(&self) -> Result<()> {
        self.check()?;
        if self.reads == 0 {
            let why = format_args!("nothing was read since the session was created, enabled or reset");
            return Err(Error::new(Status::Empty, why));
        }
        Ok(())
    }

    /// The last readings of all events: what was counted between the last two reads, or since the base.
    ///
    /// Errors: `Empty` before the first read since the base, `BufferTooSmall`.
    pub fn readings(&self, deltas: bool, out: &mut [Reading]) -> Result<()> {
        self.check_was_read()?;
        if out.len() < self.entries.len() {
            let why = format_args!(
                "the session has {} events, and there is room for {}",
                self.entries.len(),
                out.len()
            );
            return Err(Error::new(Status::BufferTooSmall, why));
        }
        for (position, out) in out.iter_mut().enumerate().take(self.entries.len()) {
            *out = self.reading(position, deltas);
        }
        Ok(())
    }

    /// Records the last readings into the histograms, once per read.
    ///
    /// Errors: `Empty` where nothing was read since the last record.
    pub fn record(&mut self, deltas: bool) -> Result<()> {
        self.check_was_read()?;
        if self.recorded {
            return Err(Error::new(
                Status::Empty,
                format_args!("the last reading is recorded already: read again first"),
            ));
        }
        for position in 0..self.entries.len() {
            let reading = self.reading(position, deltas);
            let entry = &mut self.entries[position];
            if reading.is_counted() {
                entry.histogram.record(reading.value);
            } else {
                entry.info.not_counted_count += 1;
            }
        }
        self.recorded = true;
        Ok(())
    }

    /// Takes a new base and resets the histograms. The kernel's counters go on as they are.
    pub fn reset(&mut self) -> Result<()> {
        self.check()?;
        self.rebase()?;
        for entry in &mut self.entries {
            entry.info.not_counted_count = 0;
            entry.histogram.reset()?;
        }
        Ok(())
    }
}

impl<S: Sys> fmt::Debug for Session<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("options", &self.options)
            .field("events", &format_args!("{}", self.entries.len()))
            .field("groups", &self.opened.groups)
            .field("enabled", &self.enabled)
            .field("reads", &self.reads)
            .finish_non_exhaustive()
    }
}

fn check_options(options: &SessionOptions) -> Result<Target> {
    let invalid = |why| Err(Error::new(Status::InvalidArgument, format_args!("{why}")));
    if options.flags & !ALL_FLAGS != 0 {
        return Err(Error::new(
            Status::Unsupported,
            format_args!("unknown session flags: {:#x}", options.flags & !ALL_FLAGS),
        ));
    }
    let on_cpu = options.flags & SESSION_ON_CPU != 0;
    match (options.thread, options.cpu) {
        (..=-2, _) => invalid("a thread is 0, a kernel thread id, or -1 for everything on a CPU"),
        (-1, _) if !on_cpu => invalid("everything can be counted only on one CPU (ON_CPU)"),
        (_, ..=-1) if on_cpu => invalid("ON_CPU needs the number of a CPU"),
        (pid, cpu) => Ok(Target { pid, cpu: if on_cpu { cpu } else { -1 } }),
    }
}

/// An empty vector with room, or an error: nothing here may abort for want of memory.
fn with_room<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| Error::from(Status::OutOfMemory))?;
    Ok(vector)
}

fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}
