//! A registry of histograms with names and labels, for a service that exposes them.
//!
//! Reading has two steps: [`Registry::update`] takes the counts of all histograms, and [`Registry::write_openmetrics`] writes
//! what was taken, as often as one likes.
//!
//! An observation is counted in the buckets whose bound is at or above the midpoint of its own bucket. So counts are exact for
//! bounds at which a bucket of the histogram ends, as those one below a power of two are, and otherwise off by observations
//! that lie within the relative error of the bound. What was out of range is taken as just outside of it: what was below it is
//! in all buckets from there on, what was above it in the last one only.

mod name;
mod openmetrics;
mod taken;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::doubles::{DoubleSnapshot, SharedDoubleHistogram};
use crate::error::{Error, Result};
use crate::handle::shared::SharedHistogram;
use crate::handle::single_writer::Handle;
use crate::handle::single_writer::sealed::Inside;
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::{Since, Snapshot};
use taken::Taken;

/// What a histogram is known as.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metric<'a> {
    /// Letters, digits, underscores and colons, and no digit first: `request_duration_seconds`. Several histograms may have
    /// one name, with different labels.
    pub name: &'a str,
    /// What it means, for people; may be empty.
    pub help: &'a str,
    /// The unit, such as `seconds`; may be empty. The name has to end with it, after an underscore.
    pub unit: &'a str,
    /// Names and values that tell histograms of one name apart. Names are like those of metrics, without colons, and
    /// neither `le` nor beginning with two underscores.
    pub labels: &'a [(&'a str, &'a str)],
    /// Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds. 0 means 1.
    pub divisor: f64,
    /// Since when there are counts, in nanoseconds since 1970; 0 where that is not to be told.
    pub created_unix_nanos: u64,
}

/// Histograms with names and labels.
#[derive(Debug, Default)]
pub struct Registry {
    families: Vec<Family>,
    /// For each layout one snapshot, which every histogram of that layout uses in turn.
    scratch: Vec<Box<Snapshot>>,
    double_scratch: DoubleSnapshot,
    last_id: u64,
    /// When the last update was.
    updated_unix_nanos: u64,
}

/// The histograms of one name, in the order in which they came.
#[derive(Debug)]
struct Family {
    name: String,
    help: String,
    unit: String,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    id: u64,
    source: Source,
    /// Sorted by name.
    labels: Vec<(String, String)>,
    divisor: f64,
    /// 0: not told.
    created_unix_nanos: u64,
    taken: Taken,
}

/// A histogram, and the largest values of the buckets it is written with, ascending, as recorded.
#[derive(Debug)]
enum Source {
    Integers(SharedHistogram, Vec<u64>),
    Doubles(SharedDoubleHistogram, Vec<f64>),
}

impl Registry {
    /// A registry of nothing.
    pub const fn new() -> Registry {
        Registry {
            families: Vec::new(),
            scratch: Vec::new(),
            double_scratch: DoubleSnapshot::new(),
            last_id: 0,
            updated_unix_nanos: 0,
        }
    }

    /// Adds a histogram, which the registry keeps alive. Returns what [`Registry::remove`] takes. Until the next update it is
    /// written as empty.
    ///
    /// `bounds` are the largest values of the buckets, ascending, as recorded; none: one below each power of four in the
    /// range, which are exact.
    ///
    /// [`Error::InvalidArgument`] for a name, label, bound or divisor that is not as [`Metric`] says; when there is a
    /// histogram with this name and these labels; when help or unit differ from those of the others with this name; and when
    /// the name is one that is written for another (`x_count` beside `x`). [`Error::OutOfMemory`]. Nothing has changed then.
    pub fn add(&mut self, histogram: &impl Handle, metric: &Metric, bounds: &[u64]) -> Result<u64> {
        let histogram = histogram.unguarded(Inside(()));
        let bounds = if bounds.is_empty() { powers_of_four(histogram.layout())? } else { copy_of(bounds)? };
        self.add_source(Source::Integers(histogram.clone(), bounds), metric)
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
        let bounds = copy_of(if bounds.is_empty() { &POWERS } else { bounds })?;
        self.add_source(Source::Doubles(histogram.clone(), bounds), metric)
    }

    fn add_source(&mut self, source: Source, metric: &Metric) -> Result<u64> {
        name::check_metric(metric.name)?;
        name::check_unit(metric.name, metric.unit)?;
        let member = Member::new(self.last_id + 1, source, metric)?;
        match self.families.iter_mut().find(|family| family.name == metric.name) {
            Some(family) => {
                let same = |other: &Member| other.labels == member.labels;
                let unlike = family.help != metric.help || family.unit != metric.unit;
                if unlike || family.members.iter().any(same) {
                    return Err(Error::InvalidArgument);
                }
                push(&mut family.members, member)?;
            }
            None => {
                if self.families.iter().any(|family| name::clash(&family.name, metric.name)) {
                    return Err(Error::InvalidArgument);
                }
                let mut members = Vec::new();
                push(&mut members, member)?;
                let (name, help, unit) = (text(metric.name)?, text(metric.help)?, text(metric.unit)?);
                push(&mut self.families, Family { name, help, unit, members })?;
            }
        }
        self.last_id += 1;
        Ok(self.last_id)
    }

