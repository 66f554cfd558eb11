//! The factors that turn values into integers for counting.

use metrics::Unit;

/// Values from here on count as above the range.
pub(crate) const HIGHEST: u64 = (1 << 63) - 1;

/// The factor for values of a unit, unless [`Builder::scale`](crate::Builder::scale) sets another.
///
/// | unit | scale | counted are |
/// | :-- | --: | :-- |
/// | none described, seconds | 10^9 | nanoseconds |
/// | milliseconds, microseconds, nanoseconds | 10^6, 10^3, 1 | nanoseconds |
/// | bytes, kibibytes … tebibytes | 1, 2^10 … 2^40 | bytes |
/// | bits, kilobits … terabits a second | 1, 10^3 … 10^12 | bits a second |
/// | count, count a second | 10^3 | thousandths |
/// | percent | 10^6 | millionths |
///
/// The product is rounded to the nearest integer. Values below half of one over the scale become 0. Small values have
/// an absolute error of that half besides the relative error of the buckets. Products of 2^63 and above (9.2e9 without
/// a unit) count as above the range: in `+Inf`, in the number of observations, and as 2^63 over the scale in the sum.
/// Negative values and NaN are in no histogram; `picollo_metrics_lost` counts them, with the reason.
pub fn scale_of(unit: Option<Unit>) -> f64 {
    match unit {
        None | Some(Unit::Seconds) => 1e9,
        Some(Unit::Milliseconds | Unit::Percent) => 1e6,
        Some(Unit::Microseconds | Unit::Count | Unit::CountPerSecond | Unit::KilobitsPerSecond) => 1e3,
        Some(Unit::Nanoseconds | Unit::Bytes | Unit::BitsPerSecond) => 1.0,
        Some(Unit::Kibibytes) => 1024.0,
        Some(Unit::Mebibytes) => 1024.0 * 1024.0,
        Some(Unit::Gibibytes) => 1024.0 * 1024.0 * 1024.0,
        Some(Unit::Tebibytes) => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        Some(Unit::MegabitsPerSecond) => 1e6,
        Some(Unit::GigabitsPerSecond) => 1e9,
        Some(Unit::TerabitsPerSecond) => 1e12,
    }
}

/// The unit in expositions; "" if there is no unit, or if the name, without a counter's `_total`, does not end with it.
pub(crate) fn exposed(unit: Option<Unit>, name: &str) -> &'static str {
    // Histograms have a series with the suffix `_count`.
    let unit = unit.filter(|unit| *unit != Unit::Count).map_or("", |unit| unit.as_str());
    let before = name.strip_suffix("_total").unwrap_or(name).strip_suffix(unit);
    if before.is_some_and(|before| before.len() > 1 && before.ends_with(['_', '.', '-', '/'])) {
        unit
    } else {
        ""
    }
}
