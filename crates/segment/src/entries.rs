//! Entries of a segment for writers: checks options, finds entries by name, and creates them under the directory lock.

use core::ptr::NonNull;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use picollo_core::counters::{Metric, MetricCounter, SharedStripedCounter};
use picollo_core::layouts::Storage;
use picollo_core::recorders::Recorder;
use picollo_core::seam::{
    PerCpuImage, attach_per_cpu, counter_at, has_restartable_sequences, striped_counter_at,
};
use picollo_core::{Mode, Options, SharedHistogram, SingleWriterHistogram};

use super::check::{self, Shape};
use super::description::{SegmentKind, SegmentOptions};
use super::file::{self, printable};
use super::format::{self, Body, HEADER_SIZE, Names, PAGE, mode, state};
use super::limits;
use super::mapping::DirectoryLock;
use super::writer::Segment;
use picollo_native::seam::failure;
use picollo_native::seam::thread::kernel_id;
use picollo_native::unix_nanos;
use picollo_native::{ExplainedError, Result};

/// The histogram that all names share after the directory has no entry left.
const OVERFLOW: &str = "picollo_overflow";
const OVERFLOW_HELP: &str = "All that is recorded into histograms beyond the last entry of the directory";
pub(super) const REMEDY: &str = "publish fewer histograms, with fewer values of labels";

impl Segment {
    /// Returns the histogram with this name and these labels, or creates it. Any process records into it by atomic
    /// additions. Options without values mean 1 % from 1 to 3.6e12, an hour in nanoseconds.
    ///
    /// If only the last entry of the directory is left, this returns the overflow histogram. It is named
    /// `picollo_overflow`, holds all values with 1 %, and is shared by all later names.
    ///
    /// Errors: `Incompatible` if the existing one has another layout or mode; `Unsupported` for modes, storages and
    /// widths that a segment cannot hold, with an alternative; `InvalidArgument`; `OutOfMemory` if the segment, its
    /// directory or the file system is full; `Busy` if another process is stopped while it creates an entry.
    pub fn histogram(&self, metric: &Metric<'_>, options: &Options) -> Result<SharedHistogram> {
        if options.mode == Mode::SingleWriter {
            return Err(failure!(
                InvalidArgument,
                "a histogram of one writer is made by Segment::single_writer"
            ));
        }
        // SAFETY: the mode is not single-writer.
        unsafe { self.histogram_unguarded(metric, options) }
    }

    /// Creates a histogram that one thread of one process records into, and returns its recorder. Fails with
    /// `Incompatible` if the name and labels already exist; other errors as for [`Segment::histogram`].
    pub fn single_writer(
        &self,
        metric: &Metric<'_>,
        options: &Options,
    ) -> Result<Recorder<SingleWriterHistogram>> {
        let options = Options { mode: Mode::SingleWriter, ..*options };
        let (_, body, is_new) = self.find_or_make(metric, &options)?;
        if !is_new {
            return Err(of_another_thread(metric.name));
        }
        let memory = self.0.object(body.offset).as_ptr();
        // SAFETY: the object was just made, and stays.
        let histogram = unsafe { SingleWriterHistogram::attach(memory, body.size as usize) }?;
        // SAFETY: there is no other recorder: later calls find the entry taken.
        Ok(unsafe { histogram.recorder_unchecked() })
    }

    /// Like [`Segment::histogram`], in any mode. The owning thread of a single-writer histogram gets it again.
    ///
    /// # Safety
    /// In the mode [`Mode::SingleWriter`], only the calling thread may record.
    #[doc(hidden)]
    pub unsafe fn histogram_unguarded(
        &self,
        metric: &Metric<'_>,
        options: &Options,
    ) -> Result<SharedHistogram> {
        self.find_or_make(metric, options).map(|(histogram, ..)| histogram)
    }

    /// Retires the entry with this name and these labels. Viewers that have not seen it yet do not see it any more, and
    /// the next request for it creates a new one. Existing handles remain valid, but nobody else sees what they record.
    /// The memory is not freed.
    ///
    /// Errors: `InvalidArgument` if the entry does not exist; `Incompatible` if another thread owns it; otherwise as
    /// for [`Segment::histogram`].
    pub fn retire(&self, metric: &Metric<'_>) -> Result<()> {
        let names = checked_names(metric)?;
        let _lock = self.0.lock_directory()?;
        let Some((index, body)) = self.find(&names)? else {
            let name = metric.name;
            return Err(failure!(InvalidArgument, "{name}: there is nothing of that name"));
        };
        let is_single = body.kind == SegmentKind::Histogram as u32 && body.mode == mode::SINGLE_WRITER;
        if is_single && !is_owner(&body) {
            return Err(of_another_thread(metric.name));
        }
        // SAFETY: a published entry; the state is atomic.
        unsafe { &(*self.0.slot(index).as_ptr()).state }.store(state::FREED, Release);
        Ok(())
    }

