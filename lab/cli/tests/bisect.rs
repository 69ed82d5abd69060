//! `lab bisect` by its exit codes and sentences, in repositories whose build is a script.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use assert_cmd::assert::{Assert, OutputAssertExt};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{Predicate, str::contains};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

/// Commits 0 to 12: from 7 on the script sleeps for longer, 6 does not build, 3 has the files of 2,
/// and 9 builds the bytes of 8.
const COMMITS: &str = "git init -q -b main . && git config user.name n && git config user.email e@e
    for at in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
        test $at -lt 7 && echo sleep 0.005 > source || echo sleep 0.08 > source
        test $at = 6 && echo broken > source
        test $at = 3 || echo $at > number
        test $at = 9 && echo 8 > number && echo more > note
        git add . && git commit -q --allow-empty -m \"commit $at\" && git tag v$at
    done";

const BUILD: &str = "grep -q sleep source || { echo no sleep >&2; exit 1; }
    { echo '#!/bin/sh'; cat source; echo \"# $(cat number)\"; } > tool && chmod +x tool";

struct Repository {
    files: TempDir,
    cache: TempDir,
}

impl Repository {
    fn new() -> Self {
        let (files, cache) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        Command::new("sh").args(["-ec", COMMITS]).current_dir(&files).assert().success();
        Self { files, cache }
    }

    fn lab(&self, good: &str, bad: &str, more: &[&str]) -> Command {
        self.lab_of(good, bad, BUILD, more)
    }

    fn lab_of(&self, good: &str, bad: &str, build: &str, more: &[&str]) -> Command {
        // Relative to the workspace's root where Bazel runs this.
        let program = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
        let mut lab = Command::new(program);
        lab.current_dir(&self.files).env("XDG_CACHE_HOME", self.cache.path());
        lab.args(["bisect", "--good", good, "--bad", bad, "--build", build]).args(more);
        lab.args(["--", "tool"]);
        lab
    }

    fn run(&self, good: &str, bad: &str, more: &[&str]) -> Assert {
        self.lab(good, bad, more).assert()
    }

    fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git").args(words).current_dir(&self.files).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    #[track_caller]
    fn is_clean(&self) {
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        let name = self.files.path().file_name().unwrap();
        assert!(!self.cache.path().join("lab/builds").join(name).join("work").exists());
    }
}

fn errors(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn the_commit_is_named_with_its_interval() {
    let repository = Repository::new();
    let assert = repository.run("v0", "v12", &[]).code(11);
    // Commit 6, which does not build, hides whether it or 7 is the one.
    let range = format!(
        "cannot tell: the commits between do not build; the change came after {} and with {} at \
         the latest (2 commits)",
        &repository.git(&["rev-parse", "v5"])[..12],
        &repository.git(&["rev-parse", "v7"])[..12]
    );
    let assert = assert.stdout(contains(range)).stderr(contains("does not build: no sleep"));
    let told = errors(&assert);
    assert!(told.starts_with("12 commits after v0; at most 6 comparisons of 60 s, 360 s in all"));
    repository.is_clean();
}

#[test]
fn a_commit_whose_parent_builds_is_found() {
    let repository = Repository::new();
    let branch = "git checkout -q v5; echo sleep 0.08 > source; git commit -qam 'slow down'
        git tag slow; echo 99 > number; git commit -qam last; git tag last; git checkout -q main";
    Command::new("sh").args(["-ec", branch]).current_dir(&repository.files).assert().success();
    let assert = repository.run("v0", "last", &["--json", "--prepare", "true"]).code(0);
    let result: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(result["found"], repository.git(&["rev-parse", "slow"]));
    assert_eq!((&result["schema"], &result["exit"]), (&"lab-bisect-1".into(), &0.into()));
    let comparisons = result["comparisons"].as_array().unwrap();
    let last = &comparisons[comparisons.len() - 1];
    assert_eq!((&last["reference"], &last["candidate"]), (&5.into(), &6.into()));
    assert!(last["estimate"]["interval"][0].as_f64().unwrap() > 0.0);
    // Commits 2 and 3 have one tree: whatever was built, was built once.
    assert!(errors(&assert).matches("building ").count() < 9);
    let text = repository.run("v0", "last", &[]).code(0);
    let text = text.stdout(contains("is slower: slow down"));
    assert!(!contains("building ").eval(&errors(&text)));
    repository.is_clean();
}

#[test]
fn equal_bytes_are_no_slowdown_and_a_faster_commit_is_none_either() {
    let repository = Repository::new();
    let same = repository.run("v8", "v9", &[]).code(11);
    same.stdout(contains("cannot tell: v9 is not shown to be slower than v8: the same bytes"));
    Command::new("sh")
        .args(["-ec", "echo sleep 0.005 > source; git commit -qam 'speed up'; git tag fast"])
        .current_dir(&repository.files)
        .assert()
        .success();
    let faster = repository.run("v10", "fast", &[]).code(11);
    faster.stdout(contains("cannot tell: fast is not shown to be slower than v10: wall time -"));
    let found = repository.run("v10", "fast", &["--faster"]).code(0);
    found.stdout(contains("is faster: speed up"));
    repository.is_clean();
}

#[test]
fn what_goes_wrong_is_one_sentence_and_a_code() {
    let repository = Repository::new();
    let last = |assert: &Assert| errors(assert).lines().last().unwrap().to_owned();
    let broken = repository.run("v6", "v12", &[]).code(1);
    assert_eq!(last(&broken), "lab: v6 does not build: no sleep");
    repository.run("v6", "nothing", &[]).code(2).stderr(contains("there is no revision nothing"));
    let turned = repository.run("v12", "v0", &[]).code(2);
    turned.stderr(contains("v12 is not among the first parents of v0"));
    repository.run("v0", "v0", &[]).code(2).stderr(contains("v0 is not among the first parents"));
    repository.run("v0", "v5", &["--budget=-1"]).code(2).stderr(contains("--budget"));
    let hangs = repository.run("v0", "v12", &["--timeout", "0.001"]).code(1);
    hangs.stderr(contains("was ended after 0.001 s, the --timeout"));
    let setup = repository.run("v0", "v12", &["--setup", "exit 5"]).code(1);
    setup.stderr(contains("--setup `exit 5` ended with status 5"));
    repository.is_clean();
}

#[test]
fn an_interrupted_search_says_what_is_left() {
    let _attack = Attack::on("kills", "a search interrupted amid its work");
    let repository = Repository::new();
    let around = ["--setup", "touch started", "--cleanup", "touch cleaned"];
    let mut lab = repository.lab("v0", "v12", &around);
    let child = lab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let started = repository.files.path().join("started");
    for _ in 0..1_000 {
        if started.exists() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(contains("interrupted: ").eval(&String::from_utf8(output.stdout).unwrap()));
    fs::remove_file(started).unwrap();
    fs::remove_file(repository.files.path().join("cleaned")).unwrap();
    repository.is_clean();
}

#[test]
fn what_is_left_running_ends_and_a_failed_cleanup_takes_no_answer_away() {
    let _attack = Attack::on("kills", "--setup of a search leaves a session running");
    let repository = Repository::new();
    let pids = repository.cache.path().join("pids");
    let setup = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 998' & while ! test -s {0}; do sleep 0.01; done",
        pids.display()
    );
    let pid = || fs::read_to_string(&pids).unwrap().trim().to_owned();
    let there = format!("kill -0 $(cat {})", pids.display());
    let more = ["--setup", &setup, "--prepare", &there, "--cleanup", "exit 5", "--budget", "0.1"];
    let failed = repository.run("v0", "v1", &more).code(1);
    let failed = failed.stdout(contains("cannot tell: v1 is not shown to be slower than v0"));
    failed.stderr(contains("--cleanup `exit 5` ended with status 5"));
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid()));
    assert!(!stat.is_ok_and(|text| !text.contains(") Z ")), "{} is still there", pid());
    let more = ["--cleanup", "exit 5", "--budget", "0.1", "--json"];
    let failed = repository.run("v0", "v1", &more).code(1);
    let result: Value = serde_json::from_slice(&failed.get_output().stdout).unwrap();
    assert_eq!((&result["end"]["kind"], &result["exit"]), (&"no_change".into(), &1.into()));
    repository.is_clean();
}

