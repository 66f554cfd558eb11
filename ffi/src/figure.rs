//! Figures of counts of events, as instructions per cycle, and how well they are known.
//!
//!     const double counts[] = {3e6, 2e6, 5e6, 4e6}; (two scopes: instructions and cycles of each)
//!     picollo_figure_estimate ipc;
//!     if (picollo_figure_compute("ipc", "instructions cycles", counts, 2, 0, &ipc, NULL) == PICOLLO_OK)
//!         printf("%g instructions per cycle, %g to %g\n", ipc.value, ipc.lower, ipc.upper);
//!
//! docs/counters.md lists the figures, with their events, and says how intervals are made.

use core::ffi::c_char;

pub use picollo_core::FigureEstimate as picollo_figure_estimate;
use picollo_core::{FIGURE_EVENTS, Figure, FigureCounts, Unknown, estimate_figure};
use picollo_native::Status;

use crate::argument::{output, slice, text};
use crate::event::picollo_error;
use crate::failure::Failure;
use crate::guard::guard_explained;
use crate::status::picollo_status;

/// Estimates a figure of many scopes: of the sums of events, never the mean of the scopes' own figures, with the interval that holds the
/// true one. Scopes may be of unequal sizes.
///
/// Requires: figure is not NULL, the name of a figure; events is not NULL, the names of the columns, with a space
///   between; values has a row for each of scopes scopes and a column for each event, NaN where it was not counted;
///   confidence is between 0 and 1, neither included, or 0 for 0.95.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT (the name, an event of the figure that is none of the columns, confidence);
///   PICOLLO_ERR_NOT_COUNTED where an event was counted in no scope: error says which; PICOLLO_ERR_EMPTY of no
///   scopes, and where it would be divided by zero.
/// Cost: some tens of nanoseconds a scope.
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
