//! Figures computed from counts of events, such as instructions per cycle, with confidence intervals.
//!
//!     const double counts[] = {3e6, 2e6, 5e6, 4e6}; (two scopes: instructions and cycles of each)
//!     picollo_figure_estimate ipc;
//!     if (picollo_figure_compute("ipc", "instructions cycles", counts, 2, 0, &ipc, NULL) == PICOLLO_OK)
//!         printf("%g instructions per cycle, %g to %g\n", ipc.value, ipc.lower, ipc.upper);
//!
//! docs/counters.md lists the figures with their events, and explains the intervals.

use core::ffi::c_char;

use picollo_native::Status;
pub use picollo_stats::FigureEstimate as picollo_figure_estimate;
use picollo_stats::{FIGURE_EVENTS, Figure, FigureCounts, Unknown, estimate_figure};

use crate::argument::{output, slice, text};
use crate::failure::Failure;
use crate::guard::guard_explained;
use crate::status::{picollo_error, picollo_status};

/// Estimates a figure over many scopes, with the interval of the true one. It uses the sums of events, not the mean
/// of the scopes' figures. Scopes may have unequal sizes.
///
/// Requires: figure is not NULL: the name of a figure; events is not NULL: the names of the columns, separated by
///   spaces; values has a row for each of scopes scopes and a column for each event, with NaN for counts that are
///   missing; confidence is strictly between 0 and 1, or 0 for 0.95.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT if the name is unknown, the figure needs an event without column, or
///   confidence is out of range; PICOLLO_ERR_NOT_COUNTED if an event was counted in no scope, and error names it;
///   PICOLLO_ERR_EMPTY without scopes, and instead of a division by zero.
/// Cost: tens of nanoseconds per scope.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_figure_compute(
    figure: *const c_char,
    events: *const c_char,
    values: *const f64,
    scopes: usize,
    confidence: f64,
    out: *mut picollo_figure_estimate,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || {
        if figure.is_null() || events.is_null() || (values.is_null() && scopes > 0) {
            return Err(Failure::NULL_POINTER.into());
        }
        let (name, events, out) = (text(figure)?, text(events)?, output(out)?);
        let invalid = |why: core::fmt::Arguments<'_>| picollo_error::new(Status::InvalidArgument, why);
        let figure = Figure::named(name).ok_or_else(|| invalid(format_args!("{name} is no figure")))?;
        let mut columns = [0; FIGURE_EVENTS];
        for (column, event) in columns.iter_mut().zip(figure.events) {
            let found = events.split_ascii_whitespace().position(|known| known == *event);
            *column = found
                .ok_or_else(|| invalid(format_args!("{name} needs the event {event}, which is no column")))?;
        }
        let width = events.split_ascii_whitespace().count();
        let length = scopes.checked_mul(width).ok_or(Failure::INVALID_ARGUMENT)?;
        let values = slice(values, length)?;
        if scopes == 0 {
            return Err(picollo_error::new(Status::Empty, format_args!("{name}: of no scopes")));
        }
        let confidence = if confidence == 0.0 { 0.95 } else { confidence };
        let found = estimate_figure(figure, FigureCounts { values, width, columns }, confidence);
        out.set(found.map_err(Failure::from)?.map_err(|unknown| match unknown {
            Unknown::NotCounted(event) => {
                let why = format_args!("{} was not counted in any scope", figure.events[event]);
                picollo_error::new(Status::NotCounted, why).with_event(columns[event])
            }
            Unknown::Undefined => picollo_error::new(
                Status::Empty,
                format_args!("{name}: it would be divided by zero, or there is nothing to divide"),
            ),
        })?);
        Ok(())
    })
}
