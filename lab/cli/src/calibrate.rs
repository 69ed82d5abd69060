//! `lab sim calibrate`: a load generator's report against the server's stamps.

mod reported;
mod rows;

use std::{
    net::{Ipv4Addr, TcpListener},
    time::{Duration, SystemTime},
};

use lab_console::interruption;
use lab_process::{Answer, Limits, Run, Unfinished};
use lab_sim::{CalibrateArgs, Served, Server};
use serde_json::{Value, json};

use self::rows::Row;
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
    let mut runs = Vec::new();
    for _ in 0..args.runs {
        let run = measured(args)?;
        if args.json {
            println!("{}", report(args, &run));
        }
        runs.push(run);
    }
    if !args.json {
        print(&runs);
    }
    Ok(Exit::Success)
}

/// What both sides say of a run.
struct Measured {
    served: Served,
    /// The generator, where its report is of a known one.
    tool: Option<&'static str>,
    rows: Vec<Row>,
    cpu: Duration,
}

fn measured(args: &CalibrateArgs) -> Result<Measured, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|error| Failure::lab(format!("cannot listen on 127.0.0.1: {error}")))?;
    let server = Server::start(vec![listener])?;
    server.begin("calibrate", args.spec()).map_err(|error| Failure::input(format!("{error:#}")))?;
    let began = SystemTime::now();
    let answer = generate(args, &server)?;
    let ledger = server.collect("calibrate")?;
    let served = Served::of(&ledger);
    check(&served, ledger.refused, &server, &answer)?;
    let reported = match &args.report {
        Some(path) => reported::of_file(path, began)?,
        None => reported::of_output(&answer.stdout),
    };
    let rows = rows::rows(&served, args.concurrency, reported.as_ref());
    let tool = reported.map(|reported| reported.tool);
    Ok(Measured { served, tool, rows, cpu: answer.usage.user + answer.usage.system })
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

impl Measured {
    /// The generator's processor time by token, in microseconds.
    fn cpu_us_per_token(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.served.tokens.max(1) as f64
    }
}

fn report(args: &CalibrateArgs, run: &Measured) -> Value {
    let served = &run.served;
    json!({
        "requests": served.requests, "complete": served.complete, "tokens": served.tokens,
        "concurrency_asked": args.concurrency, "concurrency_most": served.most_at_once,
        "concurrency_mean": served.mean_at_once, "span_ns": served.span_ns,
        "heard_late_p99_ns": served.heard_late_p99_ns, "pacing_p99_ns": served.pacing_p99_ns,
        "generator_cpu_ns": run.cpu.as_nanos() as u64,
        "generator_cpu_us_per_token": run.cpu_us_per_token(), "generator": run.tool,
        "quantities": run.rows.iter().map(Row::json).collect::<Value>(),
    })
}

/// A table: what the server saw, and what the generator says.
fn print(runs: &[Measured]) {
    let median = |of: &dyn Fn(&Measured) -> f64| rows::median(runs.iter().map(of).collect());
    println!("{}", rows::table(&runs.iter().map(|run| &run.rows[..]).collect::<Vec<_>>()));
    let late = median(&|run| run.served.heard_late_p99_ns as f64 / 1e6);
    let sent = median(&|run| run.served.pacing_p99_ns as f64 / 1e6);
    println!("server late, p99: {late:.3} ms to read a request, {sent:.3} ms to send a token");
    let broken = median(&|run| (run.served.requests - run.served.complete) as f64);
    println!("requests broken off: {broken}");
    println!("generator's CPU time: {:.1} µs a token", median(&Measured::cpu_us_per_token));
    if runs.iter().all(|run| run.tool.is_none()) {
        println!("its report is no JSON that is known; compare it with the server's column");
    }
}
