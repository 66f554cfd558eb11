//! Markdown tables whose columns line up in a terminal as well.

use core::fmt::{self, Display, Write};

/// Columns of a table.
pub(crate) const COLUMNS: usize = 4;

/// Narrowest column: room for the dashes and colon of its alignment.
const LEAST_WIDTH: usize = 3;

/// To which side a column's cells are moved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The cells of one row; `&""` for none.
pub(crate) type Row<'a> = [&'a dyn Display; COLUMNS];

/// Takes a table's rows one by one, the first being the header.
pub(crate) type Rows<'a> = &'a mut dyn FnMut(Row<'_>) -> fmt::Result;

/// Writes the table whose rows `rows` hands out. It is called twice, once to find the columns' widths, and has to hand
/// out the same rows again: there is no memory to keep them in.
///
/// Cells have to be free of line breaks and unescaped pipes.
pub(crate) fn write(
    out: &mut dyn Write,
    align: [Align; COLUMNS],
    rows: &dyn Fn(Rows<'_>) -> fmt::Result,
) -> fmt::Result {
    let mut widths = [LEAST_WIDTH; COLUMNS];
    rows(&mut |row| {
        for (cell, widest) in row.iter().zip(&mut widths) {
            *widest = (*widest).max(width(cell)?);
        }
        Ok(())
    })?;
    let mut header = true;
    rows(&mut |row| {
        for ((cell, align), widest) in row.iter().zip(align).zip(widths) {
            let padding = Repeat(' ', widest.saturating_sub(width(cell)?));
            match align {
                Align::Left => write!(out, "| {cell}{padding} ")?,
                Align::Right => write!(out, "| {padding}{cell} ")?,
            }
        }
        out.write_str("|\n")?;
        if core::mem::replace(&mut header, false) { write_alignment(out, align, widths) } else { Ok(()) }
    })
}

fn write_alignment(out: &mut dyn Write, align: [Align; COLUMNS], widths: [usize; COLUMNS]) -> fmt::Result {
    for (align, width) in align.into_iter().zip(widths) {
        let dashes = Repeat('-', width.saturating_sub(1));
        match align {
            Align::Left => write!(out, "| :{dashes} ")?,
            Align::Right => write!(out, "| {dashes}: ")?,
        }
    }
    out.write_str("|\n")
}

/// A character many times. A formatting width would panic beyond `u16::MAX`, and names may be longer.
pub(crate) struct Repeat(pub char, pub usize);

impl Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repeat(c, times) = *self;
        (0..times).try_for_each(|_| f.write_char(c))
    }
}

/// The number of Unicode scalar values in a cell's text.
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
        // Past u16::MAX, the widest that a formatting width may be.
        let wide = "x".repeat(70_000);
        let mut text = String::new();
        write(&mut text, [Align::Right; COLUMNS], &|row| {
            row([&wide, &"b", &"c", &"d"])?;
            row([&"", &"", &"", &""])
        })
        .unwrap();
        let mut lengths = text.lines().map(str::len);
        let first = lengths.next().unwrap();
        assert!(first > 70_000 && lengths.all(|length| length == first));
    }
}
