//! An HTTP/1.1 response parser that does no I/O: bytes in, parts out, cut them as you like.

use crate::CallError;

/// Bounds on what is kept of a head, a chunk-size line or trailers, in bytes.
const MAX_LINE: usize = 16 << 10;
const MAX_HEAD: usize = 64 << 10;

/// What the parser found.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The head is complete; this is the status code.
    Head(u16),
    /// Bytes of the body, without the chunks' framing.
    Body(&'a [u8]),
    /// The response is complete; what follows belongs to the next one.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Status,
    Headers,
    /// So many bytes left, by `content-length`.
    Sized(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    UntilClose,
}

/// Parses the responses of one connection, one after another.
#[derive(Debug)]
pub struct ResponseParser {
    state: State,
    line: Vec<u8>,
    head_bytes: usize,
    status: u16,
    length: Option<u64>,
    chunked: bool,
    keep_alive: bool,
}

impl Default for ResponseParser {
    fn default() -> Self {
        Self {
            state: State::Status,
            line: Vec::new(),
            head_bytes: 0,
            status: 0,
            length: None,
            chunked: false,
            keep_alive: true,
        }
    }
}

impl ResponseParser {
    /// Takes the next part off the front of `input`; `None` when all of it is used up and more is
    /// needed. Interim responses (status 1xx) are skipped.
    ///
    /// # Errors
    /// [`CallError::Http`] names the line that is not HTTP/1.1.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Part<'a>>, CallError> {
        loop {
            let part = match self.state {
                State::Sized(0) => Some(self.end()),
                State::Sized(left) | State::Chunk(left) => {
                    let piece = take(input, left);
                    if piece.is_empty() {
                        return Ok(None);
                    }
                    let left = left - piece.len() as u64;
                    self.state = match self.state {
                        State::Sized(_) => State::Sized(left),
                        _ if left == 0 => State::ChunkEnd,
                        _ => State::Chunk(left),
                    };
                    Some(Part::Body(piece))
                }
                State::UntilClose => {
                    let piece = take(input, u64::MAX);
                    return Ok((!piece.is_empty()).then_some(Part::Body(piece)));
                }
                _ => {
                    if !self.fill_line(input)? {
                        return Ok(None);
                    }
                    let line = std::mem::take(&mut self.line);
                    self.on_line(&line)?
                }
            };
            if part.is_some() {
                return Ok(part);
            }
        }
    }

    /// The peer closed the connection: right for a body without a length.
    ///
    /// # Errors
    /// [`CallError::Cut`] where the response had to go on.
    pub fn closed(&mut self) -> Result<Part<'static>, CallError> {
        if self.state == State::UntilClose { Ok(self.end()) } else { Err(CallError::Cut) }
    }

    /// Nothing of a response has arrived since the last one ended.
    pub fn is_idle(&self) -> bool {
        self.state == State::Status && self.line.is_empty() && self.head_bytes == 0
    }

    /// Whether the connection may carry another request after the response that just ended.
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    fn end(&mut self) -> Part<'static> {
        self.state = State::Status;
        self.head_bytes = 0;
        Part::End
    }

    /// Moves bytes up to the end of a line; true when `self.line` is a line, without its end.
    fn fill_line(&mut self, input: &mut &[u8]) -> Result<bool, CallError> {
        let end = input.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(input.len(), |end| end + 1);
        self.line.extend_from_slice(&input[..taken]);
        *input = &input[taken..];
        if matches!(self.state, State::Status | State::Headers | State::Trailers) {
            self.head_bytes += taken;
        }
        if self.line.len() > MAX_LINE || self.head_bytes > MAX_HEAD {
            return Err(bad("a head or line is too long", &self.line));
        }
        if end.is_some() {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        }
        Ok(end.is_some())
    }

    fn on_line(&mut self, line: &[u8]) -> Result<Option<Part<'static>>, CallError> {
        match self.state {
            State::Status => self.on_status(line)?,
            State::Headers if line.is_empty() => return self.on_head_end(),
            State::Headers => self.on_header(line)?,
            State::ChunkSize => {
                let size = chunk_size(line).ok_or_else(|| bad("chunk size", line))?;
                self.state = if size == 0 { State::Trailers } else { State::Chunk(size) };
            }
            State::ChunkEnd if line.is_empty() => self.state = State::ChunkSize,
            State::Trailers if line.is_empty() => return Ok(Some(self.end())),
            State::Trailers => {}
            _ => return Err(bad("a chunk is longer than its size", line)),
        }
        Ok(None)
    }

    fn on_status(&mut self, line: &[u8]) -> Result<(), CallError> {
        let text = std::str::from_utf8(line).map_err(|_| bad("status line", line))?;
        let (version, rest) = text.split_once(' ').ok_or_else(|| bad("status line", line))?;
        let code = rest.get(..3).and_then(|code| code.parse().ok());
        let (true, Some(status)) = (version.starts_with("HTTP/1."), code) else {
            return Err(bad("status line", line));
        };
        self.status = status;
        self.length = None;
        self.chunked = false;
        self.keep_alive = version != "HTTP/1.0";
        self.state = State::Headers;
        Ok(())
    }

    fn on_header(&mut self, line: &[u8]) -> Result<(), CallError> {
        let text = String::from_utf8_lossy(line);
        let (name, value) = text.split_once(':').ok_or_else(|| bad("header", line))?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            self.length = Some(value.parse().map_err(|_| bad("content-length", line))?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.chunked = value.to_ascii_lowercase().ends_with("chunked");
        } else if name.eq_ignore_ascii_case("connection") {
            self.keep_alive = !value.eq_ignore_ascii_case("close");
        }
        Ok(())
    }

    fn on_head_end(&mut self) -> Result<Option<Part<'static>>, CallError> {
        if (100..200).contains(&self.status) {
            self.state = State::Status;
            return Ok(None);
        }
        let bodiless = matches!(self.status, 204 | 304);
        self.state = match self.length {
            _ if bodiless => State::Sized(0),
            _ if self.chunked => State::ChunkSize,
            Some(length) => State::Sized(length),
            None => State::UntilClose,
        };
        self.keep_alive &= self.state != State::UntilClose;
        Ok(Some(Part::Head(self.status)))
    }
}

