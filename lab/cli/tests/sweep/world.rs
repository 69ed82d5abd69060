//! A little repository of its own for each test.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Run, Status, Verification};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with experiments/ and runtimes/.
pub struct World {
    dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["experiments", "runtimes", "plots"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self { dir }
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Adds an agent client that says who it is and otherwise does what `script` says. `$FLOOR` is
    /// the floor's program.
    pub fn variant(&self, name: &str, script: &str) {
        self.variant_of("runtimes", name, &["t"], &program("runtimes-floor"), script);
    }

    /// The same of the ledgers family, around the floor of that one.
    pub fn ledger(&self, name: &str, tags: &[&str], script: &str) {
        self.variant_of("ledgers", name, tags, &program("ledgers-sync"), script);
    }

    /// The same of the schedulers family, around the policy that never decides.
    pub fn policy(&self, name: &str, script: &str) {
        let floor = program("schedulers-always_inline");
        self.variant_of("schedulers", name, &["t"], &floor, script);
    }

    /// The same of the workflows family, around the back end that keeps its state in memory.
    pub fn back_end(&self, name: &str, script: &str) {
        let floor = program("workflows-memory");
        self.variant_of("workflows", name, &["t"], &floor, script);
    }

    /// A search engine, of which no program is built for these tests.
    pub fn engine(&self, name: &str, script: &str) {
        self.variant_of("engines", name, &["t"], Path::new("no-such-engine"), script);
    }

    fn variant_of(&self, family: &str, name: &str, tags: &[&str], floor: &Path, script: &str) {
        let folder = self.path(family).join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            "name = \"{name}\"\nfamily = \"{family}\"\ntags = {tags:?}\n\
             sentence = \"A test's.\"\nmeasures = \"m\"\nversion = \"1.2.4\"\nfeatures = []\n"
        );
        fs::write(folder.join("variant.toml"), manifest).unwrap();
        let identity = json!({
            "protocol": 1, "family": family, "variant": name, "measures": "m",
            "version": "1.2.4", "features": [],
        });
        let text = format!(
            "#!/bin/sh\nFLOOR='{}'\n\
             if [ \"$1\" = --describe ]; then echo '{identity}'; exit 0; fi\n{script}\n",
            floor.display()
        );
        let path = folder.join(format!("{family}-{name}"));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes experiments/e.toml on `servers`, and its table.
    pub fn experiment(&self, servers: &str, blocks: u32, extra: &str) {
        let time_scale = if servers == "paced" { 0.1 } else { 1.0 };
        let text = format!(
            r#"schema = 1
name = "e"
question = "Does the lab survive this?"
family = "runtimes"
seed = 1
blocks = {blocks}
{extra}
[variants]
tags = ["t"]
twin = "steady"
[[cells]]
config = ["c"]
arrangement = ["concurrent", "solo"]
[analysis]
reference = "steady"
pairing = "paired"
alpha = 0.05
[[analysis.comparisons]]
metric = "wall_ns"
scale = "ratio"
margin = 0.01
cells = {{ arrangement = ["concurrent"] }}
[runtimes]
mode = "controlled"
servers = "{servers}"
table = "t.toml"
agents = 2
model = "paced"
time_scale = {time_scale}
stall_timeout_ms = 1500
run_timeout_ms = 6000
ingest_files = 3
ingest_file_bytes = 100
"#
        );
        fs::write(self.path("experiments/e.toml"), text).unwrap();
        let table = r#"schema = 1
[config.c]
title = "quick"
num_gpu = [1]
num_ctx = [512]
temperature = 1.0
ttft_ms = { median = 20.0, sigma_log = 0.1 }
rate_tokens_per_s = [1000.0, 500.0]
itl_sigma_log = 0.05
reply_tokens = { probability = [0.0, 1.0], tokens = [12, 30] }
first_call_share = 0.5
rows = 0
"#;
        fs::write(self.path("experiments/t.toml"), table).unwrap();
    }

    /// The `lab` program, in this folder.
    pub fn lab(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program("lab"));
        command.args(args).current_dir(self.dir.path()).env_remove("BUILD_WORKSPACE_DIRECTORY");
        command
    }

    /// Runs `experiments/e.toml` to this exit code, and reads its records.
    pub fn run(&self, code: i32) -> Results {
        self.lab(&["run", "experiments/e.toml", "--out", "r"]).assert().code(code);
        Results::load(&self.path("r")).unwrap()
    }

