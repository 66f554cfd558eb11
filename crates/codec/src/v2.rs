//! HdrHistogram's V2 encoding of counts, and the fixed words of V1 and V0.
//!
//! Counts run from logical index 0 to the index of the maximum. A count `n` is written as `zigzag(n)`, a run of `k`
//! zeros as `zigzag(-k)`, a single zero as 0; each takes one to nine bytes.

use super::eights::Eight;
use super::hdr::{self, Header, Words};
use super::sequence::{Put, Recorded, put_parts};
use super::sink::Sink;
use super::varint::{self, unzigzag, zigzag};
use picollo_core::{Error, Layout, Result, Snapshot, seam};

/// V2 cannot hold values or counts from here on.
const TOO_LARGE: u64 = 1 << 63;

/// A complete encoding whose header and counts were checked.
#[derive(Clone, Debug)]
pub(crate) struct Image<'a> {
    pub(crate) header: Header,
    payload: &'a [u8],
}

impl<'a> Image<'a> {
    /// Checks a complete encoding, from its cookie on, and returns the layout that its counts need. It ignores data
    /// after the counts, as other readers do; V0 has counts to the end.
    pub(crate) fn read(
        bytes: &'a [u8],
        words: Words,
        is_v0: bool,
        max_counters: u64,
    ) -> Result<(Self, Layout)> {
        let header = Header::read(bytes, words, is_v0, max_counters)?;
        let rest = &bytes[header.length..];
        let payload = match header.payload {
            Some(length) => rest.get(..length).ok_or(Error::Corrupt)?,
            None => rest,
        };
        let last = match words {
            Words::Variable => {
                let end = check_counts(payload, header.counts)?;
                // Usually all counts are within the announced range, and the index of the last does not matter.
                let is_within = end <= header.layout(None)?.length() as u64;
                if is_within { None } else { last_count(payload) }
            }
            Words::Fixed(size) => last_word(payload, size, header.counts)?,
        };
        let layout = header.layout(last)?;
        if layout.length() as u64 > max_counters {
            return Err(Error::OutOfMemory);
        }
        Ok((Image { header, payload }, layout))
    }

    /// Adds the counts to a zeroed snapshot of the layout that [`Image::read`] returned.
    pub(crate) fn fill(&self, snapshot: &mut Snapshot) -> Result<()> {
        snapshot.rewrite(|counts| {
            each_count(self.payload, self.header.words, |index, count| {
                counts.add(index, count.into()).map(drop)
            })
        })
    }
}

/// Checks counts of variable length: the data must not end within a count, and the counts must not leave an array of
/// `length`. Returns how far in the array they extend.
fn check_counts(payload: &[u8], length: u64) -> Result<u64> {
    let mut rest = payload;
    let mut end = 0u64;
    loop {
        // Counts are even, runs of zeros odd.
        end += varint::skip_even(&mut rest);
        if end > length {
            return Err(Error::Corrupt);
        }
        if rest.is_empty() {
            return Ok(end);
        }
        let value = unzigzag(varint::read(&mut rest).ok_or(Error::Corrupt)?);
        let step = if value < 0 { value.unsigned_abs() } else { 1 };
        end = end.checked_add(step).filter(|&end| end <= length).ok_or(Error::Corrupt)?;
    }
}

/// The index of the last count that is not zero; the payload was checked.
fn last_count(payload: &[u8]) -> Option<u64> {
    let (mut rest, mut index, mut last) = (payload, 0, None);
    while let Some(word) = varint::read(&mut rest) {
        let value = unzigzag(word);
        if value > 0 {
            last = Some(index);
        }
        index += if value < 0 { value.unsigned_abs() } else { 1 };
    }
    last
}

