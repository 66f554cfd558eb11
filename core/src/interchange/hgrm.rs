//! The percentile distributions of HdrHistogram (`.hgrm`), to the letter as Java writes them.

use core::fmt::{self, Write};

use crate::error::{Error, Result};
use crate::layout::layout::Layout;
use crate::snapshot::snapshot::Snapshot;

/// Java's default number of rows in each half of the distance to 100 %.
pub const DEFAULT_TICKS: u32 = 5;

/// More rows than this in each half of the distance are refused: no one reads them.
pub const MAX_TICKS: u32 = 1_000_000;

/// How a percentile distribution is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HgrmFormat {
    /// Columns, with mean, deviation, maximum and total at the end.
    #[default]
    Columns,
    /// Comma-separated values.
    Csv,
}

impl Snapshot {
    /// Writes the percentile distribution: rows at percentiles that get closer by half with each half of the distance to
    /// 100 %, `ticks_per_half_distance` of them each time (0: 5).
    ///
    /// Values are the upper ends of buckets, divided by `value_scale` (0: 1), with as many decimals as the layout has
    /// significant digits. An empty snapshot has no rows, and zeros at the end.
    ///
    /// [`Error::InvalidArgument`], before anything is written, for more than [`MAX_TICKS`] ticks, and a scale that is
    /// negative or not finite; [`Error::BufferTooSmall`] when `out` takes no more.
    pub fn write_hgrm(
        &self,
        out: &mut (impl Write + ?Sized),
        ticks_per_half_distance: u32,
        value_scale: f64,
        format: HgrmFormat,
    ) -> Result<()> {
        let ticks = if ticks_per_half_distance == 0 { DEFAULT_TICKS } else { ticks_per_half_distance };
        let value_scale = if value_scale == 0.0 { 1.0 } else { value_scale };
        if !value_scale.is_finite() || value_scale < 0.0 || ticks > MAX_TICKS {
            return Err(Error::InvalidArgument);
        }
        let steps = self.percentile_steps(ticks)?;
        let digits = digits(self.layout());
        let write = || {
            match format {
                HgrmFormat::Columns => writeln!(
                    out,
                    "{:>12} {:>14} {:>10} {:>14}\n",
                    "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
                )?,
                HgrmFormat::Csv => {
                    writeln!(out, "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"")?;
                }
            }
            for step in steps {
                let value = Fixed(step.to as f64 / value_scale, digits);
                let level = step.rank_level / 100.0;
                let (percentile, count) = (Fixed(level, 12), step.cumulative_count);
                let inverse = Fixed(1.0 / (1.0 - level), 2);
                match (format, step.rank_level == 100.0) {
                    (HgrmFormat::Columns, false) => {
                        writeln!(out, "{value:12} {percentile} {count:10} {inverse:14}")
                    }
                    (HgrmFormat::Columns, true) => writeln!(out, "{value:12} {percentile} {count:10}"),
                    (HgrmFormat::Csv, false) => writeln!(out, "{value},{percentile},{count},{inverse}"),
                    (HgrmFormat::Csv, true) => writeln!(out, "{value},{percentile},{count},Infinity"),
                }?;
            }
            if format == HgrmFormat::Csv { Ok(()) } else { self.write_footer(out, value_scale, digits) }
        };
        write().map_err(|_| Error::BufferTooSmall)
    }

    fn write_footer(&self, out: &mut (impl Write + ?Sized), value_scale: f64, digits: usize) -> fmt::Result {
        let moments = self.moments();
        let scaled = |number: f64| {
            let number = if number.is_nan() { 0.0 } else { number };
            Fixed(number / value_scale, digits)
        };
        let (mean, stddev) = (scaled(moments.mean), scaled(moments.stddev));
        let max = scaled(self.highest_recorded().map_or(0, |bucket| bucket.upper) as f64);
        let total = self.counts().total;
        let layout = self.layout();
        // Blocks 0 and 1 are one bucket of HdrHistogram, whose sub-buckets are our buckets.
        let buckets = (layout.logical_index(layout.max_trackable()) >> layout.scale()).max(1);
        let sub_buckets = 2 * layout.block_size();
        writeln!(out, "#[Mean    = {mean:12}, StdDeviation   = {stddev:12}]")?;
        writeln!(out, "#[Max     = {max:12}, Total count    = {total:12}]")?;
        writeln!(out, "#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]")
    }
}

/// The significant digits of a layout: HdrHistogram's for its block sizes, else those of its next larger one.
fn digits(layout: &Layout) -> usize {
    [0, 4, 7, 10, 14].iter().filter(|&&scale| scale < layout.scale()).count()
}

/// A number with so many decimals, as Java's `%.3f` writes it: the shortest digits that tell the number from its
/// neighbours, rounded half up. (C and Rust round the exact number.)
#[derive(Clone, Copy)]
pub(crate) struct Fixed(pub(crate) f64, pub(crate) usize);

/// Digits of a double written with an exponent, at most: `d.ddddddddddddddde-308`.
const DIGITS: usize = 40;

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fixed(number, decimals) = *self;
        if !number.is_finite() {
            let name = if number.is_nan() { "NaN" } else { "Infinity" };
            return f.pad_integral(number.is_nan() || number > 0.0, "", name);
        }
        // Digits and their exponent, as text.
        let mut memory = [0; DIGITS];
        let mut text = crate::format::buffer::BufferWriter::new(&mut memory);
        write!(text, "{:e}", number.abs())?;
        let (mantissa, exponent) = text.as_str().split_once('e').ok_or(fmt::Error)?;
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0');

