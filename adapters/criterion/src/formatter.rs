//! Formats counts of events for criterion. For times, criterion has its own formatter.

use criterion::Throughput;
use criterion::measurement::ValueFormatter;

pub(crate) struct Counts;

impl ValueFormatter for Counts {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        let units = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
        let (size, name) = units.into_iter().find(|(size, _)| typical >= *size).unwrap_or((1.0, ""));
        values.iter_mut().for_each(|value| *value /= size);
        name
    }

    fn scale_throughputs(&self, _: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let (amount, name) = match *throughput {
            Throughput::Bytes(amount) | Throughput::BytesDecimal(amount) => (amount, "B each"),
            Throughput::Bits(amount) => (amount, "bit each"),
            Throughput::Elements(amount) | Throughput::ElementsAndBytes { elements: amount, .. } => {
                (amount, "elem each")
            }
        };
        values.iter_mut().for_each(|value| *value = amount as f64 / *value);
        name
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "count"
    }
}

#[test]
fn counts_have_units() {
    for (value, scaled, name) in [(0.5, 0.5, ""), (4200.0, 4.2, "K"), (3e12, 3000.0, "G")] {
        let mut values = [value];
        assert_eq!((Counts.scale_values(value, &mut values), values[0]), (name, scaled));
    }
    let mut values = [50.0];
    assert_eq!(Counts.scale_throughputs(50.0, &Throughput::Bytes(10), &mut values), "B each");
    assert_eq!(values, [0.2]);
}
