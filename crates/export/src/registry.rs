//! The registry: it holds histograms, counters and gauges, and what was last taken from them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem::MaybeUninit;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::distribution::{Distribution, powers_of_four};
use super::error::{MetricError, refuse};
use super::exemplar::{MetricExemplar, divided};
use super::family::{Family, Labels, MetricKind, Point, Value};
use super::format::Exposition;
use super::keys::Keys;
use super::memory::{list, push, reserve, text};
use super::name;
use super::output::Output;
use super::text::braced;
use picollo_core::counters::{Metric, MetricCounter, MetricGauge, SharedStripedCounter};
use picollo_core::doubles::{DoubleEntry, DoubleSnapshot, SharedDoubleHistogram};
use picollo_core::recorders::Handle;
use picollo_core::seam::{Inside, forget_source, room, update_since_creation};
use picollo_core::{Error, Layout, Result, SharedHistogram, Since, Snapshot};

/// Histograms, counters and gauges with names and labels.
///
/// [`Registry::update`] takes all counts, and [`Registry::encode`] writes what was taken, any number of times.
#[derive(Debug, Default)]
pub struct Registry {
    families: Vec<Family>,
    /// The source of each point, for each family.
    sources: Vec<Members>,
    scratch: Scratch,
    last_id: u64,
    /// The time of the last update.
    updated_unix_nanos: u64,
    /// The length of each format, if somebody asked for it since the last change.
    lengths: [Option<usize>; Exposition::NUMBER],
}

/// Memory that updates reuse.
#[derive(Debug, Default)]
struct Scratch {
    /// One snapshot for each layout, which all histograms of that layout share in turn.
    snapshots: Vec<Box<Snapshot>>,
    doubles: DoubleSnapshot,
    entries: Vec<DoubleEntry>,
}

#[derive(Debug)]
struct Member {
    id: u64,
    source: Source,
}

#[derive(Debug, Default)]
struct Members {
    list: Vec<Member>,
    /// The labels of all points, so that adding one need not examine all others. The hasher asks for no random number:
    /// getrandom is a cancellation point.
    labels: HashSet<String, BuildHasherDefault<DefaultHasher>>,
}

impl Members {
    /// Adds a point with its source, unless there is one with these labels.
    fn add(
        &mut self,
        name: &str,
        member: Member,
        points: &mut Vec<Point>,
        point: Point,
    ) -> Result<(), MetricError> {
        if self.labels.contains(point.labels.listed()) {
            let labels = braced(&point.labels);
            refuse!("name and labels must differ from those of other metrics; got {name}{labels} twice")
        }
        self.labels.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        reserve(&mut self.list)?;
        let labels = text(point.labels.listed())?;
        push(points, point)?;
        self.list.push(member);
        self.labels.insert(labels);
        Ok(())
    }
}

#[derive(Debug)]
enum Source {
    /// The flag selects the counts since the reset.
    Integers(SharedHistogram, bool),
    Doubles(SharedDoubleHistogram),
    Counter(MetricCounter),
    Striped(SharedStripedCounter),
    Gauge(MetricGauge),
}

impl Registry {
    /// An empty registry.
    pub const fn new() -> Registry {
        Registry {
            families: Vec::new(),
            sources: Vec::new(),
            scratch: Scratch { snapshots: Vec::new(), doubles: DoubleSnapshot::new(), entries: Vec::new() },
            last_id: 0,
            updated_unix_nanos: 0,
            lengths: [None; Exposition::NUMBER],
        }
    }

    /// Adds a histogram, which the registry keeps alive. Returns the number for [`Registry::remove`]. Until the next
    /// update, the histogram is written as empty.
    ///
    /// `bounds` are the largest values of the buckets, ascending, as recorded, up to 500; none: one below each power of four in the
    /// range, which are exact.
    ///
    /// Refuses a name, label, unit, bound or divisor that breaks the rules of [`Metric`]; a name and labels that exist;
    /// a kind, help or unit unlike those of the others with this name; and a name that is written for another metric
    /// (`x_count` beside `x`, `a.b` beside `a_b`). The error says which, or is that of [`Error::OutOfMemory`]. Nothing
    /// has changed then.
    pub fn add(
        &mut self,
        histogram: &impl Handle,
        metric: &Metric,
        bounds: &[u64],
    ) -> Result<u64, MetricError> {
        let histogram = histogram.unguarded(Inside(()));
        let layout = *histogram.layout();
        let bounds = match bounds {
            [] => powers_of_four(&layout)?,
            given => list(given.iter().map(|&bound| bound as f64))?,
        };
        let source = Source::Integers(histogram.clone(), metric.since_reset);
        self.add_source(source, metric, |divisor, others| {
            Distribution::new(Keys::Integers(layout), divisor, &bounds, metric.max_buckets, others)
                .map(Value::Histogram)
        })
    }

