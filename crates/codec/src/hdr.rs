//! What HdrHistogram's binary encodings have in common: cookies, headers, and the array that the settings imply.
//!
//! All integers are big-endian.
//!
//! | encoding | cookie | header | counts |
//! |---|---|---|---|
//! | V2 | `1c849313` | 40 bytes | variable length, runs of zeros |
//! | V1 | `1c8493W1`, word size `W` of 2, 4 or 8 | the same | words |
//! | V0 | `1c8493W8` | cookie, digits, lowest, highest, total: 32 bytes | words, to the end |
//!
//! The compressed form of each is a cookie (`1c849314`, `1c8493W2`, `1c8493W9`), a length, and a zlib stream of the whole.
//!
//! A histogram of doubles has its own cookie (`0c72124e`, `0c72124f` compressed), its digits in 4 bytes and the ratio
//! of its range in 8. Then follows one of the encodings above, whose header has the factor for the values.

use picollo_core::seam::SCALES_OF_DIGITS as SCALES;
use picollo_core::{Error, Layout, Result};

/// Cookies with their word size masked out.
const V2: u32 = 0x1c84_9303;
const V2_COMPRESSED: u32 = 0x1c84_9304;
const V1: u32 = 0x1c84_9301;
const V1_COMPRESSED: u32 = 0x1c84_9302;
const V0: u32 = 0x1c84_9308;
const V0_COMPRESSED: u32 = 0x1c84_9309;

/// The cookie for histograms of doubles; the last bit marks the compressed form.
const DOUBLE: u32 = 0x0c72_124e;
/// Bytes in front of their histogram of integers.
const DOUBLE_HEADER: usize = 16;

/// The cookie of V2 as written.
pub(crate) const V2_COOKIE: u32 = V2 | 0x10;
/// The cookie of compressed V2 as written.
pub(crate) const V2_COMPRESSED_COOKIE: u32 = V2_COMPRESSED | 0x10;

/// Bytes in front of the counts in V1 and V2.
pub(crate) const HEADER: usize = 40;
/// Bytes in front of the counts in V0.
pub(crate) const V0_HEADER: usize = 32;

/// How counts are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    /// V2: variable length, with runs of zeros.
    Variable,
    /// V1 and V0: this many bytes each.
    Fixed(usize),
}

/// The meaning of the first four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cookie {
    /// A header and counts follow.
    Plain {
        /// How counts are written.
        words: Words,
        /// Whether the header is that of V0.
        is_v0: bool,
    },
    /// A length and a zlib stream follow.
    Compressed,
}

impl Cookie {
    /// Reads the first four bytes, if they are an HdrHistogram cookie.
    pub(crate) fn read(bytes: &[u8]) -> Option<Cookie> {
        let cookie = u32::from_be_bytes(*bytes.first_chunk()?);
        let word = (cookie >> 4 & 0xf) as usize;
        let fixed = matches!(word, 2 | 4 | 8);
        match cookie & !0xf0 {
            V2 if word == 1 => Some(Cookie::Plain { words: Words::Variable, is_v0: false }),
            V1 if fixed => Some(Cookie::Plain { words: Words::Fixed(word), is_v0: false }),
            V0 if fixed => Some(Cookie::Plain { words: Words::Fixed(word), is_v0: true }),
            // Compressed data has its own cookie inside.
            V2_COMPRESSED | V1_COMPRESSED | V0_COMPRESSED => Some(Cookie::Compressed),
            _ => None,
        }
    }
}

/// The bytes after the header of a histogram of doubles; all bytes if there is no such header.
pub(crate) fn without_double_header(bytes: &[u8]) -> &[u8] {
    match bytes.split_at_checked(DOUBLE_HEADER) {
        Some((header, rest)) if is_double(header) => rest,
        _ => bytes,
    }
}

fn is_double(header: &[u8]) -> bool {
    header.first_chunk().is_some_and(|&cookie| u32::from_be_bytes(cookie) & !1 == DOUBLE)
}

/// The significant digits of a layout, if HdrHistogram has an equivalent one.
pub(crate) fn digits(layout: &Layout) -> Option<u32> {
    SCALES.iter().position(|&scale| scale == layout.scale()).map(|digits| digits as u32)
}

/// A checked header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) words: Words,
    /// Bytes of the header itself.
    pub(crate) length: usize,
    /// Bytes of the counts; V0 does not have this field.
    pub(crate) payload: Option<usize>,
    pub(crate) scale: u32,
    /// Values are in units of `2^unit`.
    pub(crate) unit: u32,
    pub(crate) highest: u64,
    pub(crate) ratio: f64,
    /// The largest number of counts that an HdrHistogram has with these settings.
    pub(crate) counts: u64,
}

