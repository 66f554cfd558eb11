//! Comparisons of snapshots whose layouts have a unit.

use std::vec::Vec;

use picollo_core::Layout;
use picollo_core::seam::SCALES_OF_DIGITS as SCALES;
use proptest::prelude::*;

use super::compare_snapshots;
use super::tests::snapshot;

fn values() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let value = (any::<u64>(), 2u32..50).prop_map(|(value, shift)| value >> 1 >> shift.min(40));
    prop::collection::vec((value, 1u64..1000), 1..60)
}

/// Returns a layout with HdrHistogram's digits and a unit, if it has few enough counters for a quick test.
fn layout_of(digits: usize, unit: u32, max: u64) -> Option<Layout> {
    let layout = Layout::with_scale(SCALES[digits], 0, max).ok()?.with_unit(unit).ok()?;
    (layout.length() < 1 << 19).then_some(layout)
}

/// The largest value of all the above.
const MAX: u64 = u64::MAX >> 3;

proptest! {
    /// The result is as if both had been recorded in the smaller blocks and the larger unit.
    #[test]
    fn comparisons_are_of_what_both_tell_apart(
        one in (0usize..4, 0u32..30), other in (0usize..4, 0u32..30), values in (values(), values())
    ) {
        let (Some(a), Some(b)) = (layout_of(one.0, one.1, MAX), layout_of(other.0, other.1, MAX)) else { return Ok(()) };
        let Some(both) = layout_of(one.0.min(other.0), one.1.max(other.1), MAX) else { return Ok(()) };
        let compare = |a: Layout, b: Layout| {
            let result = compare_snapshots(&snapshot(a, &values.0), &snapshot(b, &values.1), &Default::default()).unwrap();
            (result.mann_whitney_u, result.ks_distance, result.common_language)
        };
        prop_assert_eq!(compare(a, b), compare(both, both));
    }
}
