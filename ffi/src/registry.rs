//! Registries: histograms, counters and gauges with names and labels, written for Prometheus, OpenTelemetry and their like.
//!
//!     picollo_registry *registry;
//!     const picollo_label labels[] = {{"method", "GET"}};
//!     const uint64_t bounds[] = {1000000, 10000000, 100000000};      (nanoseconds, as recorded)
//!     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
//!     metric.name = "request_seconds";
//!     metric.unit = "seconds";
//!     metric.divisor = 1e9;
//!     metric.labels = labels;
//!     metric.labels_length = 1;
//!     picollo_registry_create(&registry);
//!     picollo_registry_add(registry, latency, &metric, bounds, 3, NULL);
//!     for each scrape:
//!         picollo_registry_update(registry);
//!         picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, bytes, sizeof bytes, &length);
//!         send(bytes, length)
//!
//! An observation is counted in the buckets whose bound is at or above the midpoint of its own bucket. So counts are exact
//! for bounds at which a bucket of the histogram ends, as those one below a power of two are, and otherwise off by those
//! observations alone that lie within the relative error of the bound. What was out of range is taken as just outside of
//! it, and what was above it is counted at +Inf alone. Lost and not finite observations are told by counters beside the
//! histogram, _lost and _not_finite, where there are any.

use core::ffi::{CStr, c_char, c_void};
use core::fmt::Write;

use picollo_core::{Exposition, Lock, Metric, Registry, negotiate};

use crate::argument::{input, output, output_if_any, room, slice, text};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::handles::{picollo_double_histogram, picollo_histogram, picollo_registry};
use crate::memory;
use crate::options;
use crate::status::picollo_status;
use crate::text::write_text;

/// OpenMetrics text, application/openmetrics-text; version=1.0.0; charset=utf-8.
pub const PICOLLO_EXPOSITION_OPENMETRICS: u32 = 0;
/// Prometheus' text, text/plain; version=0.0.4; charset=utf-8.
pub const PICOLLO_EXPOSITION_PROMETHEUS_TEXT: u32 = 1;
/// Prometheus' Protocol Buffers, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
/// encoding=delimited. Native histograms, where PICOLLO_METRIC_NATIVE asks for them, are in no other.
pub const PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF: u32 = 2;
/// OpenTelemetry's protocol, OTLP, application/x-protobuf: an ExportMetricsServiceRequest with cumulative counts and
/// exponential histograms.
pub const PICOLLO_EXPOSITION_OTLP: u32 = 3;

const _: () = assert!(
    PICOLLO_EXPOSITION_OPENMETRICS == Exposition::OpenMetrics as u32
        && PICOLLO_EXPOSITION_PROMETHEUS_TEXT == Exposition::PrometheusText as u32
        && PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF == Exposition::PrometheusProtobuf as u32
        && PICOLLO_EXPOSITION_OTLP == Exposition::Otlp as u32
);

/// Do not tell since when there are counts: no _created.
pub const PICOLLO_METRIC_NO_CREATED: u32 = 1 << 0;
/// Prometheus is to have a native histogram, of exponential buckets, in its Protocol Buffers. Servers that read these then
/// drop the buckets at bounds, with whatever is built on them, unless they are told to keep both.
pub const PICOLLO_METRIC_NATIVE: u32 = 1 << 1;
/// Write the counts since the histogram's last reset rather than since it was made. To collectors each reset is a restart.
pub const PICOLLO_METRIC_SINCE_RESET: u32 = 1 << 2;
/// Prometheus is to have a summary: the quantiles 0.5, 0.9, 0.99 and 0.999 of all that is counted, instead of buckets. OTLP has
/// exponential buckets nevertheless. A label quantile is refused then.
pub const PICOLLO_METRIC_SUMMARY: u32 = 1 << 3;
/// The counter has sixteen words. An addition goes to one of them, which the CPU chooses in a segment and where threads are
/// registered for restartable sequences, and otherwise the thread's stack. So threads seldom wait for each other. It takes
/// 1 KB. A read adds up the words. Histograms and gauges ignore this flag.
pub const PICOLLO_METRIC_STRIPED: u32 = 1 << 4;

/// A name and a value that tell histograms of one name apart. The name is letters, digits and underscores, with neither
/// a digit nor two underscores first, and is not le; the value is any UTF-8.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_label {
    /// Its name; NUL-terminated.
    pub name: *const c_char,
    /// Its value; NUL-terminated.
    pub value: *const c_char,
}

