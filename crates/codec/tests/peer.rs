//! Uses the crate `hdrhistogram` as an oracle for encodings, iterators, corrected copies and equivalent values.

use hdrhistogram::Histogram as Theirs;
use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use picollo_codec::{Codec, Encoding, log};
use picollo_core::snapshots::Step;
use picollo_core::{Layout, Since, Snapshot};
use proptest::prelude::*;

/// The same values in both.
struct Both {
    ours: Box<Snapshot>,
    theirs: Theirs<u64>,
}

impl std::fmt::Debug for Both {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "digits {}, to {}: {:?}", self.theirs.sigfig(), self.theirs.high(), our_counts(&self.ours))
    }
}

impl Both {
    /// Our snapshot is a difference, or contains everything.
    fn new(digits: u32, highest: u64, values: &[(u64, u64)], is_difference: bool) -> Both {
        let layout = Layout::with_significant_digits(digits, 0, highest).unwrap();
        let mut theirs = Theirs::new_with_bounds(1, highest, digits as u8).unwrap();
        let histogram =
            picollo_core::Histogram::<[picollo_core::layouts::AtomicU64]>::boxed(layout, false).unwrap();
        let mut ours = Snapshot::boxed(layout).unwrap();
        if is_difference {
            (0..300).for_each(|value| histogram.record_n(value * 7 % (highest + 1), 1 << (value % 40)));
            ours.update(&*histogram, Since::PreviousUpdate).unwrap();
        }
        for &(value, count) in values {
            let value = value % (highest + 1);
            histogram.record_n(value, count);
            theirs.record_n(value, count).unwrap();
        }
        ours.update(&*histogram, Since::PreviousUpdate).unwrap();
        Both { ours, theirs }
    }
}

fn our_counts(ours: &Snapshot) -> Vec<(u64, u64)> {
    ours.recorded_buckets().map(|bucket| (bucket.upper, bucket.count)).collect()
}

fn their_counts(theirs: &Theirs<u64>) -> Vec<(u64, u64)> {
    theirs.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

fn value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 1u32..64).prop_map(|(value, shift)| value >> shift)
}

fn both() -> impl Strategy<Value = Both> {
    both_with_digits(0)
}

fn both_with_digits(fewest_digits: u32) -> impl Strategy<Value = Both> {
    let count = (any::<u64>(), 24u32..64).prop_map(|(count, shift)| (count >> shift).max(1));
    let values = prop_oneof![
        1 => prop::collection::vec((value(), count), 0..100),
        // Neighbors, whose counts are written several at a time, around the limits of one byte and of two.
        1 => prop::collection::vec((0u64..400, 0usize..70, 0u32..24, any::<u64>()), 0..8)
            .prop_map(|runs| runs.into_iter().flat_map(neighbours).collect()),
    ];
    (fewest_digits..=4, value(), values, any::<bool>())
        .prop_map(|(digits, highest, values, is)| Both::new(digits, highest.max(2), &values, is))
}

