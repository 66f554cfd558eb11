//! `picollo serve`: what is published, for Prometheus.

pub(crate) mod exposed;
mod naming;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use picollo_core::Exposition;
use picollo_serve::{Server, exposition};

pub(crate) use self::exposed::Exposed;
pub(crate) use self::naming::Processes;
use crate::failure::{Failure, print};
use crate::places::{self, Places};
use crate::signals;

const ABOUT: &str = "Metrics of all that is published, for Prometheus: an endpoint, or a file";
const LONG_ABOUT: &str = "Metrics of all that is published, for Prometheus: an endpoint, or a file

Each scrape reads all live segments and answers in the format that the scraper asks for. Names end with their unit, times are in \
seconds. The label `process` is the program's name, with a small number behind it where there are several, which a program that \
starts again takes over: so series go on. Of metrics of one name the first help is written; those that are of another kind or in another unit \
are left out, told on standard error and counted by picollo_left_out. A label `process` of a program's own becomes `exported_process`.

Segments are for their owner alone. A port opens them to all users of this machine, also on 127.0.0.1; a Unix socket does not: \
`--listen unix:PATH` is for its owner (mode 0600). Requests for names of other hosts are refused on 127.0.0.1, since they \
come from pages in a browser. There is no request that changes anything.

  picollo serve
  picollo serve --listen unix:/run/user/1000/picollo.sock
  picollo serve --once -o /var/lib/node_exporter/picollo.prom";

pub(crate) fn command() -> Command {
    Command::new("serve").about(ABOUT).long_about(LONG_ABOUT).args(places::arguments()).args([
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .default_value("127.0.0.1:9464")
            .help("a port, or unix:PATH"),
        Arg::new("native").long("native").action(ArgAction::SetTrue).help(
            "native histograms where the scraper takes them; Prometheus then drops the classic buckets",
        ),
        Arg::new("once")
            .long("once")
            .action(ArgAction::SetTrue)
            .conflicts_with("listen")
            .help("write the metrics once, as text, and end"),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .requires("once")
            .value_parser(value_parser!(PathBuf))
            .help("into this file, which is replaced at once; otherwise on standard output"),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let mut exposed = Exposed::new("serve", Places::of(matches)?, matches.get_flag("native"))?;
    if matches.get_flag("once") {
        exposed.refresh()?;
        let registry = exposed.registry();
        let mut registry = registry.lock().map_err(|_| "a panic")?;
        registry.update(crate::now_unix_nanos()).map_err(|error| error.to_string())?;
        let text = registry.encode_to_vec(Exposition::PrometheusText).map_err(|error| error.to_string())?;
        return match matches.get_one::<PathBuf>("output") {
            Some(path) => replace(path, &text),
            None => print(&String::from_utf8_lossy(&text)),
        }
        .map(|()| 0);
    }
    let address = matches.get_one::<String>("listen").map_or("", String::as_str);
    let signals = signals::Blocked::new();
    let answer = exposition(exposed.registry());
    let exposed = Mutex::new(exposed);
    let source = move |accept: &str| {
        // One scrape at a time: what was read is what is answered.
        let mut exposed = exposed.lock().map_err(|_| "a scrape before has failed for good: a panic")?;
        exposed.refresh().map_err(|failure| failure.to_string())?;
        answer(accept)
    };
    let server = Server::start(address, picollo_serve::Options::default(), source)
        .map_err(|error| Failure::of_file(address, &error))?;
    match server.address() {
        socket if socket.starts_with("unix:") => print(&format!("{socket}\n"))?,
        address => print(&format!("http://{address}/metrics\n"))?,
    }
    signals.wait(None);
    drop(server);
    Ok(0)
}

/// Writes a file beside, and renames it: whoever reads sees the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        Failure::of_file(path.display(), &error)
    })
}