#[test]
fn a_commits_message_does_nothing_to_a_terminal_or_a_job() {
    for (what, subject) in [
        ("clears the screen", "slow \u{1b}[2J down"),
        ("is a workflow command", "slow ##[error]down"),
        ("turns the text round", "slow \u{202e}down"),
        ("writes over its line", "slow\rdown"),
    ] {
        let _attack = Attack::on("pages", &format!("a commit's message that {what}"));
        let repository = Repository::new();
        let commits = "git checkout -q v5; git tag good; echo sleep 0.08 > source
            git commit -qam \"$SUBJECT\"; git tag bad";
        let mut git = Command::new("sh");
        git.args(["-ec", commits]).env("SUBJECT", subject).current_dir(&repository.files);
        git.assert().success();
        for json in [false, true] {
            let more: &[&str] = if json { &["--json"] } else { &[] };
            let found = repository.run("good", "bad", more).code(0);
            let said =
                String::from_utf8(found.get_output().stdout.clone()).unwrap() + &errors(&found);
            let acts = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
            assert!(!said.contains(acts) && !said.contains("##["), "{said}");
        }
    }
}

#[test]
fn a_commit_whose_program_is_wrong_after_the_check_ends_the_search() {
    let _attack = Attack::on("answers", "a bad commit that is right until its sixth run");
    let repository = Repository::new();
    let lie = "git checkout -q v5
        echo 'echo >> $COUNT; test $(wc -l < $COUNT) -lt 6 && echo right || echo wrong' > source
        echo 'sleep 0.005' >> source; git commit -qam 'answer faster'; git tag liar
        git checkout -q v0; echo 'echo right; sleep 0.02' > source; git commit -qam honest
        git tag honest; git checkout -q liar -- source; git commit -qam again; git tag last";
    Command::new("sh").args(["-ec", lie]).current_dir(&repository.files).assert().success();
    let mut lab = repository.lab("honest", "last", &["--faster"]);
    let ended = lab.env("COUNT", repository.cache.path().join("count")).assert().code(1);
    ended.stderr(contains("last: tool` printed something else in its run ")).stdout("");
    repository.is_clean();
}

