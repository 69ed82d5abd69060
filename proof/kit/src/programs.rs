//! Finding and running variants' programs in the conformance tests of every family. It knows
//! variants only as folders with a `variant.toml` and as programs.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{Read, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use lab_protocol::{Identity, PROTOCOL, RunSpec};
pub use lab_protocol::{RunOutcome, Status, exit};
use serde::Serialize;
use toml::{Table, Value};

/// No run of these tests takes a second; a program that hangs must still end the test.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Of a foreign system, which has servers to start.
const PEERS_TIME_LIMIT: Duration = Duration::from_secs(60);

/// Programs that gave no answer, each with the sentence that says so: what is asked of them later
/// fails at once, so that not every test waits for them.
static SILENT: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// A folder with a manifest, and its program.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The folder's name.
    pub name: String,
    /// Who the manifest says that it is.
    pub identity: Identity,
    /// What experiments select by, and what these tests ask of it.
    pub tags: Vec<String>,
    /// Servers that it can keep up over runs.
    pub keep_up: Vec<String>,
    /// The path of the built program.
    pub program: PathBuf,
    /// Variables of its environment that are other than this process's; `None` for those that it
    /// must not have.
    pub environment: BTreeMap<String, Option<String>>,
}

impl Variant {
    /// The same with another value of a variable, or without it.
    #[must_use]
    pub fn with(mut self, variable: &str, value: Option<&str>) -> Self {
        self.environment.insert(variable.to_owned(), value.map(str::to_owned));
        self
    }

    /// A command that starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (variable, value) in &self.environment {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        command
    }

    /// Whether its manifest carries a tag.
    pub fn is(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }
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

/// Every variant of a family that this machine can run, by name; of another one the test says so.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants(family: &str) -> Vec<Variant> {
    let dir = family_dir(family);
    let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut found: Vec<Variant> = entries
        .map(|entry| entry.expect("a folder's entry can be read").path())
        .filter(|folder| folder.join("variant.toml").is_file())
        .filter(|folder| is_here(folder))
        .map(|folder| variant(&folder))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty(), "no variant below {} can run here", dir.display());
    found
}

