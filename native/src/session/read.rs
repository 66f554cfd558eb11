//! Taking a reading: the path that everything else is measured by. No allocation, no lock, no print on it.

use crate::base::error::{Error, Result, Status};
use crate::opening::group::{Sample, positions};
use crate::os::thread;
use crate::session::options::ReadMode;
use crate::session::reading::{READING_CLEAN, READING_FAST, READING_TIMES_STALE};
use crate::session::samples::Samples;
use crate::session::session::Session;
use crate::user_read::sys::Sys;

impl<S: Sys> Session<S> {
    /// Takes a reading of all events: all of them, or an error, which changes nothing.
    pub fn read(&mut self, how: ReadMode) -> Result<()> {
        if how == ReadMode::Auto && self.read_unmoved() {
            return Ok(());
        }
        self.read_slowly(how)
    }

    /// Takes a reading in user space, if that is allowed and nothing has moved since the last reading: the usual case of
    /// [`ReadMode::Auto`], and all of its hot path. False changes nothing: [`Session::read`] then does what is to be done, or says
    /// why not.
    #[inline]
    pub fn read_unmoved(&mut self) -> bool {
        if !self.fast.complete || !self.is_opener() || thread::process() != self.process {
            return false;
        }
        let source = self.opened.sys.source();
        if !self.fast.groups.iter_mut().flatten().all(|pmcs| pmcs.read_unmoved(&source)) {
            return false;
        }
        for (pmcs, group) in self.fast.groups.iter().zip(&self.opened.groups) {
            let Some(pmcs) = pmcs else { continue };
            let (enabled, running) = pmcs.times();
            let stale = if pmcs.times_stale() { READING_TIMES_STALE } else { 0 };
            for (value, position) in pmcs.values().zip(positions(group.members)) {
                let sample = Sample { value, enabled, running };
                self.tally.advance_one(position, sample, READING_FAST | READING_CLEAN | stale);
            }
        }
        self.tally.end_reading();
        true
    }

    #[cold]
    fn read_slowly(&mut self, how: ReadMode) -> Result<()> {
        self.check()?;
        if how == ReadMode::Auto && !self.is_opener() {
            let why = format_args!(
                "only the thread that opened the session may read it in this mode; other threads can read it by system call"
            );
            return Err(Error::new(Status::WrongThread, why));
        }
        let mut samples = Samples::new();
        match how {
            ReadMode::Auto => self.sample_fast_or_learn(&mut samples)?,
            ReadMode::Syscall => self.sample_all(&mut samples)?,
        }
        self.tally.advance(&samples);
        if samples.pushed_off != 0 {
            self.bring_back(samples.pushed_off);
        }
        Ok(())
    }
}
