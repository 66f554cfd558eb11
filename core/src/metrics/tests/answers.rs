//! How far off answers from exponential buckets can be, by brute force: the table of docs/metrics.md.

use super::*;
use std::vec;

/// Layouts as the table names them, two where they are to have the same rows.
fn layouts() -> [(&'static str, Vec<Options>); 6] {
    let error = |relative_error| Options { relative_error, ..Options::default() };
    let digits = |significant_digits| Options { significant_digits, ..Options::default() };
    [
        ("10 %", vec![error(0.1)]),
        ("1 %", vec![error(0.01)]),
        ("2 digits", vec![digits(2)]),
        ("0.1 %", vec![error(0.001)]),
        ("3 digits", vec![digits(3)]),
        ("0.01 %, 4 digits", vec![error(0.0001), digits(4)]),
    ]
}

/// What is recorded, each value of it.
#[derive(Clone, Copy)]
enum Range {
    /// So many powers of two, wherever they begin.
    Powers(u32),
    /// From one to another, in nanoseconds that are written as seconds.
    Seconds(&'static str, u64),
    All,
}

/// The widest ranges of powers of two for a schema each, and such as people have.
const RANGES: [Range; 9] = [
    Range::Powers(1),
    Range::Powers(2),
    Range::Powers(4),
    Range::Powers(9),
    Range::Powers(19),
    Range::Seconds("1 ns to 1 s", 1_000_000_000),
    Range::Powers(39),
    Range::Seconds("1 ns to an hour", 3_600_000_000_000),
    Range::All,
];

/// As many buckets as may have counts: by default, what is customary, any.
const MOST: [u32; 3] = [0, 160, u32::MAX];

impl Range {
    /// The first and the last value, and the divisor, of all that are tried. Among those where a range may begin are one where each
    /// value has a bucket of its own, and one that no exponential bucket begins at; divisors are and are not powers of two.
    fn all(self) -> Vec<(u64, u64, f64)> {
        match self {
            Range::Powers(powers) => [1, 1 << 15, 47_551]
                .into_iter()
                .flat_map(|first| [1.0, 1e9].map(|divisor| (first, (first << powers) - 1, divisor)))
                .collect(),
            Range::Seconds(_, last) => vec![(1, last, 1e9)],
            Range::All => [1.0, 1e9].map(|divisor| (1, u64::MAX, divisor)).to_vec(),
        }
    }

    fn name(self) -> String {
        match self {
            Range::Powers(1) => "1 power of two".into(),
            Range::Powers(powers) => format!("up to {powers} powers of two"),
            Range::Seconds(name, _) => name.into(),
            Range::All => "all of 64 bits".into(),
        }
    }
}

/// A schema, and the largest error of an answer, relative to the truth.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Worst {
    schema: i32,
    error: f64,
}

impl Worst {
    fn worse(a: [Worst; MOST.len()], b: [Worst; MOST.len()]) -> [Worst; MOST.len()] {
        std::array::from_fn(|at| Worst {
            schema: a[at].schema.min(b[at].schema),
            error: a[at].error.max(b[at].error),
        })
    }
}

/// Values that stand for all: of each bucket the smallest and the largest, from one that is to be in range to one that is.
fn values(layout: &Layout, first: u64, last: u64) -> Vec<u64> {
    let (mut values, mut value) = (Vec::new(), first);
    loop {
        let bucket = layout.bucket_of(value).unwrap();
        let end = bucket.equivalent_value(ValueSelection::Upper).min(last);
        values.extend([value, end]);
        if end == last {
            return values;
        }
        value = end + 1;
    }
}

/// Asks for each observation by its rank, as a server does: it is somewhere in the bucket that the counts say.
fn worst_of(distribution: &Distribution, values: &[u64], divisor: f64) -> Worst {
    let exponential = &distribution.exponential;
    let per_power = 2f64.powi(exponential.schema);
    let (mut values, mut error, mut of_middles) = (values.iter(), 0f64, 0f64);
    assert_eq!((exponential.zero, exponential.negative.len()), (0, 0));
    for &(number, count) in &exponential.positive {
        let [lower, upper] = [number - 1, number].map(|end| (f64::from(end) / per_power).exp2() * divisor);
        for &value in values.by_ref().take(count as usize) {
            let truth = value as f64;
            error = error.max((upper - truth).abs() / truth).max((truth - lower).abs() / truth);
            of_middles = of_middles.max(((lower + upper) / 2.0 - truth).abs() / truth);
        }
    }
    assert!(values.next().is_none(), "each observation is in a bucket");
    assert!(
        of_middles < 0.55 * error,
        "middles of buckets are off by about half as much: {of_middles} of {error}"
    );
    Worst { schema: exponential.schema, error }
}

/// By number of buckets, the worst of all places where a range may lie.
fn worst(options: &Options, range: Range) -> [Worst; MOST.len()] {
    let of_one = |(first, last, divisor)| {
        let histogram = histogram(options);
        let values = values(histogram.layout(), first, last);
        histogram.record_batch(&values);
        let mut registry = Registry::new();
        for max_buckets in MOST {
            let name = format!("m{max_buckets}");
            let metric = Metric { name: &name, divisor, max_buckets, ..Metric::default() };
            registry.add(&histogram, &metric, &[]).unwrap();
        }
        registry.update(0).unwrap();
        std::array::from_fn(|at| match &registry.families()[at].points[0].value {
            Value::Histogram(distribution) => worst_of(distribution, &values, divisor),
            other => panic!("{other:?}"),
        })
    };
    range.all().into_iter().map(of_one).reduce(Worst::worse).unwrap()
}

/// Two digits, rounded up.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let unit = 10f64.powi(percent.log10().floor() as i32 - 1);
    let decimals = (-unit.log10().round()).max(0.0) as usize;
    format!("{:.decimals$} %", (percent / unit).ceil() * unit)
}

/// What the documentation says is what there is, row by row.
#[test]
#[cfg_attr(
    any(miri, target_endian = "big"),
    ignore = "walks millions of buckets, for which those are too slow"
)]
fn answers_are_as_documented() {
    let mut table = String::from(
        "| relative error | recorded | up to 320 buckets | up to 160 | any number |\n| :-- | :-- | :-- | :-- | :-- |\n",
    );
    for (name, options) in layouts() {
        let mut rows: Vec<(String, [Worst; MOST.len()])> = Vec::new();
        for range in RANGES {
            let one = options.iter().map(|options| worst(options, range)).reduce(Worst::worse).unwrap();
            let schemas = |of: &[Worst; MOST.len()]| of.map(|of| of.schema);
            // Of ranges that have the same schemas one is enough, the widest.
            match rows.last_mut() {
                Some(last) if schemas(&last.1) == schemas(&one) => {
                    *last = (range.name(), Worst::worse(last.1, one))
                }
                _ => rows.push((range.name(), one)),
            }
        }
        for (range, row) in rows {
            let cells = row.map(|of| format!("{}: {}", of.schema, percent(of.error)));
            table += &format!("| {name} | {range} | {} |\n", cells.join(" | "));
        }
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&table), "docs/metrics.md has to have this table:\n\n{table}");
}
