//! Text in XML and HTML.

use core::fmt::{self, Display, Write};

use picollo_core::seam::write_escaped;

use crate::escape::trim;

/// A text in an element, or in an attribute with double quotes. Characters that XML would interpret are escaped, and
/// characters that it does not allow become spaces.
#[derive(Clone, Copy, Debug)]
pub struct Xml<'a>(pub &'a str);

impl Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trim(self.0).chars().try_for_each(|c| write_escaped(f, c))
    }
}

/// At most this many characters of a text; the last is an ellipsis if there are more.
pub(super) struct Short<'a>(pub &'a str, pub usize);

impl Short<'_> {
    /// The number of its characters.
    pub(super) fn length(&self) -> usize {
        trim(self.0).chars().count().min(self.1)
    }
}

impl Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = trim(self.0);
        let is_long = text.chars().count() > self.1;
        let shown = if is_long { self.1.saturating_sub(1) } else { self.1 };
        text.chars().take(shown).try_for_each(|c| write_escaped(f, c))?;
        if is_long { f.write_char('…') } else { Ok(()) }
    }
}

/// Escapes everything written through it for an element.
pub(super) struct Escaping<'a>(pub &'a mut dyn Write);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| write_escaped(self.0, c))
    }
}

/// For JSON in a script element, which ends at any `</script`. In JSON, `<` occurs only in strings.
pub(super) struct InScript<'a>(pub &'a mut dyn Write);

impl Write for InScript<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (at, part) in text.split('<').enumerate() {
            if at > 0 {
                self.0.write_str("\\u003c")?;
            }
            self.0.write_str(part)?;
        }
        Ok(())
    }
}
