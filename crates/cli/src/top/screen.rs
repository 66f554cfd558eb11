//! The picture: a bar, the rows or one of them, and hints for keys. It is drawn into cells; only changed ones are sent.

use std::collections::VecDeque;

use picollo_stats::{COMPARISON_WITHIN_MARGIN, Comparison, Verdict};
use picollo_text::Unit;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use super::detail;
use super::row::Row;
use super::state::{Column, State};
use super::watch::Watch;
use crate::show::RANKS;
use crate::table::{fit, printable};

// These are the terminal's own colors, so that they are readable on dark and on light.
pub(super) const PLAIN: Style = Style::new();
pub(super) const BAR: Style = PLAIN.add_modifier(Modifier::REVERSED);
pub(super) const STRONG: Style = PLAIN.add_modifier(Modifier::BOLD);
pub(super) const FAINT: Style = PLAIN.add_modifier(Modifier::DIM);
/// Also for faint rows.
pub(super) const LINE: Style = PLAIN.fg(Color::Cyan).remove_modifier(Modifier::DIM);
const BETTER: Style = STRONG.fg(Color::Green);
const WORSE: Style = STRONG.fg(Color::Red);

/// Contents of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Sorted(Column),
    Line,
    Change,
}

/// Width of `3.29 ms`, and of `1.23 M/s`, after a space.
const VALUE: u16 = 8;
const RATE: u16 = 9;
/// Width of `+12.3 % [+9.1, +15.4] slower`.
const CHANGE: u16 = 31;
const NARROWEST_NAME: u16 = 14;

/// Columns that fit, with their widths, the name first.
fn columns(width: u16, is_marked: bool) -> Vec<(Cell, u16)> {
    let line = if width >= 140 { 31 } else { 9 };
    let value = |rank| (Cell::Sorted(Column::Value(rank)), VALUE);
    let rate = (Cell::Sorted(Column::Rate), RATE);
    let change = (Cell::Change, if is_marked { CHANGE } else { 0 });
    let all = [rate, value(0), value(1), value(2), value(3), value(4), (Cell::Line, line), change];
    let mut left = width.saturating_sub(NARROWEST_NAME);
    let mut fits = [false; 8];
    // The most important ones come first.
    for at in [3, 7, 0, 1, 5, 4, 2, 6] {
        fits[at] = (1..=left).contains(&all[at].1);
        left -= if fits[at] { all[at].1 } else { 0 };
    }
    let shown = all.into_iter().zip(fits).filter_map(|(column, fits)| fits.then_some(column));
    let mut columns: Vec<(Cell, u16)> = shown.collect();
    let used: u16 = columns.iter().map(|(_, width)| width).sum();
    columns.insert(0, (Cell::Sorted(Column::Name), width.saturating_sub(used)));
    columns
}

/// Draws everything, without colors if NO_COLOR is set.
pub(crate) fn draw(buffer: &mut Buffer, watch: &mut Watch, state: &mut State, has_colors: bool) {
    draw_colored(buffer, watch, state);
    if !has_colors {
        buffer.content.iter_mut().for_each(|cell| cell.fg = Color::Reset);
    }
}

fn draw_colored(buffer: &mut Buffer, watch: &mut Watch, state: &mut State) {
    let area = buffer.area;
    if area.width < 20 || area.height < 4 {
        draw_text(buffer, area, 0, "too small", PLAIN);
        return;
    }
    let shown = state.visible_rows(&watch.rows);
    if state.selected_row(&watch.rows).is_none() {
        state.selected = shown.first().copied();
        state.is_open &= state.selected.is_some();
    }
    let bar = bar_of(watch, state, shown.len());
    fill(buffer, area, 0, &bar, BAR);
    let keys = if state.is_typing {
        format!("filter: {}_   Enter keeps it, Esc drops it", printable(&state.filter))
    } else if !state.message.is_empty() {
        printable(&state.message)
    } else if let Some(trouble) = &watch.trouble {
        printable(trouble)
    } else if state.is_open {
        "Esc back  p pause  m mark  c quantile  r record  ? help  q quit".into()
    } else {
        "Enter open  ←→ sort  / filter  p pause  m mark  r record  ? help  q quit".into()
    };
    fill(buffer, area, area.height - 1, &keys, BAR);
    let inside = Rect { y: area.y + 1, height: area.height - 2, ..area };
    if state.is_help {
        for (line, text) in (0..inside.height).zip(HELP.lines()) {
            draw_text(buffer, inside, line, text, PLAIN);
        }
    } else if state.is_open {
        if let Some(number) = state.selected {
            let whole = watch.since_start(number);
            if let Some(row) = state.selected_row(&watch.rows) {
                let whole = whole.as_ref().or(row.whole.as_ref());
                detail::draw(buffer, inside, row, whole.map(AsRef::as_ref), state, watch);
            }
        }
    } else {
        rows(buffer, inside, watch, state, &shown);
    }
}

