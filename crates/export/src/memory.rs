//! Copies that report when there is no memory for them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Write};

use super::output::Output;
use picollo_core::{Error, Result};

pub(super) fn list<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(items.len()).map_err(|_| Error::OutOfMemory)?;
    list.extend(items);
    Ok(list)
}

/// Makes room for one more.
pub(super) fn reserve<T>(list: &mut Vec<T>) -> Result<()> {
    list.try_reserve(1).map_err(|_| Error::OutOfMemory)
}

#[inline]
pub(super) fn push<T>(to: &mut Vec<T>, item: T) -> Result<()> {
    reserve(to)?;
    to.push(item);
    Ok(())
}

pub(super) fn text(item: impl Display) -> Result<String> {
    let mut text = String::new();
    // Outputs do not fail, and the text has room for it.
    let length = Output::length_of(|out| {
        let _ = write!(out, "{item}");
    });
    text.try_reserve_exact(length).map_err(|_| Error::OutOfMemory)?;
    let _ = write!(text, "{item}");
    Ok(text)
}
