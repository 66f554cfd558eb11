//! Expositions in Protocol Buffers, read back by a decoder of a few lines, validated, and compared with naive counting.
#![cfg(not(loom))]

use picollo_core::{
    DoubleOptions, Exemplar, Exposition, Family, Layout, Metric, Options, Otlp, Registry,
    SharedDoubleHistogram, SharedHistogram, ValueSelection, write_otlp,
};
use proptest::prelude::*;

/// A field's value.
#[derive(Clone, PartialEq, Debug)]
enum Field {
    Varint(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message, in order.
#[derive(Clone, Debug, Default)]
struct Message(Vec<(u64, Field)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// What has its length in front of it.
fn delimited(bytes: &mut &[u8]) -> Vec<u8> {
    let length = varint(bytes) as usize;
    let (inside, rest) = bytes.split_at(length);
    *bytes = rest;
    inside.to_vec()
}

impl Message {
    fn parse(mut bytes: &[u8]) -> Message {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Field::Varint(varint(&mut bytes)),
                1 => {
                    let (word, rest) = bytes.split_first_chunk::<8>().unwrap();
                    bytes = rest;
                    Field::Fixed(u64::from_le_bytes(*word))
                }
                2 => Field::Bytes(delimited(&mut bytes)),
                form => panic!("form {form}"),
            };
            fields.push((key >> 3, value));
        }
        Message(fields)
    }

    fn all(&self, number: u64) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(move |field| field.0 == number).map(|field| &field.1)
    }

    /// The only one.
    fn one(&self, number: u64) -> Option<&Field> {
        let mut all = self.all(number);
        let one = all.next();
        assert!(all.next().is_none(), "field {number} twice in {self:?}");
        one
    }

    fn messages(&self, number: u64) -> Vec<Message> {
        let parse = |field: &Field| match field {
            Field::Bytes(bytes) => Message::parse(bytes),
            other => panic!("{other:?} is no message"),
        };
        self.all(number).map(parse).collect()
    }

    fn message(&self, number: u64) -> Message {
        self.messages(number).pop().unwrap_or_default()
    }

    fn uint(&self, number: u64) -> u64 {
        match self.one(number) {
            Some(&Field::Varint(value)) => value,
            None => 0,
            other => panic!("{other:?} is no varint"),
        }
    }

    fn sint(&self, number: u64) -> i64 {
        unzigzag(self.uint(number))
    }

    fn fixed(&self, number: u64) -> u64 {
        match self.one(number) {
            Some(&Field::Fixed(value)) => value,
            None => 0,
            other => panic!("{other:?} is not of eight bytes"),
        }
    }

    fn double(&self, number: u64) -> f64 {
        f64::from_bits(self.fixed(number))
    }

