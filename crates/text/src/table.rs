//! Markdown tables whose columns also line up in a terminal.

use core::fmt::{self, Display, Write, from_fn};

/// The narrowest column: room for the dashes and colon of its alignment.
const LEAST_WIDTH: usize = 3;

/// How the cells of a column are aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Spaces follow.
    Left,
    /// Spaces come first.
    Right,
}

/// Takes the rows of a table one by one, the header first; an empty cell is `&""`.
pub type Rows<'a, const N: usize = 4> = &'a mut dyn FnMut([&dyn Display; N]) -> fmt::Result;

/// The widths of columns, at least `least`.
fn widths<const N: usize>(
    rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
    least: usize,
) -> Result<[usize; N], fmt::Error> {
    let mut widths = [least; N];
    rows(&mut |row| {
        for (cell, widest) in row.iter().zip(&mut widths) {
            *widest = (*widest).max(width(cell)?);
        }
        Ok(())
    })?;
    Ok(widths)
}

/// Writes the table whose rows `rows` passes out. It calls `rows` twice, first to find the column widths, because there
/// is no memory to keep the rows in. `rows` must pass out the same rows both times.
///
/// Cells must not contain line breaks or unescaped pipes.
pub fn write<const N: usize>(
    out: &mut dyn Write,
    align: [Align; N],
    rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
) -> fmt::Result {
    let widths = widths(rows, LEAST_WIDTH)?;
    let mut header = true;
    rows(&mut |row| {
        for ((cell, align), widest) in row.iter().zip(align).zip(widths) {
            let padding = repeat(' ', widest.saturating_sub(width(cell)?));
            match align {
                Align::Left => write!(out, "| {cell}{padding} ")?,
                Align::Right => write!(out, "| {padding}{cell} ")?,
            }
        }
        out.write_str("|\n")?;
        if core::mem::replace(&mut header, false) { write_alignment(out, align, widths) } else { Ok(()) }
    })
}

fn write_alignment<const N: usize>(
    out: &mut dyn Write,
    align: [Align; N],
    widths: [usize; N],
) -> fmt::Result {
    for (align, width) in align.into_iter().zip(widths) {
        let dashes = repeat('-', width.saturating_sub(1));
        match align {
            Align::Left => write!(out, "| :{dashes} ")?,
            Align::Right => write!(out, "| {dashes}: ")?,
        }
    }
    out.write_str("|\n")
}

/// Repeats a character. A formatting width would panic beyond `u16::MAX`, and names may be longer.
fn repeat(c: char, times: usize) -> impl Display {
    from_fn(move |f| (0..times).try_for_each(|_| f.write_char(c)))
}

/// A cell that may be empty.
pub(crate) struct Cell<T>(pub Option<T>);

impl<T: Display> Display for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

/// Returns the number of Unicode scalar values in the text of a cell.
pub fn width(cell: &dyn Display) -> Result<usize, fmt::Error> {
    struct Scalars(usize);
    impl Write for Scalars {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.chars().count();
            Ok(())
        }
    }
    let mut scalars = Scalars(0);
    write!(scalars, "{cell}")?;
    Ok(scalars.0)
}

/// Tables in a terminal: columns with two spaces between them, and no lines.
pub mod plain {
    use core::fmt::{self, Write};

    pub use super::Rows;
    use super::{repeat, width};

    /// The widths of columns; 0 for an empty one.
    pub(crate) fn widths<const N: usize>(
        rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
    ) -> Result<[usize; N], fmt::Error> {
        super::widths(rows, 0)
    }

    /// The width of a table with these columns.
    pub(crate) fn total<const N: usize>(widths: [usize; N]) -> usize {
        widths.iter().filter(|&&width| width > 0).map(|width| width + 2).sum::<usize>().saturating_sub(2)
    }

    /// Writes a table, each row after a line break. `rows` runs twice and must give the same rows. Columns from `left` on
    /// are aligned to the right, and empty ones are left out.
    pub fn write<const N: usize>(
        out: &mut dyn Write,
        left: usize,
        rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
    ) -> fmt::Result {
        let widths = widths(rows)?;
        rows(&mut |row| {
            out.write_char('\n')?;
            // No row ends with spaces.
            let mut pending = 0;
            for (at, (cell, widest)) in
                row.iter().zip(widths).enumerate().filter(|(_, (_, widest))| *widest > 0)
            {
                let (own, is_left) = (width(cell)?, at < left);
                let padding = widest - own.min(widest);
                if own == 0 {
                    pending += widest + 2;
                    continue;
                }
                let before = pending + if is_left { 0 } else { padding };
                write!(out, "{}{cell}", repeat(' ', before))?;
                pending = 2 + if is_left { padding } else { 0 };
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn columns_are_as_wide_as_their_content_and_at_least_three() {
        let mut text = String::new();
        let align = [Align::Left, Align::Right, Align::Left, Align::Right];
        write(&mut text, align, &|row| {
            row([&"a", &"±", &"", &"wide"])?;
            row([&1, &"äöüß", &"", &2])
        })
        .unwrap();
        assert_eq!(
            text,
            "| a   |    ± |     | wide |\n| :-- | ---: | :-- | ---: |\n| 1   | äöüß |     |    2 |\n"
        );
    }

    #[test]
    fn very_wide_cells() {
        // This exceeds u16::MAX, the largest formatting width.
        let wide = "x".repeat(70_000);
        let mut text = String::new();
        write(&mut text, [Align::Right; 4], &|row| {
            row([&wide, &"b", &"c", &"d"])?;
            row([&"", &"", &"", &""])
        })
        .unwrap();
        let mut lengths = text.lines().map(str::len);
        let first = lengths.next().unwrap();
        assert!(first > 70_000 && lengths.all(|length| length == first));
    }
}
