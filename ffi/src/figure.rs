//! Figures: formulas over counts of events, as instructions per cycle, and how well they are known.
//!
//!     const double counts[] = {3e6, 2e6, 5e6, 4e6}; (two scopes: instructions and cycles of each)
//!     picollo_figure_estimate ipc;
//!     if (picollo_figure_compute("ipc", "instructions cycles", counts, 2, 0, &ipc, NULL) == PICOLLO_OK)
//!         printf("%g instructions per cycle, %g to %g\n", ipc.value, ipc.lower, ipc.upper);
//!
//! A formula has + - * /, min(a, b), max(a, b), parentheses, numbers, and names of events. A hyphen with a letter or a digit on either side
//! belongs to a name, as in branch-misses; a minus has a space before it. docs/counters.md lists the built-in figures and says how intervals
//! are made.

use core::ffi::c_char;

pub use picollo_core::FigureEstimate as picollo_figure_estimate;
use picollo_core::{
    BUILT_IN_FIGURES, EVENTS_OF_A_FORMULA, FIGURE_FEW_SCOPES, FIGURE_PARTIAL, FigureEntry, Formula, Unknown,
    estimate_figure, estimate_figure_tail, figures,
};
use picollo_native::Status;

use crate::argument::{output, slice, text};
use crate::event::picollo_error;
use crate::failure::Failure;
use crate::guard::{guard, guard_explained};
use crate::status::picollo_status;
use crate::text::write_text;

/// There are too few scopes for an interval: its ends are NaN.
pub const PICOLLO_FIGURE_FEW_SCOPES: u32 = 1 << 0;
/// In some scopes an event was not counted: they are left out.
pub const PICOLLO_FIGURE_PARTIAL: u32 = 1 << 1;
/// Events that a figure may have, at most.
pub const PICOLLO_FIGURE_MAX_EVENTS: u32 = 16;

const _: () = assert!(
    PICOLLO_FIGURE_FEW_SCOPES == FIGURE_FEW_SCOPES
        && PICOLLO_FIGURE_PARTIAL == FIGURE_PARTIAL
        && PICOLLO_FIGURE_MAX_EVENTS as usize == EVENTS_OF_A_FORMULA
);

/// Estimates a figure of many scopes: the formula of the sums of events, never the mean of the scopes' own figures, with the interval that
/// holds the true one. Scopes may be of unequal sizes.
///
/// Requires: figure is a formula, or the name of a built-in figure; events are the names of the columns, with a space between each two, at
///   most PICOLLO_FIGURE_MAX_EVENTS; values has a row for each of scopes scopes and a column for each event, NaN where it was not counted;
///   confidence is between 0 and 1, neither included, or 0 for 0.95; error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (figure, events, out, and with scopes above 0 values); PICOLLO_ERR_INVALID_ARGUMENT (the
///   formula, an event that is none of the columns, a number of events, confidence); PICOLLO_ERR_NOT_COUNTED where an event was
///   counted in no scope: error says which; PICOLLO_ERR_EMPTY of no scopes, and where it would be divided by zero.
/// Threads: any thread.
/// Cost: some microseconds for the formula, and some tens of nanoseconds a scope; allocates nothing.
/// Since: 0.1
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
        // SAFETY: the caller's promises, passed on.
        let (asked, out) =
            unsafe { (Asked::read(figure, events, values, scopes, confidence)?, output(out)?) };
        let found = estimate_figure(&asked.formula, asked.values, asked.columns, asked.confidence);
        out.set(found.map_err(Failure::from)?.map_err(|unknown| asked.why(unknown))?);
        Ok(())
    })
}