    fn text(&self, number: u64) -> String {
        match self.one(number) {
            Some(Field::Bytes(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
            None => String::new(),
            other => panic!("{other:?} is no text"),
        }
    }

    fn packed(&self, number: u64) -> Vec<u64> {
        let Some(Field::Bytes(bytes)) = self.one(number) else { return Vec::new() };
        let (mut bytes, mut values) = (&bytes[..], Vec::new());
        while !bytes.is_empty() {
            values.push(varint(&mut bytes));
        }
        values
    }

    fn labels(&self, number: u64) -> Vec<(String, String)> {
        self.messages(number).iter().map(|label| (label.text(1), label.text(2))).collect()
    }
}

/// A histogram with exponential buckets, as read: Prometheus' numbers.
#[derive(Clone, PartialEq, Debug, Default)]
struct Read {
    schema: i64,
    total: u64,
    zero: u64,
    negative: Vec<(i64, u64)>,
    positive: Vec<(i64, u64)>,
}

impl Read {
    /// What Prometheus 3 refuses, and 2.42 does not, is refused here.
    fn check(&self) {
        assert!((-4..=8).contains(&self.schema), "schema {}", self.schema);
        let inside: u64 = self.negative.iter().chain(&self.positive).map(|bucket| bucket.1).sum();
        assert_eq!(self.total, self.zero + inside, "the count is that of all buckets");
        for side in [&self.negative, &self.positive] {
            assert!(side.windows(2).all(|pair| pair[0].0 < pair[1].0), "{side:?}");
        }
    }
}

fn prometheus_families(registry: &mut Registry) -> Vec<Message> {
    let bytes = registry.encode_to_vec(Exposition::PrometheusProtobuf).unwrap();
    let (mut bytes, mut families) = (&bytes[..], Vec::new());
    while !bytes.is_empty() {
        families.push(Message::parse(&delimited(&mut bytes)));
    }
    families
}

/// Checks a message `Histogram`, and returns its classic buckets, and its exponential ones if it has any.
fn prometheus_histogram(histogram: &Message) -> (Vec<(f64, u64)>, Option<Read>) {
    let classic: Vec<_> =
        histogram.messages(3).iter().map(|bucket| (bucket.double(2), bucket.uint(1))).collect();
    assert!(classic.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{classic:?}");
    assert_eq!(classic.last(), Some(&(f64::INFINITY, histogram.uint(1))));
    if histogram.one(6).is_none() {
        assert!([5, 7, 9, 10, 12, 13, 16].iter().all(|&field| histogram.all(field).next().is_none()));
        return (classic, None);
    }
    assert_eq!(histogram.double(6), 2f64.powi(-128));
    let side = |spans, deltas| {
        let spans: Vec<_> =
            histogram.messages(spans).iter().map(|span| (span.sint(1), span.uint(2))).collect();
        assert!(
            spans.iter().skip(1).all(|&(offset, _)| offset > 0)
                && spans.iter().all(|&(_, length)| length > 0)
        );
        let deltas = histogram.packed(deltas);
        assert_eq!(
            spans.iter().map(|span| span.1).sum::<u64>(),
            deltas.len() as u64,
            "spans are those of the deltas"
        );
        let (mut deltas, mut number, mut count, mut buckets) = (deltas.into_iter(), 0, 0i64, Vec::new());
        for (offset, length) in spans {
            number += offset;
            for _ in 0..length {
                count += unzigzag(deltas.next().unwrap());
                assert!(count > 0, "no bucket of these is empty or negative");
                buckets.push((number, count as u64));
                number += 1;
            }
        }
        buckets
    };
    let read = Read {
        schema: histogram.sint(5),
        total: histogram.uint(1),
        zero: histogram.uint(7),
        negative: side(9, 10),
        positive: side(12, 13),
    };
    read.check();
    (classic, Some(read))
}

/// The metrics of a request, whose one resource has these attributes.
fn otlp_metrics(bytes: &[u8]) -> (Vec<(String, String)>, Vec<Message>) {
    let resource = Message::parse(bytes).message(1);
    let attributes = resource.message(1).messages(1);
    let attributes = attributes.iter().map(|of| (of.text(1), of.message(2).text(1))).collect();
    let scope = resource.message(2);
    assert_eq!(scope.message(1).text(1), "picollo");
    (attributes, scope.messages(2))
}

/// Checks a point, and returns its buckets by Prometheus' numbers.
fn otlp_histogram(point: &Message) -> Read {
    let side = |field| {
        let buckets = point.message(field);
        let counts = buckets.packed(2);
        assert!(counts.first() != Some(&0) && counts.last() != Some(&0), "{counts:?}");
        let numbered = (buckets.sint(1) + 1..).zip(counts);
        numbered.filter(|bucket| bucket.1 != 0).collect()
    };
    let read = Read {
        schema: point.sint(6),
        total: point.fixed(4),
        zero: point.fixed(7),
        negative: side(9),
        positive: side(8),
    };
    assert_eq!(point.double(14), 2f64.powi(-128));
    read.check();
    read
}

/// Whether `value <= 2^(number / 2^schema)`, for a schema from 0 to 8, decided in integers: `value^(2^schema) <= 2^number`.
fn is_at_most(value: f64, number: i64, schema: u32) -> bool {
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> 52) as i64 - 1075, (bits & ((1 << 52) - 1)) | 1 << 52);
    let mut power = vec![mantissa as u32, (mantissa >> 32) as u32];
    for _ in 0..schema {
        let mut square = vec![0u32; 2 * power.len()];
        for (i, &a) in power.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in power.iter().enumerate() {
                carry += u64::from(square[i + j]) + u64::from(a) * u64::from(b);
                square[i + j] = carry as u32;
                carry >>= 32;
            }
            square[i + power.len()] = carry as u32;
        }
        power = square;
    }
    let last = power.iter().rposition(|&limb| limb != 0).unwrap();
    let logarithm = 32 * last as i64 + i64::from(power[last].ilog2());
    let is_power_of_two = power.iter().map(|limb| limb.count_ones()).sum::<u32>() == 1;
    let needed = number - (exponent << schema);
    logarithm < needed || (logarithm == needed && is_power_of_two)
}

