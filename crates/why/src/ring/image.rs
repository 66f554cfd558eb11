//! A ring that the kernel writes backwards: its records, the newest first.
//!
//! If a ring is mapped read-only, the kernel overwrites its oldest records without coordination. `data_head` starts at
//! 0 and falls by the length of each record, which is then written *at* it. So the newest record is at `data_head`, and
//! older ones follow at higher offsets, modulo the length of the ring. As many bytes hold records as the head has
//! fallen, up to the length. The last record may be incomplete because newer ones have overwritten its end.
//!
//! **When it stays put.** Nothing stops the kernel while a ring is read. Newer records go below the head that was read
//! first, and replace the oldest ones: if the head fell by `n`, the last `n` bytes visible from the first head are
//! overwritten. So a walk of `walked` bytes was valid if the head fell by at most `length - walked` by its end
//! ([`Records::is_intact`]).
//!
//! **Memory order.** The kernel publishes `data_head` behind a write barrier, after the record, so loading it acquires.
//! The second load follows a fence, so that no load of a record moves after it. Between reserving space and publishing,
//! another thread could find overwritten bytes before the head moves. So only the thread that a ring describes reads
//! it: its records are all written while it does not run (or in its page faults), so that its head is always up to
//! date.

use core::sync::atomic::{Ordering, fence};

/// The bytes of a ring.
pub(crate) trait Image {
    /// Length in words of 8 bytes: a power of two.
    fn words(&self) -> usize;
    /// `data_head`, loaded before the records behind it.
    fn head(&self) -> u64;
    /// The word with this index, which is less than [`Image::words`].
    fn word(&self, index: usize) -> u64;
}

/// The relevant parts of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub kind: u32,
    pub misc: u16,
    /// The word behind its header: the time, if a switch or sample carries nothing else.
    pub time: u64,
}

/// Why there is no older record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The previous one was the first ever.
    First,
    /// Older ones were overwritten.
    Overwritten,
    /// The bytes are not valid records.
    Broken,
}

/// The records of a ring, the newest first. It ends for any bytes: every record has at least a header, and the ring has
/// a limited length.
pub(crate) struct Records<'a, I> {
    image: &'a I,
    head: u64,
    /// Bytes that hold records.
    filled: u64,
    /// Bytes that were read.
    walked: u64,
    /// The end, once reached.
    end: Option<End>,
}

impl<I> Clone for Records<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Records<'_, I> {}

impl<'a, I: Image> Records<'a, I> {
    /// All current records.
    pub(crate) fn new(image: &'a I) -> Self {
        Records::within(image, length(image))
    }

    /// The current records without the oldest eighth of the ring. A reader of many records would otherwise find the
    /// last ones overwritten before reading them.
    pub(crate) fn latest(image: &'a I) -> Self {
        Records::within(image, length(image) / 8 * 7)
    }

    fn within(image: &'a I, most: u64) -> Self {
        let head = image.head();
        let filled = head.wrapping_neg().min(most);
        // Records are whole words, so the head must be a multiple of a word.
        let end = (!head.is_multiple_of(8)).then_some(End::Broken);
        Records { image, head, filled, walked: 0, end }
    }

    /// The next older record.
    pub(crate) fn next(&mut self) -> Result<Record, End> {
        if let Some(end) = self.end {
            return Err(end);
        }
        self.read().inspect_err(|&end| self.end = Some(end))
    }

    fn read(&mut self) -> Result<Record, End> {
        let overwritten = self.filled < self.head.wrapping_neg();
        if self.walked >= self.filled {
            return Err(if overwritten { End::Overwritten } else { End::First });
        }
        // `struct perf_event_header` never straddles the end of the ring, whose length is a multiple of the header's.
        let header = self.word(0).to_ne_bytes();
        let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
        let misc = u16::from_ne_bytes([header[4], header[5]]);
        let size = u64::from(u16::from_ne_bytes([header[6], header[7]]));
        if size < 8 || !size.is_multiple_of(8) {
            return Err(End::Broken);
        }
        if size > self.filled - self.walked {
            return Err(if overwritten { End::Overwritten } else { End::Broken });
        }
        let time = if size >= 16 { self.word(8) } else { 0 };
        self.walked += size;
        Ok(Record { kind, misc, time })
    }

    fn word(&self, behind: u64) -> u64 {
        let at = self.head.wrapping_add(self.walked).wrapping_add(behind);
        self.image.word((at / 8) as usize & (self.image.words() - 1))
    }

    /// Whether all records were still intact after reading them. Call this last.
    pub(crate) fn is_intact(&self) -> bool {
        // Loads of records must come before this load of the head.
        fence(Ordering::Acquire);
        self.head.wrapping_sub(self.image.head()) <= length(self.image) - self.walked
    }
}

fn length<I: Image>(image: &I) -> u64 {
    image.words() as u64 * 8
}

#[cfg(test)]
#[path = "image_tests.rs"]
pub(crate) mod tests;
