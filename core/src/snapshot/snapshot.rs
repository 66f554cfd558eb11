//! Frozen counts, the input of everything that reads.
//!
//! A snapshot holds two copies of a histogram's cumulative counts and reports their difference. The next delta starts
//! from the later one, *raw*. The earlier one, *base*, is the baseline of the last reset, or the raw copy of the
//! previous update. So a reset never disturbs a delta, and repeated reads since one reset copy only the counts. For a
//! delta the two copies are swapped, so it costs no more.
//!
//! A decoded snapshot has no histogram behind it, and keeps one copy: its counts.

use crate::cells::identity::Identity;
use crate::cells::tallies::{TallyCounts, wraps_between, wraps_of_64_between, wraps_of_64_bits};
use crate::error::{Error, Result};
use crate::layout::bucket::Bucket;
use crate::layout::layout::Layout;
use crate::snapshot::differences::Cells;
use crate::snapshot::source::Source;
use crate::snapshot::sums::{self, RUN};

/// The start of the counts of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Since {
    /// The last reset of the histogram, or its creation.
    Reset,
    /// The previous update of this snapshot, regardless of resets. The first update counts since the last reset.
    PreviousUpdate,
}

/// Totals of a snapshot. They saturate at `u64::MAX`; percentiles use the exact totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Observations in range.
    pub total: u64,
    /// Observations below the range.
    pub underflow: u64,
    /// Observations above the range.
    pub overflow: u64,
    /// Observations missing from the numbers above, because a cell wrapped around or no memory was left for one. A
    /// wrap loses 2^32 in 32-bit cells. In wider cells and in the numbers above it loses 2^64, so `u64::MAX` means
    /// that many or more.
    pub lost: u64,
}

/// Everything except the counts.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Head {
    pub(super) layout: Layout,
    pub(super) counts: Counts,
    raw_tallies: TallyCounts,
    base_tallies: TallyCounts,
    /// The version of the baseline that `base` holds, while it does.
    pub(super) baseline_version: Option<u32>,
    /// The content of the words of `base`.
    pub(super) base: Base,
    /// Whether the raw copy is the second half of the words.
    swapped: bool,
    /// The source of the raw counts; a new source starts anew.
    source: Option<Identity>,
    timestamp_unix_nanos: u64,
}

/// The content of the base words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// Zeros, which need not be read.
    Zeros,
    /// Anything: the counts start from zero.
    Anything,
    /// The counts to subtract.
    Counts,
}

/// Counts at one moment, in words `S`: `[u64; N]` with `N` = [`Layout::snapshot_words`], or through any pointer
/// `[u64]`.
///
/// Each read costs one pass over the counts and allocates nothing.
#[derive(Debug)]
#[repr(C)]
pub struct Snapshot<S: ?Sized = [u64]> {
    pub(super) head: Head,
    pub(super) words: S,
}

impl Layout {
    /// Returns the words of a snapshot: two for each counter.
    pub const fn snapshot_words(&self) -> usize {
        2 * self.length()
    }
}

impl Head {
    pub(super) const fn new(layout: Layout) -> Head {
        const NONE: TallyCounts = TallyCounts { underflow: 0, overflow: 0, wraps: 0, lost: 0 };
        Head {
            layout,
            counts: Counts { total: 0, underflow: 0, overflow: 0, lost: 0 },
            raw_tallies: NONE,
            base_tallies: NONE,
            baseline_version: None,
            base: Base::Zeros,
            swapped: false,
            source: None,
            timestamp_unix_nanos: 0,
        }
    }

    /// Does the same as [`Head::new`] for words that may have been used.
    fn anew(&self) -> Head {
        Head { base: Base::Anything, ..Head::new(self.layout) }
    }
}

impl<const N: usize> Snapshot<[u64; N]> {
    /// Creates an empty snapshot, to be updated from a histogram of this layout.
    ///
    /// # Panics
    /// If `N` is below [`Layout::snapshot_words`]; in a `const` that is a compile error.
    pub const fn new(layout: Layout) -> Self {
        assert!(N >= layout.snapshot_words(), "the array has too few words for the layout");
        Snapshot { head: Head::new(layout), words: [0; N] }
    }
}

impl<const N: usize> core::ops::Deref for Snapshot<[u64; N]> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        self
    }
}

impl<const N: usize> core::ops::DerefMut for Snapshot<[u64; N]> {
    fn deref_mut(&mut self) -> &mut Snapshot {
        self
    }
}

