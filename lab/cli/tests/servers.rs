//! `lab servers` with stand-ins for the tools it calls: which commands it gives, and that nothing
//! is left running. The servers behind the stand-ins are paced ones.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

/// Bounds every wait; nothing is measured here.
const PATIENCE: Duration = Duration::from_secs(60);

/// podman, docker-compose, tools/ollama/up and down at once, by the name it is called under. Every
/// server that it starts is a file named after its port, which holds the process id.
const STAND_IN: &str = r#"#!/bin/bash
echo "${0##*/} $*" >>"$FAKE/calls"
raise() { setsid "$LAB" sim --ports "$1" </dev/null >/dev/null 2>&1 & echo $! >"$FAKE/$1"; }
lower() {
  for port; do [ -e "$FAKE/$port" ] && kill -9 "$(<"$FAKE/$port")"; rm -f "$FAKE/$port"; done
}
hang() { if [ -e "$FAKE/hang" ]; then touch "$FAKE/hanging"; sleep 300; fi; }
fail() { if [ -e "$FAKE/fail" ]; then echo "the model is unknown" >&2; exit 7; fi; }
case ${0##*/}:$* in
up:*)
  IFS=, read -r a b <<<"$2"
  trap 'lower "$a" "$b"' EXIT
  raise "$a"; hang; fail; raise "$b"
  trap - EXIT ;;
down:*) IFS=, read -r a b <<<"$2"; lower "$a" "$b" ;;
podman:run*)
  for word; do
    case $word in --publish=*) port=${word#*:}; raise "${port%%:*}" ;; esac
  done ;;
podman:exec*) hang; fail ;;
podman:rm*)
  for word; do
    case $word in lab-ollama-*) port=${word#lab-ollama-}; lower "${port%-*}" ;; esac
  done ;;
docker-compose:*" up "*) raise "$OLLAMA_A_PORT"; raise "$OLLAMA_B_PORT" ;;
docker-compose:*" run "*) hang; fail ;;
docker-compose:*" down"*) lower "$OLLAMA_A_PORT" "$OLLAMA_B_PORT" ;;
docker-compose:ls) ;;
*) echo "unexpected: $0 $*" >&2; exit 9 ;;
esac
"#;

/// A repository with nothing in it but what `lab servers` looks for.
struct World {
    dir: TempDir,
    ports: [u16; 2],
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("repository");
        for folder in ["experiments", "runtimes", "tools/ollama", "containers"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let fake = dir.path().join("fake");
        fs::create_dir(&fake).unwrap();
        let program = fake.join("stand-in");
        fs::write(&program, STAND_IN).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for place in [
            fake.join("podman"),
            fake.join("docker-compose"),
            root.join("tools/ollama/up"),
            root.join("tools/ollama/down"),
        ] {
            symlink(&program, place).unwrap();
        }
        Self { dir, ports: free_ports() }
    }

    fn fake(&self) -> PathBuf {
        self.dir.path().join("fake")
    }

    fn servers(&self, arguments: &[&str]) -> Command {
        // Bazel gives a path from where the test starts.
        let lab = fs::canonicalize(env!("CARGO_BIN_EXE_lab")).unwrap();
        let mut command = Command::new(&lab);
        command
            .args(["servers", "--root"])
            .arg(self.dir.path().join("repository"))
            .args(arguments)
            .env("PATH", format!("{}:/usr/bin:/bin", self.fake().display()))
            .env("XDG_CACHE_HOME", self.dir.path().join("cache"))
            .env("FAKE", self.fake())
            .env("LAB", &lab)
            .stdin(Stdio::null());
        command
    }

    fn up(&self, with: &str, more: &[&str]) -> Command {
        let [a, b] = self.ports;
        let ports = format!("{a},{b}");
        let mut command = self.servers(&["up", "--with", with, "--ports", &ports, "--json"]);
        command.args(more);
        command
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.fake().join("calls")).unwrap_or_default()
    }

    fn touch(&self, name: &str) {
        fs::write(self.fake().join(name), "").unwrap();
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        let answers = |port: &u16| TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).is_ok();
        wait_until("the end of the servers", || !self.ports.iter().any(answers));
        assert!(!self.dir.path().join("cache/lab/servers.json").exists());
    }
}

