//! The registry: where histograms, counters and gauges are, and what was last taken of them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::mem::MaybeUninit;

use super::distribution::{Distribution, powers_of_four};
use super::exemplar::{Exemplar, divided};
use super::family::{Family, Labels, MetricKind, Point, Value};
use super::format::Exposition;
use super::handles::{MetricCounter, MetricGauge};
use super::keys::Keys;
use super::memory::{push, text};
use super::name;
use super::output::Output;
use crate::doubles::{DoubleSnapshot, Entry, SharedDoubleHistogram};
use crate::error::{Error, Result};
use crate::format::buffer::room;
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::Handle;
use crate::handle::single_writer::sealed::Inside;
use crate::histograms::striped::SharedStripedCounter;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::{Since, Snapshot};

/// What a histogram, counter or gauge is known as.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metric<'a> {
    /// Letters, digits, underscores and colons, and no digit first: `request_duration_seconds`. Dots, hyphens and slashes are
    /// OpenTelemetry's: Prometheus sees underscores for them. A counter's may end with `_total`, which is not part of it. Several
    /// metrics of one kind may have one name, with different labels.
    pub name: &'a str,
    /// What it means, for people; may be empty.
    pub help: &'a str,
    /// The unit, such as `seconds`; may be empty. The name has to end with it, after an underscore.
    pub unit: &'a str,
    /// Names and values that tell metrics of one name apart. Names are like those of metrics, without colons, and neither `le`
    /// nor beginning with two underscores.
    pub labels: &'a [(&'a str, &'a str)],
    /// Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds. 0 means 1.
    pub divisor: f64,
    /// Since when there are counts, in nanoseconds since 1970; 0 where that is not to be told.
    pub created_unix_nanos: u64,
    /// Prometheus is to have a native histogram, of exponential buckets, where its format has them. Others still have bounds.
    pub native: bool,
    /// How many exponential buckets may have counts before they become coarser. 0 means 320, `u32::MAX` any number.
    pub max_buckets: u32,
    /// Prometheus is to have a summary: the quantiles 0.5, 0.9, 0.99 and 0.999 of all that is counted, instead of buckets. OTLP has
    /// exponential buckets nevertheless. A label `quantile` is refused then.
    pub summary: bool,
    /// Write the counts since the histogram was reset rather than since it was made. Collectors then see a restart at each reset.
    pub since_reset: bool,
}

/// Histograms, counters and gauges with names and labels.
///
/// [`Registry::update`] takes the counts of all, and [`Registry::encode`] writes what was taken, as often as one likes.
#[derive(Debug, Default)]
pub struct Registry {
    families: Vec<Family>,
    /// For each family, for each of its points, where it comes from.
    sources: Vec<Members>,
    scratch: Scratch,
    last_id: u64,
    /// When the last update was.
    updated_unix_nanos: u64,
    /// How long each format is, where that was asked for since anything changed.
    lengths: [Option<usize>; Exposition::NUMBER],
}

/// Memory that updates use again and again.
#[derive(Debug, Default)]
struct Scratch {
    /// For each layout one snapshot, which every histogram of that layout uses in turn.
    snapshots: Vec<Box<Snapshot>>,
    doubles: DoubleSnapshot,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Member {
    id: u64,
    source: Source,
}

#[derive(Debug, Default)]
struct Members {
    list: Vec<Member>,
    /// Positions and 1, where the hash of the point's labels says or behind; at most half of them, and 0 for none. Whoever adds one of a
    /// hundred thousand does not look at all others.
    slots: Vec<u32>,
}

impl Members {
    /// Where a point with these labels is, or would be.
    fn slot(&self, points: &[Point], listed: &str) -> usize {
        // FNV-1a.
        let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
        let mut at = listed.bytes().fold(2_166_136_261, add) as usize;
        loop {
            at %= self.slots.len();
            match self.slots[at] {
                0 => return at,
                other if points[other as usize - 1].labels.listed() == listed => return at,
                _ => at += 1,
            }
        }
    }

