//! Counters and gauges of registries.
//!
//!     picollo_metric_counter *requests;
//!     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
//!     metric.name = "requests";
//!     picollo_registry_add_counter(registry, &metric, &requests, NULL);
//!     for each request:
//!         picollo_metric_counter_add(requests, 1)
//!     picollo_metric_counter_free(requests)
//!
//! Each is one word in its own cache line. If many threads count all the time, request a striped counter
//! (PICOLLO_METRIC_STRIPED), or give each thread a counter with its own label.

use core::ptr::NonNull;

use picollo_core::counters::{Metric, MetricCounter, MetricGauge, SharedStripedCounter};
use picollo_export::{MetricError, Registry};

use crate::argument::{output, output_if_any};
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::guard::{exported, guard_void};
use crate::registry::{explain, is_striped, picollo_metric_options, picollo_registry, with, with_metric};
use crate::status::{picollo_error, picollo_status};

/// A counter of a registry or a segment.
pub struct picollo_metric_counter(());

/// A gauge of a registry.
pub struct picollo_metric_gauge(());

/// The lowest bit of a handle of a counter that has many words. What handles lead to is aligned to more than that.
const STRIPED: usize = 1;

/// The reference behind the handle of a counter.
#[derive(Clone)]
pub enum AnyCounter {
    OneWord(MetricCounter),
    Striped(SharedStripedCounter),
}

impl AnyCounter {
    /// Returns the handle that stands for this reference and takes it over.
    pub fn into_handle(self) -> NonNull<u8> {
        match self {
            AnyCounter::OneWord(counter) => counter.into_raw(),
            AnyCounter::Striped(counter) => counter.into_raw().map_addr(|address| address | STRIPED),
        }
    }
}

impl Counted for picollo_metric_counter {
    type Reference = AnyCounter;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> AnyCounter {
        let address = handle.as_ptr().addr();
        // SAFETY: handles come from `into_handle`; the rest is passed on.
        unsafe {
            if address & STRIPED == 0 {
                AnyCounter::OneWord(MetricCounter::from_raw(handle.cast()))
            } else {
                let raw = handle.as_ptr().map_addr(|address| address & !STRIPED);
                AnyCounter::Striped(SharedStripedCounter::from_raw(NonNull::new_unchecked(raw.cast())))
            }
        }
    }
}

impl Counted for picollo_metric_gauge {
    type Reference = MetricGauge;

    #[inline(always)]
    unsafe fn reference(handle: NonNull<Self>) -> MetricGauge {
        // SAFETY: handles come from `into_raw`; the rest is passed on.
        unsafe { MetricGauge::from_raw(handle.cast()) }
    }
}

/// Adds a metric that has its own handle.
///
/// # Safety As for [`with`] and [`with_metric`]; if not NULL, `out` and `out_id` must be valid for a write.
unsafe fn add<H>(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut H,
    out_id: *mut u64,
    add: impl FnOnce(&mut Registry, &Metric) -> Result<(u64, NonNull<u8>), MetricError>,
) -> Result<(), picollo_error> {
    let (out, out_id) = (output(out)?, output_if_any(out_id)?);
    let add = |metric: &Metric| with(registry, |registry| add(registry, metric).map_err(explain));
    let (id, handle) = with_metric(metric, add)?;
    out.set(handle.as_ptr().cast());
    out_id.set(id);
    Ok(())
}

