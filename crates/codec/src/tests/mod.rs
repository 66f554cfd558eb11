//! Checks encodings against worked examples, each other, and broken data.

use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use picollo_core::Layout;
use picollo_core::layouts::ValueSelection;
use picollo_core::snapshots::Counts;

mod native;
#[cfg(feature = "compression")]
mod several;
#[cfg(feature = "compression")]
mod streams;

/// Returns what recording so often gives.
pub(crate) fn snapshot(layout: Layout, values: &[(u64, u64)]) -> Box<Snapshot> {
    let mut snapshot = Snapshot::boxed(layout).unwrap();
    snapshot.rewrite(|counts| {
        for &(value, count) in values {
            match counts.add(layout.storage_index(value) as usize, count.into()) {
                Some(_) => {}
                None if layout.is_below(value) => counts.underflow = counts.underflow.saturating_add(count),
                None => counts.overflow = counts.overflow.saturating_add(count),
            }
        }
    });
    snapshot
}

/// Returns why data cannot be decoded, if it cannot.
fn error(bytes: &[u8]) -> Option<Error> {
    Snapshot::decode(bytes, 0).err()
}

/// Counts by bucket.
fn counts(snapshot: &Snapshot) -> Vec<(u64, u64, u64)> {
    snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.upper, bucket.count)).collect()
}

fn base64(snapshot: &Snapshot, encoding: Encoding) -> String {
    let mut text = String::new();
    snapshot.write_base64(encoding, &mut text).unwrap();
    text
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let value = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(value).collect()
}

const GOLDEN_VALUES: [(u64, u64); 8] =
    [(0, 1), (1, 1), (3, 2), (7, 1), (1000, 100), (2047, 1), (2048, 1), (123_456_789, 1)];
const GOLDEN: &str = "1c849313 00000012 00000000 00000003 0000000000000001 00000000d693a400 3ff0000000000000
    0202 00 04 05 02 bf0f c801 ab10 02 02 b3fd01 02";

fn golden() -> Box<Snapshot> {
    snapshot(Layout::with_significant_digits(3, 0, 3_600_000_000).unwrap(), &GOLDEN_VALUES)
}

#[test]
fn the_golden_vector() {
    let bytes = hex(GOLDEN);
    let golden = golden();
    assert_eq!(golden.encode_to_vec(Encoding::HdrV2).unwrap(), bytes);
    assert_eq!(golden.encoded_length(Encoding::HdrV2).unwrap(), bytes.len());
    let decoded = Snapshot::decode(&bytes, 0).unwrap();
    assert_eq!(decoded.layout(), golden.layout());
    assert_eq!(counts(&decoded), counts(&golden));
    assert_eq!(decoded.counts().total, 108);
    let moments = decoded.moments();
    assert_eq!(std::format!("{:.6}", moments.mean), "1143899.685185");
    assert_eq!(std::format!("{:.6}", moments.stddev), "11822525.659786");
    assert_eq!(decoded.percentile(100.0, ValueSelection::Upper).unwrap().value, 123_469_823);
}

#[test]
fn an_empty_histogram() {
    let empty = snapshot(Layout::with_significant_digits(2, 0, 1000).unwrap(), &[]);
    let bytes = empty.encode_to_vec(Encoding::HdrV2).unwrap();
    assert_eq!(bytes[40..], [0], "one zero");
    for payload in [&[0u8][..], &[], &[1], &[0, 0, 0]] {
        let mut bytes = bytes[..40].to_vec();
        bytes[7] = payload.len() as u8;
        bytes.extend(payload);
        let decoded = Snapshot::decode(&bytes, 0).unwrap();
        assert_eq!((decoded.counts(), decoded.layout()), (Counts::default(), empty.layout()));
    }
}

/// A V2 encoding with its own settings.
fn v2(digits: u32, lowest: u64, highest: u64, payload: &[u8]) -> Vec<u8> {
    let offset = u32::MAX; // ignored
    let words = [hdr::V2_COOKIE, payload.len() as u32, offset, digits].map(u32::to_be_bytes);
    let settings = [lowest, highest, 1000f64.to_bits()].map(u64::to_be_bytes);
    [words.as_flattened(), settings.as_flattened(), payload].concat()
}

/// A V0 encoding: the lowest and highest value and the total count are its settings.
fn v0(cookie: u32, digits: u32, settings: [u64; 3], payload: &[u8]) -> Vec<u8> {
    let words = [cookie, digits].map(u32::to_be_bytes);
    [words.as_flattened(), settings.map(u64::to_be_bytes).as_flattened(), payload].concat()
}

