//! The settings of a recorder.

use std::collections::HashMap;

use picollo_core::Error;

use crate::names;
use crate::recorder::Metrics;
use crate::store::Store;

/// The settings from which a recorder is built.
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
    /// The defaults are those that the methods below state.
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

    /// The largest distance between a value and its reported value, in proportion: 0.01. A histogram then takes 29 kB,
    /// and as much again for each thread that records into it at the same time; ten times as much at 0.001.
    pub fn relative_error(mut self, error: f64) -> Builder {
        self.relative_error = error;
        self
    }

    /// The largest number of label sets of a name: 1000. Further ones share one more set, `overflow="true"`.
    pub fn label_sets(mut self, most: usize) -> Builder {
        self.label_sets = most;
        self
    }

    /// The largest number of names: 1000. Events of further names count as refused.
    pub fn names(mut self, most: usize) -> Builder {
        self.names = most;
        self
    }

    /// Prometheus gets native histograms, with exponential buckets, if its format has them.
    pub fn native(mut self, native: bool) -> Builder {
        self.native = native;
        self
    }

    /// The factor for values of histograms with this name, before they are counted. It overrides their unit.
    pub fn scale(mut self, name: &str, scale: f64) -> Builder {
        self.scales.insert(names::metric(name), scale);
        self
    }

    /// The bounds of the buckets in expositions of this name, ascending, as recorded. Without them, there is one below
    /// each power of four of the counted integers.
    pub fn bounds(mut self, name: &str, bounds: &[f64]) -> Builder {
        self.bounds.insert(names::metric(name), bounds.to_vec());
        self
    }

    /// Builds the recorder. Returns [`Error::InvalidArgument`] for scales that are not positive, and bounds that do not
    /// ascend from 0; [`Error::OutOfMemory`] if there is no memory.
    pub fn build(self) -> Result<Metrics, Error> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let ascend = |bounds: &Vec<f64>| {
            bounds.len() <= picollo_export::MAX_BOUNDS
                && bounds.iter().all(|&bound| bound >= 0.0 && bound.is_finite())
                && bounds.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !self.scales.values().all(|&scale| positive(scale)) || !self.bounds.values().all(ascend) {
            return Err(Error::InvalidArgument);
        }
        Store::new(self).map(Metrics::new)
    }
}
