//! Adding up the intervals of logs.

use picollo_core::{Encoding, Error, Layout, Snapshot};

/// Sums are kept ready up to so many counters, of 16 bytes; the others wait as bytes, which are much fewer.
pub(super) const READY: usize = 1 << 21;

/// More than any snapshot has: the finest layout of all 64 bits has 46 · 2^19.
pub(crate) const ANY_COUNTERS: u64 = 1 << 25;

/// A sum in the buckets of what came first, over the ranges of all, by low ends: as HdrHistogram's tools add up a log.
pub(super) enum Sum {
    Ready(Box<Snapshot>),
    Waiting(Vec<u8>),
}

impl Sum {
    pub(super) fn of(first: &Snapshot) -> Result<Sum, Error> {
        let mut sum = Snapshot::boxed_alone(*first.layout())?;
        sum.merge_low_ends(first);
        Ok(Sum::Ready(sum))
    }

    pub(super) fn counters(&self) -> usize {
        match self {
            Sum::Ready(snapshot) => snapshot.layout().length(),
            Sum::Waiting(_) => 0,
        }
    }

    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let sum = self.ready()?;
        let (layout, other) = (*sum.layout(), snapshot.layout());
        let low = layout.min_trackable().min(other.min_trackable());
        let high = layout.max_trackable().max(other.max_trackable());
        if (low, high) != (layout.min_trackable(), layout.max_trackable()) {
            let wider: Layout = layout.with_range(low, high)?;
            let mut wider = Snapshot::boxed_alone(wider)?;
            wider.merge_low_ends(sum);
            *sum = wider;
        }
        sum.merge_low_ends(snapshot);
        Ok(())
    }

    /// The sum, to be read or added to.
    pub(super) fn ready(&mut self) -> Result<&mut Box<Snapshot>, Error> {
        if let Sum::Waiting(bytes) = self {
            *self = Sum::Ready(Snapshot::decode(bytes, ANY_COUNTERS)?);
        }
        match self {
            Sum::Ready(snapshot) => Ok(snapshot),
            Sum::Waiting(_) => Err(Error::Corrupt),
        }
    }

    pub(super) fn wait(&mut self) -> Result<(), Error> {
        if let Sum::Ready(snapshot) = self {
            *self = Sum::Waiting(snapshot.encode_to_vec(Encoding::Native)?);
        }
        Ok(())
    }
}
