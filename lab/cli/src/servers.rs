//! `lab servers`: starts, checks and stops the two real servers of an experiment.

use std::{
    env,
    path::PathBuf,
    process::{self, ExitCode},
    str::FromStr,
    sync::Arc,
    sync::atomic::AtomicBool,
};

use clap::{Args, Subcommand, ValueEnum};
use lab_driver::{Pair, Raised};
use serde_json::json;

use crate::{Failure, paths::Paths};

const INTERRUPTED: u8 = 130;

/// Start, check or stop two Ollama servers
#[derive(Args)]
pub(crate) struct ServersArgs {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Start both, load the model and print the command to measure against them
    Up(UpArgs),
    /// Stop the servers that `up` started, and no others
    Down,
    /// Print which servers answer; exit code 1 if one does not
    Status,
}

#[derive(Args)]
struct UpArgs {
    /// How to run the servers
    #[arg(long, value_enum, default_value = "native")]
    with: Way,
    /// Two ports on 127.0.0.1
    #[arg(long, value_parser = two::<u16>, default_value = "11434,11435")]
    ports: [u16; 2],
    /// Model name. native: the model of tools/ollama; else a model of Ollama's library, or any name
    /// if containers/import has a Modelfile
    #[arg(long, default_value = "smollm2")]
    model: String,
    /// Image for `--with containers`; containers/ollama/Containerfile builds the default
    #[arg(long, default_value = "localhost/lab-ollama:v0.17.4")]
    image: String,
    /// GPU index per server (`0,1`; `0,0` shares one) [default: CPU]
    #[arg(long, value_parser = two::<String>, value_name = "CARD,CARD")]
    cards: Option<[String; 2]>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// As local programs, built and started by tools/ollama
    Native,
    /// As two podman containers
    Containers,
    /// From containers/compose.yaml, by docker compose or podman-compose
    Compose,
}

pub(crate) fn servers(args: &ServersArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    let state = state()?;
    match &args.action {
        Action::Up(up) => {
            let pair = pair(up, paths)?;
            match pair.clone().up(&state, &*interrupt()?)? {
                Raised::Up => print_up(&pair, args.json),
                Raised::Interrupted => {
                    eprintln!("interrupted; the servers are stopped");
                    return Ok(ExitCode::from(INTERRUPTED));
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Down => {
            let recorded = Pair::recorded(&state)?;
            if let Some(pair) = &recorded {
                pair.end(&state)?;
            }
            let ended = recorded.map(|pair| pair.servers()).unwrap_or_default();
            if args.json {
                println!("{}", json!({ "ended": ended }));
            } else if ended.is_empty() {
                println!("no servers are recorded; there is nothing to stop");
            } else {
                println!("stopped {}", ended.join(" and "));
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Status => Ok(print_status(Pair::recorded(&state)?.as_ref(), args.json)),
    }
}

fn pair(args: &UpArgs, paths: &Paths) -> Result<Pair, Failure> {
    let ports = args.ports;
    if ports[0] == ports[1] || ports.contains(&0) {
        return Err(Failure::input("--ports: give two different ports above 0"));
    }
    let with = match args.with {
        Way::Native => lab_driver::With::Native,
        Way::Containers => lab_driver::With::Containers,
        Way::Compose => lab_driver::With::Compose,
    };
    if args.cards.is_some() && args.with == Way::Native {
        return Err(Failure::input(
            "--cards: tools/ollama builds without CUDA; use --with containers or --with compose",
        ));
    }
    Ok(Pair {
        with,
        ports,
        model: args.model.clone(),
        image: args.image.clone(),
        cards: args.cards.clone(),
        root: paths.root.clone(),
        id: process::id(),
        compose: Vec::new(),
    })
}

/// `A,B`, one for each server.
fn two<T: FromStr>(text: &str) -> Result<[T; 2], String> {
    let pair = text.split_once(',').and_then(|(a, b)| Some([a.parse().ok()?, b.parse().ok()?]));
    pair.ok_or_else(|| "expected two values: A,B".to_owned())
}

/// Beside tools/ollama's own records, so that every checkout sees the same servers.
fn state() -> Result<PathBuf, Failure> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache
        .or_else(home)
        .ok_or_else(|| Failure::input("neither XDG_CACHE_HOME nor HOME is set; set one"))?;
    Ok(cache.join("lab").join("servers.json"))
}

/// Raised by Ctrl-C; a second one ends the lab at once, and `lab servers down` cleans up.
fn interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(&flag),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
        .map_err(|error| Failure::lab(format!("cannot handle Ctrl-C: {error}")))?;
    }
    Ok(flag)
}

fn print_up(pair: &Pair, as_json: bool) {
    let servers = pair.servers();
    let run = format!(
        "lab run experiments/tr115-ollama.toml --servers {} --model {}",
        servers.join(","),
        pair.model
    );
    if as_json {
        println!("{}", json!({ "servers": servers, "model": pair.model, "run": run }));
        return;
    }
    for server in servers {
        println!("server   {server}");
    }
    println!("model    {}\nrun      {run}\nstop     lab servers down", pair.model);
}

fn print_status(pair: Option<&Pair>, as_json: bool) -> ExitCode {
    let status = pair.map(Pair::status).unwrap_or_default();
    let all = !status.is_empty() && status.iter().all(|(_, up)| *up);
    if as_json {
        let servers: Vec<_> =
            status.iter().map(|(server, up)| json!({ "server": server, "up": up })).collect();
        println!("{}", json!({ "with": pair.map(|pair| pair.with), "servers": servers }));
    } else if status.is_empty() {
        println!("no servers are recorded; start them with `lab servers up`");
    } else {
        for (server, up) in status {
            println!("{server} {}", if up { "answers" } else { "does not answer" });
        }
    }
    ExitCode::from(u8::from(!all))
}
