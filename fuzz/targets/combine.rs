//! Operations on decoded snapshots: merge, subtract, correct, iterate, write as text. The input is the length of the
//! first encoding, and then two encodings.
#![no_main]

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use picollo_codec::{HgrmFormat, write_hgrm};
use picollo_core::Snapshot;
use picollo_core::layouts::ValueSelection;
use picollo_fuzz::{counts, decode};

/// Counts characters, and stops at a limit.
struct Counted(usize);

impl Write for Counted {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        if self.0 < 1 << 20 { Ok(()) } else { Err(std::fmt::Error) }
    }
}

fn sum(snapshot: &Snapshot) -> u128 {
    let counts = snapshot.counts();
    [counts.total, counts.underflow, counts.overflow, counts.lost]
        .iter()
        .map(|&count| u128::from(count))
        .sum()
}

fuzz_target!(|bytes: &[u8]| {
    let [at, interval, ticks, rest @ ..] = bytes else { return };
    let (first, second) = rest.split_at(usize::from(*at).min(rest.len()));
    let (Ok(a), Ok(b)) = (decode(first), decode(second)) else { return };

    let mut merged = Snapshot::boxed(*a.layout()).unwrap();
    assert!(merged.merge(&a).is_exact());
    let report = merged.merge(&b);
    let is_small =
        [&a, &b, &merged].iter().all(|one| one.counts().total < u64::MAX && one.counts().lost < u64::MAX)
            && merged.counts().underflow < u64::MAX
            && merged.counts().overflow < u64::MAX;
    if is_small {
        assert_eq!(sum(&merged), sum(&a) + sum(&b), "nothing vanishes");
        let mut swapped = Snapshot::boxed(*a.layout()).unwrap();
        swapped.merge(&b);
        swapped.merge(&a);
        assert_eq!((counts(&swapped), swapped.counts()), (counts(&merged), merged.counts()));
        if report.lost == 0 {
            assert_eq!(merged.subtract(&b), Ok(report));
            assert_eq!((counts(&merged), merged.counts()), (counts(&a), a.counts()));
        }
    }

    let interval = 1u64 << (interval % 64);
    if let Ok(corrected) = a.corrected(interval) {
        for bucket in a.recorded_buckets() {
            assert!(corrected.bucket_of(bucket.lower).unwrap().count >= bucket.count);
        }
    }
    let ticks = u32::from(*ticks) + 1;
    // At most `ticks` in each half of the distance, for as many halves as a double can distinguish.
    let limit = 56 * ticks as usize + 2;
    let steps: Vec<_> = a.percentile_steps(ticks).unwrap().take(limit + 1).collect();
    assert!(steps.len() <= limit, "{} steps of {ticks} ticks", steps.len());
    assert_eq!(steps.last().map(|step| step.rank_level), (a.counts().total > 0).then_some(100.0));
    let _ = a.linear_steps(interval).unwrap().take(1000).count();
    let _ = a.logarithmic_steps(interval, 1.5).unwrap().count();
    let _ = write_hgrm(&a, &mut Counted(0), ticks, 1000.0, HgrmFormat::Columns);
    let _ = a.summary(ValueSelection::Midpoint);
});
