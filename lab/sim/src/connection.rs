//! One client connection: reads requests, answers the simple ones, hands streams to the pacer.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt};
use serde::Deserialize;
use serde_json::json;

use crate::arrival::Patient;
use crate::clock::{created_at, now_ns};
use crate::faults::{Fault, FaultKind};
use crate::http::{JSON, Refusal, Request, read_request, response};
use crate::ledger::Run;
use crate::pacer::{Command, Inbox};
use crate::stream::{AfterStream, Call, Framing};
use crate::text;

/// A stalled stream is held open for this long at most.
const STALL_MAX: Duration = Duration::from_secs(120);
/// Longer replies are refused: no experiment needs them, and memory stays bounded.
const TOKENS_MAX: i64 = 32_768;
const TOKENS_DEFAULT: i64 = 128;
/// What `num_predict` says for "until the model stops", and for "until the context is full".
const UNTIL_ITS_END: std::ops::RangeInclusive<i64> = -2..=-1;

/// What all threads of a server share.
pub(crate) struct Shared {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) run: Mutex<Option<Arc<Run>>>,
    pub(crate) connections: AtomicUsize,
    /// As many connections there may be.
    pub(crate) most: usize,
}

/// The keys of `POST /api/generate` and `/api/chat` that matter here. Ollama ignores unknown ones,
/// and so do we.
#[derive(Debug, Deserialize)]
struct Generate {
    model: String,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    messages: Vec<Message>,
    stream: Option<bool>,
    #[serde(default)]
    options: Options,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    content: String,
}

impl Generate {
    fn prompt_bytes(&self) -> usize {
        self.prompt.len() + self.messages.iter().map(|one| one.content.len()).sum::<usize>()
    }
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    seed: Option<i64>,
    num_predict: Option<i64>,
}

/// An answer of a known length, or what became of the stream.
enum Answer {
    Whole { status: &'static str, content_type: &'static str, body: String },
    Streamed(AfterStream),
}

/// Serves one client until it leaves, is idle, or must be cut off.
pub(crate) fn serve_connection(socket: TcpStream, port_index: usize, shared: &Shared) {
    let socket = Arc::new(socket);
    if socket.set_nodelay(true).is_err() {
        return;
    }
    let mut reader = BufReader::new(Patient::new(&socket));
    let mut answered_ns = 0;
    loop {
        // What a client has sent ahead of the answer belongs to the next request.
        let sent_ahead = !reader.buffer().is_empty();
        reader.get_mut().began = sent_ahead.then(Instant::now);
        let (answer, close) = match read_request(&mut reader, &mut &*socket) {
            Ok(None) => return,
            Ok(Some(request)) => {
                // One that was sent ahead has its turn when the one before it was answered.
                let received_ns = reader.get_ref().arrived_ns.max(answered_ns);
                let client = Client { socket: &socket, port_index, received_ns };
                (route(&request, &client, shared), request.close)
            }
            Err(refusal) => (Answer::from(refusal), true),
        };
        match answer {
            Answer::Whole { status, content_type, body } => {
                let sent = (&*socket).write_all(&response(status, content_type, &body));
                if sent.is_err() || close {
                    return;
                }
            }
            Answer::Streamed(AfterStream::KeepAlive) if !close => {}
            Answer::Streamed(AfterStream::Reset) => return reset_on_close(&socket),
            Answer::Streamed(AfterStream::HoldOpen) => return hold_open(&socket),
            Answer::Streamed(AfterStream::KeepAlive | AfterStream::Close) => return,
        }
        answered_ns = now_ns();
    }
}

/// Who asks, and since when.
struct Client<'a> {
    socket: &'a Arc<TcpStream>,
    port_index: usize,
    received_ns: u64,
}

fn route(request: &Request, client: &Client<'_>, shared: &Shared) -> Answer {
    let run = shared.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/") => Answer::ok("text/plain; charset=utf-8", "Ollama is running"),
        ("GET", "/api/version") => {
            Answer::json(&json!({"version": concat!(env!("CARGO_PKG_VERSION"), "-paced")}))
        }
        ("GET", "/api/tags") => {
            let models: Vec<_> = run
                .iter()
                .map(|run| json!({"name": run.spec.model, "model": run.spec.model}))
                .collect();
            Answer::json(&json!({"models": models}))
        }
        ("POST", "/api/show") => show(&request.body, run.as_deref()),
        ("POST", path @ ("/api/generate" | "/api/chat")) => match run {
            Some(run) => {
                let asked = Asked {
                    body: &request.body,
                    is_chat: path == "/api/chat",
                    is_old: request.is_old,
                };
                generate(&asked, client, shared, run)
            }
            None => Answer::from(Refusal::new(
                "503 Service Unavailable",
                "no run has begun: write a begin line to the control input first",
            )),
        },
        (method, path) => {
            Answer::from(Refusal::new("404 Not Found", format!("no route for {method} {path}")))
        }
    }
}

/// A call as it was asked for.
struct Asked<'a> {
    body: &'a [u8],
    is_chat: bool,
    is_old: bool,
}

