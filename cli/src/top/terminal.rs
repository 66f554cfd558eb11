//! The screen while somebody looks at it.

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

/// How long a change of the terminal's size, or a signal, may wait to be noticed.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long the screen's thread has to come to its end, once it was asked to.
const GRACE: Duration = Duration::from_millis(600);

/// The terminal is in raw mode, with another screen.
static IS_RAW: AtomicBool = AtomicBool::new(false);

fn prepare() -> io::Result<()> {
    enable_raw_mode()?;
    IS_RAW.store(true, SeqCst);
    execute!(stdout(), EnterAlternateScreen, cursor::Hide)
}

/// Gives the terminal back as it was, once.
fn restore() {
    if IS_RAW.swap(false, SeqCst) {
        // First what needs no room in a terminal that takes nothing at the moment.
        let _ = disable_raw_mode();
        if state_of(libc::STDOUT_FILENO, libc::POLLOUT, Duration::ZERO) & libc::POLLOUT != 0 {
            let _ = execute!(stdout(), LeaveAlternateScreen, cursor::Show);
        }
    }
}

/// The terminal is given back whatever happens; what a panic says would be lost with the other screen.
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

/// What is so of a descriptor, within a time: of `wanted`, and whether nobody is at the other end.
fn state_of(fd: libc::c_int, wanted: libc::c_short, time: Duration) -> libc::c_short {
    let mut one = libc::pollfd { fd, events: wanted, revents: 0 };
    // SAFETY: one of them, on the stack.
    unsafe { libc::poll(&raw mut one, 1, time.as_millis() as libc::c_int) };
    one.revents
}

/// Whether the terminal is gone: its other end is closed. What crossterm reads of such a one is nothing, again and again.
fn is_gone(state: libc::c_short) -> bool {
    state & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0
}

/// What a signal asks for.
#[derive(Default)]
struct Asked {
    end: AtomicBool,
    pause: AtomicBool,
}

/// Takes signals, and looks whether the terminal is still there, in a thread of its own: the one of the screen may wait for a terminal that
/// never answers again.
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
    // A log has whole intervals: each is one write.
    // SAFETY: ends the process, and runs nothing that could wait.
    unsafe { libc::_exit(1) };
}

/// Stops, as a program without a screen does, until somebody has it go on.
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
    Failure::of_file("the terminal", &error)
}

pub(crate) fn run(watch: &mut Watch) -> Result<(), Failure> {
    let signals = Blocked::of(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGTSTP]);
    // As <https://no-color.org> has it: set to anything but nothing.
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
    let told = follow(watch, &mut state, &mut log, &mut terminal, &asked, has_colors);
    drop(raw);
    if let Some(log) = log {
        let _ = writeln!(stdout(), "{}", log.about());
    }
    told
}

fn follow(
    watch: &mut Watch,
    state: &mut State,
    log: &mut Option<Log>,
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    asked: &Asked,
    has_colors: bool,
) -> Result<(), Failure> {
    // What somebody started to look at was read before.
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
            // After a pause of the machine there is one interval that is longer, not many that are empty.
            next = (next + watch.interval).max(now);
            if !state.is_paused {
                watch.read();
                if let Some(Err(failure)) = log.as_mut().map(|log| log.write(watch)) {
                    (*log, state.message) = (None, format!("no longer recorded: {failure}"));
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
                    state.message = "marked: changes are against what was seen before".into();
                }
                Action::Unmark => watch.rows.values_mut().for_each(Row::unmark),
                Action::ForgetEnded => watch.forget_ended(),
                Action::Record => state.message = record_or_end(log),
            },
            _ => {}
        }
    }
}

/// What is shown goes into a .hlog, too.
struct Log {
    path: String,
    log: record::Log,
    intervals: u64,
    coarser: bool,
}

impl Log {
    /// A new file in this directory, named after the moment.
    fn start() -> Result<Log, Failure> {
        let path = format!("picollo-top-{}.hlog", unix_nanos() / 1_000_000_000);
        let log = record::Log::create(Path::new(&path), false, u64::MAX, 0)?;
        Ok(Log { path, log, intervals: 0, coarser: false })
    }

    /// The interval that was read last, of all histograms in which something happened.
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

    /// What there is to say of it.
    fn about(&self) -> String {
        let coarser = if self.coarser { ", in the coarser digits that HdrHistogram has" } else { "" };
        format!("{}: {} intervals{coarser}", self.path, self.intervals)
    }
}

/// Begins to record, or ends.
fn record_or_end(log: &mut Option<Log>) -> String {
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
    fn what_a_panic_says_is_seen() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "top::terminal::tests::panics_where_it_is_asked_to";
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(PANICS, "1");
        let mut terminal = pty::Pty::start(command, true);
        assert!(terminal.wait_for("planted"), "{:?}", terminal.text());
        let text = terminal.text();
        let at = |what: &str| text.rfind(what).unwrap_or_else(|| panic!("no {what:?} in {text:?}"));
        // After the other screen, and not followed by anything that takes it away.
        assert!(
            at("\u{1b}[?1049h") < at("\u{1b}[?1049l") && at("\u{1b}[?1049l") < text.find("planted").unwrap()
        );
        assert!(!terminal.end().success());
    }
}
