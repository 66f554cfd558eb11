//! The percentile distributions of HdrHistogram (`.hgrm`), to the letter as Java writes them.

use core::fmt::{self, Write};

use crate::{Error, Layout, Result, Snapshot};

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
        let mut text = crate::text::BufferWriter::new(&mut memory);
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