/// Checks words of `size` bytes. Returns the index of the last one that is not zero.
fn last_word(payload: &[u8], size: usize, length: u64) -> Result<Option<u64>> {
    if !payload.len().is_multiple_of(size) || (payload.len() / size) as u64 > length {
        return Err(Error::Corrupt);
    }
    let mut last = None;
    for (index, word) in payload.chunks_exact(size).enumerate() {
        // HdrHistogram's words are signed.
        if word[0] >= 0x80 {
            return Err(Error::Corrupt);
        }
        if word.iter().any(|&byte| byte != 0) {
            last = Some(index as u64);
        }
    }
    Ok(last)
}

/// Reports the index and count of all counts that are not zero; the payload was checked.
#[inline(always)]
fn each_count(payload: &[u8], words: Words, mut tell: impl FnMut(usize, u64) -> Option<()>) -> Result<()> {
    let Words::Fixed(size) = words else {
        let mut index = 0usize;
        let told = varint::each(payload, |word| {
            if word & 1 == 0 {
                if word != 0 {
                    tell(index, word >> 1)?;
                }
                index += 1;
            } else {
                index += unzigzag(word).unsigned_abs() as usize;
            }
            Some(())
        });
        return told.ok_or(Error::Corrupt);
    };
    for (index, word) in payload.chunks_exact(size).enumerate() {
        let count = word.iter().fold(0u64, |count, &byte| count << 8 | byte as u64);
        if count != 0 {
            tell(index, count).ok_or(Error::Corrupt)?;
        }
    }
    Ok(())
}

/// An encoding that is about to be written.
pub(crate) struct Plan<'a> {
    snapshot: &'a Snapshot,
    digits: u32,
    payload: usize,
    /// Which parts of the counters have counts; the others are examined only once.
    recorded: Recorded,
}

impl<'a> Plan<'a> {
    /// Returns [`Error::Incompatible`] for a snapshot that V2 cannot hold.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let layout = snapshot.layout();
        let digits = digits_of(layout)?;
        let cells = seam::cells(snapshot);
        let (measure, mut recorded) = (Measure { all: 0, length: 0 }, Recorded::UNKNOWN);
        let (mut measure, next) = put_parts(&cells, layout.first_index(), &mut recorded, measure)?;
        if next == 0 {
            measure.put_zeros(1)?;
        }
        check_limits(layout, measure.all, next)?;
        Ok(Plan { snapshot, digits, payload: measure.length, recorded })
    }

    /// The length of the encoding. The counts take at most nine bytes for each of six million counters.
    pub(crate) fn length(&self) -> usize {
        hdr::HEADER + self.payload
    }

    fn write_header(&self, sink: &mut impl Sink) -> Result<()> {
        sink.put(&hdr::V2_COOKIE.to_be_bytes())?;
        sink.put(&(self.payload as u32).to_be_bytes())?;
        // The offset is for shifted histograms.
        sink.put(&[0; 4])?;
        sink.put(&self.digits.to_be_bytes())?;
        // The lowest discernible value is a unit, not a minimum; the highest is at least twice as much.
        let unit = 1u64 << self.snapshot.layout().unit();
        sink.put(&unit.to_be_bytes())?;
        let highest = self.snapshot.layout().max_trackable().clamp(2 * unit, TOO_LARGE - 1);
        sink.put(&highest.to_be_bytes())?;
        sink.put(&1.0f64.to_be_bytes())
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) -> Result<()> {
        self.write_header(sink)?;
        let (cells, first) = (seam::cells(self.snapshot), self.snapshot.layout().first_index());
        let mut bytes = [0; varint::PIECE];
        let writer = varint::Writer::new(sink, &mut bytes);
        let (mut writer, next) = put_parts(&cells, first, &mut { self.recorded }, writer)?;
        if next == 0 {
            writer.put_zeros(1)?;
        }
        writer.finish()
    }
}

