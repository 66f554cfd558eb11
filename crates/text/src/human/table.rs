//! Tables in a terminal: columns with two spaces between them, and no lines.

use core::fmt::{self, Display, Write};

use crate::table::{Repeat, width};

/// Takes a table's rows one by one.
pub(super) type Rows<'a, const N: usize> = &'a mut dyn FnMut([&dyn Display; N]) -> fmt::Result;

/// The widths of columns; 0 for an empty one.
pub(super) fn widths<const N: usize>(
    rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
) -> Result<[usize; N], fmt::Error> {
    let mut widths = [0; N];
    rows(&mut |row| {
        for (cell, widest) in row.iter().zip(&mut widths) {
            *widest = (*widest).max(width(cell)?);
        }
        Ok(())
    })?;
    Ok(widths)
}

/// The width of a table with these columns.
pub(super) fn total<const N: usize>(widths: [usize; N]) -> usize {
    widths.iter().filter(|&&width| width > 0).map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

/// Writes a table, each row after a line break. `rows` runs twice and must give the same rows. Columns from `left` on
/// are aligned to the right, and empty ones are left out.
pub(super) fn write<const N: usize>(
    out: &mut dyn Write,
    left: usize,
    rows: &dyn Fn(Rows<'_, N>) -> fmt::Result,
) -> fmt::Result {
    let widths = widths(rows)?;
    rows(&mut |row| {
        out.write_char('\n')?;
        // No row ends with spaces.
        let mut pending = 0;
        for (at, (cell, widest)) in row.iter().zip(widths).enumerate().filter(|(_, (_, widest))| *widest > 0)
        {
            let (own, is_left) = (width(cell)?, at < left);
            let padding = widest - own.min(widest);
            if own == 0 {
                pending += widest + 2;
                continue;
            }
            let before = pending + if is_left { 0 } else { padding };
            write!(out, "{}{cell}", Repeat(' ', before))?;
            pending = 2 + if is_left { padding } else { 0 };
        }
        Ok(())
    })
}
