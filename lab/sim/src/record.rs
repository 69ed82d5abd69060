//! A proxy on loopback that stands before a real server and keeps the times of its tokens.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::json;

use crate::arrival::{Patient, prepare, stamp};
use crate::clock::now_ns;
use crate::heard::Heard;
use crate::http::{JSON, Request, read_request, response};

/// A server that cannot be reached by then is gone.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// Whether enough was recorded is looked at this often.
const LOOK: Duration = Duration::from_millis(50);

/// Record the token times of a real server
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// The server, http://HOST:PORT, that gets the requests
    #[arg(long, value_name = "URL")]
    pub upstream: String,
    /// File that gets a line for each reply; it must not exist
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Port on 127.0.0.1 that clients ask in place of the server; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// End after so many replies; without it, at Ctrl-C
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Keep the lengths of texts alone
    #[arg(long)]
    pub without_text: bool,
}

/// What the threads of a recording share.
struct Recording {
    /// HOST:PORT.
    upstream: String,
    with_text: bool,
    out: Mutex<File>,
    replies: AtomicU64,
}

/// Runs `lab sim record`.
///
/// # Errors
/// An address that is none, a server that does not answer, a file that is there already.
pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<()> {
    let upstream = authority(&args.upstream)?;
    connect(&upstream)
        .with_context(|| format!("--upstream {}: nobody answers there; start it", args.upstream))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("failed to listen on 127.0.0.1:{}, try --port 0", args.port))?;
    prepare(&listener)?;
    let recording = Arc::new(Recording {
        upstream,
        with_text: !args.without_text,
        out: Mutex::new(create(&args.out)?),
        replies: AtomicU64::new(0),
    });
    println!("{}", json!({"ports": [listener.local_addr()?.port()]}));
    let shared = Arc::clone(&recording);
    thread::Builder::new().name("accept".into()).spawn(move || accept(&listener, &shared))?;
    while args.count.is_none_or(|most| recording.replies.load(Ordering::Acquire) < most) {
        // Interrupts end the process; each line is in the file as soon as its reply has ended.
        thread::sleep(LOOK);
    }
    Ok(())
}

/// HOST:PORT of an address.
fn authority(url: &str) -> anyhow::Result<String> {
    let rest = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains('/') => match rest.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => Ok(rest.to_owned()),
            _ => Ok(format!("{rest}:80")),
        },
        _ => bail!("--upstream {url}: it is no address; write it as http://HOST:PORT"),
    }
}

fn create(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path).with_context(|| {
        format!("--out {}: cannot make it; name a file that does not exist", path.display())
    })
}

fn connect(upstream: &str) -> anyhow::Result<TcpStream> {
    let address = upstream.to_socket_addrs()?.next().context("the name has no address")?;
    let socket = TcpStream::connect_timeout(&address, CONNECT_PATIENCE)?;
    socket.set_nodelay(true)?;
    stamp(&socket);
    Ok(socket)
}

fn accept(listener: &TcpListener, recording: &Arc<Recording>) {
    for socket in listener.incoming().flatten() {
        let recording = Arc::clone(recording);
        // Where no thread can be had the socket is dropped, and the client sees that.
        let _ = thread::Builder::new().spawn(move || {
            if let Err(error) = serve(&socket, &recording) {
                eprintln!("lab: a request was not recorded: {error:#}");
            }
        });
    }
}

/// One request of a client, its reply, and the end of the connection.
fn serve(client: &TcpStream, recording: &Recording) -> anyhow::Result<()> {
    client.set_nodelay(true)?;
    let request = read_request(&mut BufReader::new(Patient::new(client)), &mut &*client)
        .map_err(|refusal| anyhow!("{}", refusal.error))?;
    let Some(request) = request else { return Ok(()) };
    match relay(client, &request, recording) {
        Err(Trouble::Upstream(error)) => {
            let body = json!({"error": format!("{error:#}")}).to_string();
            (&*client).write_all(&response("502 Bad Gateway", JSON, &body))?;
            Err(error)
        }
        Err(Trouble::Later(error)) => Err(error),
        Ok(heard) => recording.keep(&heard),
    }
}

/// Where a reply went wrong.
enum Trouble {
    /// Before a byte of it came.
    Upstream(anyhow::Error),
    Later(anyhow::Error),
}

/// Hands the request on and the reply back as it comes, byte by byte the same.
fn relay(client: &TcpStream, request: &Request, recording: &Recording) -> Result<Heard, Trouble> {
    let asked = connect(&recording.upstream).and_then(|upstream| {
        // The server may have it before the write returns.
        let sent_ns = now_ns();
        (&upstream).write_all(&as_sent(request, &recording.upstream))?;
        Ok((upstream, sent_ns))
    });
    let (upstream, sent_ns) = asked.map_err(Trouble::Upstream)?;
    let mut heard = Heard::new(sent_ns, recording.with_text);
    let mut reader = Patient::new(&upstream);
    let mut bytes = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut bytes).context("the server stalled or broke off");
        let read = read.map_err(Trouble::Later)?;
        // The time that a whole request may take is no bound of a reply.
        reader.began = None;
        if read == 0 {
            return Ok(heard);
        }
        let passed = (&*client).write_all(&bytes[..read]).context("the client left");
        heard.take(&bytes[..read], reader.arrived_ns);
        passed.map_err(Trouble::Later)?;
    }
}

fn as_sent(request: &Request, upstream: &str) -> Vec<u8> {
    let head = format!(
        "{} {} HTTP/1.1\r\nHost: {upstream}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        request.method,
        request.path,
        request.body.len()
    );
    [head.as_bytes(), &request.body].concat()
}

impl Recording {
    /// Writes a reply with tokens; of any other there is nothing to keep.
    fn keep(&self, heard: &Heard) -> anyhow::Result<()> {
        let Some(reply) = heard.reply() else { return Ok(()) };
        reply.check()?;
        let line = serde_json::to_string(&reply)? + "\n";
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(line.as_bytes()).context("cannot write to --out")?;
        self.replies.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        assert_eq!(authority("http://127.0.0.1:11434/").unwrap(), "127.0.0.1:11434");
        assert_eq!(authority("http://box").unwrap(), "box:80");
        for url in ["127.0.0.1:1", "https://h", "http://", "http://h:1/api"] {
            let said = authority(url).unwrap_err().to_string();
            assert!(said.contains("write it as http://HOST:PORT"), "{said}");
        }
    }
}
