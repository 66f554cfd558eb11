//! The rows of `picollo top`, for all selected segments.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use picollo_core::Snapshot;
use picollo_native::unix_nanos;

use super::row::{COARSE_BYTES, Row};
use crate::reader::{Open, Reader, Reading};

/// Memory for the distributions of the last minutes, for all rows together.
const MOST_COARSE: usize = 20 << 20;
const MOST_COLUMNS: usize = 300;
/// Maximum number of ended rows; the oldest are dropped.
pub(crate) const MOST_ENDED: usize = 200;

#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) reader: Reader,
    pub(crate) interval: Duration,
    /// Number of segments with the same name so far.
    names: HashMap<String, u32>,
    /// By permanent numbers, in order of appearance.
    pub(crate) rows: BTreeMap<u64, Row>,
    last_number: u64,
    /// Duration of the last interval; `None` before the first.
    pub(crate) seconds: Option<f64>,
    /// Error of the last reading, in a sentence.
    pub(crate) trouble: Option<String>,
}

impl Watch {
    pub(crate) fn new(reader: Reader, interval: Duration) -> Watch {
        Watch { reader, interval, ..Watch::default() }
    }

    /// Number of points in the line of the last minute.
    pub(crate) fn points(&self) -> usize {
        (60.0 / self.interval.as_secs_f64()).ceil().clamp(2.0, 600.0) as usize
    }

    pub(super) fn columns(&self) -> usize {
        (MOST_COARSE / (self.rows.len().max(1) * COARSE_BYTES)).clamp(10, MOST_COLUMNS)
    }

    /// Reads everything. The first reading covers everything from the beginning.
    pub(crate) fn read(&mut self) {
        self.reader.read();
        self.trouble = self.reader.troubles.first().cloned();
        self.seconds = Some(self.reader.interval.seconds).filter(|&seconds| seconds > 0.0);
        let (points, columns) = (self.points(), self.columns());
        let mut segments = std::mem::take(&mut self.reader.segments);
        for segment in &mut segments {
            self.take(segment, points, columns);
        }
        self.reader.segments = segments;
        self.forget();
    }

    fn take(&mut self, segment: &mut Open, points: usize, columns: usize) {
        if segment.label.is_empty() {
            let name = &segment.info.name;
            let number = self.names.entry(name.clone()).and_modify(|number| *number += 1).or_insert(1);
            segment.label = if *number == 1 { name.clone() } else { format!("{name}-{number}") };
        }
        let is_live = segment.info.is_live;
        for index in 0..segment.entries.len() {
            let entry = &mut segment.entries[index];
            if entry.is_read && entry.number == 0 && !entry.is_retired {
                self.last_number += 1;
                entry.number = self.last_number;
                let row = Row::new(&segment.label, segment.info.pid, entry.about.clone());
                self.rows.insert(entry.number, row);
            }
            if entry.is_retired {
                self.rows.remove(&entry.number);
            }
            let Some(row) = self.rows.get_mut(&entry.number) else { continue };
            if entry.is_read {
                row.is_since_start = entry.is_first;
                let length = match self.seconds {
                    Some(seconds) if !entry.is_first => seconds,
                    _ => unix_nanos().saturating_sub(entry.about.created_unix_nanos) as f64 / 1e9,
                };
                match &entry.reading {
                    Some(Reading::Counter { added, total }) => row.count(*added, *total, length),
                    Some(Reading::Histogram(snapshot)) => row.take(snapshot, length, points, columns),
                    None => {}
                }
            }
            if !is_live {
                let whole = if row.is_counter() { None } else { segment.since_start(index) };
                row.end(whole);
            }
        }
    }

