//! Logs as text, a piece at a time, wherever they come from and however they are packed.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use picollo_core::log::{from_utf16, is_utf16};

use crate::failure::{Failure, plain};

/// How much is read at once.
const PIECE: usize = 1 << 18;
/// No line of a log is as long: the largest histogram takes some 30 MB.
const LONGEST_LINE: usize = 1 << 28;

/// The text of a log.
pub(crate) struct Source {
    /// What it is called in messages.
    pub(crate) name: String,
    input: Box<dyn Read>,
    /// Whole lines, which were given out, and what was read of the next.
    text: Vec<u8>,
    given: usize,
    has_ended: bool,
    begins: bool,
}

impl Source {
    /// `-` is standard input.
    pub(crate) fn open(file: &str) -> Result<Source, Failure> {
        let (name, raw): (_, Box<dyn Read>) = if file == "-" {
            ("<stdin>", Box::new(io::stdin()))
        } else {
            (file, Box::new(File::open(file).map_err(|error| Failure::of_file(file, &error))?))
        };
        let mut raw = BufReader::with_capacity(PIECE, raw);
        let mut first = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut first).map_err(|error| Failure::of_file(name, &error))?;
        let is_packed = first == [0x1f, 0x8b];
        let whole = io::Cursor::new(first).chain(raw);
        let input: Box<dyn Read> =
            if is_packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        Ok(Source { name: name.into(), input, text: Vec::new(), given: 0, has_ended: false, begins: true })
    }

    /// The next lines, whole ones but for the last of all; `None` at the end.
    pub(crate) fn lines(&mut self) -> Result<Option<&[u8]>, Failure> {
        self.text.drain(..self.given);
        self.given = 0;
        loop {
            if self.has_ended && self.text.is_empty() {
                return Ok(None);
            }
            let last_of =
                |bytes: &[u8], end: u8| bytes.iter().rposition(|&byte| byte == end).map(|at| at + 1);
            let end = if self.has_ended {
                Some(self.text.len())
            } else {
                // A CR that is the last byte read so far may be half of a line end.
                let all_but_one = &self.text[..self.text.len().saturating_sub(1)];
                last_of(&self.text, b'\n').or_else(|| last_of(all_but_one, b'\r'))
            };
            if let Some(end) = end {
                self.given = end;
                return Ok(Some(&self.text[..end]));
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> Result<(), Failure> {
        let before = self.text.len();
        if before > LONGEST_LINE {
            return Err(
                format!("{}: a line is longer than {LONGEST_LINE} bytes: this is no log", self.name).into()
            );
        }
        let read = self.input.by_ref().take(PIECE as u64).read_to_end(&mut self.text);
        let read = read.map_err(|error| self.failure(&error))?;
        self.has_ended = read == 0;
        if self.begins {
            self.begins = false;
            if is_utf16(&self.text) {
                // Few logs are written so, and those of one program run.
                self.input.read_to_end(&mut self.text).map_err(|error| self.failure(&error))?;
                self.has_ended = true;
                let text = from_utf16(&self.text).map_err(|error| format!("{}: {error}", self.name))?;
                self.text = text.unwrap_or_default().into_bytes();
            }
        }
        Ok(())
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match error.kind() {
            ErrorKind::UnexpectedEof => {
                format!("{}: what is compressed ends in the middle", self.name).into()
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                format!("{}: what is compressed is damaged: {}", self.name, plain(error)).into()
            }
            _ => Failure::of_file(&self.name, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte, or two, or three … at a time.
    struct Drip(io::Cursor<Vec<u8>>, u64);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 3 + 1;
            self.0.by_ref().take(self.1).read(buffer)
        }
    }

    #[test]
    fn lines_stay_whole() {
        for end in ["\n", "\r\n", "\r"] {
            let log: String =
                (0..50_000).map(|number| format!("line {number}{end}")).collect::<String>() + "last";
            for text in [log.as_bytes(), &log.as_bytes()[..log.len() - 4]] {
                let input = Box::new(Drip(io::Cursor::new(text.to_vec()), 0));
                let mut source = Source {
                    name: "x".into(),
                    input,
                    text: vec![],
                    given: 0,
                    has_ended: false,
                    begins: true,
                };
                let (mut joined, mut pieces) = (Vec::new(), 0);
                while let Some(lines) = source.lines().unwrap() {
                    assert!(!joined.ends_with(b"\r") || lines[0] != b'\n', "a line end was cut");
                    assert!(
                        joined.is_empty() || joined.ends_with(b"\n") || joined.ends_with(b"\r"),
                        "a line was cut"
                    );
                    joined.extend_from_slice(lines);
                    pieces += 1;
                }
                assert!(joined == text && pieces > 1);
            }
        }
    }
}
