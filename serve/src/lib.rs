//! The way out of a [`picollo_core`](https://docs.rs/picollo-core) registry: an HTTP endpoint that scrapers read, and a push to
//! OpenTelemetry collectors. Standard library only.
//!
//! ```no_run
//! use picollo_serve::{Answer, Options, Server};
//!
//! let server = Server::start("127.0.0.1:9464", Options::default(), |accept: &str| {
//!     let _ = accept; // negotiate the format here
//!     Ok(Answer { content_type: "text/plain; version=0.0.4; charset=utf-8".into(), body: b"up 1\n".to_vec() })
//! })?;
//! println!("http://{}/metrics", server.address());
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod options;
pub mod otlp;
mod request;
mod server;

pub use options::{Answer, Options};
pub use server::Server;