    /// Where a point with these labels has its place, if there is none yet.
    fn vacancy(&mut self, points: &[Point], listed: &str) -> Result<Option<usize>> {
        if self.slots.len() < 2 * (points.len() + 1) {
            let length = (4 * points.len()).next_power_of_two().max(8);
            self.slots.try_reserve_exact(length - self.slots.len()).map_err(|_| Error::OutOfMemory)?;
            self.slots.resize(length, 0);
            self.find_all(points);
        }
        let slot = self.slot(points, listed);
        Ok((self.slots[slot] == 0).then_some(slot))
    }

    fn find_all(&mut self, points: &[Point]) {
        self.slots.fill(0);
        for (at, point) in points.iter().enumerate() {
            let slot = self.slot(points, point.labels.listed());
            self.slots[slot] = at as u32 + 1;
        }
    }
}

#[derive(Debug)]
enum Source {
    /// Whether its counts since the reset go out.
    Integers(SharedHistogram, bool),
    Doubles(SharedDoubleHistogram),
    Counter(MetricCounter),
    Striped(SharedStripedCounter),
    Gauge(MetricGauge),
}

impl Registry {
    /// A registry of nothing.
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

    /// Adds a histogram, which the registry keeps alive. Returns what [`Registry::remove`] takes. Until the next update it is
    /// written as empty.
    ///
    /// `bounds` are the largest values of the buckets, ascending, as recorded, up to 500; none: one below each power of four in the
    /// range, which are exact.
    ///
    /// [`Error::InvalidArgument`] for a name, label, bound or divisor that is not as [`Metric`] says; when there is a
    /// metric with this name and these labels; when kind, help or unit differ from those of the others with this name; and when
    /// the name is one that is written for another (`x_count` beside `x`, `a.b` beside `a_b`). [`Error::OutOfMemory`]. Nothing has
    /// changed then.
    pub fn add(&mut self, histogram: &impl Handle, metric: &Metric, bounds: &[u64]) -> Result<u64> {
        let histogram = histogram.unguarded(Inside(()));
        let layout = *histogram.layout();
        let bounds = match bounds {
            [] => powers_of_four(&layout)?,
            given => {
                let mut bounds = Vec::new();
                bounds.try_reserve_exact(given.len()).map_err(|_| Error::OutOfMemory)?;
                bounds.extend(given.iter().map(|&bound| bound as f64));
                bounds
            }
        };
        let source = Source::Integers(histogram.clone(), metric.since_reset);
        self.add_source(source, metric, |divisor, others| {
            Distribution::new(Keys::Integers(layout), divisor, &bounds, metric.max_buckets, others)
                .map(Value::Histogram)
        })
    }

    /// Adds a histogram of doubles, of which updates read the counts since its last collection: collecting it starts the
    /// metric anew.
    ///
    /// As for [`Registry::add`]; no bounds: each power of ten from 1e-6 to 1e6.
    pub fn add_double(
        &mut self,
        histogram: &SharedDoubleHistogram,
        metric: &Metric,
        bounds: &[f64],
    ) -> Result<u64> {
        const POWERS: [f64; 13] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
        let bounds = if bounds.is_empty() { &POWERS } else { bounds };
        let keys = Keys::Doubles(histogram.layout());
        self.add_source(Source::Doubles(histogram.clone()), metric, |divisor, others| {
            Distribution::new(keys, divisor, bounds, metric.max_buckets, others).map(Value::Histogram)
        })
    }

    /// Adds a new counter. Returns what [`Registry::remove`] takes, and what to count with, which may outlive the registry. Errors as
    /// for [`Registry::add`].
    pub fn add_counter(&mut self, metric: &Metric) -> Result<(u64, MetricCounter)> {
        let counter = MetricCounter::create()?;
        let id = self.add_source(Source::Counter(counter.clone()), metric, |_, _| Ok(Value::Counter(0)))?;
        Ok((id, counter))
    }

    /// As [`Registry::add_counter`], for a counter of many words: 1 KB.
    pub fn add_striped_counter(&mut self, metric: &Metric) -> Result<(u64, SharedStripedCounter)> {
        let counter = SharedStripedCounter::create()?;
        let id = self.add_source(Source::Striped(counter.clone()), metric, |_, _| Ok(Value::Counter(0)))?;
        Ok((id, counter))
    }

    /// Adds a new gauge. As for [`Registry::add_counter`].
    pub fn add_gauge(&mut self, metric: &Metric) -> Result<(u64, MetricGauge)> {
        let gauge = MetricGauge::create()?;
        let id = self.add_source(Source::Gauge(gauge.clone()), metric, |_, _| Ok(Value::Gauge(0.0)))?;
        Ok((id, gauge))
    }