    fn forget(&mut self) {
        let mut too_many = self.rows.values().filter(|row| !row.is_live).count().saturating_sub(MOST_ENDED);
        self.rows.retain(|_, row| {
            let is_forgotten = too_many > 0 && !row.is_live;
            too_many -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    /// Removes the ended rows from the screen.
    pub(crate) fn forget_ended(&mut self) {
        self.rows.retain(|_, row| row.is_live);
    }

    /// All records of an entry since its beginning, for its curve.
    pub(crate) fn since_start(&mut self, number: u64) -> Option<Box<Snapshot>> {
        let find = |open: &Open| open.entries.iter().position(|entry| entry.number == number);
        let (open, index) =
            self.reader.segments.iter_mut().find_map(|open| find(open).map(|at| (open, at)))?;
        open.since_start(index)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    use std::path::{Path, PathBuf};

    use picollo_core::Options;
    use picollo_core::counters::Metric;
    use picollo_segment::{Segment, SegmentOptions, Viewer};

    use super::*;
    use crate::places::Places;
    use crate::reader::Target;

    /// A separate directory with one segment to copy.
    struct Place {
        directory: PathBuf,
        bytes: Vec<u8>,
    }

    /// Offsets in docs/segment-format.md: the identity, the process and its start, and entries and objects.
    const IDENTITY: u64 = 40;
    const PID: u64 = 72;
    const START_TIME: u64 = 80;
    const OBJECTS: u64 = 4096 + 4096 * 1024;

    impl Place {
        fn new(name: &str) -> Place {
            let directory = PathBuf::from(format!("/dev/shm/picollo-watch-{name}-{}", std::process::id()));
            let elsewhere = directory.join("original");
            fs::create_dir_all(&directory).unwrap();
            let options = SegmentOptions {
                name: "original",
                directory: elsewhere.to_str().unwrap(),
                max_bytes: 6 << 20,
                interlocked: true,
                ..SegmentOptions::default()
            };
            let segment = Segment::create(&options).unwrap();
            let options = Options { relative_error: 0.1, ..Options::default() };
            let make = |name| segment.histogram(&Metric { name, unit: "ns", ..Metric::default() }, &options);
            make("first").unwrap().record(5);
            make("second").unwrap().record(7);
            Place { bytes: fs::read(segment.path()).unwrap(), directory }
        }

        /// A copy with a separate name and identity. It is live as long as the file is open.
        fn copy(&self, number: u32) -> (File, PathBuf) {
            let path = self.directory.join(format!("copied.{number}.1"));
            let file = File::create_new(&path).unwrap();
            file.set_len(self.bytes.len() as u64).unwrap();
            file.write_all_at(&self.bytes[..8192], 0).unwrap();
            let objects = OBJECTS as usize;
            file.write_all_at(&self.bytes[objects..objects + (64 << 10)], OBJECTS).unwrap();
            file.write_all_at(&number.to_ne_bytes(), IDENTITY).unwrap();
            file.write_all_at(&u32::MAX.to_ne_bytes(), PID).unwrap();
            file.write_all_at(&1u64.to_ne_bytes(), START_TIME).unwrap();
            let lock = libc::flock {
                l_type: libc::F_WRLCK as libc::c_short,
                l_whence: libc::SEEK_SET as libc::c_short,
                l_start: 0,
                l_len: 1,
                l_pid: 0,
            };
            // SAFETY: an open file, and a lock on the stack.
            assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) }, 0);
            (file, path)
        }

        fn watch(&self) -> Watch {
            let reader = Reader::new(Target::All, Places::in_directory(self.directory.clone()));
            Watch::new(reader, Duration::from_secs(1))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }

    /// Number of descriptors for files in a directory, including deleted ones. Other tests use other directories.
    fn descriptors(directory: &Path) -> usize {
        let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
        links
            .filter(|link| fs::read_link(link.path()).is_ok_and(|target| target.starts_with(directory)))
            .count()
    }

    #[test]
    fn segments_that_end_cost_nothing() {
        let place = Place::new("many");
        let mut watch = place.watch();
        for number in 1..=2000 {
            let (file, path) = place.copy(number);
            watch.read();
            assert_eq!(watch.rows.values().filter(|row| row.is_live).count(), 2, "{:?}", watch.trouble);
            // Every other one ends while its file exists, and the file stays.
            drop(file);
            if number % 2 == 0 {
                watch.read();
                assert!(watch.rows.values().all(|row| !row.is_live));
                // This keeps the directory small.
                if number > 100 {
                    fs::remove_file(path).unwrap();
                }
            } else {
                fs::remove_file(path).unwrap();
                watch.read();
            }
            assert!(watch.rows.len() <= MOST_ENDED + 2);
            watch.read();
            // Only the original, which this process has mapped.
            let held = descriptors(&place.directory) - descriptors(&place.directory.join("original"));
            assert_eq!(held, 0, "{number}");
        }
        assert_eq!(watch.reader.segments.len(), 0);
        assert!(watch.reader.passed() <= 50, "{}", watch.reader.passed());
    }

    /// A segment is opened once, not for each reading, and reading continues even without its name.
    #[test]
    fn a_segment_is_opened_once() {
        let place = Place::new("once");
        let mut watch = place.watch();
        let (file, path) = place.copy(1);
        watch.read();
        fs::remove_file(path).unwrap();
        let live = |watch: &Watch| watch.rows.iter().filter(|(_, row)| row.is_live).count();
        for _ in 0..3 {
            watch.read();
            assert_eq!(live(&watch), 2, "{:?}", watch.trouble);
        }
        drop(file);
        watch.read();
        assert_eq!(live(&watch), 0);
    }

    #[test]
    fn an_entry_that_cannot_be_read_ends_nothing() {
        let place = Place::new("broken");
        let mut watch = place.watch();
        let (file, path) = place.copy(1);
        let mut viewer = Viewer::open(&path).unwrap();
        assert_eq!(viewer.snapshot(0).unwrap().counts().total, 1);
        // The header of the first histogram.
        file.write_all_at(&[0xff; 64], OBJECTS).unwrap();
        assert!(viewer.snapshot(0).is_err());
        watch.read();
        watch.read();
        let rows = |watch: &Watch| -> Vec<(String, bool, u64)> {
            watch.rows.values().map(|row| (row.entry.name.clone(), row.is_live, row.total)).collect()
        };
        assert_eq!(rows(&watch), [("second".to_owned(), true, 1)]);
        assert!(watch.trouble.as_ref().unwrap().contains("copied.1.1"), "{:?}", watch.trouble);
        // After repair, it is readable again.
        let at = OBJECTS as usize;
        file.write_all_at(&place.bytes[at..at + 64], OBJECTS).unwrap();
        watch.read();
        assert_eq!(rows(&watch), [("second".to_owned(), true, 1), ("first".to_owned(), true, 1)]);
        assert_eq!(watch.trouble, None);
        // A truncated file is tried again. Once it is gone, the segment has ended.
        file.set_len(4096).unwrap();
        watch.read();
        assert!(watch.trouble.is_some() && watch.rows.values().all(|row| row.is_live));
        fs::remove_file(&path).unwrap();
        watch.read();
        assert!(watch.rows.values().all(|row| !row.is_live), "{:?}", rows(&watch));
    }
}
