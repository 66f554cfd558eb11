//! Sessions where nothing can be counted: not on Linux, or in a build without `std`. Everything returns `Unsupported`.

use picollo_core::SingleWriterHistogram;

use crate::event::event::Event;
use crate::event::info::EventInfo;
use crate::session::options::{ReadMode, SessionOptions};
use crate::session::reading::Reading;
use picollo_native::seam::failure;
use picollo_native::{ExplainedError, Result};

/// The error that explains what is missing.
pub(crate) fn refusal() -> ExplainedError {
    let why = if cfg!(feature = "std") {
        "performance counters are read on Linux only; histograms work here"
    } else {
        "this build has no operating system to count with; histograms work here"
    };
    failure!(Unsupported, "{why}")
}

/// Events opened for one target. They need Linux, so none can be created here.
pub struct Session {
    _none: (),
}

impl Session {
    picollo_native::seam::refused! {
        pub fn create(_: &SessionOptions, _: &[Event]) -> Result<Session>;
        pub fn length(&self) -> Result<usize>;
        pub fn event(&self, _: usize) -> Result<Event>;
        pub fn event_info(&self, _: usize) -> Result<EventInfo>;
        pub fn histogram(&self, _: usize) -> Result<SingleWriterHistogram>;
        pub fn enable(&mut self) -> Result<()>;
        pub fn disable(&mut self) -> Result<()>;
        pub fn calibrate(&mut self) -> Result<()>;
        pub fn read(&mut self, _: ReadMode) -> Result<()>;
        pub fn record(&mut self, _: bool) -> Result<()>;
        pub fn readings(&self, _: bool, _: &mut [Reading]) -> Result<()>;
        pub fn reset(&mut self) -> Result<()>;
    }

    /// Always false: nothing was read.
    pub fn read_unmoved(&mut self) -> bool {
        false
    }
}