/// The bucket of a positive value by search with [`is_at_most`], for coarser schemas by the powers of two.
fn number_of(value: f64, schema: i64) -> i64 {
    let fine = schema.max(0) as u32;
    let guess = (value.log2() * f64::from(1 << fine)).ceil() as i64;
    let number = (guess - 1..=guess + 1).find(|&number| is_at_most(value, number, fine)).unwrap();
    assert!(!is_at_most(value, number - 1, fine));
    if schema >= 0 {
        number
    } else {
        number.div_euclid(1 << -schema) + i64::from(number.rem_euclid(1 << -schema) != 0)
    }
}

/// Counts values in the buckets of a schema.
fn naive(values: impl Iterator<Item = (f64, u64)>, schema: i64) -> Read {
    let mut read = Read { schema, ..Read::default() };
    let (mut negative, mut positive) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
    for (value, count) in values.filter(|value| value.1 > 0) {
        read.total += count;
        match value {
            value if value.abs() <= 2f64.powi(-128) => read.zero += count,
            value if value < 0.0 => *negative.entry(number_of(-value, schema)).or_insert(0) += count,
            value => *positive.entry(number_of(value, schema)).or_insert(0) += count,
        }
    }
    (read.negative, read.positive) = (negative.into_iter().collect(), positive.into_iter().collect());
    read
}

/// Where a value is, for who knows its bucket only: at its midpoint, and just outside of the range where it is there.
fn stand_in(layout: &Layout, value: u64) -> f64 {
    match layout.bucket_of(value) {
        Some(bucket) => bucket.equivalent_value(ValueSelection::Midpoint) as f64,
        None if layout.is_below(value) => (layout.lowest_recordable() - 1) as f64,
        None => (u128::from(layout.highest_recordable()) + 1) as f64,
    }
}