#[test]
fn a_lone_zero_may_be_a_run() {
    let both = [&[0u8, 2][..], &[1, 2]].map(|payload| Snapshot::decode(&v2(3, 1, 100, payload), 0).unwrap());
    assert_eq!(counts(&both[0]), [(1, 1, 1)]);
    assert_eq!(counts(&both[1]), [(1, 1, 1)]);
}

/// npm's hdr-histogram-js writes the ratio as an integer, where readers expect a double.
#[test]
fn an_integer_one_is_a_ratio_of_one() {
    let mut bytes = v2(3, 1, 100, &[1, 2]);
    for (written, read) in [(1, 1.0), (0.5f64.to_bits(), 0.5), (2, f64::from_bits(2))] {
        bytes[32..40].copy_from_slice(&written.to_be_bytes());
        assert_eq!(Decoder::new(&bytes, &mut Vec::new(), 0).unwrap().value_ratio(), read);
    }
}

#[test]
fn units_scale_values_up() {
    // Unit 1024 (the lowest discernible value is a unit of a power of two). One count each at 0, 1, 2047, 2048 units.
    let payload = [&[2u8, 2][..], &zigzagged(-2045), &[2, 2]].concat();
    let bytes = v2(3, 1500, 1 << 40, &payload);
    let mut scratch = Vec::new();
    let decoder = Decoder::new(&bytes, &mut scratch, 0).unwrap();
    assert_eq!(decoder.value_ratio(), 1000.0);
    let decoded = decoder.boxed().unwrap();
    let unit = 1024;
    let expected = [(0, 1), (1, 2), (2047, 2048), (2048, 2050)];
    assert_eq!(counts(&decoded), expected.map(|(lower, upper)| (lower * unit, upper * unit - 1, 1)));
    assert_eq!(decoded.layout().unit(), 10);
    assert_eq!(decoded.layout().max_trackable(), 1 << 40);
}

fn zigzagged(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; varint::PIECE];
    let mut writer = varint::Writer::new(&mut bytes, &mut piece);
    writer.write(varint::zigzag(value)).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn counts_above_the_highest_trackable_value_have_a_place() {
    // HdrHistogram takes values up to 4095 if the limit is 3000, because its array has room for them.
    let payload = [zigzagged(-3071), zigzagged(5)].concat();
    let decoded = Snapshot::decode(&v2(3, 1, 3000, &payload), 0).unwrap();
    assert_eq!(counts(&decoded), [(4094, 4095, 5)]);
    assert_eq!(decoded.counts().overflow, 0);
    assert_eq!(decoded.layout().max_trackable(), 4095);
    // The limit is 16 in units of 4.
    let decoded = Snapshot::decode(&v2(2, 4, 16, &[zigzagged(-13), zigzagged(5)].concat()), 0).unwrap();
    assert_eq!(counts(&decoded), [(52, 55, 5)]);
    assert_eq!(decoded.layout().max_trackable(), 55);
    // The .NET array has one more block.
    let payload = [zigzagged(-4095), zigzagged(5)].concat();
    assert_eq!(counts(&Snapshot::decode(&v2(3, 1, 3000, &payload), 0).unwrap()), [(8188, 8191, 5)]);
    // The next index is outside of it.
    let payload = [zigzagged(-4096), zigzagged(5)].concat();
    assert_eq!(error(&v2(3, 1, 3000, &payload)), Some(Error::Corrupt));
}

#[test]
fn broken_headers_are_refused() {
    let ok = v2(3, 1, 2, &[2]);
    assert!(Snapshot::decode(&ok, 0).is_ok());
    let max = i64::MAX as u64;
    for (digits, lowest, highest) in [
        (6, 1, 2),
        (u32::MAX, 1, 2),
        (3, 0, 2),
        (3, 1, 1),
        (3, 2, 3),
        (3, 1 << 63, u64::MAX),
        (3, u64::MAX, u64::MAX),
        (3, 1 << 52, max),
        (3, max, max),
    ] {
        let decoded = Snapshot::decode(&v2(digits, lowest, highest, &[2]), u64::MAX);
        assert_eq!(decoded.err(), Some(Error::Corrupt), "{digits} {lowest} {highest}");
    }
    for length in 0..ok.len() {
        assert_eq!(error(&ok[..length]), Some(Error::Corrupt), "cut at {length}");
    }
    let with_length = |length: u32| {
        let mut bytes = ok.clone();
        bytes[4..8].copy_from_slice(&length.to_be_bytes());
        Snapshot::decode(&bytes, 0).err()
    };
    assert_eq!(with_length(2), Some(Error::Corrupt), "counts longer than the data");
    assert_eq!(with_length(u32::MAX), Some(Error::Corrupt), "a negative length");
    assert_eq!(with_length(0), None);
}

