//! Why a command ends early, and how that is reported.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ArgMatches;

/// Why a command ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error with a message.
    Message(String),
    /// The reader of the output has closed it.
    NoReader,
}

impl Failure {
    /// The error of a file operation.
    pub(crate) fn for_file(file: impl Display, error: &io::Error) -> Failure {
        Failure::Message(format!("{file}: {}", plain(error)))
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Failure::Message(what) => what,
            Failure::NoReader => "the reader of the output has ended",
        }
    }

    /// Writes the error to standard error, on one line.
    pub(crate) fn report(&self, command: &str) {
        if let Failure::Message(what) = self {
            report(command, what);
        }
    }
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Message(error.to_string())
    }
}

/// Writes a message of a command to standard error, on one line.
pub(crate) fn report(command: &str, what: impl Display) {
    let _ = writeln!(io::stderr(), "picollo {command}: {what}");
}

/// The system's message, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.into(),
        None => text,
    }
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::NoReader,
        _ => Failure::for_file("standard output", &error),
    })
}

/// Prints a result, as text or, with --json, as JSON. The file of --export-json gets the JSON, too.
pub(crate) fn print_found(
    matches: &ArgMatches,
    json: impl Fn() -> String,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    // Writes the file first: the reader of the output may close it.
    matches.get_one::<PathBuf>("export-json").map_or(Ok(()), |path| write_file(path, &json()))?;
    print(&if matches.get_flag("json") { json() } else { text() })
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::for_file(path.display(), &error))
}
