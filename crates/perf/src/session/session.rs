//! Sessions: events opened for one target, scheduled together if the PMU has room, each with a histogram.

use core::fmt;

use picollo_core::SingleWriterHistogram;
use picollo_core::recorders::Recorder;

use crate::event::event::{Event, MAX_EVENTS};
use crate::event::info::{EVENT_INFO_FAST, EventInfo};
use crate::event::named;
use crate::machine::diagnose::{Refusal, Target};
use crate::machine::hybrid::Pmus;
use crate::opening::attr::Wish;
use crate::opening::group::{Refused, Slot, counts_kernel};
use crate::opening::open::{Opened, Plan};
use crate::opening::substitute::{Substitute, birth};
use crate::session::history::Tally;
use crate::session::options::{
    SESSION_DISABLED, SESSION_INHERIT, SESSION_KERNEL, SESSION_ORDERED, SESSION_PINNED,
    SESSION_SKIP_UNAVAILABLE, SESSION_SYSCALL_ONLY, SessionOptions, check_options,
};
use crate::session::read::{Fast, Samples, Way};
use crate::session::reading::Reading;
use crate::user_read::sys::{Policy, Sys};
use picollo_native::seam::failure;
use picollo_native::seam::kernel::Attr;
use picollo_native::seam::sys::Kernel;
use picollo_native::seam::text;
use picollo_native::seam::thread;
use picollo_native::seam::vectors::{filled, with_room};
use picollo_native::{ExplainedError, Result};

/// Events opened for one target.
///
/// `create`, `enable` and `reset` take a base by system call. [`Session::read`] takes a reading of all events; deltas are between
/// the last two readings, the first since the base. [`Session::record`] never reads: it records the last deltas, once per read.
/// An event that was not counted records nothing and is tallied in its info.
///
/// Threads: [`ReadMode::Auto`](crate::ReadMode::Auto) works on the opening thread, the rest on any thread, one at a time, as `&mut` ensures.
/// After a fork the child can only drop its copy: all calls return `Forked`, since the counters are the parent's.
///
/// Reading and recording allocate nothing, unless a pinned group has to be opened again ([`SESSION_PINNED`]).
pub struct Session(pub(super) SessionOn<Kernel>);

/// A [`Session`] on a system, which is another one in tests. [`Session`] itself is not generic: a generic one would be
/// compiled again in each crate that uses it.
#[doc(hidden)]
pub struct SessionOn<S: Sys> {
    /// Before `opened`, which unmaps the pages that this reads: fields are dropped in order.
    pub(crate) fast: Fast,
    pub(crate) opened: Opened<S>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) tally: Tally,
    pub(crate) options: SessionOptions,
    pub(crate) plan: Plan,
    /// When the thread that is counted was started, if a group may have to be opened again. Its id alone does not identify it.
    pub(crate) birth: Option<u64>,
    /// The opening thread, by its never-reused token and by its kernel id.
    pub(super) opener: (u64, i32),
    pub(crate) enabled: bool,
    /// Whether the PMU is known to count, or to be silent.
    pub(crate) proven: bool,
}

impl Session {
    /// Opens 1 to [`MAX_EVENTS`] events.
    ///
    /// Errors: `InvalidArgument` and `Unsupported` for options and events outside their ranges; otherwise why an event
    /// cannot be counted, with its position: `NoSuchEvent`, `Permission`, `Unsupported`, `Os`. With
    /// [`SESSION_SKIP_UNAVAILABLE`] such events stay as entries without counts instead.
    ///
    /// Cost: a few system calls for each event. In a process, the first counter that may be read in user space adds a
    /// few hundred microseconds for a child that tries it. If neither the kernel nor the CPU states the clock's rate,
    /// finding it takes 2 to 50 ms. [`SESSION_SYSCALL_ONLY`] avoids both.
    pub fn create(options: &SessionOptions, events: &[Event]) -> Result<Session> {
        SessionOn::with_sys(Kernel, options, events).map(Session)
    }

    /// The number of events that were given.
    pub fn length(&self) -> Result<usize> {
        self.0.length()
    }

