//! `picollo top`: the histograms of running programs, live.

mod detail;
mod history;
mod numbers;
mod once;
mod record;
mod row;
mod screen;
mod state;
mod style;
mod terminal;
#[cfg(test)]
mod tests;
mod watch;

use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};

use self::watch::{Target, Watch};
use crate::failure::{Failure, print};
use crate::places::{self, Places};

const ABOUT: &str = "The histograms of running programs, live: rates and percentiles of each interval";
const LONG_ABOUT: &str = "The histograms of running programs, live: rates and percentiles of each interval

A row for each histogram and counter that is published: how often it was recorded to in the last interval, percentiles and the largest value of \
that interval, and p99 of the last minute. Without a target those of all programs of this user, also of such that start later; with one \
those of a process, of all segments or programs of a name, or of a file. What a program has that ended stays on the screen. Programs do \
not notice that they are watched.

In the terminal: Enter opens one histogram, with its curve of percentiles over that since the start and a heat map of the last minutes; \
arrows move and sort, / filters, p pauses, m marks a moment, from which on rows show by how much p99 has changed, with \
its interval and the verdict; r records into a .hlog in the present directory; ? lists all keys. NO_COLOR is respected.

Without a terminal, or with --once, one interval is waited for and written as a table, or as JSON with values as recorded.

  picollo top
  picollo top checkout --interval 100ms
  picollo top 1234 --once --json | jq '.entries[].p99'";

pub(crate) fn command() -> Command {
    Command::new("top").about(ABOUT).long_about(LONG_ABOUT).args(places::arguments()).args([
        Arg::new("target")
            .value_name("PID|NAME|PATH")
            .help("a process, segments or programs of a name, or a file"),
        Arg::new("interval")
            .long("interval")
            .value_name("TIME")
            .default_value("1s")
            .value_parser(crate::push::duration)
            .help("how long intervals are, such as 1s or 250ms; at least 50ms"),
        Arg::new("once").long("once").action(ArgAction::SetTrue).help("one table of one interval"),
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("the same for programs: values as recorded"),
    ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let target = matches.get_one::<String>("target").map(String::as_str);
    let interval = matches.get_one::<Duration>("interval").copied().unwrap_or(Duration::from_secs(1));
    let interval = interval.max(Duration::from_millis(50));
    let mut watch = Watch::new(Target::of(target), Places::of(matches)?, interval);
    watch.read()?;
    if let (true, Some(target)) = (watch.is_empty(), target) {
        let target = crate::table::printable(target);
        return Err(format!("no segment of {target}; `picollo list` shows those that there are").into());
    }
    let is_screen = stdin().is_terminal() && stdout().is_terminal();
    if is_screen && !matches.get_flag("once") && !matches.get_flag("json") {
        return terminal::run(&mut watch).map(|()| 0);
    }
    std::thread::sleep(interval);
    watch.read()?;
    let text = if matches.get_flag("json") { once::json_text(&watch) } else { once::text(&watch) };
    print(&text)?;
    match watch.trouble {
        Some(trouble) => Err(trouble.into()),
        None => Ok(0),
    }
}
