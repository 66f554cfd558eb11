//! Logs of histograms (`.hlog`): one line for each interval.
//!
//! ```text
//! #[free comment]
//! #[Histogram log format version 1.3]
//! #[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
//! "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//! Tag=A,0.127,1.007,2.769,HISTFAAAAEV4nJNp…
//! ```
//!
//! The fields of a line are the beginning and the length of the interval in seconds, the largest value divided by a
//! million, and a compressed histogram in base64.

mod encoding;
mod number;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

#[cfg(feature = "alloc")]
pub use encoding::from_utf16;
pub use encoding::is_utf16;
pub use reader::{Interval, Reader};
pub use writer::{Header, write_header, write_interval};

/// White space that, besides a comma, separates the fields of a line.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}
