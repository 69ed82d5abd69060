//! `lab watch`: servers, or a recorded run, against thresholds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use clap::{Args, ValueEnum};
use humantime::parse_duration;
use lab_console::exit_codes;
use lab_driver::{DriverError, check_servers};
use lab_site::records::load;
use lab_watch::{
    Api, Asking, Call, Change, Endpoint, Event, Exposition, Live, Moment, NotJudged, OnAlert,
    Origin, PUBLISHED, Rule, SCHEMA, Seen, Severity, Watch, WatchError, check_openai, only_model,
    published, recorded, rules,
};
use serde_json::{Map, Value, json};

use crate::{
    Exit, Failure, interruption,
    paths::{self, Paths},
};

/// Without --rules the thresholds are those of TR115, section 9.4, and three of ours: failures in a
/// row, no answer for a minute, empty replies. Alerts go to standard output, a line each; why
/// requests failed, and which rules had too few requests to be judged, goes to standard error.
#[derive(Args)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct WatchArgs {
    /// Results folder, or a folder of reports/, to read in the order of time
    #[arg(value_name = "DIR", conflicts_with = "servers")]
    #[arg(required_unless_present_any = ["servers", "print_rules"])]
    dir: Option<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    /// Rules to take in place of the published ones (TOML; --print-rules shows those)
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Print the published rules, a file to begin with
    #[arg(long, exclusive = true)]
    print_rules: bool,
    /// Serve http://ADDRESS/metrics to a Prometheus on this machine; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", requires = "servers")]
    listen: Option<SocketAddr>,
    /// Write the metrics into a file, as OpenMetrics: after each round, or at the record's end
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Command for `sh`, run when an alert fires and when it is resolved, with the alert as JSON on
    /// its standard input
    #[arg(long, value_name = "CMD")]
    on_alert: Option<String>,
    /// How long that command may take before it is ended
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    on_alert_limit: Duration,
    /// Print JSON, a line for each alert and one at the end
    #[arg(long)]
    json: bool,
}

/// Whom to ask and how.
#[derive(Args)]
struct LiveArgs {
    /// Servers to ask, http://HOST:PORT; one small request goes to each per round, and has failed
    /// where its reply is empty, cut, redirected, of another model, or says what cannot be
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    servers: Vec<String>,
    /// Model to ask for [default: the only one of the first server]
    #[arg(long, requires = "servers")]
    model: Option<String>,
    /// What the servers speak
    #[arg(long, value_enum, default_value = "ollama")]
    api: Speech,
    /// Tell an Ollama model to think first, or not to; without it the model decides. Times to the
    /// first token are those of a thought where there is one, `first_answer_p50_s` is after it
    #[arg(long, value_name = "BOOL", requires = "servers")]
    think: Option<bool>,
    /// Time from one round to the next
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    every: Duration,
    /// Begin no round later than this; without it and --count it ends at Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, requires = "servers")]
    within: Option<Duration>,
    /// End after so many rounds
    #[arg(long, value_name = "N", requires = "servers")]
    count: Option<u64>,
    /// Ask the servers one after the other in each Nth round, for the metrics named `…_true`; 0 is
    /// never
    #[arg(long, value_name = "N", default_value_t = 10)]
    alone_every: u32,
    /// Length of a reply in tokens, at most
    #[arg(long, value_name = "N", default_value_t = 32)]
    tokens: u32,
    /// Request options as your clients send them: a server reloads its model for another num_ctx
    /// or num_gpu
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
    options: Map<String, Value>,
    /// A request that takes longer has failed
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
}

/// What a server speaks.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Speech {
    /// Ollama's /api/generate
    Ollama,
    /// OpenAI's /v1/chat/completions, as many servers have it
    Openai,
}

const CODES: [(Exit, &str); 6] = [
    (Exit::Success, "no rule with the severity `alert` fired"),
    (Exit::Fired, "one did"),
    (
        Exit::Input,
        "the command line or the rules are wrong, or the record holds no calls to servers",
    ),
    (Exit::Server, "a server is not usable when the watch begins"),
    (Exit::File, "the record or the file of metrics cannot be read or written"),
    (Exit::Interrupted, "interrupted, and no alert fired"),
];

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))
}

pub(crate) fn watch(args: &WatchArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    if args.print_rules {
        print!("{PUBLISHED}");
        return Ok(Exit::Success);
    }
    let rules = match &args.rules {
        Some(file) => {
            let shown = file.display().to_string();
            rules(&shown, &paths::read(file, &shown)?)?
        }
        None => published(),
    };
    match &args.dir {
        Some(dir) => of_record(args, rules, &paths.map_or(dir.clone(), |p| p.results(dir))),
        None => of_servers(args, rules),
    }
}

