//! What was counted, as readers have it: copies of cells, each read by itself while others add to it.

use std::boxed::Box;

use picollo_core::{
    BaselineWord, Error as CoreError, Layout, PerCpuImage, SharedHistogram, Since, SingleWriterHistogram,
    Snapshot,
};

use super::check::{self, Image};
use super::description::SegmentKind;
use super::file::shown;
use super::format::{self, PAGE, mode};
use super::viewer::{Place, Viewer};
use crate::base::error::{Error, Result, Status};

/// How many words are read at a time.
const CHUNK: usize = 1024;
/// The header of a histogram, in words.
const HEADER_WORDS: usize = size_of::<picollo_core::Header>() / 8;

/// Cells, and two banks for the baseline of resets.
const WITH_BANKS: u64 = 3;

/// Bytes of the image of a dense histogram with so many words for each bucket.
fn dense_size(layout: &Layout, copies: u64) -> u64 {
    (size_of::<picollo_core::Header>() as u64 + 8 * copies * layout.length() as u64).next_multiple_of(64)
}

/// How often a word is read that changes in its upper half.
const RETRIES: usize = 64;

impl Viewer {
    /// What a counter is at.
    pub fn counter(&self, index: usize) -> Result<u64> {
        let (entry, place) = self.at(index)?;
        if entry.kind != SegmentKind::Counter {
            return Err(Error::new(Status::InvalidArgument, format_args!("{}: is no counter", entry.name)));
        }
        if place.mode == mode::STRIPED {
            const STRIDE: usize = format::STRIPES.1 / 8;
            let mut words = [0; format::STRIPES.0 * STRIDE];
            self.read_words(place.offset, &mut words)?;
            return Ok(words.iter().step_by(STRIDE).fold(0, |sum, word| sum.wrapping_add(*word)));
        }
        let mut word = [0];
        self.read_words(place.offset, &mut word)?;
        Ok(word[0])
    }

    /// The counts of a histogram, in a snapshot that can be [updated](Viewer::update).
    pub fn snapshot(&mut self, index: usize) -> Result<Box<Snapshot>> {
        let mut snapshot = None;
        self.with_histogram(index, |histogram| {
            let mut made = Snapshot::boxed(*histogram.layout())?;
            histogram.update(&mut made, Since::Reset)?;
            snapshot = Some(made);
            Ok(())
        })?;
        let mut snapshot = snapshot.ok_or(Error::from(Status::Corrupt))?;
        snapshot.set_timestamp_unix_nanos(crate::os::wall::unix_nanos());
        Ok(snapshot)
    }

    /// Takes the counts of a histogram anew: see [`Snapshot::update`]. Deltas go on as long as it is the same histogram, also where
    /// another viewer took the snapshot before.
    pub fn update(&mut self, index: usize, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        self.with_histogram(index, |histogram| histogram.update(snapshot, since))?;
        snapshot.set_timestamp_unix_nanos(crate::os::wall::unix_nanos());
        Ok(())
    }

    /// Copies the image of a histogram, and hands it out.
    fn with_histogram(
        &mut self,
        index: usize,
        use_it: impl FnOnce(&SharedHistogram) -> core::result::Result<(), CoreError>,
    ) -> Result<()> {
        let (entry, place) = self.at(index)?;
        let place = *place;
        if entry.kind != SegmentKind::Histogram {
            return Err(Error::new(Status::InvalidArgument, format_args!("{}: is no histogram", entry.name)));
        }
        let mut image = core::mem::take(&mut self.image);
        let copied = match place.mode {
            mode::PER_CPU => self.copy_shards(index, &place, &mut image),
            _ => self.copy(index, &place, &mut image).map(|()| place.size),
        };
        let result = copied.and_then(|size| {
            let memory = image.words().as_mut_ptr().cast::<u8>();
            // SAFETY: the copy is ours, and so long; what is in it is checked by `attach`. Nobody records.
            let histogram = unsafe { SharedHistogram::attach_unguarded(memory, size as usize) };
            // SAFETY: as above.
            let alone = unsafe { SingleWriterHistogram::attach(memory, size as usize) };
            let histogram = histogram.map_err(|error| self.broken(index, error))?;
            if alone.is_ok() != (place.mode == mode::SINGLE_WRITER)
                || histogram.counter_bits() != 64
                || ![1, WITH_BANKS].iter().any(|&copies| dense_size(histogram.layout(), copies) == size)
            {
                return Err(self.broken(index, CoreError::Corrupt));
            }
            use_it(&histogram).map_err(|error| self.broken(index, error))
        });
        self.image = image;
        result
    }

