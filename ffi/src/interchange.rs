//! Interchange: snapshots as bytes, for files, networks and the tools of HdrHistogram.
//!
//! Three encodings are written; these and HdrHistogram's older ones are read, as bytes or as base64.
//!
//!     size_t length = 0;
//!     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, NULL, 0, &length);
//!     void *bytes = malloc(length);
//!     picollo_snapshot_encode(snapshot, PICOLLO_ENCODING_NATIVE, bytes, length, &length);
//!     ...
//!     picollo_snapshot *copy;
//!     if (picollo_snapshot_decode(bytes, length, 0, &copy) != PICOLLO_OK) ...
//!
//! HdrHistogram's encodings hold the counts of its own layouts (see significant_digits) and nothing else: what was out of
//! range or lost, the smallest trackable value and the time are left out. The native one holds everything.
//!
//! A decoded or corrected snapshot has no histogram behind it: everything can be read from it, and it can be merged into
//! another one or another one into it, but picollo_snapshot_update is PICOLLO_ERR_UNSUPPORTED.

use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

use picollo_core::text::HgrmFormat;
use picollo_core::{DEFAULT_MAX_COUNTERS, Encoding};

use crate::argument::{either, input, output, room, slice};
use crate::failure::{Failure, Outcome};
use crate::guard::exported;
use crate::handles::picollo_snapshot;
use crate::snapshot;
use crate::snapshot_block::Block;
use crate::status::picollo_status;
use crate::text::{try_write_text, write_collected};

/// Columns, with mean, deviation, maximum and total below.
pub const PICOLLO_HGRM_COLUMNS: u32 = 0;
/// Comma-separated values.
pub const PICOLLO_HGRM_CSV: u32 = 1;

/// Limit on the counters of a decoded snapshot where the caller sets none: 48 MiB of counts, room for every HdrHistogram
/// of up to 5 significant digits.
pub const PICOLLO_DEFAULT_MAX_COUNTERS: u64 = 6_291_456;

const _: () = assert!(PICOLLO_DEFAULT_MAX_COUNTERS == DEFAULT_MAX_COUNTERS);

