//! Answers scrapers from a registry, and pushes it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(feature = "otlp")]
use crate::{Family, Otlp, write_otlp};
use crate::{Registry, negotiate};

use crate::http::Answer;
#[cfg(feature = "otlp")]
use crate::http::otlp::{Export, Settings, Temporality};

/// Answers scrapers with what a registry has at that moment: for [`Server::start`](crate::http::Server::start).
///
/// ```no_run
/// use std::sync::{Arc, Mutex};
/// use picollo_core::counters::Metric;
/// use picollo_core::{Options, SharedHistogram};
/// use picollo_export::Registry;
/// use picollo_export::http::{Server, exposition};
///
/// let latency = SharedHistogram::create(&Options::default())?;
/// let mut registry = Registry::new();
/// registry.add(&latency, &Metric { name: "request_seconds", divisor: 1e9, ..Metric::default() }, &[])?;
/// let registry = Arc::new(Mutex::new(registry));
/// let server = Server::start("127.0.0.1:9464", Default::default(), exposition(registry.clone()))?;
/// latency.record(1_234);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exposition(
    registry: Arc<Mutex<Registry>>,
) -> impl Fn(&str) -> Result<Answer, String> + Send + Sync + 'static {
    move |accept| Answer::from_registry(&mut registry.lock().unwrap_or_else(PoisonError::into_inner), accept)
}

impl Answer {
    /// Answers a scraper with what a registry has now, in the format that the `Accept` header selects.
    pub fn from_registry(registry: &mut Registry, accept: &str) -> Result<Answer, String> {
        let wanted = negotiate(accept.as_bytes());
        registry.update(unix_nanos()).map_err(|error| error.to_string())?;
        let body = registry.encode_to_vec(wanted.format).map_err(|error| error.to_string())?;
        Ok(Answer { content_type: wanted.content_type.to_string(), body })
    }
}

/// Exports a registry with a [`Pusher`](crate::http::otlp::Pusher): cumulative counts, or those since the last accepted push.
///
/// If a request did not arrive, the next one includes its counts: a delta's interval becomes longer, so nothing is
/// queued and nothing is lost. An interval counts twice only if a time-out came after the collector had accepted all
/// of it.
#[cfg(feature = "otlp")]
#[derive(Debug)]
pub struct RegistryExport {
    registry: Arc<Mutex<Registry>>,
    /// What the collector has, for deltas, and its time.
    accepted: (Vec<Family>, u64),
    /// What it would have if the last request were accepted.
    sent: Option<(Vec<Family>, u64)>,
}

#[cfg(feature = "otlp")]
impl RegistryExport {
    /// Exports all of a registry, even later additions. The first delta covers all counts since metrics were created.
    pub fn new(registry: Arc<Mutex<Registry>>) -> RegistryExport {
        RegistryExport { registry, accepted: (Vec::new(), 0), sent: None }
    }
}

#[cfg(feature = "otlp")]
impl Export for RegistryExport {
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String> {
        let resource: Vec<(&str, &str)> =
            settings.resource.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut about = Otlp { time_unix_nanos: now_unix_nanos, since_unix_nanos: None, resource: &resource };
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.update(now_unix_nanos).map_err(|error| error.to_string())?;
        let (mut families, difference) = (registry.families(), &mut Vec::new());
        if settings.temporality == Temporality::Delta {
            self.sent = Some((families.to_vec(), now_unix_nanos));
            about.since_unix_nanos = Some(self.accepted.1);
            *difference = Family::since(families, &self.accepted.0);
            families = difference;
        }
        let mut request = vec![0; write_otlp(families, &about, &mut [])];
        write_otlp(families, &about, &mut request);
        Ok(request)
    }

    fn accepted(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.accepted = sent;
        }
    }
}

/// Nanoseconds since 1970; 0 if the clock is before that.
pub(crate) fn unix_nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(all(test, feature = "otlp"))]
mod tests;
