//! `picollo top` with signals, and in a terminal that is closed. `ci/observe.sh` tests its contents.

use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

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

/// Starts it and does something to it that ends it within a second. On a busy machine, one of ten tries suffices.
fn ends_within_a_second(
    place: &Place,
    controls: bool,
    by: impl Fn(&mut Pty),
    check: impl Fn(&mut Pty, ExitStatus),
) {
    let fastest = (0..10).map(|_| {
        let mut pty = top(place, controls);
        let began = Instant::now();
        by(&mut pty);
        let status = pty.end();
        let took = began.elapsed();
        check(&mut pty, status);
        took
    });
    let took: Vec<Duration> = fastest.take_while(|took| took.as_secs() > 0).collect();
    assert!(took.len() < 10, "{took:?}");
}

#[test]
fn signals_end_it_and_give_the_terminal_back() {
    let place = Place::new("top-signals");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        ends_within_a_second(
            &place,
            true,
            |pty| pty.signal(signal),
            |pty, status| {
                assert!(status.success(), "{signal}");
                assert!(pty.wait_for(LEAVES), "{:?}", pty.text());
            },
        );
    }
}

/// It also ends without a signal, if the terminal is not its controlling one.
#[test]
fn it_ends_with_its_terminal() {
    let place = Place::new("top-closed");
    for controls in [true, false] {
        ends_within_a_second(&place, controls, Pty::close, |_, _| ());
    }
}

/// Its screen's thread waits for a terminal that accepts no output.
#[test]
fn signals_end_it_while_nobody_reads() {
    let place = Place::new("top-stuck");
    let mut pty = top(&place, true);
    // Each redraws the whole screen.
    for _ in 0..200 {
        pty.resize(79);
        pty.signal(libc::SIGWINCH);
        std::thread::sleep(Duration::from_millis(5));
        pty.resize(80);
    }
    pty.signal(libc::SIGTERM);
    pty.end();
}

/// A shell with job control takes the terminal while it is stopped, and returns it afterwards.
#[test]
fn it_suspends_and_resumes() {
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
