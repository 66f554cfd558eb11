//! Answers scrapers from a registry, and pushes it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(feature = "otlp")]
use crate::OtlpExport;
use crate::{Registry, negotiate};

use crate::http::Answer;
#[cfg(feature = "otlp")]
use crate::http::otlp::{Export, Settings};

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
    move |accept| Answer::of(&mut registry.lock().unwrap_or_else(PoisonError::into_inner), accept)
}

impl Answer {
    /// Answers a scraper with what a registry has now, in the format that the `Accept` header selects.
    pub fn of(registry: &mut Registry, accept: &str) -> Result<Answer, String> {
        let wanted = negotiate(accept.as_bytes());
        registry.update(unix_nanos()).map_err(|error| error.to_string())?;
        let body = registry.encode_to_vec(wanted.format).map_err(|error| error.to_string())?;
        Ok(Answer { content_type: wanted.content_type.to_string(), body })
    }
}

/// Exports a registry with a [`Pusher`](crate::http::otlp::Pusher): cumulative counts, or those since the last accepted push.
#[cfg(feature = "otlp")]
#[derive(Debug)]
pub struct RegistryExport {
    registry: Arc<Mutex<Registry>>,
    /// Created with the settings of the first push.
    export: Option<OtlpExport>,
}

#[cfg(feature = "otlp")]
impl RegistryExport {
    /// Exports all of a registry, even later additions. The first delta covers all counts since metrics were created.
    pub fn new(registry: Arc<Mutex<Registry>>) -> RegistryExport {
        RegistryExport { registry, export: None }
    }
}

#[cfg(feature = "otlp")]
impl Export for RegistryExport {
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String> {
        let told = |error: picollo_core::Error| error.to_string();
        if self.export.is_none() {
            let resource: Vec<(&str, &str)> =
                settings.resource.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            self.export = Some(OtlpExport::new(settings.temporality, &resource));
        }
        let export = self.export.as_mut().ok_or("there is no export")?;
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        export.update(&mut registry, now_unix_nanos).map_err(told)?;
        Ok(export.request().to_vec())
    }

    fn accepted(&mut self) {
        self.export.iter_mut().for_each(|export| {
            export.accept();
        });
    }
}

/// Nanoseconds since 1970; 0 if the clock is before that.
pub(crate) fn unix_nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(all(test, feature = "otlp"))]
mod tests;
