//! A ring that the kernel writes backwards: its records, the newest first.
//!
//! Of a ring that is mapped for reading only, the kernel asks nothing: it overwrites the oldest records. `data_head` begins at 0 and
//! falls by the length of each record, which is then written *at* it. So the newest record is at `data_head`, older ones follow it at
//! higher offsets, all modulo the length of the ring, and as many bytes hold records as the head has fallen, at most all. The
//! last of them may be the remains of a record whose head was overwritten: of it, the beginning is there and the end is not.
//!
//! **When it stays put.** Nothing stops the kernel while a ring is read. What it writes meanwhile goes below the head that was
//! read first, and eats what is oldest: a head that fell by `n` has overwritten the last `n` bytes of what that first head could see. So
//! a walk that went `walked` bytes from its head saw what was there if the head fell no further than `length - walked` by its end
//! ([`Records::held`]).
//!
//! **Order of memory.** The kernel publishes `data_head` behind a write barrier, after the record, so the load of it acquires; and the
//! second look comes behind a fence, so that no load of a record moves after it. Between the reservation of room and that publication,
//! another thread could find bytes overwritten and the head not yet moved; so a ring is only read by the thread that it is about, whose
//! records are all written while it does not run (or in its page faults): to itself its head is always the last.

use core::sync::atomic::{Ordering, fence};

/// The bytes of a ring.
pub(crate) trait Image {
    /// Length in words of 8 bytes: a power of two.
    fn words(&self) -> usize;
    /// `data_head`, before all that is read behind it.
    fn head(&self) -> u64;
    /// The word with this index, which is less than [`Image::words`].
    fn word(&self, index: usize) -> u64;
}

/// One record, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub kind: u32,
    pub misc: u16,
    /// The word behind its header: the time, of switches and samples that carry nothing else.
    pub time: u64,
}

/// Why there is no further record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The one before was the first of all.
    First,
    /// Older ones were overwritten.
    Overwritten,
    /// These bytes are no records.
    Broken,
}

/// The records of a ring, the newest first. However the bytes are, it ends: every record has a header at least, and the ring no
/// more bytes than it has.
pub(crate) struct Records<'a, I> {
    image: &'a I,
    head: u64,
    /// Bytes that hold records.
    filled: u64,
    /// Bytes that were read.
    walked: u64,
    /// The end, once it was met.
    end: Option<End>,
}

impl<I> Clone for Records<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Records<'_, I> {}

impl<'a, I: Image> Records<'a, I> {
    /// Those that are there now.
    pub(crate) fn new(image: &'a I) -> Self {
        Records::within(image, length(image))
    }

    /// Those that are there now, but not the oldest eighth of the ring: for who wants as many as there are, and would see the last of them
    /// overwritten before he has read it.
    pub(crate) fn latest(image: &'a I) -> Self {
        Records::within(image, length(image) / 8 * 7)
    }

    fn within(image: &'a I, most: u64) -> Self {
        let head = image.head();
        let filled = head.wrapping_neg().min(most);
        // Records are whole words, and so the head is.
        let end = (head % 8 != 0).then_some(End::Broken);
        Records { image, head, filled, walked: 0, end }
    }

    /// The next older one.
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
        // `struct perf_event_header`, which never straddles the end of the ring, for that is a multiple of its length.
        let header = self.word(0).to_ne_bytes();
        let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
        let misc = u16::from_ne_bytes([header[4], header[5]]);
        let size = u64::from(u16::from_ne_bytes([header[6], header[7]]));
        if size < 8 || size % 8 != 0 {
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

    /// Whether all that was read was still there at the end of reading it. To be asked last.
    pub(crate) fn held(&self) -> bool {
        // The loads of records come before this one of the head.
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
