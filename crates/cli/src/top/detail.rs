//! One histogram on the whole screen: percentiles of the last interval and overall, and a heat map of the last minutes.

use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::row::Row;
use super::screen::{FAINT, LINE, PLAIN, STRONG, change, draw_text, log, rate, value, values_of};
use super::state::State;
use super::watch::Watch;
use crate::show::RANKS;
use crate::table::count;

/// Width for values beside a picture.
const MARGIN: u16 = 10;
const SHADES: [&str; 5] = [" ", "░", "▒", "▓", "█"];
/// The curve ends at this many nines: 99.99 %.
const NINES: f64 = 4.0;
const MOST_POINTS: usize = 256;

pub(crate) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    row: &Row,
    whole: Option<&Snapshot>,
    state: &State,
    watch: &Watch,
) {
    let state_text = if row.is_live { "" } else { ", ended" };
    draw_text(buffer, area, 0, &row.title, STRONG);
    let values: Vec<String> =
        RANKS.iter().zip(values_of(row)).map(|((_, name), text)| format!("{name} {text}")).collect();
    let text = format!("{}  {}", rate(row.last.per_second), values.join("  "));
    draw_text(buffer, area, 1, &text, PLAIN);
    let mut beside = format!("process {}{state_text}  {} in all", row.pid, count(row.total, true));
    for (number, what) in [(row.last.out_of_range, "out of range"), (row.last.lost, "lost")] {
        if number > 0 {
            beside += &format!("  {} {what}", count(number, true));
        }
    }
    draw_text(buffer, area, 2, &beside, FAINT);
    if row.has_mark() {
        let (text, style) = change(row, state.quantile);
        let at = Rect { x: area.x + (beside.width() as u16 + 2).min(area.width - 1), ..area };
        let at = Rect { width: area.right().saturating_sub(at.x), ..at };
        draw_text(buffer, at, 2, &format!("p{} since the mark: {text}", state.quantile * 100.0), style);
    }
    let left = area.height.saturating_sub(3);
    let curve_height = left / 2;
    let curve = Rect { y: area.y + 3, height: curve_height, ..area };
    let heat = Rect { y: curve.y + curve_height, height: left - curve_height, ..area };
    draw_curve(buffer, curve, row, whole);
    draw_heat(buffer, heat, row, watch);
}

/// The area of a picture: it leaves a title above, a margin on the left, and a line below.
fn inside(area: Rect) -> Option<Rect> {
    (area.height >= 4 && area.width > MARGIN + 10).then(|| Rect {
        x: area.x + MARGIN,
        y: area.y + 1,
        width: area.width - MARGIN,
        height: area.height - 2,
    })
}

/// Percentiles from left to right, with equal space per nine; values upward, logarithmic.
fn draw_curve(buffer: &mut Buffer, area: Rect, row: &Row, whole: Option<&Snapshot>) {
    let Some(picture) = inside(area) else { return };
    draw_text(buffer, area, 0, "value at percentile   ● last interval   · since start", STRONG);
    let width = usize::from(picture.width).min(MOST_POINTS);
    let ranks: Vec<f64> =
        (0..width).map(|x| 100.0 * (1.0 - 10f64.powf(-NINES * x as f64 / (width - 1) as f64))).collect();
    let values = |snapshot: Option<&Snapshot>| {
        let mut values = vec![0; width];
        let taken = snapshot?.percentile_values(&ranks, ValueSelection::Midpoint, &mut values);
        taken.ok().map(|()| values)
    };
    let (now, all) = (values(row.snapshot.as_deref()), values(whole));
    let seen = || now.iter().chain(&all).flatten().copied();
    let (Some(low), Some(high)) = (seen().min(), seen().max()) else {
        draw_text(buffer, area, 1, "  nothing was recorded", FAINT);
        return;
    };
    let span = (log(high) - log(low)).max(0.1);
    let last = f64::from(picture.height - 1);
    let line_of =
        |value: u64| ((1.0 - (log(value) - log(low)) / span) * last).round().clamp(0.0, last) as u16;
    for (values, mark, style) in [(&all, "·", FAINT), (&now, "●", LINE)] {
        for (x, &value) in values.iter().flatten().enumerate() {
            draw_at(buffer, picture, x as u16, line_of(value), mark, style);
        }
    }
    for (line, value_there) in [(0, high), (picture.height - 1, low)] {
        margin(buffer, picture, line, &value(value_there, &row.entry.unit));
    }
    for (nines, name) in [(0.0, "0"), (0.25, "90"), (0.5, "99"), (0.75, "99.9"), (1.0, "99.99")] {
        let at = (nines * (width - 1) as f64) as u16;
        let at = at.min(picture.width.saturating_sub(name.len() as u16));
        draw_at(buffer, Rect { height: area.height, ..picture }, at, picture.height, name, FAINT);
    }
}

/// Time to the right, values upward. Darker means a larger part of the interval.
fn draw_heat(buffer: &mut Buffer, area: Rect, row: &Row, watch: &Watch) {
    let Some(picture) = inside(area) else { return };
    let columns = row.coarse.len().min(picture.width.into());
    let shown = || row.coarse.iter().rev().take(columns);
    let length = columns as f64 * watch.interval.as_secs_f64();
    draw_text(buffer, area, 0, &format!("the last {length:.0} s, now at the right"), STRONG);
    let buckets = || shown().flat_map(|column| column.recorded_buckets());
    let (Some(first), Some(last)) =
        (buckets().min_by_key(|bucket| bucket.lower), buckets().max_by_key(|bucket| bucket.lower))
    else {
        draw_text(buffer, area, 1, "  nothing was recorded", FAINT);
        return;
    };
    // Each line combines as many buckets as needed.
    let number = last.logical_index - first.logical_index + 1;
    let per_line = number.div_ceil(picture.height.into()).max(1);
    let lines = number.div_ceil(per_line) as u16;
    for (back, column) in shown().enumerate() {
        let most = column.recorded_buckets().map(|bucket| bucket.count).max().unwrap_or(1);
        let mut shades = vec![0; lines.into()];
        for bucket in column.recorded_buckets() {
            let line = ((bucket.logical_index - first.logical_index) / per_line) as usize;
            let shade = (4 * u128::from(bucket.count)).div_ceil(most.into()) as usize;
            shades[line] = shade.max(shades[line]);
        }
        let x = picture.width - 1 - back as u16;
        for (line, shade) in (0..lines).rev().zip(shades) {
            draw_at(buffer, picture, x, line, SHADES[shade], LINE);
        }
    }
    margin(buffer, picture, 0, &value(last.lower, &row.entry.unit));
    if lines > 1 {
        margin(buffer, picture, lines - 1, &value(first.lower, &row.entry.unit));
    }
}

fn margin(buffer: &mut Buffer, picture: Rect, line: u16, text: &str) {
    let area = Rect { x: picture.x - MARGIN, width: MARGIN - 1, ..picture };
    draw_text(buffer, area, line, &format!("{text:>width$}", width = usize::from(MARGIN) - 1), FAINT);
}

fn draw_at(
    buffer: &mut Buffer,
    area: Rect,
    x: u16,
    line: u16,
    text: &str,
    style: ratatui_core::style::Style,
) {
    if x < area.width {
        draw_text(buffer, Rect { x: area.x + x, width: area.width - x, ..area }, line, text, style);
    }
}
