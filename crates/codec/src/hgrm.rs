//! HdrHistogram's percentile distributions (`.hgrm`), character by character as Java writes them.

use core::fmt::{self, Write};

use picollo_core::seam::{Decimal, SCALES_OF_DIGITS};
use picollo_core::{Error, Layout, Result, Snapshot};

/// Java's default number of rows in each half of the distance to 100 %.
pub const DEFAULT_TICKS: u32 = 5;

/// The largest number of rows in each half of the distance; nobody reads more.
pub const MAX_TICKS: u32 = 1_000_000;

/// How a percentile distribution is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HgrmFormat {
    /// Columns, followed by mean, deviation, maximum and total.
    #[default]
    Columns,
    /// Comma-separated values.
    Csv,
}

/// Writes the percentile distribution of a snapshot: `ticks_per_half_distance` rows (0: 5) for each half of the remaining
/// distance to 100 %, so the step between percentiles halves each time.
///
/// Values are the upper ends of buckets, divided by `value_scale` (0: 1), with as many decimals as the layout has
/// significant digits. An empty snapshot has no rows, and zeros at the end.
///
/// Returns [`Error::InvalidArgument`], before anything is written, for more than [`MAX_TICKS`] ticks or a scale
/// that is negative or not finite. Returns [`Error::BufferTooSmall`] if `out` accepts no more.
pub fn write_hgrm(
    snapshot: &Snapshot,
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
    let steps = snapshot.percentile_steps(ticks)?;
    let digits = digits(snapshot.layout());
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
        if format == HgrmFormat::Csv { Ok(()) } else { write_footer(snapshot, out, value_scale, digits) }
    };
    write().map_err(|_| Error::BufferTooSmall)
}

fn write_footer(
    snapshot: &Snapshot,
    out: &mut (impl Write + ?Sized),
    value_scale: f64,
    digits: usize,
) -> fmt::Result {
    let moments = snapshot.moments();
    let scaled = |number: f64| {
        let number = if number.is_nan() { 0.0 } else { number };
        Fixed(number / value_scale, digits)
    };
    let (mean, stddev) = (scaled(moments.mean), scaled(moments.stddev));
    let max = scaled(snapshot.highest_recorded().map_or(0, |bucket| bucket.upper) as f64);
    let total = snapshot.counts().total;
    let layout = snapshot.layout();
    // Blocks 0 and 1 are one HdrHistogram bucket, whose sub-buckets are our buckets.
    let buckets = (layout.logical_index(layout.max_trackable()) >> layout.scale()).max(1);
    let sub_buckets = 2 * layout.block_size();
    writeln!(out, "#[Mean    = {mean:12}, StdDeviation   = {stddev:12}]")?;
    writeln!(out, "#[Max     = {max:12}, Total count    = {total:12}]")?;
    writeln!(out, "#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]")
}

/// The significant digits of a layout: HdrHistogram's for its block sizes, else those of the next larger block size.
fn digits(layout: &Layout) -> usize {
    SCALES_OF_DIGITS[..5].iter().filter(|&&scale| scale < layout.scale()).count()
}

/// A number with this many decimals, as Java's `%.3f` writes it: the shortest digits that distinguish the number from
/// its neighbors, rounded half up. (C and Rust round the exact number.)
#[derive(Clone, Copy)]
pub(crate) struct Fixed(pub(crate) f64, pub(crate) usize);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fixed(number, decimals) = *self;
        if !number.is_finite() {
            let name = if number.is_nan() { "NaN" } else { "Infinity" };
            return f.pad_integral(number.is_nan() || number > 0.0, "", name);
        }
        let rounded = Decimal::shortest(number).rounded(decimals as i32);
        // Java keeps the sign of numbers that round to zero.
        let is_negative = number.is_sign_negative();
        let whole = rounded.magnitude().max(0) as usize + 1;
        let point = if decimals == 0 { 0 } else { 1 };
        let width = usize::from(is_negative) + whole + point + decimals;
        (width..f.width().unwrap_or(0)).try_for_each(|_| f.write_char(' '))?;
        f.write_str(if is_negative { "-" } else { "" })?;
        rounded.write_digits(f, decimals as u32, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snapshot as recorded;
    use proptest::prelude::*;
    use std::boxed::Box;
    use std::format;
    use std::string::{String, ToString};

    /// The output of Java's HdrHistogram 2.1.11 for these values and one tick.
    const COLUMNS: &str = r#"       Value     Percentile TotalCount 1/(1-Percentile)

       0.000 0.000000000000          1           1.00
    1000.000 0.500000000000        105           2.00
    1000.000 0.750000000000        105           4.00
    1000.000 0.875000000000        105           8.00
    1000.000 0.937500000000        105          16.00
    1000.000 0.968750000000        105          32.00
    2049.000 0.984375000000        107          64.00
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
        recorded(Layout::with_significant_digits(digits, 0, max).unwrap(), values)
    }

    fn text(snapshot: &Snapshot, ticks: u32, scale: f64, format: HgrmFormat) -> String {
        let mut text = String::new();
        write_hgrm(snapshot, &mut text, ticks, scale, format).unwrap();
        text
    }

    #[test]
    fn as_java_writes_it() {
        let values = [(0, 1), (1, 1), (3, 2), (7, 1), (1000, 100), (2047, 1), (2048, 1), (123_456_789, 1)];
        let golden = snapshot(3, 3_600_000_000, &values);
        assert_eq!(text(&golden, 1, 1.0, HgrmFormat::Columns), COLUMNS);
        let by_default = text(&golden, 0, 0.0, HgrmFormat::Columns);
        assert_eq!(text(&golden, DEFAULT_TICKS, 1.0, HgrmFormat::Columns), by_default);
        assert_eq!(text(&golden, 1, 1000.0, HgrmFormat::Csv), CSV_BY_THOUSAND);
        assert_eq!(text(&snapshot(2, 1000, &[]), 5, 1.0, HgrmFormat::Columns), EMPTY);
    }

    #[test]
    fn what_cannot_be_written() {
        let golden = snapshot(3, 1000, &[(5, 5)]);
        let mut out = String::new();
        for (ticks, scale) in [(1, -1.0), (1, f64::NAN), (1, f64::INFINITY), (MAX_TICKS + 1, 1.0)] {
            let written = write_hgrm(&golden, &mut out, ticks, scale, HgrmFormat::Csv);
            assert_eq!(written, Err(Error::InvalidArgument));
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
