//! A registry's way out: what it answers to scrapers, and what it pushes.

use std::sync::{Arc, Mutex, PoisonError};

use picollo_core::{Family, Otlp, Registry, negotiate, write_otlp};

use crate::options::{Answer, unix_nanos};
use crate::otlp::{Export, Settings, Temporality};

/// Answers scrapers with what a registry has at that moment: for [`Server::start`](crate::Server::start).
///
/// ```no_run
/// use std::sync::{Arc, Mutex};
/// use picollo_core::{Metric, Options, Registry, SharedHistogram};
/// use picollo_serve::{Server, exposition};
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
    move |accept| {
        let wanted = negotiate(accept.as_bytes());
        let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.update(unix_nanos()).map_err(|error| error.to_string())?;
        let body = registry.encode_to_vec(wanted.format).map_err(|error| error.to_string())?;
        Ok(Answer { content_type: wanted.content_type.to_string(), body })
    }
}

/// What a registry has, for a [`Pusher`](crate::otlp::Pusher): cumulative, or what came since the last push that was accepted.
#[derive(Debug)]
pub struct RegistryExport {
    registry: Arc<Mutex<Registry>>,
    /// What the collector has: everything before that moment.
    accepted: Vec<Family>,
    accepted_unix_nanos: u64,
    /// What it would have.
    sent: Vec<Family>,
    sent_unix_nanos: u64,
}

impl RegistryExport {
    /// Everything in a registry, also what is added to it later. Differences are counted from now on.
    pub fn new(registry: Arc<Mutex<Registry>>) -> RegistryExport {
        let now = unix_nanos();
        RegistryExport {
            registry,
            accepted: Vec::new(),
            accepted_unix_nanos: now,
            sent: Vec::new(),
            sent_unix_nanos: now,
        }
    }
}

impl Export for RegistryExport {
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String> {
        let told = |error: picollo_core::Error| error.to_string();
        let families = {
            let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
            registry.update(now_unix_nanos).map_err(told)?;
            registry.families().to_vec()
        };
        let is_delta = settings.temporality == Temporality::Delta;
        let since =
            if is_delta { Some(Family::since(&families, &self.accepted).map_err(told)?) } else { None };
        let resource: Vec<(&str, &str)> =
            settings.resource.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let about = Otlp {
            time_unix_nanos: now_unix_nanos,
            since_unix_nanos: is_delta.then_some(self.accepted_unix_nanos),
            resource: &resource,
        };
        let written = since.as_deref().unwrap_or(&families);
        let mut request = vec![0; write_otlp(written, &about, &mut [])];
        write_otlp(written, &about, &mut request);
        if is_delta {
            self.sent = families;
        }
        self.sent_unix_nanos = now_unix_nanos;
        Ok(request)
    }

    fn accepted(&mut self) {
        self.accepted = std::mem::take(&mut self.sent);
        self.accepted_unix_nanos = self.sent_unix_nanos;
    }
}

#[cfg(test)]
mod tests;
