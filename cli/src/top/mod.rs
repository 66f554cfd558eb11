//! `picollo top`: the histograms of running programs, live.

mod detail;
mod row;
mod screen;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod watch;

use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use clap::{ArgMatches, Command};

use self::watch::Watch;
use crate::failure::Failure;
use crate::reader::{self, Reader};
use crate::values::{option, subcommand};

const HELP: &str = "The histograms of running programs, live: rates and percentiles of each interval

A row for each histogram and counter that is published: how often it was recorded to in the last interval, percentiles and the largest value of \
that interval, and p99 of the last minute. Without a target those of all programs of this user, also of such that start later; with one \
those of a process, of all segments or programs of a name, or of a file. What a program has that ended stays on the screen. Programs do \
not notice that they are watched.

In the terminal: Enter opens one histogram, with its curve of percentiles over that since the start and a heat map of the last minutes; \
arrows move and sort, / filters, p pauses, m marks a moment, from which on rows show by how much p99 has changed, with \
its interval and the verdict; r records into a .hlog in the present directory; ? lists all keys. NO_COLOR is respected.

Ctrl-Z stops it as any program. For pipes and programs `picollo show --every 1s` writes lines.

  picollo top
  picollo top checkout --interval 100ms";

pub(crate) fn command() -> Command {
    let interval = option("interval", "TIME", "how long intervals are, such as 1s or 250ms; at least 50ms");
    subcommand("top", HELP)
        .args(reader::arguments())
        .arg(interval.default_value("1s").value_parser(crate::values::duration))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(
            "this needs a terminal; `picollo show --every 1s` writes lines, with --json for programs".into(),
        );
    }
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or_default();
    let mut watch = Watch::new(Reader::wanted(matches), interval.max(Duration::from_millis(50)));
    watch.read();
    watch.reader.demand(matches)?;
    terminal::run(&mut watch).map(|()| 0)
}
