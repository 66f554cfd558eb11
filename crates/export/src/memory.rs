//! Copies that report when there is no memory for them.

use alloc::string::String;
use alloc::vec::Vec;

use picollo_core::{Error, Result};

pub(super) fn copy_of<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(items.len()).map_err(|_| Error::OutOfMemory)?;
    copy.extend_from_slice(items);
    Ok(copy)
}

#[inline]
pub(super) fn push<T>(to: &mut Vec<T>, item: T) -> Result<()> {
    to.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
    to.push(item);
    Ok(())
}

pub(super) fn text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| Error::OutOfMemory)?;
    copy.push_str(text);
    Ok(copy)
}
