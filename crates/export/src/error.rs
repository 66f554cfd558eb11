//! Why a registry refuses a metric or an exemplar.

use alloc::string::String;
use core::fmt;

use super::memory::text;
use picollo_core::Error;

/// Why a metric or an exemplar was refused. Its text names the argument, the rule that it violates, and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricError {
    error: Error,
    /// Empty if the kind of failure says everything.
    reason: String,
}

impl MetricError {
    /// The kind of failure, which is [`Error::InvalidArgument`] if an argument violates a rule.
    pub fn error(&self) -> Error {
        self.error
    }

    #[cold]
    #[inline(never)]
    pub(super) fn new(error: Error, reason: fmt::Arguments<'_>) -> MetricError {
        match text(reason) {
            Ok(reason) => MetricError { error, reason },
            Err(error) => error.into(),
        }
    }
}

/// Returns that an argument violates a rule.
macro_rules! refuse {
    ($($reason:tt)+) => {
        return Err($crate::MetricError::new(picollo_core::Error::InvalidArgument, format_args!($($reason)+)))
    };
}
pub(super) use refuse;

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.reason.is_empty() { self.error.as_str() } else { &self.reason })
    }
}

impl core::error::Error for MetricError {}

impl From<Error> for MetricError {
    fn from(error: Error) -> MetricError {
        MetricError { error, reason: String::new() }
    }
}

impl From<MetricError> for Error {
    fn from(error: MetricError) -> Error {
        error.error
    }
}