fn generate(asked: &Asked<'_>, client: &Client<'_>, shared: &Shared, run: Arc<Run>) -> Answer {
    let heard_ns = now_ns();
    let fault = run.faults.next_call(client.port_index);
    let checked = check_fault(fault).and_then(|()| check_generate(asked.body, &run));
    let (generate, predict) = match checked {
        Ok(checked) => checked,
        Err(refusal) => {
            run.count_refusal();
            return refusal;
        }
    };
    let prompt_bytes = generate.prompt_bytes();
    if prompt_bytes == 0 {
        return loaded(&run.spec.model);
    }
    let seed = generate.options.seed.unwrap_or(run.spec.default_seed);
    // A model that may say as much as it likes stops where its seed says.
    let asked_tokens = predict.unwrap_or_else(|| text::own_length(seed));
    let tokens = fault.map_or(asked_tokens, |fault| fault.tokens_before(asked_tokens));
    let (finished, outcome) = mpsc::channel();
    let call = Call {
        socket: Arc::clone(client.socket),
        port_index: client.port_index,
        seed,
        received_ns: client.received_ns.min(heard_ns),
        heard_ns,
        // Four bytes a token is the usual rule of thumb for English.
        prompt_tokens: prompt_bytes.div_ceil(4),
        asked_tokens: predict.unwrap_or(usize::MAX),
        tokens: text::tokens(seed, tokens),
        work_ns: text::work_ns(seed, tokens.max(1), &run.spec),
        fault: fault.map(|fault| fault.kind),
        framing: match (generate.stream, asked.is_old) {
            (Some(false), _) => Framing::Whole,
            (_, true) => Framing::Lines,
            (_, false) => Framing::Chunks,
        },
        is_chat: asked.is_chat,
        finished,
        run,
    };
    shared.inbox.send(Command::Start(Box::new(call)));
    // An error means that the pacing thread has ended, and the server with it.
    Answer::Streamed(outcome.recv().unwrap_or(AfterStream::Close))
}

/// The faults that strike before a stream begins.
fn check_fault(fault: Option<&Fault>) -> Result<(), Answer> {
    match fault.map(|fault| fault.kind) {
        Some(FaultKind::Refuse) => Err(Answer::Streamed(AfterStream::Reset)),
        Some(FaultKind::Http500) => Err(Answer::from(Refusal::new(
            "500 Internal Server Error",
            "the server failed (a fault)",
        ))),
        Some(FaultKind::NotFound) => {
            Err(Answer::from(Refusal::new("404 Not Found", "model not found (a fault)")))
        }
        _ => Ok(()),
    }
}

/// The request, and how many tokens it asks for; `None` where the model may stop by itself.
fn check_generate(body: &[u8], run: &Run) -> Result<(Generate, Option<usize>), Answer> {
    let refuse = |status, error: String| Err(Answer::from(Refusal::new(status, error)));
    let generate: Generate = match serde_json::from_slice(body) {
        Ok(generate) => generate,
        Err(error) => return refuse("400 Bad Request", format!("cannot read the body: {error}")),
    };
    if generate.model != run.spec.model {
        return refuse("404 Not Found", format!("model '{}' not found", generate.model));
    }
    let asked = generate.options.num_predict.unwrap_or(TOKENS_DEFAULT);
    if UNTIL_ITS_END.contains(&asked) {
        return Ok((generate, None));
    }
    if !(1..=TOKENS_MAX).contains(&asked) {
        let error =
            format!("options.num_predict is {asked}, it must be -2, -1 or 1 to {TOKENS_MAX}");
        return refuse("400 Bad Request", error);
    }
    Ok((generate, Some(asked as usize)))
}

/// What `POST /api/show` says of the one model.
fn show(body: &[u8], run: Option<&Run>) -> Answer {
    #[derive(Deserialize)]
    struct Show {
        #[serde(alias = "name")]
        model: String,
    }
    let known = run.map(|run| run.spec.model.as_str());
    match serde_json::from_slice::<Show>(body) {
        Err(error) => {
            Answer::from(Refusal::new("400 Bad Request", format!("cannot read the body: {error}")))
        }
        Ok(show) if known != Some(&show.model) => {
            Answer::from(Refusal::new("404 Not Found", format!("model '{}' not found", show.model)))
        }
        Ok(_) => Answer::json(&json!({
            "details": {"format": "paced", "family": "paced", "parameter_size": "0"},
            "model_info": {}, "capabilities": ["completion"],
        })),
    }
}

/// Ollama takes a request without a prompt as "load the model", and answers at once.
fn loaded(model: &str) -> Answer {
    let created_at = created_at();
    Answer::json(&json!({
        "model": model, "created_at": created_at, "response": "", "done": true,
        "done_reason": "load",
    }))
}

impl Answer {
    fn ok(content_type: &'static str, body: &str) -> Self {
        Self::Whole { status: "200 OK", content_type, body: body.to_owned() }
    }

    fn json(body: &serde_json::Value) -> Self {
        Self::ok(JSON, &body.to_string())
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let body = json!({"error": refusal.error}).to_string();
        Self::Whole { status: refusal.status, content_type: JSON, body }
    }
}

/// Makes the close that follows a reset instead of an orderly end.
fn reset_on_close(socket: &TcpStream) {
    let at_once = linger { l_onoff: 1, l_linger: 0 };
    // If it fails, the client sees an early end instead of a reset, an error all the same.
    let _ = setsockopt(&socket.as_fd(), sockopt::Linger, &at_once);
}

/// Says nothing until the client leaves.
fn hold_open(socket: &TcpStream) {
    let until = Instant::now() + STALL_MAX;
    let mut ignored = [0; 1024];
    // What a client sends meanwhile is ignored; that it leaves is read as 0 bytes or an error.
    // The socket's read timeout keeps a silent client from holding this thread beyond the bound.
    while Instant::now() < until {
        match (&*socket).read(&mut ignored) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
