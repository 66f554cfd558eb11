//! Clocks.
//!
//! Two clocks count ticks; what a tick is worth is told exactly. Either is good for intervals. The time stamp counter
//! is read in a few nanoseconds, without the system; where the machine has none that runs at one constant rate, the
//! monotonic clock stands in for it, and frequency and conversion follow.
//!
//! A scope measures from its begin to its end and records what it measured:
//!
//!     picollo_scope scope;
//!     picollo_scope_begin(histogram, PICOLLO_CLOCK_TSC, PICOLLO_UNIT_NANOS, &scope);
//!     work();
//!     picollo_scope_end(&scope);

use core::ffi::c_void;
use core::ptr;

use picollo_native::{Clock, Unit};

use crate::argument::output;
use crate::counted::borrow;
use crate::failure::Failure;
use crate::guard::{exported, guard, guard_value, guard_void};
use crate::handles::picollo_histogram;
use crate::status::picollo_status;

/// Measures the frequency of the time stamp counter now. Scopes and conversions need no such call.
///
/// Returns: PICOLLO_OK, also where the monotonic clock has to stand in for the counter; PICOLLO_ERR_UNSUPPORTED in a
///   build without an operating system, which has no clock: ticks are 0 there.
/// Threads: any thread, any number of times.
/// Cost: up to 20 milliseconds the first time where the frequency has to be measured; then none to speak of.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_init() -> picollo_status {
    guard(|| {
        Clock::init();
        if Clock::Monotonic.frequency() == 0 { Err(Failure::UNSUPPORTED) } else { Ok(()) }
    })
}

/// Reads a clock.
///
/// Requires: clock is PICOLLO_CLOCK_....
/// Returns: its ticks; 0 for an unknown clock.
/// Cost: some ten to thirty nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_ticks(clock: u32) -> u64 {
    guard_value(0, || Clock::from_raw(clock).map_or(0, Clock::ticks))
}

/// Reads a clock after everything that comes before it in the program, and before everything that comes after it: no
/// instruction of what is measured is still under way, and none has begun. picollo_clock_ticks lets the processor move the
/// reading by as much as it executes out of order, some hundred instructions.
///
/// Requires: clock is PICOLLO_CLOCK_....
/// Returns: its ticks; 0 for an unknown clock.
/// Cost: as picollo_clock_ticks and some ten to twenty nanoseconds, and the wait for what is under way.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_ticks_ordered(clock: u32) -> u64 {
    guard_value(0, || Clock::from_raw(clock).map_or(0, Clock::ticks_ordered))
}

exported! {
/// Tells how many ticks a clock makes in a second.
///
/// Requires: clock is PICOLLO_CLOCK_....
/// Returns: PICOLLO_ERR_UNSUPPORTED as picollo_clock_init.
/// Cost: none to speak of after picollo_clock_init; before it, up to 20 milliseconds once.
fn picollo_clock_frequency(clock: u32, out_hertz: *mut u64) -> picollo_status {
    let out_hertz = output(out_hertz)?;
    let hertz = Clock::from_raw(clock).ok_or(Failure::INVALID_ARGUMENT)?.frequency();
    if hertz == 0 {
        return Err(Failure::UNSUPPORTED);
    }
    out_hertz.tell(hertz)
}
}

/// Converts a difference of ticks: floor(ticks * units per second / frequency), exactly.
/// In the first 20 milliseconds after the first use of the time stamp counter, its frequency is not known yet: then the
/// system's clock converts a difference of two readings, to some 100 nanoseconds. No scope waits.
///
/// Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_....
/// Returns: the converted difference, UINT64_MAX where it does not fit into 64 bits; 0 for an unknown clock or unit.
/// Cost: a division of 128 bits, at most.
#[unsafe(no_mangle)]
pub extern "C" fn picollo_clock_convert(clock: u32, ticks: u64, unit: u32) -> u64 {
    guard_value(0, || match (Clock::from_raw(clock), Unit::from_raw(unit)) {
        (Some(clock), Some(unit)) => clock.convert(ticks, unit),
        _ => 0,
    })
}

/// A measurement under way. Its fields are for the library.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_scope {
    /// Ticks at the beginning.
    pub start: u64,
    /// PICOLLO_CLOCK_....
    pub clock: u32,
    /// PICOLLO_UNIT_....
    pub unit: u32,
    /// Where to record; NULL once it has ended.
    pub histogram: *mut picollo_histogram,
    pub reserved: *mut c_void,
}

/// Begins to measure. Does nothing when out is NULL.
///
/// Requires: clock is PICOLLO_CLOCK_..., unit is PICOLLO_UNIT_...; histogram outlives the scope, or is NULL to
///   measure without recording.
/// Ownership: nothing to free; a scope that never ends is simply not recorded.
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

/// Ends a measurement and records it. Ending it again measures, but does not record again.
///
/// Requires: scope was begun.
/// Returns: the time since the beginning in the scope's unit, which is what was recorded; 0 when scope is NULL. With
///   an unknown clock or unit nothing is recorded, and the answer is 0.
/// Threads: as picollo_histogram_record on the scope's histogram.
/// Cost: one reading of the clock, which comes first, a conversion and a record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_scope_end(scope: *mut picollo_scope) -> u64 {
    guard_value(0, || {
        let Ok(scope) = crate::argument::exclusive(scope) else { return 0 };
        let Some(clock) = Clock::from_raw(scope.clock) else { return 0 };
        let now = clock.ticks();
        let Some(unit) = Unit::from_raw(scope.unit) else { return 0 };
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