/// Checks all formats of a registry with one histogram against naive counting. Returns the schema.
fn check_against(stand_ins: &[f64], registry: &mut Registry, finest: i64, max_buckets: usize) -> i64 {
    let family = &prometheus_families(registry)[0];
    let (classic, read) = prometheus_histogram(&family.messages(4)[0].message(7));
    for (bound, count) in classic {
        let truth = stand_ins.iter().filter(|&&value| value <= bound).count();
        assert!(count == truth as u64 || bound.is_finite(), "{bound}");
    }
    let read = read.unwrap();
    assert_eq!(read, naive(stand_ins.iter().map(|&value| (value, 1)), read.schema));
    let buckets = |schema| {
        let naive = naive(stand_ins.iter().map(|&value| (value, 1)), schema);
        naive.negative.len() + naive.positive.len()
    };
    assert!(read.schema <= finest && (buckets(read.schema) <= max_buckets || read.schema == -4));
    assert!(read.schema == finest || buckets(read.schema + 1) > max_buckets, "as fine as may be");
    let otlp = registry.encode_to_vec(Exposition::Otlp).unwrap();
    let (_, metrics) = otlp_metrics(&otlp);
    let exponential = metrics[0].message(10);
    assert_eq!(exponential.uint(2), 2, "cumulative");
    let point = &exponential.messages(1)[0];
    let read = otlp_histogram(point);
    assert_eq!(read, naive(stand_ins.iter().map(|&value| (value, 1)), read.schema));
    let side = |field| point.message(field).packed(2).len();
    assert!(side(8) + side(9) <= 16 * max_buckets || read.schema == -4);
    if !stand_ins.is_empty() {
        let extreme = |pick: fn(f64, f64) -> f64| stand_ins.iter().copied().reduce(pick).unwrap();
        assert_eq!((point.double(12), point.double(13)), (extreme(f64::min), extreme(f64::max)));
    } else {
        assert!(point.one(12).is_none() && point.one(13).is_none());
    }
    read.schema
}

fn values() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift),
        2 => (0u32..64, -2i64..3).prop_map(|(power, near)| (1u64 << power).wrapping_add_signed(near)),
        1 => 0u64..10,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever layout, divisor and values: all observations are in the buckets where exact arithmetic has them.
    #[test]
    fn integers_as_counted_naively(
        values in prop::collection::vec(values(), 0..80),
        error in prop_oneof![Just(0.1), Just(0.01), Just(0.001), Just(0.0001)],
        (min, max) in prop_oneof![Just((0, u64::MAX)), Just((0, 1 << 40)), Just((1000, 1 << 30)), Just((1, 3_600_000_000_000))],
        divisor in prop_oneof![Just(1.0), Just(1e9), Just(1024.0), Just(0.1), Just(1e45)],
        max_buckets in prop_oneof![Just(0u32), Just(1), Just(7), Just(40), Just(u32::MAX)],
    ) {
        let histogram = SharedHistogram::create(&Options {
            relative_error: error, min_trackable: min, max_trackable: max, ..Options::default()
        }).unwrap();
        histogram.record_batch(&values);
        let layout = *histogram.layout();
        let stand_ins: Vec<f64> = values.iter().map(|&value| stand_in(&layout, value) / divisor).collect();
        let mut registry = Registry::new();
        let metric = Metric { name: "x", divisor, native: true, max_buckets, ..Metric::default() };
        registry.add(&histogram, &metric, &[]).unwrap();
        registry.update(0).unwrap();
        let finest = (i64::from(layout.scale()) - 3).min(8);
        let max_buckets = match max_buckets { 0 => 320, other => other as usize };
        check_against(&stand_ins, &mut registry, finest, max_buckets);
    }

    /// Doubles of all magnitudes and both signs.
    #[test]
    fn doubles_as_counted_naively(
        values in prop::collection::vec(prop_oneof![
            3 => any::<u64>().prop_map(f64::from_bits),
            3 => (-140i32..140, -2i64..3, any::<bool>()).prop_map(|(power, near, negative)| {
                let value = f64::from_bits(2f64.powi(power).to_bits().wrapping_add_signed(near));
                if negative { -value } else { value }
            }),
            1 => Just(0.0), 1 => Just(-0.0), 1 => Just(5e-324),
        ].prop_filter("finite", |value| value.is_finite()), 0..60),
        max_buckets in prop_oneof![Just(0u32), Just(5)],
    ) {
        let histogram = SharedDoubleHistogram::create(&DoubleOptions { relative_error: 0.01, ..Default::default() }).unwrap();
        histogram.record_batch(&values);
        let layout = histogram.layout();
        let stand_ins: Vec<f64> = values.iter().map(|&value| layout.bucket_of(value).unwrap().midpoint).collect();
        let mut registry = Registry::new();
        let metric = Metric { name: "x", native: true, max_buckets, ..Metric::default() };
        registry.add_double(&histogram, &metric, &[]).unwrap();
        registry.update(0).unwrap();
        check_against(&stand_ins, &mut registry, 3, if max_buckets == 0 { 320 } else { 5 });
    }
}

