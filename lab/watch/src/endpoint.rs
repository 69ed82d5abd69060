//! A page of metrics for a Prometheus on this machine.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// A request has a line and some headers.
const REQUEST_BYTES_MAX: u64 = 16 << 10;
/// Whoever is slower is not served, and the next one is.
const PATIENCE: Duration = Duration::from_secs(5);
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A server of one page. Its thread ends with the process.
#[derive(Debug)]
pub struct Endpoint {
    page: Arc<Mutex<String>>,
    address: SocketAddr,
}

impl Endpoint {
    /// Serves `/metrics` at a loopback address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is no loopback address, or it cannot be listened on.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = "it is no loopback address, and the page has no password; use 127.0.0.1";
            return Err(io::Error::other(why));
        }
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let page = Arc::new(Mutex::new(String::from("# EOF\n")));
        let shown = Arc::clone(&page);
        thread::Builder::new().name("metrics".into()).spawn(move || {
            for socket in listener.incoming().flatten() {
                // One that leaves early is its own loss.
                let _ = answer(&socket, &shown);
            }
        })?;
        Ok(Self { page, address })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the next one who asks is shown.
    pub fn show(&self, text: String) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn answer(mut socket: &TcpStream, page: &Mutex<String>) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(socket.take(REQUEST_BYTES_MAX)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    // A client that is answered before it has said everything sees a reset.
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let mut words = first.split(' ');
    let (status, kind, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => {
            let text = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            ("200 OK", OPENMETRICS, text)
        }
        (Some("GET"), _) => ("404 Not Found", "text/plain", "see /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "GET /metrics\n".to_owned()),
    };
    write!(
        socket,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}
