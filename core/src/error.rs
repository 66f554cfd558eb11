//! Why a call failed.

use core::fmt;

/// Why a call failed. Recording never fails; every call that can fail returns one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside its documented range.
    InvalidArgument,
    /// The allocator had no memory; nothing was changed.
    OutOfMemory,
    /// The caller's buffer is too small; nothing was written to it.
    BufferTooSmall,
    /// This mode, storage or build does not support the operation.
    Unsupported,
    /// The layouts cannot be combined without loss.
    Incompatible,
    /// Encoded data is malformed.
    Corrupt,
    /// Nothing was recorded, so no percentile exists.
    Empty,
    /// Retries ran out against competing resets; try again. Or another caller already has the only writer.
    Busy,
}

impl Error {
    /// Returns one sentence for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Error::InvalidArgument => "an argument is outside its documented range",
            Error::OutOfMemory => "out of memory",
            Error::BufferTooSmall => "the buffer is too small",
            Error::Unsupported => "not supported by this mode, storage, platform or build",
            Error::Incompatible => "the layouts cannot be combined without loss",
            Error::Corrupt => "the encoded data is malformed",
            Error::Empty => "nothing was recorded",
            Error::Busy => {
                "in use: competing resets kept the operation from finishing, or there is a writer already; try again"
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Error {}

/// The result of a call that can fail.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Converts a code to the variant that has it; other codes fail with [`Error::InvalidArgument`].
#[doc(hidden)]
#[macro_export]
macro_rules! from_code {
    ($name:ident { $($variant:ident),* }) => {
        impl $name {
            /// Every variant.
            pub(crate) const ALL: &[$name] = &[$($name::$variant),*];
        }

        impl TryFrom<u32> for $name {
            type Error = $crate::Error;

            fn try_from(code: u32) -> $crate::Result<Self> {
                let found = $name::ALL.iter().copied().find(|known| *known as u32 == code);
                found.ok_or($crate::Error::InvalidArgument)
            }
        }
    };
}
pub use from_code;