impl Snapshot {
    /// Reads the counts of a histogram with the layout of this snapshot, while writers and other readers continue.
    ///
    /// The next delta starts from every update: the deltas of one snapshot add up to everything that was recorded, with
    /// or without resets. An update that overlaps a reset counts entirely from before or entirely from after it.
    ///
    /// Fails with [`Error::Incompatible`] for another layout; with [`Error::Unsupported`] for a decoded snapshot, which
    /// has no room for the start of deltas; with [`Error::Busy`] if competing resets prevented reading the baseline
    /// ([`Since::Reset`] only). The snapshot is then empty, and the next delta starts where it would have anyway.
    pub fn update<T: Source + ?Sized>(&mut self, source: &T, since: Since) -> Result<()> {
        let identity = self.begin(source)?;
        let is_new = self.head.source != Some(identity);
        if is_new {
            // The content of the words is written before it is read.
            self.head = self.head.anew();
        }
        let since_update = since == Since::PreviousUpdate && !is_new;
        if since_update {
            // The counts of the previous update become the base; the old base is overwritten below.
            self.head.swapped ^= true;
            self.head.base = Base::Counts;
            self.head.base_tallies = self.head.raw_tallies;
            self.head.baseline_version = None;
        } else if !self.head.baseline_version.is_some_and(|version| source.baseline_is(version)) {
            self.take_baseline(source)?;
        }
        self.take_counts(source, identity);
        Ok(())
    }

    /// Starts every update: checks that it is possible, and returns the source.
    #[inline(always)]
    fn begin<T: Source + ?Sized>(&self, source: &T) -> Result<Identity> {
        if !self.head.layout.same_counters(source.layout()) {
            return Err(Error::Incompatible);
        }
        if !self.has_base() {
            return Err(Error::Unsupported);
        }
        Ok(source.identity())
    }

    /// Does the same as [`Snapshot::update`] with everything that was ever counted, regardless of resets. The next
    /// update of any kind starts anew.
    #[cfg(feature = "alloc")]
    pub(crate) fn update_since_creation<T: Source + ?Sized>(&mut self, source: &T) -> Result<()> {
        let identity = self.begin(source)?;
        // Counts start from zero, whatever the base words hold. That is no version, so the next update reads one.
        self.head = self.head.anew();
        self.take_counts(source, identity);
        self.head.source = None;
        Ok(())
    }

    /// Copies the counts, and subtracts the base, which is in place.
    #[inline(always)]
    fn take_counts<T: Source + ?Sized>(&mut self, source: &T, identity: Identity) {
        let mut raw_tallies = source.tallies();
        let head = &mut self.head;
        let (raw, base) = split(&mut self.words, head);
        let mut wraps = 0;
        let counts_from_base = head.base == Base::Counts;
        let (sum_wraps, total) = if counts_from_base && T::COUNTER_BITS < 64 {
            let (mut sum_wraps, mut total) = (0, 0);
            for (run, (raw, base)) in raw.chunks_mut(RUN).zip(base.chunks_mut(RUN)).enumerate() {
                sum_wraps += source.copy_counts(run * RUN, raw);
                wraps += unwrap_differences(raw, base);
                total += sums::total(raw, base);
            }
            (sum_wraps, total)
        } else {
            source.copy_and_total(raw, if counts_from_base { Some(base) } else { None })
        };
        raw_tallies.wraps = raw_tallies.wraps.wrapping_add(wraps_of_64_bits(sum_wraps, T::COUNTER_BITS));
        // Computed before `wraps` includes wraps that are not in the base.
        let base_was_changed = wraps > 0;
        if raw_tallies.wraps != head.base_tallies.wraps {
            let mut wide = raw_tallies.wraps_beside_since(&head.base_tallies);
            if T::COUNTER_BITS == 64 && counts_from_base {
                wide += wraps_of_64_between(&*base, raw);
            }
            wraps = wraps.wrapping_add(wraps_of_64_bits(wide, T::COUNTER_BITS));
        }
        head.source = Some(identity);
        head.layout = *source.layout();
        head.raw_tallies = raw_tallies;
        if base_was_changed {
            // The base was adjusted to these counts.
            head.baseline_version = None;
        }
        head.count_totals(total, wraps, T::COUNTER_BITS);
    }

    fn take_baseline<T: Source + ?Sized>(&mut self, source: &T) -> Result<()> {
        let (raw, base) = split(&mut self.words, &self.head);
        match source.copy_baseline(base, &mut self.head.base_tallies) {
            Ok(version) => {
                self.head.baseline_version = Some(version);
                // The base is zero until the first reset.
                self.head.base = if sums::are_zero(base) { Base::Zeros } else { Base::Counts };
                Ok(())
            }
            Err(error) => {
                base.copy_from_slice(raw);
                self.head.base = Base::Counts;
                self.head.base_tallies = self.head.raw_tallies;
                self.head.baseline_version = None;
                self.head.counts = Counts::default();
                Err(error)
            }
        }
    }

    /// The rule that maps values to counters.
    pub fn layout(&self) -> &Layout {
        &self.head.layout
    }

    /// Returns the totals.
    pub fn counts(&self) -> Counts {
        self.head.counts
    }

