//! The requests for a collector, push by push, and what it has accepted so far.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::family::Family;
use super::otlp::{Otlp, write_otlp};
use super::registry::Registry;
use picollo_core::Result;

/// The start of the interval of the counts in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Temporality {
    /// Since the beginning. This is the default.
    #[default]
    Cumulative,
    /// Since the last accepted request.
    Delta,
}

/// Requests for one OpenTelemetry collector, with everything in a registry.
///
/// [`OtlpExport::update`] makes a request, [`OtlpExport::request`] returns its bytes for any number of attempts, and
/// [`OtlpExport::accept`] notes that it arrived. If it did not arrive, the next request includes its counts: with
/// [`Temporality::Delta`] its interval becomes longer, so nothing is queued and nothing is lost. An interval counts
/// twice only if a time-out came after the collector had accepted all of it.
#[derive(Debug)]
pub struct OtlpExport {
    temporality: Temporality,
    resource: Vec<(String, String)>,
    /// What the collector has, and its time.
    accepted: Copy,
    /// What it would have if the request were accepted.
    sent: Option<Copy>,
    request: Vec<u8>,
}

#[derive(Debug, Default)]
struct Copy {
    families: Vec<Family>,
    unix_nanos: u64,
}

impl OtlpExport {
    /// Starts without any counts. The resource is what pushes: `service.name` and others.
    pub fn new(temporality: Temporality, resource: &[(&str, &str)]) -> OtlpExport {
        let resource = resource.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let (accepted, request) = (Copy::default(), Vec::new());
        OtlpExport { temporality, resource, accepted, sent: None, request }
    }

    /// Updates a registry, always the same one, and makes a request from it. The first difference has all counts since
    /// the metrics were created.
    ///
    /// Errors as for [`Registry::update`]: the previous request then remains, and may still be accepted.
    pub fn update(&mut self, registry: &mut Registry, now_unix_nanos: u64) -> Result<()> {
        registry.update(now_unix_nanos)?;
        let families = registry.families();
        let resource: Vec<_> =
            self.resource.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let about = Otlp { time_unix_nanos: now_unix_nanos, since_unix_nanos: None, resource: &resource };
        let (families, request) = match self.temporality {
            Temporality::Cumulative => (Vec::new(), request_of(families, &about)),
            Temporality::Delta => {
                let since = Family::since(families, &self.accepted.families);
                let about = Otlp { since_unix_nanos: Some(self.accepted.unix_nanos), ..about };
                (families.to_vec(), request_of(&since, &about))
            }
        };
        self.request = request;
        self.sent = Some(Copy { families, unix_nanos: now_unix_nanos });
        Ok(())
    }

    /// The bytes of the last request, an `ExportMetricsServiceRequest`; empty before the first, and after acceptance.
    pub fn request(&self) -> &[u8] {
        &self.request
    }

    /// Notes that the last request has arrived. Returns whether there was one that had not yet arrived.
    pub fn accept(&mut self) -> bool {
        let Some(sent) = self.sent.take() else { return false };
        self.accepted = sent;
        self.request = Vec::new();
        true
    }
}

fn request_of(families: &[Family], about: &Otlp<'_>) -> Vec<u8> {
    let mut request = vec![0; write_otlp(families, about, &mut [])];
    write_otlp(families, about, &mut request);
    request
}
