//! The command line of `lab sim`.

use std::io::{stdin, stdout};
use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum, value_parser};

use crate::check;
use crate::faults::{Fault, FaultKind};
use crate::limits;
use crate::measure::{self, Load};
use crate::record::{self, RecordArgs};
use crate::server::{Server, serve};
use crate::spec::{LogNormalMs, Mode, ServerSpec};
use crate::trace;

/// Of --measure, where nothing else is said.
const STREAMS_MEASURED: u32 = 2;

/// Where the server takes its instructions from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ControlInput {
    /// JSON lines on standard input; the server exits when it closes.
    Stdin,
    /// The flags; the server runs until it is interrupted.
    None,
}

/// What else the server's command does.
#[derive(Debug, Clone, Subcommand)]
pub enum Action {
    /// Record the token times of a real server, for --trace
    Record(RecordArgs),
    /// Hold a load generator's report against the server's stamps
    Calibrate(CalibrateArgs),
}

/// Hold a load generator's report against the server's stamps
///
/// Runs the generator against a paced server on a free port and prints what the server saw:
/// requests, how many at once, rate, times, and what the generator's own CPU time is by token.
/// Beside it stands what the generator says, and how far that is off, where its report is JSON that
/// is known (aiperf, guidellm, inference-perf, k6, oha, vLLM's benchmark, a client's of the lab).
#[derive(Debug, Clone, Args)]
pub struct CalibrateArgs {
    /// The generator, for `sh`; {url} becomes http://127.0.0.1:PORT
    #[arg(value_name = "CMD")]
    pub command: String,
    /// Requests at once that it is told to keep up
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
    /// Model that it asks for
    #[arg(long, default_value = "paced")]
    pub model: String,
    /// Time to first token, in milliseconds
    #[arg(long, default_value_t = 200.0)]
    pub ttft_ms: f64,
    /// Tokens per second and stream
    #[arg(long, default_value_t = 100.0)]
    pub rate: f64,
    /// Standard deviation of the logarithm of both times, so that streams leave each other's step
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0)]
    pub spread: f64,
    /// Tokens that leave together
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub tokens_per_chunk: usize,
    /// File that it writes its report into [default: its output is the report]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Runs, one after the other: the table has their medians, and from six on the error's interval
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// It is ended after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub limit_s: u64,
    /// It floods, which is an error, where it makes more requests; those get no reply
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub requests_max: u64,
    /// Print JSON, a line a run
    #[arg(long)]
    pub json: bool,
}

impl CalibrateArgs {
    /// What the server does: no request feels another.
    pub fn spec(&self) -> ServerSpec {
        ServerSpec {
            mode: Mode::Free,
            model: self.model.clone(),
            ttft_ms: LogNormalMs { median: self.ttft_ms, sigma_log: self.spread },
            rate_tokens_per_s: vec![self.rate],
            itl_sigma_log: self.spread,
            time_scale: 1.0,
            default_seed: None,
            thinking_tokens: 0,
            tool_call: false,
            tokens_per_chunk: self.tokens_per_chunk,
            trace: Vec::new(),
            faults: Vec::new(),
        }
    }
}

/// Run the paced server, which speaks Ollama's API and OpenAI's
///
/// Every token leaves on a schedule and carries the time at which it was written, `sent_ns`
/// (CLOCK_MONOTONIC in nanoseconds), in each line of Ollama's API and in each event of OpenAI's.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SimArgs {
    /// Something else than serving
    #[command(subcommand)]
    pub action: Option<Action>,
    /// Ports, one server each; 0 takes a free port
    #[arg(long, value_delimiter = ',', default_value = "11434,11435")]
    pub ports: Vec<u16>,
    /// Address to listen on; use 0.0.0.0 in a container
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// Print the version of the server at this address and exit (health check)
    #[arg(long, value_name = "HOST:PORT")]
    pub check: Option<String>,
    /// Where runs are started and collected
    #[arg(long, value_enum, default_value = "none")]
    pub control: ControlInput,
    /// How requests share the server
    #[arg(long, value_enum, default_value = "shared_gpu")]
    pub mode: Mode,
    /// Time to first token of a lone request, in milliseconds
    #[arg(long, default_value_t = 200.0)]
    pub ttft_ms: f64,
    /// Tokens per second and stream at 1, 2, … active requests
    #[arg(long, value_delimiter = ',', default_value = "108,41")]
    pub rate: Vec<f64>,
    /// Model name
    #[arg(long, default_value = "paced")]
    pub model: String,
    /// Factor on all times; 0.01 is a hundred times faster
    #[arg(long, default_value_t = 1.0)]
    pub time_scale: f64,
    /// Seed of requests without one
    #[arg(long, default_value_t = 0)]
    pub seed: i64,
    /// Replay the token times that `lab sim record` has written to this file, reply by reply and
    /// from the beginning again, to the nanosecond
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "mode", "ttft_ms", "rate", "time_scale", "thinking_tokens", "tokens_per_chunk", "measure",
    ])]
    pub trace: Option<PathBuf>,
    /// So many tokens of each reply are thought before the answer
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub thinking_tokens: usize,
    /// End each chat that offers tools by calling the first of them
    #[arg(long)]
    pub tool_call: bool,
    /// Tokens that leave together; a request may ask for others by the key `tokens_per_chunk`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub tokens_per_chunk: usize,
    /// Break each reply off with an error line after so many tokens
    #[arg(long, value_name = "TOKENS")]
    pub error_after: Option<usize>,
    /// Measure the pacing error in N runs of 3 seconds, print it and exit
    #[arg(long, value_name = "N")]
    pub measure: Option<u32>,
    /// Streams that it must be able to hold at once, or it does not begin; with --measure so many
    /// are made, 2 by default
    #[arg(long, value_name = "N")]
    pub streams: Option<u32>,
    /// Tokens per second and stream of --measure
    #[arg(long, default_value_t = 100.0, requires = "measure")]
    pub measure_rate: f64,
}