    /// Adds a histogram of doubles. Updates read the counts since its last collection, so collecting it restarts the
    /// metric.
    ///
    /// Otherwise it is like [`Registry::add`]. Without bounds, there is one at each power of ten from 1e-6 to 1e6.
    pub fn add_double(
        &mut self,
        histogram: &SharedDoubleHistogram,
        metric: &Metric,
        bounds: &[f64],
    ) -> Result<u64, MetricError> {
        const POWERS: [f64; 13] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
        let bounds = if bounds.is_empty() { &POWERS } else { bounds };
        let keys = Keys::Doubles(histogram.layout());
        self.add_source(Source::Doubles(histogram.clone()), metric, |divisor, others| {
            Distribution::new(keys, divisor, bounds, metric.max_buckets, others).map(Value::Histogram)
        })
    }

    /// Adds a new counter. Returns the number for [`Registry::remove`], and the counter, which may outlive the
    /// registry. Errors as for [`Registry::add`].
    pub fn add_counter(&mut self, metric: &Metric) -> Result<(u64, MetricCounter), MetricError> {
        let counter = MetricCounter::create()?;
        let id = self.add_source(Source::Counter(counter.clone()), metric, |_, _| Ok(Value::Counter(0)))?;
        Ok((id, counter))
    }

    /// Like [`Registry::add_counter`], for a counter of many words: 1 KB.
    pub fn add_striped_counter(
        &mut self,
        metric: &Metric,
    ) -> Result<(u64, SharedStripedCounter), MetricError> {
        let counter = SharedStripedCounter::create()?;
        let id = self.add_source(Source::Striped(counter.clone()), metric, |_, _| Ok(Value::Counter(0)))?;
        Ok((id, counter))
    }

    /// Adds a new gauge, like [`Registry::add_counter`].
    pub fn add_gauge(&mut self, metric: &Metric) -> Result<(u64, MetricGauge), MetricError> {
        let gauge = MetricGauge::create()?;
        let id = self.add_source(Source::Gauge(gauge.clone()), metric, |_, _| Ok(Value::Gauge(0.0)))?;
        Ok((id, gauge))
    }

    fn add_source(
        &mut self,
        source: Source,
        metric: &Metric,
        value: impl FnOnce(f64, &[Family]) -> Result<Value, MetricError>,
    ) -> Result<u64, MetricError> {
        let divisor = if metric.divisor == 0.0 { 1.0 } else { metric.divisor };
        if !divisor.is_finite() || divisor < 0.0 {
            refuse!("divisor must be a finite number above 0, or 0 for 1; got {divisor:?}");
        }
        let value = value(divisor, &self.families)?;
        self.insert(source, metric, divisor, value)
    }

