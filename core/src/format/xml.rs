//! Characters in XML and HTML.

use core::fmt::{self, Write};

/// Writes a character so that XML does not interpret it; one that XML does not allow becomes a space.
pub fn write_escaped(f: &mut dyn Write, c: char) -> fmt::Result {
    match c {
        '&' => f.write_str("&amp;"),
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        '\n' => f.write_char('\n'),
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => f.write_char(' '),
        c => f.write_char(c),
    }
}