    /// The first screen of the report on `r`, and all chapters behind it.
    pub fn report(&self) -> String {
        let details = fs::read_dir(self.path("r/details")).unwrap();
        let chapters = details.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        let first = fs::read_to_string(self.path("r/report.md")).unwrap();
        std::iter::once(first).chain(chapters).collect()
    }

    /// Runs `experiments/e.toml`: all runs of the variant `good` must be checked, and the report
    /// must follow from them.
    pub fn assert_good_and_reported(&self, runs: usize) {
        let results = self.run(0);
        let good = of(&results, "good");
        assert_eq!(good.len(), runs);
        for run in good {
            assert_eq!(run.status, Status::Ok, "{:?}", run.reason);
            assert_ne!(run.verification, Verification::Unchecked);
        }
        assert!(self.report().contains("good"));
        self.lab(&["report", "r", "--check"]).assert().code(0);
    }

    /// Starts the lab, and once `lines` runs are recorded presses Ctrl-C as a terminal does, which
    /// sends the signal to all of a group; sees the lab stop.
    pub fn interrupt_after(&self, args: &[&str], results: &str, lines: usize) {
        let mut child = self.lab(args).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        let runs = self.path(results).join("runs.jsonl");
        let end = Instant::now() + Duration::from_secs(60);
        while count_lines(&runs) < lines {
            assert!(Instant::now() < end, "no {lines} runs within a minute");
            std::thread::sleep(Duration::from_millis(5));
        }
        // A child that has only just been made may still be on its way into a group of its own.
        let mut others = of_the_group_of(child.id());
        if !others.is_empty() {
            std::thread::sleep(Duration::from_millis(100));
            let still = of_the_group_of(child.id());
            others.retain(|other| still.contains(other));
        }
        assert!(others.is_empty(), "Ctrl-C would end what the lab needs: {others:?}");
        killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

/// The children of a process that hear of a terminal's Ctrl-C as it does: their names.
fn of_the_group_of(parent: u32) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // `PID (NAME) STATE PARENT GROUP …`; it may have ended meanwhile.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((start, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let parent = parent.to_string();
        if fields[1..3] == [parent.as_str(), parent.as_str()] {
            names.push(start.to_owned());
        }
    }
    names
}

/// The runs of one variant.
pub fn of<'a>(results: &'a Results, variant: &str) -> Vec<&'a Run> {
    results.runs.iter().filter(|run| run.variant == variant).collect()
}

/// That each variant's check failed with a reason that contains these words, and that it was not
/// timed then.
pub fn assert_not_timed(results: &Results, reasons: &[(&str, &str)]) {
    for (variant, reason) in reasons {
        let _attack = Attack::on("answers", &format!("of a {variant}: {reason}"));
        let runs = of(results, variant);
        assert_eq!(runs.len(), 1, "the check of {variant} fails, so it is not timed");
        assert!(runs[0].reason.as_ref().unwrap().contains(reason), "{:?}", runs[0].reason);
    }
}

/// The paced server with a fault, to be named as a given server.
pub struct FaultyServer {
    child: Child,
    pub urls: String,
}

impl FaultyServer {
    pub fn start(fault: &Value) -> Self {
        let mut child = Command::new(program("lab"))
            .args(["sim", "--ports", "0,0", "--control", "stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answer = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        let ports: Vec<u16> = serde_json::from_value(answer()["ports"].clone()).unwrap();
        let spec = json!({
            "mode": "free", "model": "paced", "ttft_ms": {"median": 1.0, "sigma_log": 0.0},
            "rate_tokens_per_s": [2000.0], "itl_sigma_log": 0.0, "time_scale": 1.0,
            "faults": [fault],
        });
        let begin = json!({"begin": {"run": "r", "server": spec}});
        writeln!(child.stdin.as_mut().unwrap(), "{begin}").unwrap();
        assert_eq!(answer(), json!({"ready": "r"}));
        let urls: Vec<_> = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        Self { child, urls: urls.join(",") }
    }
}

impl Drop for FaultyServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn count_lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// A program of the workspace: Bazel names it in a variable, Cargo builds it beside `lab`.
pub fn program(name: &str) -> PathBuf {
    let given = env::var_os(format!("CARGO_BIN_EXE_{name}")).map(PathBuf::from);
    let lab = env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"));
    let path = given
        .map_or_else(|| lab.with_file_name(name), |path| env::current_dir().unwrap().join(path));
    assert!(path.is_file(), "build {name} first: cargo build --workspace");
    path
}