/// At the ends of buckets: exactly a power of two is the last of its bucket, in both formats, whose numbers differ by one.
#[test]
fn powers_of_two_belong_below() {
    let histogram = SharedHistogram::create(&Options {
        relative_error: 0.001,
        max_trackable: 1 << 20,
        ..Options::default()
    })
    .unwrap();
    histogram.record_batch(&[4, 5]);
    let mut registry = Registry::new();
    registry.add(&histogram, &Metric { name: "x", native: true, ..Metric::default() }, &[]).unwrap();
    registry.update(0).unwrap();
    let metric = prometheus_families(&mut registry)[0].messages(4)[0].message(7);
    let read = prometheus_histogram(&metric).1.unwrap();
    // 2^6 buckets each power of two; 2^(148.6 / 64) = 5.
    assert_eq!((read.schema, read.positive), (6, vec![(128, 1), (149, 1)]));
    let bytes = registry.encode_to_vec(Exposition::Otlp).unwrap();
    let point = otlp_metrics(&bytes).1[0].message(10).message(1).message(8);
    assert_eq!((point.sint(1), point.packed(2).len()), (127, 22));
}

/// No observation is more than one bucket off: the table in docs/metrics.md.
#[test]
fn answers_are_as_good_as_documented() {
    for (error, max, octaves, schema) in [
        (0.01, 3_600_000_000_000, 12, 3),
        (0.01, 3_600_000_000_000, 42, 3),
        (0.001, 1_000_000_000, 4, 6),
        (0.001, 1_000_000_000, 12, 4),
        (0.001, 1_000_000_000, 30, 3),
    ] {
        let histogram = SharedHistogram::create(&Options {
            relative_error: error,
            max_trackable: max,
            ..Options::default()
        })
        .unwrap();
        let first = if octaves == 42 || octaves == 30 { 0 } else { 10 };
        for power in first..first + octaves {
            for step in 0..1000u64 {
                histogram.record((1 << power) + ((step << power) / 1000));
            }
        }
        let mut registry = Registry::new();
        registry
            .add(&histogram, &Metric { name: "x", native: true, divisor: 1e9, ..Metric::default() }, &[])
            .unwrap();
        registry.update(0).unwrap();
        let metric = prometheus_families(&mut registry)[0].messages(4)[0].message(7);
        assert_eq!(prometheus_histogram(&metric).1.unwrap().schema, schema, "{error} {octaves}");
    }
}