    /// Bytes that a histogram takes in such a segment, in addition to its directory entry. Errors as for
    /// [`Segment::histogram`].
    pub fn estimate(options: &Options, of: &SegmentOptions<'_>) -> Result<u64> {
        let flags = format::flags(of.interlocked, of.live_reset);
        let (options, way) = check_options(options, flags)?;
        let plan = Plan::new(&options, way.mode(flags))?;
        Ok((plan.size as u64).next_multiple_of(PAGE))
    }

    fn find_or_make(&self, metric: &Metric<'_>, options: &Options) -> Result<(SharedHistogram, Body, bool)> {
        let names = checked_names(metric)?;
        let flags = self.0.header().flags;
        let (options, way) = check_options(options, flags)?;
        let layout = options.layout()?;
        let Plan { mode, size, image } = Plan::new(&options, way.mode(flags))?;
        let make = &|memory: NonNull<u8>| {
            // SAFETY: the memory is reserved, zeroed, of this size, and not yet published, so that nobody else uses it.
            // The functions that return a single-writer histogram state its rule.
            unsafe {
                match image {
                    Some(image) => image.init_at(memory, layout),
                    None => drop(SharedHistogram::init_in_unguarded(memory.as_ptr(), size, &options)?),
                }
            }
            Ok(())
        };
        let new = New { kind: SegmentKind::Histogram, mode, size: size as u64, make };
        let Some((found, is_new)) = self.entry(&names, metric, &new)? else {
            if way == Writers::One || names.name == OVERFLOW {
                return Err(self.full("directory", REMEDY));
            }
            let all = Metric { name: OVERFLOW, help: OVERFLOW_HELP, ..Metric::default() };
            // The overflow histogram accepts all values, whatever options were requested.
            return self.find_or_make(
                &all,
                &Options { relative_error: 0.01, max_trackable: u64::MAX, ..Options::default() },
            );
        };
        if !way.admits(found.mode) {
            return Err(incompatible(metric.name));
        }
        let memory = self.0.object(found.offset);
        // SAFETY: the image is in a mapping that stays, with this process's own table if it has one. For a
        // single-writer histogram, the caller promised to be the only writer.
        let histogram = unsafe {
            match found.mode {
                mode::PER_CPU => attach_per_cpu(memory, found.size as usize),
                _ => SharedHistogram::attach_unguarded(memory.as_ptr(), found.size as usize),
            }
        }?;
        if *histogram.layout() != layout {
            return Err(incompatible(metric.name));
        }
        if way == Writers::One && !is_owner(&found) {
            return Err(of_another_thread(metric.name));
        }
        self.0.populate(found.offset, found.size);
        Ok((histogram, found, is_new))
    }

    /// Finds the published entry with these names, and frees entries left half-built. The caller holds the lock.
    fn find(&self, names: &Names) -> Result<Option<(u32, Body)>> {
        let shape = self.shape()?;
        let (lengths, text) = format::pack(names).ok_or_else(too_long)?;
        // The help text does not distinguish entries.
        let [name, unit, help, labels] = lengths.map(usize::from);
        for index in 0..shape.entries {
            let slot = self.0.slot(index);
            // SAFETY: the state is atomic; the rest is only read after it was published, and does not change then.
            let state = unsafe { &(*slot.as_ptr()).state };
            match state.load(Acquire) {
                state::PUBLISHED => {}
                // Its builder must have died: this thread holds the lock now.
                state::BUILDING => {
                    state.store(state::FREED, Release);
                    continue;
                }
                _ => continue,
            }
            // SAFETY: as above.
            let body = unsafe { &(*slot.as_ptr()).body };
            let behind = usize::from(body.name) + usize::from(body.unit) + usize::from(body.help);
            let is_it = body.name as usize == name
                && body.labels as usize == labels
                && body.text.get(..name) == text.get(..name)
                && body.text.get(behind..behind + labels) == text.get(name + unit + help..);
            if is_it {
                check::place(body, &shape).map_err(|why| self.broken(index, why))?;
                return Ok(Some((index, *body)));
            }
        }
        Ok(None)
    }

    fn shape(&self) -> Result<Shape> {
        let entries = self.0.header().entries.load(Acquire);
        let shape = Shape { capacity: self.0.capacity, max_entries: self.0.max_entries, entries };
        if entries > self.0.max_entries {
            Err(self.broken(entries, "does not fit the directory"))
        } else {
            Ok(shape)
        }
    }

