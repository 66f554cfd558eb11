//! Curves as SVG: percentiles and densities of one or more snapshots.

use core::fmt::{self, Display, Write};

use super::axis::{Axis, Extent};
use super::color::{self, CURVES};
use super::columns::{nines, shares, steps};
use super::unit::Unit;
use super::xml::{Short, Xml};
use super::{NOTHING, Picture, Pictures, Series};
use crate::ValueSelection;
use crate::text::BufferWriter;
use crate::text::escape::trim;
use crate::text::number::{Fixed, Grouped};

/// About how wide a character of a label is, in pixels.
const CHARACTER: f64 = 7.2;
const LINE: f64 = 20.0;
/// Characters of a title in the legend.
const LEGEND: usize = 40;
/// Of these the axes of a density are made.
const PARTS: usize = 160;
/// A curve has no more points than can be told apart.
const CLOSEST: f64 = 0.4;

/// Where the plot is in the picture.
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
        // Many titles must not leave nothing of the plot.
        let top = 14.0 + title + above.min(height * 0.4);
        Frame {
            width,
            height,
            left: 44.0 + labels * CHARACTER,
            right: width - 22.0,
            top,
            bottom: height - 46.0,
        }
    }

    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + place.clamp(0.0, 1.0) * (self.right - self.left)
    }

    pub(super) fn y(&self, place: f64) -> f64 {
        self.bottom - place.clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// The beginning of a picture, as far as the title.
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

/// Says that there is nothing to draw.
pub(super) fn write_nothing(out: &mut dyn Write, frame: &Frame) -> fmt::Result {
    let (x, y) = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
    writeln!(
        out,
        "<text class=\"pk-t pk-n\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{NOTHING}</text>"
    )
}

/// The plot's lower and left edge.
pub(super) fn write_edges(out: &mut dyn Write, frame: &Frame) -> fmt::Result {
    let Frame { left, right, top, bottom, .. } = frame;
    writeln!(out, "<path class=\"pk-x\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>")
}

/// What the axes show.
pub(super) fn write_names(
    out: &mut dyn Write,
    frame: &Frame,
    x: &dyn Display,
    y: &dyn Display,
) -> fmt::Result {
    let (middle, at) = ((frame.left + frame.right) / 2.0, frame.height - 12.0);
    writeln!(out, "<text class=\"pk-t\" x=\"{middle:.1}\" y=\"{at:.1}\" text-anchor=\"middle\">{x}</text>")?;
    let middle = (frame.top + frame.bottom) / 2.0;
    writeln!(
        out,
        "<text class=\"pk-t\" transform=\"translate(22 {middle:.1})rotate(-90)\" text-anchor=\"middle\">{y}</text>"
    )
}

/// A tick of the lower axis.
pub(super) fn write_x_tick(
    out: &mut dyn Write,
    frame: &Frame,
    place: f64,
    label: &dyn Display,
) -> fmt::Result {
    let (x, Frame { top, bottom, .. }) = (frame.x(place), frame);
    writeln!(
        out,
        "<path class=\"pk-g\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/><text class=\"pk-t\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
        bottom + 17.0
    )
}

/// A tick of the left axis.
pub(super) fn write_y_tick(
    out: &mut dyn Write,
    frame: &Frame,
    place: f64,
    label: &dyn Display,
) -> fmt::Result {
    let (y, Frame { left, right, .. }) = (frame.y(place), frame);
    writeln!(
        out,
        "<path class=\"pk-g\" d=\"M{left:.1} {y:.1}H{right:.1}\"/><text class=\"pk-t\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
        left - 7.0,
        y + 4.5
    )
}

/// How long a text is, in characters.
pub(super) fn length_of(text: &dyn Display) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.chars().count();
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting does not fail.
    let _ = write!(counter, "{text}");
    counter.0
}

/// The length of the longest label of an axis of values.
pub(super) fn widest(axis: &Axis, unit: &Unit<'_>) -> f64 {
    let mut widest = 1;
    axis.ticks(0.04, |value, _| widest = widest.max(length_of(&axis.label(unit, value))));
    widest as f64
}

