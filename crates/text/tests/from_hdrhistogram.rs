//! Written by ci/docs/rows.py from docs/coming-from.md: what its rows in Rust say.

#[test]
#[rustfmt::skip]
#[allow(unused_must_use, clippy::all)]
fn rows() -> picollo_core::Result<()> {
use picollo_codec::{Codec, Encoding, HgrmFormat, log, write_hgrm};
use picollo_core::doubles::{DoubleOptions, SharedDoubleHistogram};
use picollo_core::layouts::ValueSelection;
use picollo_core::{Options, SharedHistogram, Since, Snapshot};
let (v, n, i, w, t) = (1_000_000, 5, 100_000, 100_000, 1441812279.0);
let mut text = String::new();
// `Histogram::<u64>::new_with_bounds(1, 3600000000, 3)?`
let o = Options { significant_digits: 3, max_trackable: 3_600_000_000, ..Options::default() };
let h = SharedHistogram::create(&o)?;
// `record(v)?`, `saturating_record(v)`
h.record(v);
// `record_n(v, n)?`
h.record_n(v, n);
// `record_correct(v, i)?`
h.record_corrected(v, i);
// to read, `h`
let mut s = Snapshot::boxed(*h.layout())?;
h.update(&mut s, Since::Reset)?;
// `value_at_percentile(99.9)`
s.percentile(99.9, ValueSelection::Upper)?.value;
// `mean()`, `stdev()`
s.moments().mean;
s.moments().stddev;
// `min()`, `max()`, `len()`
s.lowest_recorded().map(|b| b.lower);
s.highest_recorded().map(|b| b.upper);
s.counts().total;
// `count_at(v)`, `lowest_equivalent(v)`, `count_between(0, v)`
s.bucket_of(v).unwrap().count;
s.bucket_of(v).unwrap().lower;
s.count_between(0, v);
// `iter_recorded()`, `iter_all()`
s.recorded_buckets();
s.buckets();
// `iter_linear(w)`
s.linear_steps(w)?;
// `iter_log(w, 2.0)`
s.logarithmic_steps(w, 2.0)?;
// `iter_quantiles(5)`
s.percentile_steps(5)?;
// `clone()`, `clone_correct(i)`
let other = s.boxed_copy()?;
s.corrected(i)?;
// `add(&other)?`
s.merge_low_ends(&other);
h.add_snapshot_low_ends(&other);
// `subtract(&other)?`
s.subtract(&other)?;
// `V2Serializer`, `V2DeflateSerializer`
let bytes = s.encode_to_vec(Encoding::HdrV2)?;
s.write_base64(Encoding::HdrV2Compressed, &mut text)?;
// `Deserializer::deserialize`
Snapshot::decode(&bytes, 0)?;
Snapshot::decode(text.as_bytes(), 0)?;
// the rest of what it reads from
let (first, taken) = Snapshot::decode_first(&bytes, 0)?;
let rest = &bytes[taken..];
// Java's `outputPercentileDistribution`
write_hgrm(&s, &mut text, 5, 1000.0, HgrmFormat::Columns)?;
// `IntervalLogWriterBuilder`, `begin_log_with`, `write_comment`
text.clear();
log::write_header(&mut text, &log::Header { comment: "c", start_seconds: Some(t), ..Default::default() })?;
// `write_histogram(…)`
log::write_interval(&mut text, &other, t, 1.0, Some("tag"))?;
// `IntervalLogIterator`
let line = log::Reader::new(text.as_bytes()).next().unwrap()?;
let read = line.decode(0)?;
line.tag;
line.start_seconds;
line.end_seconds();
// `into_sync()`, `recorder()`, `refresh()`
h.update(&mut s, Since::PreviousUpdate)?;
// `reset()`
h.reset()?;
// Java's `DoubleHistogram`
let d = SharedDoubleHistogram::create(&DoubleOptions::default())?;
d.record(0.5);
assert_eq!((line.tag, line.start_seconds), (Some("tag"), t));
assert_eq!((other.counts().total, read.counts().total), (16, 16));
assert_eq!((first.counts().total, rest.len()), (16, 0));
assert_eq!(read.percentile(100.0, ValueSelection::Midpoint)?.value, 1_000_192);
assert_eq!(read.percentile(100.0, ValueSelection::Upper)?.value, 1_000_447);
Ok(())
}