/// Runs `lab sim`.
///
/// # Errors
/// A port that is taken, a checked server that does not answer,
/// flags that no server could follow, a control stream that breaks.
pub fn run(args: SimArgs) -> anyhow::Result<()> {
    match &args.action {
        Some(Action::Record(args)) => return record::run(args),
        // It starts a program, which the caller can.
        Some(Action::Calibrate(_)) => bail!("calibrate is run by the caller"),
        None => {}
    }
    if let Some(runs) = args.measure {
        let streams = args.streams.unwrap_or(STREAMS_MEASURED);
        let load = Load { streams, rate_tokens_per_s: args.measure_rate };
        limits::check(streams, 2)?;
        return measure::print(runs, load, &mut stdout().lock());
    }
    if let Some(address) = &args.check {
        return check::print(address, &mut stdout().lock());
    }
    limits::check(args.streams.unwrap_or(0), 1)?;
    let listeners = bind(args.listen, &args.ports)?;
    match args.control {
        ControlInput::Stdin => serve(listeners, stdin().lock(), stdout()),
        ControlInput::None => serve_flags(listeners, args),
    }
}

pub(crate) fn bind(address: IpAddr, ports: &[u16]) -> anyhow::Result<Vec<TcpListener>> {
    ports
        .iter()
        .map(|port| {
            TcpListener::bind((address, *port))
                .with_context(|| format!("failed to listen on {address}:{port}, try --ports 0,0"))
        })
        .collect()
}

fn error_after(tokens: usize) -> Fault {
    let after_tokens = Some(tokens);
    Fault { kind: FaultKind::ErrorLine, after_tokens, port_index: None, every: None }
}

fn serve_flags(listeners: Vec<TcpListener>, args: SimArgs) -> anyhow::Result<()> {
    let trace = args.trace.as_deref().map(trace::read).transpose()?.unwrap_or_default();
    let server = Server::start(listeners)?;
    let spec = ServerSpec {
        // Replies of a trace do not share anything that it did not record.
        mode: if trace.is_empty() { args.mode } else { Mode::Free },
        trace,
        model: args.model,
        ttft_ms: LogNormalMs { median: args.ttft_ms, sigma_log: 0.0 },
        rate_tokens_per_s: args.rate,
        itl_sigma_log: 0.0,
        time_scale: args.time_scale,
        default_seed: Some(args.seed),
        thinking_tokens: args.thinking_tokens,
        tool_call: args.tool_call,
        tokens_per_chunk: args.tokens_per_chunk,
        faults: args.error_after.map(error_after).into_iter().collect(),
    };
    let model = spec.model.clone();
    // Whoever reads the ports may ask at once.
    server.begin_unrecorded("flags", spec)?;
    println!("{}", serde_json::json!({"ports": server.ports()}));
    let url = |port: &u16| format!("http://127.0.0.1:{port}");
    let urls: Vec<String> = server.ports().iter().map(url).collect();
    eprintln!(
        "serving model {model:?}, Ctrl-C ends; watch it with: lab watch --servers {}",
        urls.join(",")
    );
    loop {
        // Interrupts end the process; nothing else wakes this thread for good.
        std::thread::park();
    }
}
