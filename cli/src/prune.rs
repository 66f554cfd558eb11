//! `picollo prune`: removes abandoned segments.

use std::time::Duration;

use clap::{ArgMatches, Command};
use picollo_segment::{SegmentInfo, list_segments, prune_segments, segment_directories};

use crate::failure::{Failure, print};
use crate::table::printable;
use crate::values::{self, option, subcommand};

const HELP: &str = "Remove the segments of programs that have ended

Removes this user's segments that no process has mapped and that were last written so long ago, and prints what was removed. What a \
living process holds stays. What is too young is told on standard error.

  picollo prune
  picollo prune --older 1d";

pub(crate) fn command() -> Command {
    subcommand("prune", HELP).arg(
        option("older", "TIME", "only those last written at least so long ago")
            .value_parser(values::age)
            .default_value("1h"),
    )
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let mut status = 0;
    let older = matches.get_one::<Duration>("older").copied().unwrap_or_default();
    for path in prune_segments(older)? {
        print(&format!("{}\n", printable(&path.to_string_lossy())))?;
    }
    for unreadable in segment_directories().into_iter().filter_map(Result::err) {
        Failure::from(unreadable).tell("prune");
        status = 1;
    }
    let is_dead = |info: &SegmentInfo| !info.is_live;
    let left = list_segments().iter().filter(|one| one.info.as_ref().is_ok_and(is_dead)).count();
    if left > 0 {
        let are = if left == 1 { "one that has ended was" } else { "others that have ended were" };
        Failure::Told(format!("{are} written later than that, and left; see --older")).tell("prune");
    }
    Ok(status)
}
