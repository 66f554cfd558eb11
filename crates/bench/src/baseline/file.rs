//! The files of a baseline.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use picollo_codec::log::{Header, Reader, write_header, write_interval};
use picollo_core::{Layout, Snapshot};

use super::{Environment, MOST_RUNS, Median, Run, SavedRun};
use picollo_native::{ExplainedError, Result, Status};

/// Prefix of the keys in comments.
const KEY: &str = "picollo.";

/// This key marks a log in picoseconds, and so a run.
const UNIT: &str = "unit";

/// Maximum length of a value; a line of a comment has 117 characters.
const VALUE: usize = 80;

fn failed(path: &Path, what: &str, error: &io::Error) -> ExplainedError {
    let status =
        if error.kind() == io::ErrorKind::PermissionDenied { Status::Permission } else { Status::Os };
    ExplainedError::new(status, format_args!("{}: {what}: {error}", path.display()))
}

/// Encodes a name as a tag. Commas, spaces, line ends, control characters and `%` become `%` and two hexadecimal digits
/// per byte.
fn tag_of(name: &str) -> String {
    let mut tag = String::new();
    for c in name.chars() {
        if matches!(c, '%' | ',' | '\u{2028}' | '\u{2029}') || c.is_whitespace() || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                tag += &format!("%{byte:02X}");
            }
        } else {
            tag.push(c);
        }
    }
    tag
}

/// Decodes a tag. Invalid escapes stay as they are.
pub(super) fn name_of(tag: &str) -> String {
    percent_encoding::percent_decode_str(tag).decode_utf8_lossy().into_owned()
}

/// Converts the counts to the buckets of logs, with as many buckets as the values need.
fn fitting(snapshot: &Snapshot) -> Result<Box<Snapshot>> {
    let highest = snapshot.highest_recorded().ok_or(Status::Empty)?.upper;
    let counts = snapshot.counts();
    if counts.underflow != 0 || counts.overflow != 0 || counts.lost != 0 || highest >> 62 != 0 {
        return Err(ExplainedError::new(
            Status::InvalidArgument,
            format_args!("a value is out of range, or too large for a log"),
        ));
    }
    let layout = Layout::with_significant_digits(3, 0, highest.max(1))?.with_whole_array();
    let mut fitting = Snapshot::boxed_alone(layout)?;
    fitting.merge(snapshot);
    Ok(fitting)
}

/// Reduces a value or a key to characters that a comment may contain.
pub(super) fn clean(text: &str) -> String {
    let printed = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' });
    printed.take(VALUE).collect::<String>().trim().to_owned()
}

fn text_of(run: &Run, path: &Path, seconds: f64) -> Result<String> {
    let mut comment = format!("{KEY}{UNIT}: ps\n");
    for (key, value) in run.environment.iter().filter(|(key, _)| key != UNIT) {
        comment += &format!("{KEY}{}: {}\n", clean(key).replace(':', "?"), clean(value));
    }
    let mut text = String::new();
    let header = Header { comment: &comment, start_seconds: Some(seconds), ..Header::default() };
    write_header(&mut text, &header)?;
    for (name, snapshot) in &run.histograms {
        let written = fitting(snapshot)
            .and_then(|fitting| Ok(write_interval(&mut text, &fitting, seconds, 0.0, Some(&tag_of(name)))?));
        written.map_err(|error| {
            ExplainedError::new(error.status(), format_args!("{}: {name}: {error}", path.display()))
        })?;
    }
    Ok(text)
}

pub(super) fn save(directory: &Path, run: &Run) -> Result<PathBuf> {
    let invalid =
        |why: &str| ExplainedError::new(Status::InvalidArgument, format_args!("a run to save {why}"));
    if run.histograms.is_empty() {
        return Err(invalid("has no benchmark in it"));
    }
    for (at, (name, _)) in run.histograms.iter().enumerate() {
        if name.is_empty() || run.histograms[..at].iter().any(|(other, _)| other == name) {
            return Err(invalid(&format!("has two benchmarks {name:?}, or one without a name")));
        }
    }
    fs::create_dir_all(directory).map_err(|error| failed(directory, "cannot be made", &error))?;
    let nanos = picollo_native::unix_nanos();
    let stem = format!("{nanos:020}-{}", std::process::id());
    // Readers only look at files that end with .hlog.
    let (begun, path) = (directory.join(format!("{stem}.begun")), directory.join(format!("{stem}.hlog")));
    let text = text_of(run, &path, nanos as f64 / 1e9)?;
    let write = || -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&begun)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&begun, &path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&begun);
        failed(&path, "cannot be written", &error)
    })?;
    Ok(path)
}

pub(super) fn runs(directory: &Path) -> Result<Vec<SavedRun>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(directory, "cannot be read", &error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(directory, "cannot be read", &error))?.path();
        if path.extension().is_some_and(|extension| extension == "hlog") {
            paths.push(path);
        }
    }
    // Names begin with the time.
    paths.sort();
    let newest = paths.len().saturating_sub(MOST_RUNS);
    paths[newest..].iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<SavedRun> {
    let bytes = fs::read(path).map_err(|error| failed(path, "cannot be read", &error))?;
    let environment: Environment = bytes.split(|&byte| byte == b'\n').filter_map(noted).collect();
    let mut run = SavedRun { path: path.into(), environment, medians: Vec::new() };
    let mut reader = Reader::new(&bytes);
    while let Some(interval) = reader.next() {
        let median = interval.map_err(ExplainedError::from).and_then(|interval| {
            let name = name_of(interval.tag.unwrap_or_default());
            if run.medians.iter().any(|median| median.name == name) {
                return Err(ExplainedError::new(
                    Status::Corrupt,
                    format_args!("{name:?} occurs twice in this run: each benchmark needs its own name"),
                ));
            }
            Median::from_snapshot(name, &interval.decode(0)?)
        });
        run.medians.push(median.map_err(|error| {
            let line = reader.line();
            ExplainedError::new(Status::Corrupt, format_args!("{}, line {line}: {error}", path.display()))
        })?);
    }
    let why = if super::value_of(&run.environment, UNIT) != "ps" {
        "is not a run of a baseline: the comment `#[picollo.unit: ps]` is missing"
    } else if bytes.last() != Some(&b'\n') {
        // Readers of growing logs wait for the rest of such a line.
        "is incomplete: its last line has no end"
    } else {
        return Ok(run);
    };
    Err(ExplainedError::new(Status::Corrupt, format_args!("{} {why}", path.display())))
}

/// The key and the value in a comment, if it has them.
fn noted(line: &[u8]) -> Option<(String, String)> {
    let line = core::str::from_utf8(line).ok()?.trim();
    let (key, value) = line.strip_prefix("#[")?.strip_suffix(']')?.strip_prefix(KEY)?.split_once(':')?;
    Some((key.trim().to_owned(), value.trim().to_owned()))
}
