//! Snapshots as bytes: HdrHistogram's formats, and our own format for what those cannot hold.
//!
//! | | written | read |
//! |---|---|---|
//! | HdrHistogram V2 | yes | yes |
//! | HdrHistogram V2, compressed | yes | yes |
//! | HdrHistogram V1, V0, compressed or not | | yes |
//! | native | yes | yes |
//! | base64 of each | yes | yes |
//!
//! HdrHistogram supports only block scales of 0, 4, 7, 10, 14 and 17 (0 to 5 significant digits), values and counts
//! below 2^63, and no data besides counts: see [`Codec::encode`].

#![no_std]
#![cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "decoding needs an allocator"))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(feature = "alloc")]
mod decoder;
mod eights;
#[cfg(feature = "alloc")]
mod extent;
mod hdr;
mod hgrm;
pub mod log;
mod native;
mod sequence;
mod sink;
#[cfg(any(test, not(all(feature = "alloc", feature = "compression"))))]
mod stored;
#[cfg(test)]
mod tests;
mod text64;
mod v2;
mod varint;
#[cfg(all(feature = "alloc", feature = "compression"))]
mod zlib;

#[cfg(feature = "alloc")]
use alloc::{boxed::Box, vec::Vec};
use core::fmt::Write;
use core::mem::MaybeUninit;

#[cfg(feature = "alloc")]
pub use decoder::Decoder;
pub use hgrm::{DEFAULT_TICKS, HgrmFormat, MAX_TICKS, write_hgrm};
use sink::{Filling, Sink};

#[doc(inline)]
pub use picollo_core::seam::Written;

use picollo_core::seam::room;
use picollo_core::{Error, Result, Snapshot};

/// The default limit for the counters of a decoded snapshot: room for every HdrHistogram of up to five significant
/// digits.
pub const DEFAULT_MAX_COUNTERS: u64 = 48 << 17;

/// Selects the encoding of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Encoding {
    /// HdrHistogram's V2.
    #[default]
    HdrV2 = 0,
    /// HdrHistogram's V2, compressed: what its logs hold. Without an allocator, or without the feature `compression`, it is
    /// a valid zlib stream that is not compressed.
    HdrV2Compressed = 1,
    /// Picollo's encoding: everything that a snapshot holds, with a checksum. The format is described in
    /// docs/interchange.md.
    Native = 2,
}

picollo_core::seam::from_code!(Encoding { HdrV2, HdrV2Compressed, Native });

/// Snapshots as bytes, and back.
pub trait Codec {
    /// The length of an encoding in bytes. This makes a compressed one. Fails as [`Codec::encode`] does.
    fn encoded_length(&self, encoding: Encoding) -> Result<usize>;

    /// Encodes into the beginning of `out` and returns the length. Returns [`Error::BufferTooSmall`], and writes
    /// nothing, if `out` is shorter than [`Codec::encoded_length`].
    ///
    /// HdrHistogram's encodings hold counts and the largest trackable value. They omit the smallest trackable value, the
    /// time, and the observations out of range or lost ([`Snapshot::counts`]). They return [`Error::Incompatible`] for
    /// what they cannot hold: blocks that are not those of 0 to 5 significant digits, values of 2^63 or more, a count of
    /// 2^63 or more in one bucket. To pass such a snapshot to
    /// HdrHistogram anyway, merge it into a snapshot whose layout comes from
    /// [`with_significant_digits`](picollo_core::Layout::with_significant_digits).
    fn encode(&self, encoding: Encoding, out: &mut [u8]) -> Result<usize>;

    /// Like [`Codec::encode`], but if `out` is too short, it returns the required length instead of an error. It
    /// never reads `out`.
    fn encode_or_measure(&self, encoding: Encoding, out: &mut [MaybeUninit<u8>]) -> Result<Written>;

    /// Encodes into new memory. Fails as [`Codec::encode`] does, and with [`Error::OutOfMemory`].
    #[cfg(feature = "alloc")]
    fn encode_to_vec(&self, encoding: Encoding) -> Result<Vec<u8>>;

    /// Writes an encoding in base64. Fails as [`Codec::encode`] does, and with [`Error::BufferTooSmall`] if `out`
    /// accepts no more.
    fn write_base64(&self, encoding: Encoding, out: &mut (impl Write + ?Sized)) -> Result<()>;

    /// Decodes any encoding, on the heap. See [`Decoder::new`], which also lists the errors.
    #[cfg(feature = "alloc")]
    fn decode(bytes: &[u8], max_counters: u64) -> Result<Box<Snapshot>>;

    /// Decodes the first of several consecutive encodings, on the heap. Also returns the bytes that it takes, after
    /// which the next one begins. See [`Decoder::first`].
    #[cfg(feature = "alloc")]
    fn decode_first(bytes: &[u8], max_counters: u64) -> Result<(Box<Snapshot>, usize)>;
}

