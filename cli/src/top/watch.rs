//! Reads all segments that are asked for, again and again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use picollo_core::Since;
use picollo_native::{Error, SegmentInfo, SegmentKind, Viewer};

use super::history::Coarse;
use super::row::Row;
use crate::failure::Failure;
use crate::now_unix_nanos;
use crate::places::Places;
use crate::serve::Processes;

/// Memory for distributions of the last minutes, of all rows together.
const COARSE_BYTES: usize = 20 << 20;
const MOST_COLUMNS: usize = 300;
/// More that ended are forgotten, the oldest first.
const MOST_ENDED: usize = 1000;

/// Which segments.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    All,
    Path(PathBuf),
    /// A process, a segment's name, or a program.
    Named(String),
}

impl Target {
    pub(crate) fn of(text: Option<&str>) -> Target {
        match text {
            None => Target::All,
            Some(path) if path.contains('/') => Target::Path(path.into()),
            Some(name) => Target::Named(name.into()),
        }
    }

    fn is(&self, info: &SegmentInfo) -> bool {
        match self {
            Target::Named(name) => {
                name.parse() == Ok(info.pid) || *name == info.name || *name == info.program
            }
            _ => true,
        }
    }
}

/// A segment that is looked at.
struct Seen {
    viewer: Viewer,
    identity: [u64; 2],
    label: String,
    pid: u32,
    is_live: bool,
    /// For each entry its row's number.
    rows: Vec<u64>,
}

pub(crate) struct Watch {
    target: Target,
    places: Places,
    pub(crate) interval: Duration,
    processes: Processes,
    seen: Vec<Seen>,
    /// In the order in which they came, each with a number that stays.
    pub(crate) rows: Vec<(u64, Row)>,
    last_number: u64,
    read_at: Option<Instant>,
    /// How long the last interval was; none before there is one.
    pub(crate) seconds: Option<f64>,
    /// What could not be read the last time, in a sentence.
    pub(crate) trouble: Option<String>,
    looked_at: Option<Instant>,
}

impl Watch {
    pub(crate) fn new(target: Target, places: Places, interval: Duration) -> Watch {
        Watch {
            target,
            places,
            interval,
            processes: Processes::default(),
            seen: Vec::new(),
            rows: Vec::new(),
            last_number: 0,
            read_at: None,
            seconds: None,
            trouble: None,
            looked_at: None,
        }
    }

    /// Whether anything was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// How many points the line of the last minute has.
    pub(crate) fn points(&self) -> usize {
        (60.0 / self.interval.as_secs_f64()).ceil().clamp(2.0, 600.0) as usize
    }

    fn columns(&self) -> usize {
        (COARSE_BYTES / (self.rows.len().max(1) * Coarse::MOST_BYTES)).clamp(10, MOST_COLUMNS)
    }

    /// Looks for segments that are new.
    fn look(&mut self) -> Result<(), Failure> {
        // All directories of a machine are many.
        let patience = if self.places.are_others() { Duration::from_secs(5) } else { Duration::ZERO };
        if self.looked_at.is_some_and(|before| before.elapsed() < patience) {
            return Ok(());
        }
        self.looked_at = Some(Instant::now());
        let mut found = Vec::new();
        if let Target::Path(path) = &self.target {
            if self.seen.is_empty() {
                let viewer = Viewer::open(path).map_err(|error| error.message().to_owned())?;
                let info = viewer.info().map_err(|error| error.message().to_owned())?;
                found.push((viewer, info));
            }
        } else {
            for listed in self.places.list()? {
                match listed.info {
                    Ok(info) if !self.target.is(&info) => {}
                    Ok(info) if self.seen.iter().any(|seen| seen.identity == info.identity) => {}
                    Ok(_) => match Viewer::open(&listed.path).and_then(|viewer| Ok((viewer.info()?, viewer)))
                    {
                        Ok((info, viewer)) => found.push((viewer, info)),
                        Err(error) => self.trouble = Some(error.message().to_owned()),
                    },
                    Err(error) => self.trouble = Some(error.message().to_owned()),
                }
            }
        }
        found.sort_by_key(|(_, info)| info.created_unix_nanos);
        for (viewer, info) in found {
            let label = self.processes.label_of_segment(&info);
            self.seen.push(Seen {
                viewer,
                identity: info.identity,
                label,
                pid: info.pid,
                is_live: true,
                rows: Vec::new(),
            });
        }
        Ok(())
    }

