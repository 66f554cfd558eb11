//! How calls fail, inside.

use crate::status::*;

/// A failed call on its way to its status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure(picollo_status);

impl Failure {
    pub const NULL_POINTER: Failure = Failure(PICOLLO_ERR_NULL_POINTER);
    pub const INVALID_ARGUMENT: Failure = Failure(PICOLLO_ERR_INVALID_ARGUMENT);
    pub const OUT_OF_MEMORY: Failure = Failure(PICOLLO_ERR_OUT_OF_MEMORY);
    pub const BUFFER_TOO_SMALL: Failure = Failure(PICOLLO_ERR_BUFFER_TOO_SMALL);
    /// No error, but the way of one that has nothing to deliver.
    pub const END: Failure = Failure(PICOLLO_END);
    pub const UNSUPPORTED: Failure = Failure(PICOLLO_ERR_UNSUPPORTED);
    pub const FORKED: Failure = Failure(PICOLLO_ERR_FORKED);

    pub const fn status(self) -> picollo_status {
        self.0
    }
}

impl From<picollo_core::Error> for Failure {
    fn from(error: picollo_core::Error) -> Failure {
        use picollo_core::Error;
        Failure(match error {
            Error::InvalidArgument => PICOLLO_ERR_INVALID_ARGUMENT,
            Error::OutOfMemory => PICOLLO_ERR_OUT_OF_MEMORY,
            Error::BufferTooSmall => PICOLLO_ERR_BUFFER_TOO_SMALL,
            Error::Unsupported => PICOLLO_ERR_UNSUPPORTED,
            Error::Incompatible => PICOLLO_ERR_INCOMPATIBLE,
            Error::Corrupt => PICOLLO_ERR_CORRUPT,
            Error::Empty => PICOLLO_ERR_EMPTY,
            Error::Busy => PICOLLO_ERR_BUSY,
            // The core may come to know more reasons than this interface has numbers for.
            _ => PICOLLO_ERR_UNSUPPORTED,
        })
    }
}

impl From<picollo_native::Error> for Failure {
    fn from(error: picollo_native::Error) -> Failure {
        Failure(error.status().code())
    }
}

impl From<Failure> for picollo_native::Error {
    fn from(failure: Failure) -> Self {
        use picollo_native::Status;
        // Those that this package itself finds out.
        let status = match failure.0 {
            PICOLLO_ERR_NULL_POINTER => Status::NullPointer,
            PICOLLO_ERR_INVALID_ARGUMENT => Status::InvalidArgument,
            PICOLLO_ERR_OUT_OF_MEMORY => Status::OutOfMemory,
            PICOLLO_ERR_BUFFER_TOO_SMALL => Status::BufferTooSmall,
            _ => Status::Unsupported,
        };
        status.into()
    }
}

/// What a call comes to.
pub type Outcome<T = ()> = Result<T, Failure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_errors_have_the_numbers_of_their_names() {
        use picollo_core::Error;
        for (error, status) in [
            (Error::InvalidArgument, -2),
            (Error::OutOfMemory, -3),
            (Error::BufferTooSmall, -4),
            (Error::Unsupported, -5),
            (Error::Incompatible, -6),
            (Error::Corrupt, -7),
            (Error::Empty, -8),
            (Error::Busy, -14),
        ] {
            assert_eq!(Failure::from(error).status(), status, "{error}");
        }
    }
}
