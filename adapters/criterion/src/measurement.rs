//! The measurement that criterion calls.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use criterion::Bencher;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use picollo_core::Snapshot;
use picollo_native::{Clock, ExplainedError, Result, Status, TimeUnit};
use picollo_perf::{Event, ReadMode, Reading, SESSION_SKIP_UNAVAILABLE, Session, SessionOptions};

use crate::formatter::Counts;
use crate::measured::{Measured, Per};

/// Measures wall time, and also counts events of the calling thread. Clones share their measurements.
#[derive(Clone)]
pub struct Picollo {
    pub(crate) inner: Rc<Inner>,
    /// The event that criterion shows; `None` for the time.
    shown: Option<usize>,
}

pub(crate) struct Inner {
    clock: Clock,
    session: RefCell<Option<Session>>,
    /// The names of the events.
    pub(crate) events: Vec<String>,
    pub(crate) measured: RefCell<Vec<Measured>>,
}

/// The clock at the start.
#[derive(Clone, Copy, Debug)]
pub struct Started(u64);

/// The result of a batch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Taken {
    /// Wall time, in picoseconds.
    pub picos: u64,
    /// The count of each event; `None` if it was not counted.
    pub counts: Vec<Option<u64>>,
}

impl Picollo {
    /// Measures time, which criterion shows, and counts these events, with names from `picollo list`. The tables omit
    /// events that this machine cannot count.
    ///
    /// Errors: those of [`Event::parse`] and [`Session::create`].
    pub fn new(events: &[&str]) -> Result<Picollo> {
        Clock::init();
        let parsed = events.iter().map(|event| Event::parse(event)).collect::<Result<Vec<_>>>()?;
        let options = SessionOptions { flags: SESSION_SKIP_UNAVAILABLE, ..SessionOptions::default() };
        let session = if parsed.is_empty() { None } else { Some(Session::create(&options, &parsed)?) };
        let inner = Inner {
            clock: Clock::Tsc,
            session: RefCell::new(session),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            measured: RefCell::default(),
        };
        Ok(Picollo { inner: Rc::new(inner), shown: None })
    }

    /// Makes criterion show a counted event instead of the time.
    ///
    /// Errors: `InvalidArgument` for an event that was not requested, `NoSuchEvent` for one that cannot be counted
    /// here, with the reason.
    pub fn show(mut self, event: &str) -> Result<Picollo> {
        let Some(at) = self.inner.events.iter().position(|name| name == event) else {
            return Err(ExplainedError::new(
                Status::InvalidArgument,
                format_args!("{event} is not among the events that are counted"),
            ));
        };
        let info = self.inner.session.borrow().as_ref().map(|session| session.event_info(at)).transpose()?;
        if let Some(info) = info.filter(|info| info.status != 0) {
            return Err(ExplainedError::new(Status::NoSuchEvent, format_args!("{}", info.message())));
        }
        self.shown = Some(at);
        Ok(self)
    }

    /// Use it instead of `bencher.iter(routine)`: measures batches, and records each mean once per iteration.
    pub fn iter<R>(&self, bencher: &mut Bencher<'_, Picollo>, name: &str, mut routine: impl FnMut() -> R) {
        bencher.iter_custom(|iterations| {
            let start = self.start();
            for _ in 0..iterations {
                black_box(routine());
            }
            let taken = self.end(start);
            self.note(name, Per::Batch, &taken, iterations);
            taken
        });
    }

    /// Measures each iteration separately, for iterations of at least a microsecond: it reads the clock and the
    /// counters around each.
    pub fn iter_each<R>(
        &self,
        bencher: &mut Bencher<'_, Picollo>,
        name: &str,
        mut routine: impl FnMut() -> R,
    ) {
        bencher.iter_custom(|iterations| {
            let mut sum = self.zero();
            for _ in 0..iterations {
                let start = self.start();
                black_box(routine());
                let taken = self.end(start);
                self.note(name, Per::Iteration, &taken, 1);
                sum = self.add(&sum, &taken);
            }
            sum
        });
    }

    /// Records the time of iterations, for your own `iter_custom`.
    pub fn note(&self, name: &str, per: Per, taken: &Taken, iterations: u64) {
        let mut all = self.inner.measured.borrow_mut();
        let at = all.iter().position(|one| one.name == name && one.per == per).unwrap_or_else(|| {
            all.push(Measured::new(name, per, self.inner.events.len()));
            all.len() - 1
        });
        all[at].note(taken, iterations);
    }

    /// Picoseconds per iteration; `None` if nothing of that name was measured.
    pub fn times(&self, name: &str) -> Option<(Per, Box<Snapshot>)> {
        let all = self.inner.measured.borrow();
        all.iter().find(|one| one.name == name).map(|one| (one.per, one.snapshot()))
    }

    /// The count of an event per iteration; `None` if nothing of that name was counted.
    pub fn counts(&self, name: &str, event: &str) -> Option<(Per, Box<Snapshot>)> {
        let event = self.inner.events.iter().position(|one| one == event)?;
        let all = self.inner.measured.borrow();
        all.iter().find(|one| one.name == name).and_then(|one| Some((one.per, one.counted(event)?)))
    }

    /// Reads the counters. If that fails, the values are missing.
    fn read(&self) -> bool {
        match &mut *self.inner.session.borrow_mut() {
            Some(session) => session.read(ReadMode::Auto).is_ok(),
            None => false,
        }
    }
}

impl Measurement for Picollo {
    type Intermediate = Started;
    type Value = Taken;

    fn start(&self) -> Started {
        self.read();
        Started(self.inner.clock.ticks_ordered())
    }

    fn end(&self, started: Started) -> Taken {
        let end = self.inner.clock.ticks_ordered();
        let picos = self.inner.clock.convert(end.saturating_sub(started.0), TimeUnit::Picos);
        let mut counts = vec![None; self.inner.events.len()];
        if self.read()
            && let Some(session) = &*self.inner.session.borrow()
        {
            let mut readings = vec![Reading::default(); counts.len()];
            if session.readings(true, &mut readings).is_ok() {
                let counted = readings.iter().map(|reading| reading.is_counted().then_some(reading.value));
                counts = counted.collect();
            }
        }
        Taken { picos, counts }
    }

    fn add(&self, one: &Taken, other: &Taken) -> Taken {
        let sum = |(one, other): (&Option<u64>, &Option<u64>)| Some(one.as_ref()? + other.as_ref()?);
        Taken {
            picos: one.picos + other.picos,
            counts: one.counts.iter().zip(&other.counts).map(sum).collect(),
        }
    }

    fn zero(&self) -> Taken {
        Taken { picos: 0, counts: vec![Some(0); self.inner.events.len()] }
    }

    fn to_f64(&self, taken: &Taken) -> f64 {
        match self.shown {
            None => taken.picos as f64 / 1e3,
            // Criterion cannot represent an unknown value, and divides by it.
            Some(at) => taken.counts[at].unwrap_or(0).max(1) as f64,
        }
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        if self.shown.is_some() { &Counts } else { Measurement::formatter(&WallTime) }
    }
}
