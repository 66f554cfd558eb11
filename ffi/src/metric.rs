//! Counters and gauges: what a registry has beside histograms.
//!
//!     picollo_metric_counter *requests;
//!     picollo_metric_options metric = PICOLLO_METRIC_OPTIONS_INIT;
//!     metric.name = "requests";
//!     picollo_registry_add_counter(registry, &metric, &requests, NULL);
//!     for each request:
//!         picollo_metric_counter_add(requests, 1)
//!     picollo_metric_counter_free(requests)
//!
//! Each is one word on a cache line of its own. Where many threads count all the time, give each its own, with a label.

use core::ptr::{self, NonNull};

use picollo_core::{Metric, MetricCounter, MetricGauge, Registry, Result};

use crate::argument::output;
use crate::counted::{self, Counted, borrow, borrow_unchecked};
use crate::guard::{guard, guard_value, guard_void};
use crate::handles::{picollo_metric_counter, picollo_metric_gauge, picollo_registry};
use crate::registry::{picollo_metric_options, tell, with, with_metric};
use crate::status::picollo_status;

macro_rules! counted {
    ($($handle:ident: $reference:ident),*) => {
        $(impl Counted for $handle {
            type Reference = $reference;

            #[inline(always)]
            unsafe fn reference(handle: NonNull<Self>) -> $reference {
                // SAFETY: handles come from `into_raw`; the rest is passed on.
                unsafe { $reference::from_raw(handle.cast()) }
            }
        })*
    };
}

counted! { picollo_metric_counter: MetricCounter, picollo_metric_gauge: MetricGauge }

/// Adds what has a handle of its own.
///
/// # Safety
/// As for [`with`] and [`with_metric`]; if not NULL, `out` and `out_id` must be valid for a write.
unsafe fn add<H>(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut H,
    out_id: *mut u64,
    add: impl FnOnce(&mut Registry, &Metric) -> Result<(u64, NonNull<u8>)>,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        unsafe {
            let out = output(out)?;
            let (id, handle) =
                with_metric(metric, |metric| with(registry, |registry| Ok(add(registry, metric)?)))?;
            out.set(handle.as_ptr().cast());
            tell(out_id, id)
        }
    })
}

/// Adds a new counter, at zero, to a registry. Its name may end with _total, which is no part of it.
///
/// Requires: out_id is for picollo_registry_remove, or NULL. Of the metric, max_buckets and the flags that are about histograms
///   mean nothing.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (registry, metric, out); otherwise as picollo_registry_add.
/// Ownership: *out is the caller's, for picollo_metric_counter_free; the registry holds a reference of its own.
/// Threads: any thread.
/// Cost: allocates copies of what it is given, and 128 bytes.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_registry_add_counter(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut picollo_metric_counter,
    out_id: *mut u64,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on.
    unsafe {
        add(registry, metric, out, out_id, |registry, metric| {
            let (id, counter) = registry.add_counter(metric)?;
            Ok((id, counter.into_raw()))
        })
    }
}

/// Adds a new gauge, at zero, to a registry.
///
/// Requires: as picollo_registry_add_counter.
/// Returns: as picollo_registry_add_counter.
/// Ownership: *out is the caller's, for picollo_metric_gauge_free; the registry holds a reference of its own.
/// Threads: any thread.
/// Cost: as picollo_registry_add_counter.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_registry_add_gauge(
    registry: *mut picollo_registry,
    metric: *const picollo_metric_options,
    out: *mut *mut picollo_metric_gauge,
    out_id: *mut u64,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on.
    unsafe {
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
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_add(counter: *mut picollo_metric_counter, count: u64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(counter) }.add(count);
}

/// Reads a counter while others count.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (counter, out).
/// Threads: any thread.
/// Cost: a load.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_read(
    counter: *const picollo_metric_counter,
    out: *mut u64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (counter, out) = unsafe { (borrow(counter)?, output(out)?) };
        out.set(counter.value());
        Ok(())
    })
}

/// Makes one reference more to a counter, so that each of two owners may free it.
///
/// Returns: counter, the same handle; NULL for NULL.
/// Ownership: a reference of the caller's own, for picollo_metric_counter_free.
/// Threads: any thread.
/// Cost: an atomic addition.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_retain(
    counter: *mut picollo_metric_counter,
) -> *mut picollo_metric_counter {
    // SAFETY: the caller's promise, passed on.
    guard_value(ptr::null_mut(), || unsafe {
        counted::retain(counter);
        counter
    })
}

/// Gives back one reference. The counter goes on being written while a registry has it. NULL is allowed and does nothing.
///
/// Requires: counter is not used any more by whoever gives it back.
/// Threads: any thread.
/// Cost: frees the memory when it was the last reference.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_counter_free(counter: *mut picollo_metric_counter) {
    // SAFETY: the caller's promise, passed on.
    guard_void(|| unsafe { counted::free(counter) });
}

/// Sets a gauge.
///
/// Requires: gauge is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: a store.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_set(gauge: *mut picollo_metric_gauge, value: f64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(gauge) }.set(value);
}

/// Adds to a gauge, also what is negative. Of several threads that add at once, nothing is lost.
///
/// Requires: gauge is not NULL; this is not checked.
/// Threads: any thread, signal handlers.
/// Cost: a compare-and-swap, again where another thread came first.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_add(gauge: *mut picollo_metric_gauge, value: f64) {
    // SAFETY: not NULL and not freed, as the caller promises.
    unsafe { borrow_unchecked(gauge) }.add(value);
}

/// Reads a gauge while others set it.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (gauge, out).
/// Threads: any thread.
/// Cost: a load.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_read(
    gauge: *const picollo_metric_gauge,
    out: *mut f64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (gauge, out) = unsafe { (borrow(gauge)?, output(out)?) };
        out.set(gauge.value());
        Ok(())
    })
}

/// Makes one reference more to a gauge, so that each of two owners may free it.
///
/// Returns: gauge, the same handle; NULL for NULL.
/// Ownership: a reference of the caller's own, for picollo_metric_gauge_free.
/// Threads: any thread.
/// Cost: an atomic addition.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_retain(
    gauge: *mut picollo_metric_gauge,
) -> *mut picollo_metric_gauge {
    // SAFETY: the caller's promise, passed on.
    guard_value(ptr::null_mut(), || unsafe {
        counted::retain(gauge);
        gauge
    })
}

/// Gives back one reference. The gauge goes on being written while a registry has it. NULL is allowed and does nothing.
///
/// Requires: gauge is not used any more by whoever gives it back.
/// Threads: any thread.
/// Cost: frees the memory when it was the last reference.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_metric_gauge_free(gauge: *mut picollo_metric_gauge) {
    // SAFETY: the caller's promise, passed on.
    guard_void(|| unsafe { counted::free(gauge) });
}
