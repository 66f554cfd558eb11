//! Statistics that depend only on the order of the observations: Mann-Whitney, Cliff's delta, Kolmogorov-Smirnov.
//!
//! Observations in one bucket are ties. If the layouts differ, the buckets of a coarser one are compared, with the
//! smaller blocks and the larger unit. The buckets of both nest in them, so both sides count as if recorded with it.

use super::{Comparison, normal};
use picollo_core::layouts::ValueSelection;
use picollo_core::{Layout, Snapshot};

/// Visits the counts of both for each nonempty bucket of the coarser layout, in ascending order.
fn for_each_bucket(a: &Snapshot, b: &Snapshot, mut visit: impl FnMut(u128, u128)) {
    let (scale, unit) =
        (a.layout().scale().min(b.layout().scale()), a.layout().unit().max(b.layout().unit()));
    // The smaller blocks leave room for the larger unit, which the other layout had, and all values are in range.
    let Ok(coarser) = Layout::with_scale(scale, 0, u64::MAX).and_then(|layout| layout.with_unit(unit)) else {
        return;
    };
    let keyed = |snapshot: &'_ Snapshot, layout: Layout| {
        let own = *snapshot.layout();
        let same = own.scale() == layout.scale() && own.unit() == layout.unit();
        move |(index, count): (usize, u64)| {
            let key = if same {
                own.first_index() + index as u64
            } else {
                layout.logical_index(own.bucket_at(index as u64).equivalent_value(ValueSelection::Midpoint))
            };
            (key, count)
        }
    };
    let mut of_a = a.recorded_counts().map(keyed(a, coarser)).peekable();
    let mut of_b = b.recorded_counts().map(keyed(b, coarser)).peekable();
    loop {
        let key = match (of_a.peek(), of_b.peek()) {
            (None, None) => return,
            (Some(&(key, _)), None) | (None, Some(&(key, _))) => key,
            (Some(&(key_a, _)), Some(&(key_b, _))) => key_a.min(key_b),
        };
        let (mut count_a, mut count_b) = (0u128, 0u128);
        while let Some((_, count)) = of_a.next_if(|&(other, _)| other == key) {
            count_a += u128::from(count);
        }
        while let Some((_, count)) = of_b.next_if(|&(other, _)| other == key) {
            count_b += u128::from(count);
        }
        visit(count_a, count_b);
    }
}

/// Above this many observations their cube does not fit into 128 bits.
const EXACT: u128 = 6_900_000_000_000;

/// Computes the rank statistics, and leaves the other fields empty. Both must have observations.
///
/// - Mann-Whitney: H. B. Mann and D. R. Whitney, *On a test of whether one of two random variables is stochastically
///   larger than the other* (1947), the normal approximation with the correction for ties and for continuity, as in
///   `scipy.stats.mannwhitneyu(method="asymptotic")`; E. L. Lehmann, *Nonparametrics*, 1.4. Sums of pairs and of cubes
///   of ties are exact in 128 bits, for up to about 10^12 observations.
/// - Common-language effect: K. O. McGraw and S. P. Wong (1992); with ties counted half, A. Vargha and H. D. Delaney
///   (2000).
/// - Cliff's delta: N. Cliff, *Dominance statistics* (1993).
/// - Kolmogorov-Smirnov: N. Smirnov (1939), with Kolmogorov's limiting distribution. It is conservative for few
///   observations, and more so for values in buckets, inside of which the largest distance may lie: the true p is at
///   most the reported one.
pub(super) fn compare_ranks(a: &Snapshot, b: &Snapshot) -> Comparison {
    // Pairs have at most 128 bits if totals have 64. Larger ones are counted in units of a power of two, which leaves
    // more digits than a double has.
    let largest = a.exact_total().max(b.exact_total());
    let shift = (u128::BITS - largest.leading_zeros()).saturating_sub(u64::BITS);
    let total = |of: &Snapshot| match shift {
        0 => of.exact_total(),
        _ => of.recorded_counts().map(|(_, count)| u128::from(count) >> shift).sum(),
    };
    let (n_a, n_b) = (total(a), total(b));
    let n = n_a + n_b;
    let (mut before_a, mut before_b) = (0u128, 0u128);
    // Pairs in which b is greater, less, or equal; the sum of t^3 - t over ties, or of (t / n)^3 if that is too large.
    let (mut greater, mut less, mut same) = (0u128, 0u128, 0u128);
    let (mut ties, mut tie_shares) = (0u128, 0.0);
    let mut furthest = 0u128;
    for_each_bucket(a, b, |count_a, count_b| {
        let (count_a, count_b) = (count_a >> shift, count_b >> shift);
        greater = greater.saturating_add(count_b.saturating_mul(before_a));
        less = less.saturating_add(count_a.saturating_mul(before_b));
        same = same.saturating_add(count_a.saturating_mul(count_b));
        let tied = count_a + count_b;
        if n <= EXACT {
            ties += tied * tied * tied - tied;
        } else {
            let share = tied as f64 / n as f64;
            tie_shares += share * share * share;
        }
        before_a += count_a;
        before_b += count_b;
        // Both cumulative shares, with a common denominator.
        let distance = before_a.saturating_mul(n_b).abs_diff(before_b.saturating_mul(n_a));
        furthest = furthest.max(distance);
    });
    let (size_a, size_b) = (n_a as f64, n_b as f64);
    let pairs = size_a * size_b;
    let dominance = if greater >= less { (greater - less) as f64 } else { -((less - greater) as f64) };
    let size = n as f64;
    // n^3 - n less the sum over the ties, divided by n^3 - n: 1 without ties, 0 if all are tied.
    let untied = if n <= EXACT {
        let all = n * n * n - n;
        (all - ties.min(all)) as f64 / (all as f64)
    } else {
        (1.0 - tie_shares).max(0.0)
    };
    let deviation = libm::sqrt(pairs / 12.0 * (size + 1.0) * untied);
    // U's distance from its expectation is half the dominance; the half pair is the continuity correction.
    let from_middle = (libm::fabs(dominance) / 2.0 - 0.5).max(0.0);
    let (z, p) = if deviation > 0.0 {
        let z = from_middle / deviation;
        (libm::copysign(z, dominance), if dominance == 0.0 { 1.0 } else { normal::two_sided(z) })
    } else {
        (0.0, 1.0)
    };
    let cliffs_delta = dominance / pairs;
    // Not half of all pairs plus half the dominance: they cancel if U is small.
    let mann_whitney_u = greater as f64 + same as f64 / 2.0;
    let ks_distance = furthest as f64 / pairs;
    Comparison {
        mann_whitney_u,
        mann_whitney_z: z,
        mann_whitney_p: p,
        common_language: mann_whitney_u / pairs,
        cliffs_delta,
        ks_distance,
        ks_p: normal::kolmogorov(libm::sqrt(pairs / size) * ks_distance),
        ..Comparison::default()
    }
}
