//! Registries: histograms, counters and gauges with names and labels, for Prometheus, OpenTelemetry and similar
//! systems.
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
//!     for each scrape, if no picollo_server answers them:
//!         picollo_registry_update(registry);
//!         picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, bytes, sizeof bytes, &length);
//!         send(bytes, length)
//!
//! An observation belongs to a bound if the midpoint of its histogram bucket is at or below the bound. So counts are
//! exact for bounds at which a histogram bucket ends, such as those one below a power of two. Otherwise only
//! observations within the relative error of the bound may be on the wrong side. Values below the range count as just
//! below it. Values above the range count only at +Inf. Lost and not finite observations, if there are any, have
//! separate counters, _lost and _not_finite.

use core::ffi::{CStr, c_char, c_void};
use core::fmt::Write;
use core::ptr::NonNull;

use picollo_core::counters::Metric;
use picollo_core::seam::{self, Lock};
use picollo_export::{Exposition, MetricError, Registry, negotiate};

use crate::argument::{output, output_if_any, room, slice, text};
use crate::counted::{self, Counted, borrow};
use crate::double_histogram::picollo_double_histogram;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void};
use crate::histogram::picollo_histogram;
use crate::options;
use crate::status::{picollo_error, picollo_status};
use crate::text::write_text;

/// Histograms, counters and gauges with names and labels. The child of a fork can use it, unless another thread of
/// the parent was inside a call on it, or its server was answering. In that case all calls except
/// picollo_registry_free return PICOLLO_ERR_FORKED from then on.
pub struct picollo_registry(());

/// OpenMetrics text, application/openmetrics-text; version=1.0.0; charset=utf-8.
#[allow(dead_code)] // for C
pub const PICOLLO_EXPOSITION_OPENMETRICS: u32 = Exposition::OpenMetrics as u32;
/// Prometheus' text, text/plain; version=0.0.4; charset=utf-8.
#[allow(dead_code)] // for C
pub const PICOLLO_EXPOSITION_PROMETHEUS_TEXT: u32 = Exposition::PrometheusText as u32;
/// Prometheus' Protocol Buffers, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;
/// encoding=delimited. Only this format has native histograms (PICOLLO_METRIC_NATIVE).
#[allow(dead_code)] // for C
pub const PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF: u32 = Exposition::PrometheusProtobuf as u32;
/// OpenTelemetry's protocol, OTLP, application/x-protobuf: an ExportMetricsServiceRequest with cumulative counts and
/// exponential histograms.
#[allow(dead_code)] // for C
pub const PICOLLO_EXPOSITION_OTLP: u32 = Exposition::Otlp as u32;

/// Omit the time at which counting began: no _created.
pub const PICOLLO_METRIC_NO_CREATED: u32 = 1 << 0;
/// Give Prometheus a native histogram, of exponential buckets, in its Protocol Buffers. A server that reads these
/// then drops the buckets at bounds, with everything built on them, unless it is configured to keep both.
pub const PICOLLO_METRIC_NATIVE: u32 = 1 << 1;
/// Write the counts since the histogram's last reset instead of all counts. Collectors see each reset as a restart.
pub const PICOLLO_METRIC_SINCE_RESET: u32 = 1 << 2;
/// Give Prometheus a summary instead of buckets: the quantiles 0.5, 0.9, 0.99 and 0.999 of all counts. OTLP still has
/// exponential buckets. A label named quantile is refused.
pub const PICOLLO_METRIC_SUMMARY: u32 = 1 << 3;
/// The counter has sixteen words and takes 1 KB. An addition goes to one of them, so threads seldom wait for each
/// other. The CPU chooses the word in a segment and if threads are registered for restartable sequences, and
/// otherwise the thread's stack. A read adds up the words. Histograms and gauges ignore this flag.
pub const PICOLLO_METRIC_STRIPED: u32 = 1 << 4;

/// A name and a value that distinguish metrics with the same name. The name consists of letters, digits and
/// underscores. It begins with neither a digit nor two underscores, and is not le. The value is any UTF-8.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_label {
    /// Its name; NUL-terminated.
    pub name: *const c_char,
    /// Its value; NUL-terminated.
    pub value: *const c_char,
}