#[test]
fn everything_of_a_metric_is_there() {
    let histogram = SharedHistogram::create(&Options {
        relative_error: 0.01,
        max_trackable: 10_000,
        ..Options::default()
    })
    .unwrap();
    histogram.record_n(100, 3);
    histogram.record(0);
    let doubles = SharedDoubleHistogram::create(&DoubleOptions::default()).unwrap();
    doubles.record_batch(&[-2.0, f64::NAN]);
    let mut registry = Registry::new();
    let created_unix_nanos = 7_000_000_005;
    let metric = Metric {
        created_unix_nanos,
        help: "Help",
        labels: &[("b.c", "é\n"), ("a", "")],
        ..Metric::default()
    };
    let wait = Metric { name: "wait.time_seconds", unit: "seconds", divisor: 10.0, native: true, ..metric };
    let id = registry.add(&histogram, &wait, &[50, 200]).unwrap();
    registry.add_double(&doubles, &Metric { name: "skew", ..metric }, &[1.5]).unwrap();
    let (total, counter) = registry.add_counter(&Metric { name: "hits_total", ..metric }).unwrap();
    registry.add_gauge(&Metric { name: "depth", ..metric }).unwrap().1.set(-2.5);
    counter.add(5);
    let trace = "0123456789abcdef0123456789ABCDEF";
    let labels = [("trace_id", trace), ("span_id", "00000000000000ff"), ("who", "me")];
    let planted =
        vec![Exemplar::new(100.0, 3_000_000_001, &labels).unwrap(), Exemplar::new(101.0, 0, &[]).unwrap()];
    registry.set_exemplars(id, planted).unwrap();
    registry.set_exemplars(total, vec![Exemplar::new(10.0, 3_000_000_001, &labels).unwrap()]).unwrap();
    registry.update(9_000_000_000).unwrap();

    let families = prometheus_families(&mut registry);
    let heads: Vec<_> = families.iter().map(|of| (of.text(1), of.text(2), of.uint(3), of.text(5))).collect();
    let head =
        |name: &str, help: &str, kind, unit: &str| (name.to_owned(), help.to_owned(), kind, unit.to_owned());
    assert_eq!(
        heads,
        [
            head("wait_time_seconds", "Help", 4, "seconds"),
            head("skew", "Help", 4, ""),
            head("skew_not_finite_total", "Observations that are infinite or not a number", 0, ""),
            head("hits_total", "Help", 0, ""),
            head("depth", "Help", 1, ""),
        ]
    );
    let metrics: Vec<Message> = families.iter().map(|of| of.message(4)).collect();
    for metric in &metrics {
        let expected = [("a".to_owned(), String::new()), ("b_c".to_owned(), "é\n".to_owned())];
        assert_eq!(metric.labels(1), expected);
    }
    let of = metrics[0].message(7);
    let (classic, read) = prometheus_histogram(&of);
    assert_eq!(classic, [(5.0, 1), (20.0, 4), (f64::INFINITY, 4)]);
    assert_eq!(read.unwrap().zero, 1);
    assert_eq!((of.double(2), of.message(15).uint(1), of.message(15).uint(2)), (30.0, 7, 5));
    let exemplars: Vec<Message> = of.messages(3).iter().map(|bucket| bucket.message(3)).collect();
    assert!(exemplars[0].0.is_empty() && exemplars[2].0.is_empty());
    // In the bucket the latest, and of those beside the buckets only what has a time.
    for exemplar in [&exemplars[1], &of.message(16), &metrics[3].message(3).message(2)] {
        assert_eq!(
            (exemplar.double(2), exemplar.message(3).uint(1), exemplar.message(3).uint(2)),
            (10.0, 3, 1)
        );
        let [span, trace, who] = &exemplar.labels(1)[..] else { panic!("{exemplar:?}") };
        assert_eq!((&*span.0, &*trace.0, &*who.1), ("span_id", "trace_id", "me"));
    }
    assert_eq!(of.messages(16).len(), 1);
    let (classic, native) = prometheus_histogram(&metrics[1].message(7));
    assert_eq!((classic, native), (vec![(1.5, 1), (f64::INFINITY, 1)], None));
    assert_eq!(metrics[2].message(3).double(1), 1.0);
    assert_eq!((metrics[3].message(3).double(1), metrics[3].message(3).message(3).uint(1)), (5.0, 7));
    assert_eq!(metrics[4].message(2).double(1), -2.5);

    let mut bytes = vec![0; 10_000];
    let about =
        Otlp { time_unix_nanos: 9_000_000_000, resource: &[("service.name", "test")], ..Otlp::default() };
    let length = write_otlp(registry.families(), &about, &mut bytes);
    let (resource, metrics) = otlp_metrics(&bytes[..length]);
    assert_eq!(resource, [("service.name".to_owned(), "test".to_owned())]);
    let heads: Vec<_> = metrics.iter().map(|of| (of.text(1), of.text(2), of.text(3))).collect();
    let head = |name: &str, help: &str, unit: &str| (name.to_owned(), help.to_owned(), unit.to_owned());
    assert_eq!(
        heads,
        [
            head("wait.time_seconds", "Help", "s"),
            head("skew", "Help", ""),
            head("skew_not_finite", "Observations that are infinite or not a number", ""),
            head("hits", "Help", ""),
            head("depth", "Help", ""),
        ]
    );
    let attributes = |point: &Message, field| -> Vec<(String, String)> {
        point.messages(field).iter().map(|of| (of.text(1), of.message(2).text(1))).collect()
    };
    let expected = [("a".to_owned(), String::new()), ("b.c".to_owned(), "é\n".to_owned())];
    let point = metrics[0].message(10).message(1);
    assert_eq!(attributes(&point, 1), expected);
    assert_eq!((point.fixed(2), point.fixed(3), point.double(5)), (created_unix_nanos, 9_000_000_000, 30.0));
    assert_eq!(otlp_histogram(&point).zero, 1);
    let exemplars = point.messages(11);
    assert_eq!((exemplars.len(), exemplars[1].fixed(2), exemplars[1].double(3)), (2, 3_000_000_001, 10.0));
    assert_eq!(exemplars[1].one(4), Some(&Field::Bytes(vec![0, 0, 0, 0, 0, 0, 0, 255])));
    let trace = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef].repeat(2);
    assert_eq!(exemplars[1].one(5), Some(&Field::Bytes(trace)));
    assert_eq!(attributes(&exemplars[1], 7), [("who".to_owned(), "me".to_owned())]);
    let point = metrics[1].message(10).message(1);
    assert!(point.one(5).is_none(), "no sum of what is negative");
    assert_eq!(otlp_histogram(&point).negative.len(), 1);
    for (metric, count) in [(&metrics[2], 1), (&metrics[3], 5)] {
        let (sum, point) = (metric.message(7), metric.message(7).message(1));
        assert_eq!(
            (sum.uint(2), sum.uint(3), point.fixed(6), point.fixed(2)),
            (2, 1, count, created_unix_nanos)
        );
        assert_eq!(attributes(&point, 7), expected);
    }
    let point = metrics[4].message(5).message(1);
    assert_eq!(
        (point.double(4), point.fixed(3), attributes(&point, 7)),
        (-2.5, 9_000_000_000, expected.to_vec())
    );
}

