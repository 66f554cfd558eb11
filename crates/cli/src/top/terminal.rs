//! The terminal during `picollo top`.

use std::io::{self, Stdout, Write, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use picollo_native::unix_nanos;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{Event, KeyEventKind, poll, read};
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui_crossterm::crossterm::{cursor, execute};

use super::row::Row;
use super::screen;
use super::state::{Action, State};
use super::watch::Watch;
use crate::failure::Failure;
use crate::record;
use crate::signals::Blocked;

/// Maximum delay before a resize or a signal is noticed.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time for the screen's thread to finish after it was asked to.
const GRACE: Duration = Duration::from_millis(600);

/// The terminal is in raw mode, with the alternate screen.
static IS_RAW: AtomicBool = AtomicBool::new(false);

fn prepare() -> io::Result<()> {
    enable_raw_mode()?;
    IS_RAW.store(true, SeqCst);
    execute!(stdout(), EnterAlternateScreen, cursor::Hide)
}

/// Restores the terminal, once.
fn restore() {
    if IS_RAW.swap(false, SeqCst) {
        // This comes first because it works even if the terminal accepts no output.
        let _ = disable_raw_mode();
        if state_of(libc::STDOUT_FILENO, libc::POLLOUT, Duration::ZERO) & libc::POLLOUT != 0 {
            let _ = execute!(stdout(), LeaveAlternateScreen, cursor::Show);
        }
    }
}

/// Restores the terminal in any case. A panic's message would be lost with the alternate screen.
struct Raw;

impl Raw {
    fn new() -> io::Result<Raw> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        prepare().inspect_err(|_| restore())?;
        Ok(Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// The state of a descriptor within a time: whether `wanted` applies, and whether the other end is closed.
fn state_of(fd: libc::c_int, wanted: libc::c_short, time: Duration) -> libc::c_short {
    let mut one = libc::pollfd { fd, events: wanted, revents: 0 };
    // SAFETY: one structure on the stack.
    unsafe { libc::poll(&raw mut one, 1, time.as_millis() as libc::c_int) };
    one.revents
}

/// Whether the other end of the terminal is closed. Then crossterm would repeatedly read nothing.
fn is_gone(state: libc::c_short) -> bool {
    state & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0
}

/// What a signal requests.
#[derive(Default)]
struct Asked {
    end: AtomicBool,
    pause: AtomicBool,
}

/// Takes signals and checks for the terminal, in a separate thread: the screen's thread may wait for a terminal that
/// never answers.
fn guard(signals: &Blocked, asked: &Asked) {
    loop {
        match signals.next(Some(PATIENCE)) {
            Some(libc::SIGTSTP) => asked.pause.store(true, SeqCst),
            Some(_) => break,
            None if is_gone(state_of(libc::STDIN_FILENO, 0, Duration::ZERO)) => break,
            None => {}
        }
    }
    asked.end.store(true, SeqCst);
    std::thread::sleep(GRACE);
    restore();
    // A log has whole intervals, because each is one write.
    // SAFETY: this ends the process, and runs nothing that could wait.
    unsafe { libc::_exit(1) };
}

/// Stops like a program without a screen until it is continued.
fn stop() -> io::Result<()> {
    restore();
    // SAFETY: a set on the stack, and a signal to this thread, where it acts at once.
    unsafe {
        let mut set = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTSTP);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
        libc::raise(libc::SIGTSTP);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
    prepare()
}

fn lost(error: io::Error) -> Failure {
    Failure::for_file("the terminal", &error)
}

pub(crate) fn run(watch: &mut Watch) -> Result<(), Failure> {
    let signals = Blocked::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGTSTP]);
    // As in <https://no-color.org>: set and not empty.
    let has_colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut state = State::new();
    let mut log = None;
    let raw = Raw::new().map_err(lost)?;
    let asked = Arc::new(Asked::default());
    let theirs = asked.clone();
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || guard(&signals, &theirs))
        .map_err(lost)?;
    let mut terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(lost)?;
    let done = follow(watch, &mut state, &mut log, &mut terminal, &asked, has_colors);
    drop(raw);
    if let Some(log) = log {
        let _ = writeln!(stdout(), "{}", log.about());
    }
    done
}

