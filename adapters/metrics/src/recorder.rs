//! The recorder that macros find, and access to its metrics.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SetRecorderError, SharedString, Unit,
};
use picollo_core::layouts::ValueSelection;
use picollo_core::{Since, Snapshot};
use picollo_export::http::{Options, Server, exposition};
use picollo_export::{MetricKind, Registry};

use crate::cache::{Cache, cached};
use crate::cells::{CounterCell, GaugeCell, HistogramCell, Refused};
use crate::store::{Found, Store};

thread_local! {
    static COUNTERS: RefCell<Cache<Counter>> = const { RefCell::new(Cache::new()) };
    static GAUGES: RefCell<Cache<Gauge>> = const { RefCell::new(Cache::new()) };
    static HISTOGRAMS: RefCell<Cache<Histogram>> = const { RefCell::new(Cache::new()) };
}

/// A recorder and its metrics, as a counted reference. [`Builder::build`](crate::Builder::build) makes it.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Store>);

impl Metrics {
    pub(crate) fn new(store: Store) -> Metrics {
        Metrics(Arc::new(store))
    }

    /// Makes this the recorder of the whole program. Fails if there is one already.
    pub fn install(&self) -> Result<(), SetRecorderError<Metrics>> {
        metrics::set_global_recorder(self.clone())
    }

    /// Serves scrapers at an address, such as `127.0.0.1:9464`, until the result is dropped. See [`Server::start`].
    pub fn serve(&self, address: &str) -> io::Result<Server> {
        Server::start(address, Options::default(), exposition(self.registry()))
    }

    /// The registry, for other exports, such as [`picollo_export::http::RegistryExport`], and to add your own histograms.
    pub fn registry(&self) -> Arc<Mutex<Registry>> {
        self.0.registry.clone()
    }

    /// The values that a histogram has recorded so far, in all threads. `None` if there is no such histogram, or no
    /// memory.
    pub fn histogram(&self, name: &str, labels: &[(&str, &str)]) -> Option<Recorded> {
        let (histogram, scale) = self.0.histogram(name, labels)?;
        let mut snapshot = Snapshot::boxed(*histogram.layout()).ok()?;
        histogram.update(&mut snapshot, Since::Reset).ok()?;
        Some(Recorded { snapshot, scale })
    }
}

/// The values that a histogram had recorded at one moment.
#[derive(Debug)]
pub struct Recorded {
    /// The counts of values times the scale.
    pub snapshot: Box<Snapshot>,
    /// The factor that values were multiplied by.
    pub scale: f64,
}

impl Recorded {
    /// The number of recorded values, including those above the range.
    pub fn count(&self) -> u64 {
        let counts = self.snapshot.counts();
        counts.total.saturating_add(counts.overflow)
    }

    /// The recorded value at a quantile, 0 to 1, of the values in range; NaN without values or for other arguments.
    pub fn quantile(&self, quantile: f64) -> f64 {
        match self.snapshot.percentile(quantile * 100.0, ValueSelection::Midpoint) {
            Ok(found) if self.snapshot.counts().total > 0 => found.value as f64 / self.scale,
            _ => f64::NAN,
        }
    }
}

impl Recorder for Metrics {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.0.describe(key.as_str(), unit, &description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.0.describe(key.as_str(), unit, &description);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.0.describe(key.as_str(), unit, &description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        cached(&COUNTERS, self.0.id, key, || match self.0.find(MetricKind::Counter, key) {
            Found::Counter(counter, setting) => Counter::from_arc(Arc::new(CounterCell { counter, setting })),
            _ => Counter::from_arc(Arc::new(self.refused())),
        })
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        cached(&GAUGES, self.0.id, key, || match self.0.find(MetricKind::Gauge, key) {
            Found::Gauge(gauge) => Gauge::from_arc(Arc::new(GaugeCell(gauge))),
            _ => Gauge::from_arc(Arc::new(self.refused())),
        })
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        cached(&HISTOGRAMS, self.0.id, key, || match self.0.find(MetricKind::Histogram, key) {
            Found::Histogram(histogram, scale) => {
                Histogram::from_arc(Arc::new(HistogramCell { histogram, scale, lost: self.0.lost.clone() }))
            }
            _ => Histogram::from_arc(Arc::new(self.refused())),
        })
    }
}

impl Metrics {
    fn refused(&self) -> Refused {
        Refused(self.0.lost.refused.clone())
    }
}
