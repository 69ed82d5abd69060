//! `lab sim calibrate`: a load generator's report against the server's stamps.

use std::{
    net::{Ipv4Addr, TcpListener},
    time::Duration,
};

use lab_console::interruption;
use lab_process::{Answer, Limits, Run, Unfinished};
use lab_sim::{CalibrateArgs, Served, Server};
use serde_json::{Value, json};

use crate::{Exit, Failure};

/// Stands for the server's address in the command.
const URL: &str = "{url}";
/// A generator's report is far shorter.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// So much of its complaints stands in a sentence.
const EXCERPT_CHARS: usize = 200;

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    if !args.command.contains(URL) {
        let why =
            "the generator could not know the server's address; write {url} where it takes it";
        return Err(Failure::input(format!("CMD has no {URL}: {why}")));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|error| Failure::lab(format!("cannot listen on 127.0.0.1: {error}")))?;
    let server = Server::start(vec![listener])?;
    server.begin("calibrate", args.spec()).map_err(|error| Failure::input(format!("{error:#}")))?;
    let answer = generate(args, &server)?;
    let ledger = server.collect("calibrate")?;
    let served = Served::of(&ledger);
    check(&served, ledger.refused, &server, &answer)?;
    let said = reported(&answer.stdout);
    if args.json {
        println!("{}", report(args, &served, &answer, said.as_ref()));
    } else {
        print(args, &served, &answer, said.as_ref());
    }
    Ok(Exit::Success)
}

/// Runs the generator to its end, or to the end of what it may ask.
fn generate(args: &CalibrateArgs, server: &Server) -> Result<Answer, Failure> {
    let url = format!("http://127.0.0.1:{}", server.ports()[0]);
    let run = Run::of("sh", ["-c".to_owned(), args.command.replace(URL, &url)]);
    let limits = Limits { time: Duration::from_secs(args.limit_s), output_bytes: OUTPUT_BYTES_MAX };
    server.bound_replies(args.requests_max);
    let answer = run.ask_until(limits, &*interruption()?);
    if server.is_flooded() {
        return Err(Failure::failed(format!(
            "the generator floods: it made more than {} requests; give it a number of requests, \
             or a larger --requests-max",
            args.requests_max
        )));
    }
    answer.map_err(|unfinished| match unfinished {
        Unfinished::Interrupted => Failure::interrupted(),
        Unfinished::TooLate(_) => Failure::failed(format!(
            "the generator did not end within {} s and was ended; give it a number of requests, \
             or a larger --limit-s",
            args.limit_s
        )),
        other => Failure::failed(format!("the generator {other}")),
    })
}

/// Refuses what is no load.
fn check(served: &Served, refused: u64, server: &Server, answer: &Answer) -> Result<(), Failure> {
    let excerpt = |bytes: &[u8]| -> String {
        let text = String::from_utf8_lossy(bytes);
        text.trim().chars().take(EXCERPT_CHARS).collect()
    };
    if !answer.status.success() {
        return Err(Failure::failed(format!(
            "the generator failed ({}) after {} requests, and said: {}",
            answer.status,
            served.requests,
            excerpt(&answer.stderr)
        )));
    }
    if server.connections() == 0 {
        let why = "it ended well and never connected; see that it takes the address from {url}";
        return Err(Failure::failed(format!("the generator did not ask the server: {why}")));
    }
    if served.requests == 0 {
        return Err(Failure::failed(format!(
            "the generator connected and got no reply: {refused} requests were refused; see that \
             it asks for the --model, by Ollama's API or by OpenAI's"
        )));
    }
    Ok(())
}

/// What a generator says of itself, in the names that vLLM's benchmark has.
fn reported(stdout: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(stdout);
    let is_known = |value: &Value| value.get("completed").is_some_and(Value::is_u64);
    let whole = serde_json::from_str::<Value>(text.trim()).ok();
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    whole.into_iter().chain(lines).find(is_known)
}

/// The generator's processor time by token, in microseconds.
fn cpu_us_per_token(served: &Served, answer: &Answer) -> f64 {
    let cpu = answer.usage.user + answer.usage.system;
    cpu.as_secs_f64() * 1e6 / served.tokens.max(1) as f64
}

fn tokens_per_s(served: &Served) -> f64 {
    served.tokens as f64 * 1e9 / served.span_ns.max(1) as f64
}

fn report(args: &CalibrateArgs, served: &Served, answer: &Answer, said: Option<&Value>) -> Value {
    json!({
        "requests": served.requests, "complete": served.complete, "tokens": served.tokens,
        "concurrency_asked": args.concurrency, "concurrency_most": served.most_at_once,
        "concurrency_mean": served.mean_at_once, "span_ns": served.span_ns,
        "tokens_per_s": tokens_per_s(served), "first_token_p50_ns": served.first_token_p50_ns,
        "heard_late_p99_ns": served.heard_late_p99_ns, "pacing_p99_ns": served.pacing_p99_ns,
        "generator_cpu_ns": (answer.usage.user + answer.usage.system).as_nanos() as u64,
        "generator_cpu_us_per_token": cpu_us_per_token(served, answer), "generator": said,
    })
}

/// A table: what the server saw, and what the generator says.
fn print(args: &CalibrateArgs, served: &Served, answer: &Answer, said: Option<&Value>) {
    let own = |key: &str| match said.map(|said| &said[key]) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(value) => value.as_f64().map_or("-".to_owned(), |number| {
            format!("{number:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }),
    };
    let asked = args.concurrency.map_or("-".to_owned(), |asked| asked.to_string());
    let ms = |ns: i64| format!("{:.3}", ns as f64 / 1e6);
    println!("{:<26} {:>14} {:>14}", "", "server's stamps", "generator");
    let rows = [
        ("requests, whole", served.complete.to_string(), own("completed")),
        ("requests, broken off", (served.requests - served.complete).to_string(), own("failed")),
        ("tokens", served.tokens.to_string(), own("total_output_tokens")),
        ("at once, most (asked)", served.most_at_once.to_string(), asked),
        ("at once, mean", format!("{:.2}", served.mean_at_once), "-".to_owned()),
        ("tokens/s", format!("{:.1}", tokens_per_s(served)), own("output_throughput")),
        ("first token, median, ms", ms(served.first_token_p50_ns), own("median_ttft_ms")),
        ("request read late, p99, ms", ms(served.heard_late_p99_ns), "-".to_owned()),
        ("token sent late, p99, ms", ms(served.pacing_p99_ns), "-".to_owned()),
    ];
    for (name, server, generator) in rows {
        println!("{name:<26} {server:>14} {generator:>14}");
    }
    println!("generator's CPU time: {:.1} µs a token", cpu_us_per_token(served, answer));
    if said.is_none() {
        println!("its output is no JSON that is known; compare its report with the first column");
    }
}
