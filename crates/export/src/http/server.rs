//! An endpoint for scrapers: one thread that listens, and one for each connection, up to a limit.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::{
    fd::{AsRawFd, OwnedFd},
    unix::fs::{MetadataExt, PermissionsExt},
    unix::net::{UnixListener, UnixStream},
};
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use picollo_core::seam::process;

use crate::http::connection::{self, plain};

/// An answer to a scraper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The media type, as negotiated from the request's `Accept` header.
    pub content_type: String,
    /// The exposition.
    pub body: Vec<u8>,
}

/// Limits of an endpoint, and the names that it accepts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Path of the metrics: `/metrics`. The path `/` links to it.
    pub path: String,
    /// Maximum number of concurrent connections; others get a 503 at once. 16, and at least 1.
    pub connections: usize,
    /// Maximum size of a request in bytes. 8,192.
    pub head_bytes: usize,
    /// Maximum time to receive a request, from the first byte to the last. 5 seconds.
    pub request_time: Duration,
    /// Maximum time to send an answer. 10 seconds.
    pub response_time: Duration,
    /// Names of the endpoint besides addresses and `localhost`. On a loopback address, it rejects requests for other
    /// hosts: they come from pages in a browser. On other addresses it accepts every name.
    pub hosts: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            path: "/metrics".into(),
            connections: 16,
            head_bytes: 8192,
            request_time: Duration::from_secs(5),
            response_time: Duration::from_secs(10),
            hosts: Vec::new(),
        }
    }
}

type Source = dyn Fn(&str) -> Result<Answer, String> + Send + Sync;

/// An endpoint; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    at: Place,
    /// Closing this ends the thread that listens.
    alarm: Option<Alarm>,
    waiting: Option<JoinHandle<()>>,
    /// The process that has the threads. The child of a fork has none of them.
    process: u32,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp(SocketAddr),
    /// Path of the socket, and the identity of its file.
    #[cfg(unix)]
    Unix(PathBuf, (u64, u64)),
}

enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

impl Server {
    /// Listens on `address`: `127.0.0.1:9464`, which is also the meaning of an empty one, a port on 127.0.0.1, or
    /// `unix:/run/service/metrics`. It answers with what `source` returns for an `Accept` header (empty if missing).
    /// Several threads may call `source` at once. Its errors and panics become a 500. The threads of a server take no
    /// signals, except for their faults.
    ///
    /// Every user of the machine can read a loopback address; a Unix socket is for its owner (mode 0600). An abandoned
    /// socket is replaced; anything else in its place is an error.
    pub fn start<S>(address: &str, options: Options, source: S) -> io::Result<Server>
    where
        S: Fn(&str) -> Result<Answer, String> + Send + Sync + 'static,
    {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"#&<>?".contains(&byte);
        if !options.path.starts_with('/') || !options.path.bytes().all(is_plain) {
            let why = "the path of the metrics begins with a slash, and has no space and none of \"#&<>?";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let (listener, at) = listen(address)?;
        let (alarm, end) = alarm()?;
        let is_local = match at {
            Place::Tcp(address) => address.ip().to_canonical().is_loopback(),
            #[cfg(unix)]
            Place::Unix(..) => false,
        };
        let service = Arc::new(Service { options, is_local, source: Box::new(source) });
        let waiting = thread::Builder::new().name("picollo-serve".into());
        let waiting = without_signals(|| waiting.spawn(move || service.wait(&listener, &end)))?;
        Ok(Server { at, alarm: Some(alarm), waiting: Some(waiting), process: process() })
    }

    /// Address of the endpoint, with the port that the system chose if 0 was requested.
    pub fn address(&self) -> String {
        match &self.at {
            Place::Tcp(address) => address.to_string(),
            #[cfg(unix)]
            Place::Unix(path, _) => format!("unix:{}", path.display()),
        }
    }
}

impl Drop for Server {
    /// Waits for the threads of the server. Requests that are still arriving get no answer. Answers that were begun get
    /// a second to arrive. In the child of a fork this does nothing: the server is that of the parent.
    fn drop(&mut self) {
        let waiting = self.waiting.take();
        if self.process != process() {
            // Even to detach the thread would be wrong: another one may have its place in memory.
            std::mem::forget(waiting);
            return;
        }
        // If somebody else put a socket in this place, it stays.
        #[cfg(unix)]
        if let Place::Unix(path, file) = &self.at
            && file_of(path).is_ok_and(|found| found == *file)
        {
            let _ = std::fs::remove_file(path);
        }
        // A child that inherited the other end keeps it open, so closing this one would not be enough.
        #[cfg(unix)]
        let _ = self.alarm.as_ref().map(|alarm| alarm.shutdown(Shutdown::Both));
        drop(self.alarm.take());
        if let Some(waiting) = waiting {
            let _ = waiting.join();
        }
    }
}

/// Starts a thread that takes no signals: handlers of the program run on its own threads. Faults of the thread itself
/// still reach them.
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    {
        let (mut all, mut before) =
            (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::<libc::sigset_t>::uninit());
        // SAFETY: the first call fills the set that the others use, and the mask before is restored.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for fault in
                [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS]
            {
                libc::sigdelset(all.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            let started = start();
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
            started
        }
    }
    #[cfg(not(unix))]
    start()
}

/// Identity of the file at a path: device and number.
#[cfg(unix)]
fn file_of(path: &Path) -> io::Result<(u64, u64)> {
    let data = std::fs::symlink_metadata(path)?;
    Ok((data.dev(), data.ino()))
}

fn listen(address: &str) -> io::Result<(Listener, Place)> {
    let port = if address.is_empty() { Ok(9464) } else { address.parse::<u16>() };
    let address = &port.map_or_else(|_| address.to_owned(), |port| format!("127.0.0.1:{port}"));
    if let Some(path) = address.strip_prefix("unix:") {
        #[cfg(unix)]
        return listen_at_path(path.into());
        #[cfg(not(unix))]
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("no Unix sockets here: {path}")));
    }
    let listener = TcpListener::bind(address)?;
    // A connection that ended a wait may be gone before it is accepted.
    listener.set_nonblocking(true)?;
    let at = Place::Tcp(listener.local_addr()?);
    Ok((Listener::Tcp(listener), at))
}