exported! {
/// Writes a snapshot as bytes, without a NUL at the end.
///
/// Requires: encoding is PICOLLO_ENCODING_....
/// Returns: PICOLLO_ERR_INCOMPATIBLE for what HdrHistogram's encodings have no room for: blocks that are not those of
///   0 to 5 significant digits, a value or a count of 2^63 or more; PICOLLO_ERR_OUT_OF_MEMORY (compressed only).
/// Cost: two passes over the counters. The compressed encoding allocates about 0.5 MB for the time of the call, and
///   is made whole also to ask for its length.
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

/// Writes a snapshot as base64 text: the compressed encoding gives the HISTFAAA... of HdrHistogram's logs.
///
/// Requires: encoding is PICOLLO_ENCODING_....
/// Returns: as picollo_snapshot_encode, and PICOLLO_ERR_OUT_OF_MEMORY for every encoding.
/// Cost: as picollo_snapshot_encode; allocates the text for the time of the call.
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

/// Decodes encoded data and makes a block of it.
#[cfg(feature = "std")]
pub fn decode(bytes: &[u8], max_counters: u64) -> Outcome<NonNull<Block>> {
    let mut scratch = Vec::new();
    let decoder = picollo_core::Decoder::new(bytes, &mut scratch, max_counters)?;
    Block::detached(decoder.boxed()?, decoder.value_ratio())
}

/// The same of the first of several, and how many bytes it takes.
#[cfg(feature = "std")]
fn decode_first(bytes: &[u8], max_counters: u64) -> Outcome<(NonNull<Block>, usize)> {
    let mut scratch = Vec::new();
    let (decoder, taken) = picollo_core::Decoder::first(bytes, &mut scratch, max_counters)?;
    Ok((Block::detached(decoder.boxed()?, decoder.value_ratio())?, taken))
}

/// There is no memory to make a block of.
#[cfg(not(feature = "std"))]
pub fn decode(_: &[u8], _: u64) -> Outcome<NonNull<Block>> {
    Err(Failure::UNSUPPORTED)
}

/// As above.
#[cfg(not(feature = "std"))]
fn decode_first(_: &[u8], _: u64) -> Outcome<(NonNull<Block>, usize)> {
    Err(Failure::UNSUPPORTED)
}

exported! {
/// Makes a snapshot of encoded data: HdrHistogram's V2, V1 or V0, as they are or compressed, of its histograms of integers or
/// doubles, or the native encoding; or any of them in base64, with white space around it ignored. Which it is tells the data
/// itself.
///
/// What comes from others is checked from beginning to end before anything is made of it: no data makes this call
/// crash, hang or allocate more than max_counters allows, which is 8 bytes a counter for the result, at most 18 more
/// while it is inflated, and the bytes of base64.
///
/// Requires: bytes leads to length bytes; max_counters is the largest number of counters that the result may have, or
///   0 for PICOLLO_DEFAULT_MAX_COUNTERS.
/// Returns: PICOLLO_ERR_CORRUPT for what is none of these, or broken; PICOLLO_ERR_OUT_OF_MEMORY when the result would
///   have more counters than max_counters, or there is no memory; PICOLLO_ERR_UNSUPPORTED for a later version of the
///   native encoding.
/// Cost: a few passes over the data; allocates the result, and memory to inflate and decode into.
fn picollo_snapshot_decode(
    bytes: *const c_void,
    length: usize,
    max_counters: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (bytes, out) = (slice(bytes.cast(), length)?, output(out)?);
    out.tell(decode(bytes, max_counters)?.as_ptr().cast())
}

/// Makes a snapshot of the first of several encodings that follow one another, as picollo_snapshot_decode does of one, and reports
/// where the next one begins. They may be of different kinds.
///
///     for (size_t at = 0, taken; at < length; at += taken) {
///         if (picollo_snapshot_decode_first(bytes + at, length - at, 0, &snapshot, &taken) != PICOLLO_OK) break;
///         ...
///     }
///
/// Each says in front how long it is, and is held to it: an encoding without the checksum of its zlib stream (HdrHistogram.NET) takes
/// the length that it announces, and one with a part of the checksum is corrupt, whatever follows. But V0 that is not compressed has
/// counts to the end, and takes everything. Base64 ends at white space, which it takes too.
///
/// Requires: as picollo_snapshot_decode.
/// Returns: PICOLLO_OK, with *out_taken at least 1 and at most length; otherwise as picollo_snapshot_decode, with
///   nothing written.
/// Cost: as picollo_snapshot_decode, whatever follows; that of base64 looks for its end.
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
    out_taken.tell(taken)
}

/// Tells what the values of a snapshot have to be multiplied with for those of the histogram of doubles that it was decoded from:
/// HdrHistogram encodes its DoubleHistogram as one of integers and a ratio. It stays with copies, and no encoding here has it.
///
/// Returns: PICOLLO_OK, with 1.0 for everything else, as written by whoever encoded it: it may be anything.
fn picollo_snapshot_value_ratio(snapshot: *const picollo_snapshot, out_ratio: *mut f64) -> picollo_status {
    // SAFETY: the caller's promises, passed on; a handle leads to a block.
    let (snapshot, out_ratio) = unsafe { (input(snapshot.cast::<Block>())?, output(out_ratio)?) };
    out_ratio.tell(snapshot.value_ratio())
}

/// Writes the percentile distribution of a snapshot as HdrHistogram for Java does (.hgrm), for its plotters: rows at
/// percentiles that get closer by half with each half of the distance to 100 %. Values are the upper ends of buckets,
/// with as many decimals as the layout has significant digits.
///
/// Requires: ticks_per_half_distance is the number of rows in each half of the distance, at most 1,000,000, or 0 for
///   5; value_scale is what values are divided by, positive, or 0 for 1; csv is PICOLLO_HGRM_COLUMNS or PICOLLO_HGRM_CSV.
/// Returns: PICOLLO_OK, also for an empty snapshot, which has no rows.
/// Cost: a microsecond for each row, and as much again.
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
        snapshot.write_hgrm(&mut out, ticks_per_half_distance, value_scale, format)
    })
}

/// Makes a copy that is corrected for coordinated omission: for every value longer than the interval at which values were
/// expected, also those that a stalled caller did not send meanwhile, as by picollo_histogram_record_corrected. Buckets
/// stand for their upper ends, as in HdrHistogram. What was out of range is copied, not corrected.
///
/// Returns: PICOLLO_ERR_UNSUPPORTED when there is a lot to correct and more than UINT64_MAX values were recorded.
/// Ownership: *out has no histogram behind it.
/// Cost: at most that of sorting the counters, however many values are added; allocates 16 bytes a counter.
fn picollo_snapshot_corrected(
    snapshot: *const picollo_snapshot,
    expected_interval: u64,
    out: *mut *mut picollo_snapshot,
) -> picollo_status {
    let (snapshot, out) = (input(snapshot.cast::<Block>())?, output(out)?);
    out.tell(Block::corrected(snapshot, expected_interval)?.as_ptr().cast())
}
}
