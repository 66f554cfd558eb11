//! Vectors that report a lack of memory as an error instead of ending the process.

use crate::base::error::{ExplainedError, Result, Status};

/// An empty vector with room for `count` elements, or an error.
pub fn with_room<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
    Ok(vector)
}

/// Appends an element, or returns an error.
pub fn push<T>(vector: &mut Vec<T>, one: T) -> Result<()> {
    vector.try_reserve(1).map_err(|_| ExplainedError::from(Status::OutOfMemory))?;
    vector.push(one);
    Ok(())
}

/// A vector of `count` equal elements, or an error.
#[cfg(picollo_linux)]
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}
