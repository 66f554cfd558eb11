//! How calls fail internally.

use picollo_native::Status;

use crate::status::{PICOLLO_END, picollo_status};

/// A failed call on its way to its status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure(picollo_status);

impl Failure {
    pub const NULL_POINTER: Failure = Failure(Status::NullPointer.code());
    pub const INVALID_ARGUMENT: Failure = Failure(Status::InvalidArgument.code());
    pub const OUT_OF_MEMORY: Failure = Failure(Status::OutOfMemory.code());
    pub const BUFFER_TOO_SMALL: Failure = Failure(Status::BufferTooSmall.code());
    /// Not an error, but it takes the path of one: nothing is left to deliver.
    pub const END: Failure = Failure(PICOLLO_END);
    pub const UNSUPPORTED: Failure = Failure(Status::Unsupported.code());
    pub const FORKED: Failure = Failure(Status::Forked.code());

    pub const fn status(self) -> picollo_status {
        self.0
    }
}

impl From<picollo_core::Error> for Failure {
    fn from(error: picollo_core::Error) -> Failure {
        Failure(Status::from(error).code())
    }
}

impl From<picollo_native::ExplainedError> for Failure {
    fn from(error: picollo_native::ExplainedError) -> Failure {
        Failure(error.status().code())
    }
}

impl From<Failure> for picollo_native::ExplainedError {
    fn from(failure: Failure) -> Self {
        Status::from_code(failure.0).unwrap_or(Status::Unsupported).into()
    }
}

/// The result of a call.
pub type Outcome<T = ()> = Result<T, Failure>;
