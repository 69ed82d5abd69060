//! `lab watch` on replies as today's servers send them: thoughts, blank lines, errors of two
//! shapes, characters in two pieces, and the events of OpenAI's API.

mod answering;

use std::{
    fs,
    process::{Command, Output, Stdio},
    time::Duration,
};

use answering::{Piece, answering, whole};
use serde_json::{Value, json};
use tempfile::TempDir;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\
                    Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
/// A server whose first piece comes at once and whose second does not.
const PAUSE: Duration = Duration::from_millis(40);

/// The pieces as chunks of one body, a pause before each.
fn chunked(pieces: &[Vec<u8>]) -> Vec<Piece> {
    let mut all = vec![(Duration::ZERO, HEAD.as_bytes().to_vec())];
    for piece in pieces {
        let size = format!("{:x}\r\n", piece.len()).into_bytes();
        all.push((PAUSE, [&size[..], piece, b"\r\n"].concat()));
    }
    all.push((Duration::ZERO, b"0\r\n\r\n".to_vec()));
    all
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn said_by_model(key: &str, text: &str) -> Vec<u8> {
    line(&json!({"model": "m:latest", "response": "", "done": false, key: text}))
}

fn done(eval_count: u64) -> Vec<u8> {
    line(&json!({
        "model": "m:latest", "response": "", "done": true, "done_reason": "stop",
        "eval_count": eval_count, "prompt_eval_count": 9, "prompt_eval_cached_count": 4,
        // Rough, and longer than the request takes here.
        "total_duration": 900_000_000, "eval_duration": 600_000_000,
    }))
}

/// What a watch of two rounds said, and the page of metrics that it left.
struct Watched {
    output: Output,
    metrics: String,
}

impl Watched {
    fn of(pieces: Vec<Piece>, more: &[&str]) -> Self {
        let world = TempDir::new().unwrap();
        let metrics = world.path().join("metrics.txt");
        let server = answering(pieces);
        let args = ["watch", "--servers", &server, "--model", "m", "--count", "2", "--json"];
        let output = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(args)
            .args(["--every", "10ms", "--timeout", "30s", "--metrics"])
            .arg(&metrics)
            .args(more)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Self { output, metrics: fs::read_to_string(metrics).unwrap_or_default() }
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The last line of `--json`.
    fn end(&self) -> Value {
        let text = String::from_utf8(self.output.stdout.clone()).unwrap();
        let last = text.lines().last().unwrap_or_else(|| panic!("{}", self.stderr()));
        serde_json::from_str(last).unwrap()
    }

    /// Requests, of which so many failed, and tokens.
    fn counts(&self) -> [u64; 3] {
        let end = self.end();
        ["requests", "failed", "tokens"].map(|key| end[key].as_u64().unwrap())
    }

    /// The sum of a histogram or a counter, over all its labels.
    fn number(&self, name: &str) -> Option<f64> {
        let lines = self.metrics.lines().filter(|line| line.starts_with(&format!("{name}{{")));
        let numbers = lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
        numbers.reduce(|one, other| one + other)
    }
}

#[test]
fn a_thought_comes_first_and_is_counted_and_the_answer_is_told_from_it() {
    let mut pieces = vec![said_by_model("thinking", " hm"); 6];
    pieces.extend(vec![said_by_model("response", " 4"); 3]);
    pieces.push(done(9));
    let watched = Watched::of(chunked(&pieces), &[]);
    assert_eq!(watched.counts(), [2, 0, 18], "{}", watched.stderr());
    assert!(watched.stderr().contains("the model thinks first"), "{}", watched.stderr());
    let first = "gen_ai_server_time_to_first_chunk_seconds_sum";
    let answer = "lab_watch_first_answer_seconds_sum";
    let (first, answer) = (watched.number(first).unwrap(), watched.number(answer).unwrap());
    // Six pieces lie between them.
    assert!(answer > first, "{first} {answer}");
    let chunks = watched.number("gen_ai_server_time_per_output_chunk_seconds_count");
    assert_eq!(chunks, Some(16.0), "thoughts are chunks too");
    let cached = watched.number("lab_watch_prompt_cached_tokens_total");
    assert_eq!((watched.number("lab_watch_prompt_tokens_total"), cached), (Some(18.0), Some(8.0)));
}

#[test]
fn a_reply_of_thought_alone_is_well_and_said_to_be_so() {
    let mut pieces = vec![said_by_model("thinking", " hm"); 5];
    pieces.push(done(5));
    let watched = Watched::of(chunked(&pieces), &[]);
    assert_eq!(watched.counts(), [2, 0, 10], "{}", watched.stderr());
    let said = watched.stderr();
    assert!(said.contains("all 5 tokens went into the thought"), "{said}");
    assert!(said.contains("--think false"), "{said}");
    let first = watched.number("gen_ai_server_time_to_first_chunk_seconds_count");
    assert_eq!(first, Some(2.0));
    assert_eq!(watched.number("lab_watch_first_answer_seconds_count"), None);
}

#[test]
fn replies_without_a_token_are_an_alert_of_their_own() {
    let world = TempDir::new().unwrap();
    let rules = world.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\nmetric = \"empty_rate\"\nover = 0.05\nwindow_s = 60\n").unwrap();
    let watched = Watched::of(chunked(&[done(0)]), &["--rules", rules.to_str().unwrap()]);
    assert_eq!(watched.end()["alerts"], json!(["empty_rate_over_0.05"]), "{}", watched.stderr());
    assert_eq!(watched.counts(), [2, 2, 0]);
    let whole = [said_by_model("response", " 4"), done(1)];
    let watched = Watched::of(chunked(&whole), &["--rules", rules.to_str().unwrap()]);
    assert_eq!(watched.end()["alerts"], json!([]), "{}", watched.stderr());
}

#[test]
fn lines_are_not_tokens_where_the_server_counts() {
    let pieces = [said_by_model("response", " one two three"), done(3)];
    assert_eq!(Watched::of(chunked(&pieces), &[]).counts(), [2, 0, 6]);
}

#[test]
fn blank_lines_and_characters_in_two_pieces_are_no_failure() {
    let blank = |text: &str| text.as_bytes().to_vec();
    let token = said_by_model("response", " a");
    let pieces = [blank("\n"), token.clone(), blank("\r\n\n"), token, done(2), blank("\n")];
    let watched = Watched::of(chunked(&pieces), &[]);
    assert_eq!(watched.counts(), [2, 0, 4], "{}", watched.stderr());

    let whole = said_by_model("response", "\u{65e5}\u{672c}");
    let inside = whole.iter().position(|byte| *byte == 0xe6).unwrap() + 1;
    let (left, right) = whole.split_at(inside);
    let watched = Watched::of(chunked(&[left.to_vec(), right.to_vec(), done(1)]), &[]);
    assert_eq!(watched.counts(), [2, 0, 2], "{}", watched.stderr());
}

#[test]
fn a_failure_has_the_servers_own_sentence() {
    let amid = |error: &Value| chunked(&[said_by_model("response", " a"), line(error)]);
    let at_once = |body: &str| {
        let answer = whole("503 Service Unavailable", body);
        vec![(Duration::ZERO, answer.into_bytes())]
    };
    for (pieces, expected) in [
        (amid(&json!({"error": "the runner has died"})), "an error: the runner has died\n"),
        (
            amid(&json!({"error": {"message": "upstream is gone", "code": 500}})),
            "an error: upstream is gone\n",
        ),
        (at_once("{\"error\":\"busy, try again\"}"), "status 503: busy, try again\n"),
        (at_once("{\"error\":{\"message\":\"overloaded\"}}"), "status 503: overloaded\n"),
        (at_once("no healthy upstream"), "status 503: no healthy upstream\n"),
        (at_once("{\n  \"error\": \"on lines\"\n}"), "status 503: on lines\n"),
    ] {
        let watched = Watched::of(pieces, &[]);
        assert_eq!(watched.counts()[..2], [2, 2], "{expected}");
        assert!(watched.stderr().contains(expected), "{}", watched.stderr());
    }
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

fn delta(key: &str, text: &str) -> Vec<u8> {
    event(&json!({"model": "m", "choices": [{"index": 0, "delta": {key: text}}]}))
}

#[test]
fn a_server_of_openais_api_is_watched_too() {
    let usage = json!({
        "completion_tokens": 7, "prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 3},
    });
    let pieces = [
        b": waking up\n\n".to_vec(),
        delta("reasoning_content", "so"),
        delta("content", " one two"),
        delta("content", " three four"),
        event(&json!({"model": "m", "choices": [{"delta": {}, "finish_reason": "length"}]})),
        event(&json!({"model": "m", "choices": [], "usage": usage})),
        b"data: [DONE]\n\n".to_vec(),
    ];
    let openai = ["--api", "openai"];
    let watched = Watched::of(chunked(&pieces), &openai);
    assert_eq!(watched.counts(), [2, 0, 14], "{}", watched.stderr());
    assert!(watched.stderr().contains("the model thinks first"), "{}", watched.stderr());
    assert!(watched.metrics.contains("gen_ai_provider_name=\"openai\""), "{}", watched.metrics);
    assert_eq!(watched.number("lab_watch_prompt_cached_tokens_total"), Some(6.0));

    let watched = Watched::of(chunked(&pieces[..5]), &openai);
    assert_eq!(watched.counts()[..2], [2, 2]);
    let expected = "the reply ended without `[DONE]`, after 3 tokens";
    assert!(watched.stderr().contains(expected), "{}", watched.stderr());

    let watched = Watched::of(chunked(&pieces), &["--api", "openai", "--think", "false"]);
    assert_eq!(watched.output.status.code(), Some(2));
    assert!(watched.stderr().contains("--think is a key of Ollama's"), "{}", watched.stderr());
}
