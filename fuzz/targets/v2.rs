//! HdrHistogram's encodings, with headers that are often valid: settings from the first bytes, then counts. If the
//! crate `hdrhistogram` reads them too, it must read the same.
#![no_main]

use hdrhistogram::serialization::Deserializer;
use libfuzzer_sys::fuzz_target;
use picollo_fuzz::{MAX_COUNTERS, check, counts, decode};

fuzz_target!(|bytes: &[u8]| {
    let [kind, digits, unit, highest, rest @ ..] = bytes else { return };
    let cookie: u32 = match kind % 8 {
        0 => 0x1c84_9321,
        1 => 0x1c84_9341,
        2 => 0x1c84_9381,
        _ => 0x1c84_9313,
    };
    let lowest = 1u64 << (unit % 40).saturating_sub(20);
    let highest = (lowest << (highest % 62)).max(2 * lowest).min(i64::MAX as u64);
    let mut encoded = cookie.to_be_bytes().to_vec();
    encoded.extend((rest.len() as u32).to_be_bytes());
    encoded.extend([0; 4]);
    encoded.extend(u32::from(digits % 6).to_be_bytes());
    encoded.extend(lowest.to_be_bytes());
    encoded.extend(highest.to_be_bytes());
    encoded.extend(1.0f64.to_be_bytes());
    encoded.extend(rest);

    let ours = decode(&encoded);
    // The same data inside an encoding of doubles.
    let doubles = [&0x0c72_124eu32.to_be_bytes()[..], &[0; 12], &encoded].concat();
    match (&ours, decode(&doubles)) {
        (Ok(ours), Ok(doubles)) => {
            assert_eq!((counts(ours), ours.layout()), (counts(&doubles), doubles.layout()))
        }
        (Err(error), Err(of_doubles)) => assert_eq!(*error, of_doubles),
        (ours, doubles) => panic!("{:?}, {:?} of doubles", ours.as_ref().err(), doubles.err()),
    }
    let Ok(ours) = ours else { return };
    check(&ours);
    if cookie != 0x1c84_9313 {
        return;
    }
    // The peer does not survive everything that we refuse, and refuses some of what we read.
    let theirs: Result<hdrhistogram::Histogram<u64>, _> = Deserializer::new().deserialize(&mut &encoded[..]);
    let Ok(theirs) = theirs else { return };
    assert!(ours.layout().length() as u64 <= MAX_COUNTERS);
    let layout = ours.layout();
    let theirs: Vec<_> = theirs
        .iter_recorded()
        .map(|step| (layout.logical_index(step.value_iterated_to()), step.count_at_value()))
        .collect();
    assert_eq!(counts(&ours), theirs);
});