impl Header {
    /// Reads a header of the announced kind, from the cookie on. Returns [`Error::Corrupt`] if it breaks a rule, ends
    /// early, or needs what HdrHistogram does not have; [`Error::OutOfMemory`] for more than `max_counters` counters.
    pub(crate) fn read(bytes: &[u8], words: Words, is_v0: bool, max_counters: u64) -> Result<Header> {
        let length = if is_v0 { V0_HEADER } else { HEADER };
        let bytes = bytes.get(..length).ok_or(Error::Corrupt)?;
        let u32_at = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| (u32_at(at) as u64) << 32 | u32_at(at + 4) as u64;
        let (digits, limits, payload, ratio) = if is_v0 {
            (u32_at(4), 8, None, 1.0)
        } else {
            // HdrHistogram's lengths are signed. The offset at 8 belongs to a shifted histogram, whose counts are
            // written unshifted.
            let payload = i32::try_from(u32_at(4)).map_err(|_| Error::Corrupt)?;
            // npm's hdr-histogram-js writes the integer 1, which would be 5e-324.
            let ratio = u64_at(32);
            (u32_at(12), 16, Some(payload as usize), if ratio == 1 { 1.0 } else { f64::from_bits(ratio) })
        };
        let (lowest, highest) = (u64_at(limits), u64_at(limits + 8));
        let scale = *SCALES.get(digits as usize).ok_or(Error::Corrupt)?;
        // The Rust crate has values from 2^63 on.
        if lowest < 1 || lowest > i64::MAX as u64 / 2 || highest < 2 * lowest {
            return Err(Error::Corrupt);
        }
        let unit = lowest.ilog2();
        if scale + unit > 61 {
            return Err(Error::Corrupt);
        }
        let counts = array_length(scale, unit, highest);
        if Layout::with_scale(scale, 0, highest)?.with_unit(unit)?.length() as u64 > max_counters {
            return Err(Error::OutOfMemory);
        }
        Ok(Header { words, length, payload, scale, unit, highest, ratio, counts })
    }

    /// The layout for counts up to the one at `last`, so that everything that HdrHistogram counted above its highest
    /// trackable value has a place.
    pub(crate) fn layout(&self, last: Option<u64>) -> Result<Layout> {
        let all = Layout::with_scale(self.scale, 0, u64::MAX)?.with_unit(self.unit)?;
        let beyond = last.map_or(0, |last| all.bucket_at(last).upper);
        let needed = Layout::with_scale(self.scale, 0, self.highest)?.with_unit(self.unit)?;
        if beyond <= needed.highest_recordable() {
            return Ok(needed);
        }
        Layout::with_scale(self.scale, 0, beyond)?.with_unit(self.unit)
    }
}

/// The length of HdrHistogram's array: the first two blocks, as many more as doubling needs to pass the highest
/// trackable value, and one more, which the .NET array has; but none beyond 2^64.
fn array_length(scale: u32, unit: u32, highest: u64) -> u64 {
    // The first two blocks end at this power of two, of at most 62, because scale and unit were checked.
    let end = scale + unit + 1;
    let beyond = (highest.ilog2() + 1).saturating_sub(end) + 1;
    let blocks = 2 + beyond.min(u64::BITS - end);
    (blocks as u64) << scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies() {
        let read = |cookie: u32| Cookie::read(&cookie.to_be_bytes());
        let plain = |words, is_v0| Some(Cookie::Plain { words, is_v0 });
        assert_eq!(read(0x1c84_9313), plain(Words::Variable, false));
        assert_eq!(read(0x1c84_9303), None, "the word size nibble is mandatory");
        assert_eq!(read(0x1c84_9381), plain(Words::Fixed(8), false));
        assert_eq!(read(0x1c84_9328), plain(Words::Fixed(2), true));
        assert_eq!(read(0x1c84_9311), None, "no such word size");
        for cookie in [0x1c84_9314, 0x1c84_9382, 0x1c84_9349] {
            assert_eq!(read(cookie), Some(Cookie::Compressed));
        }
        assert_eq!(Cookie::read(&[0x1c, 0x84, 0x93]), None);
    }

    #[test]
    fn arrays_are_as_long_as_theirs() {
        // (digits, unit, highest, buckets of HdrHistogram): its array has (buckets + 1) half buckets; .NET has one
        // more.
        for (digits, unit, highest, buckets) in [
            (3, 0, 3_600_000_000u64, 22u64),
            (3, 0, 2, 1),
            (3, 0, 2047, 1),
            (3, 0, 2048, 2),
            (3, 10, 3_600_000_000, 12),
            (3, 0, i64::MAX as u64, 53),
            (0, 0, i64::MAX as u64, 63),
        ] {
            assert_eq!(array_length(SCALES[digits], unit, highest), (buckets + 2) << SCALES[digits]);
        }
    }

    #[test]
    fn a_layout_reaches_as_far_as_the_counts() {
        let header = Header {
            words: Words::Variable,
            length: HEADER,
            payload: None,
            scale: 10,
            unit: 0,
            highest: 3_000,
            ratio: 1.0,
            counts: 3072,
        };
        assert_eq!(header.layout(None).unwrap().max_trackable(), 3_000);
        let inside = header.layout(None).unwrap().logical_index(3_000);
        assert_eq!(header.layout(Some(inside)).unwrap().max_trackable(), 3_000);
        assert_eq!(header.layout(Some(inside + 1)).unwrap().max_trackable(), 3_003);
        assert_eq!(header.layout(Some(3071)).unwrap().max_trackable(), 4_095);
    }
}
