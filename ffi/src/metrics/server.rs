//! Servers: a registry's metrics over HTTP, for scrapers.
//!
//!     picollo_server *server;
//!     if (picollo_server_start(registry, "127.0.0.1:9464", NULL, &server, &error) != PICOLLO_OK) puts(error.message), exit(1);
//!     ...
//!     picollo_server_stop(server);
//!
//! GET and HEAD of /metrics update the registry and answer in the format that the request's Accept header selects. A
//! server answers one request a connection, each in its own thread. It limits the number of connections, the size of
//! a request (8192 bytes) and its time, and drops clients that do not take their answer. No request changes anything.
//!
//! On a loopback address it refuses requests for other hosts than addresses, localhost and its options' hosts: a page
//! in a browser could send them. All users of the machine can connect to such an address; a Unix socket is for its
//! owner (mode 0600).
//!
//! The threads are named picollo-serve and picollo-answer. They take no signals, except for their faults. A
//! fork copies no threads: the parent continues to serve, and the child can only stop its copy.

use core::ffi::c_char;
use std::io::{self, ErrorKind};
use std::time::Duration;

use picollo_export::http::{Answer, Options, Server};
use picollo_native::{ExplainedError, Status};

use crate::argument::{input, output, text};
use crate::counted::borrow;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_void_uncancelled};
use crate::memory;
use crate::options;
use crate::registry::{picollo_registry, with};
use crate::status::{picollo_error, picollo_status};
use crate::text::write_text;

/// A server of a registry's metrics.
pub struct picollo_server(());

/// Options of a server. Strings are NUL-terminated UTF-8, and copied.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_server_options {
    pub struct_size: u32,
    /// Largest number of connections at the same time; more get a 503 at once. 0: 16.
    pub connections: u32,
    /// Longest time to receive a request, up to 3600. Sending the answer may take twice as long. 0: 5.
    pub timeout_seconds: f64,
    /// Path of the metrics, without a space and "#&<>?. The path / links to it. NULL: /metrics.
    pub path: *const c_char,
    /// Further names of a server on a loopback address, separated by commas. NULL: none.
    pub hosts: *const c_char,
}

// SAFETY: numbers and two pointers, which are valid for any bits, in naturally aligned order without padding (asserted in
// layout.rs), the size first.
unsafe impl options::Options for picollo_server_options {
    const FIRST_SIZE: usize = 16 + 2 * size_of::<*const u8>();
}

/// The caller's options.
///
/// # Safety As for [`options::read`]; strings must be valid during the call.
unsafe fn read_options(options: *const picollo_server_options) -> Outcome<Options> {
    let mut given = Options::default();
    let Some(asked) = options::read(options)? else { return Ok(given) };
    if asked.connections != 0 {
        given.connections = asked.connections as usize;
    }
    if asked.timeout_seconds != 0.0 {
        if !(0.0..=3600.0).contains(&asked.timeout_seconds) {
            return Err(Failure::INVALID_ARGUMENT);
        }
        given.request_time = Duration::from_secs_f64(asked.timeout_seconds);
        given.response_time = 2 * given.request_time;
    }
    match text(asked.path)? {
        "" => {}
        path => given.path = path.to_owned(),
    }
    let hosts = text(asked.hosts)?.split([',', ' ']);
    given.hosts = hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect();
    Ok(given)
}

/// Why there is no server at an address.
fn explained(address: &str, error: &io::Error) -> ExplainedError {
    let address = if address.is_empty() { "127.0.0.1:9464" } else { address };
    let (status, advice) = match (error.kind(), error.raw_os_error()) {
        (ErrorKind::AddrInUse, _) => {
            (Status::Os, ". Another socket listens there; port 0 takes any free port.")
        }
        (ErrorKind::PermissionDenied, _) => (Status::Permission, ""),
        (ErrorKind::Unsupported, None) => (Status::Unsupported, ""),
        (_, Some(_)) => (Status::Os, ""),
        (_, None) => {
            (Status::InvalidArgument, ". An address is 127.0.0.1:9464, a port on 127.0.0.1, or unix:PATH.")
        }
    };
    ExplainedError::new(status, format_args!("{address}: {error}{advice}"))
        .with_errno(error.raw_os_error().unwrap_or(0))
}

exported! { explained(error)
/// Starts a server. It updates the registry for each scrape.
///
/// Requires: address is 127.0.0.1:9464 or another address with a port; a port, which is then one of 127.0.0.1; or
///   unix:PATH. NULL means 127.0.0.1:9464. The system chooses the port if it is 0: see picollo_server_address.
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT for an invalid address or option; PICOLLO_ERR_OS if the address is in use or
///   not of this machine, or no thread can start; PICOLLO_ERR_PERMISSION; PICOLLO_ERR_FORKED, as all calls on the
///   registry. error explains them.
/// Ownership: free *out with picollo_server_stop. The server holds the registry, so you may free that first.
/// Cost: about ten system calls, and a thread.
fn picollo_server_start(
    registry: *mut picollo_registry,
    address: *const c_char,
    options: *const picollo_server_options,
    out: *mut *mut picollo_server,
    error: *mut picollo_error,
) -> picollo_status {
    let (shared, out) = (borrow(registry)?, output(out)?);
    let (address, options) = (text(address)?, read_options(options)?);
    with(registry, |_| Outcome::Ok(()))?;
    let shared = (*shared).clone();
    let answer = move |accept: &str| {
        let answered = shared.with(|registry| Answer::from_registry(registry, accept));
        answered.unwrap_or_else(|| Err(Status::Forked.as_str().into()))
    };
    let server = Server::start(address, options, answer).map_err(|error| explained(address, &error))?;
    out.deliver(memory::create(server)?.as_ptr().cast())
}
}

exported! {
/// Reports the address of a server, with its port: 127.0.0.1:9464, or unix:PATH.
fn picollo_server_address(
    server: *const picollo_server,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let address = input(server.cast::<Server>())?.address();
    write_text(buffer, capacity, out_length, &|out| out.write_str(&address))
}
}

/// Stops a server and frees it. Afterwards nobody listens, and none of its threads runs. Requests that are still
/// arriving get no answer. Answers that were begun have a second to arrive.
///
/// In the child of a fork it only frees the child's copy: the parent continues to serve.
///
/// Threads: any thread, once.
/// Cost: waits for the threads, for a second at most if metrics are quick to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_server_stop(server: *mut picollo_server) {
    // SAFETY: from picollo_server_start, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(server.cast::<Server>()) });
}
