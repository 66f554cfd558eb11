//! Our own encoding, for everything that HdrHistogram's cannot hold: any scale and range, values and counts of all 64
//! bits, observations out of range or lost, the time, and a checksum. Little-endian.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 8 bytes | `89 50 69 63 6f 6c 6c 6f`: 0x89, "Picollo" |
//! | 8 | u16 | version, 1 |
//! | 10 | u16 | flags: bit 0, counts are estimates; the others 0 |
//! | 12 | u32 | scale: binary logarithm of the block size |
//! | 16 | u64 | smallest trackable value |
//! | 24 | u64 | largest trackable value |
//! | 32 | u64 | time, nanoseconds since 1970; 0: unknown |
//! | 40 | u64 | underflow |
//! | 48 | u64 | overflow |
//! | 56 | u64 | lost |
//! | 64 | u64 | bytes of the counts |
//! | 72 | | counts |
//! | at the end | u32 | CRC-32 (the one of zlib) of all before |
//!
//! Counts run from the first counter to the last one that is not zero. They are integers of one to nine bytes (those of
//! V2, without the sign). A run of zeros is a 0 and its length.

use super::sequence::{CountSink, pass_counts};
use super::sink::Sink;
use super::varint;
use picollo_core::snapshots::Counts;
use picollo_core::{Error, Layout, Result, Snapshot, seam};

/// The first bytes: neither text nor the beginning of another encoding.
pub(crate) const MAGIC: [u8; 8] = *b"\x89Picollo";
/// Version 2 has a unit, and is written only if there is one.
const VERSION: u16 = 1;
const VERSION_WITH_UNIT: u16 = 2;
/// Bits of the scale in its field; the unit is above them.
const SCALE_BITS: u32 = 16;
const HEADER: usize = 72;
const CHECKSUM: usize = 4;

/// A complete, checked encoding.
#[derive(Clone, Debug)]
pub(crate) struct Image<'a> {
    payload: &'a [u8],
    counts: Counts,
    timestamp: u64,
}

impl<'a> Image<'a> {
    /// Checks a complete encoding and returns its layout. Returns [`Error::Corrupt`] if it is damaged or breaks a rule,
    /// [`Error::Unsupported`] for a later version, [`Error::OutOfMemory`] for more than `max_counters` counters.
    pub(crate) fn read(bytes: &'a [u8], max_counters: u64) -> Result<(Self, Layout)> {
        if bytes.len() < HEADER + CHECKSUM || !bytes.starts_with(&MAGIC) {
            return Err(Error::Corrupt);
        }
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u16_at(at) as u32 | (u16_at(at + 2) as u32) << 16;
        let u64_at = |at: usize| u32_at(at) as u64 | (u32_at(at + 4) as u64) << 32;
        let has_unit = match u16_at(8) {
            VERSION => false,
            VERSION_WITH_UNIT => true,
            _ => return Err(Error::Unsupported),
        };
        let end = bytes.len() - CHECKSUM;
        let payload = &bytes[HEADER..end];
        if u64_at(64) != payload.len() as u64
            || crc32fast::hash(&bytes[..end]) != u32_at(end)
            || u16_at(10) != 0
        {
            return Err(Error::Corrupt);
        }
        let (scale, unit) = if has_unit { (u16_at(12) as u32, u16_at(14) as u32) } else { (u32_at(12), 0) };
        if has_unit != (unit != 0) {
            return Err(Error::Corrupt);
        }
        let layout =
            Layout::with_scale(scale, u64_at(16), u64_at(24)).and_then(|layout| layout.with_unit(unit));
        let layout = layout.map_err(|_| Error::Corrupt)?;
        if layout.length() as u64 > max_counters {
            return Err(Error::OutOfMemory);
        }
        let (mut total, mut length) = (0u128, 0usize);
        each_run(payload, |zeros, count| {
            length = usize::try_from(zeros)
                .ok()
                .and_then(|zeros| length.checked_add(zeros)?.checked_add((count != 0) as usize))
                .filter(|&length| length <= layout.length())?;
            total += count as u128;
            Some(())
        })?;
        let counts = Counts {
            total: total.try_into().unwrap_or(u64::MAX),
            underflow: u64_at(40),
            overflow: u64_at(48),
            lost: u64_at(56),
        };
        Ok((Image { payload, counts, timestamp: u64_at(32) }, layout))
    }