        // The digits that stay, as one integer in units of the last decimal: at most 309 + decimals of them, though only
        // 17 are not zero.
        let mut kept = [0u8; 352];
        let whole = (exponent.max(-1) + 1) as usize;
        let length = 1 + whole + decimals;
        let kept = kept.get_mut(..length).ok_or(fmt::Error)?;
        let mut round_up = false;
        for (at, digit) in digits.enumerate() {
            // The first place is left for a carry; whole digits follow, then decimals.
            let place = 1 + whole as i32 + at as i32 - (exponent + 1);
            match kept.get_mut(place as usize) {
                Some(kept) => *kept = digit,
                None if place as usize == length => round_up = digit >= 5,
                None => {}
            }
        }
        for digit in kept.iter_mut().rev() {
            if !round_up {
                break;
            }
            round_up = *digit == 9;
            *digit = if round_up { 0 } else { *digit + 1 };
        }
        for digit in kept.iter_mut() {
            *digit += b'0';
        }
        let kept = core::str::from_utf8(kept).map_err(|_| fmt::Error)?;
        let (whole, decimals) = kept.split_at(1 + whole);
        let trimmed = whole.trim_start_matches('0');
        let whole = if trimmed.is_empty() { "0" } else { trimmed };
        let sign = if number.is_sign_negative() { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        let width = sign.len() + whole.len() + point.len() + decimals.len();
        for _ in width..f.width().unwrap_or(0) {
            f.write_char(' ')?;
        }
        write!(f, "{sign}{whole}{point}{decimals}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::format;
    use std::string::{String, ToString};

    /// What Java's HdrHistogram 2.1.11 writes for these values, five and one ticks.
    const COLUMNS: &str = r#"       Value     Percentile TotalCount 1/(1-Percentile)

       0.000 0.000000000000          1           1.00
    1000.000 0.100000000000        105           1.11
    1000.000 0.200000000000        105           1.25
    1000.000 0.300000000000        105           1.43
    1000.000 0.400000000000        105           1.67
    1000.000 0.500000000000        105           2.00
    1000.000 0.550000000000        105           2.22
    1000.000 0.600000000000        105           2.50
    1000.000 0.650000000000        105           2.86
    1000.000 0.700000000000        105           3.33
    1000.000 0.750000000000        105           4.00
    1000.000 0.775000000000        105           4.44
    1000.000 0.800000000000        105           5.00
    1000.000 0.825000000000        105           5.71
    1000.000 0.850000000000        105           6.67
    1000.000 0.875000000000        105           8.00
    1000.000 0.887500000000        105           8.89
    1000.000 0.900000000000        105          10.00
    1000.000 0.912500000000        105          11.43
    1000.000 0.925000000000        105          13.33
    1000.000 0.937500000000        105          16.00
    1000.000 0.943750000000        105          17.78
    1000.000 0.950000000000        105          20.00
    1000.000 0.956250000000        105          22.86
    1000.000 0.962500000000        105          26.67
    1000.000 0.968750000000        105          32.00
    1000.000 0.971875000000        105          35.56
    2047.000 0.975000000000        106          40.00
    2047.000 0.978125000000        106          45.71
    2047.000 0.981250000000        106          53.33
    2049.000 0.984375000000        107          64.00
    2049.000 0.985937500000        107          71.11
    2049.000 0.987500000000        107          80.00
    2049.000 0.989062500000        107          91.43
    2049.000 0.990625000000        107         106.67
123469823.000 0.992187500000        108         128.00
123469823.000 1.000000000000        108
#[Mean    =  1143899.685, StdDeviation   = 11822525.660]
#[Max     = 123469823.000, Total count    =          108]
#[Buckets =           22, SubBuckets     =         2048]
"#;
    const CSV_BY_THOUSAND: &str = r#""Value","Percentile","TotalCount","1/(1-Percentile)"
0.000,0.000000000000,1,1.00
1.000,0.500000000000,105,2.00
1.000,0.750000000000,105,4.00
1.000,0.875000000000,105,8.00
1.000,0.937500000000,105,16.00
1.000,0.968750000000,105,32.00
2.049,0.984375000000,107,64.00
123469.823,0.992187500000,108,128.00
123469.823,1.000000000000,108,Infinity
"#;
    const EMPTY: &str = r#"       Value     Percentile TotalCount 1/(1-Percentile)

#[Mean    =         0.00, StdDeviation   =         0.00]
#[Max     =         0.00, Total count    =            0]
#[Buckets =            3, SubBuckets     =          256]
"#;

    fn snapshot(digits: u32, max: u64, values: &[(u64, u64)]) -> Box<Snapshot> {
        let layout = Layout::with_significant_digits(digits, 0, max).unwrap();
        let mut snapshot = Snapshot::boxed(layout).unwrap();
        snapshot.rewrite(|counts| {
            for &(value, count) in values {
                counts.add(layout.storage_index(value) as usize, count.into()).unwrap();
            }
        });
        snapshot
    }

    fn text(snapshot: &Snapshot, ticks: u32, scale: f64, format: HgrmFormat) -> String {
        let mut text = String::new();
        snapshot.write_hgrm(&mut text, ticks, scale, format).unwrap();
        text
    }

    #[test]
    fn as_java_writes_it() {
        let values = [(0, 1), (1, 1), (3, 2), (7, 1), (1000, 100), (2047, 1), (2048, 1), (123_456_789, 1)];
        let golden = snapshot(3, 3_600_000_000, &values);
        assert_eq!(text(&golden, 0, 0.0, HgrmFormat::Columns), COLUMNS);
        assert_eq!(text(&golden, 5, 1.0, HgrmFormat::Columns), COLUMNS);
        assert_eq!(text(&golden, 1, 1000.0, HgrmFormat::Csv), CSV_BY_THOUSAND);
        assert_eq!(text(&snapshot(2, 1000, &[]), 5, 1.0, HgrmFormat::Columns), EMPTY);
    }

    #[test]
    fn what_cannot_be_written() {
        let golden = snapshot(3, 1000, &[(5, 5)]);
        let mut out = String::new();
        for (ticks, scale) in [(1, -1.0), (1, f64::NAN), (1, f64::INFINITY), (MAX_TICKS + 1, 1.0)] {
            assert_eq!(
                golden.write_hgrm(&mut out, ticks, scale, HgrmFormat::Csv),
                Err(Error::InvalidArgument)
            );
        }
        assert_eq!(out, "");
    }

    #[test]
    fn as_many_decimals_as_significant_digits() {
        for (scale, expected) in
            [(0, 0), (1, 1), (4, 1), (5, 2), (7, 2), (9, 3), (10, 3), (14, 4), (17, 5), (19, 5)]
        {
            assert_eq!(digits(&Layout::with_scale(scale, 0, 100).unwrap()), expected, "scale {scale}");
        }
    }

    #[test]
    fn rounded_as_java_does() {
        for (number, decimals, text) in [
            (1.005, 2, "1.01"),
            (0.0005, 3, "0.001"),
            (0.25, 1, "0.3"),
            (-0.0004, 3, "-0.000"),
            (1e20, 2, "100000000000000000000.00"),
            (0.000_000_000_000_5, 12, "0.000000000001"),
            (0.000_000_000_000_499, 12, "0.000000000000"),
            (9.9995, 3, "10.000"),
            (0.96, 0, "1"),
            (0.05, 0, "0"),
            (1e-300, 3, "0.000"),
            (f64::NAN, 3, "NaN"),
            (f64::NEG_INFINITY, 3, "-Infinity"),
        ] {
            assert_eq!(Fixed(number, decimals).to_string(), text);
            assert_eq!(format!("{:12}", Fixed(number, decimals)), format!("{text:>12}"));
        }
        assert_eq!(Fixed(f64::MAX, 12).to_string().len(), 309 + 13);
    }

    proptest! {
        #[test]
        fn the_shortest_digits_rounded_half_up(number in -1e9f64..1e9, decimals in 0usize..13) {
            prop_assume!(number.abs() > 1e-6);
            let shortest = format!("{}", number.abs());
            let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
            let all: u128 = format!("{whole}{fraction}").parse().unwrap();
            let rounded = if fraction.len() > decimals {
                let unit = 10u128.pow((fraction.len() - decimals) as u32);
                (all + unit / 2) / unit
            } else {
                all * 10u128.pow((decimals - fraction.len()) as u32)
            };
            let unit = 10u128.pow(decimals as u32);
            let sign = if number < 0.0 { "-" } else { "" };
            let mut expected = format!("{sign}{}", rounded / unit);
            if decimals > 0 {
                expected += &format!(".{:0decimals$}", rounded % unit);
            }
            prop_assert_eq!(Fixed(number, decimals).to_string(), expected);
        }
    }
}
