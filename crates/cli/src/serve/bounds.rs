//! Bucket bounds for scrapers without native histograms.

use picollo_core::Layout;

/// Bounds for all histograms.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Bounds {
    /// This many per power of two, in equal steps: 1, 2 or 4. The histogram's own buckets end there: counts are exact.
    PerPower(u64),
    /// At these values, in the served unit.
    At(Vec<f64>),
}

impl Default for Bounds {
    /// Values within a bucket differ by at most 25 %, which limits the error of interpolated percentiles.
    fn default() -> Bounds {
        Bounds::PerPower(4)
    }
}

/// Maximum number of bounds of a metric.
const MOST: usize = 500;

impl Bounds {
    pub(crate) fn parse(text: &str) -> Result<Bounds, String> {
        if let Ok(number @ (1 | 2 | 4)) = text.parse() {
            return Ok(Bounds::PerPower(number));
        }
        let values: Option<Vec<f64>> = text.split(',').map(|one| one.trim().parse().ok()).collect();
        match values {
            Some(values)
                if values.len() <= MOST
                    && values[0] > 0.0
                    && values.iter().all(|value| value.is_finite())
                    && values.is_sorted_by(|a, b| a < b)
                    && (values.len() > 1 || text.contains('.')) =>
            {
                Ok(Bounds::At(values))
            }
            _ => Err(format!(
                "{text} is neither 1, 2 or 4 bounds for each power of two nor a list of growing values as they are served, such as \
                 0.001,0.01,0.1"
            )),
        }
    }

    /// The largest values of the buckets, as recorded.
    pub(crate) fn for_layout(&self, layout: &Layout, divisor: f64) -> Vec<u64> {
        let mut bounds: Vec<u64> = match self {
            Bounds::At(values) => values.iter().map(|value| (value * divisor).round() as u64).collect(),
            Bounds::PerPower(number) => {
                // No bucket ends below a unit.
                let lowest = layout.lowest_recordable().max((1 << layout.unit()) - 1).max(1);
                let powers = (number.trailing_zeros()..64).map(|power| 1u64 << power);
                let bounds =
                    powers.flat_map(|power| (0..*number).map(move |step| power - 1 + power / number * step));
                bounds.filter(|bound| (lowest..layout.highest_recordable()).contains(bound)).collect()
            }
        };
        bounds.dedup();
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_understood() {
        assert_eq!(Bounds::parse("2"), Ok(Bounds::PerPower(2)));
        assert_eq!(Bounds::parse("0.001, 0.25,3"), Ok(Bounds::At(vec![0.001, 0.25, 3.0])));
        assert_eq!(Bounds::parse("0.5"), Ok(Bounds::At(vec![0.5])));
        for text in ["", "3", "8", "1,1", "2,1", "0,1", "-1,1", "nan", "1,inf", "a"] {
            assert!(Bounds::parse(text).is_err(), "{text}");
        }
    }

    /// The default has the error in its comment, and counts at bounds are exact in every layout.
    #[test]
    fn bounds_are_ends_of_buckets_and_close_together() {
        for error in [0.1, 0.05, 0.01, 0.001] {
            let layout = Layout::new(error, 1, 3_600_000_000_000);
            let bounds = Bounds::default().for_layout(&layout, 1e9);
            assert!(bounds.len() < 200 && bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
            for &bound in &bounds {
                assert_eq!(layout.bucket_of(bound).unwrap().upper, bound, "{error}");
            }
            assert!(bounds[0] <= 4 && bounds[bounds.len() - 1] > 3_000_000_000_000);
            let far =
                bounds.windows(2).filter(|pair| pair[0] > 8).find(|pair| pair[1] - pair[0] > pair[0] / 4 + 1);
            assert_eq!(far, None);
        }
        let whole = Layout::new(0.01, 0, u64::MAX);
        assert!(Bounds::default().for_layout(&whole, 1.0).len() <= MOST);
        assert_eq!(Bounds::At(vec![0.001, 0.25]).for_layout(&whole, 1e9), [1_000_000, 250_000_000]);
        assert_eq!(Bounds::PerPower(1).for_layout(&Layout::new(0.01, 1, 100), 1.0), [1, 3, 7, 15, 31, 63]);
    }
}
