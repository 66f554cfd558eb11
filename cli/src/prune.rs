//! `picollo prune`: removes what nobody holds any more.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use picollo_native::{SegmentInfo, list_segments, prune_segments};

use crate::failure::{Failure, print};
use crate::follow::told;
use crate::table::printable;
use crate::values;

const ABOUT: &str = "Remove the segments of programs that have ended";
const LONG_ABOUT: &str = "Remove the segments of programs that have ended

Removes this user's segments that no process has mapped and that were last written so long ago, and prints what was removed. What a \
living process holds stays. What is too young is told on standard error.

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
    let is_dead = |info: &SegmentInfo| !info.is_live;
    let left = list_segments().iter().filter(|one| one.info.as_ref().is_ok_and(is_dead)).count();
    if left > 0 {
        let are = if left == 1 { "one that has ended was" } else { "others that have ended were" };
        Failure::Told(format!("{are} written later than that, and left; see --older")).tell("prune");
    }
    Ok(0)
}
