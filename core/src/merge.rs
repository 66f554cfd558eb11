//! Adding and subtracting the counts of snapshots of any layout.
//!
//! Each bucket's count goes, whole, to the bucket that its midpoint falls into. For the same buckets and for coarser ones
//! that is exact: the result is what recording there would have given. A finer layout gets the count in one of its
//! buckets, within the error of the coarser. A midpoint out of range is an underflow or overflow.

use crate::{Bucket, Counts, Error, Result, Snapshot, ValueSelection};

/// What became of the counts that were added or subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// Counts that went to a finer bucket than they came from, within the error of theirs.
    pub refined: u64,
    /// Counts that were in range there and are an underflow here.
    pub underflow: u64,
    /// Counts that were in range there and are an overflow here.
    pub overflow: u64,
    /// Counts for which a bucket had no room: no count goes above `u64::MAX`. They are among the lost of the result.
    pub lost: u64,
}

impl Merged {
    /// Whether every count is where recording its value here would have put it.
    pub const fn is_exact(&self) -> bool {
        self.refined == 0 && self.underflow == 0 && self.overflow == 0 && self.lost == 0
    }
}

/// Where a bucket's count goes.
enum Place {
    In(usize),
    Below,
    Above,
}

impl Snapshot {
    fn place_of(&self, bucket: &Bucket) -> Place {
        let value = bucket.equivalent_value(ValueSelection::Midpoint);
        let index = self.layout().storage_index(value);
        if self.layout().contains(index) {
            Place::In(index as usize)
        } else if self.layout().is_below(value) {
            Place::Below
        } else {
            Place::Above
        }
    }

    /// Adds all counts of another snapshot, of any layout; its underflow, overflow and lost ones too. The next update
    /// replaces what was merged.
    ///
    /// Each bucket's count goes to the bucket of its midpoint. That is exact where the buckets are the same or coarser
    /// here: the result does not depend on the order, nor on what was merged with what before. A finer layout gets each
    /// count in one of its buckets.
    pub fn merge(&mut self, other: &Snapshot) -> Merged {
        let mut merged = Merged::default();
        let mut counts = self.counts();
        if self.layout().same_counters(other.layout()) {
            self.merge_same(other, &mut counts, &mut merged);
        } else {
            for bucket in other.recorded_buckets() {
                match self.place_of(&bucket) {
                    Place::In(index) => {
                        let fits = bucket.count.min(u64::MAX - self.count_at(index));
                        if self.layout().bucket_at(index as u64).step < bucket.step {
                            merged.refined = merged.refined.saturating_add(fits);
                        }
                        let (_, base) = self.raw_and_base_mut();
                        base[index] = base[index].wrapping_sub(fits);
                        counts.total = counts.total.saturating_add(fits);
                        merged.lost = merged.lost.saturating_add(bucket.count - fits);
                    }
                    Place::Below => merged.underflow = merged.underflow.saturating_add(bucket.count),
                    Place::Above => merged.overflow = merged.overflow.saturating_add(bucket.count),
                }
            }
        }
        let theirs = other.counts();
        let sum = |ours: u64, theirs: u64, placed: u64| ours.saturating_add(theirs).saturating_add(placed);
        counts.underflow = sum(counts.underflow, theirs.underflow, merged.underflow);
        counts.overflow = sum(counts.overflow, theirs.overflow, merged.overflow);
        counts.lost = sum(counts.lost, theirs.lost, merged.lost);
        self.hold(counts, self.is_approximate() || other.is_approximate());
        merged
    }

    /// The case of equal counters: in one go.
    fn merge_same(&mut self, other: &Snapshot, counts: &mut Counts, merged: &mut Merged) {
        let (raw, base) = self.raw_and_base_mut();
        let (other_raw, other_base) = other.raw_and_base();
        let mut total = 0u128;
        let theirs = other_raw.iter().zip(other_base).map(|(raw, base)| raw.wrapping_sub(*base));
        for ((raw, base), count) in raw.iter().zip(base).zip(theirs) {
            let fits = count.min(!raw.wrapping_sub(*base));
            *base = base.wrapping_sub(fits);
            total += fits as u128;
            merged.lost = merged.lost.saturating_add(count - fits);
        }
        counts.total = counts.total.saturating_add(total.try_into().unwrap_or(u64::MAX));
    }

    /// Takes away all counts of another snapshot, of any layout, from where [`Snapshot::merge`] would have put them; its
    /// underflow, overflow and lost ones too. The next update replaces what is left.
    ///
    /// [`Error::InvalidArgument`], with nothing changed, when there is less here than is to be taken away.
    pub fn subtract(&mut self, other: &Snapshot) -> Result<Merged> {
        let merged = self.check_subtraction(other)?;
        for bucket in other.recorded_buckets() {
            if let Place::In(index) = self.place_of(&bucket) {
                let (_, base) = self.raw_and_base_mut();
                base[index] = base[index].wrapping_add(bucket.count);
            }
        }
        let (ours, theirs) = (self.counts(), other.counts());
        let total = self.recorded_counts().fold(0u128, |sum, (_, count)| sum + count as u128);
        // Checked. A tally at the limit stays a lower bound.
        let less = |ours: u64, theirs: u64, placed: u64| {
            if ours == u64::MAX { ours } else { ours - theirs - placed }
        };
        let counts = Counts {
            total: total.try_into().unwrap_or(u64::MAX),
            underflow: less(ours.underflow, theirs.underflow, merged.underflow),
            overflow: less(ours.overflow, theirs.overflow, merged.overflow),
            lost: less(ours.lost, theirs.lost, 0),
        };
        self.hold(counts, self.is_approximate() || other.is_approximate());
        Ok(merged)
    }

    /// Whether there is enough to take away, and what becomes of it.
    fn check_subtraction(&self, other: &Snapshot) -> Result<Merged> {
        let mut merged = Merged::default();
        // Buckets come in ascending order, so those that go to one place come together.
        let mut at = (usize::MAX, 0u64);
        for bucket in other.recorded_buckets() {
            match self.place_of(&bucket) {
                Place::In(index) => {
                    let so_far = if at.0 == index { at.1 } else { 0 };
                    let taken = so_far.checked_add(bucket.count).ok_or(Error::InvalidArgument)?;
                    if taken > self.count_at(index) {
                        return Err(Error::InvalidArgument);
                    }
                    at = (index, taken);
                    if self.layout().bucket_at(index as u64).step < bucket.step {
                        merged.refined = merged.refined.saturating_add(bucket.count);
                    }
                }
                Place::Below => merged.underflow = merged.underflow.saturating_add(bucket.count),
                Place::Above => merged.overflow = merged.overflow.saturating_add(bucket.count),
            }
        }
        let (ours, theirs) = (self.counts(), other.counts());
        for (ours, theirs, placed) in [
            (ours.underflow, theirs.underflow, merged.underflow),
            (ours.overflow, theirs.overflow, merged.overflow),
            (ours.lost, theirs.lost, 0),
        ] {
            if theirs.saturating_add(placed) > ours {
                return Err(Error::InvalidArgument);
            }
        }
        Ok(merged)
    }
}
