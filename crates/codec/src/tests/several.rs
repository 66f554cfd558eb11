//! Several consecutive encodings.

use super::*;
use picollo_core::Bucket;

/// A kind of encoding.
#[derive(Clone, Copy, Debug)]
enum Kind {
    V2,
    V1(usize),
    Compressed,
    /// As HdrHistogram.NET writes it.
    WithoutChecksum,
    Doubles,
    CompressedDoubles,
    Native,
    Base64(Encoding, &'static str),
}

fn any_kind() -> impl Strategy<Value = Kind> {
    let encoding =
        prop_oneof![Just(Encoding::HdrV2), Just(Encoding::HdrV2Compressed), Just(Encoding::Native)];
    let gap = prop_oneof![Just(" "), Just("\n"), Just("\r\n"), Just("\t \n\n")];
    prop_oneof![
        Just(Kind::V2),
        prop_oneof![Just(2), Just(4), Just(8)].prop_map(Kind::V1),
        Just(Kind::Compressed),
        Just(Kind::WithoutChecksum),
        Just(Kind::Doubles),
        Just(Kind::CompressedDoubles),
        Just(Kind::Native),
        (encoding, gap).prop_map(|(encoding, gap)| Kind::Base64(encoding, gap)),
    ]
}

fn words(original: &Snapshot, size: usize) -> Vec<u8> {
    let word = |bucket: Bucket| bucket.count.to_be_bytes()[8 - size..].to_vec();
    let payload: Vec<u8> = original.buckets().flat_map(word).collect();
    let mut bytes = original.encode_to_vec(Encoding::HdrV2).unwrap()[..40].to_vec();
    bytes[..4].copy_from_slice(&(0x1c84_9301 | (size as u32) << 4).to_be_bytes());
    bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn encode(original: &Snapshot, kind: Kind) -> Vec<u8> {
    let head = |cookie: u32| [&cookie.to_be_bytes()[..], &[0; 12]].concat();
    match kind {
        Kind::V2 => original.encode_to_vec(Encoding::HdrV2).unwrap(),
        Kind::V1(size) => words(original, size),
        Kind::Compressed => original.encode_to_vec(Encoding::HdrV2Compressed).unwrap(),
        Kind::WithoutChecksum => {
            let mut bytes = encode(original, Kind::Compressed);
            bytes.truncate(bytes.len() - 4);
            let length = bytes.len() as u32 - 8;
            bytes[4..8].copy_from_slice(&length.to_be_bytes());
            bytes
        }
        Kind::Doubles => [head(0x0c72_124e), encode(original, Kind::V2)].concat(),
        Kind::CompressedDoubles => [head(0x0c72_124f), encode(original, Kind::WithoutChecksum)].concat(),
        Kind::Native => original.encode_to_vec(Encoding::Native).unwrap(),
        Kind::Base64(encoding, gap) => (base64(original, encoding) + gap).into_bytes(),
    }
}

proptest! {
    #[test]
    fn come_back_one_after_another(
        kinds in prop::collection::vec((any_kind(), 0u32..=2, prop::collection::vec((0u64..5000, 0u64..100), 0..20)), 1..8),
        cut in any::<prop::sample::Index>()) {
        let mut all = Vec::new();
        let mut expected = Vec::new();
        for (kind, digits, values) in &kinds {
            let original = snapshot(Layout::with_significant_digits(*digits, 0, 5000).unwrap(), values);
            let bytes = encode(&original, *kind);
            expected.push((bytes.len(), counts(&original)));
            all.extend(bytes);
        }
        let mut rest = &all[..];
        for (length, counted) in &expected {
            let (decoded, taken) = Snapshot::decode_first(rest, 0).unwrap();
            prop_assert_eq!((taken, &counts(&decoded)), (*length, counted));
            // Decoding it alone gives the same.
            prop_assert_eq!(&counts(&Snapshot::decode(&rest[..taken], 0).unwrap()), counted);
            rest = &rest[taken..];
        }
        prop_assert!(rest.is_empty());
        // If the data are cut anywhere, the encodings before the cut decode.
        let end = cut.index(all.len());
        let mut rest = &all[..end];
        for (length, counted) in expected {
            if rest.len() < length {
                break;
            }
            let (decoded, taken) = Snapshot::decode_first(rest, 0).unwrap();
            prop_assert_eq!((taken, counts(&decoded)), (length, counted));
            rest = &rest[taken..];
        }
        if let Ok((_, taken)) = Snapshot::decode_first(rest, 0) {
            // Only the gap after a text remains.
            prop_assert_eq!(taken, rest.len());
        }
    }
}

/// A partial checksum followed by other data: nobody can know where that begins.
#[test]
fn a_part_of_a_checksum_is_corrupt_whatever_follows() {
    let whole = encode(&golden(), Kind::Compressed);
    let next = encode(&golden(), Kind::Native);
    let announced = |length: usize| ((length - 8) as u32).to_be_bytes();
    for there in 0..=4usize {
        let mut bytes = whole[..whole.len() - 4 + there].to_vec();
        // The announced length includes the part that is there.
        let length = bytes.len();
        bytes[4..8].copy_from_slice(&announced(length));
        let joined = [&bytes[..], &next].concat();
        let first = Snapshot::decode_first(&joined, 0);
        if there == 0 || there == 4 {
            let (first, taken) = first.unwrap();
            assert_eq!((counts(&first), taken), (counts(&golden()), length));
            assert_eq!(Snapshot::decode_first(&joined[taken..], 0).unwrap().1, next.len());
        } else {
            assert_eq!(first.err(), Some(Error::Corrupt), "{there} bytes of it");
        }
        // The announced length includes a whole checksum, but the next encoding's beginning is not one.
        bytes[4..8].copy_from_slice(&announced(whole.len()));
        let joined = [&bytes[..], &next].concat();
        assert_eq!(Snapshot::decode_first(&joined, 0).is_ok(), there == 4, "{there} bytes of it");
        // The announced length includes no checksum, so its part precedes the next encoding.
        bytes[4..8].copy_from_slice(&announced(whole.len() - 4));
        let joined = [&bytes[..], &next].concat();
        let (first, taken) = Snapshot::decode_first(&joined, 0).unwrap();
        assert_eq!((counts(&first), taken), (counts(&golden()), whole.len() - 4));
        assert_eq!(Snapshot::decode_first(&joined[taken..], 0).is_ok(), there == 0);
    }
}

#[test]
fn a_length_is_taken_at_its_word() {
    // The extra bytes are after the end of the stream, and within the length.
    let mut bytes = encode(&golden(), Kind::Compressed);
    let length = bytes.len() as u32 - 8 + 3;
    bytes[4..8].copy_from_slice(&length.to_be_bytes());
    bytes.extend([1, 2, 3, 4]);
    assert_eq!(Snapshot::decode_first(&bytes, 0).unwrap().1, bytes.len() - 1);
    // V0 has no length.
    let mut bytes = words(&golden(), 8);
    let highest: Vec<u8> = bytes[16..32].to_vec();
    bytes.splice(..40, [&0x1c84_9388u32.to_be_bytes()[..], &3u32.to_be_bytes(), &highest, &[0; 8]].concat());
    let (first, taken) = Snapshot::decode_first(&bytes, 0).unwrap();
    assert_eq!((counts(&first), taken), (counts(&golden()), bytes.len()));
    let joined = [&bytes[..], &encode(&golden(), Kind::Native)].concat();
    assert!(Snapshot::decode_first(&joined, 0).is_err(), "its counts go on to the end");
}

#[test]
fn white_space_around_texts() {
    let text = base64(&golden(), Encoding::HdrV2Compressed);
    let all = std::format!("\r\n {text}\r\n\r\n\t{text} ");
    let (first, taken) = Snapshot::decode_first(all.as_bytes(), 0).unwrap();
    assert_eq!((counts(&first), taken), (counts(&golden()), 3 + text.len() + 5));
    assert_eq!(Snapshot::decode_first(&all.as_bytes()[taken..], 0).unwrap().1, text.len() + 1);
    for nothing in ["", " ", "\n\n"] {
        assert_eq!(Snapshot::decode_first(nothing.as_bytes(), 0).err(), Some(Error::Corrupt));
    }
}