    /// Reads everything. The first time counts are since the beginning of each.
    pub(crate) fn read(&mut self) -> Result<(), Failure> {
        self.trouble = None;
        let looked = self.look();
        let now = Instant::now();
        self.seconds = self.read_at.map(|before| (now - before).as_secs_f64());
        self.read_at = Some(now);
        let (points, columns, seconds) = (self.points(), self.columns(), self.seconds);
        let mut seen = std::mem::take(&mut self.seen);
        for segment in &mut seen {
            if segment.is_live
                && let Err(error) = self.read_segment(segment, seconds, points, columns)
            {
                // Cut off, or replaced under us: what was read stays on the screen.
                self.trouble = Some(error.message().to_owned());
                self.end(segment);
            }
        }
        self.seen = seen;
        self.forget();
        looked
    }

    fn read_segment(
        &mut self,
        segment: &mut Seen,
        seconds: Option<f64>,
        points: usize,
        columns: usize,
    ) -> Result<(), Error> {
        segment.viewer.refresh()?;
        // Before the counts: what was recorded until the end is read then.
        let is_live = segment.viewer.info()?.is_live;
        while segment.rows.len() < segment.viewer.length() {
            let entry = segment.viewer.entry(segment.rows.len())?.clone();
            self.last_number += 1;
            segment.rows.push(self.last_number);
            self.rows.push((self.last_number, Row::new(&segment.label, segment.pid, entry)));
        }
        for (index, number) in segment.rows.iter().enumerate() {
            if segment.viewer.entry(index)?.is_retired {
                self.rows.retain(|(known, _)| known != number);
            }
            // Rows are in the order of their numbers.
            let Ok(at) = self.rows.binary_search_by_key(number, |(number, _)| *number) else { continue };
            let row = &mut self.rows[at].1;
            let is_first = row.snapshot.is_none() && row.total == 0 && row.is_since_start;
            let length = match seconds {
                Some(seconds) if !is_first => seconds,
                _ => now_unix_nanos().saturating_sub(row.entry.created_unix_nanos) as f64 / 1e9,
            };
            row.is_since_start = is_first;
            if row.entry.kind == SegmentKind::Counter {
                let value = segment.viewer.counter(index)?;
                row.count(value, length);
                // A counter at zero has been seen, too.
                row.is_since_start &= seconds.is_none();
            } else {
                match &mut row.snapshot {
                    Some(snapshot) => segment.viewer.update(index, snapshot, Since::PreviousUpdate)?,
                    None => row.snapshot = Some(segment.viewer.snapshot(index)?),
                }
                row.take(length, points, columns);
            }
        }
        if !is_live {
            self.end(segment);
        }
        Ok(())
    }

    fn end(&mut self, segment: &mut Seen) {
        segment.is_live = false;
        for (_, row) in self.rows.iter_mut().filter(|(number, _)| segment.rows.contains(number)) {
            row.end();
        }
    }

    fn forget(&mut self) {
        let mut too_many =
            self.rows.iter().filter(|(_, row)| !row.is_live).count().saturating_sub(MOST_ENDED);
        self.rows.retain(|(_, row)| {
            let is_forgotten = too_many > 0 && !row.is_live;
            too_many -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    /// Takes those that ended off the screen.
    pub(crate) fn forget_ended(&mut self) {
        self.rows.retain(|(_, row)| row.is_live);
    }

    /// Everything since the beginning of one, for its curve; of one that ended too, as long as its file is open here.
    pub(crate) fn since_start(&mut self, number: u64) -> Option<Box<picollo_core::Snapshot>> {
        let segment = self.seen.iter_mut().find(|segment| segment.rows.contains(&number))?;
        let index = segment.rows.iter().position(|row| *row == number)?;
        segment.viewer.snapshot(index).ok()
    }
}