fn follow(
    watch: &mut Watch,
    state: &mut State,
    log: &mut Option<Log>,
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    asked: &Asked,
    has_colors: bool,
) -> Result<(), Failure> {
    // The first reading took place before.
    let mut next = Instant::now() + watch.interval;
    let mut is_changed = true;
    loop {
        if asked.end.load(SeqCst) {
            return Ok(());
        }
        if asked.pause.swap(false, SeqCst) {
            stop().and_then(|()| terminal.clear()).map_err(lost)?;
            is_changed = true;
        }
        if is_changed {
            terminal
                .draw(|frame| screen::draw(frame.buffer_mut(), watch, state, has_colors))
                .map_err(lost)?;
            is_changed = false;
        }
        let now = Instant::now();
        if now >= next {
            // After a pause of the machine, one longer interval follows instead of many empty ones.
            next = (next + watch.interval).max(now);
            if !state.is_paused {
                watch.read();
                if let Some(Err(failure)) = log.as_mut().map(|log| log.write(watch)) {
                    (*log, state.message) = (None, format!("no longer recorded: {}", failure.text()));
                }
                is_changed = true;
                continue;
            }
        }
        let wait = next.saturating_duration_since(now).min(PATIENCE);
        if is_gone(state_of(libc::STDIN_FILENO, libc::POLLIN, wait)) {
            return Ok(());
        }
        if !poll(Duration::ZERO).map_err(lost)? {
            continue;
        }
        is_changed = true;
        match read().map_err(lost)? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match state.key(key, &watch.rows) {
                Action::None => {}
                Action::Quit => return Ok(()),
                Action::Stop => asked.pause.store(true, SeqCst),
                Action::Mark => {
                    watch.rows.values_mut().for_each(Row::mark);
                    state.message = "marked: changes are relative to the values before".into();
                }
                Action::Unmark => watch.rows.values_mut().for_each(Row::unmark),
                Action::ForgetEnded => watch.forget_ended(),
                Action::Record => state.message = record_or_end(log),
            },
            _ => {}
        }
    }
}

/// Records the shown intervals in a .hlog.
struct Log {
    path: String,
    log: record::Log,
    intervals: u64,
    coarser: bool,
}

impl Log {
    /// Creates a file in the current directory, named after the time.
    fn start() -> Result<Log, Failure> {
        let path = format!("picollo-top-{}.hlog", unix_nanos() / 1_000_000_000);
        let log = record::Log::create(Path::new(&path), false, u64::MAX, 0)?;
        Ok(Log { path, log, intervals: 0, coarser: false })
    }

    /// Writes the last interval of all histograms with records.
    fn write(&mut self, watch: &Watch) -> Result<(), Failure> {
        let Some(seconds) = watch.seconds else { return Ok(()) };
        let start = unix_nanos().saturating_sub((seconds * 1e9) as u64);
        for row in watch.rows.values() {
            if let Some(snapshot) =
                row.snapshot.as_deref().filter(|_| row.last.count > 0 && !row.is_since_start)
            {
                self.log.write_snapshot(&row.title, snapshot, start, seconds)?;
            }
        }
        self.coarser |= !self.log.notes().is_empty();
        self.intervals += 1;
        Ok(())
    }

    /// A summary of the log.
    fn about(&self) -> String {
        let coarser = if self.coarser { ", in the coarser digits that HdrHistogram has" } else { "" };
        format!("{}: {} intervals{coarser}", self.path, self.intervals)
    }
}

/// Starts or ends recording.
fn record_or_end(log: &mut Option<Log>) -> String {
    match log.take() {
        Some(log) => format!("recorded: {}", log.about()),
        None => match Log::start() {
            Ok(started) => {
                let message = format!("recording: {}", started.about());
                *log = Some(started);
                message
            }
            Err(failure) => format!("not recorded: {}", failure.text()),
        },
    }
}

#[cfg(test)]
#[path = "../../tests/command/pty.rs"]
mod pty;

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const PANICS: &str = "PICOLLO_TEST_PANICS";

    #[test]
    fn panics_where_it_is_asked_to() {
        if std::env::var_os(PANICS).is_some() {
            let _raw = Raw::new().unwrap();
            panic!("planted");
        }
    }

    #[test]
    fn the_message_of_a_panic_is_visible() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "top::terminal::tests::panics_where_it_is_asked_to";
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(PANICS, "1");
        let mut terminal = pty::Pty::start(command, true);
        assert!(terminal.wait_for("planted"), "{:?}", terminal.text());
        let text = terminal.text();
        let at = |what: &str| text.rfind(what).unwrap_or_else(|| panic!("no {what:?} in {text:?}"));
        // The message comes after leaving the alternate screen, and nothing removes it.
        assert!(
            at("\u{1b}[?1049h") < at("\u{1b}[?1049l") && at("\u{1b}[?1049l") < text.find("planted").unwrap()
        );
        assert!(!terminal.end().success());
    }
}
