//! `picollo prune`: removes what nobody holds any more.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use picollo_native::prune_segments;

use crate::failure::{Failure, print};
use crate::follow::told;
use crate::table::printable;
use crate::values;

const ABOUT: &str = "Remove the segments of programs that have ended";
const LONG_ABOUT: &str = "Remove the segments of programs that have ended

Removes this user's segments that no process has mapped and that were last written so long ago, and prints what was removed. What a \
living process holds stays.

  picollo prune
  picollo prune --older 1d";

pub(crate) fn command() -> Command {
    Command::new("prune").about(ABOUT).long_about(LONG_ABOUT).arg(
        Arg::new("older")
            .long("older")
            .value_name("TIME")
            .value_parser(values::duration)
            .default_value("1h")
            .help("only those last written at least so long ago"),
    )
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let older = matches.get_one::<Duration>("older").copied().unwrap_or_default();
    for path in prune_segments(older).map_err(told)? {
        print(&format!("{}\n", printable(&path.to_string_lossy())))?;
    }
    Ok(0)
}