    fn broken(&self, index: u32, why: &str) -> ExplainedError {
        failure!(Corrupt, "{}: entry {index} {why}", printable(&self.0.path))
    }

    /// Returns the entry with these names, or a new one, and whether it is new. `None` if the directory is full; the
    /// last entry is reserved for [`OVERFLOW`].
    pub(super) fn entry(
        &self,
        names: &Names,
        metric: &Metric<'_>,
        new: &New<'_>,
    ) -> Result<Option<(Body, bool)>> {
        let lock = self.0.lock_directory()?;
        if let Some((_, body)) = self.find(names)? {
            if body.kind != new.kind as u32 {
                return Err(failure!(Incompatible, "{}: there is something else of that name", metric.name));
            }
            self.have_table(&body)?;
            return Ok(Some((body, false)));
        }
        let New { kind, mode, size, make } = *new;
        let index = self.shape()?.entries;
        let left = self.0.max_entries.saturating_sub(index);
        if left == 0 || left == 1 && names.name != OVERFLOW {
            self.0.header().refused.fetch_add(1, Relaxed);
            return Ok(None);
        }
        let offset = self.room(&lock, index, size)?;
        let (lengths, text) = format::pack(names).ok_or_else(too_long)?;
        let mut body = Body {
            kind: kind as u32,
            reserved: 0,
            offset,
            size,
            divisor: if metric.divisor > 0.0 && metric.divisor.is_finite() { metric.divisor } else { 1.0 },
            created_unix_nanos: if metric.created_unix_nanos == 0 {
                unix_nanos()
            } else {
                metric.created_unix_nanos
            },
            mode,
            owner_pid: 0,
            owner_start_time: 0,
            owner_thread: 0,
            name: lengths[0],
            unit: lengths[1],
            help: lengths[2],
            labels: lengths[3],
            text: [0; format::TEXT],
        };
        body.text[..text.len()].copy_from_slice(&text);
        if mode == mode::SINGLE_WRITER {
            (body.owner_pid, body.owner_start_time, body.owner_thread) = caller();
        }
        let header = self.0.header();
        let slot = self.0.slot(index).as_ptr();
        // A writer that dies from here on leaves an entry that the next one frees, and memory that stays unused.
        // SAFETY: the entry is reserved and belongs to the holder of the lock; others only read its state, which is
        // atomic.
        unsafe { &(*slot).state }.store(state::BUILDING, Relaxed);
        header.used.store((offset + size).next_multiple_of(PAGE), Relaxed);
        header.entries.store(index + 1, Release);
        // SAFETY: as above.
        unsafe { (&raw mut (*slot).body).write(body) };
        self.0.populate(offset, size);
        make(self.0.object(offset))?;
        // Whoever sees the entry published also sees everything above.
        // SAFETY: as above.
        unsafe { &(*slot).state }.store(state::PUBLISHED, Release);
        self.have_table(&body)?;
        Ok(Some((body, true)))
    }

    /// Gives a per-CPU histogram this process's own table if it has none. The caller holds the lock to exclude others.
    fn have_table(&self, body: &Body) -> Result<()> {
        if body.kind != SegmentKind::Histogram as u32 || body.mode != mode::PER_CPU {
            return Ok(());
        }
        let memory = self.0.object(body.offset);
        // SAFETY: an object is at least one page; this reads the memory to check as numbers.
        let header = unsafe {
            core::slice::from_raw_parts(
                memory.add(PerCpuImage::HEADER).cast::<u64>().as_ptr(),
                PerCpuImage::HEADER_SIZE / 8,
            )
        };
        let image = PerCpuImage::from_copy(header)?;
        if image.size() as u64 != body.size {
            return Err(failure!(Corrupt, "{}: has a broken histogram", printable(&self.0.path)));
        }
        // SAFETY: the first pointer lies inside the object, is aligned, and belongs to the holder of the lock.
        let first = unsafe { memory.add(PerCpuImage::TABLE).cast::<*const u8>().read_volatile() };
        // In the file itself it is null. A forked child has its parent's pages, with the mapping at the same address.
        if image.shards() == 0 || first.addr() == memory.addr().get() + image.shard(0) {
            return Ok(());
        }
        // SAFETY: the table consists of whole pages inside the object, and is filled with pointers of this process.
        unsafe {
            self.0.have_own_pages(body.offset + PerCpuImage::TABLE as u64, image.table_size(), &|table| {
                image.fill_table(table, memory);
            })
        }
    }