/// Consecutive values, each with a count of about this many bits.
fn neighbours((first, length, bits, seed): (u64, usize, u32, u64)) -> impl Iterator<Item = (u64, u64)> {
    let draw = move |at: u64| seed.wrapping_mul(2 * at + 1).rotate_left(at as u32) >> 7;
    (0..length as u64).filter(move |at| draw(*at) % 40 < 38).map(move |at| {
        let low = if draw(at) & 1 == 0 { (1 << bits) - 1 } else { 1 << bits };
        (first + at, (low + draw(at) % (low / 16 + 2)).max(1))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn encodings(both in both()) {
        let Both { ours, theirs } = both;
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&theirs, &mut bytes).unwrap();
        let encoded = ours.encode_to_vec(Encoding::HdrV2).unwrap();
        prop_assert_eq!(&encoded, &bytes, "byte for byte");
        prop_assert_eq!(our_counts(&Snapshot::decode(&bytes, 0).unwrap()), their_counts(&theirs));

        let compressed = ours.encode_to_vec(Encoding::HdrV2Compressed).unwrap();
        let decoded: Theirs<u64> = Deserializer::new().deserialize(&mut &compressed[..]).unwrap();
        prop_assert_eq!(&decoded, &theirs);
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
        prop_assert_eq!(our_counts(&Snapshot::decode(&bytes, 0).unwrap()), our_counts(&ours));
    }

    #[test]
    fn units(unit in 0u32..20, highest in 8u32..40, digits in 0u32..=4, values in prop::collection::vec(value(), 0..50)) {
        // The test uses whole units, because their encoding has no place for values in between.
        let highest = 1u64 << (highest + unit);
        let mut theirs = Theirs::<u64>::new_with_bounds(1 << unit, highest, digits as u8).unwrap();
        for value in values {
            theirs.record((value % highest) >> unit << unit).unwrap();
        }
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&theirs, &mut bytes).unwrap();
        let ours = Snapshot::decode(&bytes, 0).unwrap();
        let lowest: Vec<_> = ours.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).collect();
        let expected: Vec<_> = their_counts(&theirs).iter().map(|&(v, n)| (theirs.lowest_equivalent(v), n)).collect();
        prop_assert_eq!(lowest, expected);
        prop_assert_eq!(ours.layout().max_trackable(), highest);
    }

    #[test]
    fn linear_steps(both in both(), parts in 1u64..500) {
        let Both { ours, theirs } = both;
        let width = (theirs.max() / parts).max(1);
        let steps: Vec<_> = ours.linear_steps(width).unwrap().collect();
        if ours.counts().total == 0 {
            prop_assert_eq!(steps.len(), 0);
            return Ok(());
        }
        let expected: Vec<_> = theirs.iter_linear(width).map(their_step).collect();
        prop_assert_eq!(steps.iter().map(our_step).collect::<Vec<_>>(), expected);
        check_steps(&ours, &steps)?;
    }

    // If a bucket is wider than steps, as without digits, theirs end early; Java's continue to its end, as ours do.
    #[test]
    fn logarithmic_steps(both in both_with_digits(1), first in 1u64..5000, base in prop_oneof![Just(2.0), 1.1f64..10.0]) {
        let Both { ours, theirs } = both;
        let steps: Vec<_> = ours.logarithmic_steps(first, base).unwrap().collect();
        if ours.counts().total == 0 {
            // Their iterator has a step for an empty histogram.
            prop_assert_eq!(steps.len(), 0);
            return Ok(());
        }
        // Their last step ends one short of the last value.
        let whole = |(to, count)| (if to == u64::MAX - 1 { u64::MAX } else { to }, count);
        let expected: Vec<_> = theirs.iter_log(first, base).map(their_step).map(whole).collect();
        prop_assert_eq!(steps.iter().map(our_step).collect::<Vec<_>>(), expected);
        check_steps(&ours, &steps)?;
    }

    #[test]
    fn corrected_copies(both in both(), parts in 1u64..5000) {
        let Both { ours, theirs } = both;
        let interval = (theirs.max() / parts).max(1);
        let corrected = ours.corrected(interval).unwrap();
        prop_assert_eq!(our_counts(&corrected), their_counts(&theirs.clone_correct(interval)));
    }

    #[test]
    fn adding_and_subtracting(a in both(), b in prop::collection::vec((value(), 1u64..1000), 0..50)) {
        let Both { mut ours, mut theirs } = a;
        let digits = theirs.sigfig() as u32;
        let b = Both::new(digits, theirs.high(), &b, false);
        let before = our_counts(&ours);
        prop_assert!(ours.merge(&b.ours).is_exact());
        theirs.add(&b.theirs).unwrap();
        prop_assert_eq!(our_counts(&ours), their_counts(&theirs));
        prop_assert_eq!(ours.counts().total, theirs.len());
        prop_assert!(ours.subtract(&b.ours).unwrap().is_exact());
        prop_assert_eq!(our_counts(&ours), before);
    }

    #[test]
    fn our_log_for_them(boths in prop::collection::vec(both(), 0..5), tagged in any::<bool>()) {
        let mut text = String::new();
        let tag = tagged.then_some("a-tag");
        log::write_header(&mut text, &log::Header { comment: "one\ntwo", start_seconds: Some(1e9), base_seconds: None }).unwrap();
        for (at, both) in boths.iter().enumerate() {
            log::write_interval(&mut text, &both.ours, 1e9 + at as f64 * 0.5, 0.5, tag).unwrap();
        }
        let mut at = 0;
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            let LogEntry::Interval(entry) = entry.unwrap() else { continue };
            prop_assert_eq!(entry.tag().map(|tag| tag.as_str()), tag);
            prop_assert_eq!(entry.start_timestamp().as_secs_f64(), 1e9 + at as f64 * 0.5);
            prop_assert_eq!(entry.duration().as_secs_f64(), 0.5);
            let decoded: Theirs<u64> = decode_entry(&entry);
            prop_assert_eq!(&decoded, &boths[at].theirs);
            prop_assert!((entry.max() - boths[at].theirs.max() as f64 / 1e6).abs() <= 0.0005 + entry.max() * 1e-9);
            at += 1;
        }
        prop_assert_eq!(at, boths.len());
        // Our own reader reads the same.
        let mut read = log::Reader::new(text.as_bytes());
        for both in &boths {
            let interval = read.next().unwrap().unwrap();
            prop_assert_eq!(interval.tag, tag);
            prop_assert_eq!(our_counts(&interval.decode(0).unwrap()), our_counts(&both.ours));
        }
        prop_assert!(read.next().is_none());
    }
}

fn decode_entry(entry: &IntervalLogHistogram) -> Theirs<u64> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(entry.encoded_histogram()).unwrap();
    Deserializer::new().deserialize(&mut &bytes[..]).unwrap()
}

/// The end of a step, and its count.
fn our_step(step: &Step) -> (u64, u64) {
    (step.to, step.added_count)
}

fn their_step(step: hdrhistogram::iterators::IterationValue<u64>) -> (u64, u64) {
    (step.value_iterated_to(), step.count_since_last_iteration())
}

fn check_steps(ours: &Snapshot, steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut cumulative, mut from) = (0, 0);
    for step in steps {
        cumulative += step.added_count;
        prop_assert_eq!((step.from, step.cumulative_count), (from, cumulative));
        prop_assert_eq!(step.rank, 100.0 * cumulative as f64 / ours.counts().total as f64);
        from = step.to;
    }
    prop_assert_eq!(cumulative, ours.counts().total, "everything recorded is covered");
    Ok(())
}