fn of_record(args: &WatchArgs, rules: Vec<Rule>, dir: &Path) -> Result<Exit, Failure> {
    let moments = recorded(&load::results(dir)?).map_err(|error| match error {
        WatchError::Input(error) => Failure::from(error),
        WatchError::Record(error) => Failure::from(error),
    })?;
    let interrupted = interruption()?;
    let mut session = Session::new(args, rules, Origin::Record, &interrupted)?;
    for moment in &moments {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        session.take(moment);
    }
    session.show()?;
    session.finish(&interrupted)
}

fn of_servers(args: &WatchArgs, rules: Vec<Rule>) -> Result<Exit, Failure> {
    let mut asking = asking(&args.live)?;
    if asking.model.is_empty() {
        asking.model = only_model(&asking.servers[0], asking.api).map_err(DriverError::Server)?;
        eprintln!("lab: asks for {}, the only model of {}", asking.model, asking.servers[0]);
    }
    match asking.api {
        Api::Ollama => drop(check_servers(&asking.servers, &asking.model)?),
        Api::Openai => {
            check_openai(&asking.servers, &asking.model).map_err(DriverError::Server)?;
        }
    }
    let interrupted = interruption()?;
    let origin = Origin::Servers { model: asking.model.clone(), api: asking.api };
    let mut session = Session::new(args, rules, origin, &interrupted)?;
    let mut live = Live::new(asking);
    while let Some(moment) = live.next(&interrupted) {
        session.take(&moment);
        session.show()?;
    }
    session.finish(&interrupted)
}

fn asking(args: &LiveArgs) -> Result<Asking, Failure> {
    let trimmed = |server: &String| server.trim_end_matches('/').to_owned();
    let servers: Vec<String> = args.servers.iter().map(trimmed).collect();
    for (place, server) in servers.iter().enumerate() {
        let named = |what: &str| Failure::input(format!("--servers: `{server}` {what}"));
        if !server.starts_with("http://") {
            return Err(named("is no address; write it as http://HOST:PORT"));
        }
        if servers[..place].contains(server) {
            return Err(named("stands there twice; name each server once"));
        }
    }
    let api = match args.api {
        Speech::Ollama => Api::Ollama,
        Speech::Openai => Api::Openai,
    };
    if api == Api::Openai && args.think.is_some() {
        let how =
            "give what your server takes with --options, e.g. '{\"reasoning_effort\":\"none\"}'";
        return Err(Failure::input(format!("--think is a key of Ollama's requests; {how}")));
    }
    Ok(Asking {
        servers,
        api,
        think: args.think,
        model: args.model.clone().unwrap_or_default(),
        options: args.options.clone(),
        tokens: args.tokens.max(1),
        every: args.every,
        rounds: args.count,
        within: args.within,
        alone_every: args.alone_every,
        limit: args.timeout,
    })
}

/// A watch that goes on, and everybody who is told of it.
struct Session {
    watch: Watch,
    exposition: Exposition,
    endpoint: Option<Endpoint>,
    file: Option<PathBuf>,
    on_alert: Option<OnAlert>,
    json: bool,
    rounds: u64,
    requests: u64,
    failed: u64,
    tokens: u64,
    /// Whose thoughts were spoken of.
    thinkers: BTreeSet<String>,
}

impl Session {
    fn new(
        args: &WatchArgs,
        rules: Vec<Rule>,
        origin: Origin,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let endpoint = args.listen.map(open).transpose()?;
        let on_alert = args.on_alert.clone().map(|command| {
            let complain = |complaint| eprintln!("lab: {complaint}");
            OnAlert::start(command, args.on_alert_limit, Arc::clone(interrupted), complain)
        });
        Ok(Self {
            exposition: Exposition::new(&rules, origin),
            watch: Watch::new(rules),
            endpoint,
            file: args.metrics.clone(),
            on_alert,
            json: args.json,
            rounds: 0,
            requests: 0,
            failed: 0,
            tokens: 0,
            thinkers: BTreeSet::new(),
        })
    }

    fn take(&mut self, moment: &Moment) {
        self.count(moment);
        let events = self.watch.take(moment);
        self.exposition.take(moment, &self.watch, &events);
        events.iter().for_each(|event| self.tell(event));
    }