    /// Reserves space for an object of this size and for its entry. Returns the offset of the object.
    fn room(&self, lock: &DirectoryLock, index: u32, size: u64) -> Result<u64> {
        let header = self.0.header();
        let end_of_directory = format::directory_end(self.0.max_entries);
        let offset = header.used.load(Acquire).max(end_of_directory).checked_next_multiple_of(PAGE);
        let end = offset.and_then(|offset| offset.checked_add(size));
        let (Some(offset), Some(end)) = (offset, end) else { return Err(self.broken(index, "has no place")) };
        if end > self.0.capacity {
            header.refused.fetch_add(1, Relaxed);
            return Err(self.full("segment", "make it with a larger max_bytes"));
        }
        limits::check(size + PAGE)?;
        let of_entry = u64::from(HEADER_SIZE) + u64::from(index) * u64::from(format::ENTRY_SIZE);
        for (start, length) in [(of_entry / PAGE * PAGE, PAGE), (offset, size.next_multiple_of(PAGE))] {
            file::reserve(&lock.0, start, length).map_err(|error| {
                header.refused.fetch_add(1, Relaxed);
                file::error(&self.0.path, "the file system has no room for another histogram", error)
            })?;
        }
        Ok(offset)
    }

    pub(super) fn full(&self, what: &str, remedy: &str) -> ExplainedError {
        failure!(OutOfMemory, "{}: the {what} is full; {remedy}", printable(&self.0.path))
    }
}

/// Identifies the caller: process, its start time, thread.
fn caller() -> (u32, u64, u32) {
    (std::process::id(), file::start_time("self"), kernel_id() as u32)
}

fn is_owner(body: &Body) -> bool {
    (body.owner_pid, body.owner_start_time, body.owner_thread) == caller()
}

/// Describes an entry to create.
pub(super) struct New<'a> {
    pub(super) kind: SegmentKind,
    pub(super) mode: u32,
    pub(super) size: u64,
    pub(super) make: &'a dyn Fn(NonNull<u8>) -> Result<()>,
}

/// How a new histogram is laid out in the segment.
struct Plan {
    mode: u32,
    size: usize,
    image: Option<PerCpuImage>,
}

impl Plan {
    fn new(options: &Options, mode: u32) -> Result<Plan> {
        let layout = options.layout()?;
        let mut image = None;
        let size = if mode == mode::PER_CPU {
            let shards = if PerCpuImage::HAS_SHARDS { possible_cpus() } else { 0 };
            image.insert(PerCpuImage::new(&layout, shards)?).size()
        } else {
            SharedHistogram::required_size(options)?
        };
        if size as u64 > format::MOST_OBJECT {
            return Err(failure!(
                InvalidArgument,
                "a histogram in a segment takes {} MiB at most, and this one {}: give it a smaller range or a larger error",
                format::MOST_OBJECT >> 20,
                size >> 20
            ));
        }
        Ok(Plan { mode, size, image })
    }
}

fn incompatible(name: &str) -> ExplainedError {
    failure!(Incompatible, "{name}: there is a histogram of that name with another range, error or mode")
}

fn of_another_thread(name: &str) -> ExplainedError {
    failure!(
        Incompatible,
        "{name}: is the histogram of another thread; give each its own label, or use the default mode"
    )
}

pub(crate) fn too_long() -> ExplainedError {
    failure!(
        InvalidArgument,
        "name, unit, help and labels of a histogram in a segment have {} bytes together",
        format::TEXT
    )
}

/// Checks a metric and returns the names of its entry.
pub(crate) fn checked_names(metric: &Metric<'_>) -> Result<Names> {
    let refuse = |why: &str| Err(failure!(InvalidArgument, "{why}"));
    let mut labels: Vec<(String, String)> = Vec::new();
    if metric.labels.len() > format::MOST_LABELS {
        return refuse("there are 32 labels at most");
    }
    for (name, value) in metric.labels {
        if name.is_empty() {
            return refuse("a label has no name");
        }
        labels.push(((*name).to_owned(), (*value).to_owned()));
    }
    labels.sort_unstable();
    if labels.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return refuse("a label is given twice");
    }
    if metric.name.is_empty() {
        return refuse("a histogram in a segment has a name");
    }
    let texts = labels.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    if texts.chain([metric.name, metric.unit, metric.help]).any(|text| text.chars().any(format::is_control)) {
        return refuse(
            "names, units, help and labels have neither control characters nor such as turn the direction of writing",
        );
    }
    Ok(Names { name: metric.name.into(), unit: metric.unit.into(), help: metric.help.into(), labels })
}

/// Who writes a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writers {
    /// Any thread of any process, in the best way for this machine: the default.
    Anyone,
    /// Any thread of any process, into shards.
    PerCpu,
    /// One thread.
    One,
}