#[test]
fn a_build_that_is_changed_amid_the_search_ends_it() {
    for (what, way) in [
        ("is written anew", "cp \"$0\" t; echo : >> t; cat t > \"$0\""),
        ("is replaced", "cp -p \"$0\" \"$0.new\"; echo : >> \"$0.new\"; mv \"$0.new\" \"$0\""),
        ("is away and back", "mv \"$0\" \"$0.t\"; sleep 0.02; mv \"$0.t\" \"$0\""),
    ] {
        let _attack = Attack::on("programs", &format!("a build of a search {what}"));
        let repository = Repository::new();
        let source = format!(
            "echo >> $COUNT; test $(wc -l < $COUNT) = 9 && {{ cd ${{COUNT%/*}}; {way}; }}; :"
        );
        fs::write(repository.files.path().join("source"), format!("sleep 0.005; {source}\n"))
            .unwrap();
        let commits = "git commit -qam a; git tag a; echo 1 > number; git commit -qam b; git tag b";
        Command::new("sh").args(["-ec", commits]).current_dir(&repository.files).assert().success();
        let mut lab = repository.lab("a", "b", &[]);
        let ended = lab.env("COUNT", repository.cache.path().join("count")).assert().code(1);
        ended.stderr(contains("tool was changed after ")).stdout("");
    }
}

#[test]
fn a_killed_search_leaves_no_process_and_no_scratch_folder() {
    for (amid, source, build) in [
        ("a run", "echo $$ >> $PIDS; setsid sleep 997 & echo $! >> $PIDS; sleep 998; :", ""),
        ("a build", "sleep 0.005", "echo $$ >> $PIDS; sleep 997 & echo $! >> $PIDS; wait; "),
    ] {
        let _attack = Attack::on("kills", &format!("SIGKILL of a search amid {amid}"));
        let repository = Repository::new();
        let commits = format!(
            "echo '{source}' > source; git commit -qam a; git tag a
            echo 1 > number; git commit -qam b; git tag b"
        );
        Command::new("sh")
            .args(["-ec", &commits])
            .current_dir(&repository.files)
            .assert()
            .success();
        let (temporary, pids) = (TempDir::new().unwrap(), repository.cache.path().join("pids"));
        let build = format!("{build}{BUILD}");
        let mut lab = repository.lab_of("a", "b", &build, &[]);
        lab.env("TMPDIR", temporary.path()).env("PIDS", &pids);
        let mut child = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let left = || fs::read_to_string(&pids).unwrap_or_default();
        until(|| left().lines().count() >= 2);
        child.kill().unwrap();
        child.wait().unwrap();
        let is_there = |pid: &str| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|text| !text.contains(") Z "))
        };
        until(|| !left().lines().any(is_there));
        until(|| fs::read_dir(&temporary).unwrap().count() == 0);
    }
}

fn until(is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("that did not come about");
}
