//! Histograms as read from expositions, validated.

use picollo_export::{Exposition, Registry};

use super::message::{Message, delimited, unzigzag};

/// A histogram with exponential buckets, with Prometheus' numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Read {
    pub schema: i64,
    pub total: u64,
    pub zero: u64,
    pub negative: Vec<(i64, u64)>,
    pub positive: Vec<(i64, u64)>,
}

impl Read {
    /// This refuses what Prometheus 3 refuses, even if 2.42 does not.
    pub fn check(&self) {
        assert!((-4..=8).contains(&self.schema), "schema {}", self.schema);
        let inside: u64 = self.negative.iter().chain(&self.positive).map(|bucket| bucket.1).sum();
        assert_eq!(self.total, self.zero + inside, "the count is that of all buckets");
        for side in [&self.negative, &self.positive] {
            assert!(side.windows(2).all(|pair| pair[0].0 < pair[1].0), "{side:?}");
        }
    }
}

pub fn prometheus_families(registry: &mut Registry) -> Vec<Message> {
    let bytes = registry.encode_to_vec(Exposition::PrometheusProtobuf).unwrap();
    let (mut bytes, mut families) = (&bytes[..], Vec::new());
    while !bytes.is_empty() {
        families.push(Message::parse(&delimited(&mut bytes)));
    }
    families
}

/// Checks a message `Histogram`, and returns its classic buckets, and its exponential ones if it has any.
pub fn prometheus_histogram(histogram: &Message) -> (Vec<(f64, u64)>, Option<Read>) {
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

/// The attributes of a request's only resource, and the metrics.
pub fn otlp_metrics(bytes: &[u8]) -> (Vec<(String, String)>, Vec<Message>) {
    let resource = Message::parse(bytes).message(1);
    let attributes = resource.message(1).messages(1);
    let attributes = attributes.iter().map(|of| (of.text(1), of.message(2).text(1))).collect();
    let scope = resource.message(2);
    assert_eq!(scope.message(1).text(1), "picollo");
    (attributes, scope.messages(2))
}

/// Checks a point, and returns its buckets by Prometheus' numbers.
pub fn otlp_histogram(point: &Message) -> Read {
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