/// `Value`, with the unit where labels do not tell it.
pub(super) struct ValueName<'a>(pub &'a Unit<'a>);

impl Display for ValueName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name {
            "" => f.write_str("Value"),
            _ if self.0.is_time() => f.write_str("Time"),
            name => write!(f, "Value ({})", Short(name, 40)),
        }
    }
}

/// The title of a snapshot, or its number.
pub(super) struct Name<'a>(pub Series<'a>, pub usize);

impl Name<'_> {
    fn length(&self) -> usize {
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

/// Whether there is something to tell apart.
fn has_legend(pictures: &Pictures<'_>) -> bool {
    pictures.length > 1 || pictures.series().any(|series| !trim(series.title).is_empty())
}

/// Calls with the place of each entry of the legend, in pixels from its corner; returns its height.
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

fn write_legend(out: &mut dyn Write, pictures: &Pictures<'_>, frame: &Frame, height: f64) -> fmt::Result {
    let mut result = Ok(());
    let (left, top) = (20.0, frame.top - height);
    place_legend(pictures, frame.width - 40.0, |at, series, x, y| {
        let (x, y) = (left + x, top + y + 8.0);
        let (color, dashes) = (at % CURVES, at / CURVES % 3);
        let nothing = if series.snapshot.counts().total == 0 { " (no observations)" } else { "" };
        result = result.and_then(|()| {
            writeln!(
                out,
                "<path class=\"pk-c pk-s{color} pk-d{dashes}\" d=\"M{x:.1} {y:.1}h22\"/><text class=\"pk-t pk-n\" x=\"{:.1}\" y=\"{:.1}\">{}{nothing}</text>",
                x + 28.0,
                y + 4.5,
                Name(series, at)
            )
        });
    });
    result
}

pub(super) fn write(out: &mut dyn Write, pictures: &Pictures<'_>, picture: Picture) -> fmt::Result {
    let what = if picture == Picture::Density { "density" } else { "percentiles" };
    let unit = Unit::new(pictures.unit, false);
    let width = Frame::new(pictures, 0.0, 0.0).width;
    let legend = place_legend(pictures, width - 40.0, |_, _, _, _| ());
    let Some(extent) = Extent::of(pictures.recorded()) else {
        let frame = Frame::new(pictures, 3.0, legend);
        begin(out, pictures, &frame, what)?;
        write_legend(out, pictures, &frame, legend)?;
        write_edges(out, &frame)?;
        write_nothing(out, &frame)?;
        return out.write_str("</svg>\n");
    };
    if picture == Picture::Density {
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
    let frame = Frame::new(pictures, widest(axis, unit), legend);
    let end = pictures.recorded().map(|snapshot| nines(snapshot.counts().total)).fold(1.0, f64::max);
    begin(out, pictures, &frame, "percentiles")?;
    write_legend(out, pictures, &frame, legend)?;
    let mut result = Ok(());
    axis.ticks(18.0 / (frame.bottom - frame.top), |value, place| {
        result = result.and_then(|()| write_y_tick(out, &frame, place, &axis.label(unit, value)));
    });
    result?;
    let mut free_from = f64::NEG_INFINITY;
    for tick in 0..=20 {
        let (place, label) = (nines_at(tick) / end, Rank(tick));
        let half = length_of(&label) as f64 * CHARACTER / 2.0;
        if place <= 1.0 + 1e-9 && frame.x(place) - half >= free_from {
            write_x_tick(out, &frame, place, &label)?;
            free_from = frame.x(place) + half + 10.0;
        }
    }
    write_edges(out, &frame)?;
    write_names(out, &frame, &"Percentile", &ValueName(unit))?;
    for (at, series) in pictures.series().enumerate() {
        if series.snapshot.counts().total == 0 {
            continue;
        }
        begin_curve(out, at)?;
        let mut path = Path::new(out);
        steps(series.snapshot, |value, from, to| {
            path.step(frame.x(from / end), frame.y(axis.place(value)), frame.x(to / end))
        });
        path.end()?;
        end_curve(out, series, at, unit)?;
    }
    Ok(())
}

/// `M`, `V` and `H` of a curve of steps, but those that nobody could see.
struct Path<'a> {
    out: &'a mut dyn Write,
    result: fmt::Result,
    last: Option<(f64, f64)>,
    to: f64,
}

impl<'a> Path<'a> {
    fn new(out: &'a mut dyn Write) -> Path<'a> {
        Path { out, result: Ok(()), last: None, to: 0.0 }
    }

    fn step(&mut self, from: f64, y: f64, to: f64) {
        match self.last {
            None => self.write(format_args!("M{from:.1} {y:.1}")),
            Some((_, last)) if (y - last).abs() < CLOSEST => {
                self.to = to;
                return;
            }
            Some((x, _)) if from - x < 0.05 => self.write(format_args!("V{y:.1}")),
            Some(_) => self.write(format_args!("H{from:.1}V{y:.1}")),
        }
        self.last = Some((from, y));
        self.to = to;
    }

    fn write(&mut self, piece: fmt::Arguments<'_>) {
        if self.result.is_ok() {
            self.result = self.out.write_fmt(piece);
        }
    }

    fn end(mut self) -> fmt::Result {
        let to = self.to;
        self.write(format_args!("H{to:.1}"));
        self.result
    }
}

fn begin_curve(out: &mut dyn Write, at: usize) -> fmt::Result {
    write!(out, "<path class=\"pk-c pk-s{} pk-d{}\" d=\"", at % CURVES, at / CURVES % 3)
}

/// The end of a curve, with what shows when the pointer is over it.
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

/// The label of a tick of the axis of percentiles: 0, 50, 90, 99, 99.9, … by number.
pub(super) struct Rank(pub u32);

/// Where it is: 90 % has one nine.
pub(super) fn nines_at(tick: u32) -> f64 {
    match tick {
        0 => 0.0,
        1 => core::f64::consts::LOG10_2,
        _ => f64::from(tick - 1),
    }
}

impl Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0%"),
            1 => f.write_str("50%"),
            2 => f.write_str("90%"),
            3 => f.write_str("99%"),
            tick @ 4..=7 => write!(f, "99.{:.*}%", tick as usize - 3, "9999"),
            tick => write!(f, "{} nines", tick - 1),
        }
    }
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
    let upward = Axis::of_shares(highest, 5.0);
    let percent = |value: f64| {
        let decimals = (-super::unit::floor_log10(upward.step() * 100.0)).max(0);
        Percent(value, decimals as u32)
    };
    let mut labels = 0;
    upward.ticks(0.05, |value, _| labels = labels.max(length_of(&percent(value))));
    let frame = Frame::new(pictures, labels as f64, legend);
    begin(out, pictures, &frame, "density")?;
    write_legend(out, pictures, &frame, legend)?;
    let mut result = Ok(());
    upward.ticks(18.0 / (frame.bottom - frame.top), |value, place| {
        result = result.and_then(|()| write_y_tick(out, &frame, place, &percent(value)));
    });
    result?;
    write_value_ticks(out, &frame, axis, unit)?;
    write_edges(out, &frame)?;
    let scale = if axis.is_log() { ", logarithmic" } else { "" };
    let mut bytes = [0; 64];
    let mut name = BufferWriter::new(&mut bytes);
    write!(name, "{}{scale}", ValueName(unit))?;
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

/// Ticks of an axis of values that lies below.
fn write_value_ticks(out: &mut dyn Write, frame: &Frame, axis: &Axis, unit: &Unit<'_>) -> fmt::Result {
    let gap = (widest(axis, unit) + 1.5) * CHARACTER / (frame.right - frame.left);
    let mut result = Ok(());
    axis.ticks(gap, |value, place| {
        result = result.and_then(|()| write_x_tick(out, frame, place, &axis.label(unit, value)));
    });
    result
}

/// A share in per cent.
struct Percent(f64, u32);

impl Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", Fixed::new(self.0 * 100.0, self.1))
    }
}