/// Splits at most `limit` bytes off the front of `input`.
fn take<'a>(input: &mut &'a [u8], limit: u64) -> &'a [u8] {
    let length = usize::try_from(limit).unwrap_or(usize::MAX).min(input.len());
    let (piece, rest) = input.split_at(length);
    *input = rest;
    piece
}

/// The hexadecimal size in front of a chunk; extensions after `;` are skipped.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?.split(';').next()?.trim();
    // `from_str_radix` alone would take a sign.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(text, 16).ok()
}

fn bad(what: &str, line: &[u8]) -> CallError {
    CallError::Http(format!("{what} in `{}`", crate::ndjson::excerpt(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHUNKED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: \
        application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n, \
        world\n\r\r\r\n0\r\nX-Trailer: 1\r\n\r\n";
    const SIZED: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\nabc";
    const EMPTY: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

    /// Status, body, and whether it ended.
    type Response = (u16, Vec<u8>, bool);

    /// The responses in `chunks`.
    fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Response> {
        let mut parser = ResponseParser::default();
        let mut found: Vec<Response> = Vec::new();
        for mut chunk in chunks {
            while let Some(part) = parser.next(&mut chunk).unwrap() {
                match part {
                    Part::Head(status) => found.push((status, Vec::new(), false)),
                    Part::Body(bytes) => found.last_mut().unwrap().1.extend_from_slice(bytes),
                    Part::End => found.last_mut().unwrap().2 = true,
                }
            }
            assert!(chunk.is_empty());
        }
        assert!(parser.is_idle() && parser.keep_alive());
        found
    }

    fn three() -> (Vec<u8>, Vec<Response>) {
        let bytes = [CHUNKED, SIZED, EMPTY].concat();
        let expected = vec![
            (200, b"hello, world\n\r\r".to_vec(), true),
            (404, b"abc".to_vec(), true),
            (204, Vec::new(), true),
        ];
        (bytes, expected)
    }

    #[test]
    fn responses_cut_at_every_byte_are_the_same() {
        let (bytes, expected) = three();
        for cut in 0..=bytes.len() {
            assert_eq!(parse([&bytes[..cut], &bytes[cut..]]), expected, "cut at {cut}");
        }
        assert_eq!(parse(bytes.chunks(1)), expected);
    }

    proptest! {
        #[test]
        fn responses_cut_anywhere_are_the_same(sizes in prop::collection::vec(1usize..40, 1..200)) {
            let (bytes, expected) = three();
            let mut rest = &bytes[..];
            let mut chunks = Vec::new();
            for size in sizes {
                chunks.push(take(&mut rest, size as u64));
            }
            chunks.push(rest);
            prop_assert_eq!(parse(chunks), expected);
        }

        #[test]
        fn rubbish_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut parser = ResponseParser::default();
            let mut input = &bytes[..];
            while let Ok(Some(_)) = parser.next(&mut input) {}
        }
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let mut parser = ResponseParser::default();
        let mut input = &b"HTTP/1.0 200 OK\r\n\r\nabc"[..];
        assert_eq!(parser.next(&mut input).unwrap(), Some(Part::Head(200)));
        assert_eq!(parser.next(&mut input).unwrap(), Some(Part::Body(b"abc")));
        assert_eq!(parser.next(&mut input).unwrap(), None);
        assert_eq!(parser.closed().unwrap(), Part::End);
        assert!(!parser.keep_alive());
    }

    #[test]
    fn a_close_inside_a_chunk_is_a_cut() {
        let mut parser = ResponseParser::default();
        let mut input = &CHUNKED[..CHUNKED.len() - 30];
        while parser.next(&mut input).unwrap().is_some() {}
        assert!(matches!(parser.closed(), Err(CallError::Cut)));
    }

    #[test]
    fn what_is_not_http_is_quoted() {
        let mut parser = ResponseParser::default();
        let error = parser.next(&mut &b"SSH-2.0-x\r\n"[..]).unwrap_err();
        assert_eq!(error.to_string(), "the response is not HTTP/1.1: status line in `SSH-2.0-x`");
        for size in ["-1", "+1", "", "fffffffffffffffff"] {
            let text = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{size}\r\n");
            let mut parser = ResponseParser::default();
            let mut input = text.as_bytes();
            assert_eq!(parser.next(&mut input).unwrap(), Some(Part::Head(200)));
            assert!(parser.next(&mut input).is_err(), "{size}");
        }
    }
}