/// The description of a metric; only the name must be set. Strings are NUL-terminated UTF-8, and NULL means "".
/// Everything is copied.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_metric_options {
    pub struct_size: u32,
    /// PICOLLO_METRIC_... or 0.
    pub flags: u32,
    /// Values and bounds are divided by this before they are written: 1e9 converts nanoseconds to seconds. 0: 1.
    pub divisor: f64,
    /// Number of labels.
    pub labels_length: u64,
    /// Time at which counting began, in nanoseconds since 1970. 0: now.
    pub created_unix_nanos: u64,
    /// Letters, digits, underscores and colons; not a digit first: request_seconds. Dots, hyphens and slashes are for
    /// OpenTelemetry; Prometheus sees underscores instead. Metrics of one kind may share a name, with different
    /// labels.
    pub name: *const c_char,
    /// The meaning, for people; the same for all metrics of one name.
    pub help: *const c_char,
    /// Such as seconds; the name must end with it, after an underscore. The same for all metrics of one name.
    pub unit: *const c_char,
    /// The labels, in any order.
    pub labels: *const picollo_label,
    /// Largest number of exponential buckets with counts; more become coarser. 0: 320; UINT32_MAX: any number.
    pub max_buckets: u32,
    pub reserved: u32,
}

// SAFETY: numbers and pointers, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_metric_options {
    const FIRST_SIZE: usize = 32 + 4 * size_of::<*const u8>();
}

/// What a handle leads to. Servers have references, too.
type Shared = seam::Counted<Lock<Registry>>;

impl Counted for picollo_registry {
    type Reference = Shared;

    unsafe fn reference(handle: NonNull<Self>) -> Shared {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { Shared::from_raw(handle.cast()) }
    }
}

/// Calls `work` with exclusive access to the registry behind a handle.
///
/// # Safety If not NULL, `registry` must be a handle that is not freed meanwhile.
pub unsafe fn with<T, E: From<Failure>>(
    registry: *const picollo_registry,
    work: impl FnOnce(&mut Registry) -> Result<T, E>,
) -> Result<T, E> {
    // SAFETY: passed on.
    let shared = unsafe { borrow(registry)? };
    shared.with(work).unwrap_or_else(|| Err(Failure::FORKED.into()))
}

/// Why a registry refused a metric or an exemplar.
pub fn explain(error: MetricError) -> picollo_error {
    picollo_error::new(error.error().into(), format_args!("{error}"))
}

