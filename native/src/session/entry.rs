//! An event of a session.

use picollo_core::SharedWriter;

use crate::event::event::Event;
use crate::event::info::EventInfo;
use crate::opening::substitute::Substitute;
use crate::session::overhead::Overhead;

/// What belongs to one event and is not needed to read it.
pub(crate) struct Entry {
    pub event: Event,
    pub info: EventInfo,
    pub substitute: Option<Substitute>,
    /// The session alone records into it.
    pub histogram: SharedWriter,
    /// Where more of it is counted, on other kinds of core: one bit for each slot.
    pub parts: u64,
    /// One counter sees it wherever the target runs: not one of several parts, nor the only one that could be had.
    pub everywhere: bool,
    pub overhead_fast: Overhead,
    pub overhead_syscall: Overhead,
}
