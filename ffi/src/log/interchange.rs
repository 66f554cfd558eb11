//! Interchange: snapshots as bytes, for files, networks and the tools of HdrHistogram.
//!
//! The library writes three encodings. It reads these and HdrHistogram's older ones, as bytes or as base64.
//!
//! HdrHistogram's encodings hold only the counts of HdrHistogram's layouts (see significant_digits). They omit counts
//! out of range, lost counts, the smallest trackable value and the time. The native encoding holds everything.
//!
//! A decoded or corrected snapshot has no histogram. Everything can be read from it, and it can be merged into
//! another snapshot or another into it, but picollo_snapshot_update returns PICOLLO_ERR_UNSUPPORTED.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

use picollo_codec::{Codec, DEFAULT_MAX_COUNTERS, Encoding};
use picollo_codec::{HgrmFormat, write_hgrm};

use crate::argument::{either, input, output, room, slice};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::snapshot;
use crate::snapshot::picollo_snapshot;
use crate::snapshot_block::Block;
use crate::status::picollo_status;
use crate::text::try_write_text;
#[cfg(feature = "std")]
use crate::text::write_collected;

/// Columns, with mean, deviation, maximum and total below.
pub const PICOLLO_HGRM_COLUMNS: u32 = 0;
/// Comma-separated values.
pub const PICOLLO_HGRM_CSV: u32 = 1;

/// Limit on the counters of a decoded snapshot if the caller sets none: 48 MiB of counts, enough for every
/// HdrHistogram with up to 5 significant digits.
#[allow(dead_code)] // for C
pub const PICOLLO_DEFAULT_MAX_COUNTERS: u64 = DEFAULT_MAX_COUNTERS;

exported! {
/// Writes a snapshot as bytes.
///
/// Returns: PICOLLO_ERR_INCOMPATIBLE if HdrHistogram's encodings cannot hold the snapshot: its blocks are not those
///   of 0 to 5 significant digits, or a value or count is 2^63 or more; PICOLLO_ERR_OUT_OF_MEMORY (compressed only).
/// Cost: two passes over the counters. The compressed encoding allocates about 0.5 MB temporarily, and is made
///   completely also to ask for its length.
fn picollo_snapshot_encode(
    snapshot: *const picollo_snapshot,
    encoding: u32,
    buffer: *mut c_void,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (snapshot, buffer, out_length) =
        (snapshot::read(snapshot)?, room(buffer.cast(), capacity)?, output(out_length)?);
    let written = snapshot.encode_or_measure(Encoding::try_from(encoding)?, buffer)?;
    out_length.set(written.length);
    if written.fits { Ok(()) } else { Err(Failure::BUFFER_TOO_SMALL) }
}
}

#[cfg(feature = "std")]
exported! {
/// Writes a snapshot as base64 text. The compressed encoding gives the HISTFAAA... of HdrHistogram's logs.
///
/// Returns: as picollo_snapshot_encode, and PICOLLO_ERR_OUT_OF_MEMORY for every encoding.
/// Cost: as picollo_snapshot_encode; allocates the text temporarily.
fn picollo_snapshot_encode_base64(
    snapshot: *const picollo_snapshot,
    encoding: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    let encoding = Encoding::try_from(encoding)?;
    write_collected(buffer, capacity, out_length, |text| snapshot.write_base64(encoding, text))
}
}

/// Decodes data into a new block.
#[cfg(feature = "std")]
pub fn decode(bytes: &[u8], max_counters: u64) -> Outcome<NonNull<Block>> {
    let mut scratch = Vec::new();
    let decoder = picollo_codec::Decoder::new(bytes, &mut scratch, max_counters)?;
    Block::detached(decoder.boxed()?, decoder.value_ratio())
}

/// Decodes the first of several encodings, and returns how many bytes it takes.
#[cfg(feature = "std")]
fn decode_first(bytes: &[u8], max_counters: u64) -> Outcome<(NonNull<Block>, usize)> {
    let mut scratch = Vec::new();
    let (decoder, taken) = picollo_codec::Decoder::first(bytes, &mut scratch, max_counters)?;
    Ok((Block::detached(decoder.boxed()?, decoder.value_ratio())?, taken))
}

