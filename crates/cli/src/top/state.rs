//! What the user has selected, and the effect of keys.

use std::collections::BTreeMap;

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::row::Row;
use crate::show::RANKS;
use crate::table::count;

/// All rows by number.
type Rows = BTreeMap<u64, Row>;

/// The column for sorting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Column {
    #[default]
    Name,
    Rate,
    /// At one of the ranks.
    Value(usize),
}

impl Column {
    const ALL: [Column; 7] = {
        use Column::{Name, Rate, Value};
        [Name, Rate, Value(0), Value(1), Value(2), Value(3), Value(4)]
    };

    pub(crate) fn title(self) -> &'static str {
        match self {
            Column::Name => "HISTOGRAM",
            Column::Rate => "RATE",
            Column::Value(at) => RANKS[at].1,
        }
    }
}

/// Quantiles for which changes are shown.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A sort key for names. It compares digits as numbers, so that `web-2` comes before `web-10`. A name comes before
/// longer names that begin with it, whatever labels it has.
fn natural(title: &str) -> String {
    let mut key = String::new();
    for part in title.split_inclusive(|letter: char| !letter.is_ascii_digit()) {
        let (number, rest) = part.split_at(part.bytes().take_while(u8::is_ascii_digit).count());
        if !number.is_empty() {
            key += &format!("{:0>20}", number.trim_start_matches('0'));
        }
        key += if rest == "{" { "\0" } else { rest };
    }
    key
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) sorted_by: Column,
    /// Names from z to a, numbers in ascending order.
    pub(crate) is_inverted: bool,
    pub(crate) filter: String,
    /// Keys go into the filter.
    pub(crate) is_typing: bool,
    pub(crate) is_paused: bool,
    /// Keys apply to the row with this number.
    pub(crate) selected: Option<u64>,
    /// One row fills the screen.
    pub(crate) is_open: bool,
    pub(crate) is_help: bool,
    pub(crate) quantile: f64,
    /// The first row on the screen, and the number of rows that fit.
    pub(crate) top: usize,
    pub(crate) page: usize,
    /// A message about the last action.
    pub(crate) message: String,
}

/// Actions of keys that go beyond the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    None,
    Quit,
    Stop,
    Mark,
    Unmark,
    Record,
    ForgetEnded,
}

impl State {
    pub(crate) fn new() -> State {
        State { quantile: 0.99, page: 1, ..State::default() }
    }

    /// Numbers of the shown rows, in order.
    pub(crate) fn visible_rows(&self, rows: &Rows) -> Vec<u64> {
        let wanted = self.filter.to_lowercase();
        let is_wanted = |row: &Row| wanted.is_empty() || row.title.to_lowercase().contains(&wanted);
        let mut shown: Vec<u64> =
            rows.iter().filter(|(_, row)| is_wanted(row)).map(|(&number, _)| number).collect();
        let row = |number: u64| &rows[&number];
        match self.sorted_by {
            Column::Name => shown.sort_by_cached_key(|&at| (natural(&row(at).title), &row(at).title)),
            // The largest first; those without a value last.
            Column::Rate => shown.sort_by(|&a, &b| row(b).last.per_second.total_cmp(&row(a).last.per_second)),
            Column::Value(rank) => {
                let key = |at: u64| row(at).last.values.map(|values| values[rank]);
                shown.sort_by_key(|&at| std::cmp::Reverse(key(at)));
            }
        }
        if self.is_inverted {
            shown.reverse();
        }
        shown
    }

    /// Position of the selected row among the shown ones; 0 if it is not shown.
    pub(crate) fn place(&self, shown: &[u64]) -> usize {
        shown.iter().position(|&number| Some(number) == self.selected).unwrap_or(0)
    }

    pub(crate) fn selected_row<'a>(&self, rows: &'a Rows) -> Option<&'a Row> {
        rows.get(&self.selected?)
    }

    pub(crate) fn key(&mut self, key: KeyEvent, rows: &Rows) -> Action {
        self.message.clear();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return Action::Quit;
        }
        if is_control && key.code == KeyCode::Char('z') {
            return Action::Stop;
        }
        if self.is_help {
            self.is_help = false;
            return Action::None;
        }
        if self.is_typing {
            self.type_into_filter(key.code);
            return Action::None;
        }
        match key.code {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Esc if self.is_open => self.is_open = false,
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Esc => self.message = "q quits".into(),
            KeyCode::Char('?' | 'h') => self.is_help = true,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('m') => return Action::Mark,
            KeyCode::Char('M') => return Action::Unmark,
            KeyCode::Char('r') => return Action::Record,
            KeyCode::Char('x') => return Action::ForgetEnded,
            KeyCode::Char('c') => {
                let at = QUANTILES.iter().position(|quantile| *quantile == self.quantile).unwrap_or(0);
                self.quantile = QUANTILES[(at + 1) % QUANTILES.len()];
            }
            KeyCode::Char('/') => (self.is_typing, self.is_open) = (true, false),
            KeyCode::Char('i') => self.is_inverted = !self.is_inverted,
            KeyCode::Left | KeyCode::Char('<') => self.sort(Column::ALL.len() - 1),
            KeyCode::Right | KeyCode::Char('>' | 's') => self.sort(1),
            KeyCode::Enter => {
                self.move_by(0, rows);
                let selected = self.selected_row(rows);
                let counter = selected.filter(|row| row.is_counter());
                self.message = counter.map_or(String::new(), |row| {
                    let total = count(row.total, true);
                    format!("{}: {total} in all; a counter has no percentiles to show", row.title)
                });
                self.is_open = !self.is_open && selected.is_some() && counter.is_none();
            }
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1, rows),
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1, rows),
            KeyCode::PageUp => self.move_by(-(self.page as isize), rows),
            KeyCode::PageDown => self.move_by(self.page as isize, rows),
            KeyCode::Home | KeyCode::Char('g') => self.move_by(isize::MIN / 2, rows),
            KeyCode::End | KeyCode::Char('G') => self.move_by(isize::MAX / 2, rows),
            _ => {}
        }
        Action::None
    }

    fn type_into_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(character) if self.filter.len() < 200 && !character.is_control() => {
                self.filter.push(character)
            }
            _ => {}
        }
        self.top = 0;
    }

    fn sort(&mut self, by: usize) {
        let at = Column::ALL.iter().position(|column| *column == self.sorted_by).unwrap_or(0);
        self.sorted_by = Column::ALL[(at + by) % Column::ALL.len()];
        self.is_inverted = false;
    }

    fn move_by(&mut self, by: isize, rows: &Rows) {
        let shown = self.visible_rows(rows);
        let Some(last) = shown.len().checked_sub(1) else { return };
        let at = (self.place(&shown) as isize).saturating_add(by).clamp(0, last as isize);
        self.selected = Some(shown[at as usize]);
    }
}
