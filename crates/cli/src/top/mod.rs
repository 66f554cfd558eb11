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

const HELP: &str = "Shows the histograms of running programs, live: rates and percentiles of each interval

Programs publish histograms and counters in memory, in segments. The table has a row for each: how many values were recorded in the last \
interval, the percentiles and the maximum of that interval, and a curve of p99 over the last minute. Without TARGET, the table has the rows of all programs of \
this user, also of those that start later. TARGET selects a process, a file, or the segments or programs of a name. The rows of a program \
stay on the screen after it ends. The watched programs do no extra work.

In the terminal, Enter opens one histogram. It shows the percentiles of the interval beside those since the start, and a heat map of the \
last minutes. The arrow keys move and sort, / filters, and p pauses. m marks a moment: the rows then show the change of p99 since then, \
with its confidence interval and a verdict. r records into a .hlog file in the current directory. ? lists all keys. NO_COLOR turns colors off.

Ctrl-Z suspends the command. For pipes and programs, `picollo show --every 1s` writes lines.

  picollo top
  picollo top checkout --interval 100ms";

pub(crate) fn command() -> Command {
    let interval =
        option("interval", "TIME", "the length of an interval, such as 1s or 250ms; at least 50ms");
    subcommand("top", HELP)
        .args(reader::arguments())
        .arg(interval.default_value("1s").value_parser(crate::values::duration))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(
            "standard input and output are not a terminal; use `picollo show --every 1s`, with --json for programs".into(),
        );
    }
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or_default();
    let mut watch = Watch::new(Reader::wanted(matches), interval.max(Duration::from_millis(50)));
    watch.read();
    watch.reader.demand(matches)?;
    terminal::run(&mut watch).map(|()| 0)
}
