//! As much of HTTP/1.1 as a browser on this machine needs, in bounded memory and time: one GET or
//! HEAD a connection.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use lab_console::Failure;

use crate::{SCRIPTS, policy_element, policy_served};

/// A request has a line and some headers.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Browsers open several; whoever comes beyond these is turned away.
const CONNECTIONS_MAX: usize = 32;
/// Whoever takes longer to say what is wanted is not served.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The parts of the path between its slashes, decoded.
    pub(super) path: Vec<String>,
    /// The query, decoded, in its order.
    pub(super) query: Vec<(String, String)>,
}

impl Asked {
    /// The value of a key of the query; `None` where it is not there or empty.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let found = self.query.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// What is sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: &'static str,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn page(html: &str) -> Self {
        let body = with_scripts_apart(html);
        Self { status: "200 OK", kind: "text/html; charset=utf-8", body }
    }

    pub(super) fn script(body: &str) -> Self {
        let kind = "text/javascript; charset=utf-8";
        Self { status: "200 OK", kind, body: body.to_owned() }
    }

    pub(super) fn nothing() -> Self {
        Self { status: "204 No Content", ..Self::page("") }
    }

    pub(super) fn sorry(status: &'static str, sentence: &str) -> Self {
        Self { status, ..Self::page(&crate::sorry(sentence)) }
    }
}

/// Scripts within a page are not run here, for a record may bring its own: ours are files. The
/// server's policy stands for the page's.
fn with_scripts_apart(page: &str) -> String {
    let page = page.replace(policy_element(), "");
    SCRIPTS.iter().fold(page, |page, (name, script)| {
        let place = format!("<script src=\"/{name}\"></script>");
        page.replace(&format!("<script>{script}</script>"), &place)
    })
}

/// Listens at a loopback address; port 0 takes a free one.
pub(super) fn open(address: SocketAddr) -> Result<TcpListener, Failure> {
    let refuse = |why: String| Err(Failure::input(format!("--listen {address}: {why}")));
    if !address.ip().is_loopback() {
        let why = "is no loopback address, and the pages have no password; use 127.0.0.1:PORT";
        return refuse(why.to_owned());
    }
    TcpListener::bind(address).or_else(|error| {
        refuse(format!("cannot listen there: {error}; name another port, or 0 for a free one"))
    })
}

/// Answers for as long as the process lives, each connection in a thread of its own: one that
/// fails takes no other one with it.
pub(super) fn serve<F>(listener: &TcpListener, answer: F)
where
    F: Fn(&Asked) -> Answer + Send + Sync + 'static,
{
    let answer = Arc::new(answer);
    for mut socket in listener.incoming().flatten() {
        if Arc::strong_count(&answer) > CONNECTIONS_MAX {
            continue;
        }
        let answer = Arc::clone(&answer);
        // A client that leaves early, and a thread that cannot be had, are that client's loss.
        let _ =
            thread::Builder::new().name("page".into()).spawn(move || talk(&mut socket, &*answer));
    }
}

fn talk(socket: &mut TcpStream, answer: impl Fn(&Asked) -> Answer) -> io::Result<()> {
    let Some(head) = read_head(socket)? else { return Ok(()) };
    let (answer, is_head) = match parse(&head) {
        Ok((asked, is_head)) => (answer(&asked), is_head),
        Err(refusal) => (refusal, false),
    };
    let Answer { status, kind, body } = answer;
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nAllow: GET, HEAD\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: \
         no-referrer\r\nContent-Security-Policy: {}\r\nConnection: close\r\n\r\n",
        body.len(),
        // Nothing that a stranger's record brought runs.
        policy_served()
    );
    if !is_head {
        text.push_str(&body);
    }
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(text.as_bytes())
}

/// The lines before the empty one; `None` where the client left, took too long or said too much.
fn read_head(socket: &mut TcpStream) -> io::Result<Option<String>> {
    let until = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut some = [0; 2048];
    loop {
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            head.truncate(end);
            return Ok(String::from_utf8(head).ok());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || head.len() > HEAD_BYTES_MAX {
            return Ok(None);
        }
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut some)? {
            0 => return Ok(None),
            count => head.extend_from_slice(&some[..count]),
        }
    }
}

/// What is asked for, and whether without the page itself.
fn parse(head: &str) -> Result<(Asked, bool), Answer> {
    let bad = |what: &str| Answer::sorry("400 Bad Request", what);
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = words[..] else {
        return Err(bad("The first line is no request."));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(bad("This server speaks HTTP/1.1 alone."));
    }
    if !["GET", "HEAD"].contains(&method) {
        let sentence = "This server answers GET and HEAD: nothing can be changed here.";
        return Err(Answer::sorry("405 Method Not Allowed", sentence));
    }
    let hosts = lines.filter_map(|line| line.split_once(':'));
    let mut hosts = hosts.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    if hosts.any(|(_, host)| !is_local(host.trim())) {
        // Or a page of the network could point a name of its own at this machine and read along.
        let sentence = "This server answers to localhost and loopback addresses alone.";
        return Err(Answer::sorry("403 Forbidden", sentence));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let asked =
        asked(path, query).ok_or_else(|| bad("The address is not encoded as it should."))?;
    Ok((asked, method == "HEAD"))
}

/// Whether a name, with or without a port, is this machine's own.
fn is_local(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = without_port.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn asked(path: &str, query: &str) -> Option<Asked> {
    let parts = path.strip_prefix('/')?.split('/').map(decoded);
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Forms write a space as a plus.
        Some((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
    });
    Some(Asked { path: parts.collect::<Option<_>>()?, query: pairs.collect::<Option<_>>()? })
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| are_digits)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn an_address_is_taken_apart_before_it_is_decoded() {
        let head = "GET /r/0/a%2F..%20b.html?cell=x%3D1+2&missing=&bare HTTP/1.1\r\nHost: [::1]:80";
        let (asked, is_head) = parse(head).unwrap();
        assert_eq!(asked.path, parts(&["r", "0", "a/.. b.html"]));
        assert_eq!((asked.value("cell"), asked.value("missing")), (Some("x=1 2"), None));
        assert_eq!((asked.value("bare"), asked.value("none"), is_head), (None, None, false));
        assert!(parse("HEAD / HTTP/1.0").unwrap().1);
    }

    #[test]
    fn what_is_no_request_of_ours_is_refused() {
        let status = |head: &str| parse(head).unwrap_err().status.split(' ').next().unwrap();
        for (head, expected) in [
            ("", "400"),
            ("GET / HTTP/2", "400"),
            ("GET  / HTTP/1.1", "400"),
            ("GET x HTTP/1.1", "400"),
            ("GET /%zz HTTP/1.1", "400"),
            ("GET /%+1 HTTP/1.1", "400"),
            ("GET /%f HTTP/1.1", "400"),
            ("GET /%ff HTTP/1.1", "400"),
            ("POST / HTTP/1.1", "405"),
            ("GET / HTTP/1.1\r\nHost: example.test", "403"),
            ("GET / HTTP/1.1\r\nhost: 192.0.2.1:80", "403"),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost.example.test", "403"),
        ] {
            assert_eq!(status(head), expected, "{head}");
        }
    }

    #[test]
    fn this_machine_has_several_names() {
        for host in ["localhost", "localhost:1", "127.0.0.1:80", "127.1.2.3", "[::1]:80", "[::1]"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["", "localhost.test", "127.0.0.1.test", "[::2]", "0.0.0.0"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