    /// Copies an image: the header with its tallies first, so that no wrap is told of before its cell shows it. Again where a reset has
    /// come between: then it may have written the baseline that was copied.
    fn copy(&self, index: usize, place: &Place, image: &mut Image) -> Result<()> {
        image.resize(place.size)?;
        let words = image.words();
        if words.len() * 8 != place.size as usize || words.len() < HEADER_WORDS {
            return Err(self.broken(index, CoreError::Corrupt));
        }
        for _ in 0..RETRIES {
            let (mut then, mut now) = ([0], [0]);
            self.read(place.offset + 8 * BaselineWord::AT as u64, &mut then)?;
            self.read_chunks(place.offset, words)?;
            self.read(place.offset + 8 * BaselineWord::AT as u64, &mut now)?;
            // As the reader of a baseline in memory does it.
            words[BaselineWord::AT] = then[0];
            if BaselineWord(then[0]).stands(BaselineWord(now[0])) {
                return Ok(());
            }
        }
        Err(self.broken(index, CoreError::Busy))
    }

    /// Copies the sums of all shards, as the image of an interlocked histogram. Returns its size.
    fn copy_shards(&self, index: usize, place: &Place, image: &mut Image) -> Result<u64> {
        let broken = |error| self.broken(index, error);
        if place.size <= PAGE {
            return Err(broken(CoreError::Corrupt));
        }
        image.resize(PerCpuImage::HEADER_SIZE as u64)?;
        let header = image.words();
        self.read_chunks(place.offset + PerCpuImage::HEADER as u64, header)?;
        let shape = PerCpuImage::of_copy(header).map_err(broken)?;
        let layout = PerCpuImage::make_dense(header).map_err(broken)?;
        if shape.size() as u64 != place.size {
            return Err(broken(CoreError::Corrupt));
        }
        let kept: [u64; HEADER_WORDS] = core::array::from_fn(|at| header[at]);
        let size = dense_size(&layout, 1);
        image.resize(size)?;
        let words = image.words();
        words[..HEADER_WORDS].copy_from_slice(&kept);
        let cells = &mut words[HEADER_WORDS..HEADER_WORDS + layout.length()];
        self.read_chunks(place.offset + shape.shared() as u64, cells)?;
        let (mut wraps, mut shard) = (0, [0; CHUNK]);
        for cpu in 0..shape.shards() {
            for (chunk, cells) in cells.chunks_mut(CHUNK).enumerate() {
                let shard = &mut shard[..cells.len()];
                self.read_words(place.offset + (shape.shard(cpu) + chunk * CHUNK * 8) as u64, shard)?;
                for (cell, count) in cells.iter_mut().zip(shard) {
                    let (sum, wrapped) = cell.overflowing_add(*count);
                    *cell = sum;
                    wraps += u64::from(wrapped);
                }
            }
        }
        words[PerCpuImage::WRAPS / 8] = words[PerCpuImage::WRAPS / 8].wrapping_add(wraps);
        Ok(size)
    }

    fn read_chunks(&self, offset: u64, words: &mut [u64]) -> Result<()> {
        for (chunk, words) in words.chunks_mut(CHUNK).enumerate() {
            self.read_words(offset + (chunk * CHUNK * 8) as u64, words)?;
        }
        Ok(())
    }

    /// Copies words that others add to. Twice, since it is not said that the kernel copies a word in one step: one that was caught
    /// between its halves has another upper half the next time.
    fn read_words(&self, offset: u64, words: &mut [u64]) -> Result<()> {
        let mut again = [0; CHUNK];
        let again = &mut again[..words.len()];
        self.read(offset, words)?;
        self.read(offset, again)?;
        for (at, (word, again)) in words.iter_mut().zip(again).enumerate() {
            let (mut before, mut now) = (*word, *again);
            for _ in 0..RETRIES {
                if before >> 32 == now >> 32 {
                    break;
                }
                before = now;
                self.read(offset + 8 * at as u64, core::slice::from_mut(&mut now))?;
            }
            if before >> 32 != now >> 32 {
                return Err(self.doubt((Status::Busy, "changes too fast to be read")));
            }
            *word = now;
        }
        Ok(())
    }

    /// What the core does not make of an image.
    fn broken(&self, index: usize, error: CoreError) -> Error {
        let (status, why) = match error {
            CoreError::OutOfMemory => (Status::OutOfMemory, "finds no memory here"),
            CoreError::Incompatible => {
                (Status::Incompatible, "has another layout than before, or is of another version")
            }
            CoreError::Unsupported => {
                (Status::Unsupported, "goes into no snapshot that was decoded, copied or made of a layout")
            }
            CoreError::Busy => (Status::Busy, "changes too fast to be read"),
            _ => (Status::Corrupt, "is no histogram that can lie in a segment"),
        };
        Error::new(status, format_args!("{}: {}", shown(self.path()), check::of_entry(index, why)))
    }
}
