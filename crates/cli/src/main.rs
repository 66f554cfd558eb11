//! The `picollo` command. Each module with `command` and `run` is a subcommand.
//!
//! Exit status: 0 for success, 1 after an error message, 2 for wrong usage, and others as in a command's help.

mod compare;
mod counts;
mod events;
mod exemplars;
mod failure;
mod hiccup;
mod hlog;
mod list;
mod manual;
mod places;
mod probe;
mod progress;
mod prune;
mod push;
mod reader;
mod record;
mod report;
mod serve;
mod show;
mod signals;
mod stat;
mod table;
mod top;
mod values;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use failure::Failure;

/// A subcommand: its command line, and a function that runs it and returns the exit status.
type Subcommand = (fn() -> Command, fn(&ArgMatches) -> Result<u8, Failure>);

const SUBCOMMANDS: &[Subcommand] = &[
    (compare::command, compare::run),
    (stat::command, stat::run),
    (hlog::command, hlog::run),
    (top::command, top::run),
    (list::command, list::run),
    (show::command, show::run),
    (serve::command, serve::run),
    (push::command, push::run),
    (record::command, record::run),
    (report::command, report::run),
    (hiccup::command, hiccup::run),
    (prune::command, prune::run),
    (probe::command, probe::run),
    (events::command, events::run),
    (manual::command, manual::run),
];

/// The command line.
fn tree() -> Command {
    tree_of(|_| true)
}

/// The command line with a selection of its subcommands.
fn tree_of(has: impl Fn(&Command) -> bool) -> Command {
    let command = Command::new("picollo")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Histograms and counters from the command line")
        .subcommand_required(true)
        .arg_required_else_help(true);
    command.subcommands(SUBCOMMANDS.iter().map(|(command, _)| command()).filter(has))
}

fn main() -> ExitCode {
    if let Some(status) = counts::launch() {
        return status;
    }
    let matches = tree().get_matches();
    let Some((name, matches)) = matches.subcommand() else { return ExitCode::from(2) };
    let chosen = SUBCOMMANDS.iter().find(|(command, _)| command().get_name() == name);
    match chosen.map_or(Ok(2), |(_, run)| run(matches)) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            failure.report(name);
            ExitCode::from(1)
        }
    }
}