    /// Returns the sum of all counts, which may exceed [`Counts::total`]: it decides every rank.
    pub fn exact_total(&self) -> u128 {
        match self.head.counts.total {
            u64::MAX => self.cells().total(0..self.head.layout.length()),
            total => total.into(),
        }
    }

    /// Returns when the counts were taken, as set by [`Snapshot::set_timestamp_unix_nanos`]; 0 if nobody set it.
    pub fn timestamp_unix_nanos(&self) -> u64 {
        self.head.timestamp_unix_nanos
    }

    /// Sets when the counts were taken, in nanoseconds since 1970: this crate has no clock.
    pub fn set_timestamp_unix_nanos(&mut self, nanos: u64) {
        self.head.timestamp_unix_nanos = nanos;
    }

    /// Returns the count at a storage index below [`Layout::length`].
    pub(crate) fn count_at(&self, index: usize) -> u64 {
        self.cells().at(index)
    }

    /// Returns the bucket at a storage index below [`Layout::length`], with its count.
    pub fn bucket_at(&self, index: usize) -> Bucket {
        Bucket { count: self.count_at(index), ..self.head.layout.bucket_at(index as u64) }
    }

    /// Returns the bucket of a value, with its count; `None` if the value is out of range.
    pub fn bucket_of(&self, value: u64) -> Option<Bucket> {
        self.head.layout.bucket_of(value).map(|bucket| self.bucket_at(bucket.storage_index as usize))
    }

    /// Returns all buckets in ascending order, including empty ones.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        (0..self.head.layout.length()).map(|index| self.bucket_at(index))
    }

    /// Returns the buckets that have counts, in ascending order.
    pub fn recorded_buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.recorded_counts().map(|(index, _)| self.bucket_at(index))
    }

    /// Returns storage indices and counts of nonempty buckets.
    pub fn recorded_counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.cells().recorded()
    }

    /// Returns the counts by storage index.
    #[inline]
    pub(crate) fn cells(&self) -> Cells<'_> {
        let length = self.head.layout.length();
        let (first, rest) = self.words.split_at(length);
        let second = rest.get(..length).unwrap_or_default();
        match (self.head.base == Base::Counts, self.head.swapped) {
            (false, false) => Cells::new(first, &[]),
            (true, false) => Cells::new(first, second),
            (false, true) => Cells::new(second, &[]),
            (true, true) => Cells::new(second, first),
        }
    }

    /// Returns whether there is room for a base.
    pub(crate) fn has_base(&self) -> bool {
        self.words.len() >= self.head.layout.snapshot_words()
    }
}

/// Returns the counts of a snapshot by storage index.
#[inline]
pub fn cells(snapshot: &Snapshot) -> Cells<'_> {
    snapshot.cells()
}

/// Forgets the source of the counts, so that the next update reuses nothing.
#[cfg(feature = "alloc")]
pub fn forget_source(snapshot: &mut Snapshot) {
    snapshot.head.source = None;
}

impl Head {
    /// Computes the totals from the sum of the buckets, the tallies, and the wraps that the differences show.
    fn count_totals(&mut self, total: u128, wraps_seen: u64, counter_bits: u32) {
        let (raw, base) = (&mut self.raw_tallies, &self.base_tallies);
        let known = base.wraps.wrapping_add(wraps_seen);
        raw.know_wraps(known);
        let unseen = raw.wraps.wrapping_sub(known);
        self.counts = Counts {
            total: total.try_into().unwrap_or(u64::MAX),
            underflow: raw.underflow.wrapping_sub(base.underflow),
            overflow: raw.overflow.wrapping_sub(base.overflow),
            lost: (raw.lost.wrapping_sub(base.lost) as u128)
                .saturating_add((unseen as u128) << counter_bits)
                .try_into()
                .unwrap_or(u64::MAX),
        };
    }
}

/// If 32-bit cells wrapped, lowers the base so that the difference equals the recorded count, modulo `2^32`. Returns
/// how many wraps this compensated.
fn unwrap_differences(raw: &[u64], base: &mut [u64]) -> u64 {
    let mut wraps = 0;
    for (raw, base) in raw.iter().zip(base) {
        let missing = wraps_between(*base, *raw);
        if missing != 0 {
            *base = base.wrapping_sub(missing << 32);
            wraps += missing;
        }
    }
    wraps
}

/// Returns the raw copy and the base, which is empty if there is no room for one.
pub(super) fn split<'a>(words: &'a mut [u64], head: &Head) -> (&'a mut [u64], &'a mut [u64]) {
    let length = head.layout.length();
    let (first, rest) = words.split_at_mut(length);
    let second = rest.get_mut(..length).unwrap_or_default();
    // Only an update swaps them, and it needs both.
    if head.swapped { (second, first) } else { (first, second) }
}
