//! Neighbouring counts, which are written several at a time, against V2 as it is told: one by one.

use super::*;
use crate::histograms::dense::Histogram;
use crate::platform::atomics::AtomicU64;
use crate::snapshot::snapshot::Since;

/// A value in one to nine bytes.
fn put(mut value: u64, out: &mut Vec<u8>) {
    for _ in 0..8 {
        if value < 0x80 {
            break;
        }
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The counts as V2 has them, behind the zeros below the first index.
fn naive(first_index: u64, counts: &[u64]) -> Vec<u8> {
    let (mut out, mut zeros) = (Vec::new(), first_index);
    for &count in counts {
        if count == 0 {
            zeros += 1;
            continue;
        }
        match core::mem::take(&mut zeros) {
            0 => {}
            1 => put(0, &mut out),
            zeros => put(2 * zeros - 1, &mut out),
        }
        put(2 * count, &mut out);
    }
    if out.is_empty() { Vec::from([0]) } else { out }
}

fn check(snapshot: &Snapshot, counts: &[u64]) {
    let expected = naive(snapshot.layout().first_index(), counts);
    let bytes = snapshot.encode_to_vec(Encoding::HdrV2).unwrap();
    assert_eq!(&bytes[hdr::HEADER..], &expected[..]);
    assert_eq!(bytes[4..8], (expected.len() as u32).to_be_bytes());
    assert_eq!(snapshot.encoded_length(Encoding::HdrV2), Ok(bytes.len()));
    let mut memory = std::vec![0xaa; bytes.len() + 20];
    assert_eq!(snapshot.encode(Encoding::HdrV2, &mut memory), Ok(bytes.len()));
    assert_eq!(&memory[..bytes.len()], &bytes[..]);
    assert!(memory[bytes.len()..].iter().all(|&byte| byte == 0xaa), "nothing behind it is written");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn as_one_by_one(
        // Runs of neighbours: how many, the bits that their counts have at most, and how often one is zero.
        runs in prop::collection::vec((1usize..70, 0u32..24, 1u64..40), 0..30),
        seed in any::<u64>(), min in 0u64..300, large in any::<prop::sample::Index>(), larger in 0u32..63,
    ) {
        let layout = Layout::with_significant_digits(2, min, 1 << 30).unwrap();
        let mut random = seed | 1;
        let mut next = move || { random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); random >> 32 };
        let mut counts = std::vec![0u64; layout.length()];
        let of_runs = runs.iter().flat_map(|&(length, bits, zeros)| (0..length).map(move |_| (bits, zeros)));
        for (count, (bits, zeros)) in counts.iter_mut().zip(of_runs) {
            // Of nearly as many bits, as neighbours are: at the ends of what fits one byte and two, too.
            let low = if next() % 2 == 0 { (1 << bits) - 1 } else { 1 << bits };
            *count = if next() % zeros == 0 && zeros < 39 { 0 } else { low + next() % (low / 16 + 2) };
        }
        if larger > 0 {
            *large.get_mut(&mut counts) = (1 << larger) - 1;
        }

        let mut plain = snapshot(layout, &[]);
        plain.rewrite(|all| counts.iter().enumerate().for_each(|(at, &count)| { all.add(at, count.into()); }));
        check(&plain, &counts);

        let histogram = Histogram::<[AtomicU64]>::boxed(layout, true).unwrap();
        let mut difference = Snapshot::boxed(layout).unwrap();
        for round in 0..2 {
            for (at, &count) in counts.iter().enumerate() {
                let lower = layout.bucket_at(at as u64).lower;
                histogram.record_n(lower, if round == 0 { next() % 1000 } else { count });
            }
            difference.update(&*histogram, Since::PreviousUpdate).unwrap();
        }
        check(&difference, &counts);
    }
}
