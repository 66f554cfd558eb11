//! Curves as SVG: percentiles and densities of one or more snapshots.

use core::fmt::{self, Write};

use super::axis::{Axis, Extent};
use super::color::CURVES;
use super::columns::{nines, shares, steps};
use super::frame::{
    CHARACTER, Frame, Name, begin, length_of, longest, nines_at, rank, value_name, widest, write_edges,
    write_names, write_nothing, write_value_ticks, write_x_tick, write_y_ticks,
};
use super::unit::Unit;
use super::{NOTHING, Picture, Pictures, Series};
use crate::BufferWriter;
use crate::escape::trim;
use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use picollo_core::seam::Grouped;

const LINE: f64 = 20.0;
/// The number of parts on the axis of a density.
const PARTS: usize = 160;
/// Points of a curve are not closer than eyes can distinguish.
const CLOSEST: f64 = 0.4;

/// Whether there are several curves or titles to distinguish.
fn has_legend(pictures: &Pictures<'_>) -> bool {
    pictures.length > 1 || pictures.series().any(|series| !trim(series.title).is_empty())
}

/// Calls `entry` with the place of each entry of the legend, in pixels from its corner; returns the height.
fn place_legend(
    pictures: &Pictures<'_>,
    width: f64,
    mut entry: impl FnMut(usize, Series<'_>, f64, f64),
) -> f64 {
    if !has_legend(pictures) {
        return 0.0;
    }
    let (mut x, mut y) = (0.0, 0.0);
    for (at, series) in pictures.series().enumerate() {
        let is_empty = series.snapshot.counts().total == 0;
        let length = Name(series, at).length() + if is_empty { NOTHING.len() + 3 } else { 0 };
        let needed = 44.0 + length as f64 * CHARACTER;
        if x > 0.0 && x + needed > width {
            (x, y) = (0.0, y + LINE);
        }
        entry(at, series, x, y);
        x += needed;
    }
    y + LINE + 6.0
}

/// The beginning of a picture, up to the legend of this height.
fn begin_with_legend(
    out: &mut dyn Write,
    pictures: &Pictures<'_>,
    labels: f64,
    height: f64,
    what: &str,
) -> Result<Frame, fmt::Error> {
    let frame = Frame::new(pictures, labels, height);
    begin(out, pictures, &frame, what)?;
    let mut result = Ok(());
    let room = frame.legend_room(height);
    let (left, top) = (20.0, frame.top - room);
    place_legend(pictures, frame.width - 40.0, |at, series, x, y| {
        if y + LINE > room {
            // The curve still shows its name as a tooltip.
            return;
        }
        let (x, y) = (left + x, top + y + 8.0);
        let nothing = if series.snapshot.counts().total == 0 { " (no observations)" } else { "" };
        result = result.and_then(|()| {
            begin_curve(out, at)?;
            writeln!(
                out,
                "M{x:.1} {y:.1}h22\"/><text class=\"pk-t pk-n\" x=\"{:.1}\" y=\"{:.1}\">{}{nothing}</text>",
                x + 28.0,
                y + 4.5,
                Name(series, at)
            )
        });
    });
    result.map(|()| frame)
}

pub(super) fn write(out: &mut dyn Write, pictures: &Pictures<'_>, picture: Picture) -> fmt::Result {
    let is_density = picture == Picture::Density;
    let what = if is_density { "density" } else { "percentiles" };
    let unit = Unit::new(pictures.unit, false);
    let width = Frame::new(pictures, 0.0, 0.0).width;
    let legend = place_legend(pictures, width - 40.0, |_, _, _, _| ());
    let Some(extent) = Extent::from_snapshots(pictures.recorded()) else {
        let frame = begin_with_legend(out, pictures, 3.0, legend, what)?;
        return write_nothing(out, &frame);
    };
    if is_density {
        write_density(out, pictures, &unit, &Axis::new(&extent, 7.0, 3.0, true), legend)?;
    } else {
        write_percentiles(out, pictures, &unit, &Axis::new(&extent, 6.0, 50.0, false), legend)?;
    }
    out.write_str("</svg>\n")
}

fn write_percentiles(
    out: &mut dyn Write,
    pictures: &Pictures<'_>,
    unit: &Unit<'_>,
    axis: &Axis,
    legend: f64,
) -> fmt::Result {
    let end = pictures.recorded().map(|snapshot| nines(snapshot.counts().total)).fold(1.0, f64::max);
    let frame = begin_with_legend(out, pictures, widest(axis, unit), legend, "percentiles")?;
    write_y_ticks(out, &frame, axis, |value| axis.label(unit, value))?;
    let mut free_from = f64::NEG_INFINITY;
    for tick in 0..=20 {
        let (place, label) = (nines_at(tick) / end, rank(tick));
        let half = length_of(&label) as f64 * CHARACTER / 2.0;
        if place <= 1.0 + 1e-9 && frame.x(place) - half >= free_from {
            write_x_tick(out, &frame, place, &label)?;
            free_from = frame.x(place) + half + 10.0;
        }
    }
    write_edges(out, &frame)?;
    write_names(out, &frame, &"Percentile", &value_name(unit))?;
    for (at, series) in pictures.series().enumerate() {
        if series.snapshot.counts().total == 0 {
            continue;
        }
        begin_curve(out, at)?;
        write_steps(out, &frame, axis, series.snapshot, end)?;
        end_curve(out, series, at, unit)?;
    }
    Ok(())
}

/// `M`, `V` and `H` of a curve of steps, except steps that nobody could see.
fn write_steps(
    out: &mut dyn Write,
    frame: &Frame,
    axis: &Axis,
    snapshot: &Snapshot,
    end: f64,
) -> fmt::Result {
    let (mut last, mut right): (Option<(f64, f64)>, f64) = (None, 0.0);
    steps(snapshot, |value, from, to| {
        let (from, y) = (frame.x(from / end), frame.y(axis.place(value)));
        right = frame.x(to / end);
        match last {
            Some((_, last)) if (y - last).abs() < CLOSEST => return Ok(()),
            None => write!(out, "M{from:.1} {y:.1}")?,
            Some((x, _)) if from - x < 0.05 => write!(out, "V{y:.1}")?,
            Some(_) => write!(out, "H{from:.1}V{y:.1}")?,
        }
        last = Some((from, y));
        Ok(())
    })?;
    write!(out, "H{right:.1}")
}

fn begin_curve(out: &mut dyn Write, at: usize) -> fmt::Result {
    write!(out, "<path class=\"pk-c pk-s{} pk-d{}\" d=\"", at % CURVES, at / CURVES % 3)
}

/// The end of a curve, with its tooltip.
fn end_curve(out: &mut dyn Write, series: Series<'_>, at: usize, unit: &Unit<'_>) -> fmt::Result {
    write!(
        out,
        "\"><title>{}: {} observations",
        Name(series, at),
        Grouped::from(series.snapshot.counts().total)
    )?;
    for (rank, name) in [(50.0, "P50"), (90.0, "P90"), (99.0, "P99"), (100.0, "P100")] {
        if let Ok(percentile) = series.snapshot.percentile(rank, ValueSelection::Midpoint) {
            write!(out, ", {name} {}", unit.rough(percentile.value as f64))?;
        }
    }
    out.write_str("</title></path>\n")
}

fn write_density(
    out: &mut dyn Write,
    pictures: &Pictures<'_>,
    unit: &Unit<'_>,
    axis: &Axis,
    legend: f64,
) -> fmt::Result {
    let mut parts = [0.0; PARTS];
    let highest = pictures.recorded().map(|snapshot| shares(snapshot, axis, &mut parts)).fold(0.0, f64::max);
    let upward = Axis::for_shares(highest, 5.0);
    let labels = longest(&upward, 0.05, |value| upward.share_label(value));
    let frame = begin_with_legend(out, pictures, labels, legend, "density")?;
    write_y_ticks(out, &frame, &upward, |value| upward.share_label(value))?;
    write_value_ticks(out, &frame, axis, unit)?;
    write_edges(out, &frame)?;
    let scale = if axis.is_log() { ", logarithmic" } else { "" };
    let mut bytes = [0; 64];
    let mut name = BufferWriter::new(&mut bytes);
    write!(name, "{}{scale}", value_name(unit))?;
    let name = if name.fits() { name.as_str() } else { "Value" };
    write_names(out, &frame, &name, &"Share of observations")?;
    for (at, series) in pictures.series().enumerate() {
        if series.snapshot.counts().total == 0 {
            continue;
        }
        shares(series.snapshot, axis, &mut parts);
        write!(out, "<path class=\"pk-a pk-f{}\" d=\"", at % CURVES)?;
        write_outline(out, &frame, &parts, &upward)?;
        out.write_str("\"/>\n")?;
        begin_curve(out, at)?;
        write_outline(out, &frame, &parts, &upward)?;
        end_curve(out, series, at, unit)?;
    }
    Ok(())
}

/// The steps of a density, from the lower axis and back to it.
fn write_outline(out: &mut dyn Write, frame: &Frame, parts: &[f64], upward: &Axis) -> fmt::Result {
    let mut last = frame.bottom;
    write!(out, "M{:.1} {last:.1}", frame.left)?;
    for (at, share) in parts.iter().enumerate() {
        let (x, y) = (frame.x(at as f64 / parts.len() as f64), frame.y(upward.place(*share)));
        if (y - last).abs() >= 0.1 {
            write!(out, "H{x:.1}V{y:.1}")?;
            last = y;
        }
    }
    write!(out, "H{:.1}V{:.1}", frame.right, frame.bottom)
}
