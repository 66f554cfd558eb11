//! Tests records, byte for byte as the kernel lays them out, and invalid bytes.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;

use super::*;

/// A ring in memory with the kernel's way of writing. More may be written while it is read.
#[derive(Default)]
pub(crate) struct Memory {
    words: RefCell<Vec<u64>>,
    head: Cell<u64>,
    /// After this many loads of words, these records are written.
    pub meanwhile: RefCell<Option<(usize, Vec<Vec<u64>>)>>,
}

impl Memory {
    pub(crate) fn new(words: usize) -> Memory {
        Memory { words: RefCell::new(vec![0; words]), ..Memory::default() }
    }

    pub(crate) fn from_words(words: Vec<u64>, head: u64) -> Memory {
        Memory { words: RefCell::new(words), head: Cell::new(head), ..Memory::default() }
    }

    /// Lowers the head by the record's length and writes the record there, around the end if needed.
    pub(crate) fn write(&self, record: &[u64]) {
        let head = self.head.get().wrapping_sub(record.len() as u64 * 8);
        let mut words = self.words.borrow_mut();
        let length = words.len();
        for (index, word) in record.iter().enumerate() {
            words[((head / 8) as usize % length + index) % length] = *word;
        }
        self.head.set(head);
    }
}

impl Image for Memory {
    fn words(&self) -> usize {
        self.words.borrow().len()
    }

    fn head(&self) -> u64 {
        self.head.get()
    }

    fn word(&self, index: usize) -> u64 {
        let word = self.words.borrow()[index];
        let due = self.meanwhile.borrow_mut().take_if(|(loads, _)| {
            *loads = loads.wrapping_sub(1);
            *loads == usize::MAX
        });
        for record in due.into_iter().flat_map(|(_, records)| records) {
            self.write(&record);
        }
        word
    }
}

/// A record with this header and length in words. The first word behind the header is the time.
pub(crate) fn record(kind: u32, misc: u16, words: usize, time: u64) -> Vec<u64> {
    let mut header = [0; 8];
    header[..4].copy_from_slice(&kind.to_ne_bytes());
    header[4..6].copy_from_slice(&misc.to_ne_bytes());
    header[6..].copy_from_slice(&(words as u16 * 8).to_ne_bytes());
    let mut record = vec![u64::from_ne_bytes(header), time];
    // The words behind it would mislead a reader that took them for a record.
    record.resize(words.max(2), u64::MAX);
    record.truncate(words);
    record
}

fn all(image: &Memory) -> (Vec<Record>, End) {
    let mut records = Records::new(image);
    let mut found = Vec::new();
    loop {
        match records.next() {
            Ok(record) => found.push(record),
            Err(end) => {
                // It stays at its end.
                assert_eq!(records.next(), Err(end));
                return (found, end);
            }
        }
    }
}

/// A walk is valid until the kernel overwrites what it read, and no longer.
#[test]
fn records_are_intact_while_there_is_room() {
    for walked in 0..=8usize {
        for moved in 0..=10usize {
            let image = Memory::new(16);
            (0..9).for_each(|time| image.write(&record(14, 0, 2, time)));
            let mut records = Records::new(&image);
            for _ in 0..walked {
                records.next().unwrap();
            }
            (0..moved).for_each(|time| image.write(&record(14, 0, 2, 100 + time as u64)));
            assert_eq!(records.is_intact(), walked + moved <= 8, "{walked} {moved}");
        }
    }
    // A valid head never rises.
    let image = Memory::new(16);
    image.write(&record(14, 0, 2, 1));
    let records = Records::new(&image);
    image.head.set(0);
    assert!(!records.is_intact());
}

#[test]
fn unknown_records_are_reported() {
    for words in [record(14, 0, 0, 5), vec![u64::from_ne_bytes([14, 0, 0, 0, 0, 0, 12, 0])]] {
        // A length of 0, and one that is not a whole number of words.
        let image = Memory::new(8);
        image.write(&record(14, 0, 2, 5));
        image.write(if words.is_empty() { &[14] } else { &words });
        assert_eq!(all(&image), (Vec::new(), End::Broken));
    }
    // Longer than everything ever written.
    let image = Memory::new(8);
    image.write(&record(14, 0, 3, 5)[..2]);
    assert_eq!(all(&image), (Vec::new(), End::Broken));
    // A head between two words.
    assert_eq!(all(&Memory::from_words(vec![0; 8], 4)), (Vec::new(), End::Broken));
}

proptest! {
    /// The latest records that fit are found, and no others.
    #[test]
    fn the_latest_records_are_found(sizes in prop::collection::vec(1usize..7, 0..60), power in 0u32..7) {
        let image = Memory::new(1 << power);
        let written = sizes.iter().enumerate().map(|(n, &size)| record(n as u32, n as u16, size, n as u64));
        // The kernel never writes a record longer than the ring.
        let written: Vec<_> = written.filter(|record| record.len() <= 1 << power).collect();
        written.iter().for_each(|record| image.write(record));
        let mut room = 1usize << power;
        let fits = written.iter().rev().take_while(|record| {
            let fits = record.len() <= room;
            room = room.saturating_sub(record.len());
            fits
        });
        let expected: Vec<u32> = fits.map(|record| record[0].to_ne_bytes()[0].into()).collect();
        let (found, end) = all(&image);
        prop_assert_eq!(found.iter().map(|record| record.kind).collect::<Vec<_>>(), &expected[..]);
        prop_assert_eq!(end, if expected.len() == written.len() { End::First } else { End::Overwritten });
        for record in found {
            let has_time = sizes[record.kind as usize] > 1;
            let time = if has_time { u64::from(record.kind) } else { 0 };
            prop_assert_eq!((u32::from(record.misc), record.time), (record.kind, time));
        }
    }
}