const HELP: &str = "\
Rows show the last interval: how often, percentiles, the largest value,
and p99 of the last minute. `since start` until the first one is over.

  Enter        one histogram: its curve and the last minutes; Esc: back
  ← → < > s    sort by another column; i: the other way round
  ↑ ↓ PgUp PgDn Home End   move
  /            show only what has this in its name or labels
  p space      pause: the screen stays, nothing is lost
  m            mark this moment: from then on rows show by how much p99 has
               changed against what was seen before, with its interval of
               95 % and the verdict; again: a new mark. M: no mark
  c            compare another quantile: 0.5, 0.9, 0.99
  r            record all to a .hlog; again: end
  x            take those that ended off the screen
  q Ctrl-C     quit; Ctrl-Z: stop, until `fg`

any key: back";

fn bar_of(watch: &Watch, state: &State, shown: usize) -> String {
    let (all, live) = (watch.rows.len(), watch.rows.values().filter(|row| row.is_live).count());
    let mut bar = format!("picollo top  {all} entries");
    if live < all {
        bar += &format!(", {} ended", all - live);
    }
    if shown < all {
        bar += &format!(", {shown} shown");
    }
    bar += &match watch.seconds {
        None => "  since start".to_owned(),
        Some(seconds) => format!("  last {seconds:.1} s"),
    };
    if !state.filter.is_empty() && !state.is_typing {
        bar += &format!("  filter {}", printable(&state.filter));
    }
    if state.is_paused {
        bar += "  PAUSED";
    }
    bar
}

fn rows(buffer: &mut Buffer, area: Rect, watch: &Watch, state: &mut State, shown: &[u64]) {
    if watch.rows.is_empty() {
        draw_text(buffer, area, 1, "  no program publishes here yet; new ones appear", PLAIN);
        return;
    }
    let is_marked = watch.rows.values().any(Row::has_mark);
    let columns = columns(area.width, is_marked);
    state.page = usize::from(area.height - 1).max(1);
    let place = state.place(shown);
    state.top = state.top.min(place).max((place + 1).saturating_sub(state.page));
    state.top = state.top.min(shown.len().saturating_sub(state.page));
    for line in 0..area.height {
        let number = match usize::from(line).checked_sub(1).map(|line| shown.get(state.top + line)) {
            Some(None) => break,
            number => number.flatten(),
        };
        let is_selected = number.is_some() && number == state.selected.as_ref();
        let mut x = 0;
        for &(cell, width) in &columns {
            let (text, style) = match number {
                None => heading(cell, state),
                Some(number) => content(cell, width, &watch.rows[number], state, watch),
            };
            // Inverted bars would mean the opposite.
            let is_inverse = is_selected && cell != Cell::Line;
            let style = if is_inverse { style.patch(BAR) } else { style };
            let text = match cell {
                Cell::Sorted(Column::Name) => fit(&text, usize::from(width.saturating_sub(1)).max(1)),
                Cell::Sorted(_) => format!("{text:>width$}", width = usize::from(width)),
                Cell::Line | Cell::Change => text,
            };
            let cells = Rect { x: area.x + x, y: area.y + line, width, height: 1 };
            fill(buffer, cells, 0, &text, style);
            x += width;
        }
    }
}

fn heading(cell: Cell, state: &State) -> (String, Style) {
    match cell {
        Cell::Sorted(column) if column == state.sorted_by => {
            let arrow = if state.is_inverted { '▴' } else { '▾' };
            (format!("{}{arrow}", column.title()), STRONG)
        }
        Cell::Sorted(column) => (column.title().into(), PLAIN),
        Cell::Line => (" p99 1min".into(), PLAIN),
        Cell::Change => (format!(" p{} SINCE THE MARK", state.quantile * 100.0), PLAIN),
    }
}

fn content(cell: Cell, width: u16, row: &Row, state: &State, watch: &Watch) -> (String, Style) {
    let style = if row.is_live { PLAIN } else { FAINT };
    match cell {
        Cell::Sorted(Column::Name) if row.is_live => (row.title.clone(), style),
        Cell::Sorted(Column::Name) => (format!("ended {}", row.title), style),
        Cell::Sorted(Column::Rate) => (rate(row.last.per_second), style),
        Cell::Sorted(Column::Value(_)) if row.is_counter() => (String::new(), style),
        Cell::Sorted(Column::Value(rank)) => match row.last.values {
            Some(values) => (value(values[rank], &row.entry.unit), style),
            None => ("-".into(), FAINT),
        },
        Cell::Line => {
            let room = usize::from(width.saturating_sub(1));
            (format!(" {:>room$}", sparkline(&row.p99s, room, watch.points())), LINE)
        }
        Cell::Change => {
            let (text, style) = change(row, state.quantile);
            (format!(" {text}"), style)
        }
    }
}

/// A change on one line, and its style.
pub(crate) fn change(row: &Row, quantile: f64) -> (String, Style) {
    match row.change(quantile) {
        None => (String::new(), PLAIN),
        Some(Err(_)) => ("too few yet".into(), FAINT),
        Some(Ok(found)) => {
            let style = match Verdict::from_code(found.verdict) {
                Verdict::Faster => BETTER,
                Verdict::Slower => WORSE,
                Verdict::NoEvidence => FAINT,
            };
            (change_text(&found), style)
        }
    }
}

