//! Pictures in a terminal.

use core::fmt::{self, Display, Write};

use super::axis::{Axis, Extent};
use super::columns::{nines, shares, shares_up_to, steps};
use super::frame::{length_of, nines_at, rank};
use super::unit::Unit;
use super::{ChartOptions, NOTHING, Picture};
use crate::escape::{Line, trim};
use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;

/// The largest number of columns of a sparkline or a chart.
pub const MAX_COLUMNS: u32 = 240;
/// The largest number of rows of a chart.
pub const MAX_ROWS: u32 = 100;

/// The heights of a cell, in eighths.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The heights on a single line of ASCII, by darkness.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// Sparklines end here: few observations lie beyond, and each of them would make all others look the same.
const SPARKLINE_RANK: f64 = 99.9;

type Columns = [f64; MAX_COLUMNS as usize];

pub(super) fn write_sparkline(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    columns: u32,
    ascii: bool,
) -> fmt::Result {
    let Some(extent) = Extent::from_snapshots(core::iter::once(snapshot)) else {
        return out.write_str(NOTHING);
    };
    // There are observations, and the rank is valid.
    let last = snapshot.percentile(SPARKLINE_RANK, ValueSelection::Midpoint).map_err(|_| fmt::Error)?.bucket;
    let extent = extent.ending(&last);
    let mut room: Columns = [0.0; MAX_COLUMNS as usize];
    let columns = if columns == 0 { 40 } else { columns.min(MAX_COLUMNS) };
    let parts = &mut room[..columns as usize];
    let highest = shares_up_to(snapshot, last.lower, &Axis::new(&extent, 6.0, 3.0, true), parts);
    let heights: &[char] = if ascii { &SHADES } else { &EIGHTHS };
    let most = (heights.len() - 1) as f64;
    for &share in parts.iter() {
        // Any observation is visible.
        let height = if share > 0.0 { libm::round(share / highest * most).max(1.0) } else { 0.0 };
        out.write_char(heights[height as usize])?;
    }
    Ok(())
}

/// The labels to the left of the rows and below the columns.
struct Labels<'a> {
    unit: Unit<'a>,
    axis: Axis,
    /// The axis upwards for a density, to the right for percentiles.
    other: Other,
}

enum Other {
    Shares(Axis),
    Nines(f64),
}

pub(super) fn write(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    picture: Picture,
    options: &ChartOptions<'_>,
) -> fmt::Result {
    if !trim(options.title).is_empty() {
        writeln!(out, "{}", Line(options.title))?;
    }
    let Some(extent) = Extent::from_snapshots(core::iter::once(snapshot)) else {
        return writeln!(out, "{NOTHING}");
    };
    let mut room: Columns = [0.0; MAX_COLUMNS as usize];
    let columns = (if options.columns == 0 { 64 } else { options.columns.min(MAX_COLUMNS) }) as usize;
    let rows = if options.rows == 0 { 10 } else { options.rows.min(MAX_ROWS) };
    let heights = &mut room[..columns];
    let unit = Unit::new(options.unit, options.ascii);
    let ticks = (f64::from(rows) / 2.5).max(1.0);
    let labels = if picture == Picture::Density {
        let axis = Axis::new(&extent, 5.0, 3.0, true);
        let upward = Axis::for_shares(shares(snapshot, &axis, heights), ticks);
        heights.iter_mut().for_each(|share| *share = upward.place(*share));
        Labels { unit, axis, other: Other::Shares(upward) }
    } else {
        let axis = Axis::new(&extent, ticks, 50.0, false);
        let end = nines(snapshot.counts().total).max(1.0);
        steps(snapshot, |value, from, to| {
            // A column shows the value at its middle; the last value extends to the end.
            let at = |nines: f64| libm::ceil(nines / end * columns as f64 - 0.5).max(0.0) as usize;
            let (first, last) = (at(from), at(to).min(columns));
            heights.iter_mut().take(last).skip(first).for_each(|height| *height = axis.place(value));
            Ok(())
        })?;
        Labels { unit, axis, other: Other::Nines(end) }
    };
    labels.write(out, heights, rows, options.ascii)
}

