//! Correction for coordinated omission.

use crate::Layout;

/// Tells the values that a stalled caller did not record: `value - interval`, `value - 2 * interval`, … while at least
/// `interval`, `count` of each, by bucket. Where there are more values than buckets below `value`, counts per bucket come
/// in closed form, so that the work is bounded by the number of counters.
pub(crate) fn missing_values(
    layout: &Layout,
    value: u64,
    interval: u64,
    count: u64,
    mut tell: impl FnMut(u64, u64),
) {
    if interval == 0 || value <= interval {
        return;
    }
    // The k-th missing value is `value - k * interval`, for k in 1 ..= number.
    let number = value / interval - 1;
    let in_range =
        layout.bucket_of(value.min(layout.highest_recordable())).map_or(0, |top| top.storage_index + 1);
    if number <= in_range {
        for k in 1..=number {
            tell(value - k * interval, count);
        }
        return;
    }
    // How many missing values are at least `bound`.
    let at_least = |bound: u64| if bound > value { 0 } else { ((value - bound) / interval).min(number) };
    let mut told = 0;
    let mut told_up_to = |upto: u64, representative: u64, tell: &mut dyn FnMut(u64, u64)| {
        if upto > told {
            tell(representative, (upto - told).saturating_mul(count));
            told = upto;
        }
    };
    // Above the range, the buckets from the top down, and below the range.
    if layout.highest_recordable() < value {
        told_up_to(at_least(layout.highest_recordable() + 1), value, &mut tell);
    }
    for index in (0..in_range).rev() {
        let bucket = layout.bucket_at(index);
        if bucket.upper < interval {
            break;
        }
        told_up_to(at_least(bucket.lower), bucket.lower, &mut tell);
    }
    told_up_to(number, layout.lowest_recordable().saturating_sub(1), &mut tell);
}