impl Codec for Snapshot {
    fn encoded_length(&self, encoding: Encoding) -> Result<usize> {
        match encoding {
            Encoding::HdrV2 => Ok(v2::Plan::new(self)?.length()),
            Encoding::HdrV2Compressed => {
                let mut counting = sink::Counting::default();
                compress(self, &mut counting)?;
                Ok(counting.length)
            }
            Encoding::Native => Ok(native::Plan::new(self)?.length()),
        }
    }

    fn encode(&self, encoding: Encoding, out: &mut [u8]) -> Result<usize> {
        // SAFETY: only bytes are written there.
        let written = self.encode_or_measure(encoding, unsafe { room(out) })?;
        if written.fits { Ok(written.length) } else { Err(Error::BufferTooSmall) }
    }

    fn encode_or_measure(&self, encoding: Encoding, out: &mut [MaybeUninit<u8>]) -> Result<Written> {
        match encoding {
            Encoding::HdrV2 => {
                let plan = v2::Plan::new(self)?;
                fill(out, plan.length(), |sink| plan.write(sink))
            }
            // This keeps the encoding rather than making it twice.
            #[cfg(feature = "alloc")]
            Encoding::HdrV2Compressed => {
                let bytes = self.encode_to_vec(encoding)?;
                fill(out, bytes.len(), |sink| sink.write(&bytes))
            }
            #[cfg(not(feature = "alloc"))]
            Encoding::HdrV2Compressed => {
                fill(out, self.encoded_length(encoding)?, |sink| compress(self, sink))
            }
            Encoding::Native => {
                let plan = native::Plan::new(self)?;
                fill(out, plan.length(), |sink| plan.write(sink))
            }
        }
    }

    #[cfg(feature = "alloc")]
    fn encode_to_vec(&self, encoding: Encoding) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match encoding {
            Encoding::HdrV2 => v2::write_to_vec(self, &mut bytes)?,
            Encoding::HdrV2Compressed => compress(self, &mut bytes)?,
            Encoding::Native => {
                let plan = native::Plan::new(self)?;
                bytes.try_reserve_exact(plan.length()).map_err(|_| Error::OutOfMemory)?;
                plan.write(&mut bytes)?;
            }
        }
        Ok(bytes)
    }

    fn write_base64(&self, encoding: Encoding, out: &mut (impl Write + ?Sized)) -> Result<()> {
        let mut sink = text64::Base64Sink::new(out);
        match encoding {
            Encoding::HdrV2 => v2::Plan::new(self)?.write(&mut sink)?,
            Encoding::HdrV2Compressed => compress(self, &mut sink)?,
            Encoding::Native => native::Plan::new(self)?.write(&mut sink)?,
        }
        sink.finish()
    }

    #[cfg(feature = "alloc")]
    fn decode(bytes: &[u8], max_counters: u64) -> Result<Box<Snapshot>> {
        Decoder::new(bytes, &mut Vec::new(), max_counters)?.boxed()
    }

    #[cfg(feature = "alloc")]
    fn decode_first(bytes: &[u8], max_counters: u64) -> Result<(Box<Snapshot>, usize)> {
        let mut scratch = Vec::new();
        let (decoder, taken) = Decoder::first(bytes, &mut scratch, max_counters)?;
        Ok((decoder.boxed()?, taken))
    }
}

/// Fills the beginning of a buffer if `length` bytes fit, or leaves it unchanged.
fn fill(
    out: &mut [MaybeUninit<u8>],
    length: usize,
    write: impl FnOnce(&mut Filling) -> Result<()>,
) -> Result<Written> {
    let Some(out) = out.get_mut(..length) else { return Ok(Written { length, fits: false }) };
    let mut filling = Filling::new(out);
    write(&mut filling)?;
    debug_assert_eq!(filling.length, length);
    Ok(Written { length, fits: true })
}

/// Writes V2 in a zlib stream, with its cookie and length in front.
#[cfg(all(feature = "alloc", feature = "compression"))]
fn compress(snapshot: &Snapshot, sink: &mut impl Sink) -> Result<()> {
    let mut stream = Vec::new();
    let mut deflate = zlib::Deflate::new(&mut stream)?;
    v2::Plan::new(snapshot)?.write(&mut deflate)?;
    deflate.finish()?;
    sink.write(&hdr::V2_COMPRESSED_COOKIE.to_be_bytes())?;
    sink.write(&(stream.len() as u32).to_be_bytes())?;
    sink.write(&stream)
}

/// The same without a compressor.
#[cfg(not(all(feature = "alloc", feature = "compression")))]
fn compress(snapshot: &Snapshot, sink: &mut impl Sink) -> Result<()> {
    let plan = v2::Plan::new(snapshot)?;
    let length = plan.length();
    sink.write(&hdr::V2_COMPRESSED_COOKIE.to_be_bytes())?;
    sink.write(&(stored::stream_length(length) as u32).to_be_bytes())?;
    let mut stored = stored::Stored::new(sink, length)?;
    plan.write(&mut stored)?;
    stored.finish()
}

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
