//! `picollo serve`: serves published data to Prometheus.

mod bounds;
mod exposed;
mod naming;

use std::fs::Permissions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::{ArgMatches, Command, value_parser};
use picollo_export::http::{Answer, Server, exposition};

use self::bounds::Bounds;
pub(crate) use self::exposed::{Exposed, Wanted};
use crate::failure::{Failure, print};
use crate::places::{self, Places};
use crate::signals;
use crate::values::{flag, option, subcommand};

const HELP: &str = "Serves the metrics of all published histograms to Prometheus, by an endpoint or a file

Each scrape reads all live segments. The answer has the format that the scraper requests. Metric names end with their unit, and times are \
in seconds. The label `segment` is the name of the segment. All live processes whose segments have the same name are one service. Their \
values are summed, with those of its processes that have ended meanwhile. With --by-process they are separate, with the label `process`: \
the name of the program, and a small number if there are several. A program that starts again takes its old number. If two metrics have \
the same name, the first help text is used. A metric of another kind, unit or layout is omitted, reported on standard error, and counted \
by picollo_left_out. If a program has labels `segment` and `process` itself, they become `exported_segment` and `exported_process`.

A server computes percentiles from buckets, so their error is at most the distance of the bounds: 25 %, unless --bounds sets others. \
Native histograms (--native) are more precise and smaller. Prometheus needs `scrape_native_histograms: true` for them.

Only their owner can read segments. A port opens them to all users of this machine, also on 127.0.0.1. A Unix socket does not: `--listen \
unix:PATH` has mode 0600. On 127.0.0.1 the server rejects requests for other hosts, because they come from pages in a browser. No request \
changes anything.

  picollo serve
  picollo serve --listen unix:/run/user/1000/picollo.sock
  picollo serve --once -o /var/lib/node_exporter/picollo.prom";

pub(crate) fn command() -> Command {
    subcommand("serve", HELP).args(places::arguments()).args([
        option("listen", "ADDRESS", "where to listen: a port, an address with a port, or unix:PATH").default_value("127.0.0.1:9464"),
        option("pid", "PID", "serve only the metrics of this process").value_parser(value_parser!(u32)),
        flag("by-process", "serve a series for each process, with the label `process`, instead of their sum"),
        option("bounds", "N|LIST", "the bounds of buckets: 1, 2 or 4 for each power of two, for percentiles within 100, 50 or 25 %; or a list of values in the served unit, \
                   such as 0.001,0.01,0.1").default_value("4").value_parser(Bounds::parse),
        flag("native", "send native histograms to scrapers that accept them; Prometheus then drops the classic buckets"),
        flag("once", "write the metrics once, as text, and exit").conflicts_with("listen"),
        option("output", "FILE", "write to this file, which is replaced atomically, instead of standard output").short('o').requires("once").value_parser(value_parser!(PathBuf)),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let wanted = Wanted {
        command: "serve",
        places: Places::from_matches(matches),
        pid: matches.get_one("pid").copied(),
        by_process: matches.get_flag("by-process"),
        is_native: matches.get_flag("native"),
        bounds: matches.get_one("bounds").cloned().unwrap_or_default(),
    };
    if matches.get_flag("once") {
        let text = scrape(&Mutex::new(None), &|| Exposed::new(wanted.clone()), "")?.body;
        return match matches.get_one::<PathBuf>("output") {
            Some(path) => replace(path, &text),
            None => print(&String::from_utf8_lossy(&text)),
        }
        .map(|()| 0);
    }
    let address = matches.get_one::<String>("listen").map_or("", String::as_str);
    let signals = signals::Blocked::new();
    let exposed = Mutex::new(None);
    let source = move |accept: &str| scrape(&exposed, &|| Exposed::new(wanted.clone()), accept);
    let server = Server::start(address, picollo_export::http::Options::default(), source)
        .map_err(|error| cannot_listen(address, &error))?;
    match server.address() {
        socket if socket.starts_with("unix:") => print(&format!("{socket}\n"))?,
        address => print(&format!("http://{address}/metrics\n"))?,
    }
    signals.wait(None);
    drop(server);
    Ok(0)
}

fn cannot_listen(address: &str, error: &std::io::Error) -> Failure {
    let why = crate::failure::plain(error);
    Failure::Message(match error.kind() {
        ErrorKind::AddrInUse => {
            format!("{address}: {why}; choose another with --listen: 127.0.0.1:0 takes any free port")
        }
        ErrorKind::InvalidInput => {
            format!("{address}: {why}; --listen takes a port, an address with a port, or unix:PATH")
        }
        _ => format!("{address}: {why}"),
    })
}

/// Answers one scrape at a time, from one reading. A panic discards the state, and the next scrape starts anew.
fn scrape(
    exposed: &Mutex<Option<Exposed>>,
    make: &dyn Fn() -> Result<Exposed, Failure>,
    accept: &str,
) -> Result<Answer, String> {
    let mut place = exposed.lock().unwrap_or_else(PoisonError::into_inner);
    let mut exposed = place.take().map_or_else(make, Ok).map_err(|failure| failure.text().to_owned())?;
    exposed.refresh();
    let answer = exposition(exposed.registry())(accept);
    *place = Some(exposed);
    answer
}

/// Writes a temporary file and renames it. Readers see the old or the new file, and a file that somebody placed at the
/// path is replaced, not written to.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let beside = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory.unwrap_or(Path::new(".")));
    let written = beside.and_then(|mut file| {
        file.write_all(bytes)?;
        Ok(file.persist(path)?)
    });
    written.map(drop).map_err(|error| Failure::for_file(path.display(), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exposed(directory: &Path) -> Result<Exposed, Failure> {
        let places = Places::in_directory(directory.into());
        Exposed::new(Wanted { command: "serve", places, ..Wanted::default() })
    }

    #[test]
    fn a_panic_costs_one_scrape() {
        let directory = std::env::temp_dir().join(format!("picollo-panic-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let place = Mutex::new(None);
        let make = || exposed(&directory);
        assert!(scrape(&place, &make, "").is_ok());
        // A scrape that panics while it holds the state.
        let panics = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let mut place = place.lock().unwrap();
                    let _exposed = place.take();
                    panic!("planted");
                })
                .join()
        });
        assert!(panics.is_err() && place.is_poisoned());
        for _ in 0..2 {
            let answer = scrape(&place, &make, "").unwrap();
            assert!(String::from_utf8(answer.body).unwrap().contains("picollo_segments 0.0\n"));
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
