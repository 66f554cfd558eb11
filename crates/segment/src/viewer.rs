//! Reads segments: it copies parts of the file into its own memory and checks everything before use.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use picollo_core::seam::{BaselineWord, PerCpuImage};
use picollo_core::{Error, Layout, SharedHistogram, Since, SingleWriterHistogram, Snapshot};

use super::check::{self, Image, Shape};
use super::description::{SegmentEntry, SegmentInfo, SegmentKind};
use super::directory;
use super::file::{self, printable};
use super::format::{
    self, Body, ENTRY_SIZE, HEADER_SIZE, Header, LIFE_BYTE, Names, PAGE, Slot, mode, state, structure,
};
use picollo_native::seam::failure;
use picollo_native::{ExplainedError, Result, Status};

/// Where an entry lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Position in the directory.
    index: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
}

/// Reads a segment from outside. It never writes to the segment, and copes with any contents, even while they change.
pub struct Viewer {
    file: File,
    path: PathBuf,
    shape: Shape,
    entries: Vec<(SegmentEntry, Place)>,
    /// Number of leading directory entries that are final and need no second look.
    seen: usize,
    /// Memory for copies, reused by the next one.
    pub(super) image: Image,
    faults: Vec<String>,
}

impl Viewer {
    /// Opens a segment and reads its directory.
    ///
    /// Errors: `Permission` if the file belongs to another user and the caller is not root; `Corrupt` and
    /// `Incompatible` if it is not a segment, or has another version; `Unsupported` on file systems that may block;
    /// `Os`. Each error names the file and the reason.
    pub fn open(path: &Path) -> Result<Viewer> {
        let file = file::open(path, false).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => {
                failure!(Permission, "{}: is a link; links are not followed", printable(path))
            }
            _ => file::error(path, "cannot be opened", error),
        })?;
        let mut viewer = Viewer {
            file,
            path: path.into(),
            shape: Shape { capacity: 0, max_entries: 0, entries: 0 },
            entries: Vec::new(),
            seen: 0,
            image: Image::default(),
            faults: Vec::new(),
        };
        let data = viewer.data()?;
        if !data.is_file() {
            return Err(viewer.error((Status::Permission, "is no regular file")));
        }
        if data.uid() != directory::user() && directory::user() != 0 {
            return Err(viewer.error((Status::Permission, "belongs to another user")));
        }
        if !file::file_system(&viewer.file).is_ok_and(|kind| file::LOCAL.contains(&kind)) {
            let why = "lies on a file system that may keep readers waiting; copy it to a local one";
            return Err(viewer.error((Status::Unsupported, why)));
        }
        viewer.refresh()?;
        Ok(viewer)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks for new entries.
    pub fn refresh(&mut self) -> Result<()> {
        let (_, shape) = self.header(&self.data()?)?;
        if self.shape.capacity != 0
            && (shape.capacity, shape.max_entries) != (self.shape.capacity, self.shape.max_entries)
        {
            return Err(self.error((Status::Corrupt, "has changed its size")));
        }
        self.shape = shape;
        for at in 0..self.entries.len() {
            let (entry, place) = &self.entries[at];
            if !entry.is_retired && self.read_slot(place.index)?.state.into_inner() == state::FREED {
                self.entries[at].0.is_retired = true;
            }
        }
        let mut all_final = true;
        for index in self.seen..shape.entries as usize {
            let slot = self.read_slot(index)?;
            let is_known =
                |entries: &[(SegmentEntry, Place)]| entries.iter().any(|(_, place)| place.index == index);
            let is_final = match slot.state.into_inner() {
                // If an earlier entry is not final yet, all later ones are read again.
                state::PUBLISHED if is_known(&self.entries) => true,
                state::PUBLISHED => {
                    // Everything written before publication is visible after the state was read.
                    match self.decode(index, &self.read_slot(index)?.body) {
                        Ok(entry) => {
                            self.entries
                                .try_reserve(1)
                                .map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
                            self.entries.push(entry);
                        }
                        Err(why) => self.add_fault(index, why)?,
                    }
                    true
                }
                state::FREED => true,
                state::EMPTY | state::BUILDING => false,
                _ => {
                    self.add_fault(index, "is in a state that this version does not know")?;
                    true
                }
            };
            all_final &= is_final;
            if all_final {
                self.seen = index + 1;
            }
        }
        Ok(())
    }

    /// Records once why an entry is left out.
    fn add_fault(&mut self, index: usize, why: &str) -> Result<()> {
        let fault = format!("{}: {}", printable(&self.path), check::entry_message(index, why));
        if !self.faults.contains(&fault) {
            self.faults.try_reserve(1).map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
            self.faults.push(fault);
        }
        Ok(())
    }

    /// The current description of the segment.
    pub fn info(&self) -> Result<SegmentInfo> {
        let data = self.data()?;
        let (header, _) = self.header(&data)?;
        let is_locked = file::is_locked(&self.file, LIFE_BYTE)
            .map_err(|error| file::error(&self.path, "cannot be asked for locks", error))?;
        Ok(SegmentInfo {
            name: format::read_field(&header.name),
            program: format::read_field(&header.program),
            pid: header.pid,
            start_time: header.start_time,
            boot_id: format::read_field(&header.boot_id),
            created_unix_nanos: header.created_unix_nanos,
            identity: header.identity,
            entries: self.entries.len(),
            memory: data.blocks().saturating_mul(512),
            capacity: self.shape.capacity,
            is_live: is_locked || header.is_by_the_living(),
            refused: header.refused.into_inner().into(),
        })
    }

    /// The entries in order of appearance. Their positions do not change.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &SegmentEntry> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// The entries that are left out because they are invalid or of another version, with the reason.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Number of entries.
    pub fn length(&self) -> usize {
        self.entries.len()
    }

    /// The entry at a position.
    pub fn entry(&self, index: usize) -> Result<&SegmentEntry> {
        self.at(index).map(|(entry, _)| entry)
    }

    pub(super) fn read(&self, offset: u64, words: &mut [u64]) -> Result<()> {
        // SAFETY: words are bytes, and any bytes are words.
        let bytes =
            unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), size_of_val(words)) };
        self.read_bytes(offset, bytes)
    }

    fn read_slot(&self, index: usize) -> Result<Slot> {
        let mut bytes = [0; ENTRY_SIZE as usize];
        self.read_bytes(u64::from(HEADER_SIZE) + index as u64 * u64::from(ENTRY_SIZE), &mut bytes)?;
        Ok(structure(&bytes))
    }

    fn read_bytes(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        match file::read_at(&self.file, bytes, offset) {
            Ok(length) if length == bytes.len() => Ok(()),
            Ok(_) => Err(self.error((Status::Corrupt, "is cut off"))),
            Err(error) => Err(file::error(&self.path, "cannot be read", error)),
        }
    }

    /// Reads the header of the file with this metadata, and what depends on it.
    fn header(&self, data: &Metadata) -> Result<(Header, Shape)> {
        let header = check::header(&self.file);
        let header = header.map_err(|error| file::error(&self.path, "cannot be read", error))?;
        let shape = Shape::from_header(&header, data.len()).map_err(|doubt| self.error(doubt))?;
        Ok((header.0, shape))
    }

    fn data(&self) -> Result<Metadata> {
        self.file.metadata().map_err(|error| file::error(&self.path, "cannot be examined", error))
    }

    /// Decodes an entry, or returns why it is invalid.
    fn decode(&self, index: usize, body: &Body) -> core::result::Result<(SegmentEntry, Place), &'static str> {
        let kind = check::place(body, &self.shape)?;
        let Names { name, unit, help, labels } = format::unpack(body)?;
        if self.entries.iter().any(|(_, place)| place.offset == body.offset) {
            return Err("lies where another does");
        }
        let entry = SegmentEntry {
            kind,
            name,
            unit,
            help,
            labels,
            divisor: body.divisor,
            created_unix_nanos: body.created_unix_nanos,
            bytes: body.size,
            writer: (body.mode == mode::SINGLE_WRITER).then_some(body.owner_pid),
            is_retired: false,
        };
        Ok((entry, Place { index, offset: body.offset, size: body.size, mode: body.mode }))
    }

    pub(super) fn at(&self, index: usize) -> Result<&(SegmentEntry, Place)> {
        self.entries.get(index).ok_or_else(|| {
            failure!(InvalidArgument, "{}: has {} entries", printable(&self.path), self.entries.len())
        })
    }

    pub(super) fn error(&self, (status, why): check::Doubt) -> ExplainedError {
        ExplainedError::new(status, format_args!("{}: {why}", printable(&self.path)))
    }
}

