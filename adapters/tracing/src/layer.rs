//! The layer and its recorded times.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use picollo_core::counters::Metric;
use picollo_core::{Error, Since, Snapshot};
use picollo_export::Registry;
use tracing_core::{Subscriber, span};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::stack;
use crate::times::{Time, Times};

/// A layer and its recorded times, as a counted reference; one goes to the subscriber.
#[derive(Clone, Debug)]
pub struct SpanTimes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    start: Instant,
    names: RwLock<HashMap<&'static str, Arc<Times>>>,
}

/// The state of an open span.
struct Open {
    times: Arc<Times>,
    made: u64,
    /// How many entries it has now, since when, and how long it was busy before.
    entries: u32,
    since: u64,
    busy: u64,
    alone: u64,
}

impl Default for SpanTimes {
    fn default() -> SpanTimes {
        SpanTimes::new()
    }
}

impl SpanTimes {
    /// A layer without recorded times.
    pub fn new() -> SpanTimes {
        SpanTimes(Arc::new(Inner { start: Instant::now(), names: RwLock::default() }))
    }

    /// The recorded times of closed spans with a name, in nanoseconds. `None` without such spans, or without memory.
    pub fn snapshot(&self, name: &str, time: Time) -> Option<Box<Snapshot>> {
        let times = self.0.names.read().unwrap_or_else(PoisonError::into_inner).get(name)?.clone();
        let histogram = &times.0[time as usize];
        let mut snapshot = Snapshot::boxed(*histogram.layout()).ok()?;
        histogram.update(&mut snapshot, Since::Reset).ok()?;
        Some(snapshot)
    }

    /// The names of all spans so far, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let names = self.0.names.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = names.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// Adds the times of all names so far to a registry, as `span_seconds{span="…",time="total"}` and so on. Existing
    /// metrics stay unchanged, so call it again for later names. Fails as [`Registry::add`] does.
    pub fn add_to(&self, registry: &mut Registry) -> Result<(), Error> {
        let created_unix_nanos =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        for name in self.names() {
            let times = self.0.names.read().unwrap_or_else(PoisonError::into_inner)[name].clone();
            for time in Time::ALL {
                let labels = [("span", name), ("time", time.name())];
                let metric = Metric {
                    name: "span_seconds",
                    help: "How long spans were open, entered, not entered, and entered with nothing inside them.",
                    unit: "seconds",
                    labels: &labels,
                    divisor: 1e9,
                    created_unix_nanos,
                    ..Metric::default()
                };
                match registry.add(&times.0[time as usize], &metric, &[]).map_err(Error::from) {
                    Ok(_) | Err(Error::InvalidArgument) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.0.start.elapsed().as_nanos() as u64
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// `None` if there is no memory: such spans are not recorded.
    fn times(&self, name: &'static str) -> Option<Arc<Times>> {
        if let Some(times) = self.0.names.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Some(times.clone());
        }
        let made = Arc::new(Times::create().ok()?);
        let mut names = self.0.names.write().unwrap_or_else(PoisonError::into_inner);
        Some(names.entry(name).or_insert(made).clone())
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanTimes {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let (Some(span), Some(times)) = (context.span(id), self.times(attributes.metadata().name())) else {
            return;
        };
        let made = self.now();
        span.extensions_mut().replace(Open { times, made, entries: 0, since: 0, busy: 0, alone: 0 });
    }

    fn on_enter(&self, id: &span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(open) = extensions.get_mut::<Open>() else { return };
        let now = self.now();
        if open.entries == 0 {
            open.since = now;
        }
        open.entries += 1;
        stack::enter(self.id(), id.into_u64(), now);
    }

    fn on_exit(&self, id: &span::Id, context: Context<'_, S>) {
        let now = self.now();
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(open) = extensions.get_mut::<Open>() else { return };
        open.alone += stack::exit(self.id(), id.into_u64(), now);
        open.entries = open.entries.saturating_sub(1);
        if open.entries == 0 {
            open.busy += now.saturating_sub(open.since);
        }
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        let now = self.now();
        let Some(span) = context.span(&id) else { return };
        let open = span.extensions_mut().remove::<Open>();
        if let Some(open) = open {
            open.times.record(now.saturating_sub(open.made), open.busy, open.alone);
        }
    }
}