/// By default, histograms have shards on machines with at most this many CPUs. Their memory and the time to read them
/// grow with the number of CPUs.
const FEW: usize = 8;

impl Writers {
    /// The mode of a new histogram in a segment with these flags.
    pub(crate) fn mode(self, flags: u32) -> u32 {
        match self {
            Writers::Anyone if flags != 0 => mode::INTERLOCKED,
            Writers::Anyone if has_restartable_sequences() && possible_cpus() <= FEW => mode::PER_CPU,
            Writers::Anyone => mode::INTERLOCKED,
            Writers::PerCpu => mode::PER_CPU,
            Writers::One => mode::SINGLE_WRITER,
        }
    }

    /// Whether an existing histogram of this mode can be used.
    pub(crate) fn admits(self, mode: u32) -> bool {
        match self {
            Writers::Anyone => mode != mode::SINGLE_WRITER,
            Writers::PerCpu => mode == mode::PER_CPU,
            Writers::One => mode == mode::SINGLE_WRITER,
        }
    }
}

/// The largest number of CPUs that this machine may have.
pub(crate) fn possible_cpus() -> usize {
    // SAFETY: a query.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(configured).unwrap_or(1).clamp(1, 1 << 16)
}

/// Checks options for a segment with these flags. Returns the effective options and who writes.
pub(crate) fn check_options(options: &Options, flags: u32) -> Result<(Options, Writers)> {
    let refuse = |what: &str| {
        Err(failure!(Unsupported, "{what} cannot lie in a segment; use the default mode, or per-CPU"))
    };
    let way = match options.mode {
        Mode::Interlocked => Writers::Anyone,
        Mode::SingleWriter => Writers::One,
        Mode::PerCpu => Writers::PerCpu,
        Mode::ThreadLocal => return refuse("a thread-local histogram"),
    };
    if options.storage == Storage::Sparse {
        return Err(failure!(
            Unsupported,
            "a sparse histogram cannot lie in a segment; use dense storage with a smaller range or a larger error"
        ));
    }
    if !matches!(options.counter_bits, 0 | 64) {
        return Err(failure!(Unsupported, "counters in a segment have 64 bits; leave counter_bits 0"));
    }
    let no_live_reset = options.no_live_reset || flags & format::LIVE_RESET == 0;
    let mut options = Options { no_live_reset, counter_bits: 64, ..*options };
    if options.relative_error == 0.0 && options.significant_digits == 0 {
        options.relative_error = 0.01;
    }
    if options.min_trackable == 0 && options.max_trackable == 0 {
        (options.min_trackable, options.max_trackable) = (1, 3_600_000_000_000);
    }
    Ok((options, way))
}

impl Segment {
    /// Returns the counter with this name and these labels, or creates it at zero. Errors as for
    /// [`Segment::histogram`].
    pub fn counter(&self, metric: &Metric<'_>) -> Result<MetricCounter> {
        // SAFETY: the counter has this mode, and lies at the beginning of a page, in a mapping that stays.
        unsafe { Ok(counter_at(self.counter_at(metric, mode::ONE_WORD)?)) }
    }

    /// Returns the striped counter with this name and these labels, or creates it at zero. It has sixteen words in 1
    /// KB. The CPU selects the word, so that neither threads nor forked workers wait for each other; reading adds them
    /// up. Errors as for [`Segment::histogram`], and `Incompatible` if a counter of one word exists.
    pub fn striped_counter(&self, metric: &Metric<'_>) -> Result<SharedStripedCounter> {
        // SAFETY: as above.
        unsafe { Ok(striped_counter_at(self.counter_at(metric, mode::STRIPED)?)) }
    }

    /// Returns the address of the counter with these names and this mode.
    fn counter_at(&self, metric: &Metric<'_>, mode: u32) -> Result<NonNull<u8>> {
        let names = checked_names(metric)?;
        // New memory is zero, and so is a new counter.
        let make = &|_| Ok(());
        let size = format::COUNTER_SIZES[mode as usize];
        let found = self.entry(&names, metric, &New { kind: SegmentKind::Counter, mode, size, make })?;
        let (found, _) = found.ok_or_else(|| self.full("directory", REMEDY))?;
        if found.mode != mode {
            let name = metric.name;
            let (there, asked) =
                if mode == mode::STRIPED { ("one word", "striped") } else { ("many words", "plain") };
            return Err(failure!(
                Incompatible,
                "{name}: there is a counter of {there} of that name; a {asked} one needs another name or label"
            ));
        }
        Ok(self.0.object(found.offset))
    }
}