impl core::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Viewer")
            .field("path", &self.path)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// Words that are read at a time.
const CHUNK: usize = 1024;
/// Words in the header of a histogram.
const HEADER_WORDS: usize = size_of::<picollo_core::layouts::Header>() / 8;

/// The cells, and two banks for the baseline of resets.
const WITH_BANKS: u64 = 3;

/// Bytes in the image of a dense histogram with this many words per bucket.
fn dense_size(layout: &Layout, copies: u64) -> u64 {
    (size_of::<picollo_core::layouts::Header>() as u64 + 8 * copies * layout.length() as u64)
        .next_multiple_of(64)
}

/// How often a word is read again if its upper half changes.
const RETRIES: usize = 64;

impl Viewer {
    /// Value of a counter.
    pub fn counter(&self, index: usize) -> Result<u64> {
        let (entry, place) = self.at(index)?;
        if entry.kind != SegmentKind::Counter {
            return Err(failure!(InvalidArgument, "{}: is no counter", entry.name));
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
        let mut snapshot = snapshot.ok_or(ExplainedError::from(Status::Corrupt))?;
        snapshot.set_timestamp_unix_nanos(picollo_native::unix_nanos());
        Ok(snapshot)
    }

    /// Updates the counts of a histogram: see [`Snapshot::update`]. Deltas continue as long as it is the same
    /// histogram, even if another viewer took the snapshot before.
    pub fn update(&mut self, index: usize, snapshot: &mut Snapshot, since: Since) -> Result<()> {
        self.with_histogram(index, |histogram| histogram.update(snapshot, since))?;
        snapshot.set_timestamp_unix_nanos(picollo_native::unix_nanos());
        Ok(())
    }

    /// Copies the image of a histogram and passes it to a function.
    fn with_histogram(
        &mut self,
        index: usize,
        use_it: impl FnOnce(&SharedHistogram) -> core::result::Result<(), Error>,
    ) -> Result<()> {
        let (entry, place) = self.at(index)?;
        let place = *place;
        if entry.kind != SegmentKind::Histogram {
            return Err(failure!(InvalidArgument, "{}: is no histogram", entry.name));
        }
        let mut image = core::mem::take(&mut self.image);
        let copied = match place.mode {
            mode::PER_CPU => self.copy_shards(index, &place, &mut image),
            _ => self.copy(index, &place, &mut image).map(|()| place.size),
        };
        let result = copied.and_then(|size| {
            let memory = image.words().as_mut_ptr().cast::<u8>();
            // SAFETY: the copy is this viewer's and has this size; `attach` checks its contents. Nobody records into
            // it.
            let histogram = unsafe { SharedHistogram::attach_unguarded(memory, size as usize) };
            // SAFETY: as above.
            let alone = unsafe { SingleWriterHistogram::attach(memory, size as usize) };
            let histogram = histogram.map_err(|error| self.broken(index, error))?;
            if alone.is_ok() != (place.mode == mode::SINGLE_WRITER)
                || histogram.counter_bits() != 64
                || ![1, WITH_BANKS].iter().any(|&copies| dense_size(histogram.layout(), copies) == size)
            {
                return Err(self.broken(index, Error::Corrupt));
            }
            use_it(&histogram).map_err(|error| self.broken(index, error))
        });
        self.image = image;
        result
    }

    /// Copies an image. It reads the header with its tallies first, so that no wrap is reported before its cell shows
    /// it. It starts again after a concurrent reset, which may have written the baseline during the copy.
    fn copy(&self, index: usize, place: &Place, image: &mut Image) -> Result<()> {
        image.resize(place.size)?;
        let words = image.words();
        if words.len() * 8 != place.size as usize || words.len() < HEADER_WORDS {
            return Err(self.broken(index, Error::Corrupt));
        }
        for _ in 0..RETRIES {
            let (mut then, mut now) = ([0], [0]);
            self.read(place.offset + 8 * BaselineWord::AT as u64, &mut then)?;
            self.read_chunks(place.offset, words)?;
            self.read(place.offset + 8 * BaselineWord::AT as u64, &mut now)?;
            // The reader of a baseline in memory does the same.
            words[BaselineWord::AT] = then[0];
            if BaselineWord(then[0]).stands(BaselineWord(now[0])) {
                return Ok(());
            }
        }
        Err(self.broken(index, Error::Busy))
    }

    /// Copies the sums of all shards as the image of an interlocked histogram. Returns its size.
    fn copy_shards(&self, index: usize, place: &Place, image: &mut Image) -> Result<u64> {
        let broken = |error| self.broken(index, error);
        if place.size <= PAGE {
            return Err(broken(Error::Corrupt));
        }
        image.resize(PerCpuImage::HEADER_SIZE as u64)?;
        let header = image.words();
        self.read_chunks(place.offset + PerCpuImage::HEADER as u64, header)?;
        let shape = PerCpuImage::from_copy(header).map_err(broken)?;
        let layout = PerCpuImage::make_dense(header).map_err(broken)?;
        if shape.size() as u64 != place.size {
            return Err(broken(Error::Corrupt));
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

    /// Copies words that others add to. It reads them twice because the kernel does not guarantee to copy a word in one
    /// step. If a copy split a word, the second read shows another upper half.
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
                return Err(self.error((Status::Busy, "changes too fast to be read")));
            }
            *word = now;
        }
        Ok(())
    }

    /// The error for an image that the core rejects.
    fn broken(&self, index: usize, error: Error) -> ExplainedError {
        let (status, why) = match error {
            Error::OutOfMemory => (Status::OutOfMemory, "finds no memory here"),
            Error::Incompatible => {
                (Status::Incompatible, "has another layout than before, or is of another version")
            }
            Error::Unsupported => {
                (Status::Unsupported, "goes into no snapshot that was decoded, copied or made of a layout")
            }
            Error::Busy => (Status::Busy, "changes too fast to be read"),
            _ => (Status::Corrupt, "is no histogram that can lie in a segment"),
        };
        ExplainedError::new(
            status,
            format_args!("{}: {}", printable(self.path()), check::entry_message(index, why)),
        )
    }
}