/// Calls `work` with the caller's description of a metric.
///
/// # Safety As for [`options::read`]; strings and labels must be valid during the call.
pub unsafe fn with_metric<T, E: From<Failure>>(
    options: *const picollo_metric_options,
    work: impl FnOnce(&Metric) -> Result<T, E>,
) -> Result<T, E> {
    let asked = options::read(options)?.ok_or(Failure::NULL_POINTER)?;
    const FLAGS: u32 = PICOLLO_METRIC_NO_CREATED
        | PICOLLO_METRIC_NATIVE
        | PICOLLO_METRIC_SINCE_RESET
        | PICOLLO_METRIC_SUMMARY
        | PICOLLO_METRIC_STRIPED;
    if asked.flags & !FLAGS != 0 || asked.reserved != 0 {
        return Err(Failure::UNSUPPORTED.into());
    }
    let length = usize::try_from(asked.labels_length).map_err(|_| Failure::INVALID_ARGUMENT)?;
    let labels = read_labels(asked.labels, length)?;
    let created_unix_nanos = match (asked.flags & PICOLLO_METRIC_NO_CREATED, asked.created_unix_nanos) {
        (0, 0) => picollo_native::unix_nanos(),
        (0, since) => since,
        _ => 0,
    };
    work(&Metric {
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

/// Returns whether a counter is to have many words.
///
/// # Safety As for [`options::read`].
pub unsafe fn is_striped(options: *const picollo_metric_options) -> bool {
    let asked = options::read(options);
    matches!(asked, Ok(Some(asked)) if asked.flags & PICOLLO_METRIC_STRIPED != 0)
}

/// Names and values.
///
/// # Safety
/// `labels` must be valid for reads of `length` labels, whose texts end in NUL; all of it must be there as long as the result.
pub unsafe fn read_labels<'a>(
    labels: *const picollo_label,
    length: usize,
) -> Outcome<Vec<(&'a str, &'a str)>> {
    let mut pairs = Vec::new();
    let given = slice(labels, length)?;
    pairs.try_reserve_exact(length).map_err(|_| Failure::OUT_OF_MEMORY)?;
    for label in given {
        pairs.push((text(label.name)?, text(label.value)?));
    }
    Ok(pairs)
}

exported! {
/// Makes an empty registry.
///
/// Cost: an allocation.
fn picollo_registry_create(out: *mut *mut picollo_registry) -> picollo_status {
    output(out)?.deliver(Shared::create(Lock::new(Registry::new()))?.into_raw().as_ptr().cast())
}
}

/// Frees a registry, and gives back its references to histograms. If a server uses it, this happens when that stops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_registry_free(registry: *mut picollo_registry) {
    guard_void(|| {
        // A registry that a thread of the parent process was changing is left alone.
        // SAFETY: NULL, or a handle that the caller gives up.
        if unsafe { with(registry, |_| Outcome::Ok(())) }.is_ok() {
            // SAFETY: as above.
            unsafe { counted::free(registry) };
        }
    });
}

exported! { explained(error)
/// Adds a histogram. It is written as empty until the next update.
///
/// Requires: bounds leads to up to 500 ascending values, as recorded: the largest values of the buckets. With a
///   length of 0 they are one below each power of four in the histogram's range, which are exact. out_id is for
///   picollo_registry_remove.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT, with nothing changed, if a name, label, unit, bound or the divisor violates
///   picollo_metric_options; if the name exists with the same labels; if kind, help or unit differ from those of the
///   same name; and if the written name belongs to another metric, as x_count beside x, or a_b beside a.b. error names
///   the argument, the rule and the value.
/// Ownership: the registry holds a reference to the histogram until you remove the histogram or free the registry.
/// Cost: allocates copies of its arguments.
fn picollo_registry_add(
    registry: *mut picollo_registry,
    histogram: *const picollo_histogram,
    metric: *const picollo_metric_options,
    bounds: *const u64,
    length: usize,
    out_id: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    let (histogram, bounds, out_id) = (borrow(histogram)?, slice(bounds, length)?, output_if_any(out_id)?);
    let add = |metric: &Metric| with(registry, |registry| registry.add(&*histogram, metric, bounds).map_err(explain));
    out_id.set(with_metric(metric, add)?);
    Ok(())
}

/// Adds a histogram of doubles. Updates look at the counts since its last collection. Collecting it elsewhere
/// restarts the metric.
///
/// Requires: as picollo_registry_add; the default bounds are the powers of ten from 1e-6 to 1e6. With negative bounds
///   or values there is no _count and _sum, as the standard demands.
/// Otherwise: as picollo_registry_add.
fn picollo_registry_add_double(
    registry: *mut picollo_registry,
    histogram: *const picollo_double_histogram,
    metric: *const picollo_metric_options,
    bounds: *const f64,
    length: usize,
    out_id: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    let (histogram, bounds, out_id) = (borrow(histogram)?, slice(bounds, length)?, output_if_any(out_id)?);
    let add =
        |metric: &Metric| with(registry, |registry| registry.add_double(&histogram, metric, bounds).map_err(explain));
    out_id.set(with_metric(metric, add)?);
    Ok(())
}
}

exported! {
/// Removes a metric.
///
/// Requires: id is from picollo_registry_add or one of the other functions that add a metric.
/// Cost: searches the registry.
fn picollo_registry_remove(registry: *mut picollo_registry, id: u64) -> picollo_status {
    with(registry, |registry| if registry.remove(id) { Ok(()) } else { Err(Failure::INVALID_ARGUMENT) })
}

/// Takes the counts of all metrics, while others record and reset. For histograms these are all counts since they
/// were made, so collectors see no reset (except with PICOLLO_METRIC_SINCE_RESET). Each metric is read at one moment,
/// one after the other. If counts fell nevertheless, because a histogram of doubles was collected, the metric's
/// creation time becomes that of the previous update.
///
/// Returns: PICOLLO_ERR_BUSY, as picollo_snapshot_update, or PICOLLO_ERR_OUT_OF_MEMORY if one metric failed: it keeps
///   its previous counts, and all others are updated.
/// Threads: any thread; other calls on this registry wait.
/// Cost: two passes over all counters; the first time, allocates 16 bytes per counter for each layout.
fn picollo_registry_update(registry: *mut picollo_registry) -> picollo_status {
    with(registry, |registry| Ok(registry.update(picollo_native::unix_nanos())?))
}

/// Writes the counts of the last update, as bytes without a NUL, in text formats too.
///
/// Requires: format is PICOLLO_EXPOSITION_.... An update or a new metric between asking for the length and writing
///   may change the length.
/// Cost: less than a microsecond per bucket.
fn picollo_registry_encode(
    registry: *const picollo_registry,
    format: u32,
    buffer: *mut c_void,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (buffer, out_length) = (room(buffer.cast::<u8>(), capacity)?, output(out_length)?);
    let format = Exposition::try_from(format)?;
    let length = with(registry, |registry| Outcome::Ok(registry.encode_into_room(format, buffer)))?;
    out_length.set(length);
    if length > capacity { Err(Failure::BUFFER_TOO_SMALL) } else { Ok(()) }
}

/// Chooses the format for a request by its Accept header, and writes the Content-Type of the response. The known
/// format with the largest q wins, and the first of equals. If the header names no known format, the choice is
/// Prometheus' text. It is never OTLP, which is sent and not scraped.
///
/// Requires: accept is NUL-terminated, of any bytes; NULL means that there is no header. A capacity of 128 is enough.
/// Cost: a few nanoseconds per byte.
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
    out_format.deliver(negotiated.format as u32)
}
}