    /// The event at a position, as it was given. Its scale is the value of one count, and never 0.
    pub fn event(&self, index: usize) -> Result<Event> {
        self.0.event(index)
    }

    /// How the event came to be counted.
    pub fn event_info(&self, index: usize) -> Result<EventInfo> {
        self.0.event_info(index)
    }

    /// The event's histogram: a separate reference, which outlives the session. Only the session writes to it. A skipped event
    /// ([`SESSION_SKIP_UNAVAILABLE`]) has none, and the error has the reason.
    pub fn histogram(&self, index: usize) -> Result<SingleWriterHistogram> {
        self.0.histogram(index)
    }

    /// Starts counting, and takes a new base.
    ///
    /// Errors: `Os` if the kernel does not start the events or cannot read them; as from [`Session::create`] if a
    /// pinned group cannot be opened again without pinning ([`SESSION_PINNED`]). Only infos
    /// report it with [`SESSION_SKIP_UNAVAILABLE`]. Nothing counts after an error.
    pub fn enable(&mut self) -> Result<()> {
        self.0.enable()
    }

    /// Stops counting. The counts so far stay readable.
    pub fn disable(&mut self) -> Result<()> {
        self.0.disable()
    }

    /// Measures the overhead of a pair of reads for every event and each way of reading, and records it in the infos.
    /// It is the tenth percentile of a thousand back-to-back pairs, without those in which the event was not on the PMU
    /// throughout. The session's values and bases do not change, as if no time had passed. Takes a few milliseconds. A
    /// stopped session is started for it and stopped again.
    ///
    /// Errors: `Unsupported` if another thread or a CPU is counted, which reading does not slow down; `WrongThread` on
    /// any thread but the opening one.
    pub fn calibrate(&mut self) -> Result<()> {
        self.0.calibrate()
    }

    /// The last readings of all events: the counts between the last two reads, or since the base.
    ///
    /// Errors: `Empty` before the first read since the base, `BufferTooSmall`.
    pub fn readings(&self, deltas: bool, out: &mut [Reading]) -> Result<()> {
        self.0.readings(deltas, out)
    }

    /// Records the last readings into the histograms, once per read.
    ///
    /// Errors: `Empty` if nothing was read since the last record.
    pub fn record(&mut self, deltas: bool) -> Result<()> {
        self.0.record(deltas)
    }

    /// Takes a new base and resets the histograms. The kernel's counters continue unchanged.
    ///
    /// Errors: `Os`, which changes nothing; `Busy`, with the event, if other resets keep its histogram busy. That event
    /// keeps both its histogram and its tally of uncounted records, which belong together. The base is new, and all
    /// other events are reset. Try again.
    pub fn reset(&mut self) -> Result<()> {
        self.0.reset()
    }
}

/// Whether an event of the session also counts in the kernel.
pub fn counts_in_kernel(session: &Session) -> bool {
    session.0.opened.slots.iter().any(|slot| slot.fd >= 0 && counts_kernel(&slot.attr))
}