    /// All kinds share this function, because it is long and never hot.
    #[inline(never)]
    fn insert(
        &mut self,
        source: Source,
        metric: &Metric,
        divisor: f64,
        value: Value,
    ) -> Result<u64, MetricError> {
        let kind = match source.kind() {
            MetricKind::Histogram if metric.summary => MetricKind::Summary,
            kind => kind,
        };
        let given = metric.name.strip_suffix("_total").filter(|_| kind == MetricKind::Counter);
        let given = given.unwrap_or(metric.name);
        let plain_name = name::plain(given)?;
        let &Metric { name, help, unit, .. } = metric;
        if !name::is_metric(&plain_name) {
            refuse!(
                "name must have letters, digits, underscores, colons, dots, hyphens and slashes, and not begin with a \
                 digit; got {name:?}"
            );
        }
        if !name::is_unit(&plain_name, unit) {
            refuse!(
                "unit must have letters, digits, underscores and colons, and name must end with it, after an \
                 underscore; got unit {unit:?} for name {name:?}"
            );
        }
        let point = Point {
            labels: Labels::new(metric.labels)?,
            divisor,
            created_unix_nanos: metric.created_unix_nanos,
            native: metric.native,
            value,
            exemplars: Vec::new(),
        };
        if kind == MetricKind::Summary && point.labels.iter().any(|label| label.plain_name == "quantile") {
            refuse!("labels of a summary must not have the name \"quantile\", which the summary has itself");
        }
        let member = Member { id: self.last_id + 1, source };
        let at = match self.families.iter().position(|family| family.name == given) {
            Some(at) => {
                let family = &mut self.families[at];
                for (argument, value, others) in [
                    ("kind", kind.name(), family.kind.name()),
                    ("help", help, &family.help),
                    ("unit", unit, &family.unit),
                ] {
                    if value != others {
                        refuse!("{argument} of {name:?} must be {others:?}, as before; got {value:?}");
                    }
                }
                at
            }
            None => {
                if let Some(other) = self.families.iter().find(|family| family.clashes(&plain_name, kind)) {
                    refuse!(
                        "name must not be written for another metric; got {name:?} beside {:?}",
                        other.name
                    );
                }
                let (name, help, unit) = (text(given)?, text(help)?, text(unit)?);
                reserve(&mut self.sources)?;
                push(&mut self.families, Family { name, plain_name, help, unit, kind, points: Vec::new() })?;
                self.sources.push(Members::default());
                self.families.len() - 1
            }
        };
        let added = self.sources[at].add(given, member, &mut self.families[at].points, point);
        // A new family has no other points.
        added.inspect_err(|_| self.drop_empty())?;
        self.last_id += 1;
        self.lengths = [None; Exposition::NUMBER];
        Ok(self.last_id)
    }

    fn position(&self, id: u64) -> Option<(usize, usize)> {
        self.sources.iter().enumerate().find_map(|(family, members)| {
            Some((family, members.list.iter().position(|member| member.id == id)?))
        })
    }

    /// Removes a metric. Returns whether it existed. Handles of counters and gauges still work, but nobody reads them.
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.len();
        self.retain(|other| other != id);
        self.len() < before
    }

    /// Removes many metrics at once: all except those whose numbers `keeps` accepts.
    pub fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        self.lengths = [None; Exposition::NUMBER];
        for (family, members) in self.families.iter_mut().zip(&mut self.sources) {
            if members.list.iter().all(|member| keeps(member.id)) {
                continue;
            }
            let mut ids = members.list.iter().map(|member| member.id);
            family.points.retain(|point| {
                let is_kept = ids.next().is_some_and(&keeps);
                if !is_kept {
                    members.labels.remove(point.labels.listed());
                }
                is_kept
            });
            members.list.retain(|member| keeps(member.id));
        }
        self.drop_empty();
    }

    fn drop_empty(&mut self) {
        self.families.retain(|family| !family.points.is_empty());
        self.sources.retain(|members| !members.list.is_empty());
    }

    /// Sets the exemplars of a metric, and replaces its earlier ones. For a histogram, each bucket is written with its
    /// latest exemplar; for a counter, only the latest is written.
    ///
    /// Fails if there is no such metric, or a value divided by the metric's divisor is too large; with
    /// [`Error::Unsupported`] for gauges, which have no exemplars. Nothing has changed then.
    pub fn set_exemplars(&mut self, id: u64, exemplars: Vec<MetricExemplar>) -> Result<(), MetricError> {
        let Some((family, at)) = self.position(id) else {
            refuse!("id must be the number of a metric in this registry; got {id}")
        };
        if self.families[family].kind == MetricKind::Gauge {
            return Err(MetricError::new(Error::Unsupported, format_args!("a gauge has no exemplars")));
        }
        let point = &mut self.families[family].points[at];
        point.exemplars = divided(exemplars, point.divisor)?;
        self.lengths = [None; Exposition::NUMBER];
        Ok(())
    }

    /// The number of metrics.
    pub fn len(&self) -> usize {
        self.sources.iter().map(|members| members.list.len()).sum()
    }

    /// Whether there are no metrics.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Takes the counts of all metrics. Histograms count since their creation, regardless of resets, unless
    /// [`Metric::since_reset`] is set. Each metric is read at one moment, one after another.
    ///
    /// Counts can still decrease, if a histogram of doubles is collected, or one with [`Metric::since_reset`] is reset.
    /// Then the metric is written as created at the previous update, the last moment known to be earlier.
    ///
    /// Returns [`Error::Busy`] or [`Error::OutOfMemory`] if one of them fails with it. That metric keeps its earlier
    /// counts, and the update still takes the others.
    pub fn update(&mut self, now_unix_nanos: u64) -> Result<()> {
        let mut result = Ok(());
        self.lengths = [None; Exposition::NUMBER];
        let members = self.sources.iter().flat_map(|members| &members.list);
        for (member, point) in members.zip(self.families.iter_mut().flat_map(|family| &mut family.points)) {
            match member.source.read(&mut point.value, &mut self.scratch) {
                Ok(true) if point.created_unix_nanos != 0 => {
                    point.created_unix_nanos = self.updated_unix_nanos
                }
                Ok(_) => {}
                Err(error) => result = result.and(Err(error)),
            }
        }
        self.updated_unix_nanos = now_unix_nanos;
        result
    }

    /// What the last update has taken: encoders write it, and callers can keep a copy.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Writes what the last update has taken, and returns its length. If `bytes` is shorter, it writes nothing: an
    /// empty slice asks for the length.
    ///
    /// It takes a microsecond or less for each bucket and metric, and allocates nothing.
    pub fn encode(&mut self, format: Exposition, bytes: &mut [u8]) -> usize {
        // SAFETY: only bytes are written there.
        self.encode_into_room(format, unsafe { room(bytes) })
    }

    /// The same into memory that may be uninitialized.
    #[doc(hidden)] // For the C interface.
    pub fn encode_into_room(&mut self, format: Exposition, bytes: &mut [MaybeUninit<u8>]) -> usize {
        let write = |out: &mut Output| format.write(&self.families, self.updated_unix_nanos, out);
        let length = *self.lengths[format as usize].get_or_insert_with(|| Output::length_of(write));
        if let Some(bytes) = bytes.get_mut(..length)
            && length > 0
        {
            write(&mut Output::into_room(bytes));
        }
        length
    }

    /// Like [`Registry::encode`], into new memory. Returns [`Error::OutOfMemory`] if that fails.
    pub fn encode_to_vec(&mut self, format: Exposition) -> Result<Vec<u8>> {
        let length = self.encode(format, &mut []);
        let mut bytes = list(core::iter::repeat_n(0, length))?;
        self.encode(format, &mut bytes);
        Ok(bytes)
    }

    /// Writes what the last update has taken as OpenMetrics text. Fails only if `out` fails.
    pub fn write_openmetrics(&self, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        super::text::write(&self.families, super::text::Dialect::OpenMetrics, out)
    }
}

