//! What reading costs: the events that a pair of back-to-back reads adds to every interval.

/// Of fewer pairs nothing is concluded.
pub(crate) const LEAST: usize = 100;

/// What a pair of back-to-back reads costs, in counts of the event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Overhead {
    /// The least of all pairs.
    pub min: u64,
    /// The tenth percentile: what is subtracted.
    pub tenth: u64,
    /// The median.
    pub median: u64,
    /// The median distance from the median.
    pub deviation: u64,
    /// How many pairs this is from; 0: it is not known.
    pub pairs: u64,
}

impl Overhead {
    /// Of these costs; `None` where they are too few to prove anything.
    pub(crate) fn of(costs: &mut [u64]) -> Option<Overhead> {
        let counted = costs.len();
        if counted < LEAST {
            return None;
        }
        costs.sort_unstable();
        let (min, tenth, median) = (costs[0], costs[counted / 10], costs[counted / 2]);
        costs.iter_mut().for_each(|cost| *cost = cost.abs_diff(median));
        costs.sort_unstable();
        Some(Overhead { min, tenth, median, deviation: costs[counted / 2], pairs: counted as u64 })
    }
}
