//! The picture: a bar, the rows or one of them, and what keys do. Everything is drawn into cells; what is on the screen already is not sent.

use picollo_core::{COMPARISON_WITHIN_MARGIN, Comparison, Verdict};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::detail;
use super::numbers::{rate, value};
use super::row::{Change, RANKS, Row};
use super::state::{Column, State};
use super::style::Theme;
use super::watch::Watch;
use crate::table::printable;

/// What is in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Sorted(Column),
    Line,
    Change,
}

/// `3.29 ms`, and `1.23 M/s`, after a space.
const VALUE: u16 = 8;
const RATE: u16 = 9;
/// `+12.3 % [+9.1, +15.4] slower`.
const CHANGE: u16 = 31;
const NARROWEST_NAME: u16 = 14;

/// Columns and their widths that fit, the name first.
fn columns(width: u16, is_marked: bool) -> Vec<(Cell, u16)> {
    // Those that matter most come first here; the screen has them in the order of the list below.
    let mut wanted = vec![(Cell::Sorted(Column::Value(2)), VALUE)];
    if is_marked {
        wanted.push((Cell::Change, CHANGE));
    }
    let value = |rank| (Cell::Sorted(Column::Value(rank)), VALUE);
    wanted.extend([(Cell::Sorted(Column::Rate), RATE), value(0), value(4), value(3), value(1)]);
    wanted.push((Cell::Line, if width >= 140 { 31 } else { 9 }));
    let mut left = width.saturating_sub(NARROWEST_NAME);
    wanted.retain(|(_, width)| {
        let fits = *width <= left;
        left -= if fits { *width } else { 0 };
        fits
    });
    let used: u16 = wanted.iter().map(|(_, width)| width).sum();
    let order = |cell: Cell| match cell {
        Cell::Sorted(Column::Name) => 0,
        Cell::Sorted(Column::Rate) => 1,
        Cell::Sorted(Column::Value(rank)) => 2 + rank,
        Cell::Line => 10,
        Cell::Change => 11,
    };
    wanted.push((Cell::Sorted(Column::Name), width.saturating_sub(used)));
    wanted.sort_by_key(|(cell, _)| order(*cell));
    wanted
}