    /// Takes a histogram out. Whether it was there.
    pub fn remove(&mut self, id: u64) -> bool {
        let before = self.len();
        for family in &mut self.families {
            family.members.retain(|member| member.id != id);
        }
        self.families.retain(|family| !family.members.is_empty());
        self.len() < before
    }

    /// How many histograms there are.
    pub fn len(&self) -> usize {
        self.families.iter().map(|family| family.members.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
    }

    /// Takes the counts of all histograms since their resets. Each is of one moment; they are read one after the other.
    ///
    /// Where counts went down, because a histogram was reset or collected, it is written as created at the update before:
    /// the last moment that is known to be before that.
    ///
    /// [`Error::Busy`] or [`Error::OutOfMemory`] when that was so for one of them: it keeps what was taken before, and the
    /// others are taken nevertheless.
    pub fn update(&mut self, now_unix_nanos: u64) -> Result<()> {
        let mut result = Ok(());
        for member in self.families.iter_mut().flat_map(|family| &mut family.members) {
            let taken = member.update(&mut self.scratch, &mut self.double_scratch, self.updated_unix_nanos);
            result = result.and(taken);
        }
        self.updated_unix_nanos = now_unix_nanos;
        result
    }
}

impl Member {
    fn new(id: u64, source: Source, metric: &Metric) -> Result<Member> {
        let divisor = if metric.divisor == 0.0 { 1.0 } else { metric.divisor };
        if !divisor.is_finite() || divisor < 0.0 {
            return Err(Error::InvalidArgument);
        }
        let mut labels = Vec::new();
        for &(name, value) in metric.labels {
            name::check_label(name)?;
            push(&mut labels, (text(name)?, text(value)?))?;
        }
        labels.sort_unstable();
        if labels.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::InvalidArgument);
        }
        let taken = Taken::nothing(source.bounds().count())?;
        let created_unix_nanos = metric.created_unix_nanos;
        let member = Member { id, source, labels, divisor, created_unix_nanos, taken };
        // As they will be written, where large ones may be rounded.
        let ascend = member.bounds().zip(member.bounds().skip(1)).all(|(bound, next)| bound < next);
        let finite = member.bounds().all(f64::is_finite);
        if ascend && finite { Ok(member) } else { Err(Error::InvalidArgument) }
    }

    /// The bounds as they are written.
    fn bounds(&self) -> impl Iterator<Item = f64> + '_ {
        self.source.bounds().map(|bound| bound / self.divisor)
    }

    fn update(
        &mut self,
        scratch: &mut Vec<Box<Snapshot>>,
        double_scratch: &mut DoubleSnapshot,
        updated_unix_nanos: u64,
    ) -> Result<()> {
        let went_down = match &self.source {
            Source::Integers(histogram, bounds) => {
                let snapshot = snapshot_of(scratch, histogram.layout())?;
                // Others used it: nothing of theirs is to be counted from, not even where an image and its copy pass for one.
                snapshot.forget_source();
                histogram.update(snapshot, Since::Reset)?;
                self.taken.take(snapshot, bounds)
            }
            Source::Doubles(histogram, bounds) => {
                histogram.look(double_scratch)?;
                self.taken.take_doubles(double_scratch, bounds)
            }
        };
        if went_down && self.created_unix_nanos != 0 {
            self.created_unix_nanos = updated_unix_nanos;
        }
        Ok(())
    }
}

impl Source {
    /// As recorded.
    fn bounds(&self) -> impl Iterator<Item = f64> + '_ {
        let (integers, doubles): (&[u64], &[f64]) = match self {
            Source::Integers(_, bounds) => (bounds, &[]),
            Source::Doubles(_, bounds) => (&[], bounds),
        };
        integers.iter().map(|&bound| bound as f64).chain(doubles.iter().copied())
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

/// One below each power of four in the range.
fn powers_of_four(layout: &Layout) -> Result<Vec<u64>> {
    let mut bounds = Vec::new();
    bounds.try_reserve_exact(31).map_err(|_| Error::OutOfMemory)?;
    // Below a unit no bucket ends.
    let range = layout.lowest_recordable().max((1 << layout.unit()) - 1)..layout.highest_recordable();
    bounds.extend((1..32).map(|power| (1 << (2 * power)) - 1).filter(|bound| range.contains(bound)));
    Ok(bounds)
}

fn copy_of<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(items.len()).map_err(|_| Error::OutOfMemory)?;
    copy.extend_from_slice(items);
    Ok(copy)
}

fn push<T>(to: &mut Vec<T>, item: T) -> Result<()> {
    to.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
    to.push(item);
    Ok(())
}

fn text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| Error::OutOfMemory)?;
    copy.push_str(text);
    Ok(copy)
}
