//! Finding and running variants' programs in the conformance tests of every family. It knows
//! variants only as folders with a `variant.toml` and as programs.

use std::env;
use std::fs;
use std::io::{Read, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

/// No run of these tests takes a second; a program that hangs must still end the test.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The keys of a `variant.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The folder's name.
    pub name: String,
    /// The folder above.
    pub family: String,
    /// What experiments select by.
    pub tags: Vec<String>,
    /// What it is.
    pub sentence: String,
    /// The crate that is measured.
    pub measures: String,
    /// Its version.
    pub version: String,
    /// Its features.
    pub features: Vec<String>,
}

/// A folder with a manifest, and its program.
#[derive(Debug)]
pub struct Variant {
    /// The manifest.
    pub manifest: Manifest,
    /// The path of the built program.
    pub program: PathBuf,
}

/// How a program ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Says that this test, the thread's, cannot go on here. It ends well all the same: Rust's test
/// harness knows no other end, and would swallow what is printed. `.ci/count-tests` counts it.
pub fn skipped(reason: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("main");
    let _ = writeln!(stderr(), "SKIPPED {test}: {reason}");
}

/// Every variant of a family, by name.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants(family: &str) -> Vec<Variant> {
    let dir = family_dir(family);
    let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut found: Vec<Variant> = entries
        .map(|entry| entry.expect("a folder's entry can be read").path())
        .filter(|folder| folder.join("variant.toml").is_file())
        .map(|folder| variant(family, &folder))
        .collect();
    found.sort_by(|a, b| a.manifest.name.cmp(&b.manifest.name));
    assert!(!found.is_empty(), "no variant.toml below {}", dir.display());
    found
}

/// A family's folder: under `LAB_ROOT`, in Bazel's runfiles, or, with Cargo, above the crate whose
/// test asks.
///
/// # Panics
/// When neither Cargo nor Bazel started this program and `LAB_ROOT` is not set.
pub fn family_dir(family: &str) -> PathBuf {
    let root = |key: &str| env::var_os(key).map(PathBuf::from);
    let roots = [
        root("LAB_ROOT"),
        root("RUNFILES_DIR").map(|dir| dir.join("_main")),
        root("TEST_SRCDIR").map(|dir| dir.join("_main")),
        root("CARGO_MANIFEST_DIR").map(|dir| dir.join("../..")),
    ];
    let mut dirs = roots.into_iter().flatten().map(|root| root.join(family));
    dirs.find(|dir| dir.is_dir()).expect("set LAB_ROOT to the repository's root")
}

fn variant(family: &str, folder: &Path) -> Variant {
    let path = folder.join("variant.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let manifest: Manifest =
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = format!("{family}-{}", manifest.name);
    let beside_this = env::current_exe().expect("Linux knows the path of this program");
    let places = [
        env::var_os("LAB_BIN_DIR").map(|dir| PathBuf::from(dir).join(&name)),
        Some(folder.join(&name)),
        // Cargo puts a test into target/PROFILE/deps and a program into target/PROFILE.
        beside_this.parent().and_then(Path::parent).map(|dir| dir.join(&name)),
    ];
    let program = places.into_iter().flatten().find(|path| path.is_file());
    let program = program.unwrap_or_else(|| {
        panic!("the program {name} is not built: run `cargo build --workspace` first")
    });
    Variant { manifest, program }
}

/// Runs a variant's program with `input` on its standard input.
///
/// # Panics
/// When it cannot be started or does not end in time; then it is killed.
pub fn run(variant: &Variant, arguments: &[&str], input: &str) -> Finished {
    let mut command = Command::new(&variant.program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a built program can be started");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A program that answers `--describe` does not read, so the pipe may be broken.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let mut stdout = child.stdout.take().expect("standard output is a pipe");
    let mut stderr = child.stderr.take().expect("standard error is a pipe");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut texts = (String::new(), String::new());
        let _ = stdout.read_to_string(&mut texts.0);
        let _ = stderr.read_to_string(&mut texts.1);
        let _ = sender.send(texts);
    });
    let Ok((stdout, stderr)) = receiver.recv_timeout(TIME_LIMIT) else {
        let _ = child.kill();
        let _ = child.wait();
        panic!("{} did not end within {TIME_LIMIT:?}", variant.manifest.name);
    };
    let status = child.wait().expect("a child can be waited for");
    Finished { code: status.code(), stdout, stderr }
}
