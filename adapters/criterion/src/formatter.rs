//! Formats values for criterion.

use criterion::Throughput;
use criterion::measurement::ValueFormatter;

/// What the line shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Formatter {
    /// Nanoseconds.
    Time,
    /// The event with this number.
    Count(usize),
}

const TIMES: [(f64, &str); 5] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"), (1e-3, "ps")];
const COUNTS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "K"), (1.0, "")];

/// The largest unit that the value reaches, or else the smallest.
fn unit(units: &'static [(f64, &'static str)], typical: f64) -> (f64, &'static str) {
    units.iter().copied().find(|(size, _)| typical >= *size).unwrap_or(units[units.len() - 1])
}

impl ValueFormatter for Formatter {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        let (size, name) = unit(if *self == Formatter::Time { &TIMES } else { &COUNTS }, typical);
        values.iter_mut().for_each(|value| *value /= size);
        name
    }

    fn scale_throughputs(&self, _: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let (amount, name) = match *throughput {
            Throughput::Bytes(amount) | Throughput::BytesDecimal(amount) => (amount, ["B/s", "B each"]),
            Throughput::Bits(amount) => (amount, ["bit/s", "bit each"]),
            Throughput::Elements(amount) | Throughput::ElementsAndBytes { elements: amount, .. } => {
                (amount, ["elem/s", "elem each"])
            }
        };
        // A second has 10^9 nanoseconds; an event is a single unit.
        let whole = if *self == Formatter::Time { 1e9 } else { 1.0 };
        values.iter_mut().for_each(|value| *value = amount as f64 * whole / *value);
        name[usize::from(*self != Formatter::Time)]
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        if *self == Formatter::Time { "ns" } else { "count" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units() {
        for (formatter, value, scaled, name) in [
            (Formatter::Time, 0.5, 500.0, "ps"),
            (Formatter::Time, 1.0, 1.0, "ns"),
            (Formatter::Time, 2500.0, 2.5, "us"),
            (Formatter::Time, 3e12, 3000.0, "s"),
            (Formatter::Count(0), 0.5, 0.5, ""),
            (Formatter::Count(0), 4200.0, 4.2, "K"),
        ] {
            let mut values = [value];
            assert_eq!((formatter.scale_values(value, &mut values), values[0]), (name, scaled));
        }
        let mut values = [50.0];
        assert_eq!(Formatter::Time.scale_throughputs(50.0, &Throughput::Elements(10), &mut values), "elem/s");
        assert_eq!(values, [2e8]);
        let mut values = [50.0];
        assert_eq!(
            Formatter::Count(0).scale_throughputs(50.0, &Throughput::Bytes(10), &mut values),
            "B each"
        );
        assert_eq!(values, [0.2]);
    }
}
