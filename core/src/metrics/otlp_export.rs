//! What a collector is sent, push by push, and what it has by then.

use alloc::string::String;
use alloc::vec::Vec;

use super::family::Family;
use super::memory::{push, text};
use super::otlp::{Otlp, write_otlp};
use super::registry::Registry;
use crate::error::{Error, Result};

/// Since when the counts are that a collector is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u32)]
pub enum Temporality {
    /// Since the beginning. The default.
    #[default]
    Cumulative = 0,
    /// Since what was accepted last.
    Delta = 1,
}

/// Requests for one OpenTelemetry collector, of all that a registry has.
///
/// [`OtlpExport::update`] makes one, [`OtlpExport::request`] has its bytes, for as many attempts as it takes, and
/// [`OtlpExport::accept`] notes that it arrived. Where it did not, the next one has its counts too: with [`Temporality::Delta`] the interval
/// then becomes longer, so that there is no queue and nothing is lost. Only if a time-out came after the collector had accepted all is that
/// interval counted twice.
#[derive(Debug)]
pub struct OtlpExport {
    temporality: Temporality,
    resource: Vec<(String, String)>,
    /// What the collector has, and of when.
    accepted: Copy,
    /// What it would have, if the request were accepted.
    sent: Option<Copy>,
    request: Vec<u8>,
}

#[derive(Debug, Default)]
struct Copy {
    families: Vec<Family>,
    unix_nanos: u64,
}

impl TryFrom<u32> for Temporality {
    type Error = Error;

    fn try_from(code: u32) -> Result<Self> {
        match code {
            0 => Ok(Temporality::Cumulative),
            1 => Ok(Temporality::Delta),
            _ => Err(Error::InvalidArgument),
        }
    }
}

impl OtlpExport {
    /// Of nothing yet. The resource is what pushes: `service.name` and others. [`Error::OutOfMemory`].
    pub fn new(temporality: Temporality, resource: &[(&str, &str)]) -> Result<OtlpExport> {
        let mut copy = Vec::new();
        for (name, value) in resource {
            push(&mut copy, (text(name)?, text(value)?))?;
        }
        Ok(OtlpExport {
            temporality,
            resource: copy,
            accepted: Copy::default(),
            sent: None,
            request: Vec::new(),
        })
    }

    /// Updates a registry, always the same one, and makes a request of it. The first difference has all counts since their metrics
    /// were made.
    ///
    /// Errors as of [`Registry::update`], and [`Error::OutOfMemory`]: the request is then the one before, which may still be accepted.
    pub fn update(&mut self, registry: &mut Registry, now_unix_nanos: u64) -> Result<()> {
        registry.update(now_unix_nanos)?;
        let families = registry.families();
        let mut sent = Copy { families: Vec::new(), unix_nanos: now_unix_nanos };
        let request = match self.temporality {
            Temporality::Cumulative => self.request_of(families, now_unix_nanos, None)?,
            Temporality::Delta => {
                sent.families = Family::copies(families)?;
                let since = Family::since(families, &self.accepted.families)?;
                self.request_of(&since, now_unix_nanos, Some(self.accepted.unix_nanos))?
            }
        };
        self.request = request;
        self.sent = Some(sent);
        Ok(())
    }

    fn request_of(
        &self,
        families: &[Family],
        time_unix_nanos: u64,
        since_unix_nanos: Option<u64>,
    ) -> Result<Vec<u8>> {
        let mut resource = Vec::new();
        for (name, value) in &self.resource {
            push(&mut resource, (&**name, &**value))?;
        }
        let about = Otlp { time_unix_nanos, since_unix_nanos, resource: &resource };
        let length = write_otlp(families, &about, &mut []);
        let mut request = Vec::new();
        request.try_reserve_exact(length).map_err(|_| Error::OutOfMemory)?;
        request.resize(length, 0);
        write_otlp(families, &about, &mut request);
        Ok(request)
    }

    /// The bytes of the last request, an `ExportMetricsServiceRequest`; none once it was accepted, and before the first.
    pub fn request(&self) -> &[u8] {
        &self.request
    }

    /// Notes that the last request has arrived. Whether there was one that had not yet.
    pub fn accept(&mut self) -> bool {
        let Some(sent) = self.sent.take() else { return false };
        self.accepted = sent;
        self.request = Vec::new();
        true
    }
}
