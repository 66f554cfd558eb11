//! HdrHistogram's V2 encoding of counts, and the fixed words of V1 and V0.
//!
//! Counts run from logical index 0 to the index of the maximum. A count `n` is written as `zigzag(n)`, a run of `k`
//! zeros as `zigzag(-k)`, a single zero as 0; each takes one to nine bytes.

use super::eights::Eight;
use super::hdr::{self, Header, Words};
use super::sequence::{CountSink, pass_counts};
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
fn each_count(payload: &[u8], words: Words, mut report: impl FnMut(usize, u64) -> Option<()>) -> Result<()> {
    let Words::Fixed(size) = words else {
        let mut index = 0usize;
        let passed = varint::each(payload, |word| {
            if word & 1 == 0 {
                if word != 0 {
                    report(index, word >> 1)?;
                }
                index += 1;
            } else {
                index += unzigzag(word).unsigned_abs() as usize;
            }
            Some(())
        });
        return passed.ok_or(Error::Corrupt);
    };
    for (index, word) in payload.chunks_exact(size).enumerate() {
        let count = word.iter().fold(0u64, |count, &byte| count << 8 | byte as u64);
        if count != 0 {
            report(index, count).ok_or(Error::Corrupt)?;
        }
    }
    Ok(())
}

/// An encoding that is about to be written.
pub(crate) struct Plan<'a> {
    snapshot: &'a Snapshot,
    digits: u32,
    payload: usize,
}

impl<'a> Plan<'a> {
    /// Returns [`Error::Incompatible`] for a snapshot that V2 cannot hold.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let mut plan = Plan::unmeasured(snapshot)?;
        plan.payload = plan.pass_counts(Measure(0))?.0;
        Ok(plan)
    }

    /// The same without the length of the counts.
    pub(crate) fn unmeasured(snapshot: &'a Snapshot) -> Result<Self> {
        let digits = hdr::digits(snapshot.layout()).ok_or(Error::Incompatible)?;
        // If the sum is small, so is each count.
        let counts_fit = snapshot.counts().total < TOO_LARGE
            || snapshot.recorded_counts().all(|(_, count)| count < TOO_LARGE);
        if !counts_fit || snapshot.count_between(TOO_LARGE, u64::MAX) != 0 {
            return Err(Error::Incompatible);
        }
        Ok(Plan { snapshot, digits, payload: 0 })
    }

    /// The length of the encoding. The counts take at most nine bytes for each of six million counters.
    pub(crate) fn length(&self) -> usize {
        hdr::HEADER + self.payload
    }

    fn write_header(&self, sink: &mut impl Sink) -> Result<()> {
        sink.write(&hdr::V2_COOKIE.to_be_bytes())?;
        sink.write(&(self.payload as u32).to_be_bytes())?;
        // The offset is for shifted histograms.
        sink.write(&[0; 4])?;
        sink.write(&self.digits.to_be_bytes())?;
        // The lowest discernible value is a unit, not a minimum; the highest is at least twice as much.
        let unit = 1u64 << self.snapshot.layout().unit();
        sink.write(&unit.to_be_bytes())?;
        let highest = self.snapshot.layout().max_trackable().clamp(2 * unit, TOO_LARGE - 1);
        sink.write(&highest.to_be_bytes())?;
        sink.write(&1.0f64.to_be_bytes())
    }

    /// Passes all counts on. No counts are one zero.
    fn pass_counts<S: CountSink>(&self, sink: S) -> Result<S> {
        let (cells, first) = (seam::cells(self.snapshot), self.snapshot.layout().first_index());
        let (mut sink, next) = pass_counts(&cells, first, sink)?;
        if next == 0 {
            sink.add_zeros(1)?;
        }
        Ok(sink)
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) -> Result<()> {
        self.write_header(sink)?;
        self.pass_counts(varint::Writer::new(sink, &mut [0; varint::PIECE]))?.finish()
    }
}

/// Appends a complete encoding to a vector, in one pass: the length is filled in afterwards.
#[cfg(feature = "alloc")]
pub(crate) fn write_to_vec(snapshot: &Snapshot, out: &mut alloc::vec::Vec<u8>) -> Result<()> {
    let start = out.len();
    Plan::unmeasured(snapshot)?.write(out)?;
    let length = ((out.len() - start - hdr::HEADER) as u32).to_be_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    Ok(())
}

/// The word for a number of zeros: a single zero is a count.
#[inline(always)]
fn zeros_word(number: u64) -> u64 {
    if number == 1 { 0 } else { zigzag(-(number as i64)) }
}

/// Adds up the length of what will be written.
struct Measure(usize);

impl CountSink for Measure {
    const EIGHTS: bool = true;

    #[inline(always)]
    fn add_eight(&mut self, eight: &Eight) -> Result<bool> {
        self.0 += eight.length();
        Ok(true)
    }

    #[inline(always)]
    fn add_count(&mut self, count: u64) -> Result<()> {
        self.0 += varint::length(count << 1);
        Ok(())
    }

    #[inline(always)]
    fn add_zeros(&mut self, number: u64) -> Result<()> {
        self.0 += varint::length(zeros_word(number));
        Ok(())
    }
}

impl<S: Sink> CountSink for varint::Writer<'_, S> {
    const EIGHTS: bool = true;

    #[inline(always)]
    fn add_eight(&mut self, eight: &Eight) -> Result<bool> {
        let Some((bytes, length)) = eight.bytes() else { return Ok(false) };
        self.write_encoded(&bytes, length)?;
        Ok(true)
    }

    #[inline(always)]
    fn add_count(&mut self, count: u64) -> Result<()> {
        self.write(count << 1)
    }

    #[inline(always)]
    fn add_zeros(&mut self, number: u64) -> Result<()> {
        self.write(zeros_word(number))
    }
}
