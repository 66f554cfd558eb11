//! Which names are allowed, and how Prometheus sees them.

use alloc::string::String;

use super::family::MetricKind;
use super::memory::text;
use picollo_core::Result;

fn is_name(name: &str, also: &[u8]) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || also.contains(&byte);
    name.bytes().all(allowed) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Replaces what OpenTelemetry allows in names and Prometheus does not with underscores.
pub(super) fn plain(name: &str) -> Result<String> {
    let mut plain = text(name)?;
    // This replaces one byte with another, so it allocates nothing.
    for (at, _) in name.match_indices(['.', '-', '/']) {
        plain.replace_range(at..at + 1, "_");
    }
    Ok(plain)
}

/// Whether a metric may have this plain name.
pub(super) fn is_metric(name: &str) -> bool {
    is_name(name, b":")
}

/// Whether a label may have this plain name. `le` is the bound of a bucket; two underscores at the beginning are
/// reserved.
pub(super) fn is_label(name: &str) -> bool {
    is_name(name, b"") && name != "le" && !name.starts_with("__")
}

/// Whether a metric with this plain name may have this unit: the name must end with it.
pub(super) fn is_unit(name: &str, unit: &str) -> bool {
    let ends = |unit| name.strip_suffix(unit).is_some_and(|rest| rest.len() > 1 && rest.ends_with('_'));
    unit.is_empty() || (is_name(unit, b":") && ends(unit))
}

/// The suffixes of a metric's samples, and of the counters beside a histogram. The latter have samples named
/// `x_lost_total`, in a family that could have `x_lost_created`.
const fn suffixes(kind: MetricKind) -> &'static [&'static str] {
    match kind {
        MetricKind::Histogram | MetricKind::Summary => &[
            "_bucket",
            "_count",
            "_sum",
            "_created",
            "_lost",
            "_lost_total",
            "_lost_created",
            "_not_finite",
            "_not_finite_total",
            "_not_finite_created",
        ],
        MetricKind::Counter => &["_total", "_created"],
        MetricKind::Gauge => &[],
    }
}

/// Whether one plain name is a sample name of the other, or both are the same.
pub(super) fn clash(a: (&str, MetricKind), b: (&str, MetricKind)) -> bool {
    let is_of = |longer: &str, (shorter, kind): (&str, MetricKind)| {
        longer.strip_prefix(shorter).is_some_and(|rest| rest.is_empty() || suffixes(kind).contains(&rest))
    };
    is_of(a.0, b) || is_of(b.0, a)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(["a", "request_seconds", "_x", ":x", "a:b", "A9"].into_iter().all(is_metric));
        assert!(!["", "9a", "a-b", "a b", "a\n", "ä", "a.b", "a{"].into_iter().any(is_metric));
        assert!(["a", "_a", "le_", "A9"].into_iter().all(is_label));
        assert!(!["", "9", "a:b", "le", "__a", "a=\"", "a,b"].into_iter().any(is_label));
    }

    #[test]
    fn plain_names() {
        assert_eq!(plain("http.server-time/s").unwrap(), "http_server_time_s");
        assert_eq!(plain("a_b:c é").unwrap(), "a_b:c é");
    }

    #[test]
    fn units() {
        for (name, unit) in [("x", ""), ("x_seconds", "seconds"), ("a_b_bytes_per_s", "bytes_per_s")] {
            assert!(is_unit(name, unit), "{name} {unit}");
        }
        for (name, unit) in
            [("x", "seconds"), ("xseconds", "seconds"), ("_seconds", "seconds"), ("x_s s", "s s")]
        {
            assert!(!is_unit(name, unit), "{name} {unit}");
        }
    }

    #[test]
    fn clashes() {
        use MetricKind::{Counter, Gauge, Histogram, Summary};
        for (a, b, clashes) in [
            (("x", Histogram), ("x_count", Histogram), true),
            (("x", Histogram), ("x_sum", Histogram), true),
            (("x", Histogram), ("x_lost_total", Histogram), true),
            (("x", Histogram), ("x_not_finite", Histogram), true),
            (("x", Histogram), ("x_max", Histogram), false),
            (("x_count", Histogram), ("x_sum", Histogram), false),
            (("x", Histogram), ("xx_count", Histogram), false),
            (("x", Counter), ("x_total", Gauge), true),
            (("x", Counter), ("x_lost", Counter), false),
            (("x", Histogram), ("x_lost", Counter), true),
            (("x", Gauge), ("x_count", Gauge), false),
            (("x_count", Gauge), ("x", Summary), true),
            (("x", Gauge), ("x", Counter), true),
        ] {
            assert_eq!((clash(a, b), clash(b, a)), (clashes, clashes), "{a:?} {b:?}");
        }
    }
}
