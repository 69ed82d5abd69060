//! As much of HTTP/1.1 and 1.0 as clients of Ollama use: requests with a length or in chunks, in
//! bounded memory.

use std::io::{BufRead, Read, Write};

const HEADER_BYTES_MAX: u64 = 16 * 1024;
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The type of every answer that is no stream.
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// A request that was read to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    /// The client wants the connection closed after the answer.
    pub(crate) close: bool,
    /// The client knows no chunks, for it speaks HTTP/1.0.
    pub(crate) is_old: bool,
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
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(Refusal::new("400 Bad Request", "the first line is no request"));
    };
    let is_old = version == "HTTP/1.0";
    if !is_old && version != "HTTP/1.1" {
        let error = "the paced server speaks HTTP/1.0 and HTTP/1.1 only";
        return Err(Refusal::new("400 Bad Request", error));
    }
    let (mut length, mut chunked, mut close) = (0, false, is_old);
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
            ("transfer-encoding", value) => {
                chunked = value.eq_ignore_ascii_case("chunked");
                if !chunked {
                    let error = format!("transfer-encoding {value}: only chunked is known");
                    return Err(Refusal::new("501 Not Implemented", error));
                }
            }
            ("connection", value) => close = is_old || value.eq_ignore_ascii_case("close"),
            ("expect", _) if continue_to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_err() => {
                return Ok(None);
            }
            _ => {}
        }
    }
    let body = if chunked { chunks(reader)? } else { whole(reader, length) };
    let Some(body) = body else { return Ok(None) };
    let path = target.split('?').next().unwrap_or(target).to_owned();
    Ok(Some(Request { method: method.to_owned(), path, body, close, is_old }))
}

fn whole(reader: &mut impl BufRead, length: usize) -> Option<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok().map(|()| body)
}

/// A body in chunks, up to and with its trailer; `None` where the client left within it.
fn chunks(reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, Refusal> {
    let mut body = Vec::new();
    loop {
        let Some(line) = read_line(&mut reader.by_ref().take(HEADER_BYTES_MAX))? else {
            return Ok(None);
        };
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16)
            .map_err(|_| Refusal::new("400 Bad Request", "the size of a chunk is no number"))?;
        bounded(size.saturating_add(body.len()))?;
        if size == 0 {
            return trailer(reader).map(|ended| ended.then_some(body));
        }
        // With the line end behind it.
        let Some(chunk) = whole(reader, size + 2) else { return Ok(None) };
        body.extend_from_slice(&chunk[..size]);
    }
}

/// Lines up to an empty one; false where the client left before.
fn trailer(reader: &mut impl BufRead) -> Result<bool, Refusal> {
    let mut header = reader.by_ref().take(HEADER_BYTES_MAX);
    while let Some(line) = read_line(&mut header)? {
        if line.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
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
    bounded(length)
}

fn bounded(length: usize) -> Result<usize, Refusal> {
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
        let (body, close, is_old) = (b"hi".to_vec(), false, false);
        assert_eq!(request, Request { method, path, body, close, is_old });
        assert_eq!(wire, b"GET");
    }

    #[test]
    fn chunks_are_joined_and_their_trailer_is_read() {
        let mut wire: &[u8] = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                                2;a=b\r\nhi\r\n1\r\n!\r\n0\r\nX: y\r\n\r\nGET";
        let request = read_request(&mut wire, &mut Vec::new()).unwrap().unwrap();
        assert_eq!((request.body.as_slice(), wire), (&b"hi!"[..], &b"GET"[..]));
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let status = |body: &str| read(format!("{head}{body}").as_bytes()).unwrap_err().status;
        assert!(status("x\r\n").starts_with("400"));
        assert!(status("ffffffffffffffff\r\n").starts_with("413"));
        assert_eq!(read(format!("{head}5\r\nhi").as_bytes()), Ok(None));
    }

    #[test]
    fn a_client_of_http_1_0_is_told_the_end_by_closing() {
        let request = read(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").unwrap().unwrap();
        assert!(request.is_old && request.close);
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
        assert!(status(b"GET / HTTP/2.0\r\n\r\n").starts_with("400"));
        assert!(status(&[b'x'; 20_000]).starts_with("431"));
        let long = b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n";
        assert!(status(long).starts_with("413"));
        let packed = b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n";
        assert!(status(packed).starts_with("501"));
    }
}
