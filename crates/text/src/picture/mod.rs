//! Pictures of snapshots, without dependencies: in a terminal, as SVG, and as a report in one HTML file.
//!
//! | picture | of | written by |
//! |---|---|---|
//! | sparkline | one snapshot | [`write_sparkline`] |
//! | chart of several lines | one snapshot | [`write_chart`] |
//! | SVG | one or more | [`Pictures::write_svg`] |
//! | HTML report | one or more | [`Pictures::write_html`] |
//!
//! Like all text here, they are written piece by piece, allocate no memory, need a few kilobytes of stack, and are the
//! same each time. Axes begin and end where the observations do, or a little beyond, and are logarithmic for wide
//! ranges. Pictures state if there are no observations. Buckets have their real width: no picture shows unrecorded
//! detail.

mod axis;
mod chart;
mod color;
mod columns;
mod curves;
mod frame;
mod heat;
mod report;
#[cfg(test)]
mod tests;
mod unit;
mod xml;

use core::fmt::{self, Write};

pub use chart::{MAX_COLUMNS, MAX_ROWS};
pub use report::{REPORT_STYLE, write_facts, write_head, write_sentence, write_totals};
pub use xml::Xml;

use picollo_core::Snapshot;
use picollo_core::{Error, Result};

/// The text of a picture without observations.
const NOTHING: &str = "no observations";

/// What the picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Picture {
    /// The value at each percentile, on a scale on which every further nine (90, 99, 99.9, ...) has the same width.
    #[default]
    Percentiles = 0,
    /// The share of observations in each of many equal parts of the axis of values.
    Density = 1,
    /// Snapshots as columns from left to right, values upwards, and the number of observations as color. Not for
    /// terminals.
    HeatMap = 2,
}

picollo_core::seam::from_code!(Picture { Percentiles, Density, HeatMap });

/// Colors of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Theme {
    /// Light, or dark if the reader prefers that.
    #[default]
    Auto = 0,
    /// On white.
    Light = 1,
    /// On black.
    Dark = 2,
}

picollo_core::seam::from_code!(Theme { Auto, Light, Dark });

/// A snapshot in a picture, and its title there.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The legend shows it, escaped. Without a title, the snapshot has a number.
    pub title: &'a str,
    /// The counts.
    pub snapshot: &'a Snapshot,
}

/// One or more snapshots, and how to draw them.
///
/// ```
/// use picollo_text::picture::{Picture, Pictures, Series};
/// use picollo_core::{Layout, Snapshot};
///
/// const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// let (before, after) = (
///     Snapshot::<[u64; LAYOUT.snapshot_words()]>::new(LAYOUT),
///     Snapshot::<[u64; LAYOUT.snapshot_words()]>::new(LAYOUT),
/// );
/// let series =
///     [Series { title: "before", snapshot: &before }, Series { title: "after", snapshot: &after }];
/// let get = |at: usize| series[at];
/// let mut svg = String::new();
/// let pictures = Pictures { title: "Latency", unit: "ns", ..Pictures::new(series.len(), &get) };
/// pictures.write_svg(&mut svg, Picture::Percentiles).unwrap();
/// assert!(svg.contains("no observations"));
/// ```
#[derive(Clone, Copy)]
pub struct Pictures<'a> {
    /// The number of snapshots.
    pub length: usize,
    /// The snapshot at a position below `length`.
    pub get: &'a dyn Fn(usize) -> Series<'a>,
    /// The heading of the picture or report, escaped; omitted if empty.
    pub title: &'a str,
    /// The unit of values. `ps`, `ns`, `us`, `ms` and `s` turn labels into times; other units stand at the axis.
    pub unit: &'a str,
    /// Width in CSS pixels; limited to 200 ..= 4000. 0: 720.
    pub width: u32,
    /// Height in CSS pixels; limited to 150 ..= 4000. 0: 400.
    pub height: u32,
    /// Colors.
    pub theme: Theme,
    /// Facts about where and when values were measured, by name. The head of a report shows them, escaped.
    pub facts: &'a [(&'a str, &'a str)],
}

