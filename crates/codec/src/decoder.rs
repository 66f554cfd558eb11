//! Identifies encodings and unwraps them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::hdr::{Cookie, without_double_header};
use super::sink::Sink;
use super::{extent, native, text64, v2};
use crate::DEFAULT_MAX_COUNTERS;
use picollo_core::{Error, Layout, Result, Snapshot};

/// An encoded snapshot in any known encoding, checked from beginning to end; only its counts remain to be copied.
///
/// ```
/// use picollo_codec::Decoder;
///
/// let text = b"HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJiZGFlWk//wnG1QJMTJv/MjIBAMP3CLI=";
/// let mut scratch = Vec::new();
/// let decoder = Decoder::new(text, &mut scratch, 100_000)?;
/// assert_eq!(decoder.layout().block_size(), 1024);
/// let snapshot = decoder.boxed()?;
/// assert_eq!(snapshot.counts().total, 108);
/// # Ok::<(), picollo_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    image: Image<'a>,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Image<'a> {
    Hdr(v2::Image<'a>),
    Native(native::Image<'a>),
}

impl<'a> Decoder<'a> {
    /// Checks encoded data: HdrHistogram's V2, V1 or V0, plain or compressed, of integers or doubles; our native
    /// encoding; or any of them in base64 (white space around it is ignored).
    ///
    /// Base64 and compressed data are unwrapped into `scratch`, which grows only with the actual data and can be
    /// reused. `max_counters` limits the counters of the result, and with them all memory that decoding takes; 0 means
    /// [`DEFAULT_MAX_COUNTERS`]. The counters and the length of the input bound the work.
    ///
    /// Returns [`Error::Corrupt`] for broken or unknown data. Returns [`Error::OutOfMemory`] if the result would have
    /// more counters than the limit, or there is no memory. Returns [`Error::Unsupported`] for a later version of the
    /// native encoding, and for compressed data in a build without `compression`.
    pub fn new(bytes: &'a [u8], scratch: &'a mut Vec<u8>, max_counters: u64) -> Result<Decoder<'a>> {
        let max_counters = if max_counters == 0 { DEFAULT_MAX_COUNTERS } else { max_counters };
        // Base64 uses none of these bytes.
        if let Some(0x0c | 0x1c | 0x89) = bytes.first() {
            let bytes = without_double_header(bytes);
            if let Some(Cookie::Compressed) = Cookie::read(bytes) {
                let length = inflate(bytes, &mut &[][..], scratch, max_counters)?;
                return Decoder::plain(&scratch[..length], max_counters);
            }
            return Decoder::plain(bytes, max_counters);
        }
        let text = bytes.trim_ascii();
        let mut rest = text;
        let mut piece = [0; text64::PIECE];
        let first = without_double_header(text64::read_piece(&mut rest, &mut piece)?);
        let length = if let Some(Cookie::Compressed) = Cookie::read(first) {
            inflate(first, &mut rest, scratch, max_counters)?
        } else {
            decode_text(text, scratch)?
        };
        Decoder::plain(without_double_header(&scratch[..length]), max_counters)
    }

    /// Like [`Decoder::new`], for the first of several consecutive encodings. Also returns how many bytes it takes, at
    /// least one and at most all: the next encoding begins there.
    ///
    /// Each encoding announces its length, and must keep to it. One without the checksum of its zlib stream
    /// (HdrHistogram.NET) takes the announced length; one with a part of the checksum is [`Error::Corrupt`], whatever
    /// follows. Uncompressed V0 has counts to the end and takes everything. Base64 ends at white space, and includes
    /// it.
    ///
    /// ```
    /// use picollo_codec::{Codec, Encoding};
    /// use picollo_core::{Layout, Snapshot};
    ///
    /// let empty = Snapshot::boxed(Layout::new(0.01, 0, 1000))?;
    /// let mut bytes = empty.encode_to_vec(Encoding::Native)?;
    /// bytes.extend_from_slice(b"HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA\n");
    /// let mut totals = Vec::new();
    /// let mut rest = &bytes[..];
    /// while !rest.is_empty() {
    ///     let (snapshot, taken) = Snapshot::decode_first(rest, 0)?;
    ///     totals.push(snapshot.counts().total);
    ///     rest = &rest[taken..];
    /// }
    /// assert_eq!(totals, [0, 2]);
    /// # Ok::<(), picollo_core::Error>(())
    /// ```
    pub fn first(
        bytes: &'a [u8],
        scratch: &'a mut Vec<u8>,
        max_counters: u64,
    ) -> Result<(Decoder<'a>, usize)> {
        let taken = extent::first(bytes);
        Ok((Decoder::new(&bytes[..taken], scratch, max_counters)?, taken))
    }

    /// Checks data that is neither compressed nor text.
    fn plain(bytes: &'a [u8], max_counters: u64) -> Result<Decoder<'a>> {
        match Cookie::read(bytes) {
            Some(Cookie::Plain { words, is_v0 }) => {
                let (image, layout) = v2::Image::read(bytes, words, is_v0, max_counters)?;
                Ok(Decoder { image: Image::Hdr(image), layout })
            }
            // Data was compressed more than once; no writer does that.
            Some(Cookie::Compressed) => Err(Error::Corrupt),
            None => {
                let (image, layout) = native::Image::read(bytes, max_counters)?;
                Ok(Decoder { image: Image::Native(image), layout })
            }
        }
    }

    /// The layout of the result. HdrHistogram's ranges begin at 0 here, and reach as far as there are counts. If its
    /// lowest discernible value is 2 or more, the layout has a unit.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The factor that converts values to those of the histogram of doubles that HdrHistogram encoded. 1.0 for all
    /// other encodings; not checked.
    pub fn value_ratio(&self) -> f64 {
        match &self.image {
            Image::Hdr(image) => image.header.ratio,
            Image::Native(_) => 1.0,
        }
    }

    /// Decodes into a new snapshot on the heap. It holds only its own counts, so a histogram cannot update it.
    pub fn boxed(&self) -> Result<Box<Snapshot>> {
        let mut snapshot = Snapshot::boxed_alone(self.layout)?;
        match &self.image {
            Image::Hdr(image) => image.fill(&mut snapshot)?,
            Image::Native(image) => image.fill(&mut snapshot)?,
        }
        Ok(snapshot)
    }
}

/// Decodes base64 into the beginning of the memory, and returns the length.
fn decode_text(mut text: &[u8], memory: &mut Vec<u8>) -> Result<usize> {
    memory.clear();
    memory.try_reserve_exact(text.len().div_ceil(4) * 3).map_err(|_| Error::OutOfMemory)?;
    while !text.is_empty() {
        let mut piece = [0; text64::PIECE];
        memory.write(text64::read_piece(&mut text, &mut piece)?)?;
    }
    Ok(memory.len())
}

#[cfg(not(feature = "compression"))]
fn inflate(_: &[u8], _: &mut &[u8], _: &mut Vec<u8>, _: u64) -> Result<usize> {
    Err(Error::Unsupported)
}

/// Inflates HdrHistogram's compressed form into the beginning of the memory: `bytes` has its beginning, `text` the rest
/// in base64. Returns the length, which the inner header has announced and `max_counters` has bounded.
#[cfg(feature = "compression")]
fn inflate(bytes: &[u8], text: &mut &[u8], memory: &mut Vec<u8>, max_counters: u64) -> Result<usize> {
    use super::hdr::{HEADER, Header, Words};
    use super::zlib::{DecompressorOxide, Inflate};

    let length =
        i32::from_be_bytes(*bytes.get(4..).and_then(|rest| rest.first_chunk()).ok_or(Error::Corrupt)?);
    let mut left = usize::try_from(length).map_err(|_| Error::Corrupt)?;
    let mut piece = [0; text64::PIECE];
    let mut input = &bytes[8..];
    if text.is_empty() && input.len() < left {
        return Err(Error::Corrupt);
    }
    input = &input[..input.len().min(left)];
    left -= input.len();
    let mut state = DecompressorOxide::new();
    let mut inflate = Inflate::new(&mut state, memory);
    let mut limit = HEADER;
    let mut expected = None;
    let mut header_read = false;
    let mut is_limited = false;
    loop {
        inflate.push(&mut input, limit)?;
        let length = inflate.bytes().len();
        if !inflate.is_done() && length < limit {
            if left == 0 {
                inflate.end_without_checksum(limit)?;
                continue;
            }
            if text.is_empty() {
                return Err(Error::Corrupt);
            }
            input = text64::read_piece(text, &mut piece)?;
            input = &input[..input.len().min(left)];
            left -= input.len();
            continue;
        }
        if header_read {
            // There was room for one byte more than announced.
            let is_whole = inflate.is_done() && expected.is_none_or(|expected| length == expected);
            return match is_whole {
                true => Ok(length),
                false if is_limited => Err(Error::OutOfMemory),
                false => Err(Error::Corrupt),
            };
        }
        let Some(Cookie::Plain { words, is_v0 }) = Cookie::read(inflate.bytes()) else {
            return Err(Error::Corrupt);
        };
        let header = Header::read(inflate.bytes(), words, is_v0, max_counters)?;
        let word = match words {
            Words::Variable => super::varint::MAX_BYTES,
            Words::Fixed(size) => size,
        };
        let most = usize::try_from(header.counts).ok().and_then(|counts| counts.checked_mul(word));
        let most = most.ok_or(Error::OutOfMemory)?;
        if header.payload.is_some_and(|payload| payload > most) {
            return Err(Error::Corrupt);
        }
        // HdrHistogram's array continues to the end of a block, with zeros that take bytes but no counters here. One
        // run of zeros suffices for all counts above the limit.
        let room = usize::try_from(max_counters).unwrap_or(usize::MAX).saturating_add(1).saturating_mul(word);
        if header.payload.is_some_and(|payload| payload > room) {
            return Err(Error::OutOfMemory);
        }
        is_limited = header.payload.is_none() && most > room;
        expected = header.payload.map(|payload| header.length + payload);
        limit = header.length + header.payload.unwrap_or(most.min(room)) + 1;
        header_read = true;
    }
}
