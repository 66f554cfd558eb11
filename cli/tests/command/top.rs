//! `picollo top` in a terminal that goes away, and with signals; `ci/observe.sh` looks at what it shows.

use std::process::Command;

use crate::common::Place;
use crate::pty::Pty;

const ENTERS: &str = "\u{1b}[?1049h";
const LEAVES: &str = "\u{1b}[?1049l";

fn command(place: &Place, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PICOLLO_DIR", &place.0).env("TERM", "xterm-256color");
    command
}

fn top(place: &Place, controls: bool) -> Pty {
    let mut command = command(place, env!("CARGO_BIN_EXE_picollo"));
    command.arg("top");
    let mut pty = Pty::start(command, controls);
    assert!(pty.wait_for("picollo top"), "{:?}", pty.text());
    pty
}

#[test]
fn signals_end_it_and_give_the_terminal_back() {
    let place = Place::new("top-signals");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let mut pty = top(&place, true);
        pty.signal(signal);
        assert!(pty.end().success(), "{signal}");
        assert!(pty.wait_for(LEAVES), "{:?}", pty.text());
    }
}

/// Also where no signal says so, as the terminal is not the one that controls it.
#[test]
fn it_ends_with_its_terminal() {
    let place = Place::new("top-closed");
    for controls in [true, false] {
        let mut pty = top(&place, controls);
        pty.close();
        pty.end();
    }
}

/// Its screen's thread waits for a terminal that takes nothing.
#[test]
fn signals_end_it_while_nobody_reads() {
    let place = Place::new("top-stuck");
    let mut pty = top(&place, true);
    // Each draws all of the screen.
    for _ in 0..200 {
        pty.resize(79);
        pty.signal(libc::SIGWINCH);
        std::thread::sleep(std::time::Duration::from_millis(5));
        pty.resize(80);
    }
    pty.signal(libc::SIGTERM);
    pty.end();
}

/// A shell with job control takes the terminal while it is stopped, and gives it back.
#[test]
fn it_stops_and_goes_on() {
    let place = Place::new("top-stopped");
    let mut bash = command(&place, "bash");
    let script =
        format!("'{}' top; echo has stopped; sleep 0.2; fg; echo has ended", env!("CARGO_BIN_EXE_picollo"));
    bash.args(["--norc", "--noprofile", "-mc", &script]);
    let mut pty = Pty::start(bash, true);
    assert!(pty.wait_for("picollo top"), "{:?}", pty.text());
    pty.type_in(b"\x1a");
    assert!(pty.wait_for("has stopped"), "{:?}", pty.text());
    let text = pty.text();
    assert!(text.find(LEAVES).unwrap() < text.find("has stopped").unwrap(), "{text:?}");
    assert!(pty.wait_until(|text| text.matches(ENTERS).count() == 2), "{:?}", pty.text());
    pty.type_in(b"q");
    assert!(pty.wait_for("has ended"), "{:?}", pty.text());
    assert!(pty.end().success());
}
