//! Exports a [`Registry`](crate::Registry) over HTTP: with an endpoint for scrapers ([`Server`], [`exposition`]), or a push to
//! OpenTelemetry collectors ([`otlp::Pusher`], [`RegistryExport`]). The push is the feature `otlp`, on by default, and
//! needs a client for HTTP and TLS. The endpoint is the feature `http`, and needs only the C library.
//!
//! ```no_run
//! use std::sync::{Arc, Mutex};
//! use picollo_export::Registry;
//! use picollo_export::http::{Options, RegistryExport, Server, exposition, otlp};
//!
//! let registry = Arc::new(Mutex::new(Registry::new()));
//! let server = Server::start("127.0.0.1:9464", Options::default(), exposition(registry.clone()))?;
//! println!("http://{}/metrics", server.address());
//!
//! // As OTEL_EXPORTER_OTLP_ENDPOINT and its siblings say.
//! if let Some(settings) = otlp::Settings::from_environment()? {
//!     let export = RegistryExport::new(registry);
//!     let pusher = otlp::Pusher::start(settings, export, |result| {
//!         if let Err(error) = result {
//!             eprintln!("metrics: {error}");
//!         }
//!     })?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
#[cfg(feature = "otlp")]
pub mod otlp;
mod registry;
mod request;
mod server;

#[cfg(feature = "otlp")]
pub use registry::RegistryExport;
pub use registry::exposition;
pub use server::{Answer, Options, Server};
