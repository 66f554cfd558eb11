//! Clocks.
//!
//! Two clocks count ticks of an exactly known frequency, and both suit intervals. A read of the time stamp counter
//! takes ten to thirty nanoseconds, without a system call. If the machine has no counter with a constant rate, the monotonic
//! clock replaces it, also for frequency and conversion.
//!
//! A scope measures the time from its begin to its end, and records it:
//!
//!     picollo_scope scope;
//!     picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
//!     work();
//!     picollo_scope_end(&scope);

use core::ffi::c_void;
use core::ptr;

use picollo_native::{Clock, TimeUnit};

use crate::argument::output;
use crate::counted::borrow;
use crate::failure::Failure;
use crate::guard::{exported, guard, guard_value, guard_void};
use crate::histogram::picollo_histogram;
use crate::status::picollo_status;

/// Measures the frequency of the time stamp counter now. Scopes and conversions do not need this call.
///
/// Returns: PICOLLO_OK, also if the monotonic clock replaces the counter; PICOLLO_ERR_UNSUPPORTED in a build without
///   an operating system, which has no clock: its ticks are 0.
/// Threads: any thread, any number of times.
/// Cost: up to 20 milliseconds the first time, if the frequency must be measured.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_init() -> picollo_status {
    guard(|| {
        Clock::init();
        if Clock::Monotonic.frequency() == 0 { Err(Failure::UNSUPPORTED) } else { Ok(()) }
    })
}

/// Reads a clock.
///
/// Returns: its ticks; 0 for an unknown clock.
/// Cost: ten to thirty nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_ticks(clock: u32) -> u64 {
    guard_value(0, || Clock::from_raw(clock).map_or(0, Clock::ticks))
}

exported! {
/// Reports the number of ticks per second.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED as picollo_clock_init.
/// Cost: up to 20 milliseconds once, unless picollo_clock_init was called.
fn picollo_clock_frequency(clock: u32, out_hertz: *mut u64) -> picollo_status {
    let out_hertz = output(out_hertz)?;
    let hertz = Clock::from_raw(clock).ok_or(Failure::INVALID_ARGUMENT)?.frequency();
    if hertz == 0 {
        return Err(Failure::UNSUPPORTED);
    }
    out_hertz.deliver(hertz)
}
}

/// Converts a difference of ticks: exactly floor(ticks * units per second / frequency). In the first 20 milliseconds
/// after the first use of the time stamp counter, its frequency is still unknown. Then the system's clock converts a
/// difference of two readings, with an error of about 100 nanoseconds. No scope waits.
///
/// Returns: the converted difference; UINT64_MAX if it does not fit into 64 bits; 0 for an unknown clock or unit.
/// Cost: at most a division of 128 bits.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_convert(clock: u32, ticks: u64, unit: u32) -> u64 {
    guard_value(0, || match (Clock::from_raw(clock), TimeUnit::from_raw(unit)) {
        (Some(clock), Some(unit)) => clock.convert(ticks, unit),
        _ => 0,
    })
}

/// A running measurement. Its fields are private to the library.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_scope {
    /// Ticks at the beginning.
    pub start: u64,
    /// PICOLLO_CLOCK_....
    pub clock: u32,
    /// PICOLLO_UNIT_....
    pub unit: u32,
    /// The histogram to record into; NULL after the end.
    pub histogram: *mut picollo_histogram,
    pub reserved: *mut c_void,
}

/// Begins a measurement. Does nothing if out is NULL.
///
/// Requires: histogram outlives the scope, or is NULL to measure without recording.
/// Ownership: nothing to free; a scope that never ends records nothing.
/// Threads: any thread; the scope may end on another one.
/// Cost: one reading of the clock, which comes last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_scope_begin(
    histogram: *mut picollo_histogram,
    clock: u32,
    unit: u32,
    out: *mut picollo_scope,
) {
    guard_void(|| {
        if let Ok(out) = output(out) {
            let start = Clock::from_raw(clock).map_or(0, Clock::ticks);
            out.set(picollo_scope { start, clock, unit, histogram, reserved: ptr::null_mut() });
        }
    });
}

/// Ends a measurement and records it. Ending it again measures, but does not record.
///
/// Requires: scope was begun.
/// Returns: the recorded time, in the scope's unit; 0 if scope is NULL. For an unknown clock or unit it records
///   nothing and returns 0.
/// Threads: as picollo_histogram_record on the scope's histogram.
/// Cost: one reading of the clock, which comes first, a conversion and a record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_scope_end(scope: *mut picollo_scope) -> u64 {
    guard_value(0, || {
        let Ok(scope) = crate::argument::exclusive(scope) else { return 0 };
        let Some(clock) = Clock::from_raw(scope.clock) else { return 0 };
        let now = clock.ticks();
        let Some(unit) = TimeUnit::from_raw(scope.unit) else { return 0 };
        // Should the clock appear to run backwards, no time has passed.
        let elapsed = clock.convert(now.saturating_sub(scope.start), unit);
        // SAFETY: NULL, or a histogram that outlives the scope.
        if let Ok(histogram) = unsafe { borrow(scope.histogram) } {
            histogram.record(elapsed);
        }
        scope.histogram = ptr::null_mut();
        elapsed
    })
}
