//! Streams as other implementations write them: without a checksum, with doubles, with values from 2^63 on.

use super::*;

/// All ends that a zlib stream may have: its checksum is left out, cut, or wrong.
#[test]
fn a_checksum_may_be_missing_but_not_broken() {
    for values in [&GOLDEN_VALUES[..], &[], &[(5, 1)], &many_values()] {
        let original = snapshot(*golden().layout(), values);
        let raw = original.encode_to_vec(Encoding::HdrV2).unwrap();
        let whole = compressed(hdr::V2_COMPRESSED_COOKIE, &raw);
        let stream = &whole[8..];
        let decode = |stream: &[u8], announced: usize| {
            let cookie = hdr::V2_COMPRESSED_COOKIE.to_be_bytes();
            let bytes = [&cookie[..], &(announced as u32).to_be_bytes(), stream].concat();
            let text = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &bytes);
            let decoded = Snapshot::decode(&bytes, 0).map(|snapshot| counts(&snapshot));
            let from_text = Snapshot::decode(text.as_bytes(), 0).map(|snapshot| counts(&snapshot));
            assert_eq!(decoded, from_text);
            decoded
        };
        let (length, end) = (stream.len(), stream.len() - 4);
        let expected = counts(&original);
        assert_eq!(decode(stream, length).as_ref(), Ok(&expected));
        assert_eq!(decode(&stream[..end], end).as_ref(), Ok(&expected), "left out");
        // The checksum is announced but missing: the line was cut.
        assert_eq!(decode(&stream[..end], length), Err(Error::Corrupt));
        for part in 1..4 {
            assert_eq!(decode(&stream[..end + part], end + part), Err(Error::Corrupt), "{part} bytes of it");
            assert_eq!(
                decode(&stream[..end - part], end - part),
                Err(Error::Corrupt),
                "{part} bytes missing"
            );
        }
        for at in end..length {
            let mut wrong = stream.to_vec();
            wrong[at] ^= 1;
            assert_eq!(decode(&wrong, length), Err(Error::Corrupt), "wrong at {at}");
        }
        // The reader ignores bytes after the announced length, even the checksum.
        assert_eq!(decode(stream, end).as_ref(), Ok(&expected));
        for length in 0..end.min(400) {
            assert_eq!(decode(&stream[..length], length), Err(Error::Corrupt), "cut at {length}");
        }
    }
}

/// More values than fit into a piece of text.
fn many_values() -> Vec<(u64, u64)> {
    (0..3_000u64).map(|i| (i * i * 7 + i % 13, i * 2_654_435_761 % 1_000_003 + 1)).collect()
}

#[test]
fn what_net_writes() {
    let decoded = Snapshot::decode(b"HISTFAAAAB9YhZNpmSzMwMDAygABzFCaEUIJd9h/gLAUmX6zMgEA", 0).unwrap();
    assert_eq!(counts(&decoded), [(17, 17, 1), (400, 400, 1)]);
}

#[test]
fn histograms_of_doubles() {
    let values = [(1000, 3), (1_000_000, 1)];
    let mut integers = v2(3, 1, 1 << 40, &[]);
    let payload = snapshot(*golden().layout(), &values).encode_to_vec(Encoding::HdrV2).unwrap();
    let payload = &payload[40..];
    integers.extend(payload);
    integers[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
    let head =
        |cookie: u32| [&cookie.to_be_bytes()[..], &3u32.to_be_bytes(), &(1u64 << 40).to_be_bytes()].concat();
    let plain = [head(0x0c72_124e), integers.clone()].concat();
    let compressed = [head(0x0c72_124f), compressed(hdr::V2_COMPRESSED_COOKIE, &integers)].concat();
    assert!(base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &compressed).starts_with("DHIST"));
    for bytes in [plain, compressed] {
        let text = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &bytes).into_bytes();
        for bytes in [bytes.clone(), text] {
            let mut scratch = Vec::new();
            let decoder = Decoder::new(&bytes, &mut scratch, 0).unwrap();
            assert_eq!(decoder.value_ratio(), 1000.0);
            assert_eq!(counts(&decoder.boxed().unwrap()), [(1000, 1000, 3), (999_936, 1_000_447, 1)]);
        }
        for length in 0..bytes.len() {
            assert_eq!(error(&bytes[..length]), Some(Error::Corrupt), "cut at {length}");
        }
        assert_eq!(error(&[&bytes[..16], &bytes[..]].concat()), Some(Error::Corrupt), "a header twice");
    }
}

/// The Rust crate counts values from 2^63 on, and writes a highest value there.
#[test]
fn values_from_2_to_the_63_on() {
    for digits in 0..=5u32 {
        let layout = Layout::with_scale([0, 4, 7, 10, 14, 17][digits as usize], 0, u64::MAX).unwrap();
        let index = layout.logical_index(u64::MAX);
        let payload = [zigzagged(-(index as i64)), zigzagged(5)].concat();
        let decoded = Snapshot::decode(&v2(digits, 1, u64::MAX, &payload), u64::MAX).unwrap();
        let found = counts(&decoded);
        assert_eq!((found[0].1, found[0].2, found.len()), (u64::MAX, 5, 1));
        // Nothing exists beyond.
        let payload = [zigzagged(-(index as i64) - 1), zigzagged(5)].concat();
        for unit in [1, 1 << 20] {
            let beyond = Snapshot::decode(&v2(digits, unit, u64::MAX, &payload), u64::MAX);
            assert_eq!(beyond.err(), Some(Error::Corrupt));
        }
    }
}