/// The descriptor of the event at a position; below 0 if it is not counted.
pub fn descriptor(session: &Session, index: usize) -> i32 {
    session.0.opened.slots[index].fd
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: Sys> SessionOn<S> {
    /// [`Session::create`] on a given system.
    pub fn with_sys(sys: S, options: &SessionOptions, events: &[Event]) -> Result<SessionOn<S>> {
        let target = check_options(options)?;
        if events.is_empty() || events.len() > MAX_EVENTS {
            return Err(failure!(
                InvalidArgument,
                "a session has 1 to {MAX_EVENTS} events, not {}",
                events.len()
            ));
        }
        // One slot for each event, and after them one for each further kind of core on which an event is counted.
        let pmus = Pmus::find(&sys);
        let wanted: usize = events.iter().map(|event| pmus.parts(event)).sum();
        let (pmus, slots) =
            if wanted <= MAX_EVENTS { (pmus, wanted) } else { (Pmus::default(), events.len()) };
        let opener = (thread::token(), thread::kernel_id());
        if opener.1 <= 0 {
            return Err(failure!(Os, "the system does not say which thread this is"));
        }
        let whom = Target { pid: if target.pid == 0 { opener.1 } else { target.pid }, ..target };
        let has = |flag: u32| options.flags & flag != 0;
        let inherit = has(SESSION_INHERIT);
        let policy = if has(SESSION_SYSCALL_ONLY) { Policy::Off } else { sys.policy() };
        let plan = Plan {
            target,
            whom,
            wish: Wish { kernel: has(SESSION_KERNEL), inherit, pinned: has(SESSION_PINNED) },
            lenient: has(SESSION_SKIP_UNAVAILABLE),
            thread: (whom.pid >= 0 && whom.cpu < 0 && !inherit).then_some(whom.pid),
        };
        let birth = if has(SESSION_PINNED) { birth(&sys, whom.pid) } else { None };
        // A thread reads its own counter, whatever the event counts. So user space can read only an event of this very
        // thread, wherever it runs, without its children. The kernel would let any event be mapped.
        let own = whom == Target { pid: opener.1, cpu: -1 };
        let maps = own && !inherit && !policy.is_off();
        let closed = Slot { fd: -1, id: 0, attr: Attr::default(), page: None };
        let groups = with_room(slots)?;
        let opened = Opened { sys, slots: filled(slots, closed)?, maps, process: thread::process(), groups };
        let mut session = SessionOn {
            fast: Fast::none(),
            opened,
            entries: with_room(events.len())?,
            tally: Tally::new(slots)?,
            options: *options,
            plan,
            birth,
            opener,
            enabled: false,
            proven: false,
        };
        session.open_all(events, &pmus)?;
        session.find_fast();
        if has(SESSION_DISABLED) {
            session.rebase()?
        } else {
            session.enable()?
        }
        Ok(session)
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.options.flags & flag != 0
    }

    fn open_all(&mut self, events: &[Event], pmus: &Pmus) -> Result<()> {
        let plan = self.plan;
        let histogram_options = picollo_core::Options {
            relative_error: self.options.relative_error,
            counter_bits: self.options.counter_bits,
            ..picollo_core::Options::default()
        };
        let mut next_slot = events.len();
        for (position, event) in events.iter().enumerate() {
            let mut info = EventInfo::new();
            let opened = if event.is_well_formed() {
                self.opened.open_parts(&plan, pmus, position, event, &mut info, &mut next_slot)
            } else {
                let name = event.name();
                Err(failure!(InvalidArgument, "{name}: no such event type or modifiers").with_event(position))
            };
            let mut doubt = [0; 200];
            if opened.is_ok() && named::is_doubtful(&self.opened.sys, event, &mut doubt) {
                info.add_remark(format_args!("{}", text::get(&doubt)));
            }
            let is_skipped = opened.is_err();
            let (parts, substitute) = match opened {
                Ok(opened) => opened,
                Err(error) if plan.lenient => {
                    info.fail(&error);
                    (0, None)
                }
                Err(error) => return Err(error),
            };
            let histogram = SingleWriterHistogram::create(&histogram_options)
                .and_then(|histogram| histogram.recorder())
                .map_err(|error| ExplainedError::from(error).with_event(position))?;
            self.entries.push(Entry {
                event: Event { scale: event.worth(), ..*event },
                info,
                is_skipped,
                substitute,
                histogram,
                parts,
                everywhere: pmus.parts(event) == 1,
            });
        }
        Ok(())
    }

    /// Finds the groups that can be read in user space again, after events were opened.
    pub(crate) fn find_fast(&mut self) {
        let ordered = self.has(SESSION_ORDERED);
        // Every event and every part of one must be open: a missing one has no slot in a group.
        let parts: u32 = self.entries.iter().map(|entry| 1 + entry.parts.count_ones()).sum();
        self.fast = Fast::find(&self.opened, ordered, parts as usize);
        for entry in &mut self.entries {
            let fast = self.fast.groups.get(entry.info.group as usize).is_some_and(Option::is_some);
            entry.info.flags &= !EVENT_INFO_FAST;
            entry.info.flags |= if fast { EVENT_INFO_FAST } else { 0 };
        }
    }

    /// Whether this process may touch the counters.
    pub(crate) fn check(&self) -> Result<()> {
        if thread::process() == self.opened.process {
            return Ok(());
        }
        Err(failure!(
            Forked,
            "this process was forked from the one that opened the session, and its descriptors are that process's counters. Free \
             the session here, and open another one"
        ))
    }

    /// The kernel id of the opening thread if it is calling, or else -1, which no thread has. This saves a system call.
    pub(crate) fn caller(&self) -> i32 {
        if thread::token() == self.opener.0 { self.opener.1 } else { -1 }
    }

    /// Whether the session counts its own opening thread.
    pub(crate) fn counts_opener(&self) -> bool {
        self.plan.whom.pid == self.opener.1
    }

    /// Takes a new base for everything.
    pub(crate) fn rebase(&mut self) -> Result<()> {
        let mut samples = Samples::new();
        // From this, the next reading in user space learns its starting point.
        let way = if self.is_opener() { Way::Learn } else { Way::Syscall };
        self.sample_with_fast(way, &mut samples)?;
        if samples.pushed_off != 0 {
            self.bring_back(samples.pushed_off);
        }
        self.tally.rebase(&samples);
        Ok(())
    }
}

impl<S: Sys> fmt::Debug for SessionOn<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("options", &self.options)
            .field("events", &format_args!("{}", self.entries.len()))
            .field("groups", &self.opened.groups)
            .field("enabled", &self.enabled)
            .field("reads", &self.tally.reads)
            .finish_non_exhaustive()
    }
}

