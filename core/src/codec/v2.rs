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
            Words::Variable => last_count(payload, header.counts)?,
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
                *counts.get_mut(index).ok_or(Error::Corrupt)? = count;
                total += count as u128;
                Ok(())
            })?;
        } else {
            // Several small values here may share what was one unit there, not the reverse: nothing is added up.
            each_count(self.payload, self.header.words, |index, count| {
                let index = layout.storage_index(self.header.value_at(index as u64));
                *counts.get_mut(index as usize).ok_or(Error::Corrupt)? = count;
                total += count as u128;
                Ok(())
            })?;
        }
        let total = total.try_into().unwrap_or(u64::MAX);
        snapshot.hold(Counts { total, ..Counts::default() }, false);
        Ok(())
    }
}

/// Checks counts of variable length: they may not end within one, nor leave an array of `length`. Returns the index of
/// the last one that is not zero.
fn last_count(payload: &[u8], length: u64) -> Result<Option<u64>> {
    let (mut index, mut last) = (0u64, None);
    let mut rest = payload;
    while !rest.is_empty() {
        let word = varint::read(&mut rest).ok_or(Error::Corrupt)?;
        let value = unzigzag(word);
        if value > 0 {
            last = Some(index);
        }
        let step = if value < 0 { value.unsigned_abs() } else { 1 };
        index = index.checked_add(step).filter(|&index| index <= length).ok_or(Error::Corrupt)?;
    }
    Ok(last)
}

/// As [`last_count`], for words of so many bytes.
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
fn each_count(payload: &[u8], words: Words, mut tell: impl FnMut(usize, u64) -> Result<()>) -> Result<()> {
    let Words::Fixed(size) = words else {
        let (mut rest, mut index) = (payload, 0usize);
        while !rest.is_empty() {
            let word = varint::read(&mut rest).ok_or(Error::Corrupt)?;
            if word & 1 == 0 {
                if word != 0 {
                    tell(index, word >> 1)?;
                }
                index += 1;
            } else {
                index += unzigzag(word).unsigned_abs() as usize;
            }
        }
        return Ok(());
    };
    for (index, word) in payload.chunks_exact(size).enumerate() {
        let count = word.iter().fold(0u64, |count, &byte| count << 8 | byte as u64);
        if count != 0 {
            tell(index, count)?;
        }
    }
    Ok(())
}

/// What a snapshot's header needs to be told.
struct Plan {
    digits: u32,
    highest: u64,
    payload: usize,
}

fn plan(snapshot: &Snapshot) -> Result<Plan> {
    let layout = snapshot.layout();
    let digits = hdr::digits_of(layout).ok_or(Error::Incompatible)?;
    let mut last = None;
    for (index, count) in snapshot.recorded_counts() {
        if count >= TOO_LARGE {
            return Err(Error::Incompatible);
        }
        last = Some(index);
    }
    if last.is_some_and(|last| layout.bucket_at(last as u64).upper >= TOO_LARGE) {
        return Err(Error::Incompatible);
    }
    // At most nine bytes for each of six million counters.
    let mut payload = 0;
    each_word(snapshot, |word| {
        payload += varint::length(word);
        Ok(())
    })?;
    Ok(Plan { digits, highest: layout.max_trackable().clamp(2, TOO_LARGE - 1), payload })
}

/// The length of the V2 encoding of a snapshot.
pub(crate) fn encoded_length(snapshot: &Snapshot) -> Result<usize> {
    Ok(hdr::HEADER + plan(snapshot)?.payload)
}

/// Writes a snapshot in the V2 encoding. [`Error::Incompatible`], before anything is written, for what it has no room for.
pub(crate) fn encode(snapshot: &Snapshot, sink: &mut impl Sink) -> Result<()> {
    let plan = plan(snapshot)?;
    sink.put(&hdr::V2_COOKIE.to_be_bytes())?;
    sink.put(&(plan.payload as u32).to_be_bytes())?;
    // The offset, which is for shifted histograms.
    sink.put(&[0; 4])?;
    sink.put(&plan.digits.to_be_bytes())?;
    // The lowest discernible value is a unit, not a minimum.
    sink.put(&1u64.to_be_bytes())?;
    sink.put(&plan.highest.to_be_bytes())?;
    sink.put(&1.0f64.to_be_bytes())?;
    put_counts(snapshot, sink)
}

fn put_counts(snapshot: &Snapshot, sink: &mut impl Sink) -> Result<()> {
    each_word(snapshot, |word| {
        let (bytes, length) = varint::write(word);
        sink.put(&bytes[..length])
    })
}

/// Tells the integers that stand for the counts.
#[inline(always)]
fn each_word(snapshot: &Snapshot, mut tell: impl FnMut(u64) -> Result<()>) -> Result<()> {
    let first = snapshot.layout().first_index();
    let mut next = 0;
    for (index, count) in snapshot.recorded_counts() {
        let index = first + index as u64;
        match (index - next) as i64 {
            0 => {}
            1 => tell(0)?,
            zeros => tell(zigzag(-zeros))?,
        }
        tell(count << 1)?;
        next = index + 1;
    }
    if next == 0 { tell(0) } else { Ok(()) }
}
