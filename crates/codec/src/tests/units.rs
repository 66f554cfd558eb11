//! Encodings of snapshots whose layouts have a unit.

use std::vec::Vec;

use picollo_core::seam::SCALES_OF_DIGITS as SCALES;
use picollo_core::{Layout, Snapshot};
use proptest::prelude::*;

use super::snapshot;
use crate::{Codec, Encoding};

fn buckets(snapshot: &Snapshot) -> Vec<(u64, u64, u64)> {
    snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.upper, bucket.count)).collect()
}

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
    #[test]
    fn there_and_back(digits in 0usize..5, unit in 0u32..41, values in values()) {
        let layout = layout_of(digits, unit, MAX);
        prop_assume!(layout.is_some());
        let with = snapshot(layout.unwrap(), &values);
        for encoding in [Encoding::HdrV2, Encoding::HdrV2Compressed, Encoding::Native] {
            if encoding == Encoding::HdrV2Compressed && cfg!(not(feature = "compression")) {
                continue;
            }
            let bytes = with.encode_to_vec(encoding).unwrap();
            let decoded = Snapshot::decode(&bytes, 0).unwrap();
            prop_assert_eq!(decoded.layout(), with.layout());
            prop_assert_eq!(buckets(&decoded), buckets(&with));
            prop_assert_eq!(decoded.encode_to_vec(encoding).unwrap(), bytes.clone());
            if encoding == Encoding::Native {
                prop_assert_eq!(bytes[8], if unit == 0 { 1 } else { 2 });
            }
        }
    }
}

/// From a log of a tool that measures pauses, with Java's figures: 5000 in units of 1024.
#[test]
fn a_value_is_in_the_bucket_that_is_reported_for_it() {
    let decoded = Snapshot::decode(b"HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA==", 0).unwrap();
    assert_eq!((decoded.layout().unit(), decoded.layout().significant_digits()), (10, 3));
    assert_eq!(buckets(&decoded), [(4096, 5119, 1)]);
}
