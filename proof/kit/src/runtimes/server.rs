//! A server that does one thing, right or wrong, to every call.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::thread;

use serde_json::{Value, json};

/// What the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Streams `num_predict` tokens, its bytes cut at places that depend on the seed.
    Right,
    /// The same, and closes the connection after each reply, as its head says.
    RightThenClose,
    /// The same, and the first half of the tokens is a thought.
    Thinks,
    /// The same, and each line carries [`PADDING`] bytes that nobody asked for.
    Heavy,
    /// The same, and its head says that it keeps the connection.
    RightThenGone,
    /// Answers 404 as Ollama does.
    NotFound,
    /// Resets the connection after two tokens.
    Reset,
    /// Closes the connection after two tokens.
    Cut,
    /// Sends a line that is no JSON after two tokens.
    BrokenJson,
    /// Sends a line that reports an error after two tokens.
    ErrorLine,
    /// The same as an object with a message, as gateways have it.
    ErrorObject,
    /// Ends the body after two tokens.
    NoDone,
    /// Sends nothing after two tokens, and keeps the connection.
    Stall,
    /// Sends nothing at all.
    Silence,
    /// Ends with the name of another model.
    OtherModel,
    /// Names another model on a line with text, and the right one at the end.
    OtherModelBetween,
    /// Ends without the name of a model.
    NoModel,
    /// Sends a second line that says it is done.
    DoneTwice,
    /// Sends a token after the line that says it is done.
    GoesOn,
    /// Sends its lines packed, which nobody asked for.
    Packed,
    /// Answers with this status, and says when to come again.
    Refuses(u16),
    /// Sends the client to this port of the same host.
    Redirects(u16),
}

/// A listening server; its threads end with the test's process.
#[derive(Debug)]
pub struct Server {
    /// Its base address.
    pub url: String,
}

/// Of a line of [`Script::Heavy`].
pub const PADDING: usize = 64 << 10;

/// `{"response":"a"}` and a line end, by gzip.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x2a\x4a\x2d\x2e\xc8\xcf\
    \x2b\x4e\x55\xb2\x52\x4a\x54\xaa\xe5\x02\x00\xa8\xf5\x6c\xd4\x11\x00\x00\x00";

impl Server {
    /// Starts a server on a port that the system chooses.
    ///
    /// # Panics
    /// When there is no loopback interface.
    pub fn start(script: Script) -> Self {
        Self::start_on("127.0.0.1:0", script).expect("loopback has a free port")
    }

    /// The same on another address, for example `[::1]:0`; `None` where this machine has it not.
    ///
    /// # Panics
    /// Never: a bound socket has an address.
    pub fn start_on(address: &str, script: Script) -> Option<Self> {
        let listener = TcpListener::bind(address).ok()?;
        let address = listener.local_addr().expect("a bound socket has an address");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away is none of the server's failures.
                thread::spawn(move || serve(stream, script));
            }
        });
        Some(Self { url: format!("http://{address}") })
    }

    /// A host that no name server knows: the domain is reserved for that (RFC 6761).
    pub fn unknown() -> Self {
        Self { url: "http://nobody.invalid:11434".to_owned() }
    }

    /// Its port.
    ///
    /// # Panics
    /// Never: a bound address has one.
    pub fn port(&self) -> u16 {
        let digits = self.url.rsplit(':').next().expect("an address ends in a port");
        digits.parse().expect("a port is a number")
    }

    /// An address at which nobody listens.
    ///
    /// # Panics
    /// When there is no loopback interface.
    pub fn nobody() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        Self { url: format!("http://{address}") }
    }
}

/// The text of a right reply.
pub fn reply_text(seed: i64, tokens: i64) -> String {
    (0..tokens).map(|index| token(seed, index)).collect()
}

/// The text of a reply of which the first half was thought.
pub fn answer_text(seed: i64, tokens: i64) -> String {
    (tokens / 2..tokens).map(|index| token(seed, index)).collect()
}

fn token(seed: i64, index: i64) -> String {
    // One byte of two, so that a cut may fall into a character.
    format!(" é{}", (seed + index) % 10)
}

fn serve(mut stream: TcpStream, script: Script) -> io::Result<()> {
    if script == Script::Reset {
        // Bytes that nobody read make the system answer the close with a reset.
        stream.read_exact(&mut [0; 16])?;
        let lines: String = (0..2).map(|index| line(0, index)).collect();
        stream.write_all(head(200, "transfer-encoding: chunked").as_bytes())?;
        return stream.write_all(&chunk(&lines));
    }
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let Some(request) = read_request(&mut reader)? else { return Ok(()) };
        let options = &request["options"];
        let seed = options["seed"].as_i64().unwrap_or(0);
        let tokens = options["num_predict"].as_i64().unwrap_or(0);
        match script {
            Script::Right => right(&mut stream, "keep-alive", seed, 0..tokens)?,
            Script::RightThenClose => return right(&mut stream, "close", seed, 0..tokens),
            Script::RightThenGone => return right(&mut stream, "keep-alive", seed, 0..tokens),
            Script::Thinks => right(&mut stream, "keep-alive", seed, tokens / 2..tokens)?,
            Script::Heavy => heavy(&mut stream, seed, tokens)?,
            Script::NotFound => {
                let body = r#"{"error":"model 'm' not found"}"#;
                let head = head(404, &format!("content-length: {}", body.len()));
                stream.write_all(format!("{head}{body}").as_bytes())?;
            }
            Script::Refuses(status) => refuse(&mut stream, status, "retry-after: 1")?,
            Script::Redirects(port) => {
                let place = format!("location: http://127.0.0.1:{port}/api/generate");
                refuse(&mut stream, 307, &place)?;
            }
            _ => return wrong(&mut stream, &mut reader, script),
        }
    }
}