    /// Adds the counts to a zeroed snapshot of the layout that [`Image::read`] returned.
    pub(crate) fn fill(&self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.rewrite(|counts| {
            let mut index = 0usize;
            each_run(self.payload, |zeros, count| {
                index += zeros as usize;
                if count != 0 {
                    counts.add(index, count.into())?;
                    index += 1;
                }
                Some(())
            })?;
            Counts { underflow: counts.underflow, overflow: counts.overflow, lost: counts.lost, .. } =
                self.counts;
            Ok(())
        })?;
        snapshot.set_timestamp_unix_nanos(self.timestamp);
        Ok(())
    }
}

/// The length that an encoding announces, if its version is known.
pub(crate) fn announced_length(bytes: &[u8]) -> Option<usize> {
    let version = u16::from_le_bytes(*bytes.strip_prefix(&MAGIC)?.first_chunk()?);
    if !matches!(version, VERSION | VERSION_WITH_UNIT) {
        return None;
    }
    let payload = u64::from_le_bytes(*bytes.get(64..)?.first_chunk()?);
    usize::try_from(payload).ok()?.checked_add(HEADER + CHECKSUM)
}

/// Reports each run of zeros and each count, with 0 for the other.
#[inline(always)]
fn each_run(payload: &[u8], mut report: impl FnMut(u64, u64) -> Option<()>) -> Result<()> {
    let mut is_run = false;
    let passed = varint::each(payload, |word| {
        if is_run {
            is_run = false;
            return report(word, 0);
        }
        is_run = word == 0;
        if is_run { Some(()) } else { report(0, word) }
    });
    if is_run { Err(Error::Corrupt) } else { passed.ok_or(Error::Corrupt) }
}

/// An encoding that is about to be written.
pub(crate) struct Plan<'a> {
    snapshot: &'a Snapshot,
    payload: usize,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let cells = seam::cells(snapshot);
        let (Measure(payload), _) = pass_counts(&cells, 0, Measure(0))?;
        Ok(Plan { snapshot, payload })
    }

    pub(crate) fn length(&self) -> usize {
        HEADER + self.payload + CHECKSUM
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) -> Result<()> {
        let mut sink = Checked { sink, crc: crc32fast::Hasher::new() };
        let (layout, counts) = (self.snapshot.layout(), self.snapshot.counts());
        sink.write(&MAGIC)?;
        let version = if layout.unit() == 0 { VERSION } else { VERSION_WITH_UNIT };
        sink.write(&version.to_le_bytes())?;
        sink.write(&[0; 2])?;
        sink.write(&(layout.scale() | layout.unit() << SCALE_BITS).to_le_bytes())?;
        for word in [
            layout.min_trackable(),
            layout.max_trackable(),
            self.snapshot.timestamp_unix_nanos(),
            counts.underflow,
            counts.overflow,
            counts.lost,
            self.payload as u64,
        ] {
            sink.write(&word.to_le_bytes())?;
        }
        let (cells, mut bytes) = (seam::cells(self.snapshot), [0; varint::PIECE]);
        let writer = Writer(varint::Writer::new(&mut sink, &mut bytes));
        let (writer, _) = pass_counts(&cells, 0, writer)?;
        writer.0.finish()?;
        let crc = sink.crc.finalize();
        sink.sink.write(&crc.to_le_bytes())
    }
}

/// Adds up the bytes that will be written.
struct Measure(usize);

impl CountSink for Measure {
    #[inline(always)]
    fn add_count(&mut self, count: u64) -> Result<()> {
        self.0 += varint::length(count);
        Ok(())
    }

    #[inline(always)]
    fn add_zeros(&mut self, number: u64) -> Result<()> {
        self.0 += 1 + varint::length(number);
        Ok(())
    }
}

/// Writes counts as they are, and a run of zeros as a 0 and its length.
struct Writer<'a, S>(varint::Writer<'a, S>);

impl<S: Sink> CountSink for Writer<'_, S> {
    #[inline(always)]
    fn add_count(&mut self, count: u64) -> Result<()> {
        self.0.write(count)
    }

    #[inline(always)]
    fn add_zeros(&mut self, number: u64) -> Result<()> {
        self.0.write(0)?;
        self.0.write(number)
    }
}

/// Computes the checksum of what passes through.
struct Checked<'a, S> {
    sink: &'a mut S,
    crc: crc32fast::Hasher,
}

impl<S: Sink> Sink for Checked<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.sink.write(bytes)
    }
}