impl Labels<'_> {
    fn write(&self, out: &mut dyn Write, heights: &[f64], rows: u32, ascii: bool) -> fmt::Result {
        let mut width = 0;
        self.upward(rows, |_, label| {
            width = width.max(length_of(label));
            Ok(())
        })?;
        let (edge, corner, line) = if ascii { ('|', '+', '-') } else { ('┤', '└', '─') };
        for row in (0..rows).rev() {
            let mut is_labelled = false;
            self.upward(rows, |at, label| {
                if at != row || core::mem::replace(&mut is_labelled, true) {
                    return Ok(());
                }
                let pad = width - length_of(label);
                write!(out, "{:pad$}{label} {edge}", "")
            })?;
            if !is_labelled {
                write!(out, "{:width$} {}", "", if ascii { '|' } else { '│' })?;
            }
            // Pictures have no trailing spaces.
            let mut spaces = 0;
            for &height in heights {
                let filled = (height * f64::from(rows) - f64::from(row)).clamp(0.0, 1.0);
                let mut eighths = libm::round(filled * 8.0) as usize;
                if row == 0 && (height > 0.0 || self.is_percentiles()) {
                    eighths = eighths.max(1);
                }
                let shown = match (ascii, eighths) {
                    (_, 0) => ' ',
                    (false, _) => EIGHTHS[eighths],
                    (true, 1..=2) => '.',
                    (true, 3..=5) => ':',
                    (true, _) => '#',
                };
                if shown == ' ' {
                    spaces += 1;
                } else {
                    write!(out, "{:spaces$}{shown}", "")?;
                    spaces = 0;
                }
            }
            out.write_char('\n')?;
        }
        write!(out, "{:width$} {corner}", "")?;
        for _ in heights {
            out.write_char(line)?;
        }
        write!(out, "\n{:width$}  ", "")?;
        let mut written = 0;
        self.below(heights.len(), |place, label| {
            let length = length_of(label);
            // The label is under its column if there is room.
            let at = libm::round(place * heights.len() as f64) as usize;
            let at = at.saturating_sub(length / 2).min(heights.len().saturating_sub(length));
            if written > 0 && at < written + 2 {
                return Ok(());
            }
            let pad = at - written;
            written = at + length;
            write!(out, "{:pad$}{label}", "")
        })?;
        let (name, values) = match self.other {
            Other::Nines(_) => ("percentile", "; values in "),
            Other::Shares(_) if self.unit.is_time() => ("time", ""),
            Other::Shares(_) => ("value", ", "),
        };
        write!(out, "  {name}")?;
        if !self.unit.is_time() && !self.unit.name.is_empty() {
            write!(out, "{values}{}", Line(self.unit.name))?;
        }
        out.write_char('\n')
    }

    /// Whether every column has a value.
    fn is_percentiles(&self) -> bool {
        matches!(self.other, Other::Nines(_))
    }

    /// Calls `label` with the row of each label on the left, and the label.
    fn upward(&self, rows: u32, mut label: impl FnMut(u32, &dyn Display) -> fmt::Result) -> fmt::Result {
        let row = |place: f64| (place * f64::from(rows) - 0.01).clamp(0.0, f64::from(rows - 1)) as u32;
        let gap = 1.0 / f64::from(rows);
        match &self.other {
            Other::Nines(_) => {
                self.axis.ticks(gap, |value, place| label(row(place), &self.axis.label(&self.unit, value)))
            }
            Other::Shares(axis) => {
                axis.ticks(gap, |value, place| label(row(place), &axis.share_label(value)))
            }
        }
    }

    /// Calls `label` with the place of each label below, and the label.
    fn below(&self, columns: usize, mut label: impl FnMut(f64, &dyn Display) -> fmt::Result) -> fmt::Result {
        match self.other {
            Other::Shares(_) => self.axis.ticks(3.0 / columns as f64, |value, place| {
                label(place, &self.axis.label(&self.unit, value))
            }),
            Other::Nines(end) => {
                let places = (0..=20).map(|tick| (tick, nines_at(tick) / end));
                let mut places = places.take_while(|(_, place)| *place <= 1.0);
                places.try_for_each(|(tick, place)| label(place, &rank(tick)))
            }
        }
    }
}
