//! Logs as lines of text, from any source, compressed or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use picollo_codec::log::{from_utf16, is_utf16};

use crate::failure::{Failure, plain};

/// Bytes to read at once.
const PIECE: usize = 1 << 18;
/// Longer than any line of a log: the largest histogram takes about 30 MB.
const LONGEST_LINE: u64 = 1 << 28;

/// The text of a log.
pub(crate) struct Source {
    /// Its name in messages.
    pub(crate) name: String,
    input: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    begins: bool,
}

impl Source {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(file: &str) -> Result<Source, Failure> {
        let (name, mut raw): (_, Box<dyn Read>) = if file == "-" {
            ("<stdin>", Box::new(io::stdin()))
        } else {
            (file, Box::new(File::open(file).map_err(|error| Failure::for_file(file, &error))?))
        };
        let mut first = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut first).map_err(|error| Failure::for_file(name, &error))?;
        let is_packed = first == [0x1f, 0x8b];
        let whole = io::Cursor::new(first).chain(BufReader::with_capacity(PIECE, raw));
        let input: Box<dyn Read> =
            if is_packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let input = BufReader::with_capacity(PIECE, input);
        Ok(Source { name: name.into(), input, line: Vec::new(), begins: true })
    }

    /// The next line with its end, or all lines if they end with CR alone. `None` at the end.
    pub(crate) fn line(&mut self) -> Result<Option<&[u8]>, Failure> {
        self.line.clear();
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        if read.map_err(|error| self.failure(&error))? as u64 == LONGEST_LINE {
            let name = &self.name;
            return Err(
                format!("{name}: a line has {LONGEST_LINE} bytes or more, so this is not a log").into()
            );
        }
        if std::mem::take(&mut self.begins) && is_utf16(&self.line) {
            // Few logs use this form, and they hold one run of a program.
            self.input.read_to_end(&mut self.line).map_err(|error| self.failure(&error))?;
            let text = from_utf16(&self.line).map_err(|error| format!("{}: {error}", self.name))?;
            self.line = text.unwrap_or_default().into_bytes();
        }
        Ok(Some(&self.line[..]).filter(|line| !line.is_empty()))
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match error.kind() {
            ErrorKind::UnexpectedEof => format!("{}: the compressed data is incomplete", self.name).into(),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                format!("{}: the compressed data is damaged: {}", self.name, plain(error)).into()
            }
            _ => Failure::for_file(&self.name, error),
        }
    }
}