exported! { explained(error)
/// Adds a new counter, at zero, to a registry. A final _total is not part of the name.
///
/// Requires: out_id is for picollo_registry_remove. The metric's max_buckets and the flags for histograms are
///   ignored.
/// Returns: as picollo_registry_add.
/// Ownership: free *out with picollo_metric_counter_free; the registry holds its own reference.
/// Cost: allocates copies of its arguments, and 128 bytes.
fn picollo_registry_add_counter(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut picollo_metric_counter,
    out_id: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    add(registry, metric, out, out_id, |registry, known_as| {
        let (id, counter) = if is_striped(metric) {
            let (id, counter) = registry.add_striped_counter(known_as)?;
            (id, AnyCounter::Striped(counter))
        } else {
            let (id, counter) = registry.add_counter(known_as)?;
            (id, AnyCounter::OneWord(counter))
        };
        Ok((id, counter.into_handle()))
    })
}

/// Adds a new gauge, at zero, to a registry.
///
/// Ownership: free *out with picollo_metric_gauge_free; the registry holds its own reference.
/// Otherwise: as picollo_registry_add_counter.
fn picollo_registry_add_gauge(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut picollo_metric_gauge,
    out_id: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    add(registry, metric, out, out_id, |registry, metric| {
        let (id, gauge) = registry.add_gauge(metric)?;
        Ok((id, gauge.into_raw()))
    })
}
}

/// Adds to a counter, modulo 2^64.
///
/// Requires: counter is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: an atomic addition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_add(counter: *mut picollo_metric_counter, count: u64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    match &*unsafe { borrow_unchecked(counter) } {
        AnyCounter::OneWord(counter) => counter.add(count),
        AnyCounter::Striped(counter) => counter.add(count),
    }
}

exported! {
/// Reads a counter while others count.
///
/// Cost: a load.
fn picollo_metric_counter_read(counter: *const picollo_metric_counter, out: *mut u64) -> picollo_status {
    let (counter, out) = (borrow(counter)?, output(out)?);
    out.deliver(match &*counter {
        AnyCounter::OneWord(counter) => counter.value(),
        AnyCounter::Striped(counter) => counter.load(),
    })
}
}

/// Gives back one reference. A registry that has the counter continues to write it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_free(counter: *mut picollo_metric_counter) {
    guard_void(|| counted::free(counter));
}

/// Sets a gauge.
///
/// Requires: gauge is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: a store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_set(gauge: *mut picollo_metric_gauge, value: f64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(gauge) }.set(value);
}

/// Adds to a gauge; value may be negative. If several threads add at the same time, nothing is lost.
///
/// Requires: gauge is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: a compare-and-swap, repeated if another thread was first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_add(gauge: *mut picollo_metric_gauge, value: f64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(gauge) }.add(value);
}

exported! {
/// Reads a gauge while others set it.
///
/// Cost: a load.
fn picollo_metric_gauge_read(gauge: *const picollo_metric_gauge, out: *mut f64) -> picollo_status {
    let (gauge, out) = (borrow(gauge)?, output(out)?);
    out.deliver(gauge.value())
}
}

/// Gives back one reference. A registry that has the gauge continues to write it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_free(gauge: *mut picollo_metric_gauge) {
    guard_void(|| counted::free(gauge));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{picollo_registry_create, picollo_registry_free};
    use crate::status::PICOLLO_OK;
    use core::ptr;

    #[test]
    fn nothing_is_added_if_an_output_is_refused() {
        let ids = [0u64; 2];
        let odd = (&raw const ids).cast::<u8>().wrapping_add(1).cast::<u64>().cast_mut();
        let (mut registry, mut counter) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: pointers to live locals and handles that are freed at the end; the odd one is refused.
        unsafe {
            let mut metric: picollo_metric_options = core::mem::zeroed();
            metric.struct_size = size_of_val(&metric) as u32;
            metric.name = c"x".as_ptr();
            assert_eq!(picollo_registry_create(&raw mut registry), PICOLLO_OK);
            let status = picollo_registry_add_counter(
                registry,
                &raw const metric,
                &raw mut counter,
                odd,
                ptr::null_mut(),
            );
            assert_eq!((status, counter), (-2, ptr::null_mut()));
            // The name is free.
            let mut id = 0;
            let status = picollo_registry_add_counter(
                registry,
                &raw const metric,
                &raw mut counter,
                &raw mut id,
                ptr::null_mut(),
            );
            assert_eq!((status, id), (PICOLLO_OK, 1));
            picollo_metric_counter_free(counter);
            picollo_registry_free(registry);
        }
    }
}
