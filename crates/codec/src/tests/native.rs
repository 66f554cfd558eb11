//! Our own encoding, as documented, and broken.

use std::vec::Vec;

use proptest::prelude::*;

use super::{counts, error, golden, hex, snapshot};
use crate::{Codec, Encoding};
use picollo_core::layouts::MAX_SCALE;
use picollo_core::{Error, Layout, Snapshot};

#[test]
fn our_own_is_as_documented() {
    let values = [(0, 1), (3, u64::MAX), (3, 1), (90, 200), (1000, 1)];
    let mut snapshot = snapshot(Layout::with_scale(1, 2, 100).unwrap(), &values);
    snapshot.rewrite(|counts| counts.lost = 5);
    snapshot.set_timestamp_unix_nanos(0x0102_0304_0506_0708);
    let bytes = snapshot.encode_to_vec(Encoding::Native).unwrap();
    assert_eq!(bytes[..8], hex("89 5069636f6c6c6f")[..]);
    let head = "0100 0000 01000000 0200000000000000 6400000000000000 0807060504030201
        0100000000000000 0100000000000000 0500000000000000 0f00000000000000";
    assert_eq!(bytes[8..72], hex(head)[..]);
    // One zero (the bucket of 2), the largest count, eight zeros (4 to 63), 200.
    assert_eq!(bytes[72..bytes.len() - 4], hex("0001 ffffffffffffffffff 0008 c801"));
}

#[test]
fn damage_to_our_own_is_noticed() {
    let bytes = golden().encode_to_vec(Encoding::Native).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << bit;
            assert!(Snapshot::decode(&bad, 0).is_err(), "bit {bit} of byte {at}");
        }
        assert!(Snapshot::decode(&bytes[..at], 0).is_err(), "cut at {at}");
    }
    assert_eq!(error(&[&bytes[..], &[0]].concat()), Some(Error::Corrupt), "trailing bytes");
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let with = |change: Change| {
        let mut bytes = bytes[..bytes.len() - 4].to_vec();
        change(&mut bytes);
        let length = (bytes.len() - 72) as u64;
        bytes[64..72].copy_from_slice(&length.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        error(&bytes)
    };
    assert_eq!(with(&|_| ()), None);
    assert_eq!(with(&|bytes| bytes[8] = 3), Some(Error::Unsupported), "a later version");
    assert_eq!(with(&|bytes| (bytes[8], bytes[14]) = (2, 1)), None, "a unit");
    assert_eq!(with(&|bytes| bytes.extend([0xff; 9])), None, "a count of all bits");
    let broken: [(&str, Change); 11] = [
        ("a version with a unit that has none", &|bytes| bytes[8] = 2),
        ("a unit in a version without", &|bytes| bytes[14] = 1),
        ("a unit above all values", &|bytes| (bytes[8], bytes[14]) = (2, 32)),
        ("no unit at all", &|bytes| (bytes[8], bytes[15]) = (2, 0xff)),
        ("an unknown flag", &|bytes| bytes[10] = 2),
        ("scale", &|bytes| bytes[12] = 20),
        ("range", &|bytes| bytes[24..32].fill(0)),
        ("a run without length", &|bytes| bytes.push(0)),
        ("half a count", &|bytes| bytes.push(0x80)),
        ("a long run", &|bytes| bytes.extend([0, 0xff, 0xff, 0xff, 0x7f])),
        ("runs that overflow", &|bytes| bytes.extend([&[0][..], &[0xff; 9], &[0], &[0xff; 9]].concat())),
    ];
    for (what, change) in broken {
        assert_eq!(with(change), Some(Error::Corrupt), "{what}");
    }
}

proptest! {
    #[test]
    fn our_own_round_trips(
        scale in 0..=MAX_SCALE, a in any::<u64>(), b in any::<u64>(), narrow in 0u32..60,
        values in prop::collection::vec((any::<u64>(), 0u32..64, any::<u64>()), 0..50),
        totals in any::<[u64; 4]>()
    ) {
        let (min, max) = ((a >> narrow).min(b >> narrow), (a >> narrow).max(b >> narrow));
        prop_assume!(min < max);
        let layout = Layout::with_scale(scale, min, max).unwrap();
        let values: Vec<_> = values.into_iter().map(|(value, shift, count)| (value >> shift, count)).collect();
        let mut original = snapshot(layout, &values);
        let [underflow, overflow, lost, time] = totals;
        original.rewrite(|counts| {
            (counts.underflow, counts.overflow, counts.lost) = (underflow, overflow, lost);
        });
        original.set_timestamp_unix_nanos(time);
        let bytes = original.encode_to_vec(Encoding::Native).unwrap();
        let decoded = Snapshot::decode(&bytes, u64::MAX).unwrap();
        prop_assert_eq!(decoded.layout(), original.layout());
        prop_assert_eq!(decoded.counts(), original.counts());
        prop_assert_eq!(counts(&decoded), counts(&original));
        prop_assert_eq!(decoded.timestamp_unix_nanos(), time);
        prop_assert_eq!(decoded.encode_to_vec(Encoding::Native).unwrap(), bytes);
    }
}
