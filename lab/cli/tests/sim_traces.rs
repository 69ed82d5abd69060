//! `lab sim record` before a paced server, and `lab sim --trace` after it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A `lab sim` that has said its ports.
struct Sim {
    child: Child,
    said: BufReader<ChildStdout>,
    port: u16,
}

impl Sim {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lab"))
            .arg("sim")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let port = line(&mut said)["ports"][0].as_u64().unwrap() as u16;
        Self { child, said, port }
    }

    /// The answer to a control line.
    fn control(&mut self, order: &Value) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{order}").unwrap();
        line(&mut self.said)
    }

    /// The body of a reply, its chunks joined.
    fn post(&self, path: &str, body: &Value) -> String {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let body = body.to_string();
        let head = format!("POST {path} HTTP/1.0\r\nContent-Length: {}\r\n\r\n", body.len());
        socket.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if !head.contains("chunked") {
            return body.to_owned();
        }
        let is_size = |line: &&str| line.chars().all(|c| c.is_ascii_hexdigit() || c == '\r');
        body.split_inclusive('\n').filter(|line| !is_size(&line.trim_end())).collect()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(said: &mut impl BufRead) -> Value {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn generate(seed: i64, tokens: usize) -> Value {
    json!({"model": "paced", "prompt": "p", "options": {"seed": seed, "num_predict": tokens}})
}

fn chat(tokens: usize) -> Value {
    json!({
        "model": "paced", "messages": [{"role": "user", "content": "p"}], "max_tokens": tokens,
        "stream": true,
    })
}

/// The texts of Ollama's lines.
fn text(body: &str) -> String {
    let lines = body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.map(|line| line["response"].as_str().unwrap().to_owned()).collect()
}

/// Three replies of a quick server, recorded; also what was said in the first of them.
fn recorded(file: &Path, more: &[&str]) -> (Vec<Value>, String) {
    let paced = Sim::start(&["--ports", "0", "--ttft-ms", "20", "--rate", "500", "--seed", "3"]);
    let upstream = format!("http://127.0.0.1:{}", paced.port);
    let args = ["record", "--upstream", &upstream, "--count", "3", "--out", file.to_str().unwrap()];
    let mut proxy = Sim::start(&[&args[..], more].concat());
    let first = text(&proxy.post("/api/generate", &generate(1, 12)));
    assert!(proxy.post("/api/generate", &json!({"model": "other"})).contains("not found"));
    proxy.post("/v1/chat/completions", &chat(5));
    proxy.post("/api/generate", &generate(2, 7));
    assert!(proxy.child.wait().unwrap().success());
    let text = fs::read_to_string(file).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), first)
}

fn integers(value: &Value) -> Vec<i64> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn what_was_recorded_is_replayed_to_the_nanosecond() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("trace.jsonl");
    let (replies, first) = recorded(&file, &[]);
    let steps = |reply: &Value| reply["steps"].as_array().unwrap().clone();
    let counts: Vec<usize> = replies.iter().map(|reply| steps(reply).len()).collect();
    assert_eq!(counts, [12, 5, 7], "a refusal is no reply");
    let texts: String =
        steps(&replies[0]).iter().map(|step| step["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, first);
    assert!(steps(&replies[0])[0]["gap_ns"].as_u64().unwrap() >= 20_000_000, "{}", replies[0]);

    // The schedule, as the ledger of a replay has it: stamp less error is when a token was due.
    let mut server = Sim::start(&["--ports", "0", "--control", "stdin"]);
    let spec = json!({
        "mode": "free", "model": "paced", "ttft_ms": {"median": 9.0, "sigma_log": 0.0},
        "rate_tokens_per_s": [1.0], "trace": replies,
    });
    let begun = server.control(&json!({"begin": {"run": "r", "server": spec}}));
    assert_eq!(begun, json!({"ready": "r"}));
    for _ in 0..4 {
        server.post("/api/generate", &json!({"model": "paced", "prompt": "p"}));
    }
    let calls = server.control(&json!({"collect": "r"}))["ledger"]["calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 4);
    for (call, turn) in calls.as_array().unwrap().iter().zip([0, 1, 2, 0]) {
        let mut before = call["received_ns"].as_i64().unwrap();
        let stamps = integers(&call["sent_ns"]).into_iter().zip(integers(&call["pacing_error_ns"]));
        let gaps = stamps.map(|(sent, error)| {
            let due = sent - error;
            due - std::mem::replace(&mut before, due)
        });
        let traced = steps(&replies[turn]).into_iter().map(|step| step["gap_ns"].as_i64().unwrap());
        assert_eq!(gaps.collect::<Vec<_>>(), traced.collect::<Vec<_>>(), "reply {turn}");
    }

    let replay = Sim::start(&["--ports", "0", "--trace", file.to_str().unwrap()]);
    assert_eq!(text(&replay.post("/api/generate", &generate(9, 12))), first);
}

#[test]
fn texts_are_left_out_where_they_are_nobodys_business() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("trace.jsonl");
    let (replies, first) = recorded(&file, &["--without-text"]);
    assert!(!fs::read_to_string(&file).unwrap().contains("\"text\""));
    let steps = replies[0]["steps"].as_array().unwrap().iter();
    let bytes: u64 = steps.map(|step| step["text_bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, first.len() as u64);
    let replay = Sim::start(&["--ports", "0", "--trace", file.to_str().unwrap()]);
    let said = text(&replay.post("/api/generate", &generate(9, 12)));
    assert_eq!(said, "x".repeat(first.len()));
}

#[test]
fn what_can_be_neither_recorded_nor_replayed_is_refused_in_one_sentence() {
    let world = TempDir::new().unwrap();
    let there = world.path().join("there");
    fs::write(&there, "no trace\n").unwrap();
    let (there, new) = (there.to_str().unwrap(), world.path().join("new"));
    let paced = Sim::start(&["--ports", "0"]);
    let upstream = format!("http://127.0.0.1:{}", paced.port);
    let record = |upstream, out| ["record", "--upstream", upstream, "--out", out];
    for (args, expected) in [
        (&record("localhost", "x")[..], "write it as http://HOST:PORT"),
        (&record("http://127.0.0.1:1", new.to_str().unwrap()), "nobody answers there; start it"),
        (&record(&upstream, there), "name a file that does not exist"),
        (&["--trace", there], "line 1 is no reply of a trace; record one"),
        (&["--trace", "none/such"], "--trace none/such: cannot read it"),
        (&["--trace", there, "--rate", "5"], "cannot be used with"),
        (&["--streams", "90000"], "--streams 90000 cannot be had"),
    ] {
        let _attack = Attack::on("servers", &format!("lab sim of which is said: {expected}"));
        let output =
            Command::new(env!("CARGO_BIN_EXE_lab")).arg("sim").args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{args:?}: {said}");
    }
    assert!(!new.exists());
}