#[test]
fn broken_counts_are_refused() {
    for payload in [
        &[0x80][..],                                 // ends within a count
        &[0xff; 8],                                  // so does this
        &[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], // and this run
        &zigzagged(-4097),                           // a run that leaves the array
        &zigzagged(i64::MIN),                        // a run that leaves it by far
        &[zigzagged(-4096), zigzagged(-1)].concat(), // one too many
        &[zigzagged(i64::MIN), zigzagged(i64::MIN)].concat(),
    ] {
        let bytes = v2(3, 1, 3000, payload);
        assert_eq!(error(&bytes), Some(Error::Corrupt), "{payload:x?}");
    }
    assert!(Snapshot::decode(&v2(3, 1, 3000, &zigzagged(-4096)), 0).is_ok());
}

#[test]
fn sizes_above_the_limit_are_refused() {
    let layout = Layout::with_significant_digits(3, 0, 100_000).unwrap();
    let limit = layout.length() as u64;
    let full = snapshot(layout, &[(5, 5)]);
    for encoding in [Encoding::HdrV2, Encoding::HdrV2Compressed, Encoding::Native] {
        let bytes = full.encode_to_vec(encoding).unwrap();
        assert!(Snapshot::decode(&bytes, limit).is_ok());
        assert_eq!(Snapshot::decode(&bytes, limit - 1).err(), Some(Error::OutOfMemory), "{encoding:?}");
    }
    // A count beyond the announced range needs a larger layout.
    let bytes = v2(3, 1, 3000, &[zigzagged(-3071), zigzagged(5)].concat());
    let limit = Layout::with_significant_digits(3, 0, 4095).unwrap().length() as u64;
    assert!(Snapshot::decode(&bytes, limit).is_ok());
    assert_eq!(Snapshot::decode(&bytes, limit - 1).err(), Some(Error::OutOfMemory));
    // HdrHistogram's largest one is within the default.
    assert!(Snapshot::decode(&v2(5, 1, i64::MAX as u64, &[2]), 0).is_ok());
}

#[test]
fn fixed_words() {
    let expected = [(0, 0, 1), (1, 1, 258), (3, 3, 7)];
    for (nibble, size) in [(2u32, 2usize), (4, 4), (8, 8)] {
        let words: Vec<u8> =
            [1u64, 258, 0, 7].iter().flat_map(|word| word.to_be_bytes()[8 - size..].to_vec()).collect();
        let mut v1 = v2(2, 1, 1000, &words);
        v1[..4].copy_from_slice(&(0x1c84_9301 | nibble << 4).to_be_bytes());
        let v0 = v0(0x1c84_9308 | nibble << 4, 2, [1, 1000, 266], &words);
        for (version, bytes) in [(1u32, v1), (0, v0)] {
            let decoded = Snapshot::decode(&bytes, 0).unwrap();
            assert_eq!(counts(&decoded), expected);
            assert_eq!(decoded.layout(), &Layout::with_significant_digits(2, 0, 1000).unwrap());
            // The compressed form has the cookies of its version.
            let cookie = if version == 1 { 0x1c84_9302 } else { 0x1c84_9309 } | nibble << 4;
            assert_eq!(counts(&Snapshot::decode(&compressed(cookie, &bytes), 0).unwrap()), expected);
            // HdrHistogram's words are signed.
            let mut negative = bytes.clone();
            negative[bytes.len() - size] = 0x80;
            assert_eq!(error(&negative), Some(Error::Corrupt));
            assert_eq!(error(&bytes[..bytes.len() - 1]), Some(Error::Corrupt));
        }
    }
}

#[cfg(feature = "compression")]
fn compressed(cookie: u32, bytes: &[u8]) -> Vec<u8> {
    let stream = miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6);
    let mut all = cookie.to_be_bytes().to_vec();
    all.extend((stream.len() as u32).to_be_bytes());
    all.extend(stream);
    all
}