    fn add_source(
        &mut self,
        source: Source,
        metric: &Metric,
        value: impl FnOnce(f64, &[Family]) -> Result<Value>,
    ) -> Result<u64> {
        let divisor = if metric.divisor == 0.0 { 1.0 } else { metric.divisor };
        if !divisor.is_finite() || divisor < 0.0 {
            return Err(Error::InvalidArgument);
        }
        let value = value(divisor, &self.families)?;
        self.insert(source, metric, divisor, value)
    }

    /// Once for all kinds: it is long, and never hot.
    #[inline(never)]
    fn insert(&mut self, source: Source, metric: &Metric, divisor: f64, value: Value) -> Result<u64> {
        let kind = match source.kind() {
            MetricKind::Histogram if metric.summary => MetricKind::Summary,
            kind => kind,
        };
        let given = metric.name.strip_suffix("_total").filter(|_| kind == MetricKind::Counter);
        let given = given.unwrap_or(metric.name);
        let plain_name = name::plain(given)?;
        name::check_metric(&plain_name)?;
        name::check_unit(&plain_name, metric.unit)?;
        let point = Point::new(metric, divisor, value)?;
        if kind == MetricKind::Summary && point.labels.iter().any(|label| label.plain_name == "quantile") {
            return Err(Error::InvalidArgument);
        }
        let member = Member { id: self.last_id + 1, source };
        match self.families.iter().position(|family| family.name == given) {
            Some(at) => {
                let family = &mut self.families[at];
                let unlike = (family.kind, &*family.help, &*family.unit) != (kind, metric.help, metric.unit);
                let members = &mut self.sources[at];
                if unlike {
                    return Err(Error::InvalidArgument);
                }
                let vacancy = members.vacancy(&family.points, point.labels.listed())?;
                let slot = vacancy.ok_or(Error::InvalidArgument)?;
                push(&mut family.points, point)?;
                if let Err(error) = push(&mut members.list, member) {
                    family.points.pop();
                    return Err(error);
                }
                members.slots[slot] = family.points.len() as u32;
            }
            None => {
                if self.families.iter().any(|family| family.clashes(&plain_name, kind)) {
                    return Err(Error::InvalidArgument);
                }
                let (mut points, mut members) = (Vec::new(), Members::default());
                push(&mut points, point)?;
                push(&mut members.list, member)?;
                let (name, help, unit) = (text(given)?, text(metric.help)?, text(metric.unit)?);
                push(&mut self.families, Family { name, plain_name, help, unit, kind, points })?;
                if let Err(error) = push(&mut self.sources, members) {
                    self.families.pop();
                    return Err(error);
                }
            }
        }
        self.last_id += 1;
        self.lengths = [None; Exposition::NUMBER];
        Ok(self.last_id)
    }

    fn position(&self, id: u64) -> Option<(usize, usize)> {
        self.sources.iter().enumerate().find_map(|(family, members)| {
            Some((family, members.list.iter().position(|member| member.id == id)?))
        })
    }

    /// Takes a metric out. Whether it was there. Handles of counters and gauges go on, and nobody reads them.
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.len();
        self.retain(|other| other != id);
        self.len() < before
    }

