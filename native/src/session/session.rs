//! Sessions: events opened for one target, scheduled together where the PMU has room, each with a histogram.

use core::fmt;

use picollo_core::{SharedWriter, SingleWriterHistogram};

use crate::base::error::{Error, Result, Status};
use crate::event::event::Event;
use crate::event::event::MAX_EVENTS;
use crate::event::info::EVENT_INFO_FAST;
use crate::event::info::EventInfo;
use crate::machine::diagnose::Target;
use crate::machine::hybrid::Pmus;
use crate::opening::attr::Wish;
use crate::opening::group::{Counter, positions};
use crate::opening::open::{Opened, Plan};
use crate::opening::substitute::Substitute;
use crate::opening::whom::Whom;
use crate::os::kernel::Attr;
use crate::os::sys::{Kernel, Sys};
use crate::os::thread;
use crate::session::fast::Fast;
use crate::session::history::History;
use crate::session::options::{
    SESSION_DISABLED, SESSION_INHERIT, SESSION_KERNEL, SESSION_ORDERED, SESSION_PINNED,
    SESSION_SKIP_UNAVAILABLE, SESSION_SUBTRACT, SESSION_SYSCALL_ONLY, SessionOptions, check_options,
};
use crate::session::overhead::Overhead;
use crate::session::reading::Reading;
use crate::session::sampling::Samples;
use crate::user_read::policy::Policy;

/// What belongs to one event and is not needed to read it.
pub(crate) struct Entry {
    pub event: Event,
    pub info: EventInfo,
    pub substitute: Option<Substitute>,
    /// The session alone records into it.
    pub histogram: SharedWriter,
    /// Where more of it is counted, on other kinds of core: one bit for each slot.
    pub parts: u64,
    /// One counter sees it wherever the target runs: not one of several parts, nor the only one that could be had.
    pub everywhere: bool,
    pub overhead_fast: Overhead,
    pub overhead_syscall: Overhead,
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
/// Reading and recording allocate nothing, unless a pinned group has to be opened again ([`SESSION_PINNED`]).
pub struct Session<S: Sys = Kernel> {
    /// Before `opened`, which unmaps what this looks at: fields are dropped in order.
    pub(crate) fast: Fast,
    pub(crate) opened: Opened<S>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) histories: Vec<History>,
    pub(crate) options: SessionOptions,
    /// Whom it counts, as it was asked for and as the kernel is told.
    pub(crate) target: Target,
    pub(crate) whom: Whom,
    /// The opening thread, by its never-reused token and by its kernel id.
    opener: (u64, i32),
    pub(crate) process: u64,
    policy: Policy,
    pub(crate) enabled: bool,
    /// Whether the PMU was seen to count, or to be silent.
    pub(crate) proven: bool,
    /// Since the base.
    pub(crate) reads: u64,
    pub(crate) recorded: bool,
}

