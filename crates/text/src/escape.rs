//! Escapes titles and names for the format they appear in.

use core::fmt::{self, Write};

/// Returns the title without the white space and control characters around it. A title of only those is no title.
pub(crate) fn trim(title: &str) -> &str {
    title.trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

/// Replaces control characters and line separators with a space: they would break a line or a terminal.
fn printable(c: char) -> char {
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }
}

/// A name on a single line of plain text.
pub(crate) struct Line<'a>(pub &'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trim(self.0).chars().try_for_each(|c| f.write_char(printable(c)))
    }
}

/// A name in a Markdown heading or table cell. Every renderer shows it literally, and it is close to plain text in a
/// terminal: only characters that mean something to Markdown in their position have a backslash.
pub struct Markdown<'a>(pub &'a str);

impl fmt::Display for Markdown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = trim(self.0);
        // The characters on either side of a run of underscores decide its meaning.
        let (mut previous, mut before_run) = (' ', ' ');
        for (position, c) in text.char_indices() {
            if c != '_' || previous != '_' {
                before_run = previous;
            }
            let rest = text.get(position + c.len_utf8()..).unwrap_or_default();
            let special = match c {
                '\\' | '`' | '*' | '[' | ']' | '|' | '<' => true,
                '_' => {
                    let after_run = rest.trim_start_matches('_').chars().next().unwrap_or(' ');
                    !(before_run.is_alphanumeric() && after_run.is_alphanumeric())
                }
                // Two tildes around a text strike it out; the second one follows a text.
                '~' => !previous.is_whitespace(),
                // A run of these after a space at the end would close a heading.
                '#' => previous.is_whitespace() && rest.trim_start_matches('#').is_empty(),
                '&' => is_entity(rest),
                _ => false,
            };
            if special {
                f.write_char('\\')?;
            }
            f.write_char(printable(c))?;
            previous = printable(c);
        }
        Ok(())
    }
}

/// Returns whether the text after an ampersand completes a character reference, such as `lt;` or `#38;`.
fn is_entity(rest: &str) -> bool {
    let body = rest.strip_prefix('#').unwrap_or(rest).trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    body.starts_with(';')
}

/// The content of a JSON string, without the quotes.
pub struct Json<'a>(pub &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            '\t' => f.write_str("\\t"),
            // JSON allows the separators, but older JavaScript ends a line at them.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "\\u{:04x}", u32::from(c))
            }
            c => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn markdown() {
        for (title, text) in [
            ("add_chain_256", "add_chain_256"),
            ("a__b", "a__b"),
            ("_private", "\\_private"),
            ("__init__", "\\_\\_init\\_\\_"),
            ("a _b_ c", "a \\_b\\_ c"),
            ("größe_ä", "größe_ä"),
            ("a|b<c>\\d`e`", "a\\|b\\<c>\\\\d\\`e\\`"),
            ("*x* [l](u)", "\\*x\\* \\[l\\](u)"),
            ("two\nlines\r\n\tmore\u{7}\u{2028}end", "two lines   more  end"),
            ("  padded \n", "padded"),
            ("R&D, a &b; c &lt; &#38; &#x26;", "R&D, a \\&b; c \\&lt; \\&#38; \\&#x26;"),
            ("~5 ms, ~~no~~", "~5 ms, ~\\~no\\~\\~"),
            ("C#", "C#"),
            ("C ##", "C \\##"),
            ("# 1", "# 1"),
            ("#", "\\#"),
            ("", ""),
        ] {
            assert_eq!(Markdown(title).to_string(), text, "{title:?}");
        }
    }

    #[test]
    fn line() {
        assert_eq!(Line(" a\r\nb*\\\u{1b}[0m ").to_string(), "a  b*\\ [0m");
    }

    #[test]
    fn json() {
        assert_eq!(
            Json("\"q\" \\ \n\r\t\u{0}\u{1f}\u{7f}\u{2028} ä😀").to_string(),
            "\\\"q\\\" \\\\ \\n\\r\\t\\u0000\\u001f\\u007f\\u2028 ä😀"
        );
    }
}
