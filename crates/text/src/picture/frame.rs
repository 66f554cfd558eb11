//! The common parts of all SVG pictures: the frame, its axes and their labels.

use core::fmt::{self, Display, Write, from_fn};

use super::axis::Axis;
use super::unit::Unit;
use super::xml::{Short, Xml};
use super::{NOTHING, Pictures, Series, color};
use crate::escape::trim;
use crate::table::width;

/// The approximate width of a label's character, in pixels.
pub(super) const CHARACTER: f64 = 7.2;
/// The largest part of the picture for the legend, so that many titles leave room for the plot.
const LARGEST_LEGEND: f64 = 0.4;
/// The largest number of characters of a title in the legend.
const LEGEND: usize = 40;

/// The position of the plot in the picture.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn new(pictures: &Pictures<'_>, labels: f64, above: f64) -> Frame {
        let or = |asked: u32, default: u32| if asked == 0 { default } else { asked };
        let width = f64::from(or(pictures.width, 720).clamp(200, 4000));
        let height = f64::from(or(pictures.height, 400).clamp(150, 4000));
        let title = if trim(pictures.title).is_empty() { 0.0 } else { 26.0 };
        let top = 14.0 + title + above.min(height * LARGEST_LEGEND);
        Frame {
            width,
            height,
            left: 44.0 + labels * CHARACTER,
            right: width - 30.0,
            top,
            bottom: height - 46.0,
        }
    }

    /// The height that the legend gets.
    pub(super) fn legend_room(&self, height: f64) -> f64 {
        height.min(self.height * LARGEST_LEGEND)
    }

    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + place.clamp(0.0, 1.0) * (self.right - self.left)
    }

    pub(super) fn y(&self, place: f64) -> f64 {
        self.bottom - place.clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// The beginning of a picture, up to the title.
pub(super) fn begin(out: &mut dyn Write, pictures: &Pictures<'_>, frame: &Frame, what: &str) -> fmt::Result {
    let Frame { width, height, .. } = frame;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
    )?;
    let title = trim(pictures.title);
    let colon = if title.is_empty() { "" } else { ": " };
    writeln!(out, "<title>{}{colon}{what}</title>", Xml(title))?;
    color::write_style(out, pictures.theme)?;
    writeln!(out, "<rect class=\"pk-b\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>")?;
    if !title.is_empty() {
        let room = ((width - 40.0) / 8.5) as usize;
        writeln!(out, "<text class=\"pk-t pk-h\" x=\"20\" y=\"27\">{}</text>", Short(title, room))?;
    }
    Ok(())
}

/// States that there is nothing to draw, and ends the picture.
pub(super) fn write_nothing(out: &mut dyn Write, frame: &Frame) -> fmt::Result {
    write_edges(out, frame)?;
    let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    write_text(out, "pk-t pk-n", middle, "middle", &NOTHING)?;
    out.write_str("</svg>\n")
}

/// A text whose `anchor` (middle or end) is at a point; ends the line.
pub(super) fn write_text(
    out: &mut dyn Write,
    class: &str,
    (x, y): (f64, f64),
    anchor: &str,
    text: &dyn Display,
) -> fmt::Result {
    writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
}

/// The plot's lower and left edge.
pub(super) fn write_edges(out: &mut dyn Write, frame: &Frame) -> fmt::Result {
    let Frame { left, right, top, bottom, .. } = frame;
    writeln!(out, "<path class=\"pk-x\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>")
}

/// The names of the axes.
pub(super) fn write_names(
    out: &mut dyn Write,
    frame: &Frame,
    x: &dyn Display,
    y: &dyn Display,
) -> fmt::Result {
    let middle = (frame.left + frame.right) / 2.0;
    write_text(out, "pk-t", (middle, frame.height - 12.0), "middle", x)?;
    let middle = (frame.top + frame.bottom) / 2.0;
    writeln!(
        out,
        "<text class=\"pk-t\" transform=\"translate(22 {middle:.1})rotate(-90)\" text-anchor=\"middle\">{y}</text>"
    )
}

pub(super) fn write_x_tick(
    out: &mut dyn Write,
    frame: &Frame,
    place: f64,
    label: &dyn Display,
) -> fmt::Result {
    let (x, Frame { top, bottom, .. }) = (frame.x(place), frame);
    write!(out, "<path class=\"pk-g\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>")?;
    write_text(out, "pk-t", (x, bottom + 17.0), "middle", label)
}

pub(super) fn write_y_ticks<L: Display>(
    out: &mut dyn Write,
    frame: &Frame,
    axis: &Axis,
    label: impl Fn(f64) -> L,
) -> fmt::Result {
    let Frame { left, right, .. } = frame;
    axis.ticks(18.0 / (frame.bottom - frame.top), |value, place| {
        let y = frame.y(place);
        write!(out, "<path class=\"pk-g\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>")?;
        write_text(out, "pk-t", (left - 7.0, y + 4.5), "end", &label(value))
    })
}

/// The length of a text, in characters.
pub(super) fn length_of(text: &dyn Display) -> usize {
    width(text).unwrap_or(0)
}

/// The length of the longest label of an axis of values.
pub(super) fn widest(axis: &Axis, unit: &Unit<'_>) -> f64 {
    longest(axis, 0.04, |value| axis.label(unit, value)).max(1.0)
}

/// The length of the longest label of ticks.
pub(super) fn longest<L: Display>(axis: &Axis, gap: f64, label: impl Fn(f64) -> L) -> f64 {
    let mut longest = 0;
    // This writes nothing, so it does not fail.
    let _ = axis.ticks(gap, |value, _| {
        longest = longest.max(length_of(&label(value)));
        Ok(())
    });
    longest as f64
}

/// `Value`, with the unit if labels do not show it.
pub(super) fn value_name(unit: &Unit<'_>) -> impl Display {
    from_fn(move |f| match unit.name {
        "" => f.write_str("Value"),
        _ if unit.is_time() => f.write_str("Time"),
        name => write!(f, "Value ({})", Short(name, 40)),
    })
}

/// The title of a snapshot, or its number.
pub(super) struct Name<'a>(pub Series<'a>, pub usize);

impl Name<'_> {
    pub(super) fn length(&self) -> usize {
        if trim(self.0.title).is_empty() { 3 } else { Short(self.0.title, LEGEND).length() }
    }
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name(series, at) = *self;
        if trim(series.title).is_empty() {
            write!(f, "#{}", at + 1)
        } else {
            Short(series.title, LEGEND).fmt(f)
        }
    }
}

/// The place of a tick, in nines: 90 % has one nine.
pub(super) fn nines_at(tick: u32) -> f64 {
    match tick {
        0 => 0.0,
        1 => core::f64::consts::LOG10_2,
        _ => f64::from(tick - 1),
    }
}

/// The label of a tick of the axis of percentiles: 0, 50, 90, 99, 99.9, … by number.
pub(super) fn rank(tick: u32) -> impl Display {
    from_fn(move |f| match tick {
        0..=3 => f.write_str(["0%", "50%", "90%", "99%"][tick as usize]),
        4..=7 => write!(f, "99.{:.*}%", tick as usize - 3, "9999"),
        _ => write!(f, "{} nines", tick - 1),
    })
}

/// Ticks of a horizontal axis of values.
pub(super) fn write_value_ticks(
    out: &mut dyn Write,
    frame: &Frame,
    axis: &Axis,
    unit: &Unit<'_>,
) -> fmt::Result {
    let gap = (widest(axis, unit) + 1.5) * CHARACTER / (frame.right - frame.left);
    axis.ticks(gap, |value, place| write_x_tick(out, frame, place, &axis.label(unit, value)))
}
