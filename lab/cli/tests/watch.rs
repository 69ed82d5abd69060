//! `lab watch` on paced servers, and on records that were made up.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use lab_record::{Run, RunFile, Samples, Writer, sha256_hex};
use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Bounds every wait; nothing is measured here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two paced servers.
struct Servers {
    child: Child,
    addresses: String,
}

impl Servers {
    fn start(mode: &str, rates: &[f64], faults: &Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(["sim", "--ports", "0,0", "--control", "stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answer = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        let ports: Vec<u16> = serde_json::from_value(answer()["ports"].clone()).unwrap();
        let spec = json!({
            "mode": mode, "model": "paced", "ttft_ms": {"median": 2.0, "sigma_log": 0.0},
            "rate_tokens_per_s": rates, "time_scale": 1.0, "faults": faults,
        });
        let begin = json!({"begin": {"run": "r", "server": spec}});
        writeln!(child.stdin.as_mut().unwrap(), "{begin}").unwrap();
        assert_eq!(answer(), json!({"ready": "r"}));
        let addresses: Vec<_> =
            ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        Self { child, addresses: addresses.join(",") }
    }

    fn good() -> Self {
        Self::start("free", &[2000.0], &json!([]))
    }

    /// A watch of four quick rounds with these rules.
    fn watch(&self, world: &TempDir, rules: &str, more: &[&str]) -> Output {
        let file = world.path().join("rules.toml");
        fs::write(&file, rules).unwrap();
        let servers = ["watch", "--servers", &self.addresses, "--model", "paced"];
        let mut lab = lab(&servers);
        lab.args(["--every", "30ms", "--count", "4", "--tokens", "8"]).arg("--rules").arg(file);
        lab.args(more).output().unwrap()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lab(args: &[&str]) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.args(args).stdin(Stdio::null());
    lab
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn rule(metric: &str, threshold: &str, severity: &str) -> String {
    format!(
        "[[rule]]\nmetric = \"{metric}\"\n{threshold}\nwindow_s = 600\nseverity = \"{severity}\"\n\
         action = \"see the server\"\n"
    )
}

/// The lines of `--json`.
fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn good_servers_cross_no_published_alert() {
    let servers = Servers::good();
    let args = ["watch", "--servers", &servers.addresses, "--model", "paced"];
    let output = lab(&args).args(["--every", "30ms", "--count", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let summary = "3 rounds, 6 requests, 0 failed; alerts: none";
    assert!(said(&output).contains(summary), "{}", said(&output));
}

#[test]
fn an_alert_is_a_line_with_what_was_seen_and_an_exit_code() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let rules = rule("ttft_p50_s", "over = 0.000001", "alert");
    let output = servers.watch(&world, &rules, &[]);
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let alerts: Vec<&str> = text.lines().collect();
    assert_eq!(alerts.len(), 2, "one for each server: {text}");
    for server in servers.addresses.split(',') {
        let begin = format!("firing alert: ttft_p50_s of {server} is ");
        let end = ", over 0.000001 s (window 600 s, for 0 s): see the server";
        let of_server = alerts.iter().find(|alert| alert.contains(&begin));
        assert!(of_server.is_some_and(|alert| alert.ends_with(end)), "{text}");
    }
}

#[test]
fn a_warning_changes_no_exit_code() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let rules = rule("ttft_p50_s", "over = 0.000001", "warning");
    let output = servers.watch(&world, &rules, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let end = lines(&output).pop().unwrap();
    assert_eq!((&end["state"], &end["alerts"]), (&json!("end"), &json!([])));
    assert_eq!(end["warnings"], json!(["ttft_p50_s_over_0.000001"]));
}

#[test]
fn failures_and_time_outs_are_rates_with_reasons() {
    let world = TempDir::new().unwrap();
    let rules =
        rule("error_rate", "over = 0.2", "alert") + &rule("timeout_rate", "over = 0.2", "alert");
    let attack = Attack::on("watch", "a server that fails at every second request");
    let faults = json!([{"kind": "http_500", "every": 2, "port_index": 0}]);
    let output = Servers::start("free", &[2000.0], &faults).watch(&world, &rules, &["--json"]);
    let end = lines(&output).pop().unwrap();
    assert_eq!((output.status.code(), &end["failed"]), (Some(12), &json!(2)), "{}", said(&output));
    assert_eq!(end["alerts"], json!(["error_rate_over_0.2"]));
    assert!(said(&output).contains("status 500: the server failed"));

    drop(attack);
    let _attack = Attack::on("watch", "a server that goes silent amid a reply");
    let faults = json!([{"kind": "stall", "after_tokens": 3, "port_index": 1}]);
    let servers = Servers::start("free", &[2000.0], &faults);
    let output = servers.watch(&world, &rules, &["--json", "--timeout", "200ms"]);
    let end = lines(&output).pop().unwrap();
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    assert_eq!(end["alerts"], json!(["error_rate_over_0.2", "timeout_rate_over_0.2"]));
}

#[test]
fn without_a_rule_of_ones_own_three_failures_in_a_row_are_raised() {
    let _attack = Attack::on("watch", "a server that fails at every request");
    let faults = json!([{"kind": "http_500", "every": 1, "port_index": 0}]);
    let servers = Servers::start("free", &[2000.0], &faults);
    let watch = |rounds: &str, more: &[&str]| {
        // The only model of both needs no name.
        let mut lab = lab(&["watch", "--servers", &servers.addresses, "--every", "10ms"]);
        lab.args(["--count", rounds]).args(more).output().unwrap()
    };
    let output = watch("2", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = watch("3", &[]);
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    let firing = String::from_utf8(output.stdout.clone()).unwrap();
    let failing = servers.addresses.split(',').next().unwrap();
    let expected = format!("firing alert: failures_in_a_row of {failing} is 3, over 2 (window");
    assert!(firing.contains(&expected), "{firing}");
    let text = said(&output);
    assert!(text.contains("asks for paced, the only model of"), "{text}");
    let left =
        format!("not judged, 3 requests of {failing} where 20 are needed: error_rate_over_0.01");
    assert!(text.contains(&left), "{text}");
    assert!(
        text.contains(
            "not judged, 0 rounds of anybody where 5 are needed: efficiency_as_published_under_0.98"
        ),
        "{text}"
    );

    let rules = rule("unanswered_s", "over = 0.000001", "alert");
    let world = TempDir::new().unwrap();
    let end = lines(&servers.watch(&world, &rules, &["--json"])).pop().unwrap();
    let expected = (&json!(["unanswered_s_over_0.000001"]), &json!([]));
    assert_eq!((&end["alerts"], &end["not_judged"]), expected);
    let more = rule("efficiency_true", "under = 0.7", "alert");
    let end = lines(&servers.watch(&world, &more, &["--json"])).pop().unwrap();
    let never = json!([
        {"rule": "efficiency_true_under_0.7", "subject": null, "had": 0, "needs": 1}
    ]);
    assert_eq!(end["not_judged"], never, "a rule that saw nothing of anybody");
}

#[test]
fn servers_that_slow_each_other_down_are_seen_against_requests_alone() {
    // Both share one card: alone 20 times as fast as together.
    let servers = Servers::start("shared_gpu", &[2000.0, 100.0], &json!([]));
    let world = TempDir::new().unwrap();
    let rules = rule("efficiency_true", "under = 0.7", "alert");
    let more = ["--json", "--alone-every", "2"];
    let output = servers.watch(&world, &rules, &more);
    let end = lines(&output).pop().unwrap();
    assert_eq!(end["alerts"], json!(["efficiency_true_under_0.7"]), "{}", said(&output));
    assert_eq!(lines(&output)[0]["subject"], "all");
}

#[test]
fn a_command_reads_each_alert_as_json() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let told = world.path().join("told.jsonl");
    let command = format!("cat >> '{}'", told.display());
    let rules = rule("ttft_p50_s", "over = 0.000001", "alert")
        + &rule("tokens_per_s", "over = 0.000001", "warning");
    let output = servers.watch(&world, &rules, &["--on-alert", &command]);
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    let text = fs::read_to_string(told).unwrap();
    let alerts: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(alerts.len(), 2, "warnings are not told: {text}");
    for alert in alerts {
        let expected = json!({
            "schema": "lab-watch-1", "state": "firing", "rule": "ttft_p50_s_over_0.000001",
            "severity": "alert", "subject": alert["subject"], "metric": "ttft_p50_s",
            "value": alert["value"], "side": "over", "threshold": 0.000_001, "window_s": 600.0,
            "for_s": 0.0, "at_s": alert["at_s"], "action": "see the server",
        });
        assert_eq!(alert, expected);
        assert!(servers.addresses.contains(alert["subject"].as_str().unwrap()));
    }
}

#[test]
fn a_command_that_hangs_is_ended_and_one_that_fails_is_told() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let process = world.path().join("pid");
    let attack = Attack::on("watch", "a command of --on-alert that hangs");
    let hangs = format!("echo $$ >> '{}'; exec sleep 600", process.display());
    let rules = rule("ttft_p50_s", "over = 0.000001", "alert");
    let more = ["--on-alert", &hangs, "--on-alert-limit", "300ms"];
    let output = servers.watch(&world, &rules, &more);
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    assert!(said(&output).contains("took longer than 300ms and was ended"), "{}", said(&output));
    let started = fs::read_to_string(process).unwrap();
    assert_eq!(started.lines().count(), 2);
    for process in started.lines() {
        let process = Pid::from_raw(process.parse().unwrap());
        assert_eq!(kill(process, None), Err(Errno::ESRCH), "{process} still runs");
    }
    drop(attack);
    let output = servers.watch(&world, &rules, &["--on-alert", "exit 7"]);
    assert!(said(&output).contains("--on-alert ended with status 7"), "{}", said(&output));
}

/// The page at an address that `--listen` printed.
fn get(address: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn metrics_are_served_on_loopback_until_the_watch_is_interrupted() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let file = world.path().join("metrics.txt");
    let args = ["watch", "--servers", &servers.addresses, "--model", "paced", "--every", "50ms"];
    let mut lab = lab(&args);
    lab.args(["--listen", "127.0.0.1:0", "--metrics"]).arg(&file);
    let mut child = lab.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("lab: metrics at http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    let end = Instant::now() + PATIENCE;
    let mut page = String::new();
    while !page.contains("lab_watch_rounds_total") {
        assert!(Instant::now() < end, "no round was seen: {page}");
        thread::sleep(Duration::from_millis(20));
        page = get(&address, "/metrics");
    }
    assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text"));
    assert!(page.contains("gen_ai_server_time_to_first_chunk_seconds_count{"), "{page}");
    assert!(page.ends_with("# EOF\n"), "{page}");
    assert!(get(&address, "/").starts_with("HTTP/1.1 404"));
    assert!(fs::read_to_string(&file).unwrap().ends_with("# EOF\n"));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn what_cannot_be_watched_is_refused_in_one_sentence() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let refused = |args: &[&str], code: i32, expected: &str| {
        let _attack = Attack::on("watch", &format!("a command line of {expected}"));
        let output = lab(&["watch"]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{args:?}: {}", said(&output));
    };
    let model = ["--model", "paced", "--count", "1"];
    let at = |address: &'static str| [&["--servers", address][..], &model[..]].concat();
    let with = |more: &[&'static str]| {
        [&["--servers", servers.addresses.as_str()][..], &model[..], more].concat()
    };
    refused(&[], 2, "DIR");
    refused(&["--servers", "http://127.0.0.1:1"], 3, "does not list its models");
    refused(&at("127.0.0.1:1"), 2, "write it as http://");
    refused(&at("http://127.0.0.1:1"), 3, "does not answer");
    refused(&["--servers", &servers.addresses, "--model", "other"], 3, "has no model `other`");
    refused(&with(&["--listen", "0.0.0.0:0"]), 2, "no loopback address");
    refused(&with(&["--metrics", "/proc/none/x"]), 4, "--metrics /proc/none/x: cannot write it");
    refused(&with(&["--options", "[1]"]), 2, "no JSON object");
    let rules = world.path().join("r.toml");
    fs::write(&rules, rule("ttft_p95", "over = 1", "alert")).unwrap();
    let rules = rules.to_str().unwrap();
    let args = ["--servers", &servers.addresses, "--model", "paced", "--rules", rules];
    refused(&args, 2, "`ttft_p95` is no metric; did you mean `ttft_p95_s`?");
    refused(&[world.path().to_str().unwrap()], 4, "it holds no run.json");
}

#[test]
fn the_published_rules_are_a_file_to_begin_with() {
    let (servers, world) = (Servers::good(), TempDir::new().unwrap());
    let printed = lab(&["watch", "--print-rules"]).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(text.matches("[[rule]]").count(), 14);
    let output = servers.watch(&world, &text, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// A record of two clients of two agents, for twelve minutes: one has its agents run at once, the
/// other one after the other.
struct Record {
    dir: TempDir,
    writer: Writer,
    order: u64,
}

const SECOND: i64 = 1_000_000_000;

impl Record {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let machine = json!({
            "cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "a",
        });
        let entry = |name: &str| {
            json!({"variant": name, "family": "f", "measures": "", "version": "", "features": [],
                "tags": [], "binary_sha256": "", "binary_bytes": 1})
        };
        let run_file: RunFile = serde_json::from_value(json!({
            "schema": lab_record::SCHEMA, "experiment": "made-up", "experiment_toml": "",
            "attachments": {}, "experiment_sha256": sha256_hex(b""), "arguments": [],
            "seed": 1, "blocks": 1,
            "analysis": {"reference": "fair", "pairing": "paired", "alpha": 0.05,
                "comparisons": []},
            "runs_planned": 0, "variants": (["fair", "serial", "shaky"].map(entry)),
            "machine": machine,
            "started_unix_s": 0,
        }))
        .unwrap();
        let writer = Writer::create(&dir.path().join("r"), &run_file).unwrap();
        Self { dir, writer, order: 0 }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("r")
    }

    fn run(&mut self, variant: &str, start_s: i64, wall_s: i64, failed: Option<&str>) {
        self.order += 1;
        let run: Run = serde_json::from_value(json!({
            "schema": lab_record::SCHEMA, "order": self.order, "attempt": 0, "block": 1,
            "warmup": false, "family": "f", "variant": variant,
            "cell": {"arrangement": "concurrent"},
            "status": if failed.is_some() { "failed" } else { "ok" }, "reason": failed,
            "verification": "verified", "binary_sha256": "", "start_ns": start_s * SECOND,
            "process_ns": wall_s * SECOND, "noise": {}, "counters": {"wall_ns": wall_s * SECOND},
        }))
        .unwrap();
        // Two agents of a second each; both end with the run.
        let columns: [(&str, &[i64]); 6] = [
            ("agent_start_ns", &[0, (wall_s - 1) * SECOND]),
            ("agent_end_ns", &[SECOND, wall_s * SECOND]),
            ("call_start_ns", &[0, 0]),
            ("call_first_token_ns", &[SECOND / 10; 2]),
            ("call_last_token_ns", &[SECOND; 2]),
            ("call_tokens", &[91; 2]),
        ];
        let columns = columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
        let samples = Samples::from_raw(columns.collect::<BTreeMap<_, _>>());
        let samples = if failed.is_some() { Samples::default() } else { samples };
        self.writer.run(run, &samples).unwrap();
    }

    fn watch(&self, more: &[&str]) -> Output {
        lab(&["watch"]).arg(self.path()).args(more).output().unwrap()
    }
}

#[test]
fn a_record_is_held_against_the_published_thresholds_in_the_order_of_time() {
    let mut record = Record::new();
    for minute in 0..13 {
        record.run("fair", 60 * minute, 1, None);
        record.run("serial", 60 * minute + 30, 2, None);
    }
    let metrics = record.dir.path().join("metrics.txt");
    let output = record.watch(&["--metrics", metrics.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(12), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let alarm = "firing alert: efficiency_as_published of serial is 50.0 %, under 95 % (window \
                 60 s, for 600 s): see that agents run at once";
    let firing: Vec<&str> = text.lines().filter(|line| line.contains("firing alert")).collect();
    assert_eq!(firing.len(), 1, "{text}");
    // Pending since 32 s after the first run's start.
    assert!(firing[0].starts_with("+632.0 s ") && firing[0].contains(alarm), "{text}");
    assert!(!text.contains("of fair"), "{text}");
    let page = fs::read_to_string(metrics).unwrap();
    let name = "gen_ai_client_operation_time_to_first_chunk_seconds_count";
    let counted = page.lines().filter(|line| line.starts_with(name));
    assert!(counted.clone().any(|line| line.contains("lab_variant=\"serial\"")), "{page}");
    assert_eq!(counted.map(|line| line.rsplit(' ').next().unwrap()).collect::<Vec<_>>(), ["26"; 2]);
}

#[test]
fn failed_runs_of_a_record_are_errors_and_stalls_time_outs() {
    let mut record = Record::new();
    for minute in 0..30 {
        let reason = (minute % 5 == 0).then_some("agent 0, call 1: stalled: nothing was sent");
        record.run("shaky", 10 * minute, 1, reason);
    }
    let output = record.watch(&["--json"]);
    let end = lines(&output).pop().unwrap();
    assert_eq!(end["alerts"], json!(["error_rate_over_0.01"]), "{}", said(&output));
    let warnings = end["warnings"].to_string();
    assert!(warnings.contains("timeout_rate_over_0.005"), "{warnings}");
    assert_eq!((&end["requests"], &end["failed"]), (&json!(24 * 2 + 6), &json!(6)));
}

#[test]
fn a_record_without_servers_is_refused_and_a_committed_report_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let world = TempDir::new().unwrap();
    let rules = world.path().join("rules.toml");
    let text = "[[rule]]\nmetric = \"efficiency_as_published\"\nunder = 0.6\nwindow_s = 60\n";
    fs::write(&rules, format!("{text}for_s = 60\n")).unwrap();
    let watch = |report: &str| {
        let mut lab = lab(&["watch"]);
        lab.arg(root.join("reports").join(report)).arg("--rules").arg(&rules);
        let output = lab.output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, said) = watch("offload-wake");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no run holds calls to servers"), "{said}");
    // A client that runs its agents one after the other reaches half of what it should, all along.
    let (code, said) = watch("tr115-sim");
    assert_eq!(code, Some(12), "{said}");
    let alarm = "firing alert: efficiency_as_published of async_std_as_published is ";
    assert!(said.contains(alarm), "{said}");
}
