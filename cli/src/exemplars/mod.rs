//! Intervals of collectors of exemplars, from files that services wrote.

mod json;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use picollo_native::exemplars::Interval;

use crate::failure::Failure;
use crate::table::printable;

/// Bytes of a file: a day of intervals of a minute is half of it.
const MOST_BYTES: u64 = 64 << 20;

/// The intervals in a file of JSON objects, in their order.
pub(crate) fn read(path: &Path) -> Result<Vec<Interval>, Failure> {
    let name = printable(&path.to_string_lossy());
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::of_file(&name, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(
            format!("{name}: more than {} MiB: give the intervals that matter", MOST_BYTES >> 20).into()
        );
    }
    let intervals = std::str::from_utf8(&bytes)
        .map_err(|error| format!("is not UTF-8, from byte {} on", error.valid_up_to() + 1))
        .and_then(json::intervals);
    intervals.map_err(|fault| format!("{name}: {fault}").into())
}