/// What a histogram is known as; only the name must be set. Strings are NUL-terminated UTF-8, NULL is the same as "", and all of it is copied.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_metric_options {
    pub struct_size: u32,
    /// PICOLLO_METRIC_... or 0.
    pub flags: u32,
    /// Values and bounds are divided by this before they are written: 1e9 for nanoseconds that are to be seconds. 0: 1.
    pub divisor: f64,
    /// Number of labels.
    pub labels_length: u64,
    /// Since when there are counts, in nanoseconds since 1970. 0: now.
    pub created_unix_nanos: u64,
    /// Letters, digits, underscores and colons, and no digit first: request_seconds. Dots, hyphens and slashes are
    /// OpenTelemetry's; Prometheus sees underscores for them. Several metrics of one kind may have one name, with different
    /// labels.
    pub name: *const c_char,
    /// What it means, for people; the same for all of one name.
    pub help: *const c_char,
    /// Such as seconds, which the name has to end with, after an underscore; the same for all of one name.
    pub unit: *const c_char,
    /// The labels, in any order.
    pub labels: *const picollo_label,
    /// How many exponential buckets may have counts; where there are more, they become coarser. 0: 320; UINT32_MAX: any number.
    pub max_buckets: u32,
    pub reserved: u32,
}

// SAFETY: numbers and pointers, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_metric_options {
    const FIRST_SIZE: usize = 32 + 4 * size_of::<*const u8>();
}

type Shared = Lock<Registry>;

/// Works on the registry behind a handle, alone.
///
/// # Safety
/// If not NULL, `registry` must be a handle that is not freed meanwhile.
pub unsafe fn with<T>(
    registry: *const picollo_registry,
    work: impl FnOnce(&mut Registry) -> Outcome<T>,
) -> Outcome<T> {
    // SAFETY: a handle leads to this; the rest is passed on.
    let shared: &Shared = unsafe { input(registry.cast())? };
    shared.with(work).unwrap_or(Err(Failure::FORKED))
}

/// Hands out what the caller says about a histogram.
///
/// # Safety
/// As for [`options::read`]; strings and labels must be there for the time of the call.
pub unsafe fn with_metric<T>(
    options: *const picollo_metric_options,
    use_it: impl FnOnce(&Metric) -> Outcome<T>,
) -> Outcome<T> {
    let asked = options::read(options)?.ok_or(Failure::NULL_POINTER)?;
    const FLAGS: u32 = PICOLLO_METRIC_NO_CREATED
        | PICOLLO_METRIC_NATIVE
        | PICOLLO_METRIC_SINCE_RESET
        | PICOLLO_METRIC_SUMMARY
        | PICOLLO_METRIC_STRIPED;
    if asked.flags & !FLAGS != 0 || asked.reserved != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    let length = usize::try_from(asked.labels_length).map_err(|_| Failure::INVALID_ARGUMENT)?;
    let labels = labels_of(asked.labels, length)?;
    let created_unix_nanos = match (asked.flags & PICOLLO_METRIC_NO_CREATED, asked.created_unix_nanos) {
        (0, 0) => picollo_native::unix_nanos(),
        (0, since) => since,
        _ => 0,
    };
    use_it(&Metric {
        name: text(asked.name)?,
        help: text(asked.help)?,
        unit: text(asked.unit)?,
        labels: &labels,
        divisor: asked.divisor,
        created_unix_nanos,
        native: asked.flags & PICOLLO_METRIC_NATIVE != 0,
        max_buckets: asked.max_buckets,
        summary: asked.flags & PICOLLO_METRIC_SUMMARY != 0,
        since_reset: asked.flags & PICOLLO_METRIC_SINCE_RESET != 0,
    })
}

/// Whether a counter is to have many words.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn is_striped(options: *const picollo_metric_options) -> bool {
    let asked = options::read(options);
    matches!(asked, Ok(Some(asked)) if asked.flags & PICOLLO_METRIC_STRIPED != 0)
}

/// Names and values.
///
/// # Safety
/// `labels` must be valid for reads of `length` labels, whose texts end in NUL; all of it must be there as long as the result.
pub unsafe fn labels_of<'a>(labels: *const picollo_label, length: usize) -> Outcome<Vec<(&'a str, &'a str)>> {
    let mut pairs = Vec::new();
    let given = slice(labels, length)?;
    pairs.try_reserve_exact(length).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for label in given {
        pairs.push((text(label.name)?, text(label.value)?));
    }
    Ok(pairs)
}

exported! {
/// Makes a registry of nothing.
///
/// Cost: an allocation.
fn picollo_registry_create(out: *mut *mut picollo_registry) -> picollo_status {
    output(out)?.tell(memory::create(Lock::new(Registry::new()))?.as_ptr().cast())
}
}

/// Frees a registry, and gives back its references to histograms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_registry_free(registry: *mut picollo_registry) {
    // SAFETY: a handle leads to this, which the caller gives up.
    guard_void(|| unsafe {
        let registry = registry.cast::<Shared>();
        // What a thread of the parent process was at work on is left alone.
        if registry.as_ref().is_some_and(|shared| shared.with(|_| ()).is_some()) {
            memory::destroy(registry);
        }
    });
}