/// Differences between copies: what came since, and all of what is new or has become less.
#[test]
fn differences() {
    let create = || {
        SharedHistogram::create(&Options {
            relative_error: 0.01,
            max_trackable: 10_000,
            ..Options::default()
        })
        .unwrap()
    };
    let (steady, resetting) = (create(), create());
    let doubles =
        SharedDoubleHistogram::create(&DoubleOptions { exact: true, ..Default::default() }).unwrap();
    let mut registry = Registry::new();
    let metric = Metric { created_unix_nanos: 1_000, ..Metric::default() };
    registry.add(&steady, &Metric { name: "steady", ..metric }, &[]).unwrap();
    registry.add(&resetting, &Metric { name: "resetting", since_reset: true, ..metric }, &[]).unwrap();
    registry.add_double(&doubles, &Metric { name: "doubles", ..metric }, &[]).unwrap();
    let counter = registry.add_counter(&Metric { name: "counter", ..metric }).unwrap().1;
    let gauge = registry.add_gauge(&Metric { name: "gauge", ..metric }).unwrap().1;
    let record = |values: &[u64]| {
        steady.record_batch(values);
        resetting.record_batch(values);
        doubles.record_batch(&values.iter().map(|&value| value as f64).collect::<Vec<_>>());
        counter.add(values.len() as u64);
        gauge.set(values.len() as f64);
    };
    record(&[1, 5, 5, 700, 20_000]);
    registry.update(5_000).unwrap();
    let earlier: Vec<Family> = registry.families().to_vec();
    resetting.reset().unwrap();
    record(&[5, 6]);
    let late = registry.add_counter(&Metric { name: "late", ..metric }).unwrap().1;
    late.add(9);
    registry.update(8_000).unwrap();

    let differences = Family::since(registry.families(), &earlier).unwrap();
    let about = Otlp { time_unix_nanos: 8_000, since_unix_nanos: Some(5_000), ..Otlp::default() };
    let mut bytes = vec![0; write_otlp(&differences, &about, &mut [])];
    write_otlp(&differences, &about, &mut bytes);
    let (_, metrics) = otlp_metrics(&bytes);
    for (metric, sum) in metrics[..3].iter().zip([11.0, 11.0, 11.0]) {
        let point = metric.message(10).message(1);
        assert_eq!(metric.message(10).uint(2), 1, "delta");
        assert_eq!(
            (point.fixed(2), point.fixed(3), point.double(5)),
            (5_000, 8_000, sum),
            "{}",
            metric.text(1)
        );
        let near = |value: f64, truth: f64| (value / truth - 1.0).abs() < 0.001;
        assert!(near(point.double(12), 5.0) && near(point.double(13), 6.0));
        let read = otlp_histogram(&point);
        assert_eq!(read, naive([(5.0, 1), (6.0, 1)].into_iter(), read.schema));
    }
    let number = |metric: &Message, field| metric.message(field).message(1);
    assert_eq!((number(&metrics[3], 7).fixed(6), metrics[3].message(7).uint(2)), (2, 1));
    assert_eq!(number(&metrics[4], 5).double(4), 2.0);
    assert_eq!(number(&metrics[5], 7).fixed(6), 9);
    // Since itself there is nothing.
    let nothing = Family::since(registry.families(), registry.families()).unwrap();
    let mut bytes = vec![0; write_otlp(&nothing, &about, &mut [])];
    write_otlp(&nothing, &about, &mut bytes);
    assert_eq!(otlp_histogram(&otlp_metrics(&bytes).1[0].message(10).message(1)).total, 0);
}

