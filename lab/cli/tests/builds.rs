//! Git revisions in `lab compare`: what is built, what is kept, and what is left behind.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::assert::{Assert, OutputAssertExt};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{Predicate, prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

/// A repository whose revisions `one` and `two` build a script that sleeps, and `three` none; and
/// the folder in which builds are kept.
struct Repository {
    files: TempDir,
    cache: TempDir,
}

const COMMITS: &str = "git init -q -b main . && git config user.name n && git config user.email e@e
    commit() { echo \"$2\" > source; git add source; git commit -qm \"$1\"; git tag \"$1\"; }
    commit one 'sleep 0.001'; commit same 'sleep 0.001 '; commit two 'sleep 0.02'
    commit three fails; commit again 'sleep 0.001'";

const BUILD: &str = "grep -q sleep source || { echo no sleep >&2; exit 1; }
    mkdir -p out && { echo '#!/bin/sh'; sed 's/ $//' source; } > out/tool && chmod +x out/tool";

impl Repository {
    fn new() -> Self {
        let (files, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        Command::new("sh").args(["-ec", COMMITS]).current_dir(&files).assert().success();
        Self { files, cache }
    }

    fn lab(&self, build: &str, revisions: [&str; 2], more: &[&str]) -> Command {
        self.lab_of("out/tool", build, revisions, more)
    }

    fn lab_of(&self, tool: &str, build: &str, revisions: [&str; 2], more: &[&str]) -> Command {
        // Relative to the workspace's root where Bazel runs this.
        let program = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
        let mut lab = Command::new(program);
        let [a, b] = revisions;
        lab.current_dir(&self.files).env("XDG_CACHE_HOME", self.cache.path());
        // The tests may run in a job themselves.
        lab.env_remove("GITHUB_ACTIONS");
        lab.args(["compare", "--rev", a, "--rev", b, "--build", build]).args(more);
        lab.args(["--", tool]);
        lab
    }

    fn run(&self, revisions: [&str; 2], more: &[&str]) -> Assert {
        self.lab(BUILD, revisions, more).assert()
    }

    fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git").args(words).current_dir(&self.files).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The folder of this repository's builds.
    fn kept(&self) -> std::path::PathBuf {
        let name = self.files.path().file_name().unwrap();
        self.cache.path().join("lab/builds").join(name)
    }

    /// Nothing registered in the repository, and nothing unfinished beside what is kept.
    #[track_caller]
    fn is_clean(&self) {
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert!(!self.kept().join("work").exists());
    }

    fn builds(&self) -> usize {
        let kept = fs::read_dir(self.kept()).unwrap();
        kept.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
    }
}

fn errors(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn json(assert: &Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn revisions_are_built_once_by_their_files_and_compared() {
    let repository = Repository::new();
    let slower = repository.run(["one", "two"], &[]).code(10);
    slower
        .stdout(contains("\ntwo is ").and(contains(" × slower than one (")))
        .stderr(contains("building two"));
    let same = repository.run(["one", "same"], &["--runs", "3"]).code(11);
    let same =
        same.stderr(contains("note: one and same are the same program with the same arguments: "));
    assert!(!contains("building one").eval(&errors(&same)));
    // Another commit with the files of `one`.
    let equal = repository.run(["one", "again"], &["--runs", "3"]).code(11);
    assert!(!contains("building").eval(&errors(&equal)));
    assert_eq!(repository.builds(), 3);
    let anew = repository.run(["one", "two"], &["--runs", "3", "--rebuild"]).code(11);
    anew.stderr(contains("building one"));
    repository.is_clean();
}

#[test]
fn what_does_not_build_is_one_sentence_and_leaves_nothing() {
    let repository = Repository::new();
    let broken = repository.run(["one", "three"], &[]).code(1);
    assert!(errors(&broken).ends_with("lab: three does not build: no sleep\n"));
    assert_eq!(repository.builds(), 1);
    let missing = repository.lab("true", ["one", "two"], &[]).assert().code(2);
    missing.stderr(contains("the build of one left no out/tool; name a file of it"));
    repository.run(["one", "four"], &[]).code(2).stderr(contains("there is no revision four"));
    let build = ["--build", "true", "--", "out/tool"];
    let mut alone = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
    alone.current_dir(&repository.files).env("XDG_CACHE_HOME", repository.cache.path());
    alone.env_remove("GITHUB_ACTIONS");
    let alone = alone.args(["compare", "--rev", "two"]).args(build).assert().code(2);
    assert!(errors(&alone).starts_with("lab: there is no second command"));
    let outside = repository.lab_of("../tool", "true", ["one", "two"], &[]).assert().code(2);
    outside.stderr(contains("`../tool` is not below the built revision; give the program's path"));
    repository.is_clean();
}

#[test]
fn the_work_tree_is_a_revision_too() {
    let repository = Repository::new();
    fs::write(repository.files.path().join("source"), "sleep 0.03").unwrap();
    fs::write(repository.files.path().join("new"), "not in any revision").unwrap();
    let objects = repository.git(&["count-objects"]);
    let dirty = repository.run(["one", "same"], &["--runs", "1"]).code(11);
    dirty.stderr(contains("the work tree has changes that no revision holds; --rev . takes them"));
    let build = format!("{BUILD}; test -e new || grep -q 0.001 source");
    let slower = repository.lab(&build, ["one", "."], &[]).assert().code(10);
    slower.stdout(contains("\n. is ").and(contains(" × slower than one (")));
    let changed = "sleep 0.03";
    assert_eq!(fs::read_to_string(repository.files.path().join("source")).unwrap(), changed);
    assert_eq!(repository.git(&["count-objects"]), objects);
    assert_eq!(repository.git(&["diff", "--cached"]), "");
}

#[test]
fn a_kept_program_that_was_changed_is_not_taken() {
    let _attack = Attack::on("programs", "a kept build that was changed");
    let repository = Repository::new();
    let first = repository.run(["one", "two"], &["--runs", "1", "--json"]).code(11);
    let built = json(&first)["commands"][0]["builds"][0].clone();
    assert_eq!(built["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(built["tree"], repository.git(&["rev-parse", "one^{tree}"]).trim());
    let program = Path::new(built["program"].as_str().unwrap());
    fs::write(program, "#!/bin/sh\nexit 7\n").unwrap();
    let again = repository.run(["one", "two"], &["--runs", "1", "--json"]).code(11);
    assert_eq!(json(&again)["commands"][0]["builds"][0], built);
    assert!(contains("building one").eval(&errors(&again)));
    assert!(!contains("building two").eval(&errors(&again)));
}

#[test]
fn a_build_reads_gits_data_and_may_change_its_files() {
    let repository = Repository::new();
    let build = format!("{BUILD}; git describe --tags > name; grep -q . name; rm source");
    let assert = repository.lab(&build, ["one", "two"], &["--runs", "1"]).assert().code(11);
    assert!(contains("building two").eval(&errors(&assert)));
    repository.is_clean();
}

#[test]
fn builds_differ_by_their_number_and_each_round_is_of_one() {
    let repository = Repository::new();
    let build = format!("{BUILD}; echo \"# $LAB_BUILD $LAB_BUILD_SEED\" >> out/tool");
    // An answer would end it before any build is drawn twice.
    let all = ["--precision", "0.0001"];
    let more = ["--builds", "16", "--runs", "80", "--json", "--record", "r.jsonl"];
    let more = [&more[..], &all].concat();
    let assert = repository.lab(&build, ["one", "two"], &more).assert();
    let result = json(&assert);
    let builds = result["commands"][1]["builds"].as_array().unwrap();
    let mut hashes: Vec<&str> = builds.iter().map(|b| b["sha256"].as_str().unwrap()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!((builds.len(), hashes.len(), &builds[15]["build"]), (16, 16, &15.into()));
    let found = &result["builds"][0];
    assert!(found["share"].as_f64().unwrap() <= 1.0 && found["between_sd"].is_f64());
    assert_eq!(found["drawn"].as_u64().unwrap(), found["means"].as_array().unwrap().len() as u64);
    let text = fs::read_to_string(repository.files.path().join("r.jsonl")).unwrap();
    let rounds: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let drawn = |build: u64| {
        rounds.iter().any(|round| round["layout"]["build"].as_u64().unwrap_or(0) == build)
    };
    assert_eq!((0..16).filter(|build| drawn(*build)).count() as u64, found["drawn"]);
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(header["commands"], result["commands"]);
    assert_eq!(repository.builds(), 32);
}

#[test]
fn each_session_runs_new_copies_of_the_builds() {
    let repository = Repository::new();
    let tells = r#"echo 'echo "$(stat -c %i "$0") $0" >> told' >> out/tool"#;
    let build = format!("{BUILD}; {tells}");
    let more = ["--sessions", "3", "--runs", "6"];
    repository.lab(&build, ["one", "two"], &more).assert().code(11);
    let told = fs::read_to_string(repository.files.path().join("told")).unwrap();
    let mut names: Vec<&str> = told.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 2, "{told}");
    for name in names {
        assert!(!Path::new(name).starts_with(repository.cache.path()) && !Path::new(name).exists());
        let mut files: Vec<&str> = told.lines().filter(|line| line.ends_with(name)).collect();
        files.dedup();
        assert_eq!(files.len(), 3, "{told}");
    }
}

#[test]
fn every_build_is_checked() {
    let _attack = Attack::on("answers", "a build that prints something else");
    let repository = Repository::new();
    let more = ["--builds", "3", "--runs", "2"];
    let with = |last: &str| {
        let build = format!("{BUILD}; test $LAB_BUILD != 2 || echo '{last}' >> out/tool");
        repository.lab(&build, ["one", "two"], &more).assert()
    };
    with("exit 7").code(1).stderr(contains("`one: out/tool` ended with status 7"));
    for prints in ["echo more", "date +%N"] {
        let noted = with(prints).code(11);
        let noted = noted.stderr(contains("note: the builds of one print different things\n"));
        noted.stderr(contains("note: the builds of two print different things\n"));
    }
}

#[test]
fn what_warms_up_is_drawn_from_all_builds() {
    let repository = Repository::new();
    let build = format!("{BUILD}; echo \"echo $LAB_BUILD >> ran\" >> out/tool");
    let more = ["--builds", "2", "--warmup", "16", "--runs", "1", "--seed", "1"];
    repository.lab(&build, ["one", "two"], &more).assert().code(11);
    let ran = fs::read_to_string(repository.files.path().join("ran")).unwrap();
    // The check runs each build of both and the reference again; then come 17 rounds of two, and a
    // run that washes the first of those that warm up, and of those that count.
    assert_eq!(ran.lines().count(), 5 + 17 * 2 + 2);
    let second = ran.lines().filter(|build| *build == "1").count();
    assert!((2 + 2 * 2..2 + 16 * 2).contains(&second), "{ran}");
}

#[test]
fn settings_of_cargo_and_compilers_make_another_build() {
    let repository = Repository::new();
    let with = |name: &str, value: &str| {
        let mut lab = repository.lab(BUILD, ["one", "two"], &["--runs", "1"]);
        lab.env(name, value).assert().code(11);
        repository.builds()
    };
    assert_eq!(with("CARGO_PROFILE_RELEASE_LTO", "fat"), 2);
    assert_eq!(with("CARGO_PROFILE_RELEASE_LTO", "fat"), 2);
    assert_eq!(with("CARGO_PROFILE_RELEASE_LTO", "thin"), 4);
    assert_eq!(with("RUSTC_WRAPPER", "a"), 6);
    assert_eq!(with("CARGO_PROFILES", "a"), 8, "of no variable that counts");
    assert_eq!(with("CARGO_HOME_OF", "a"), 8);
}

#[test]
fn builds_of_the_same_bytes_are_named() {
    let repository = Repository::new();
    let with = |build: &str| {
        let more = ["--builds", "3", "--runs", "8", "--seed", "1"];
        repository.lab(build, ["one", "two"], &more).assert().code(11)
    };
    with(BUILD).stderr(contains(
        "note: all 3 builds of one are the same bytes; the build command has to use LAB_BUILD",
    ));
    let two = format!("{BUILD}; test $LAB_BUILD = 2 || echo >> out/tool");
    let assert = with(&two).stderr(contains("note: 2 of 3 builds of two are the same bytes"));
    assert.stdout(contains("two: over these 3 builds; "));
}

#[test]
fn two_labs_build_one_after_the_other() {
    let repository = Repository::new();
    let build = format!("{BUILD}; echo x >> $COUNT; sleep 0.7");
    let count = repository.cache.path().join("count");
    let lab = || {
        let mut lab = repository.lab(&build, ["one", "two"], &["--runs", "1"]);
        lab.env("COUNT", &count).stdout(Stdio::piped()).stderr(Stdio::piped());
        lab.spawn().unwrap()
    };
    let outputs = [lab(), lab()].map(|child| child.wait_with_output().unwrap());
    let texts = outputs.map(|output| {
        assert_eq!(output.status.code(), Some(11));
        String::from_utf8(output.stderr).unwrap()
    });
    assert_eq!(fs::read_to_string(count).unwrap(), "x\nx\n");
    let waits = |text: &&String| text.contains("waiting for another lab that builds in ");
    assert!(texts.iter().any(|text| waits(&text)), "{texts:?}");
    repository.is_clean();
}

#[test]
fn an_interrupted_build_leaves_nothing_and_is_not_taken() {
    let _attack = Attack::on("kills", "a build interrupted amid its work");
    let repository = Repository::new();
    let slow = format!("{BUILD}; echo x > $STARTED; test -e $GO || sleep 1000");
    let [started, go] = ["started", "go"].map(|name| repository.cache.path().join(name));
    let lab = || {
        let mut lab = repository.lab(&slow, ["one", "two"], &["--runs", "1"]);
        lab.env("STARTED", &started).env("GO", &go);
        lab
    };
    let mut child = lab().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..1_000 {
        if started.exists() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    repository.is_clean();
    assert_eq!(repository.builds(), 0);
    fs::write(&go, "").unwrap();
    lab().assert().code(11).stderr(contains("building one"));
}

#[test]
fn what_a_build_leaves_running_is_ended() {
    let _attack = Attack::on("kills", "a build that leaves a session running");
    let repository = Repository::new();
    let pids = repository.cache.path().join("pids");
    let daemon = format!(
        "setsid sh -c 'echo $$ >> {0}; touch up; exec sleep 998' &
         while ! test -e up; do sleep 0.01; done; {BUILD}",
        pids.display()
    );
    repository.lab(&daemon, ["one", "two"], &["--runs", "1"]).assert().code(11);
    repository.lab(&daemon, ["one", "three"], &[]).assert().code(1);
    let left = fs::read_to_string(pids).unwrap();
    assert_eq!(left.lines().count(), 3);
    let is_there = |process: &&str| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|text| !text.contains(") Z "))
    };
    assert_eq!(left.lines().filter(is_there).count(), 0, "{left}");
}

#[test]
fn names_and_preparations_are_those_of_the_revisions() {
    let repository = Repository::new();
    let refused = |more: &[&str], sentence: &str| {
        repository.run(["one", "two"], more).code(2).stderr(contains(sentence.to_owned()));
    };
    refused(&["-n", "a", "-n", "b", "-n", "c"], "3 names do not fit 2 commands");
    refused(&["-n", "a", "-n", "a"], "two commands have the name a");
    let prepared = ["--prepare", "true", "--prepare", "true", "--prepare", "true"];
    refused(&prepared, "--prepare is given 3 times for 2 commands");
}