#[cfg(feature = "std")]
exported! {
/// Makes a snapshot from encoded data: the native encoding, or HdrHistogram's V2, V1 or V0 of integers or doubles,
/// compressed or not. Base64 of any of them works too, and white space around it is ignored. The data determine the
/// encoding.
///
/// Untrusted data is safe: it is checked completely before anything is made from it. No data makes this call crash,
/// hang, or allocate more than max_counters allows: 8 bytes per counter for the result, at most 18 more while it is
/// inflated, and the bytes of base64.
///
/// Requires: bytes leads to length bytes; max_counters is the largest allowed number of counters, or 0 for
///   PICOLLO_DEFAULT_MAX_COUNTERS.
/// Returns: PICOLLO_ERR_CORRUPT for unknown or damaged data; PICOLLO_ERR_OUT_OF_MEMORY if the result would have more
///   than max_counters counters, or there is no memory; PICOLLO_ERR_UNSUPPORTED for a later version of the native
///   encoding.
/// Cost: a few passes over the data; allocates the result, and memory to inflate and decode.
fn picollo_snapshot_decode(
    bytes: *const c_void,
    length: usize,
    max_counters: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (bytes, out) = (slice(bytes.cast(), length)?, output(out)?);
    out.deliver(decode(bytes, max_counters)?.as_ptr().cast())
}

/// Makes a snapshot from the first of several consecutive encodings, as picollo_snapshot_decode does, and reports
/// where the next one begins. They may be of different kinds.
///
///     for (size_t at = 0, taken; at < length; at += taken) {
///         if (picollo_snapshot_decode_first(bytes + at, length - at, 0, &snapshot, &taken) != PICOLLO_OK) break;
///         ...
///     }
///
/// Each encoding begins with its length, and must have this length. An encoding without the checksum of its zlib
/// stream (HdrHistogram.NET) takes the length that it announces. One with part of the checksum is corrupt, whatever
/// follows. V0 without compression has counts to the end, so it takes everything. Base64 ends at white space, and
/// takes this as well.
///
/// Requires: as picollo_snapshot_decode.
/// Returns: PICOLLO_OK, with *out_taken from 1 to length; otherwise as picollo_snapshot_decode, with nothing written.
/// Cost: as picollo_snapshot_decode; for base64 also the search for its end.
fn picollo_snapshot_decode_first(
    bytes: *const c_void,
    length: usize,
    max_counters: u64,
    out: *mut *mut picollo_snapshot,
    out_taken: *mut usize,
) -> picollo_status {
    let (bytes, out, out_taken) = (slice(bytes.cast(), length)?, output(out)?, output(out_taken)?);
    let (block, taken) = decode_first(bytes, max_counters)?;
    out.set(block.as_ptr().cast());
    out_taken.deliver(taken)
}
}

exported! {
/// Reports the factor for the values of a snapshot that was decoded from a histogram of doubles. HdrHistogram encodes
/// its DoubleHistogram as integers and a ratio. Copies keep the factor, but no encoding here holds it.
///
/// Returns: PICOLLO_OK, with 1.0 for all other snapshots. The number is as the encoder wrote it: it may be anything.
fn picollo_snapshot_value_ratio(snapshot: *const picollo_snapshot, out_ratio: *mut f64) -> picollo_status {
    // SAFETY: the caller's promises, passed on; a handle leads to a block.
    let (snapshot, out_ratio) = unsafe { (input(snapshot.cast::<Block>())?, output(out_ratio)?) };
    out_ratio.deliver(snapshot.value_ratio())
}

/// Writes the percentile distribution as HdrHistogram for Java does (.hgrm), for its plotters. The distance of the
/// rows halves with each half of the remaining distance to 100 %. Values are the upper ends of buckets, with as many
/// decimals as the layout has significant digits.
///
/// Requires: ticks_per_half_distance is the number of rows in each half of the distance, at most 1,000,000, or 0 for
///   5; value_scale, the divisor of values, is positive, or 0 for 1; csv is PICOLLO_HGRM_COLUMNS or PICOLLO_HGRM_CSV.
/// Returns: PICOLLO_OK, also for an empty snapshot, which has no rows.
/// Cost: two microseconds per row.
fn picollo_snapshot_format_hgrm(
    snapshot: *const picollo_snapshot,
    ticks_per_half_distance: u32,
    value_scale: f64,
    csv: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let snapshot = snapshot::read(snapshot)?;
    let format = if either(csv, PICOLLO_HGRM_COLUMNS, PICOLLO_HGRM_CSV)? {
        HgrmFormat::Csv
    } else {
        HgrmFormat::Columns
    };
    try_write_text(buffer, capacity, out_length, &|mut out| {
        write_hgrm(snapshot, &mut out, ticks_per_half_distance, value_scale, format)
    })
}
}

#[cfg(feature = "std")]
exported! {
/// Makes a copy that is corrected for coordinated omission, as picollo_histogram_record_corrected does for single
/// values. The upper end stands for a bucket, as in HdrHistogram. Counts out of range are copied, not corrected.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED if much is to be corrected and more than UINT64_MAX values were recorded.
/// Ownership: *out has no histogram.
/// Cost: at most that of sorting the counters, however many values are added; allocates 16 bytes per counter.
fn picollo_snapshot_corrected(
    snapshot: *const picollo_snapshot,
    expected_interval: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (snapshot, out) = (input(snapshot.cast::<Block>())?, output(out)?);
    out.deliver(Block::corrected(snapshot, expected_interval)?.as_ptr().cast())
}
}