/// Estimates a figure of the slowest scopes, and of the others: "the tail: 0.4 instructions per cycle, and 1.9 elsewhere". A scope whose duration is
/// NaN is in neither; so is one in which an event was not counted, as in picollo_figure_compute.
///
/// Requires: as picollo_figure_compute; durations has one for each of scopes scopes, in any unit, none below 0; share is how many of them are
///   slow, between 0 and 1, neither included, or 0 for 0.01: at least one, and also those that took exactly as long as the fastest of these.
/// Returns: as picollo_figure_compute; PICOLLO_ERR_NULL_POINTER also for durations with scopes above 0, out_tail and out_rest;
///   PICOLLO_ERR_INVALID_ARGUMENT also for a duration below 0 or infinite, and share; PICOLLO_ERR_EMPTY also where all scopes took equally long.
/// Threads: any thread.
/// Cost: as picollo_figure_compute, and some sixty looks at all durations; allocates nothing.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_figure_compute_tail(
    figure: *const c_char,
    events: *const c_char,
    values: *const f64,
    durations: *const f64,
    scopes: usize,
    share: f64,
    confidence: f64,
    out_tail: *mut picollo_figure_estimate,
    out_rest: *mut picollo_figure_estimate,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || {
        // SAFETY: the caller's promises, passed on.
        let asked = unsafe { Asked::read(figure, events, values, scopes, confidence)? };
        // SAFETY: as above.
        let (durations, out_tail, out_rest) =
            unsafe { (slice(durations, scopes)?, output(out_tail)?, output(out_rest)?) };
        let share = if share == 0.0 { 0.01 } else { share };
        let Asked { formula, values, columns, confidence, .. } = &asked;
        let found = estimate_figure_tail(formula, values, durations, *columns, share, *confidence);
        let found = found.map_err(Failure::from)?.map_err(|unknown| asked.why(unknown))?;
        out_tail.set(found.tail);
        out_rest.set(found.rest);
        Ok(())
    })
}

/// A figure that is asked for, and the counts that it is to be of.
struct Asked<'a> {
    figure: &'a str,
    events: &'a str,
    formula: Formula,
    values: &'a [f64],
    columns: usize,
    confidence: f64,
}

impl<'a> Asked<'a> {
    /// # Safety
    /// As for [`picollo_figure_compute`].
    unsafe fn read(
        figure: *const c_char,
        events: *const c_char,
        values: *const f64,
        scopes: usize,
        confidence: f64,
    ) -> Result<Asked<'a>, picollo_error> {
        if figure.is_null() || events.is_null() {
            return Err(Failure::NULL_POINTER.into());
        }
        // SAFETY: the caller's promises, passed on.
        let (figure, events) = unsafe { (text(figure)?, text(events)?) };
        let columns = events.split_ascii_whitespace().count();
        if !(1..=EVENTS_OF_A_FORMULA).contains(&columns) {
            let why = format_args!("a figure has 1 to {EVENTS_OF_A_FORMULA} events, not {columns}");
            return Err(picollo_error::new(Status::InvalidArgument, why));
        }
        let length = scopes.checked_mul(columns).ok_or(Failure::INVALID_ARGUMENT)?;
        // SAFETY: as above.
        let values = unsafe { slice(values, length)? };
        let built_in = figures(BUILT_IN_FIGURES).find_map(|entry| match entry {
            FigureEntry::Figure(known) if known.name == figure => Some(known.formula),
            _ => None,
        });
        let formula = built_in.unwrap_or(figure);
        let formula =
            Formula::parse(formula, |name| events.split_ascii_whitespace().position(|known| known == name))
                .map_err(|error| {
                picollo_error::new(Status::InvalidArgument, format_args!("{formula}: {error}"))
            })?;
        if scopes == 0 {
            return Err(picollo_error::new(Status::Empty, format_args!("{figure}: of no scopes")));
        }
        let confidence = if confidence == 0.0 { 0.95 } else { confidence };
        Ok(Asked { figure, events, formula, values, columns, confidence })
    }

    /// Why a figure is not known, in words.
    fn why(&self, unknown: Unknown) -> picollo_error {
        match unknown {
            Unknown::NotCounted(event) => {
                let name = self.events.split_ascii_whitespace().nth(event).unwrap_or("");
                picollo_error::new(Status::NotCounted, format_args!("{name} was not counted in any scope"))
                    .with_event(event)
            }
            Unknown::Undefined => picollo_error::new(
                Status::Empty,
                format_args!("{}: it would be divided by zero, or there is nothing to divide", self.figure),
            ),
        }
    }
}

/// Writes the built-in figures as text: NAME [UNIT] = FORMULA in a line each, and behind it lines that explain it and begin with spaces.
///
/// Requires: buffer has capacity bytes.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out_length, and buffer with a capacity above 0); PICOLLO_ERR_BUFFER_TOO_SMALL.
/// Threads: any thread.
/// Cost: copies some kilobytes.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_figures_format(
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    // SAFETY: the caller's promises, passed on.
    guard(|| unsafe { write_text(buffer, capacity, out_length, &|out| out.write_str(BUILT_IN_FIGURES)) })
}
