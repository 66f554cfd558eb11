//! Vectors whose memory is asked for: nothing here ends the process for want of it.

use crate::base::error::{Error, Result, Status};

/// An empty vector with room, or an error.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| Error::from(Status::OutOfMemory))?;
    Ok(vector)
}

/// Puts one more at the end, or an error.
pub(crate) fn push<T>(vector: &mut Vec<T>, one: T) -> Result<()> {
    vector.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
    vector.push(one);
    Ok(())
}

/// So many times the same, or an error.
#[cfg(picollo_linux)]
pub(crate) fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut vector = with_room(count)?;
    vector.resize(count, value);
    Ok(vector)
}
