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
    pub(crate) fn of_file(file: impl Display, error: &io::Error) -> Failure {
        Failure::Message(format!("{file}: {}", plain(error)))
    }

    /// Writes the error to standard error, on one line.
    pub(crate) fn report(&self, command: &str) {
        if let Failure::Message(what) = self {
            let _ = writeln!(io::stderr(), "picollo {command}: {what}");
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Failure::Message(what) => what,
            Failure::NoReader => "the reader of the output has ended",
        })
    }
}

impl From<picollo_native::ExplainedError> for Failure {
    fn from(error: picollo_native::ExplainedError) -> Failure {
        Failure::Message(error.to_string())
    }
}

impl From<picollo_core::Error> for Failure {
    fn from(error: picollo_core::Error) -> Failure {
        Failure::Message(error.to_string())
    }
}

impl From<picollo_export::MetricError> for Failure {
    fn from(error: picollo_export::MetricError) -> Failure {
        Failure::Message(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(what: String) -> Failure {
        Failure::Message(what)
    }
}

impl From<&str> for Failure {
    fn from(what: &str) -> Failure {
        Failure::Message(what.into())
    }
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
        _ => Failure::of_file("standard output", &error),
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
    std::fs::write(path, text).map_err(|error| Failure::of_file(path.display(), &error))
}