/// More observations than formats can say: those above are lost, and all that is said agrees.
#[test]
fn counts_beyond_what_formats_hold() {
    let histogram = SharedHistogram::create(&Options {
        relative_error: 0.01,
        max_trackable: 10_000,
        counter_bits: 64,
        ..Options::default()
    })
    .unwrap();
    for value in [1, 50, 50_000] {
        histogram.record_n(value, u64::MAX / 4 + 1);
    }
    let mut registry = Registry::new();
    registry.add(&histogram, &Metric { name: "x", native: true, ..Metric::default() }, &[]).unwrap();
    registry.update(0).unwrap();
    let families = prometheus_families(&mut registry);
    let read = prometheus_histogram(&families[0].message(4).message(7)).1.unwrap();
    assert_eq!(read.total, i64::MAX as u64);
    assert_eq!(families[1].message(4).message(3).double(1), 2f64.powi(62), "what is lost");
}

#[test]
fn an_empty_registry() {
    let mut registry = Registry::new();
    assert!(prometheus_families(&mut registry).is_empty());
    assert!(otlp_metrics(&registry.encode_to_vec(Exposition::Otlp).unwrap()).1.is_empty());
}

/// In every format: what was recorded before a reset stays.
#[test]
fn resets_reach_nobody() {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    let mut registry = Registry::new();
    registry.add(&histogram, &Metric { name: "x", native: true, ..Metric::default() }, &[]).unwrap();
    for round in 1..4 {
        histogram.record_n(1_000, 5);
        registry.update(round).unwrap();
        let metric = prometheus_families(&mut registry)[0].message(4).message(7);
        assert_eq!(prometheus_histogram(&metric).1.unwrap().total, 5 * round);
        let bytes = registry.encode_to_vec(Exposition::Otlp).unwrap();
        let point = otlp_metrics(&bytes).1[0].message(10).message(1);
        assert_eq!(otlp_histogram(&point).total, 5 * round);
        histogram.reset().unwrap();
    }
}