#[test]
fn broken_streams_are_refused() {
    let raw = golden().encode_to_vec(Encoding::HdrV2).unwrap();
    let cookie = hdr::V2_COMPRESSED_COOKIE;
    let good = compressed(cookie, &raw);
    assert!(Snapshot::decode(&good, 0).is_ok());
    for length in 0..good.len() {
        assert_eq!(error(&good[..length]), Some(Error::Corrupt), "cut at {length}");
    }
    for at in 8..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        // Some bits only pad a byte; the checksum detects changes of the others.
        if let Ok(decoded) = Snapshot::decode(&bad, 0) {
            assert_eq!(counts(&decoded), counts(&golden()), "byte {at} changed");
        }
    }
    let (longer, bomb) = ([&raw[..], &[0]].concat(), [&raw[..], &std::vec![0; 1 << 24]].concat());
    for stream in [&longer[..], &bomb, &good, &raw[..raw.len() - 1], &[]] {
        assert_eq!(error(&compressed(cookie, stream)), Some(Error::Corrupt), "{}", stream.len());
    }
}

/// HdrHistogram's arrays continue to the end of a block: here 262,144 counters for two values. Zeros there take no
/// counters, but they take bytes while they are inflated, which the limit bounds too.
#[test]
fn zeros_beyond_the_limit_are_not_inflated() {
    let zeros = std::vec![0; 200_000];
    let v2 = v2(5, 1, 2, &zeros);
    let v0 = v0(0x1c84_9328, 5, [1, 2, 0], &zeros);
    for (cookie, plain) in [(hdr::V2_COMPRESSED_COOKIE, v2), (0x1c84_9329, v0)] {
        assert!(Snapshot::decode(&plain, 3).is_ok(), "nothing is inflated");
        let bytes = compressed(cookie, &plain);
        assert!(Snapshot::decode(&bytes, 200_000).is_ok());
        let mut scratch = Vec::new();
        assert_eq!(Decoder::new(&bytes, &mut scratch, 100).err(), Some(Error::OutOfMemory));
        assert!(scratch.capacity() <= 41 + 9 * 101, "{}", scratch.capacity());
    }
}

#[test]
fn what_v2_cannot_hold_is_refused() {
    let refused = |layout: Layout, value: u64, count: u64| {
        let snapshot = snapshot(layout, &[(value, count)]);
        for encoding in [Encoding::HdrV2, Encoding::HdrV2Compressed] {
            let mut out = [7; 200];
            assert_eq!(snapshot.encoded_length(encoding), Err(Error::Incompatible));
            assert_eq!(snapshot.encode(encoding, &mut out), Err(Error::Incompatible));
            assert_eq!(out, [7; 200], "nothing was written");
        }
        let native = snapshot.encode_to_vec(Encoding::Native).unwrap();
        assert_eq!(counts(&Snapshot::decode(&native, 0).unwrap()), counts(&snapshot), "ours holds it");
    };
    let digits = |digits| Layout::with_significant_digits(digits, 0, u64::MAX).unwrap();
    refused(digits(3), 1 << 63, 1);
    refused(digits(3), 5, 1 << 63);
    refused(Layout::new(0.001, 0, 1000), 5, 1);
    let snapshot = snapshot(digits(3), &[((1 << 63) - 1, (1 << 63) - 1), (7, 1)]);
    let decoded = Snapshot::decode(&snapshot.encode_to_vec(Encoding::HdrV2).unwrap(), 0).unwrap();
    assert_eq!(counts(&decoded), counts(&snapshot));
    assert_eq!(decoded.layout().max_trackable(), (1 << 63) - 1);
}

#[test]
fn v2_omits_counts_out_of_range() {
    let layout = Layout::with_significant_digits(2, 1000, 2000).unwrap();
    let snapshot = snapshot(layout, &[(5, 1), (1500, 1), (5000, 1), (6000, 1)]);
    let decoded = Snapshot::decode(&snapshot.encode_to_vec(Encoding::HdrV2).unwrap(), 0).unwrap();
    assert_eq!(decoded.counts(), Counts { total: 1, ..Counts::default() });
    assert_eq!(counts(&decoded), counts(&snapshot), "counts start at 0 there");
    assert_eq!(decoded.layout().min_trackable(), 0);
}

#[test]
fn unknown_data() {
    for bytes in [
        &b""[..],
        b" \n",
        b"hello",
        b"HIST",
        b"HISTFAAA",
        b"\x1c\x84\x93",
        b"\x1c\x84\x93\x13",
        b"\x89Picollo",
    ] {
        assert_eq!(error(bytes), Some(Error::Corrupt), "{bytes:?}");
    }
    assert_eq!(Encoding::try_from(3), Err(Error::InvalidArgument));
}

