//! HdrHistogram's V2 encoding of counts, and the fixed words of V1 and V0.
//!
//! Counts run from logical index 0 to the index of the maximum. A count `n` is written as `zigzag(n)`, a run of `k` zeros
//! as `zigzag(-k)`, a lone zero as 0; each in one to nine bytes.

use super::hdr::{self, Header, Words};
use super::sink::Sink;
use super::varint::{self, unzigzag, zigzag};
use crate::{Counts, Error, Layout, Result, Snapshot};

/// What V2 has no room for.
const TOO_LARGE: u64 = 1 << 63;

/// A whole encoding, header and counts checked.
#[derive(Clone, Debug)]
pub(crate) struct Image<'a> {
    pub(crate) header: Header,
    payload: &'a [u8],
}

impl<'a> Image<'a> {
    /// Checks a whole encoding, from its cookie on, and tells the layout its counts need. What follows the counts is
    /// ignored, as it is elsewhere; V0 has counts to the end.
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
                // Mostly all is within the announced range, and where just the last count is does not matter.
                if end <= header.layout(None)?.length() as u64 { None } else { last_count(payload) }
            }
            Words::Fixed(size) => last_word(payload, size, header.counts)?,
        };
        let layout = header.layout(last)?;
        if layout.length() as u64 > max_counters {
            return Err(Error::OutOfMemory);
        }
        Ok((Image { header, payload }, layout))
    }

    /// Adds the counts to those of a zeroed snapshot of the layout that [`Image::read`] told.
    pub(crate) fn fill(&self, snapshot: &mut Snapshot) -> Result<()> {
        let layout = *snapshot.layout();
        let (counts, _) = snapshot.raw_and_base_mut();
        let mut total = 0u128;
        if self.header.unit == 0 {
            each_count(self.payload, self.header.words, |index, count| {
                *counts.get_mut(index)? = count;
                total += count as u128;
                Some(())
            })?;
        } else {
            // No two units there share a bucket here.
            each_count(self.payload, self.header.words, |index, count| {
                let index = layout.storage_index(self.header.value_at(index as u64));
                *counts.get_mut(index as usize)? = count;
                total += count as u128;
                Some(())
            })?;
        }
        let total = total.try_into().unwrap_or(u64::MAX);
        snapshot.hold(Counts { total, ..Counts::default() }, false);
        Ok(())
    }
}

/// Checks counts of variable length: they may not end within one, nor leave an array of `length`. Returns how far in the
/// array they go.
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

/// The index of the last count that is not zero, of counts that were checked.
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

/// Checks words of so many bytes. Returns the index of the last that is not zero.
fn last_word(payload: &[u8], size: usize, length: u64) -> Result<Option<u64>> {
    if !payload.len().is_multiple_of(size) || (payload.len() / size) as u64 > length {
        return Err(Error::Corrupt);
    }
    let mut last = None;
    for (index, word) in payload.chunks_exact(size).enumerate() {
        // Words are signed there.
        if word[0] >= 0x80 {
            return Err(Error::Corrupt);
        }
        if word.iter().any(|&byte| byte != 0) {
            last = Some(index as u64);
        }
    }
    Ok(last)
}

/// Tells index and count of all counts that are not zero, of a payload that was checked.
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

/// What an encoding is going to be.
pub(crate) struct Plan<'a> {
    snapshot: &'a Snapshot,
    digits: u32,
    payload: usize,
}

impl<'a> Plan<'a> {
    /// [`Error::Incompatible`] for what V2 has no room for.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let layout = snapshot.layout();
        let digits = hdr::digits_of(layout).ok_or(Error::Incompatible)?;
        let (mut all, mut payload) = (0, 0);
        each_word(snapshot, |word, count| {
            all |= count;
            payload += varint::length(word);
            Ok(())
        })?;
        let highest = snapshot.highest_recorded().map_or(0, |bucket| bucket.upper);
        if all >= TOO_LARGE || highest >= TOO_LARGE {
            return Err(Error::Incompatible);
        }
        Ok(Plan { snapshot, digits, payload })
    }

    /// The length of the whole. The counts take at most nine bytes for each of six million counters.
    pub(crate) fn length(&self) -> usize {
        hdr::HEADER + self.payload
    }

    /// Writes it.
    pub(crate) fn write(&self, sink: &mut impl Sink) -> Result<()> {
        sink.put(&hdr::V2_COOKIE.to_be_bytes())?;
        sink.put(&(self.payload as u32).to_be_bytes())?;
        // The offset, which is for shifted histograms.
        sink.put(&[0; 4])?;
        sink.put(&self.digits.to_be_bytes())?;
        // The lowest discernible value is a unit, not a minimum.
        sink.put(&1u64.to_be_bytes())?;
        let highest = self.snapshot.layout().max_trackable().clamp(2, TOO_LARGE - 1);
        sink.put(&highest.to_be_bytes())?;
        sink.put(&1.0f64.to_be_bytes())?;
        let mut writer = varint::Writer::new(sink);
        each_word(self.snapshot, |word, _| writer.put(word))?;
        writer.finish()
    }
}

/// Tells the integers that are written, and the counts among them.
#[inline(always)]
fn each_word(snapshot: &Snapshot, mut tell: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    let first = snapshot.layout().first_index();
    let mut next = 0;
    for (index, count) in snapshot.recorded_counts() {
        let index = first + index as u64;
        match (index - next) as i64 {
            0 => {}
            1 => tell(0, 0)?,
            zeros => tell(zigzag(-zeros), 0)?,
        }
        tell(count << 1, count)?;
        next = index + 1;
    }
    if next == 0 { tell(0, 0) } else { Ok(()) }
}