impl fmt::Debug for Pictures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pictures")
            .field("length", &self.length)
            .field("title", &self.title)
            .finish_non_exhaustive()
    }
}

impl<'a> Pictures<'a> {
    /// Snapshots without title and unit, at the usual size.
    pub fn new(length: usize, get: &'a dyn Fn(usize) -> Series<'a>) -> Pictures<'a> {
        Pictures { length, get, title: "", unit: "", width: 0, height: 0, theme: Theme::Auto, facts: &[] }
    }

    /// Writes a picture as an SVG document, which is also an HTML element. It has a `<title>`, explicit colors and its
    /// own background, and has no external references. Fails only if `out` fails.
    ///
    /// Cost: a few passes over the counts of each snapshot. The output is at most some tens of kilobytes for each.
    pub fn write_svg(&self, mut out: &mut (impl Write + ?Sized), picture: Picture) -> fmt::Result {
        match picture {
            Picture::HeatMap => heat::write(&mut out, self),
            curve => curves::write(&mut out, self, curve),
        }
    }

    /// Writes a report: one HTML document with the results in sentences, the [`facts`](Pictures::facts), tables in
    /// units that fit, the pictures, comparisons with the first snapshot, and the counts as JSON and in the native
    /// encoding. It refers to nothing outside and runs no script. Fails only if `out` fails.
    ///
    /// It has a heat map if there are three or more snapshots; curves and comparisons show the first eight.
    pub fn write_html(&self, mut out: &mut (impl Write + ?Sized)) -> fmt::Result {
        report::write(&mut out, self)
    }

    /// All snapshots in order.
    fn series(&self) -> impl Iterator<Item = Series<'a>> {
        let get = self.get;
        (0..self.length).map(get)
    }

    /// The snapshots that have observations.
    fn recorded(&self) -> impl Iterator<Item = &'a Snapshot> {
        self.series().map(|series| series.snapshot).filter(|snapshot| snapshot.counts().total > 0)
    }
}

/// The options of a picture in a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChartOptions<'a> {
    /// It stands above the chart, on a separate line; omitted if empty.
    pub title: &'a str,
    /// The unit of values, as for [`Pictures::unit`].
    pub unit: &'a str,
    /// Columns of the plot, without the labels to its left; limited to [`MAX_COLUMNS`]. 0: 64.
    pub columns: u32,
    /// Rows of the plot, without the lines above and below; limited to [`MAX_ROWS`]. 0: 10.
    pub rows: u32,
    /// Only ASCII, except in the title and the unit.
    pub ascii: bool,
}

/// Writes the density of a snapshot on one line without a line break: `▁▂▅█▇▅▃▂▁▁`. It shows equal parts of a logarithmic axis
/// (linear if the observations are close together), from the smallest observation to the bucket of P99.9.
/// Observations above are left out; up to a thousand observations, nothing is above. A part without observations is
/// a space; a part with any observation is not. Fails only if `out` fails.
///
/// `columns` are limited to 1 ..= [`MAX_COLUMNS`]; 0 means 40. In ASCII the heights are `.:-=+*#%@`.
pub fn write_sparkline(
    snapshot: &Snapshot,
    mut out: &mut (impl Write + ?Sized),
    columns: u32,
    ascii: bool,
) -> fmt::Result {
    chart::write_sparkline(&mut out, snapshot, columns, ascii)
}

/// Writes a chart of a snapshot: several lines with axes and labels. Fails only if `out` fails.
///
/// Returns [`Error::InvalidArgument`] for a heat map, which needs several snapshots; `fmt::Error` becomes
/// [`Error::BufferTooSmall`].
pub fn write_chart(
    snapshot: &Snapshot,
    mut out: &mut (impl Write + ?Sized),
    picture: Picture,
    options: &ChartOptions<'_>,
) -> Result<()> {
    if picture == Picture::HeatMap {
        return Err(Error::InvalidArgument);
    }
    chart::write(&mut out, snapshot, picture, options).map_err(|_| Error::BufferTooSmall)
}
