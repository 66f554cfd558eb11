//! Picollo: pictures of snapshots: in a terminal, as SVG, and as a report in one HTML file. They are text, refer to nothing
//! outside, and allocate nothing. docs/pictures.md shows them.
//!
//!     const picollo_snapshot *both[] = {before, after};
//!     const char *titles[] = {"before", "after"};
//!     picollo_report_format_html(both, titles, 2, "Requests", "ns", NULL, 0, &length);
//!     char *html = malloc(length + 1);
//!     picollo_report_format_html(both, titles, 2, "Requests", "ns", html, length + 1, &length);
//!
//! Axes span the observations or slightly more, and are logarithmic if that is a wide range. An empty picture reads
//! "no observations". unit is the unit of the recorded values. With "ps", "ns", "us", "ms" and "s" the labels are
//! times. Any other unit is written at the axis. NULL and "" mean no unit.
//!
//! What holds for every function is at the end of picollo.h.

use core::ffi::c_char;
use core::fmt::Write;

use picollo_core::{Layout, Snapshot};
use picollo_perf::Place;
use picollo_text::picture::{ChartOptions, Picture, Pictures, Series, Theme, write_chart, write_sparkline};

use crate::argument::{either, slice, text};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::options;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::status::picollo_status;
use crate::text::write_text;

/// The density on one line without a line break, for terminals only. It spans the smallest observation to the bucket
/// of P99.9 in equal parts of a logarithmic axis (a linear one for a narrow range). With more than a thousand
/// observations it omits the larger ones. A part without observations is a space. In ASCII the others are shades
/// (.:-=+*#%@).
pub const PICOLLO_PICTURE_SPARKLINE: u32 = 3;

/// Unicode's blocks and lines, of up to 3 bytes each.
pub const PICOLLO_CHARACTERS_UNICODE: u32 = 0;
/// Only ASCII, except for the caller's own texts.
pub const PICOLLO_CHARACTERS_ASCII: u32 = 1;

/// The look of an SVG.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_picture_options {
    pub struct_size: u32,
    /// PICOLLO_THEME_...
    pub theme: u32,
    /// In CSS pixels, limited to 200 ..= 4000. 0: 720.
    pub width: u32,
    /// In CSS pixels, limited to 150 ..= 4000. 0: 400.
    pub height: u32,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_picture_options {
    const FIRST_SIZE: usize = 16;
}

exported! {
/// Writes a chart with axes and labels, for a terminal.
///
/// Requires: picture is PICOLLO_PICTURE_PERCENTILES, _DENSITY or _SPARKLINE; columns and rows are the size of the
///   plot without labels, limited to 240 and 100, or 0 for 64 and 10; ascii is PICOLLO_CHARACTERS_.... A sparkline
///   ignores title, unit and rows, and 0 columns means 40.
/// Cost: two passes over the counters, and a few microseconds per line.
fn picollo_snapshot_format_chart(
    snapshot: *const picollo_snapshot,
    picture: u32,
    title: *const c_char,
    unit: *const c_char,
    columns: u32,
    rows: u32,
    ascii: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, title, unit) = (snapshot::read(snapshot)?, text(title)?, text(unit)?);
    let ascii = either(ascii, PICOLLO_CHARACTERS_UNICODE, PICOLLO_CHARACTERS_ASCII)?;
    if picture == PICOLLO_PICTURE_SPARKLINE {
        let line = &|out: &mut dyn Write| write_sparkline(snapshot, out, columns, ascii);
        return write_text(buffer, capacity, out_length, line);
    }
    let picture = Picture::try_from(picture)?;
    if picture == Picture::HeatMap {
        return Err(Failure::INVALID_ARGUMENT);
    }
    let options = ChartOptions { title, unit, columns, rows, ascii };
    write_text(buffer, capacity, out_length, &|out| {
        write_chart(snapshot, out, picture, &options).map_err(|_| core::fmt::Error)
    })
}
}

const NOTHING: Layout = Layout::new(0.1, 0, 1);
static EMPTY: Snapshot<[u64; NOTHING.snapshot_words()]> = Snapshot::new(NOTHING);

/// Calls `then` with the pictures that a caller's arrays describe.
///
/// # Safety
/// `snapshots` and, if not NULL, `titles` must lead to `length` pointers, each to what it should or NULL; nobody may change
/// any of it during the call.
unsafe fn with_pictures(
    snapshots: *const *const picollo_snapshot,
    titles: *const *const c_char,
    length: usize,
    title: *const c_char,
    unit: *const c_char,
    facts: &[(&str, &str)],
    then: impl FnOnce(Pictures<'_>) -> Outcome,
) -> Outcome {
    let (snapshots, title, unit) = (slice(snapshots, length)?, text(title)?, text(unit)?);
    let titles = if titles.is_null() { &[] } else { slice(titles, length)? };
    let series = |at: usize| -> Outcome<Series<'_>> {
        let pointer = snapshots.get(at).copied().unwrap_or(core::ptr::null());
        let title = titles.get(at).copied().unwrap_or(core::ptr::null());
        Ok(Series { title: text(title)?, snapshot: snapshot::read(pointer)? })
    };
    (0..length).try_for_each(|at| series(at).map(|_| ()))?;
    // All of them were just checked, so no series is empty because of an error.
    let get = |at: usize| series(at).unwrap_or(Series { title: "", snapshot: &EMPTY });
    then(Pictures { title, unit, facts, ..Pictures::new(length, &get) })
}

exported! {
/// Writes a picture of one or more snapshots as an SVG document, which is also an element of HTML. It has a title,
/// axes, units, a legend, and colors for light and dark themes.
///
/// Requires: snapshots and titles lead to length pointers each; titles may be NULL, and so may any of its elements;
///   picture is PICOLLO_PICTURE_.... 64 KiB are mostly enough for curves of two snapshots.
/// Cost: a few passes over the counters of each snapshot, twice.
fn picollo_pictures_format_svg(
    snapshots: *const *const picollo_snapshot,
    titles: *const *const c_char,
    length: usize,
    picture: u32,
    title: *const c_char,
    unit: *const c_char,
    options: *const picollo_picture_options,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let picture = Picture::try_from(picture)?;
    let asked = options::read(options)?;
    let (theme, width, height) =
        asked.map_or((0, 0, 0), |asked| (asked.theme, asked.width, asked.height));
    let theme = Theme::try_from(theme)?;
    let write = |pictures: Pictures<'_>| {
        let pictures = Pictures { theme, width, height, ..pictures };
        write_text(buffer, capacity, out_length, &|out| pictures.write_svg(out, picture))
    };
    with_pictures(snapshots, titles, length, title, unit, &[], write)
}

/// Writes a report on one or more snapshots as one HTML document. It has the findings in sentences, tables, pictures,
/// comparisons with the first snapshot, and the counts as JSON with their native encoding. It also has the date (to
/// the minute), host, command, kernel and processor, as far as they are known. It refers to nothing outside and runs
/// no script.
///
/// Three or more snapshots also get a heat map. Curves and comparisons show only the first eight.
///
/// Requires: as picollo_pictures_format_svg; titles may be NULL.
/// Cost: as for all its pictures and encodings, twice.
fn picollo_report_format_html(
    snapshots: *const *const picollo_snapshot,
    titles: *const *const c_char,
    length: usize,
    title: *const c_char,
    unit: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let place = Place::here();
    let facts = place.facts();
    let write = |pictures: Pictures<'_>| {
        write_text(buffer, capacity, out_length, &|out| pictures.write_html(out))
    };
    with_pictures(snapshots, titles, length, title, unit, &facts, write)
}
}
