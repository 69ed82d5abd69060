//! One client connection: reads requests, answers the simple ones, hands streams to the pacer.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt};
use serde::Deserialize;
use serde_json::json;

use crate::arrival::Patient;
use crate::ask::Wanted;
use crate::clock::{created_at, now_ns, unix_s};
use crate::faults::{Fault, FaultKind};
use crate::http::{JSON, Refusal, Request, read_request, response};
use crate::ledger::Run;
use crate::pacer::{Command, Inbox};
use crate::spec::TOKENS_PER_CHUNK_MAX;
use crate::stream::{AfterStream, Call, Framing};
use crate::text;
use crate::wire::{Speech, Wire};

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
    /// Connections so far.
    pub(crate) accepted: AtomicU64,
    /// Replies so far, for their names.
    pub(crate) replies: AtomicU64,
    /// Replies that it gives at most, and whether more were asked for.
    pub(crate) replies_max: AtomicU64,
    pub(crate) is_flooded: AtomicBool,
    /// As many connections there may be.
    pub(crate) most: usize,
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
    if let Some(speech) = spoken(request) {
        if shared.replies.load(Ordering::Relaxed) >= shared.replies_max.load(Ordering::Relaxed) {
            shared.is_flooded.store(true, Ordering::Relaxed);
            let error = "this server gives no more replies";
            return Answer::refused(speech, Refusal::new("503 Service Unavailable", error));
        }
        return match run {
            Some(run) => generate(speech, request, client, shared, run),
            None => {
                let error = "no run has begun: write a begin line to the control input first";
                Answer::refused(speech, Refusal::new("503 Service Unavailable", error))
            }
        };
    }
    let model = || run.as_ref().map(|run| run.spec.model.as_str());
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/") => Answer::ok("text/plain; charset=utf-8", "Ollama is running"),
        // vLLM has it, and generators look there first.
        ("GET", "/health") => Answer::ok("text/plain; charset=utf-8", ""),
        ("GET", "/api/version") => {
            Answer::json(&json!({"version": concat!(env!("CARGO_PKG_VERSION"), "-paced")}))
        }
        ("GET", "/api/tags" | "/api/ps") => {
            let models: Vec<_> =
                model().iter().map(|model| json!({"name": model, "model": model})).collect();
            Answer::json(&json!({"models": models}))
        }
        ("GET", "/v1/models") => {
            let one = |model: &&str| json!({"id": model, "object": "model", "owned_by": "paced"});
            let models: Vec<_> = model().iter().map(one).collect();
            Answer::json(&json!({"object": "list", "data": models}))
        }
        ("POST", "/api/show") => show(&request.body, run.as_deref()),
        (method, path) => {
            Answer::from(Refusal::new("404 Not Found", format!("no route for {method} {path}")))
        }
    }
}

/// What a request for a reply speaks.
fn spoken(request: &Request) -> Option<Speech> {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/api/generate") => Some(Speech::Generate),
        ("POST", "/api/chat") => Some(Speech::Chat),
        ("POST", "/v1/completions") => Some(Speech::Completion),
        ("POST", "/v1/chat/completions") => Some(Speech::ChatCompletion),
        _ => None,
    }
}