fn refuse(stream: &mut TcpStream, status: u16, header: &str) -> io::Result<()> {
    let body = r#"{"error":"not now"}"#;
    let head = head(status, &format!("{header}\r\ncontent-length: {}", body.len()));
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// The tokens before those of the answer are a thought.
fn right(
    stream: &mut TcpStream,
    connection: &str,
    seed: i64,
    answer: Range<i64>,
) -> io::Result<()> {
    let tokens = answer.end;
    let headers = format!("connection: {connection}\r\ntransfer-encoding: chunked");
    let mut bytes = head(200, &headers).into_bytes();
    for index in 0..tokens {
        let line = line(seed, index);
        let thought = || line.replace("\"response\"", "\"response\":\"\",\"thinking\"");
        bytes.extend(chunk(&if answer.contains(&index) { line.clone() } else { thought() }));
    }
    let last = json!({"model": "m", "response": "", "done": true, "done_reason": "length",
        "context": [1, 2, 3], "total_duration": 60, "load_duration": 10, "prompt_eval_count": 5,
        "prompt_eval_duration": 20, "eval_count": tokens, "eval_duration": 30});
    bytes.extend(chunk(&format!("{last}\n")));
    bytes.extend(b"0\r\n\r\n");
    stream.set_nodelay(true)?;
    bytes.chunks(1 + (seed % 97) as usize).try_for_each(|piece| stream.write_all(piece))
}

/// As fast as the client takes it.
fn heavy(stream: &mut TcpStream, seed: i64, tokens: i64) -> io::Result<()> {
    stream.write_all(head(200, "transfer-encoding: chunked").as_bytes())?;
    let padding = format!("{{\"padding\":\"{}\",", "x".repeat(PADDING));
    for index in 0..tokens {
        stream.write_all(&chunk(&line(seed, index).replacen('{', &padding, 1)))?;
    }
    let done = json!({"model": "m", "done": true, "eval_count": tokens});
    stream.write_all(&chunk(&format!("{done}\n")))?;
    stream.write_all(b"0\r\n\r\n")
}

/// Two tokens, then the fault.
fn wrong(stream: &mut TcpStream, reader: &mut impl Read, script: Script) -> io::Result<()> {
    let wait_for_client = |reader: &mut dyn Read| reader.read(&mut [0; 1]).map(|_| ());
    if script == Script::Silence {
        return wait_for_client(reader);
    }
    if script == Script::Packed {
        stream.write_all(head(200, "content-encoding: gzip\r\nconnection: close").as_bytes())?;
        return stream.write_all(PACKED);
    }
    stream.write_all(head(200, "transfer-encoding: chunked").as_bytes())?;
    for index in 0..2 {
        stream.write_all(&chunk(&line(0, index)))?;
    }
    let done = |model: &str| chunk(&format!("{{\"model\":\"{model}\",\"done\":true}}\n"));
    match script {
        Script::BrokenJson => stream.write_all(&chunk("{\"response\": oops}\n"))?,
        Script::ErrorLine => stream.write_all(&chunk("{\"error\":\"out of memory\"}\n"))?,
        Script::ErrorObject => {
            stream
                .write_all(&chunk("{\"error\":{\"message\":\"upstream is gone\",\"code\":5}}\n"))?;
        }
        Script::Stall => wait_for_client(reader)?,
        Script::OtherModel => stream.write_all(&done("other"))?,
        Script::OtherModelBetween => {
            let between = chunk("{\"model\":\"other\",\"response\":\"a\"}\n");
            stream.write_all(&[between, done("m")].concat())?;
        }
        Script::NoModel => stream.write_all(&done(""))?,
        Script::DoneTwice => stream.write_all(&[done("m"), done("m")].concat())?,
        Script::GoesOn => stream.write_all(&[done("m"), chunk(&line(0, 2))].concat())?,
        // Cut and NoDone differ in what follows.
        _ => {}
    }
    if script == Script::Cut { Ok(()) } else { stream.write_all(b"0\r\n\r\n") }
}

fn line(seed: i64, index: i64) -> String {
    let token = token(seed, index);
    let line = json!({"model": "m", "response": token, "done": false, "sent_ns": seed + index});
    format!("{line}\n")
}

fn head(status: u16, header: &str) -> String {
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/x-ndjson\r\n{header}\r\n\r\n")
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

/// The JSON body of the next request; `None` when the client closed the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}
