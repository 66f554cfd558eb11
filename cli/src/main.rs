//! The `picollo` command. Each module that has `command` and `run` is a subcommand.
//!
//! Exit status: 0 if all is well, 1 for an error that was told, 2 for wrong usage, and what a command's help says besides.

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

/// What a subcommand is: its name, its command line, and what runs it. What it returns is the exit status.
struct Subcommand {
    command: fn() -> Command,
    run: fn(&ArgMatches) -> Result<u8, Failure>,
}

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand { command: compare::command, run: compare::run },
    Subcommand { command: stat::command, run: stat::run },
    Subcommand { command: hlog::command, run: hlog::run },
    Subcommand { command: top::command, run: top::run },
    Subcommand { command: list::command, run: list::run },
    Subcommand { command: show::command, run: show::run },
    Subcommand { command: serve::command, run: serve::run },
    Subcommand { command: push::command, run: push::run },
    Subcommand { command: record::command, run: record::run },
    Subcommand { command: report::command, run: report::run },
    Subcommand { command: hiccup::command, run: hiccup::run },
    Subcommand { command: prune::command, run: prune::run },
    Subcommand { command: probe::command, run: probe::run },
    Subcommand { command: events::command, run: events::run },
    Subcommand { command: manual::command, run: manual::run },
];

/// The command line.
fn tree() -> Command {
    tree_of(|_| true)
}

/// The command line, with some of its subcommands.
fn tree_of(has: impl Fn(&Command) -> bool) -> Command {
    let command = Command::new("picollo")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Histograms and counters from the command line")
        .subcommand_required(true)
        .arg_required_else_help(true);
    command.subcommands(SUBCOMMANDS.iter().map(|known| (known.command)()).filter(has))
}

fn main() -> ExitCode {
    if let Some(status) = counts::launch() {
        return status;
    }
    let matches = tree().get_matches();
    let Some((name, matches)) = matches.subcommand() else { return ExitCode::from(2) };
    let Some(chosen) = SUBCOMMANDS.iter().find(|known| (known.command)().get_name() == name) else {
        return ExitCode::from(2);
    };
    match (chosen.run)(matches) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            failure.tell(name);
            ExitCode::from(1)
        }
    }
}
