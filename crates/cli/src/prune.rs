//! `picollo prune`: removes abandoned segments.

use std::time::Duration;

use clap::{ArgMatches, Command};
use picollo_segment::{SegmentInfo, list_segments, prune_segments, segment_directories};

use crate::failure::{Failure, print, report};
use crate::table::printable;
use crate::values::{self, option, subcommand};

const HELP: &str = "Removes the segments of programs that have ended

The command removes those segments of this user that no process maps and that were last written at least --older ago. It prints their \
paths. It keeps the segments of living processes. It reports segments that are too young on standard error.

  picollo prune
  picollo prune --older 1d";

pub(crate) fn command() -> Command {
    subcommand("prune", HELP).arg(
        option("older", "TIME", "remove only segments last written at least this long ago")
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
        report("prune", unreadable);
        status = 1;
    }
    let is_dead = |info: &SegmentInfo| !info.is_live;
    let left = list_segments().iter().filter(|one| one.info.as_ref().is_ok_and(is_dead)).count();
    if left > 0 {
        let kept = if left == 1 { "ended segment is" } else { "ended segments are" };
        report("prune", format!("{left} {kept} younger than --older and kept"));
    }
    Ok(status)
}