/// The data of one event that are not needed to read it.
pub(crate) struct Entry {
    pub event: Event,
    pub info: EventInfo,
    /// It could not be opened, and its info has the reason.
    pub is_skipped: bool,
    pub substitute: Option<Substitute>,
    /// Only the session records into it.
    pub histogram: Recorder<SingleWriterHistogram>,
    /// The slots of its parts on other kinds of core, one bit each.
    pub parts: u64,
    /// One counter sees it wherever the target runs: it is not split, and not limited to one kind of core.
    pub everywhere: bool,
}

impl<S: Sys> SessionOn<S> {
    /// The event that a slot belongs to, if any.
    pub(crate) fn owner(&self, slot: usize) -> Option<usize> {
        if slot < self.entries.len() {
            return Some(slot);
        }
        self.entries.iter().position(|entry| entry.parts >> slot & 1 != 0)
    }

    /// The name of the event that a slot belongs to.
    pub(crate) fn slot_name(&self, slot: usize) -> &str {
        self.owner(slot).map_or("a part of an event", |position| self.entries[position].event.name())
    }

    /// The error with the event that a slot belongs to, or without an event if the slot belongs to no event.
    pub(crate) fn with_owner(&self, slot: usize, error: ExplainedError) -> ExplainedError {
        match self.owner(slot) {
            Some(position) => error.with_event(position),
            None => error,
        }
    }

    /// Explains a refusal after the opening.
    pub(crate) fn refused_later(&self, slot: usize, (errno, attr): Refused) -> ExplainedError {
        // A thread that has ended is named by its id, even if the caller did not name it so.
        let Plan { whom, target, .. } = self.plan;
        let target = if errno.0 == libc::ESRCH { Target { pid: whom.pid, ..target } } else { target };
        let refusal = Refusal { name: self.slot_name(slot), attr: &attr, target, errno };
        self.with_owner(slot, refusal.explain(&self.opened.sys))
    }
}

#[cfg(test)]
mod owner_tests {
    use crate::event::event::Event;
    use crate::session::options::SessionOptions;
    use crate::session::session::Session;
    use picollo_native::{ExplainedError, Status};

    #[test]
    fn a_slot_without_an_event_has_no_owner() {
        let event = Event::parse("task-clock").unwrap();
        let session = match Session::create(&SessionOptions::default(), &[event, event]) {
            Ok(session) => session,
            Err(error) => return eprintln!("SKIPPED: no events at all: {error}"),
        };
        let about = |slot| session.0.with_owner(slot, ExplainedError::from(Status::Os)).event_index();
        assert_eq!((about(0), about(1)), (0, 1));
        // Neither an event nor a part of one.
        assert_eq!((session.0.owner(2), about(2)), (None, -1));
        assert_eq!(session.0.slot_name(2), "a part of an event");
    }
}
