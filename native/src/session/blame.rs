//! Which of a session's events an error is about.

use crate::base::error::Error;
use crate::machine::diagnose::Refusal;
use crate::machine::target::Target;
use crate::opening::group::Refused;
use crate::session::session::Session;
use crate::user_read::sys::Sys;

impl<S: Sys> Session<S> {
    /// The event that a slot belongs to, if any.
    pub(crate) fn owner(&self, slot: usize) -> Option<usize> {
        if slot < self.entries.len() {
            return Some(slot);
        }
        self.entries.iter().position(|entry| entry.parts >> slot & 1 != 0)
    }

    /// The name of the event that a slot belongs to.
    pub(crate) fn name_of(&self, slot: usize) -> &str {
        self.owner(slot).map_or("a part of an event", |position| self.entries[position].event.name())
    }

    /// The error with the event that a slot belongs to; without one where it is nobody's.
    pub(crate) fn blame(&self, slot: usize, error: Error) -> Error {
        match self.owner(slot) {
            Some(position) => error.with_event(position),
            None => error,
        }
    }

    /// Explains a refusal that came later than the opening.
    pub(crate) fn refused_later(&self, slot: usize, (errno, attr): Refused) -> Error {
        // What has ended has a number, even if it was not asked for by it.
        let pid = if errno.0 == libc::ESRCH { self.whom.pid } else { self.target.pid };
        let target = Target { pid, ..self.target };
        let refusal = Refusal { name: self.name_of(slot), attr: &attr, target, errno };
        self.blame(slot, refusal.explain(&self.opened.sys))
    }
}

#[cfg(test)]
mod tests {
    use crate::base::error::{Error, Status};
    use crate::event::event::Event;
    use crate::session::options::SessionOptions;
    use crate::session::session::Session;

    #[test]
    fn what_is_nobodys_is_nobodys_fault() {
        let event = Event::parse("task-clock").unwrap();
        let session = match Session::create(&SessionOptions::default(), &[event, event]) {
            Ok(session) => session,
            Err(error) => return eprintln!("SKIPPED: no events at all: {error}"),
        };
        let about = |slot| session.blame(slot, Error::from(Status::Os)).event_index();
        assert_eq!((about(0), about(1)), (0, 1));
        // Neither an event nor a part of one.
        assert_eq!((session.owner(2), about(2)), (None, -1));
        assert_eq!(session.name_of(2), "a part of an event");
    }
}
