//! As much of HTTP/1.1 as clients of Ollama use: requests with a length, in bounded memory.

use std::io::{BufRead, Read, Write};

const HEADER_BYTES_MAX: u64 = 16 * 1024;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request that was read to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    /// The client wants the connection closed after the answer.
    pub(crate) close: bool,
}

/// Why a request is answered with an error, after which the connection is closed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: &'static str,
    pub(crate) error: String,
}

impl Refusal {
    pub(crate) fn new(status: &'static str, error: impl Into<String>) -> Self {
        Self { status, error: error.into() }
    }
}

/// Reads the next request; `None` when the client has closed the connection, or was idle for
/// longer than the socket's timeout.
///
/// `continue_to` is where `100 Continue` goes.
pub(crate) fn read_request(
    reader: &mut impl BufRead,
    continue_to: &mut impl Write,
) -> Result<Option<Request>, Refusal> {
    let mut header = reader.by_ref().take(HEADER_BYTES_MAX);
    let Some(first) = read_line(&mut header)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next())
    else {
        return Err(Refusal::new("400 Bad Request", "the paced server speaks HTTP/1.1 only"));
    };
    let (mut length, mut close) = (0, false);
    loop {
        let Some(line) = read_line(&mut header)? else { return Ok(None) };
        let Some((name, value)) = line.split_once(':') else {
            if line.is_empty() {
                break;
            }
            return Err(Refusal::new("400 Bad Request", "a header line has no colon"));
        };
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = body_length(value)?,
            ("transfer-encoding", _) => {
                return Err(Refusal::new("411 Length Required", "send a content-length"));
            }
            ("connection", value) => close = value.eq_ignore_ascii_case("close"),
            ("expect", _) if continue_to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_err() => {
                return Ok(None);
            }
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return Ok(None);
    }
    let path = target.split('?').next().unwrap_or(target).to_owned();
    Ok(Some(Request { method: method.to_owned(), path, body, close }))
}

/// A complete response of a known length.
pub(crate) fn response(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn read_line(header: &mut std::io::Take<&mut impl BufRead>) -> Result<Option<String>, Refusal> {
    let mut line = Vec::new();
    if header.read_until(b'\n', &mut line).is_err() || line.is_empty() && header.limit() > 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return match header.limit() {
            0 => Err(Refusal::new(
                "431 Request Header Fields Too Large",
                format!("the header is longer than {HEADER_BYTES_MAX} bytes"),
            )),
            _ => Ok(None),
        };
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line)
        .map(Some)
        .map_err(|_| Refusal::new("400 Bad Request", "the header is not UTF-8"))
}

fn body_length(value: &str) -> Result<usize, Refusal> {
    let length: usize = value
        .parse()
        .map_err(|_| Refusal::new("400 Bad Request", "content-length is not a number"))?;
    if length > BODY_BYTES_MAX {
        let error = format!("the body is longer than {BODY_BYTES_MAX} bytes");
        return Err(Refusal::new("413 Content Too Large", error));
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Option<Request>, Refusal> {
        read_request(&mut &text[..], &mut Vec::new())
    }

    #[test]
    fn a_request_is_read_with_its_body_and_no_further() {
        let mut wire: &[u8] = b"POST /a?b=c HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET";
        let request = read_request(&mut wire, &mut Vec::new()).unwrap().unwrap();
        let (method, path) = ("POST".to_owned(), "/a".to_owned());
        assert_eq!(request, Request { method, path, body: b"hi".to_vec(), close: false });
        assert_eq!(wire, b"GET");
    }

    #[test]
    fn a_client_that_leaves_is_not_an_error() {
        assert_eq!(read(b""), Ok(None));
        assert_eq!(read(b"GET / HTTP/1.1\r\nHo"), Ok(None));
        assert_eq!(read(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhi"), Ok(None));
    }

    #[test]
    fn what_cannot_be_bounded_is_refused() {
        let status = |text: &[u8]| read(text).unwrap_err().status;
        assert!(status(b"GET / HTTP/1.0\r\n\r\n").starts_with("400"));
        assert!(status(&[b'x'; 20_000]).starts_with("431"));
        let long = b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n";
        assert!(status(long).starts_with("413"));
        let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert!(status(chunked).starts_with("411"));
    }
}
