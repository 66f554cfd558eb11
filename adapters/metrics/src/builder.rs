//! Settings of a recorder.

use std::collections::HashMap;

use picollo_core::Error;

use crate::names;
use crate::recorder::Metrics;
use crate::store::Store;

/// What a recorder is made from.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) relative_error: f64,
    pub(crate) label_sets: usize,
    pub(crate) names: usize,
    pub(crate) native: bool,
    pub(crate) scales: HashMap<String, f64>,
    pub(crate) bounds: HashMap<String, Vec<f64>>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// As the methods below say.
    pub fn new() -> Builder {
        Builder {
            relative_error: 0.01,
            label_sets: 1000,
            names: 1000,
            native: false,
            scales: HashMap::new(),
            bounds: HashMap::new(),
        }
    }

    /// Largest distance of a value to what is reported for it, in proportion: 0.01. A histogram takes 29 kB at that, and as much again for
    /// each thread that records into it at the same time; ten times as much at 0.001.
    pub fn relative_error(mut self, error: f64) -> Builder {
        self.relative_error = error;
        self
    }

    /// How many sets of labels a name may have: 1000. Others are counted in one more, `overflow="true"`.
    pub fn label_sets(mut self, most: usize) -> Builder {
        self.label_sets = most;
        self
    }

    /// How many names there may be: 1000. Events of others are counted as refused.
    pub fn names(mut self, most: usize) -> Builder {
        self.names = most;
        self
    }

    /// Show Prometheus native histograms, of exponential buckets, where its format has them.
    pub fn native(mut self, native: bool) -> Builder {
        self.native = native;
        self
    }

    /// What values of the histograms of this name are multiplied by before they are counted, whatever their unit is.
    pub fn scale(mut self, name: &str, scale: f64) -> Builder {
        self.scales.insert(names::metric(name), scale);
        self
    }

    /// The bounds of the buckets that expositions have for this name, ascending, as recorded; one below each power of four otherwise,
    /// as integers are counted.
    pub fn bounds(mut self, name: &str, bounds: &[f64]) -> Builder {
        self.bounds.insert(names::metric(name), bounds.to_vec());
        self
    }

    /// The recorder. [`Error::InvalidArgument`] for scales that are not positive, and bounds that do not ascend from 0;
    /// [`Error::OutOfMemory`].
    pub fn build(self) -> Result<Metrics, Error> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let ascend = |bounds: &Vec<f64>| {
            bounds.len() <= picollo_core::MAX_BOUNDS
                && bounds.iter().all(|&bound| bound >= 0.0 && bound.is_finite())
                && bounds.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !self.scales.values().all(|&scale| positive(scale)) || !self.bounds.values().all(ascend) {
            return Err(Error::InvalidArgument);
        }
        Store::new(self).map(Metrics::new)
    }
}