    fn count(&mut self, moment: &Moment) {
        self.rounds += 1;
        for (subject, seen) in &moment.seen {
            let Seen::Call(call) = seen else { continue };
            self.requests += 1;
            self.tokens += call.tokens;
            if call.thought && self.thinkers.insert(subject.clone()) {
                eprintln!("lab: {subject}: {}", of_thought(call));
            }
            if let Some(reason) = &call.reason {
                self.failed += 1;
                eprintln!("lab: +{:.1} s {subject}: {reason}", moment.at_ns as f64 / 1e9);
            }
        }
    }

    fn tell(&self, event: &Event) {
        match self.json {
            true => println!("{}", json!(event)),
            false => println!("{event}"),
        }
        let is_told = event.severity == Severity::Alert && event.state != Change::Pending;
        if let Some(on_alert) = self.on_alert.as_ref().filter(|_| is_told) {
            on_alert.tell(event);
        }
    }

    /// Puts the metrics where they are read.
    fn show(&self) -> Result<(), Failure> {
        if self.endpoint.is_none() && self.file.is_none() {
            return Ok(());
        }
        let text = self.exposition.text(&self.watch);
        if let Some(file) = &self.file {
            write_whole(file, &text)?;
        }
        if let Some(endpoint) = &self.endpoint {
            endpoint.show(text);
        }
        Ok(())
    }

    fn finish(mut self, interrupted: &AtomicBool) -> Result<Exit, Failure> {
        if let Some(on_alert) = self.on_alert.take() {
            on_alert.finish();
        }
        let named = |severity| self.watch.fired(severity).map(Rule::name).collect::<Vec<_>>();
        let (alerts, warnings) = (named(Severity::Alert), named(Severity::Warning));
        let exit = match (alerts.is_empty(), interrupted.load(Ordering::Relaxed)) {
            (false, _) => Exit::Fired,
            (true, true) => Exit::Interrupted,
            (true, false) => Exit::Success,
        };
        let not_judged = self.watch.not_judged();
        let Self { rounds, requests, failed, tokens, .. } = self;
        if self.json {
            let end = json!({
                "schema": SCHEMA, "state": "end", "rounds": rounds, "requests": requests,
                "failed": failed, "tokens": tokens, "alerts": alerts, "warnings": warnings,
                "not_judged": not_judged, "exit": exit.code(),
            });
            println!("{end}");
        } else {
            not_judged_lines(&not_judged).iter().for_each(|line| eprintln!("{line}"));
            let list = |names: &[String]| match names {
                [] => "none".to_owned(),
                names => names.join(", "),
            };
            eprintln!(
                "{rounds} rounds, {requests} requests, {failed} failed; alerts: {}; warnings: {}",
                list(&alerts),
                list(&warnings)
            );
        }
        Ok(exit)
    }
}

/// A line for each subject and number of observations, with the rules that needed more.
fn not_judged_lines(left: &[NotJudged]) -> Vec<String> {
    let mut by_lack = BTreeMap::<_, Vec<String>>::new();
    for NotJudged { rule, subject, had, needs } in left {
        let of = subject.unwrap_or("anybody");
        let lack = format!("{had} {} of {of} where {needs} are needed", rule.metric.counts());
        by_lack.entry(lack).or_default().push(rule.name());
    }
    let line =
        |(lack, rules): (String, Vec<String>)| format!("not judged, {lack}: {}", rules.join(", "));
    by_lack.into_iter().map(line).collect()
}

/// What a thinking model's times are of, said once for each server.
fn of_thought(call: &Call) -> String {
    let first = call.first_token_s.unwrap_or_default();
    match call.first_answer_s {
        Some(answer) => format!(
            "the model thinks first: its first token came after {first:.3} s, the first of its \
             answer after {answer:.3} s; --think false asks it not to think"
        ),
        None => format!(
            "the model thinks, and all {} tokens went into the thought, of which the first came \
             after {first:.3} s; --think false asks it not to think, --tokens for a longer reply",
            call.tokens
        ),
    }
}

fn open(address: SocketAddr) -> Result<Endpoint, Failure> {
    let endpoint = Endpoint::open(address);
    let endpoint = endpoint
        .map_err(|error| Failure::input(format!("--listen {address}: cannot listen: {error}")))?;
    eprintln!("lab: metrics at http://{}/metrics", endpoint.address());
    Ok(endpoint)
}

/// Writes beside and renames, so that no reader ever sees half a page.
fn write_whole(file: &Path, text: &str) -> Result<(), Failure> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(beside, file));
    written.map_err(|error| {
        Failure::files(format!("--metrics {}: cannot write it: {error}", file.display()))
    })
}