/// Appends a complete encoding to a vector, in one pass: the length is filled in afterwards.
#[cfg(feature = "alloc")]
pub(crate) fn write_to_vec(snapshot: &Snapshot, out: &mut alloc::vec::Vec<u8>) -> Result<()> {
    let layout = snapshot.layout();
    let mut plan = Plan { snapshot, digits: digits_of(layout)?, payload: 0, recorded: Recorded::UNKNOWN };
    let start = out.len();
    plan.write_header(out)?;
    let (cells, mut bytes) = (seam::cells(snapshot), [0; varint::PIECE]);
    let writer = Checking { all: 0, writer: varint::Writer::new(out, &mut bytes) };
    let (mut checking, next) = put_parts(&cells, layout.first_index(), &mut plan.recorded, writer)?;
    if next == 0 {
        checking.put_zeros(1)?;
    }
    check_limits(layout, checking.all, next)?;
    checking.writer.finish()?;
    plan.payload = out.len() - start - hdr::HEADER;
    let length = (plan.payload as u32).to_be_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    Ok(())
}

/// The digits of a layout. Returns [`Error::Incompatible`] if HdrHistogram has no such layout.
fn digits_of(layout: &Layout) -> Result<u32> {
    hdr::digits_of(layout).ok_or(Error::Incompatible)
}

/// Returns [`Error::Incompatible`] if V2 cannot hold the counts, whose combined bits are in `all`, or the values, which
/// end before logical index `next`.
fn check_limits(layout: &Layout, all: u64, next: u64) -> Result<()> {
    let last = next.checked_sub(layout.first_index() + 1);
    let highest = last.map_or(0, |last| layout.bucket_at(last).upper);
    if all >= TOO_LARGE || highest >= TOO_LARGE { Err(Error::Incompatible) } else { Ok(()) }
}

/// The word for a number of zeros: a single zero is a count.
#[inline(always)]
fn zeros_word(number: u64) -> u64 {
    if number == 1 { 0 } else { zigzag(-(number as i64)) }
}

/// Adds up the length of what will be written.
struct Measure {
    /// The combined bits of all counts that may be too large.
    all: u64,
    length: usize,
}

impl Put for Measure {
    const EIGHTS: bool = true;

    #[inline(always)]
    fn put_eight(&mut self, eight: &Eight) -> Result<bool> {
        // Counts in eights are small, and `all` is only for counts that may be too large.
        self.length += eight.length();
        Ok(true)
    }

    #[inline(always)]
    fn put_count(&mut self, count: u64) -> Result<()> {
        self.all |= count;
        self.length += varint::length(count << 1);
        Ok(())
    }

    #[inline(always)]
    fn put_zeros(&mut self, number: u64) -> Result<()> {
        self.length += varint::length(zeros_word(number));
        Ok(())
    }
}

impl<S: Sink> Put for varint::Writer<'_, S> {
    const EIGHTS: bool = true;

    #[inline(always)]
    fn put_eight(&mut self, eight: &Eight) -> Result<bool> {
        let Some((bytes, length)) = eight.bytes() else { return Ok(false) };
        self.put_encoded(&bytes, length)?;
        Ok(true)
    }

    #[inline(always)]
    fn put_count(&mut self, count: u64) -> Result<()> {
        self.put(count << 1)
    }

    #[inline(always)]
    fn put_zeros(&mut self, number: u64) -> Result<()> {
        self.put(zeros_word(number))
    }
}

/// Writes, and collects what the check needs.
#[cfg(feature = "alloc")]
struct Checking<'a, S> {
    /// As in [`Measure`].
    all: u64,
    writer: varint::Writer<'a, S>,
}

#[cfg(feature = "alloc")]
impl<S: Sink> Put for Checking<'_, S> {
    const EIGHTS: bool = true;

    #[inline(always)]
    fn put_eight(&mut self, eight: &Eight) -> Result<bool> {
        self.writer.put_eight(eight)
    }

    #[inline(always)]
    fn put_count(&mut self, count: u64) -> Result<()> {
        self.all |= count;
        self.writer.put(count << 1)
    }

    #[inline(always)]
    fn put_zeros(&mut self, number: u64) -> Result<()> {
        self.writer.put(zeros_word(number))
    }
}
