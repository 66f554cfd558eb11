//! Events on platforms where nothing can be counted.

use crate::event::event::Event;
use crate::machine::perf_info::PerfInfo;
use crate::session::session::refusal;
use picollo_native::Result;
use picollo_native::seam::text;

impl Event {
    /// Returns `Unsupported`: events are the Linux kernel's.
    pub fn parse(_: &str) -> Result<Event> {
        Err(refusal())
    }
}

/// Reports that nothing can be counted, and why.
pub fn probe() -> PerfInfo {
    let mut info = PerfInfo::NOTHING;
    text::set(&mut info.explanation, format_args!("{}", refusal().message()));
    info
}