    /// Takes out all metrics but those whose numbers are to be kept: of many at once.
    pub fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        self.lengths = [None; Exposition::NUMBER];
        for (family, members) in self.families.iter_mut().zip(&mut self.sources) {
            if members.list.iter().all(|member| keeps(member.id)) {
                continue;
            }
            let mut ids = members.list.iter().map(|member| member.id);
            family.points.retain(|_| ids.next().is_some_and(&keeps));
            members.list.retain(|member| keeps(member.id));
            members.find_all(&family.points);
        }
        self.families.retain(|family| !family.points.is_empty());
        self.sources.retain(|members| !members.list.is_empty());
    }

    /// Exemplars to write with a metric from now on, instead of those before: of a histogram each is written with the bucket that it
    /// is in, the latest where there are several, and of a counter the latest.
    ///
    /// [`Error::InvalidArgument`] when there is no metric with this number, and for a value that is too large when it is divided as
    /// the metric's are; [`Error::Unsupported`] for gauges, which have none. Nothing has changed then.
    pub fn set_exemplars(&mut self, id: u64, exemplars: Vec<Exemplar>) -> Result<()> {
        let (family, at) = self.position(id).ok_or(Error::InvalidArgument)?;
        if self.families[family].kind == MetricKind::Gauge {
            return Err(Error::Unsupported);
        }
        let point = &mut self.families[family].points[at];
        point.exemplars = divided(exemplars, point.divisor)?;
        self.lengths = [None; Exposition::NUMBER];
        Ok(())
    }

    /// How many metrics there are.
    pub fn len(&self) -> usize {
        self.sources.iter().map(|members| members.list.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Takes the counts of all metrics: of histograms since they were made, whatever was reset meanwhile, unless
    /// [`Metric::since_reset`] was asked for. Each is of one moment; they are read one after the other.
    ///
    /// Where counts went down nevertheless, because a histogram of doubles was collected, or one was reset of which the counts since
    /// then go out, it is written as created at the update before: the last moment that is known to be before that.
    ///
    /// [`Error::Busy`] or [`Error::OutOfMemory`] when that was so for one of them: it keeps what was taken before, and the
    /// others are taken nevertheless.
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

    /// What the last update has taken, for encoders, and to keep a copy of.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// When the last update was, in nanoseconds since 1970; 0 before the first.
    pub fn updated_unix_nanos(&self) -> u64 {
        self.updated_unix_nanos
    }

    /// Writes what the last update has taken. Returns the length of all, and writes nothing where `bytes` has not as many: nothing at
    /// all tells how many are needed.
    ///
    /// A microsecond or less for each bucket and metric; allocates nothing.
    pub fn encode(&mut self, format: Exposition, bytes: &mut [u8]) -> usize {
        // SAFETY: bytes are written there.
        self.encode_into_room(format, unsafe { room(bytes) })
    }

    /// The same into memory that may hold nothing so far.
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

    /// [`Registry::encode`] into new memory. [`Error::OutOfMemory`].
    pub fn encode_to_vec(&mut self, format: Exposition) -> Result<Vec<u8>> {
        let length = self.encode(format, &mut []);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| Error::OutOfMemory)?;
        bytes.resize(length, 0);
        self.encode(format, &mut bytes);
        Ok(bytes)
    }

    /// Writes what the last update has taken as OpenMetrics text. Fails only where `out` does.
    pub fn write_openmetrics(&self, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        super::text::write(&self.families, super::text::Dialect::OpenMetrics, out)
    }
}

impl Point {
    fn new(metric: &Metric, divisor: f64, value: Value) -> Result<Point> {
        Ok(Point {
            labels: Labels::new(metric.labels)?,
            divisor,
            created_unix_nanos: metric.created_unix_nanos,
            native: metric.native,
            value,
            exemplars: Vec::new(),
        })
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

    /// Whether anything became less that should not.
    fn read(&self, value: &mut Value, scratch: &mut Scratch) -> Result<bool> {
        match (self, value) {
            (Source::Integers(histogram, since_reset), Value::Histogram(distribution)) => {
                let snapshot = snapshot_of(&mut scratch.snapshots, histogram.layout())?;
                if *since_reset {
                    // Others used it: nothing of theirs is to be counted from, not even where an image and its copy pass for one.
                    snapshot.forget_source();
                    histogram.update(snapshot, Since::Reset)?;
                } else {
                    histogram.update_since_creation(snapshot)?;
                }
                distribution.take(snapshot, &mut scratch.entries)
            }
            (Source::Doubles(histogram), Value::Histogram(distribution)) => {
                histogram.look(&mut scratch.doubles)?;
                distribution.take_doubles(&scratch.doubles, &mut scratch.entries)
            }
            (Source::Striped(counter), value) => {
                *value = Value::Counter(counter.load());
                Ok(false)
            }
            (Source::Counter(counter), value) => {
                *value = Value::Counter(counter.value());
                Ok(false)
            }
            (Source::Gauge(gauge), value) => {
                *value = Value::Gauge(gauge.value());
                Ok(false)
            }
            (Source::Integers(..) | Source::Doubles(_), _) => Ok(false),
        }
    }
}

/// The snapshot for a layout, made now if there is none.
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
