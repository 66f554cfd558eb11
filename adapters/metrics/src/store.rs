//! All metrics that were ever requested, behind a lock that each thread takes once per key.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use metrics::{Key, Unit};
use picollo_core::counters::{MetricCounter, MetricGauge};
use picollo_core::{Error, Mode, Options, SharedHistogram};
use picollo_export::{MetricKind, Registry};

use crate::builder::Builder;
use crate::names;
use crate::units::{self, HIGHEST};

/// Counters for events that are in no metric.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) negative: MetricCounter,
    pub(crate) not_a_number: MetricCounter,
    pub(crate) refused: MetricCounter,
}

#[derive(Debug)]
pub(crate) struct Store {
    /// Unique among the recorders of this process.
    pub(crate) id: u64,
    pub(crate) settings: Builder,
    pub(crate) registry: Arc<Mutex<Registry>>,
    pub(crate) lost: Lost,
    beyond_limit: MetricCounter,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    families: HashMap<String, Family>,
    described: HashMap<String, (Option<Unit>, String)>,
}

#[derive(Debug)]
struct Family {
    kind: MetricKind,
    scale: f64,
    unit: &'static str,
    help: String,
    sets: HashMap<Vec<(String, String)>, Found>,
}

/// A metric.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// With the lock for callers that set it.
    Counter(MetricCounter, Arc<Mutex<()>>),
    Gauge(MetricGauge),
    /// With its scale.
    Histogram(SharedHistogram, f64),
    Refused,
}

impl Store {
    pub(crate) fn new(settings: Builder) -> Result<Store, Error> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mut registry = Registry::new();
        let mut lost = |reason| {
            let help = "Events that are in no metric: negative values and NaN, and all of metrics that were refused.";
            let labels = [("reason", reason)];
            let metric = picollo_core::counters::Metric {
                name: "picollo_metrics_lost",
                help,
                labels: &labels,
                ..Default::default()
            };
            registry.add_counter(&metric).map(|(_, counter)| counter)
        };
        let lost = Lost {
            negative: lost("negative")?,
            not_a_number: lost("not_a_number")?,
            refused: lost("refused")?,
        };
        let help = "How often a set of labels was looked up that went to the set of the overflow.";
        let beyond = picollo_core::counters::Metric {
            name: "picollo_metrics_overflow_lookups",
            help,
            ..Default::default()
        };
        let (_, beyond_limit) = registry.add_counter(&beyond)?;
        Ok(Store {
            id: LAST.fetch_add(1, Relaxed) + 1,
            settings,
            registry: Arc::new(Mutex::new(registry)),
            lost,
            beyond_limit,
            state: Mutex::default(),
        })
    }

    /// The first description of a name counts, if it comes before the first use of the name.
    pub(crate) fn describe(&self, name: &str, unit: Option<Unit>, help: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.described.len() < self.settings.names {
            state.described.entry(names::metric(name)).or_insert_with(|| (unit, help.into()));
        }
    }

    /// The metric of a key; makes it if it is new.
    pub(crate) fn find(&self, kind: MetricKind, key: &Key) -> Found {
        let name = names::metric(key.name());
        let mut labels = names::labels(key);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { families, described } = &mut *state;
        if !families.contains_key(&name) {
            if families.len() >= self.settings.names {
                return Found::Refused;
            }
            let (unit, help) = described.get(&name).cloned().unwrap_or_default();
            let scale = self.settings.scales.get(&name).copied().unwrap_or_else(|| units::scale_of(unit));
            let unit = units::exposed(unit, &name);
            families.insert(name.clone(), Family { kind, scale, unit, help, sets: HashMap::new() });
        }
        let family = families.get_mut(&name).expect("inserted above");
        if family.kind != kind {
            return Found::Refused;
        }
        if let Some(known) = family.sets.get(&labels) {
            return known.clone();
        }
        if family.sets.len() >= self.settings.label_sets {
            self.beyond_limit.add(1);
            labels = vec![("overflow".into(), "true".into())];
            if let Some(overflow) = family.sets.get(&labels) {
                return overflow.clone();
            }
        }
        let found = self.make(&name, family, &labels).unwrap_or(Found::Refused);
        family.sets.insert(labels, found.clone());
        found
    }

    /// The histogram under a name, if it is one.
    pub(crate) fn histogram(&self, name: &str, labels: &[(&str, &str)]) -> Option<(SharedHistogram, f64)> {
        let mut labels: Vec<_> = labels.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        labels.sort_unstable();
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.families.get(name)?.sets.get(&labels)? {
            Found::Histogram(histogram, scale) => Some((histogram.clone(), *scale)),
            _ => None,
        }
    }

    fn make(&self, name: &str, family: &Family, labels: &[(String, String)]) -> Result<Found, Error> {
        let labels: Vec<_> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        let now =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let metric = picollo_core::counters::Metric {
            name,
            help: &family.help,
            unit: family.unit,
            labels: &labels,
            created_unix_nanos: now,
            native: self.settings.native,
            divisor: if family.kind == MetricKind::Histogram { family.scale } else { 1.0 },
            ..Default::default()
        };
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match family.kind {
            MetricKind::Counter => Found::Counter(registry.add_counter(&metric)?.1, Arc::default()),
            MetricKind::Gauge => Found::Gauge(registry.add_gauge(&metric)?.1),
            // A summary is another form of a histogram, which nobody requests here.
            MetricKind::Histogram | MetricKind::Summary => {
                let histogram = SharedHistogram::create(&Options {
                    mode: Mode::ThreadLocal,
                    relative_error: self.settings.relative_error,
                    max_trackable: HIGHEST,
                    no_live_reset: true,
                    ..Options::default()
                })?;
                let bounds = self.settings.bounds.get(name).map_or(&[][..], |bounds| bounds);
                let bounds: Vec<u64> =
                    bounds.iter().map(|bound| (bound * family.scale).round() as u64).collect();
                registry.add(&histogram, &metric, &bounds)?;
                Found::Histogram(histogram, family.scale)
            }
        })
    }
}
