//! How numbers and identifiers of exemplars are shown.

use core::fmt::{self, Write};

/// Bytes, as two digits each.
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A number with commas.
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 27];
        let (mut at, mut rest, mut count) = (digits.len(), self.0, 0);
        loop {
            if count > 0 && count % 3 == 0 {
                at -= 1;
                digits[at] = b',';
            }
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            count += 1;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        f.pad(core::str::from_utf8(&digits[at..]).unwrap_or_default())
    }
}

/// Pads what is written in another way.
pub struct Right<T>(pub T, pub usize);

impl<T: fmt::Display> fmt::Display for Right<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Count(usize);
        impl Write for Count {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0 += text.chars().count();
                Ok(())
            }
        }
        let mut width = Count(0);
        write!(width, "{}", self.0)?;
        write!(f, "{:1$}", "", self.1.saturating_sub(width.0))?;
        self.0.fmt(f)
    }
}