/// Draws everything.
pub(crate) fn draw(buffer: &mut Buffer, watch: &mut Watch, state: &mut State, theme: Theme) {
    let area = buffer.area;
    if area.width < 20 || area.height < 4 {
        put(buffer, area, 0, "too small", theme.plain());
        return;
    }
    let shown = state.shown(&watch.rows);
    if state.selected_row(&watch.rows).is_none() {
        state.selected = shown.first().map(|&at| watch.rows[at].0);
        state.is_open &= state.selected.is_some();
    }
    let bar = bar_of(watch, state, shown.len());
    fill(buffer, area, 0, &bar, theme.bar());
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
    fill(buffer, area, area.height - 1, &keys, theme.bar());
    let inside = Rect { y: area.y + 1, height: area.height - 2, ..area };
    if state.is_help {
        for (line, text) in (0..inside.height).zip(HELP.lines()) {
            put(buffer, inside, line, text, theme.plain());
        }
    } else if state.is_open {
        if let Some(number) = state.selected {
            let whole = watch.since_start(number);
            if let Some((_, row)) = state.selected_row(&watch.rows) {
                detail::draw(buffer, inside, row, whole.as_deref(), state, watch, theme);
            }
        }
    } else {
        rows(buffer, inside, watch, state, &shown, theme);
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
  q Ctrl-C     quit

any key: back";

fn bar_of(watch: &Watch, state: &State, shown: usize) -> String {
    let (all, live) = (watch.rows.len(), watch.rows.iter().filter(|(_, row)| row.is_live).count());
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

fn rows(buffer: &mut Buffer, area: Rect, watch: &Watch, state: &mut State, shown: &[usize], theme: Theme) {
    if watch.rows.is_empty() {
        put(buffer, area, 1, "  nobody publishes here; whoever begins to is shown", theme.plain());
        return;
    }
    let is_marked = watch.rows.iter().any(|(_, row)| row.has_mark());
    let columns = columns(area.width, is_marked);
    state.page = usize::from(area.height - 1).max(1);
    let place = state.place(&watch.rows, shown);
    state.top = state.top.min(place).max((place + 1).saturating_sub(state.page));
    state.top = state.top.min(shown.len().saturating_sub(state.page));
    for line in 0..area.height {
        let at = (state.top + usize::from(line)).checked_sub(1);
        let row = match line {
            0 => None,
            _ => match at.and_then(|at| shown.get(at)) {
                Some(&at) => Some(&watch.rows[at]),
                None => break,
            },
        };
        let is_selected = row.is_some_and(|(number, _)| Some(*number) == state.selected);
        let mut x = 0;
        for &(cell, width) in &columns {
            let (text, style) = match row {
                None => heading(cell, state, theme),
                Some((_, row)) => content(cell, width, row, state, watch, theme),
            };
            // Bars upside down would say the opposite.
            let is_inverse = is_selected && cell != Cell::Line;
            let style = if is_inverse { style.patch(theme.bar()) } else { style };
            let text = match cell {
                Cell::Sorted(Column::Name) => fit(&text, width),
                Cell::Sorted(_) => format!("{text:>width$}", width = usize::from(width)),
                Cell::Line | Cell::Change => text,
            };
            let cells = Rect { x: area.x + x, y: area.y + line, width, height: 1 };
            fill(buffer, cells, 0, &text, style);
            x += width;
        }
    }
}

fn heading(cell: Cell, state: &State, theme: Theme) -> (String, Style) {
    match cell {
        Cell::Sorted(column) if column == state.sorted_by => {
            let arrow = if state.is_inverted { '▴' } else { '▾' };
            (format!("{}{arrow}", column.title()), theme.strong())
        }
        Cell::Sorted(column) => (column.title().into(), theme.plain()),
        Cell::Line => (" p99 1min".into(), theme.plain()),
        Cell::Change => (format!(" p{} SINCE THE MARK", state.quantile * 100.0), theme.plain()),
    }
}

fn content(cell: Cell, width: u16, row: &Row, state: &State, watch: &Watch, theme: Theme) -> (String, Style) {
    let style = if row.is_live { theme.plain() } else { theme.faint() };
    match cell {
        Cell::Sorted(Column::Name) if row.is_live => (row.title.clone(), style),
        Cell::Sorted(Column::Name) => (format!("ended {}", row.title), style),
        Cell::Sorted(Column::Rate) => (rate(row.last.per_second), style),
        Cell::Sorted(Column::Value(_)) if row.is_counter() => (String::new(), style),
        Cell::Sorted(Column::Value(rank)) => match row.last.values {
            Some(values) => (value(values[rank], &row.entry.unit), style),
            None => ("-".into(), theme.faint()),
        },
        Cell::Line => {
            let room = usize::from(width.saturating_sub(1));
            (format!(" {:>room$}", row.p99s.sparkline(room, watch.points())), theme.line())
        }
        Cell::Change => {
            let (text, style) = change(row, state.quantile, theme);
            (format!(" {text}"), style)
        }
    }
}

/// A change in one line, and how it looks.
pub(crate) fn change(row: &Row, quantile: f64, theme: Theme) -> (String, Style) {
    match row.change(quantile) {
        Change::None => (String::new(), theme.plain()),
        Change::TooFew => ("too few yet".into(), theme.faint()),
        Change::Found(found) => {
            let style = match Verdict::from_code(found.verdict) {
                Verdict::Faster => theme.better(),
                Verdict::Slower => theme.worse(),
                Verdict::NoEvidence => theme.faint(),
            };
            (change_text(&found), style)
        }
    }
}

fn change_text(found: &Comparison) -> String {
    let share = |difference: f64| difference / (found.a.value.max(1) as f64) * 100.0;
    let number = |percent: f64| match percent.abs() {
        100.0.. => format!("{percent:+.0}"),
        _ => format!("{percent:+.1}"),
    };
    let verdict = match Verdict::from_code(found.verdict) {
        // The values may be of anything.
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

/// A name in so many columns; of a long one the beginning and the end, where labels are.
fn fit(text: &str, width: u16) -> String {
    let width = usize::from(width.saturating_sub(1)).max(1);
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= width {
        return text.to_owned();
    }
    let head = width.saturating_sub(1).div_ceil(2);
    let tail = width - 1 - head;
    characters[..head].iter().chain(&['…']).chain(&characters[characters.len() - tail..]).collect()
}

/// Text in a line of an area, cut off at its end.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    if line < area.height {
        buffer.set_stringn(area.x, area.y + line, text, area.width.into(), style);
    }
}

/// The same, with the line's rest in that style.
fn fill(buffer: &mut Buffer, area: Rect, line: u16, text: &str, style: Style) {
    if line < area.height {
        buffer.set_style(Rect { x: area.x, y: area.y + line, width: area.width, height: 1 }, style);
    }
    put(buffer, area, line, text, style);
}

/// Ranks and their names for other tables of a row.
pub(crate) fn values_of(row: &Row) -> [String; RANKS.len()] {
    match row.last.values {
        Some(values) => values.map(|one| value(one, &row.entry.unit)),
        None => RANKS.map(|_| if row.is_counter() { String::new() } else { "-".into() }),
    }
}