/// Those of them that carry a tag; a test of what nobody has says so.
///
/// # Panics
/// As [`variants`].
pub fn tagged(family: &str, tag: &str) -> Vec<Variant> {
    let found: Vec<_> = variants(family).into_iter().filter(|variant| variant.is(tag)).collect();
    if found.is_empty() {
        skipped(&format!("no variant of {family} carries the tag {tag}"));
    }
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

/// The variant of a folder.
///
/// # Panics
/// When its manifest cannot be read or its program was not built.
pub fn variant(folder: &Path) -> Variant {
    let table = manifest(folder);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let key = |key: &str| table.get(key).and_then(text).unwrap_or_default();
    let list = |key: &str| {
        let array = table.get(key).and_then(Value::as_array);
        array.into_iter().flatten().filter_map(text).collect::<Vec<String>>()
    };
    let (family, name) = (key("family"), key("name"));
    let program = program(folder, &format!("{family}-{name}"));
    let identity = Identity {
        protocol: PROTOCOL,
        family,
        variant: name.clone(),
        measures: key("measures"),
        version: key("version"),
        features: list("features"),
    };
    let (tags, keep_up) = (list("tags"), list("keep_up"));
    Variant { name, identity, tags, keep_up, program, environment: BTreeMap::new() }
}

fn manifest(folder: &Path) -> Table {
    let path = folder.join("variant.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn is_here(folder: &Path) -> bool {
    let lacking = not_built(folder).or_else(|| not_read(&manifest(folder)));
    if let Some(why) = &lacking {
        skipped(&format!("{}: {why}", folder.file_name().unwrap_or_default().display()));
    }
    lacking.is_none()
}

/// Runs the script `build` of a folder that has one, as the lab does: it makes the program of a
/// variant that Cargo does not build.
fn not_built(folder: &Path) -> Option<String> {
    /// Tests of one process want the same program.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let script = folder.join("build");
    if !script.is_file() {
        return None;
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let script = script.canonicalize().expect("it is there");
    let ended = Command::new(script).current_dir(folder).output().expect("`build` is a program");
    let said = String::from_utf8_lossy(&ended.stderr);
    (!ended.status.success()).then(|| format!("it is not built: {}", said.trim()))
}

fn not_read(manifest: &Table) -> Option<String> {
    let interpreter = manifest.get("interpreter")?.as_str()?;
    let version = Command::new(interpreter).arg("--version").stdin(Stdio::null()).output();
    version.is_err().then(|| format!("{interpreter} is not installed"))
}

fn program(folder: &Path, name: &str) -> PathBuf {
    let beside_this = env::current_exe().expect("Linux knows the path of this program");
    let places = [
        env::var_os("LAB_BIN_DIR").map(|dir| PathBuf::from(dir).join(name)),
        Some(folder.join(name)),
        // Cargo puts a test into target/PROFILE/deps and a program into target/PROFILE.
        beside_this.parent().and_then(Path::parent).map(|dir| dir.join(name)),
    ];
    let program = places.into_iter().flatten().find(|path| path.is_file());
    program.unwrap_or_else(|| {
        panic!("the program {name} is not built: run `cargo build --workspace` first")
    })
}

/// Runs a variant's program with `input` on its standard input.
///
/// # Panics
/// When it cannot be started or does not end in time; then it is killed.
pub fn run(variant: &Variant, arguments: &[&str], input: &str) -> Finished {
    let limit = if variant.is("peer") { PEERS_TIME_LIMIT } else { TIME_LIMIT };
    run_within(limit, variant, arguments, input)
}

fn run_within(limit: Duration, variant: &Variant, arguments: &[&str], input: &str) -> Finished {
    let silent = || SILENT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = silent().get(&variant.program).cloned();
    assert!(known.is_none(), "{}", known.unwrap_or_default());
    let mut command = variant.command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a built program can be started");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let written = input.to_owned();
    // Beside this thread: a program that does not read never empties a full pipe. One that answers
    // `--describe` does not read either, so the pipe may be broken.
    thread::spawn(move || drop(stdin.write_all(written.as_bytes())));
    let mut stdout = child.stdout.take().expect("standard output is a pipe");
    let mut stderr = child.stderr.take().expect("standard error is a pipe");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut texts = (String::new(), String::new());
        let _ = stdout.read_to_string(&mut texts.0);
        let _ = stderr.read_to_string(&mut texts.1);
        let _ = sender.send(texts);
    });
    let Ok((stdout, stderr)) = receiver.recv_timeout(limit) else {
        let _ = child.kill();
        let _ = child.wait();
        let sentence = no_answer(variant, arguments, input, limit);
        silent().insert(variant.program.clone(), sentence.clone());
        panic!("{sentence}");
    };
    let status = child.wait().expect("a child can be waited for");
    Finished { code: status.code(), stdout, stderr }
}

fn no_answer(variant: &Variant, arguments: &[&str], input: &str, limit: Duration) -> String {
    let asked = match (arguments, input) {
        ([], "") => "standard input that ends at once".to_owned(),
        ([], spec) => format!("the run spec {}", spec.chars().take(200).collect::<String>()),
        (arguments, _) => arguments.join(" "),
    };
    let (name, seconds) = (&variant.name, limit.as_secs());
    format!(
        "{name} gave no answer within {seconds} s, neither a line nor an end, when it was asked: \
         {}",
        asked.trim_end()
    )
}

/// The line that a variant reads.
///
/// # Panics
/// Never: a workload has only string keys.
pub fn line<W: Serialize>(workload: &W) -> String {
    let spec = RunSpec { protocol: PROTOCOL, run: "test".to_owned(), workload };
    format!("{}\n", serde_json::to_string(&spec).expect("a workload has only string keys"))
}

/// What a variant says of a workload, whatever that is.
///
/// # Panics
/// When it says anything else than one outcome, or ends with another code than the outcome's.
pub fn outcome<W: Serialize>(variant: &Variant, workload: &W) -> RunOutcome {
    let (name, finished) = (&variant.name, run(variant, &[], &line(workload)));
    assert_eq!(finished.stdout.lines().count(), 1, "{name} must answer one line: {finished:?}");
    let outcome: RunOutcome = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{name} answers no outcome: {error}: {finished:?}"));
    let failed = outcome.status == Status::Failed;
    let code = if failed { exit::FAILED } else { exit::DONE };
    assert_eq!(finished.code, Some(code), "{name}: {}", finished.stderr);
    assert_eq!(outcome.run, "test", "{name}");
    assert_eq!(outcome.reason.is_some(), outcome.status != Status::Ok, "{name}");
    outcome
}

/// Sees that every variant of a family says who it is, as its manifest has it, and that Cargo.lock
/// has the version that it names.
///
/// # Panics
/// When one does not.
pub fn check_identities(family: &str) {
    // Bazel may run this test without the locks.
    let read = |path: &str| fs::read_to_string(family_dir(family).join(path)).ok();
    let ours = read("../Cargo.lock");
    for variant in variants(family) {
        let own = read(&format!("{}/crate/Cargo.lock", variant.name));
        let lock = own.as_ref().or(ours.as_ref());
        let finished = run(&variant, &["--describe"], "");
        let found: Identity = serde_json::from_str(&finished.stdout).unwrap_or_else(|error| {
            panic!("{} answers no identity to --describe: {error}: {finished:?}", variant.name)
        });
        assert_eq!((&found, finished.code), (&variant.identity, Some(exit::DONE)));
        let Identity { measures, version, .. } = found;
        let package = format!("name = \"{measures}\"\nversion = \"{version}\"\n");
        let is_locked = lock.is_none_or(|lock| lock.contains(&package));
        // Somebody else's program is what the machine has installed.
        assert!(version == "installed" || is_locked, "{package}");
    }
}

/// Sees that every variant of a family refuses these specs, each with its sentence, and what no
/// variant takes: no spec, one with an unknown key or of another protocol, an unknown argument.
///
/// # Panics
/// When one does not.
pub fn check_refusals(family: &str, good: &str, bad: &[(String, &str)]) {
    check_refusals_of(&variants(family), good, bad);
}

/// The same of some variants.
///
/// # Panics
/// When one does not.
pub fn check_refusals_of(variants: &[Variant], good: &str, bad: &[(String, &str)]) {
    let unknown = good.replacen("\"run\"", "\"hurry\":1,\"run\"", 1);
    let other = good.replace("\"protocol\":1", "\"protocol\":9");
    let none: &[&str] = &[];
    let mut cases = vec![
        (none, String::new(), "standard input ended before a run spec"),
        (none, unknown, "unknown field `hurry`"),
        (none, other, "protocol 9"),
        (&["--fast"], good.to_owned(), "the only arguments are --describe"),
    ];
    cases.extend(bad.iter().map(|(line, sentence)| (none, line.clone(), *sentence)));
    for variant in variants {
        for (arguments, input, sentence) in &cases {
            assert!(*input != good || !arguments.is_empty(), "nothing is wrong: {sentence}");
            let finished = run(variant, arguments, input);
            assert_eq!(finished.code, Some(exit::BAD_SPEC), "{}: {finished:?}", variant.name);
            assert_eq!(finished.stdout, "", "{} must answer no line", variant.name);
            assert!(finished.stderr.contains(sentence), "{}: {finished:?}", variant.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn who_gives_no_answer_is_named_with_what_it_was_asked_and_asked_no_more() {
        let identity = Identity {
            protocol: PROTOCOL,
            family: "toys".to_owned(),
            variant: "silent".to_owned(),
            measures: "sleep".to_owned(),
            version: "installed".to_owned(),
            features: vec![],
        };
        let silent = Variant {
            name: "silent".to_owned(),
            identity,
            tags: vec![],
            keep_up: vec![],
            program: PathBuf::from("sleep"),
            environment: BTreeMap::new(),
        };
        let ended = |limit: u64, asked: &str| {
            let limit = Duration::from_secs(limit);
            let run = || run_within(limit, &silent, &[asked], "");
            let panicked = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
            panicked.downcast_ref::<String>().unwrap().clone()
        };
        let sentence = "silent gave no answer within 1 s, neither a line nor an end, when it was \
                        asked: 3600";
        assert_eq!(ended(1, "3600"), sentence);
        // The second question would be answered within its limit, and is not put any more.
        assert_eq!(ended(3600, "0"), sentence);
    }
}