#[test]
fn a_decoded_snapshot_holds_its_counts_alone() {
    let mut decoded = Snapshot::decode(&golden().encode_to_vec(Encoding::HdrV2).unwrap(), 0).unwrap();
    let histogram =
        picollo_core::Histogram::<[picollo_core::layouts::AtomicU64]>::boxed(*decoded.layout(), true)
            .unwrap();
    assert_eq!(decoded.update(&*histogram, picollo_core::Since::Reset), Err(Error::Unsupported));
    // But it can be changed, and merged into one that can be updated.
    assert!(decoded.merge(&golden()).is_exact());
    assert_eq!(decoded.counts().total, 216);
    assert_eq!(decoded.bucket_of(1000).unwrap().count, 200);
    assert!(decoded.subtract(&golden()).is_ok());
    assert_eq!(counts(&decoded), counts(&golden()));
    let mut other = Snapshot::boxed(*decoded.layout()).unwrap();
    other.merge(&decoded);
    assert_eq!(counts(&other), counts(&golden()));
    other.update(&*histogram, picollo_core::Since::Reset).unwrap();
    assert_eq!(other.counts().total, 0);
}

/// Any histogram that V2 can hold.
fn any_of_theirs() -> impl Strategy<Value = (u32, u64, Vec<(u64, u64)>)> {
    let value = (any::<u64>(), 1u32..64).prop_map(|(value, shift)| value >> shift);
    let count = (any::<u64>(), 1u32..64).prop_map(|(count, shift)| count >> shift);
    (0u32..=5, value.clone().prop_map(|max| max.max(2)), prop::collection::vec((value, count), 0..200))
}

/// From a log of a tool that measures pauses, with Java's figures: 5000 in units of 1024.
#[test]
fn a_value_is_in_the_bucket_that_is_reported_for_it() {
    let decoded = Snapshot::decode(b"HISTFAAAACB4nJNpmSzMwMDAxAABzBCKBUw6ALH9B4gIOxMAQyACyA==", 0).unwrap();
    assert_eq!((decoded.layout().unit(), decoded.layout().significant_digits()), (10, 3));
    assert_eq!(counts(&decoded), [(4096, 5119, 1)]);
}

proptest! {
    // The largest have millions of counters.
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn round_trips((digits, max, values) in any_of_theirs(), min in any::<u16>(), unit in prop_oneof![Just(0), 0u32..41]) {
        let min = min as u64 % max.min(5000);
        let layout = Layout::with_significant_digits(digits, min, max).unwrap();
        // HdrHistogram's highest value is at least two units.
        let unit = if max >> unit >= 2 && layout.with_unit(unit).is_ok() { unit } else { 0 };
        let layout = layout.with_unit(unit).unwrap();
        // Few counts in a bucket, so that no sum is too large.
        let values: Vec<_> = values.into_iter().map(|(value, count)| (value, count >> 8)).collect();
        let original = snapshot(layout, &values);
        for encoding in [Encoding::HdrV2, Encoding::HdrV2Compressed, Encoding::Native] {
            let bytes = original.encode_to_vec(encoding).unwrap();
            prop_assert_eq!(original.encoded_length(encoding).unwrap(), bytes.len());
            let mut memory = std::vec![0xaa; bytes.len()];
            prop_assert_eq!(original.encode(encoding, &mut memory), Ok(bytes.len()));
            prop_assert_eq!(&memory, &bytes);
            memory.fill(0xaa);
            prop_assert_eq!(original.encode(encoding, &mut memory[1..]), Err(Error::BufferTooSmall));
            prop_assert!(memory.iter().all(|&byte| byte == 0xaa), "untouched when too short");
            let text = base64(&original, encoding);
            for encoded in [&bytes[..], text.as_bytes(), std::format!(" {} \r\n", text.trim_end_matches('=')).as_bytes()] {
                let decoded = Snapshot::decode(encoded, 0).unwrap();
                prop_assert_eq!(counts(&decoded), counts(&original));
                prop_assert_eq!(decoded.counts().total, original.counts().total);
                let written = if encoding == Encoding::Native { layout } else { layout.with_range(0, max).unwrap() };
                prop_assert_eq!(decoded.layout(), &written);
                prop_assert_eq!(&decoded.encode_to_vec(encoding).unwrap(), &bytes);
            }
            let version = if unit == 0 { 1 } else { 2 };
            prop_assert!(encoding != Encoding::Native || bytes[8] == version);
        }
    }
}