/// A test that fails ends what it started too.
impl Drop for World {
    fn drop(&mut self) {
        for port in self.ports {
            let pid = fs::read_to_string(self.fake().join(port.to_string()));
            if let Some(pid) = pid.ok().and_then(|pid| pid.trim().parse().ok()) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

fn free_ports() -> [u16; 2] {
    let listeners = [0, 1].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

#[track_caller]
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "{what} did not come");
        thread::sleep(Duration::from_millis(20));
    }
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{said}"))
}

fn ended(mut child: Child) -> Option<i32> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > end {
            let _ = child.kill();
            panic!("lab did not end");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

const WAYS: [&str; 3] = ["native", "containers", "compose"];

#[test]
fn each_way_brings_two_servers_up_and_ends_them() {
    for way in WAYS {
        let world = World::new();
        let up = json(&world.up(way, &[]).output().unwrap());
        let run = up["run"].as_str().unwrap();
        for port in world.ports {
            assert!(run.contains(&format!("http://127.0.0.1:{port}")), "{run}");
        }
        assert!(run.starts_with("lab run ") && run.ends_with("--model smollm2"), "{run}");

        let status = world.servers(&["status", "--json"]).output().unwrap();
        assert_eq!((status.status.code(), &json(&status)["with"]), (Some(0), &Value::from(way)));
        let again = world.up(way, &[]).output().unwrap();
        assert_eq!(again.status.code(), Some(2), "{way}: a second pair was started");

        assert!(world.servers(&["down"]).output().unwrap().status.success());
        world.nothing_is_left();
        assert_eq!(world.servers(&["status"]).output().unwrap().status.code(), Some(1));
        let nothing = json(&world.servers(&["down", "--json"]).output().unwrap());
        assert_eq!(nothing["ended"], serde_json::json!([]));
    }
}

#[test]
fn an_interrupt_during_up_leaves_nothing() {
    for (way, signal) in WAYS.iter().zip([Signal::SIGINT, Signal::SIGINT, Signal::SIGTERM]) {
        let world = World::new();
        world.touch("hang");
        let child = world.up(way, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let hanging = world.fake().join("hanging");
        wait_until("the step that hangs", || hanging.exists());
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        assert_eq!(ended(child), Some(130), "{way}");
        world.nothing_is_left();
    }
}

#[test]
fn a_step_that_fails_leaves_nothing() {
    for way in WAYS {
        let world = World::new();
        world.touch("fail");
        let output = world.up(way, &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{way}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("the model is unknown"));
        world.nothing_is_left();
    }
}

#[test]
fn a_port_that_is_taken_is_refused_and_its_owner_lives() {
    let world = World::new();
    let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, world.ports[1])).unwrap();
    let output = world.up("containers", &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&world.ports[1].to_string()));
    assert_eq!(world.calls(), "");
    assert!(TcpStream::connect(owner.local_addr().unwrap()).is_ok());
}

#[test]
fn containers_are_limited_and_get_the_cards_they_are_given() {
    let world = World::new();
    let up = world.up("containers", &["--cards", "0,0", "--model", "other"]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let calls = world.calls();
    let runs: Vec<&str> = calls.lines().filter(|call| call.starts_with("podman run")).collect();
    assert_eq!(runs.len(), 2);
    for (run, port) in runs.iter().zip(world.ports) {
        for option in [
            "--read-only",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--memory=",
            "--cpus=",
            "--device=nvidia.com/gpu=0",
            &format!("--publish=127.0.0.1:{port}:11434"),
        ] {
            assert!(run.contains(option), "{run} lacks {option}");
        }
    }
    assert!(world.servers(&["down"]).output().unwrap().status.success());
    world.nothing_is_left();
    let native = world.up("native", &["--cards", "0,1"]).output().unwrap();
    assert_eq!(native.status.code(), Some(2));
}

#[test]
fn compose_takes_the_profile_of_the_cards() {
    for (cards, profile, service) in
        [(&[][..], "--profile cpu", " ollama_a "), (&["--cards", "0,1"], "--profile gpu", "a_gpu ")]
    {
        let world = World::new();
        assert!(world.up("compose", cards).output().unwrap().status.success());
        assert!(world.servers(&["down"]).output().unwrap().status.success());
        world.nothing_is_left();
        let calls = world.calls();
        let up = calls.lines().find(|call| call.contains(" up ")).unwrap();
        assert!(up.contains(profile) && up.contains(service), "{up}");
        assert!(Path::new(up.split_whitespace().nth(2).unwrap()).ends_with("compose.yaml"), "{up}");
    }
}
