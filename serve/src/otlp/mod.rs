//! Pushes to OpenTelemetry collectors: OTLP over HTTP with protobuf.
//!
//! What is sent is made elsewhere; here are the settings ([`Settings`], from the environment as the OpenTelemetry specification names
//! it), one request ([`Settings::post`]), and the thread that sends again and again ([`Pusher`]).

mod client;
mod push;
#[cfg(test)]
pub(crate) mod push_tests;
mod settings;
mod url;

pub use client::{Outcome, PushError};
pub use picollo_core::Temporality;
pub use push::{Export, Pusher, Report};
pub use settings::Settings;
pub use url::Url;