#[cfg(unix)]
fn listen_at_path(path: PathBuf) -> io::Result<(Listener, Place)> {
    use std::os::unix::fs::FileTypeExt;
    let is_socket = std::fs::symlink_metadata(&path).is_ok_and(|data| data.file_type().is_socket());
    if is_socket
        && UnixStream::connect(&path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    {
        std::fs::remove_file(&path)?;
    }
    // The socket is created under another name and closed to others first, so that nobody can connect in between.
    let mut hidden = path.clone().into_os_string();
    hidden.push(format!(".{}", std::process::id()));
    let hidden = PathBuf::from(hidden);
    let listener = UnixListener::bind(&hidden)?;
    listener.set_nonblocking(true)?;
    let shown = std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))
        // A link fails if the name exists; renaming would replace the file.
        .and_then(|()| std::fs::hard_link(&hidden, &path))
        .and_then(|()| file_of(&hidden));
    std::fs::remove_file(&hidden)?;
    Ok((Listener::Unix(listener), Place::Unix(path, shown?)))
}

impl Listener {
    /// Accepts a connection. A Unix socket becomes a `TcpStream`, too: the calls to read, write, close, and set
    /// time-outs are equal.
    fn accept(&self) -> io::Result<TcpStream> {
        let stream = match self {
            Listener::Tcp(listener) => listener.accept()?.0,
            #[cfg(unix)]
            Listener::Unix(listener) => OwnedFd::from(listener.accept()?.0).into(),
        };
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    /// Waits until a client connects. Returns whether the server goes on.
    #[cfg(unix)]
    fn wait(&self, end: &End) -> bool {
        let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut both = [wanted(end.as_raw_fd()), wanted(self.descriptor())];
        // SAFETY: the array has two elements on the stack, and both descriptors stay open during the call.
        while unsafe { libc::poll(both.as_mut_ptr(), 2, -1) } < 0 {
            // A signal, or too little memory, which takes longer to pass.
            thread::sleep(Duration::from_millis(1));
        }
        both[0].revents == 0
    }

    #[cfg(unix)]
    fn descriptor(&self) -> std::os::fd::RawFd {
        match self {
            Listener::Tcp(listener) => listener.as_raw_fd(),
            Listener::Unix(listener) => listener.as_raw_fd(),
        }
    }

    /// Ends it in the children of forks too, where it stays open.
    fn end(&self) {
        #[cfg(unix)]
        // SAFETY: takes numbers, and the descriptor is open. If the system cannot do this, nothing happens.
        unsafe {
            libc::shutdown(self.descriptor(), libc::SHUT_RDWR);
        }
    }

    /// This system cannot wait for two things at once, so the thread checks from time to time.
    #[cfg(not(unix))]
    fn wait(&self, end: &End) -> bool {
        end.recv_timeout(Duration::from_millis(10)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
    }
}

/// The two ends of a channel that wakes the listening thread when the server ends. Connecting to the server might fail:
/// by then, the path of its socket may belong to another server, and its port may be closed to this process.
#[cfg(unix)]
type Alarm = UnixStream;
#[cfg(unix)]
type End = UnixStream;
#[cfg(not(unix))]
type Alarm = std::sync::mpsc::Sender<()>;
#[cfg(not(unix))]
type End = std::sync::mpsc::Receiver<()>;

fn alarm() -> io::Result<(Alarm, End)> {
    #[cfg(unix)]
    return UnixStream::pair();
    #[cfg(not(unix))]
    return Ok(std::sync::mpsc::channel());
}

struct Service {
    options: Options,
    is_local: bool,
    source: Box<Source>,
}

/// A connection that is being served. Its thread closes it.
type Served = (Weak<TcpStream>, JoinHandle<()>);

impl Service {
    fn wait(self: &Arc<Self>, listener: &Listener, end: &End) {
        let mut open: Vec<Served> = Vec::new();
        while listener.wait(end) {
            match listener.accept() {
                Ok(stream) => {
                    for (_, thread) in open.extract_if(.., |(_, thread)| thread.is_finished()) {
                        let _ = thread.join();
                    }
                    if open.len() < self.options.connections.max(1) {
                        open.extend(self.serve(stream));
                    } else {
                        refuse(&stream);
                    }
                }
                // The client has closed the connection already.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Most likely out of descriptors: the connection stays queued, and an immediate retry would not help.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
        listener.end();
        let shut = |how| {
            for stream in open.iter().filter_map(|(stream, _)| stream.upgrade()) {
                let _ = stream.shutdown(how);
            }
        };
        shut(Shutdown::Read);
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline && !open.iter().all(|(_, thread)| thread.is_finished()) {
            thread::sleep(Duration::from_millis(1));
        }
        shut(Shutdown::Both);
        for (_, thread) in open {
            let _ = thread.join();
        }
    }

    /// Serves a connection in a separate thread. If none can start, the connection is closed.
    fn serve(self: &Arc<Self>, stream: TcpStream) -> Option<Served> {
        let (service, stream) = (self.clone(), Arc::new(stream));
        let weak = Arc::downgrade(&stream);
        let served = thread::Builder::new().name("picollo-answer".into()).spawn(move || {
            let source = |accept: &str| {
                catch_unwind(AssertUnwindSafe(|| (service.source)(accept)))
                    .unwrap_or_else(|_| Err("the metrics could not be made: a panic".into()))
            };
            // An error of one connection does not concern the others.
            let _ = connection::answer(&stream, &service.options, service.is_local, &source);
            // Children that were forked meanwhile keep it open.
            let _ = stream.shutdown(Shutdown::Both);
        });
        served.ok().map(|thread| (weak, thread))
    }
}

/// Answers that there are too many connections. A few bytes into an empty buffer do not block. The request is read because
/// unread input at a close would discard the answer. This thread also accepts, so it only reads what arrives at once.
fn refuse(stream: &TcpStream) {
    let deadline = Instant::now() + Duration::from_millis(20);
    let _ = connection::write_all(stream, &plain(503, "too many connections", false), deadline)
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .and_then(|()| connection::read_some(stream, &mut [0; 2048], deadline));
}

#[cfg(test)]
mod tests;
