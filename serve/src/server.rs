//! An endpoint that scrapers read: one thread that waits, and one for each connection, up to a cap.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::{
    fd::{AsRawFd, OwnedFd},
    unix::fs::{MetadataExt, PermissionsExt},
    unix::net::{UnixListener, UnixStream},
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{self, plain};

/// What is sent to a scraper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The media type, as negotiated from the request's `Accept` header.
    pub content_type: String,
    /// The exposition.
    pub body: Vec<u8>,
}

/// Limits of an endpoint, and what it answers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where the metrics are: `/metrics`. Of other paths `/` leads there.
    pub path: String,
    /// How many connections are served at once; more are answered 503 at once. 16, and at least 1.
    pub connections: usize,
    /// How long a request may be, in bytes. 8,192.
    pub head_bytes: usize,
    /// How long a request may take to come, from the first byte to the last. 5 seconds.
    pub request_time: Duration,
    /// How long an answer may take to be taken. 10 seconds.
    pub response_time: Duration,
    /// Names by which the endpoint is known, beside addresses and `localhost`. On a loopback address, requests for other
    /// hosts are refused: they come from pages in a browser. On other addresses every name will do.
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
    /// The thread that listens ends when this is closed.
    alarm: Option<Alarm>,
    waiting: Option<thread::JoinHandle<()>>,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp(SocketAddr),
    /// And which file the socket is.
    #[cfg(unix)]
    Unix(PathBuf, (u64, u64)),
}

enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

impl Server {
    /// Listens on `address`, `127.0.0.1:9464` or `unix:/run/service/metrics`, and answers with what `source` makes for an `Accept`
    /// header (empty where there was none). It is called by several threads at once. What it returns as an error is
    /// answered as 500, as is a panic.
    ///
    /// On a loopback address every user of the machine can read; a Unix socket is for its owner (mode 0600). A socket
    /// that nobody listens on any more is replaced; anything else in its place is an error.
    pub fn start<S>(address: &str, options: Options, source: S) -> io::Result<Server>
    where
        S: Fn(&str) -> Result<Answer, String> + Send + Sync + 'static,
    {
        let (listener, at) = listen(address)?;
        let (alarm, end) = alarm()?;
        let is_local = match at {
            Place::Tcp(address) => address.ip().to_canonical().is_loopback(),
            #[cfg(unix)]
            Place::Unix(..) => false,
        };
        let service =
            Arc::new(Service { options, is_local, source: Box::new(source), open: AtomicUsize::new(0) });
        let waiting = thread::Builder::new()
            .name("picollo-serve".into())
            .spawn(move || service.wait(&listener, &end))?;
        Ok(Server { at, alarm: Some(alarm), waiting: Some(waiting) })
    }

    /// Where it listens: with the port that the system chose, where 0 was asked for.
    pub fn address(&self) -> String {
        match &self.at {
            Place::Tcp(address) => address.to_string(),
            #[cfg(unix)]
            Place::Unix(path, _) => format!("unix:{}", path.display()),
        }
    }
}

impl Drop for Server {
    /// Waits for the thread that listens. Threads of their own finish the answers that were begun.
    fn drop(&mut self) {
        // Whoever put another socket in this place keeps it.
        #[cfg(unix)]
        if let Place::Unix(path, file) = &self.at
            && file_of(path).is_ok_and(|found| found == *file)
        {
            let _ = std::fs::remove_file(path);
        }
        drop(self.alarm.take());
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.join();
        }
    }
}

/// Which file is at a path, by device and number.
#[cfg(unix)]
fn file_of(path: &Path) -> io::Result<(u64, u64)> {
    let data = std::fs::symlink_metadata(path)?;
    Ok((data.dev(), data.ino()))
}

