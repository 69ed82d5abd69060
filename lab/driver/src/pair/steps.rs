//! The commands that start a pair of servers, load the model and stop them, for each way to run.

use std::{
    env,
    process::{Command, Stdio},
};

use super::{Pair, With};
use crate::DriverError;

/// Loads the model into one server: from containers/import if it has a Modelfile, else by name from
/// the library of models. `$1` is the model.
const BRING: &str = "if [ -e /import/Modelfile ]; then \
                     cd /import && exec ollama create \"$1\" -f Modelfile; fi; \
                     exec ollama pull \"$1\"";

/// The limits of the compose file, and its settings of Ollama.
const CONTAINER: &[&str] = &[
    "--read-only",
    "--tmpfs=/tmp:size=64m,mode=1777",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--memory=2g",
    "--cpus=1",
    "--pids-limit=256",
    "--init",
    "--entrypoint=ollama",
    "--env=HOME=/tmp",
    "--env=OLLAMA_HOST=0.0.0.0:11434",
    "--env=OLLAMA_MODELS=/models",
    "--env=OLLAMA_KEEP_ALIVE=-1",
    "--env=OLLAMA_NUM_PARALLEL=1",
    "--env=OLLAMA_MAX_LOADED_MODELS=1",
    "--env=OLLAMA_CONTEXT_LENGTH=512",
    "--env=OLLAMA_NOHISTORY=1",
];

/// The first installed compose tool whose daemon responds.
///
/// # Errors
/// If there is none.
pub(super) fn compose_tool() -> Result<Vec<String>, DriverError> {
    // `ls` needs the daemon, which a command that is only installed may lack.
    let tools: [(&[&str], &str); 3] = [
        (&["docker", "compose"], "ls"),
        (&["docker-compose"], "ls"),
        (&["podman-compose"], "version"),
    ];
    let works = |(tool, question): &(&[&str], &str)| {
        let mut command = Command::new(tool[0]);
        command.args(&tool[1..]).arg(question);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = tools.iter().find(|candidate| works(candidate));
    found.map(|(tool, _)| tool.iter().map(|word| (*word).to_owned()).collect()).ok_or_else(|| {
        DriverError::Input(
            "found neither docker compose with a running daemon nor podman-compose; install one, \
             or use --with containers or --with native"
                .to_owned(),
        )
    })
}

pub(super) fn start(pair: &Pair) -> Vec<Command> {
    match pair.with {
        With::Native => {
            let mut command = native(pair, "up");
            command.args(["--model", &pair.model]);
            vec![command]
        }
        With::Containers => (0..2).map(|server| run_container(pair, server)).collect(),
        With::Compose => {
            let mut command = compose(pair);
            command.args(["up", "--detach"]).args(services(pair));
            vec![command]
        }
    }
}

/// The native way has brought it when it starts.
pub(super) fn bring_model(pair: &Pair) -> Vec<Command> {
    let in_container = |server: usize| {
        let mut command = Command::new("podman");
        command.args(["exec", &container(pair, server), "/bin/sh", "-euc", BRING, "bring"]);
        command.arg(&pair.model);
        command
    };
    let by_job = |job: &str| {
        let mut command = compose(pair);
        command.args(["run", "--rm", "--no-deps", "-T", job]);
        command
    };
    match pair.with {
        With::Native => Vec::new(),
        With::Containers => (0..2).map(in_container).collect(),
        With::Compose => ["model_a", "model_b"].map(by_job).into(),
    }
}

pub(super) fn end(pair: &Pair) -> Vec<Command> {
    match pair.with {
        With::Native => vec![native(pair, "down")],
        With::Containers => {
            let mut command = Command::new("podman");
            command.args(["rm", "--force", "--ignore", "--time=15"]);
            command.args((0..2).map(|server| container(pair, server)));
            vec![command]
        }
        With::Compose => {
            let mut command = compose(pair);
            command.arg("down");
            // The file wants a digest before it reads on, and the shell that ends the servers need
            // not be the one that started them. Ending looks at no image.
            if env::var_os("OLLAMA_DIGEST").is_none() {
                command.env("OLLAMA_DIGEST", "sha256:none");
            }
            vec![command]
        }
    }
}

fn native(pair: &Pair, script: &str) -> Command {
    let [a, b] = pair.ports;
    let mut command = Command::new(pair.root.join("tools/ollama").join(script));
    command.args(["--ports", &format!("{a},{b}")]);
    command
}

fn container(pair: &Pair, server: usize) -> String {
    format!("lab-ollama-{}-{}", pair.ports[server], pair.id)
}

fn run_container(pair: &Pair, server: usize) -> Command {
    let port = pair.ports[server];
    let import = pair.root.join("containers/import");
    let mut command = Command::new("podman");
    command.args(["run", "--detach", "--name", &container(pair, server)]);
    command.args(CONTAINER);
    command.arg(format!("--publish=127.0.0.1:{port}:11434"));
    command.arg(format!("--volume=lab-models-{port}:/models"));
    command.arg(format!("--volume={}:/import:ro", import.display()));
    if let Some(cards) = &pair.cards {
        command.arg(format!("--device=nvidia.com/gpu={}", cards[server]));
    }
    command.args([&pair.image, "serve"]);
    command
}

fn services(pair: &Pair) -> [&'static str; 2] {
    match pair.cards {
        Some(_) => ["ollama_a_gpu", "ollama_b_gpu"],
        None => ["ollama_a", "ollama_b"],
    }
}

fn compose(pair: &Pair) -> Command {
    let [a, b] = pair.ports;
    let mut command = Command::new(&pair.compose[0]);
    command.args(&pair.compose[1..]);
    command.arg("-f").arg(pair.root.join("containers/compose.yaml"));
    command.args(["--profile", if pair.cards.is_some() { "gpu" } else { "cpu" }]);
    command.envs([("OLLAMA_A_PORT", a.to_string()), ("OLLAMA_B_PORT", b.to_string())]);
    command.env("MODEL", &pair.model);
    if let Some([a, b]) = &pair.cards {
        command.envs([("GPU_A", a), ("GPU_B", b)]);
    }
    command
}
