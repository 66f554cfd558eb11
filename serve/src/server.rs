//! An endpoint that scrapers read: one thread that waits, and one for each connection, up to a cap.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::{
    fs::PermissionsExt,
    net::{UnixListener, UnixStream},
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{self, Stream, plain};
use crate::options::{Answer, Options};

type Source = dyn Fn(&str) -> Result<Answer, String> + Send + Sync;

/// An endpoint; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    at: Place,
    stopped: Arc<AtomicBool>,
    waiting: Option<thread::JoinHandle<()>>,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
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
        let stopped = Arc::new(AtomicBool::new(false));
        let is_local = match at {
            Place::Tcp(address) => address.ip().to_canonical().is_loopback(),
            #[cfg(unix)]
            Place::Unix(_) => false,
        };
        let service =
            Arc::new(Service { options, is_local, source: Box::new(source), open: AtomicUsize::new(0) });
        let ends = stopped.clone();
        let waiting = thread::Builder::new()
            .name("picollo-serve".into())
            .spawn(move || service.wait(&listener, &ends))?;
        Ok(Server { at, stopped, waiting: Some(waiting) })
    }

    /// Where it listens: with the port that the system chose, where 0 was asked for.
    pub fn address(&self) -> String {
        match &self.at {
            Place::Tcp(address) => address.to_string(),
            #[cfg(unix)]
            Place::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

impl Drop for Server {
    /// Waits for the thread that listens; what is being answered is answered to its end by threads of its own.
    fn drop(&mut self) {
        self.stopped.store(true, Release);
        // Only a connection wakes it.
        let woken = match &self.at {
            Place::Tcp(address) => {
                TcpStream::connect_timeout(&reachable(*address), Duration::from_secs(1)).is_ok()
            }
            #[cfg(unix)]
            Place::Unix(path) => UnixStream::connect(path).is_ok(),
        };
        #[cfg(unix)]
        if let (Place::Unix(path), true) = (&self.at, woken) {
            let _ = std::fs::remove_file(path);
        }
        // Otherwise somebody has taken the socket's path away, and the thread waits for ever, or until the process ends.
        if let (Some(waiting), true) = (self.waiting.take(), woken) {
            let _ = waiting.join();
        }
    }
}

/// An address to reach a listener by, which may listen on all of them.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
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
    let shown = std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))
        // A link fails where something is; a renaming would replace it.
        .and_then(|()| std::fs::hard_link(&hidden, &path));
    std::fs::remove_file(&hidden)?;
    shown?;
    Ok((Listener::Unix(listener), Place::Unix(path)))
}

impl Listener {
    fn accept(&self) -> io::Result<Box<dyn Stream + Send>> {
        match self {
            Listener::Tcp(listener) => Ok(Box::new(listener.accept()?.0)),
            #[cfg(unix)]
            Listener::Unix(listener) => Ok(Box::new(listener.accept()?.0)),
        }
    }
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
    fn wait(self: &Arc<Self>, listener: &Listener, stopped: &AtomicBool) {
        while !stopped.load(Acquire) {
            match listener.accept() {
                Ok(stream) if !stopped.load(Acquire) => self.take(stream),
                Ok(_) => {}
                // No descriptors, most likely: the connection stays where it is, and trying at once again would not help it.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn take(self: &Arc<Self>, mut stream: Box<dyn Stream + Send>) {
        if self.open.fetch_add(1, Acquire) >= self.options.connections.max(1) {
            self.open.fetch_sub(1, Release);
            // A few bytes into an empty buffer: nobody waits for that. What was asked is read, as what is unread at a close would take the
            // answer with it; but this is the thread that accepts, so that only what comes at once is.
            let deadline = Instant::now() + Duration::from_millis(20);
            let refusal = plain(503, "too many connections", false);
            let _ = connection::write_all(&mut *stream, &refusal, deadline)
                .and_then(|()| stream.end_writing())
                .and_then(|()| connection::read_some(&mut *stream, &mut [0; 2048], deadline));
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
            let _ = connection::answer(&mut *stream, &service.options, service.is_local, &source);
        });
        // Without a thread the closure is dropped, and the connection with it.
        drop(served);
    }
}

#[cfg(test)]
mod tests;