impl Session {
    /// Opens events; between 1 and [`MAX_EVENTS`].
    ///
    /// Errors: `InvalidArgument` and `Unsupported` for options and events outside their ranges; else why an event cannot be
    /// counted, with its position: `NoSuchEvent`, `Permission`, `Unsupported`, `Os`. With [`SESSION_SKIP_UNAVAILABLE`] such events
    /// stay as entries without counts instead.
    ///
    /// Cost: some system calls for each event. The first time in a process that a counter may be read in user space also some hundred
    /// microseconds for a child that tries it (where a sandbox lets no child share memory, it is forked: some 0.1 s for each
    /// GB), and 2 to 50 ms to find out how fast the CPU's clock runs, where neither the kernel nor the CPU says so. Neither with
    /// [`SESSION_SYSCALL_ONLY`].
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
        // Slots: one for each event, and behind them one for each further kind of core that an event is counted on.
        let pmus = Pmus::find(&sys);
        let wanted: usize = events.iter().map(|event| pmus.parts(event)).sum();
        let (pmus, slots) =
            if wanted <= MAX_EVENTS { (pmus, wanted) } else { (Pmus::default(), events.len()) };
        let counters = filled(slots, Counter::CLOSED)?;
        let attrs = filled(slots, Attr::default())?;
        let by_syscall = options.flags & SESSION_SYSCALL_ONLY != 0;
        let policy = if by_syscall { Policy::Off } else { Policy::of_process() };
        let opener = (thread::token(), thread::kernel_id());
        if opener.1 <= 0 {
            return Err(Error::new(Status::Os, format_args!("the system does not say which thread this is")));
        }
        let whom = Whom::of(target, opener.1);
        let process = thread::process();
        // The counter that a thread reads is its own, whatever the event counts: only an event of this very thread, wherever it
        // runs and without its children, can be read in user space. The kernel would let any be mapped.
        let maps = whom.own && options.flags & SESSION_INHERIT == 0 && policy != Policy::Off;
        let pages = filled(slots, None)?;
        let opened = Opened { sys, counters, attrs, pages, maps, process, groups: with_room(slots)? };
        let mut session = Session {
            fast: Fast::none(),
            opened,
            entries: with_room(events.len())?,
            histories: filled(slots, History::default())?,
            options: *options,
            target,
            whom,
            opener,
            process,
            policy,
            enabled: false,
            proven: false,
            reads: 0,
            recorded: false,
        };
        session.open_all(events, &pmus)?;
        session.find_fast();
        if options.flags & SESSION_DISABLED == 0 {
            session.enable()?;
        } else {
            session.rebase()?;
        }
        Ok(session)
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.options.flags & flag != 0
    }

    fn open_all(&mut self, events: &[Event], pmus: &Pmus) -> Result<()> {
        let inherit = self.has(SESSION_INHERIT);
        let one_thread = self.whom.pid >= 0 && self.whom.cpu < 0 && !inherit;
        let plan = Plan {
            target: self.target,
            whom: self.whom,
            wish: Wish { kernel: self.has(SESSION_KERNEL), inherit, pinned: self.has(SESSION_PINNED) },
            lenient: self.has(SESSION_SKIP_UNAVAILABLE),
            thread: one_thread.then_some(self.whom.pid),
        };
        let histogram_options = picollo_core::Options {
            relative_error: self.options.relative_error,
            counter_bits: self.options.counter_bits,
            ..picollo_core::Options::default()
        };
        let mut next_slot = events.len();
        for (position, event) in events.iter().enumerate() {
            let mut info = EventInfo::new();
            let mut parts = 0;
            let invalid = || {
                Error::new(
                    Status::InvalidArgument,
                    format_args!("{}: no such event type or modifiers", event.name()),
                )
            };
            let opened = match event.is_well_formed() {
                true if pmus.parts(event) > 1 => {
                    let opened =
                        self.opened.open_parts(&plan, pmus, position, event, &mut info, &mut next_slot);
                    opened.map(|found| {
                        parts = found;
                        None
                    })
                }
                true => self.opened.open(&plan, position, event, &mut info),
                false => Err(invalid().with_event(position)),
            };
            let substitute = match opened {
                Ok(substitute) => substitute,
                Err(error) if plan.lenient => {
                    info.fail(&error);
                    None
                }
                Err(error) => return Err(error),
            };
            let histogram = SingleWriterHistogram::create(&histogram_options)
                .and_then(|histogram| histogram.writer())
                .map_err(|error| Error::from(error).with_event(position))?;
            let (overhead_fast, overhead_syscall) = (Overhead::default(), Overhead::default());
            self.entries.push(Entry {
                event: *event,
                info,
                substitute,
                histogram,
                parts,
                everywhere: pmus.parts(event) == 1,
                overhead_fast,
                overhead_syscall,
            });
        }
        Ok(())
    }

    /// Finds out anew which groups can be read in user space, after events were opened.
    pub(crate) fn find_fast(&mut self) {
        let ordered = self.has(SESSION_ORDERED);
        // Every event must be open, and every part of one: what is missing has no slot in a group.
        let parts: u32 = self.entries.iter().map(|entry| 1 + entry.parts.count_ones()).sum();
        self.fast = Fast::find(&self.opened, self.policy, ordered, parts as usize);
        for entry in &mut self.entries {
            let fast = self.fast.groups.get(entry.info.group as usize).is_some_and(Option::is_some);
            entry.info.flags &= !EVENT_INFO_FAST;
            entry.info.flags |= if fast { EVENT_INFO_FAST } else { 0 };
        }
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
    pub(crate) fn caller(&self) -> i32 {
        if thread::token() == self.opener.0 { self.opener.1 } else { -1 }
    }

    #[inline]
    pub(crate) fn is_opener(&self) -> bool {
        thread::token() == self.opener.0
    }

    /// Whether the session counts its own opening thread.
    pub(crate) fn counts_opener(&self) -> bool {
        self.whom.pid == self.opener.1
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

    /// The event's histogram: a reference of its own, which outlives the session. The session is its one writer.
    pub fn histogram(&self, index: usize) -> Result<SingleWriterHistogram> {
        Ok(self.entry(index)?.histogram.histogram().clone())
    }

    /// Takes a new base for everything.
    pub(crate) fn rebase(&mut self) -> Result<()> {
        let mut samples = Samples::new();
        self.sample_and_learn(&mut samples)?;
        if samples.pushed_off != 0 {
            self.bring_back(samples.pushed_off);
        }
        for (position, history) in self.histories.iter_mut().enumerate() {
            history.rebase(samples.get(position).unwrap_or(history.last()));
        }
        self.reads = 0;
        self.recorded = false;
        Ok(())
    }

    /// The reading of one event. There was at least one read.
    fn reading(&self, position: usize, deltas: bool) -> Reading {
        let entry = &self.entries[position];
        if entry.info.status != 0 {
            return Reading { status: entry.info.status, ..Reading::default() };
        }
        let history = &self.histories[position];
        let overhead = if self.has(SESSION_SUBTRACT) && self.counts_opener() {
            // Each path has its own, and since the base every read has added one. A pair of different paths costs something in
            // between, which nobody has measured: nothing is subtracted for it.
            let (fast, syscall) = history.pairs(deltas);
            let (fast, syscall) = (
                entry.info.overhead_fast.saturating_mul(fast),
                entry.info.overhead_syscall.saturating_mul(syscall),
            );
            fast.saturating_add(syscall)
        } else {
            0
        };
        if entry.parts != 0 {
            let parts = positions(entry.parts | 1 << position).filter_map(|slot| self.histories.get(slot));
            return History::reading_of_parts(parts, deltas, overhead);
        }
        history.reading(deltas, overhead)
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
    ///
    /// Errors: `Os`, which changes nothing; `Busy`, with the event, where others keep its histogram busy with resets of their own.
    /// That event then keeps its histogram and its tally of what was not counted, which belong together; the base is new, and all
    /// other events are reset. To be tried again.
    pub fn reset(&mut self) -> Result<()> {
        self.check()?;
        self.rebase()?;
        let mut result = Ok(());
        for (position, entry) in self.entries.iter_mut().enumerate() {
            match entry.histogram.histogram().reset() {
                // Only together: the histogram's total and this add up to the number of records.
                Ok(()) => entry.info.not_counted_count = 0,
                Err(error) => result = result.and(Err(Error::from(error).with_event(position))),
            }
        }
        result
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
