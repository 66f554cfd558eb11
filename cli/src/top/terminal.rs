//! The screen while somebody looks at it.

use std::io::{self, Stdout, stdout};
use std::time::{Duration, Instant};

use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{Event, KeyEventKind, poll, read};
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui_crossterm::crossterm::{cursor, execute};

use super::record::Log;
use super::screen;
use super::state::{Action, State};
use super::style::Theme;
use super::watch::Watch;
use crate::failure::Failure;
use crate::signals::Blocked;

/// How long a signal may wait to be noticed.
const SIGNALS: Duration = Duration::from_millis(500);

/// The terminal is given back as it was, whatever happens.
struct Raw;

impl Raw {
    fn new() -> io::Result<Raw> {
        enable_raw_mode()?;
        let raw = Raw;
        execute!(stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = execute!(stdout(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn lost(error: io::Error) -> Failure {
    Failure::of_file("the terminal", &error)
}

pub(crate) fn run(watch: &mut Watch) -> Result<(), Failure> {
    let signals = Blocked::new();
    let theme = Theme::from_environment();
    let mut state = State::new();
    let mut log = None;
    let raw = Raw::new().map_err(lost)?;
    let mut terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(lost)?;
    let told = follow(watch, &mut state, &mut log, &mut terminal, &signals, theme);
    drop(terminal);
    drop(raw);
    if let Some(log) = log {
        crate::failure::print(&format!("{}\n", log.about()))?;
    }
    told
}

fn follow(
    watch: &mut Watch,
    state: &mut State,
    log: &mut Option<Log>,
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    signals: &Blocked,
    theme: Theme,
) -> Result<(), Failure> {
    // What somebody started to look at was read before.
    let mut next = Instant::now() + watch.interval;
    let mut is_changed = true;
    loop {
        if is_changed {
            terminal.draw(|frame| screen::draw(frame.buffer_mut(), watch, state, theme)).map_err(lost)?;
            is_changed = false;
        }
        if signals.wait(Some(Duration::ZERO)) {
            return Ok(());
        }
        let now = Instant::now();
        if now >= next {
            // After a pause of the machine there is one interval that is longer, not many that are empty.
            next = (next + watch.interval).max(now);
            if !state.is_paused {
                if let Err(failure) = watch.read() {
                    watch.trouble = Some(failure.to_string());
                }
                if let Some(Err(failure)) = log.as_mut().map(|log| log.write(watch)) {
                    (*log, state.message) = (None, format!("no longer recorded: {failure}"));
                }
                is_changed = true;
                continue;
            }
        }
        if !poll(next.saturating_duration_since(now).min(SIGNALS)).map_err(lost)? {
            continue;
        }
        is_changed = true;
        match read().map_err(lost)? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match state.key(key, &watch.rows) {
                Action::None => {}
                Action::Quit => return Ok(()),
                Action::Mark => {
                    watch.rows.iter_mut().for_each(|(_, row)| row.mark());
                    state.message = "marked: changes are against what was seen before".into();
                }
                Action::Unmark => watch.rows.iter_mut().for_each(|(_, row)| row.unmark()),
                Action::ForgetEnded => watch.forget_ended(),
                Action::Record => state.message = record(log),
            },
            _ => {}
        }
    }
}

/// Begins to record, or ends.
fn record(log: &mut Option<Log>) -> String {
    match log.take() {
        Some(log) => format!("recorded: {}", log.about()),
        None => match Log::start() {
            Ok(started) => {
                let message = format!("recording: {}", started.about());
                *log = Some(started);
                message
            }
            Err(failure) => format!("not recorded: {failure}"),
        },
    }
}