fn generate(
    speech: Speech,
    request: &Request,
    client: &Client<'_>,
    shared: &Shared,
    run: Arc<Run>,
) -> Answer {
    let heard_ns = now_ns();
    let fault = run.faults.next_call(client.port_index);
    let wanted = check_fault(speech, fault).and_then(|()| {
        check_wanted(speech, &request.body, &run)
            .map_err(|refusal| Answer::refused(speech, refusal))
    });
    let (wanted, limit) = match wanted {
        Ok(wanted) => wanted,
        Err(refusal) => {
            run.count_refusal();
            return refusal;
        }
    };
    if wanted.prompt_bytes == 0 {
        return loaded(&run.spec.model);
    }
    let number = shared.replies.fetch_add(1, Ordering::Relaxed);
    let seed = wanted.seed.or(run.spec.default_seed).unwrap_or(number as i64);
    let traced = run.traced(seed);
    let (pieces, work_ns) = match traced {
        // Where the request wants as much as there is, the reply ends with the trace.
        Some(reply) => {
            let most = wanted.tokens.and(limit).unwrap_or(usize::MAX);
            reply.pieces(fault.map_or(most, |fault| fault.tokens_before(most)))
        }
        None => {
            // A model that may say as much as it likes stops where its seed says.
            let asked_tokens = limit.unwrap_or_else(|| text::own_length(seed));
            let tokens = fault.map_or(asked_tokens, |fault| fault.tokens_before(asked_tokens));
            let together = wanted.tokens_per_chunk.unwrap_or(run.spec.tokens_per_chunk);
            let (words, work_ns) =
                (text::tokens(seed, tokens), text::work_ns(seed, tokens, &run.spec));
            text::pieces(&words, &work_ns, run.spec.thinking_tokens, together)
        }
    };
    // A reply without tokens takes as long as its first.
    let work_ns = if work_ns.is_empty() { text::work_ns(seed, 1, &run.spec) } else { work_ns };
    let (finished, outcome) = mpsc::channel();
    let call = Call {
        socket: Arc::clone(client.socket),
        port_index: client.port_index,
        seed,
        received_ns: client.received_ns.min(heard_ns),
        heard_ns,
        // Four bytes a token is the usual rule of thumb for English.
        prompt_tokens: wanted.prompt_bytes.div_ceil(4),
        asked_tokens: limit.unwrap_or(usize::MAX),
        pieces,
        work_ns,
        fault: fault.map(|fault| fault.kind),
        framing: match (wanted.stream, request.is_old) {
            (false, _) => Framing::Whole,
            (true, true) => Framing::Lines,
            (true, false) => Framing::Chunks,
        },
        wire: Wire {
            speech,
            model: run.spec.model.clone(),
            id: format!("paced-{number}"),
            created_s: unix_s(),
            include_usage: wanted.include_usage,
            tool: wanted.tool.filter(|_| run.spec.tool_call),
        },
        finished,
        run,
    };
    shared.inbox.send(Command::Start(Box::new(call)));
    // An error means that the pacing thread has ended, and the server with it.
    Answer::Streamed(outcome.recv().unwrap_or(AfterStream::Close))
}

/// The faults that strike before a stream begins.
fn check_fault(speech: Speech, fault: Option<&Fault>) -> Result<(), Answer> {
    let (status, error) = match fault.map(|fault| fault.kind) {
        Some(FaultKind::Refuse) => return Err(Answer::Streamed(AfterStream::Reset)),
        Some(FaultKind::Http500) => ("500 Internal Server Error", "the server failed (a fault)"),
        Some(FaultKind::NotFound) => ("404 Not Found", "model not found (a fault)"),
        _ => return Ok(()),
    };
    Err(Answer::refused(speech, Refusal::new(status, error)))
}

/// The request, and how many tokens it asks for; `None` where the model may stop by itself.
fn check_wanted(
    speech: Speech,
    body: &[u8],
    run: &Run,
) -> Result<(Wanted, Option<usize>), Refusal> {
    let bad = |error: String| Refusal::new("400 Bad Request", error);
    let wanted = Wanted::read(speech, body).map_err(bad)?;
    if wanted.model != run.spec.model {
        let error = format!("model '{}' not found", wanted.model);
        return Err(Refusal::new("404 Not Found", error));
    }
    if wanted.prompt_bytes == 0 && speech.is_openai() {
        return Err(bad("there is no text in `prompt` or `messages`".to_owned()));
    }
    let most = TOKENS_PER_CHUNK_MAX;
    if wanted.tokens_per_chunk.is_some_and(|together| !(1..=most).contains(&together)) {
        return Err(bad(format!("tokens_per_chunk must be 1 to {most}")));
    }
    let asked = wanted.tokens.unwrap_or(TOKENS_DEFAULT);
    if UNTIL_ITS_END.contains(&asked) && !speech.is_openai() {
        return Ok((wanted, None));
    }
    if !(1..=TOKENS_MAX).contains(&asked) {
        let open = if speech.is_openai() { "" } else { "-2, -1 or " };
        let key = speech.tokens_key();
        return Err(bad(format!("{key} is {asked}, it must be {open}1 to {TOKENS_MAX}")));
    }
    Ok((wanted, Some(asked as usize)))
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

    fn refused(speech: Speech, refusal: Refusal) -> Self {
        let body = speech.error(&refusal.error).to_string();
        Self::Whole { status: refusal.status, content_type: JSON, body }
    }

    fn json(body: &serde_json::Value) -> Self {
        Self::ok(JSON, &body.to_string())
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self::refused(Speech::Generate, refusal)
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
