//! Text for people: the answer first, then its basis, in units that fit, 80 columns wide.

mod answer;
#[cfg(test)]
mod answer_tests;
mod changes;
mod percent;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub(super) use changes::{Shown, write_blocks, write_comparison, write_diff};
pub(super) use summary::{write, write_of};

pub use answer::Answer;

use core::fmt::{self, Write};

use crate::escape::{Line, trim};
use picollo_core::seam::SHORT;
pub(super) use picollo_core::seam::{Rank, supports};
use picollo_core::snapshots::SUMMARY_RANKS;

/// Columns of a terminal.
const WIDTH: usize = 80;

/// The rank at a position in [`SUMMARY_RANKS`].
fn rank(position: usize) -> Rank {
    Rank(SUMMARY_RANKS.get(position).copied().unwrap_or(f64::NAN))
}

/// A title on a separate line, if there is one.
fn write_title(out: &mut dyn Write, title: &str) -> fmt::Result {
    if trim(title).is_empty() { Ok(()) } else { writeln!(out, "{}", Line(title)) }
}

/// Breaks lines at spaces before they are wider than a terminal. A word that is wider gets a separate line.
struct Wrapping<'a> {
    out: &'a mut dyn Write,
    column: usize,
    word: [u8; 4 * WIDTH],
    length: usize,
    width: usize,
}

impl<'a> Wrapping<'a> {
    fn new(out: &'a mut dyn Write) -> Wrapping<'a> {
        Wrapping { out, column: 0, word: [0; 4 * WIDTH], length: 0, width: 0 }
    }

    /// Writes the pending last word.
    fn finish(&mut self) -> fmt::Result {
        if self.column > 0 && self.width > 0 {
            let fits = self.column + 1 + self.width <= WIDTH;
            self.out.write_char(if fits { ' ' } else { '\n' })?;
            self.column = if fits { self.column + 1 } else { 0 };
        }
        let word = self.word.get(..self.length).and_then(|word| core::str::from_utf8(word).ok());
        self.out.write_str(word.unwrap_or_default())?;
        self.column += self.width;
        (self.length, self.width) = (0, 0);
        Ok(())
    }
}

impl Write for Wrapping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c == ' ' {
                self.finish()?;
                continue;
            }
            let Some(room) = self.word.get_mut(self.length..self.length + c.len_utf8()) else {
                // The name is longer than a line.
                self.finish()?;
                self.column = self.column.saturating_add(1);
                self.out.write_char(c)?;
                continue;
            };
            c.encode_utf8(room);
            self.length += c.len_utf8();
            self.width += 1;
        }
        Ok(())
    }
}

/// Text in lines that fit a terminal, without a line break at the end.
fn write_wrapped(out: &mut dyn Write, text: fmt::Arguments<'_>) -> fmt::Result {
    let mut wrapping = Wrapping::new(out);
    wrapping.write_fmt(text)?;
    wrapping.finish()
}