fn change_text(found: &Comparison) -> String {
    // No value can fall by more than 100 %, even if an interval of few values says so.
    let share = |difference: f64| (difference / (found.a.value.max(1) as f64) * 100.0).max(-100.0);
    let number = |percent: f64| match percent.abs() {
        100.0.. => format!("{percent:+.0}"),
        _ => format!("{percent:+.1}"),
    };
    let verdict = match Verdict::from_code(found.verdict) {
        // The values may be other than times.
        Verdict::Faster => "less",
        Verdict::Slower => "more",
        Verdict::NoEvidence if found.flags & COMPARISON_WITHIN_MARGIN != 0 => "same",
        Verdict::NoEvidence => "unclear",
    };
    let ends = [found.difference_lower, found.difference_upper].map(share);
    if ends.iter().all(|end| end.is_finite()) {
        format!("{} % [{}, {}] {verdict}", number(share(found.difference)), number(ends[0]), number(ends[1]))
    } else {
        format!("{} % too few yet", number(share(found.difference)))
    }
}

/// Writes text on a line of an area, cut off at its end.
pub(crate) fn draw_text(buffer: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    if line < area.height {
        buffer.set_stringn(area.x, area.y + line, text, area.width.into(), style);
    }
}

/// The same, with that style for the rest of the line.
fn fill(buffer: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    if line < area.height {
        buffer.set_style(Rect { x: area.x, y: area.y + line, width: area.width, height: 1 }, style);
    }
    draw_text(buffer, area, line, text, style);
}

/// Values at the ranks, for other tables of a row.
pub(crate) fn values_of(row: &Row) -> [String; RANKS.len()] {
    match row.last.values {
        Some(values) => values.map(|one| value(one, &row.entry.unit)),
        None => RANKS.map(|_| if row.is_counter() { String::new() } else { "-".into() }),
    }
}

/// A value with its unit, in about nine characters: times as `3.29 ms`, others as `1.23 M`.
pub(crate) fn value(value: u64, unit: &str) -> String {
    let unit = Unit::new(unit);
    if unit.is_time() { unit.integer(value).to_string() } else { Unit::COUNT.integer(value).to_string() }
}

/// A rate per second.
pub(crate) fn rate(per_second: f64) -> String {
    let is_whole = per_second.fract() == 0.0 && (0.0..1e15).contains(&per_second);
    let text = if is_whole {
        Unit::COUNT.integer(per_second as u64)
    } else {
        Unit::COUNT.number(per_second).at_most(2)
    }
    .to_string();
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{text} /s")
    } else {
        format!("{text}/s")
    }
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Values with the latest on the right, on a logarithmic scale from the smallest to the largest. If there are more than
/// `width`, each bar shows the largest of its neighbors.
fn sparkline(values: &VecDeque<Option<u64>>, width: usize, most: usize) -> String {
    let per_bar = most.div_ceil(width.max(1)).max(1);
    let newest_first: Vec<Option<u64>> = values.iter().rev().copied().collect();
    let groups = newest_first.chunks(per_bar).take(width);
    let shown: Vec<Option<u64>> = groups.map(|group| group.iter().flatten().max().copied()).collect();
    let seen = || shown.iter().flatten().copied();
    let (Some(low), Some(high)) = (seen().min().map(log), seen().max().map(log)) else {
        return String::new();
    };
    let bar = |value: &Option<u64>| match value {
        None => ' ',
        Some(_) if high - low < 0.01 => BARS[3],
        Some(value) => BARS[((log(*value) - low) / (high - low) * 7.0).round() as usize % 8],
    };
    shown.iter().rev().map(bar).collect()
}

/// The logarithm to base two of a value, 0 for 0.
pub(crate) fn log(value: u64) -> f64 {
    (value.max(1) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow() {
        for (number, text) in [
            (0.0, "0 /s"),
            (0.5, "0.50 /s"),
            (7.0, "7 /s"),
            (99.96, "100 /s"),
            (999.0, "999 /s"),
            (999.7, "1.00 k/s"),
            (181_234.0, "181 k/s"),
            (18_123_400.0, "18.1 M/s"),
            (1e18, "1.00 E/s"),
        ] {
            assert_eq!(rate(number), text, "{number}");
        }
        assert_eq!(value(3_290_000, "ns"), "3.29 ms");
        assert_eq!(value(3_290_000, "bytes"), "3.29 M");
        assert_eq!(value(12, ""), "12");
    }

    #[test]
    fn sparklines() {
        let mut values = VecDeque::new();
        assert_eq!(sparkline(&values, 10, 60), "");
        values.extend([1, 2, 4, 8, 16, 32, 64, 128].map(Some));
        values.push_back(None);
        assert_eq!(sparkline(&values, 9, 9), "▁▂▃▄▅▆▇█ ");
        // Each bar is the largest of three, with the newest on the right.
        assert_eq!(sparkline(&values, 3, 9), "▁▅█");
        assert_eq!(sparkline(&[Some(7); 5].into(), 5, 5), "▄▄▄▄▄");
    }
}
