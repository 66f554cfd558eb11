//! Converts options to a kind, a layout, and sizes.

use crate::cells::kind::{Kind, Storage};
use crate::error::{Error, Result};
use crate::handle::options::Options;
use crate::handle::prefix::PREFIX;
use crate::layout::layout::Layout;

use super::dispatch::*;

/// The memory of a histogram in bytes, before it is made. See [`crate::SharedHistogram::estimate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// The size when it is made.
    pub initial: usize,
    /// The step of its growth: a shard for each thread that records at the same time, or for each CPU that it is
    /// recorded on; for sparse storage, a chunk with its baseline; 0 if it does not grow.
    pub step: usize,
    /// The largest possible size; `usize::MAX` if nothing limits it.
    pub most: usize,
}

/// The result of resolving options.
pub(crate) struct Plan {
    pub(crate) layout: Layout,
    pub(crate) kind: Kind,
    pub(crate) live_reset: bool,
    /// The bytes on the heap, without a prefix.
    pub(crate) size: usize,
    /// Sparse storage: the most memory that the histogram may take after its prefix.
    pub(crate) max_bytes: usize,
}

impl Plan {
    pub(crate) fn new(options: &Options) -> Result<Plan> {
        let layout = options.layout()?;
        let bits = options.resolved_counter_bits()?;
        let live_reset = !options.no_live_reset;
        let kind = Kind::new(options.mode, options.storage, bits);
        let size =
            with_type_of!(kind, Type => Type::heap_size(&layout, live_reset), _ => Err(Error::Unsupported))?;
        let max_bytes = match options.max_bytes {
            0 => usize::MAX,
            bytes => usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(PREFIX),
        };
        Ok(Plan { layout, kind, live_reset, size, max_bytes })
    }

    /// See [`crate::handle::shared::SharedHistogram::required_size`].
    pub(crate) fn required_size(&self) -> Result<usize> {
        with_type_of!(self.kind, Type => Type::required_size(&self.layout, self.live_reset), _ => Err(Error::Unsupported))
    }

    /// See [`crate::handle::shared::SharedHistogram::estimate`].
    pub(crate) fn estimate(&self) -> Result<Footprint> {
        let (step, steps) =
            with_type_of!(self.kind, Type => Type::growth(&self.layout, self.live_reset)?, _ => (0, 0));
        let is_limited = self.kind.storage() == Some(Storage::Sparse);
        if self.size > self.max_bytes && is_limited {
            return Err(Error::InvalidArgument);
        }
        let initial = self.size.checked_add(PREFIX).ok_or(Error::OutOfMemory)?;
        let limit = if is_limited { self.max_bytes.saturating_add(PREFIX) } else { usize::MAX };
        Ok(Footprint { initial, step, most: initial.saturating_add(step.saturating_mul(steps)).min(limit) })
    }
}