exported! {
/// Adds a histogram. Until the next update it is written as empty.
///
/// Requires: bounds leads to length values, ascending, up to 500: the largest values of the buckets, as recorded.
///   With a length of 0 there are those one below each power of four in the histogram's range, which are exact.
///   out_id is for picollo_registry_remove, or NULL.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for names, labels, units, bounds or a divisor that are not as
///   picollo_metric_options says, or not UTF-8; where there is one of this name and these labels already; where kind,
///   help or unit differ from those of the same name; and for a name that is written for another, as x_count is
///   beside x and a_b is for a.b. Nothing has changed then.
/// Ownership: the registry holds a reference to the histogram, until it is removed or the registry freed.
/// Cost: allocates copies of what it is given.
fn picollo_registry_add(
    registry: *mut picollo_registry,
    histogram: *const picollo_histogram,
    metric: *const picollo_metric_options,
    bounds: *const u64,
    length: usize,
    out_id: *mut u64,
) -> picollo_status {
    let (histogram, out_id) = (borrow(histogram)?, output_if_any(out_id)?);
    let bounds = slice(bounds, length)?;
    let add =
        |metric: &Metric| with(registry, |registry| Ok(registry.add(&*histogram, metric, bounds)?));
    out_id.set(with_metric(metric, add)?);
    Ok(())
}

/// Adds a histogram of doubles, of which updates look at the counts since its last collection: to collect it otherwise
/// starts the metric anew.
///
/// Requires: as picollo_registry_add; without bounds there are those of each power of ten from 1e-6 to 1e6. With
///   negative bounds or values there is no _count and _sum, as the standard has it.
/// Otherwise: as picollo_registry_add.
fn picollo_registry_add_double(
    registry: *mut picollo_registry,
    histogram: *const picollo_double_histogram,
    metric: *const picollo_metric_options,
    bounds: *const f64,
    length: usize,
    out_id: *mut u64,
) -> picollo_status {
    let (histogram, out_id) = (borrow(histogram)?, output_if_any(out_id)?);
    let bounds = slice(bounds, length)?;
    let add =
        |metric: &Metric| with(registry, |registry| Ok(registry.add_double(&histogram, metric, bounds)?));
    out_id.set(with_metric(metric, add)?);
    Ok(())
}

/// Takes a histogram out.
///
/// Requires: id is one that picollo_registry_add or picollo_registry_add_double told.
/// Cost: looks through the registry.
fn picollo_registry_remove(registry: *mut picollo_registry, id: u64) -> picollo_status {
    with(registry, |registry| if registry.remove(id) { Ok(()) } else { Err(Failure::INVALID_ARGUMENT) })
}

/// Takes the counts of all metrics, while others record and reset: of histograms since they were made, so that no reset
/// reaches a collector (but see PICOLLO_METRIC_SINCE_RESET). Each is of one moment; they are read one after the other. Where
/// counts went down nevertheless, because a histogram of doubles was collected, the metric is written as created at the
/// update before.
///
/// Returns: PICOLLO_ERR_BUSY, as picollo_snapshot_update, and PICOLLO_ERR_OUT_OF_MEMORY, when that was so for one of
///   them: it keeps what was taken before, and the others are taken nevertheless.
/// Threads: any thread; other calls with this registry wait for it.
/// Cost: two passes over all counters; the first time, allocates 16 bytes a counter for each layout.
fn picollo_registry_update(registry: *mut picollo_registry) -> picollo_status {
    with(registry, |registry| Ok(registry.update(picollo_native::unix_nanos())?))
}

/// Writes what the last update has taken in a format of expositions. There is no NUL at the end, also of those that are
/// text.
///
/// Requires: format is PICOLLO_EXPOSITION_.... Between asking for the length and writing there must be neither an
///   update nor another metric, or the length may differ.
/// Cost: less than a microsecond for each bucket.
fn picollo_registry_encode(
    registry: *const picollo_registry,
    format: u32,
    buffer: *mut c_void,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (buffer, out_length) = (room(buffer.cast::<u8>(), capacity)?, output(out_length)?);
    let format = Exposition::try_from(format)?;
    let length = with(registry, |registry| Ok(registry.encode_into_room(format, buffer)))?;
    out_length.set(length);
    if length > capacity { Err(Failure::BUFFER_TOO_SMALL) } else { Ok(()) }
}

/// Finds the format for a request by its header Accept, and the Content-Type of the answer. Of what the header has, that
/// with the largest q is taken, and of several the first; where it has nothing of ours, it is Prometheus' text. OTLP is never
/// the answer: it is sent, not scraped.
///
/// Requires: accept is NUL-terminated, of any bytes, or NULL for a request without. A capacity of 128 is enough.
/// Cost: some nanoseconds a byte.
fn picollo_registry_negotiate(
    accept: *const c_char,
    out_format: *mut u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let out_format = output(out_format)?;
    let accept = if accept.is_null() { &[] } else { CStr::from_ptr(accept).to_bytes() };
    let negotiated = negotiate(accept);
    let write = |out: &mut dyn Write| out.write_str(negotiated.content_type);
    write_text(buffer, capacity, out_length, &write)?;
    out_format.tell(negotiated.format as u32)
}
}
