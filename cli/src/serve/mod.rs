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
use picollo_serve::{Answer, Server, exposition};

use self::bounds::Bounds;
pub(crate) use self::exposed::{Exposed, Wanted};
use crate::failure::{Failure, print};
use crate::places::{self, Places};
use crate::signals;
use crate::values::{flag, option, subcommand};

const HELP: &str = "Metrics of all that is published, for Prometheus: an endpoint, or a file

Each scrape reads all live segments and answers in the format that the scraper asks for. Names end with their unit, times are in \
seconds. The label `segment` is the segment's name: all live processes that publish in one name are one service, and are summed, also what \
those had recorded that have ended meanwhile. With --by-process they are apart, by the label `process`: the program's name, with a small \
number behind it where there are several, which a program that starts again takes over. Of metrics of one name the first help is written; \
those of another kind, unit or layout are left out, told on standard error and counted by picollo_left_out. Labels `segment` and `process` of \
a program's own become `exported_segment` and `exported_process`.

A server that draws a percentile from the buckets at bounds is off by up to their distance: 25 % unless --bounds asks for others. Native \
histograms (--native) are closer and smaller; Prometheus wants `scrape_native_histograms: true` for them.

Segments are for their owner alone. A port opens them to all users of this machine, also on 127.0.0.1; a Unix socket does not: \
`--listen unix:PATH` is for its owner (mode 0600). Requests for names of other hosts are refused on 127.0.0.1, since they \
come from pages in a browser. There is no request that changes anything.

  picollo serve
  picollo serve --listen unix:/run/user/1000/picollo.sock
  picollo serve --once -o /var/lib/node_exporter/picollo.prom";

pub(crate) fn command() -> Command {
    subcommand("serve", HELP).args(places::arguments()).args([
        option("listen", "ADDRESS", "a port, an address with a port, or unix:PATH").default_value("127.0.0.1:9464"),
        option("pid", "PID", "only what this process publishes").value_parser(value_parser!(u32)),
        flag("by-process", "a series for each process, with the label `process`, instead of their sum"),
        option("bounds", "N|LIST", "bounds of buckets: 1, 2 or 4 for each power of two, for percentiles within 100, 50 or 25 %; or values as they are served, \
                   such as 0.001,0.01,0.1").default_value("4").value_parser(Bounds::parse),
        flag("native", "native histograms where the scraper takes them; Prometheus then drops the classic buckets"),
        flag("once", "write the metrics once, as text, and end").conflicts_with("listen"),
        option("output", "FILE", "into this file, which is replaced at once; otherwise on standard output").short('o').requires("once").value_parser(value_parser!(PathBuf)),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let wanted = Wanted {
        command: "serve",
        places: Places::of(matches),
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
    let server = Server::start(&address_of(address), picollo_serve::Options::default(), source)
        .map_err(|error| cannot_listen(address, &error))?;
    match server.address() {
        socket if socket.starts_with("unix:") => print(&format!("{socket}\n"))?,
        address => print(&format!("http://{address}/metrics\n"))?,
    }
    signals.wait(None);
    drop(server);
    Ok(0)
}

/// A port alone means this machine's loopback address.
fn address_of(text: &str) -> String {
    if text.parse::<u16>().is_ok() { format!("127.0.0.1:{text}") } else { text.to_owned() }
}

fn cannot_listen(address: &str, error: &std::io::Error) -> Failure {
    let why = crate::failure::plain(error);
    Failure::Told(match error.kind() {
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
    let mut exposed = place.take().map_or_else(make, Ok).map_err(|failure| failure.to_string())?;
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
    written.map(drop).map_err(|error| Failure::of_file(path.display(), &error))
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