fn listen(address: &str) -> io::Result<(Listener, Place)> {
    if let Some(path) = address.strip_prefix("unix:") {
        #[cfg(unix)]
        return listen_at_path(path.into());
        #[cfg(not(unix))]
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("no Unix sockets here: {path}")));
    }
    let addresses: Vec<_> = address.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(&addresses[..])?;
    // A connection that was there when a wait ended may be gone when it is accepted.
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
    // Made under another name, closed to others, and then shown: nobody can connect in between.
    let mut hidden = path.clone().into_os_string();
    hidden.push(format!(".{}", std::process::id()));
    let hidden = PathBuf::from(hidden);
    let listener = UnixListener::bind(&hidden)?;
    listener.set_nonblocking(true)?;
    let shown = std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))
        // A link fails where something is; a renaming would replace it.
        .and_then(|()| std::fs::hard_link(&hidden, &path))
        .and_then(|()| file_of(&hidden));
    std::fs::remove_file(&hidden)?;
    Ok((Listener::Unix(listener), Place::Unix(path, shown?)))
}

impl Listener {
    /// Accepts a connection. One of a Unix socket becomes a `TcpStream`, too: the calls that read, write and close it, and set its
    /// times, are the same.
    fn accept(&self) -> io::Result<TcpStream> {
        let stream = match self {
            Listener::Tcp(listener) => listener.accept()?.0,
            #[cfg(unix)]
            Listener::Unix(listener) => OwnedFd::from(listener.accept()?.0).into(),
        };
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    /// Waits until somebody connects. Returns whether the server goes on.
    #[cfg(unix)]
    fn wait(&self, end: &End) -> bool {
        let listener = match self {
            Listener::Tcp(listener) => listener.as_raw_fd(),
            Listener::Unix(listener) => listener.as_raw_fd(),
        };
        let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut both = [wanted(end.as_raw_fd()), wanted(listener)];
        // SAFETY: two of them, on the stack; both descriptors are open as long as this.
        while unsafe { libc::poll(both.as_mut_ptr(), 2, -1) } < 0 {
            // A signal; or too little memory, which takes longer to pass.
            thread::sleep(Duration::from_millis(1));
        }
        both[0].revents == 0
    }

    /// Nothing waits for two things at once here, so the thread looks from time to time.
    #[cfg(not(unix))]
    fn wait(&self, end: &End) -> bool {
        end.recv_timeout(Duration::from_millis(10)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
    }
}

/// The two sides of what wakes the thread that listens when the server ends. A connection to the server is not sure to arrive: the path of
/// its socket may belong to another server by then, and its port may be closed to this process.
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
    /// Connections that are being served.
    open: AtomicUsize,
}

/// A connection that counts as open.
struct Open(Arc<Service>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Release);
    }
}

impl Service {
    fn wait(self: &Arc<Self>, listener: &Listener, end: &End) {
        while listener.wait(end) {
            match listener.accept() {
                Ok(stream) => self.take(stream),
                // Whoever wanted to connect has changed its mind.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // No descriptors, most likely: the connection stays where it is, and trying at once again would not help it.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn take(self: &Arc<Self>, mut stream: TcpStream) {
        if self.open.fetch_add(1, Acquire) >= self.options.connections.max(1) {
            self.open.fetch_sub(1, Release);
            // A few bytes into an empty buffer: nobody waits for that. What was asked is read, as what is unread at a close would take the
            // answer with it; but this is the thread that accepts, so that only what comes at once is.
            let deadline = Instant::now() + Duration::from_millis(20);
            let refusal = plain(503, "too many connections", false);
            let _ = connection::write_all(&mut stream, &refusal, deadline)
                .and_then(|()| stream.shutdown(Shutdown::Write))
                .and_then(|()| connection::read_some(&mut stream, &mut [0; 2048], deadline));
            return;
        }
        let open = Open(self.clone());
        let served = thread::Builder::new().name("picollo-answer".into()).spawn(move || {
            let service = &open.0;
            let source = |accept: &str| {
                catch_unwind(AssertUnwindSafe(|| (service.source)(accept)))
                    .unwrap_or_else(|_| Err("the metrics could not be made: a panic".into()))
            };
            // What goes wrong with a connection concerns nobody else.
            let _ = connection::answer(&mut stream, &service.options, service.is_local, &source);
        });
        // Without a thread the closure is dropped, and the connection with it.
        drop(served);
    }
}

#[cfg(test)]
mod tests;