impl Source {
    fn kind(&self) -> MetricKind {
        match self {
            Source::Integers(..) | Source::Doubles(_) => MetricKind::Histogram,
            Source::Counter(_) | Source::Striped(_) => MetricKind::Counter,
            Source::Gauge(_) => MetricKind::Gauge,
        }
    }

    /// Returns whether any count decreased that should not. Inlined, it takes five percent more instructions.
    #[inline(never)]
    fn read(&self, value: &mut Value, scratch: &mut Scratch) -> Result<bool> {
        match (self, value) {
            (Source::Integers(histogram, since_reset), Value::Histogram(distribution)) => {
                let snapshot = snapshot_of(&mut scratch.snapshots, histogram.layout())?;
                if *since_reset {
                    // Others used this snapshot: it must not be a base, even if an image and its copy look the same.
                    forget_source(snapshot);
                    histogram.update(snapshot, Since::Reset)?;
                } else {
                    update_since_creation(histogram, snapshot)?;
                }
                distribution.take(snapshot, &mut scratch.entries)
            }
            (Source::Doubles(histogram), Value::Histogram(distribution)) => {
                histogram.peek(&mut scratch.doubles)?;
                distribution.take_doubles(&scratch.doubles, &mut scratch.entries)
            }
            (source, value) => {
                *value = match source {
                    Source::Striped(counter) => Value::Counter(counter.load()),
                    Source::Counter(counter) => Value::Counter(counter.value()),
                    Source::Gauge(gauge) => Value::Gauge(gauge.value()),
                    Source::Integers(..) | Source::Doubles(_) => return Ok(false),
                };
                Ok(false)
            }
        }
    }
}

/// The snapshot for a layout, which is made if it does not exist.
fn snapshot_of<'a>(scratch: &'a mut Vec<Box<Snapshot>>, layout: &Layout) -> Result<&'a mut Snapshot> {
    let index = match scratch.iter().position(|snapshot| snapshot.layout().same_counters(layout)) {
        Some(index) => index,
        None => {
            push(scratch, Snapshot::boxed(*layout)?)?;
            scratch.len() - 1
        }
    };
    Ok(&mut scratch[index])
}
