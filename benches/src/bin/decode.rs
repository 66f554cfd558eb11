//! Decoding and encoding beside the `hdrhistogram` crate: a dense and a sparse histogram, V2 as it is and compressed.

use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use picollo_benches::{Section, contender, medians, opaque, values};
use picollo_core::{Decoder, Encoding, Snapshot};

/// One second in nanoseconds, and an hour.
const MAX: u64 = 3_600_000_000_000;

fn main() {
    let dense = values::skewed(10_000_000, 1_000_000_000);
    compare("dense: ten million values", &dense);
    let sparse: Vec<u64> = (0..40).map(|at| 1_000 * at * at * at + at).collect();
    compare("sparse: forty values", &sparse);
}

fn compare(name: &str, recorded: &[u64]) {
    let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX, 3).unwrap();
    for &value in recorded {
        theirs.record(value).unwrap();
    }
    let (mut plain, mut compressed) = (Vec::new(), Vec::new());
    V2Serializer::new().serialize(&theirs, &mut plain).unwrap();
    V2DeflateSerializer::new().serialize(&theirs, &mut compressed).unwrap();
    let ours = Snapshot::decode(&plain, 0).unwrap();
    assert_eq!(ours.encode_to_vec(Encoding::HdrV2).unwrap(), plain);
    let native = ours.encode_to_vec(Encoding::Native).unwrap();
    let mut reused = Snapshot::decode(&plain, 0).unwrap();
    println!(
        "{name}: {} buckets of {} recorded, {} bytes, {} compressed, {} in our encoding",
        ours.recorded_buckets().count(),
        ours.layout().length(),
        plain.len(),
        compressed.len(),
        native.len()
    );

    let mut deserializer = Deserializer::new();
    let (mut v2, mut deflate) = (V2Serializer::new(), V2DeflateSerializer::new());
    let (mut out, mut their_out) = (Vec::new(), Vec::new());
    let mut contenders = [
        contender("picollo, V2", || {
            opaque(Snapshot::decode(opaque(&plain[..]), 0).unwrap());
        }),
        contender("picollo, V2, into a snapshot that is there", || {
            let mut scratch = Vec::new();
            Decoder::new(opaque(&plain[..]), &mut scratch, 0).unwrap().decode_into(&mut reused).unwrap();
        }),
        contender("hdrhistogram crate, V2", || {
            opaque(Deserializer::new().deserialize::<u64, _>(&mut opaque(&plain[..])).unwrap());
        }),
        contender("picollo, V2 compressed", || {
            opaque(Snapshot::decode(opaque(&compressed[..]), 0).unwrap());
        }),
        contender("hdrhistogram crate, V2 compressed", || {
            opaque(deserializer.deserialize::<u64, _>(&mut opaque(&compressed[..])).unwrap());
        }),
        contender("picollo, native", || {
            opaque(Snapshot::decode(opaque(&native[..]), 0).unwrap());
        }),
        contender("picollo, encoding V2", || {
            out.resize(plain.len(), 0);
            opaque(ours.encode(Encoding::HdrV2, &mut out).unwrap());
        }),
        contender("hdrhistogram crate, encoding V2", || {
            their_out.clear();
            v2.serialize(&theirs, &mut their_out).unwrap();
        }),
        contender("picollo, encoding V2 compressed", || {
            opaque(ours.encode_to_vec(Encoding::HdrV2Compressed).unwrap());
        }),
        contender("hdrhistogram crate, encoding V2 compressed", || {
            let mut out = Vec::new();
            deflate.serialize(&theirs, &mut out).unwrap();
            opaque(out);
        }),
    ];
    let medians = medians(&mut contenders, 1, 41);
    let mut section = Section::new(format!("Decoding and encoding, {name}"), "ns");
    section.extend(&contenders, &medians);
    section.reference = 2;
    section.print();
}
