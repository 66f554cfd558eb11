//! Heat maps: snapshots from left to right, values upwards, counts as colors.

use core::fmt::{self, Write};

use super::axis::{Axis, Extent};
use super::color::LEVELS;
use super::columns::shares;
use super::frame::{
    Frame, Name, begin, length_of, value_name, widest, write_edges, write_names, write_nothing, write_text,
    write_y_ticks,
};
use super::unit::Unit;
use super::{Pictures, Series};
use picollo_core::seam::Fixed;

/// Parts of the axis of values.
const PARTS: usize = 64;

pub(super) fn write(out: &mut dyn Write, pictures: &Pictures<'_>) -> fmt::Result {
    let unit = Unit::new(pictures.unit, false);
    let Some(extent) = Extent::from_snapshots(pictures.recorded()) else {
        let frame = Frame::new(pictures, 3.0, 0.0);
        begin(out, pictures, &frame, "heat map")?;
        return write_nothing(out, &frame);
    };
    let axis = Axis::new(&extent, 6.0, 3.0, true);
    let frame = Frame::new(pictures, widest(&axis, &unit), 24.0);
    begin(out, pictures, &frame, "heat map")?;
    let mut parts = [0.0; PARTS];
    let most = pictures
        .recorded()
        .map(|snapshot| shares(snapshot, &axis, &mut parts) * snapshot.exact_total() as f64)
        .fold(0.0, f64::max);
    write_scale(out, &frame, most)?;
    write_y_ticks(out, &frame, &axis, |value| axis.label(&unit, value))?;
    let mut free_from = f64::NEG_INFINITY;
    for (at, series) in pictures.series().enumerate() {
        write_column(out, pictures, &frame, &axis, (at, series), most)?;
        let name = Name(series, at);
        let middle = frame.x((at as f64 + 0.5) / pictures.length as f64);
        let half = length_of(&name) as f64 * 3.6;
        if middle - half >= free_from.max(0.0) && middle + half <= frame.width {
            write_text(out, "pk-t", (middle, frame.bottom + 17.0), "middle", &name)?;
            free_from = middle + half + 14.0;
        }
    }
    write_edges(out, &frame)?;
    write_names(out, &frame, &"Snapshots, in order", &value_name(&unit))?;
    out.write_str("</svg>\n")
}

/// The color of a count: the square root distinguishes small counts.
fn level(count: f64, most: f64) -> usize {
    ((libm::sqrt(count / most) * LEVELS as f64) as usize).min(LEVELS - 1)
}

fn write_column(
    out: &mut dyn Write,
    pictures: &Pictures<'_>,
    frame: &Frame,
    axis: &Axis,
    (at, series): (usize, Series<'_>),
    most: f64,
) -> fmt::Result {
    let total = series.snapshot.exact_total() as f64;
    if total == 0.0 {
        return Ok(());
    }
    let mut parts = [0.0; PARTS];
    shares(series.snapshot, axis, &mut parts);
    let (left, right) = (at as f64 / pictures.length as f64, (at as f64 + 1.0) / pictures.length as f64);
    let (x, width) = (frame.x(left), frame.x(right) - frame.x(left));
    let color = |part: usize| (parts[part] > 0.0).then(|| level(parts[part] * total, most));
    let mut from = 0;
    while from < PARTS {
        let shown = color(from);
        let mut to = from + 1;
        while to < PARTS && color(to) == shown {
            to += 1;
        }
        if let Some(level) = shown {
            let (top, bottom) = (frame.y(to as f64 / PARTS as f64), frame.y(from as f64 / PARTS as f64));
            write!(
                out,
                "<rect class=\"pk-l{level}\" x=\"{x:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\"/>",
                // This avoids gaps if columns do not end at a pixel.
                width + 0.3,
                bottom - top + 0.3
            )?;
        }
        from = to;
    }
    out.write_char('\n')
}

/// The meaning of the colors.
fn write_scale(out: &mut dyn Write, frame: &Frame, most: f64) -> fmt::Result {
    let top = frame.top - 24.0;
    let label = Unit::new("", false);
    write!(out, "<text class=\"pk-t\" x=\"{:.1}\" y=\"{:.1}\">few</text>", frame.left, top + 11.0)?;
    for level in 0..LEVELS {
        write!(
            out,
            "<rect class=\"pk-l{level}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"18\" height=\"13\"/>",
            frame.left + 28.0 + level as f64 * 18.0
        )?;
    }
    let x = frame.left + 36.0 + LEVELS as f64 * 18.0;
    write!(out, "<text class=\"pk-t\" x=\"{x:.1}\" y=\"{:.1}\">", top + 11.0)?;
    // Parts of a bucket are not whole numbers.
    let most = libm::ceil(most);
    if most < 10_000.0 {
        write!(out, "{}", Fixed::new(most, 0))?;
    } else {
        write!(out, "{}", label.rough(most))?;
    }
    writeln!(out, " observations in 1/{PARTS} of the axis</text>")
}
