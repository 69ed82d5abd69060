//! `./enter` with a package manager that is made up: how it ends, and what it leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lab_tidy::repository::Repository;
use proof_kit::Attack;
use tempfile::TempDir;

/// How long anything here may take.
const LONGEST: Duration = Duration::from_secs(60);

/// Begins a root file system in the last of its arguments, and goes on until its child is ended.
/// As mmdebstrap, it lets Ctrl-C end the child and fails then as for a missing package.
const SLOW: &str = r#"for made; do :; done
stopped=
trap 'stopped=yes' HUP INT TERM
mkdir -p "$made/usr"
touch "$PLACE/begun"
left=3000
while [ -z "$stopped" ] && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
touch "$PLACE/ended"
echo "E: apt-get failed" >&2
exit 1"#;

/// A folder with a home, a cache and the programs that ./enter asks first.
struct Place {
    folder: TempDir,
}

impl Place {
    /// `None` where only root's way is open and this user is another, with a line that says so.
    fn new(test: &str, mmdebstrap: &str) -> Option<Self> {
        let user =
            Command::new("id").arg("-u").output().expect("id is one of every system's tools");
        if user.stdout != b"0\n" {
            println!("SKIPPED {test}: only root makes a root file system without subordinate ids");
            return None;
        }
        let place = Self { folder: TempDir::new().unwrap() };
        let tools = place.path("home/.cargo/bin");
        fs::create_dir_all(&tools).unwrap();
        // The pinned compiler is there; neither Nix nor an installed Bazel is.
        let programs = [
            ("rustup", "exit 0"),
            ("nix", "exit 1"),
            ("bazel", "exit 1"),
            ("mmdebstrap", mmdebstrap),
        ];
        for (name, text) in programs {
            place.program(name, text);
        }
        Some(place)
    }

    /// Puts a program before those of this machine.
    fn program(&self, name: &str, text: &str) {
        let path = self.path("home/.cargo/bin").join(name);
        let text = format!("#!/bin/sh\nPLACE='{}'\n{text}\n", self.path("").display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `./enter true`, in a process group of its own as a shell starts it.
    fn enter(&self) -> Command {
        let root = Repository::of_package(env!("CARGO_MANIFEST_DIR")).root().to_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        // A shell cannot catch signals that whoever started the tests has ignored.
        let mut enter = Command::new("env");
        enter.args(["--default-signal=HUP,INT,TERM", "bash"]).arg(root.join("enter")).arg("true");
        for name in ["LAB_ENVIRONMENT", "LAB_PEERS", "IN_NIX_SHELL", "CARGO_HOME", "RUSTUP_HOME"] {
            enter.env_remove(name);
        }
        enter
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("PATH", format!("{}:{path}", self.path("home/.cargo/bin").display()))
            .stdin(Stdio::null())
            .stderr(fs::File::create(self.path("said")).unwrap())
            .process_group(0);
        enter
    }

    fn said(&self) -> String {
        fs::read_to_string(self.path("said")).unwrap_or_default()
    }

    /// What is left of a root file system, whole or half made.
    fn made(&self) -> Vec<String> {
        let cache = fs::read_dir(self.path("cache/lab")).expect("the cache folder is made");
        let names = cache.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.starts_with("rootfs-")).collect()
    }
}

fn wait_for(path: &Path, place: &Place) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < LONGEST, "{} is not there: {}", path.display(), place.said());
        sleep(Duration::from_millis(20));
    }
}

/// Starts `./enter`, and while the root file system is made sends a signal: to its process group as
/// a terminal does it, or to it alone.
fn stopped(place: &Place, signal: &str, group: bool) -> ExitStatus {
    let mut enter = place.enter().spawn().unwrap();
    wait_for(&place.path("begun"), place);
    let sign = if group { "-" } else { "" };
    // The shell's own: the program is not everywhere.
    let kill = format!("kill -{signal} -- {sign}{}", enter.id());
    let sent = Command::new("bash").args(["-c", &kill]).status();
    assert!(sent.unwrap().success());
    let start = Instant::now();
    loop {
        if let Some(status) = enter.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < LONGEST, "it goes on after SIG{signal}: {}", place.said());
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_ends_it_with_the_signals_code_and_leaves_nothing() {
    let test = "a_signal_ends_it_with_the_signals_code_and_leaves_nothing";
    for (signal, group, code) in
        [("INT", true, 130), ("TERM", false, 143), ("HUP", false, 129), ("HUP", true, 129)]
    {
        let Some(place) = Place::new(test, SLOW) else { return };
        let status = stopped(&place, signal, group);
        assert_eq!(status.code(), Some(code), "SIG{signal}: {}", place.said());
        assert!(place.path("ended").exists(), "mmdebstrap goes on after SIG{signal}");
        assert_eq!(place.made(), [""; 0], "SIG{signal}");
    }
}

/// An index that is older than it says it may be: a mirror that stands still, or somebody's replay.
#[test]
fn the_date_of_an_index_counts_unless_this_machine_ignores_it() {
    let test = "the_date_of_an_index_counts_unless_this_machine_ignores_it";
    let telling = "echo \"$*\" >\"$PLACE/told\"\nexit 25";
    for (told, ignored) in [
        ("echo false", true),
        ("echo No", true),
        ("echo 0", true),
        ("echo true", false),
        ("echo falsehood", false),
        ("", false),
        ("exit 1", false),
    ] {
        let _attack =
            Attack::on("programs", &format!("an old index, where apt-config says {told}"));
        let Some(place) = Place::new(test, telling) else { return };
        place.program("apt-config", told);
        assert_eq!(place.enter().status().unwrap().code(), Some(69), "{}", place.said());
        let options = fs::read_to_string(place.path("told")).unwrap();
        assert_eq!(options.contains("Check-Valid-Until"), ignored, "{told}: {options}");
        assert_eq!(place.said().contains("takes indexes of any age"), ignored, "{told}");
    }
}

#[test]
fn a_package_manager_that_fails_is_told_from_ctrl_c() {
    let failing = "for made; do :; done\nmkdir -p \"$made/usr\"\nexit 25";
    let test = "a_package_manager_that_fails_is_told_from_ctrl_c";
    let Some(place) = Place::new(test, failing) else { return };
    let status = place.enter().status().unwrap();
    assert_eq!(status.code(), Some(69), "{}", place.said());
    assert!(place.said().contains("mmdebstrap failed"), "{}", place.said());
    assert_eq!(place.made(), [""; 0]);
}

#[test]
fn a_command_of_the_lab_behind_its_run_target_is_refused_before_anything_is_built() {
    let root = Repository::of_package(env!("CARGO_MANIFEST_DIR")).root().to_owned();
    let enter = |words: &[&str]| {
        let mut enter = Command::new(root.join("enter"));
        enter.args(["bazel", "run", "//lab:run", "--"]).args(words).output().unwrap()
    };
    for command in ["verify", "plan"] {
        let ended = enter(&[command, "experiments/tr115.toml"]);
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(64), "{said}");
        assert!(said.contains(&format!("write //lab:{command} -- FILE")), "{said}");
    }
}
