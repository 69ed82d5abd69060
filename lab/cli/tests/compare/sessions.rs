//! Sessions of a comparison: new files in each, and a verdict over them.

use std::{collections::BTreeSet, fs, path::Path};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

use crate::{json, lab, order::script, text};

/// Tells under which inode and name it runs, and of which data.
const TELLS: &str = r#"echo "$(stat -c %i "$0") $0 $(stat -c %i "$1") $1" >> told."$(basename "$0")"
cat "$1""#;

/// Two such scripts and their data.
fn world(body: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    script(&dir, "old.sh", body);
    script(&dir, "new.sh", body);
    fs::write(dir.path().join("data"), "x\n").unwrap();
    dir
}

fn lines(dir: &TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The session of each round of a recording.
fn sessions(dir: &TempDir, name: &str) -> Vec<u64> {
    let session = |line: &String| {
        let round: Value = serde_json::from_str(line).unwrap();
        round.get("session").map_or(0, |session| session.as_u64().unwrap())
    };
    lines(dir, name)[1..].iter().map(session).collect()
}

#[test]
fn each_session_runs_new_copies_under_the_same_names() {
    for command in
        ["./old.sh data", "./old.sh data | cat", "sh old.sh data", "sh old.sh data | cat"]
    {
        let dir = world(TELLS);
        let new = command.replace("old", "new");
        let arguments = [command, &new, "--data", "data", "--sessions", "3", "--runs", "6"];
        let more = ["--record", "r", "--json", "--control"];
        let result = json(&lab(&dir, &[&arguments[..], &more].concat()).assert().code(11));
        let is_of_bytes = |note: &Value| note.as_str().unwrap().contains("are the same program");
        assert!(result["notes"].as_array().unwrap().iter().all(is_of_bytes), "{}", result["notes"]);
        for name in ["old.sh", "new.sh"] {
            let mut told = lines(&dir, &format!("told.{name}"));
            let names: BTreeSet<String> = (told.iter())
                .map(|line| line.split(' ').skip(1).step_by(2).collect::<Vec<_>>().join(" "))
                .collect();
            // The reference has a copy in each session too, under another name.
            let own = usize::from(name == "old.sh");
            assert_eq!(names.len(), 1 + own, "{command}: {names:?}");
            for name in &names {
                let parts: Vec<&Path> = name.split(' ').map(Path::new).collect();
                assert!(parts.iter().all(|path| path.is_absolute() && !path.exists()), "{names:?}");
            }
            let first = names.iter().next().unwrap().split(' ').next().unwrap().to_owned();
            told.retain(|line| line.contains(&format!(" {first} ")));
            told.dedup();
            assert_eq!(told.len(), 3, "{command}: {told:?}");
        }
        let rounds = sessions(&dir, "r");
        assert!(rounds.is_sorted() && rounds.iter().collect::<BTreeSet<_>>().len() == 3);
        let pairs = result["sessions"]["each"][0]["pairs"].as_array().unwrap();
        assert_eq!(pairs.iter().map(|pairs| pairs.as_u64().unwrap()).sum::<u64>(), 6);
        assert!(result["sessions"]["control"].is_object());
    }
}

#[test]
fn a_session_begins_with_a_wash_and_the_rounds_are_cut_alike() {
    let dir = TempDir::new().unwrap();
    let arguments = ["true", "true", "--sessions", "3", "--runs", "7", "--record", "r"];
    let said = lab(&dir, &arguments).assert().code(11);
    said.stderr(contains("3 sessions of 20 s each; at most 7 rounds\n"));
    assert_eq!(sessions(&dir, "r"), [0, 0, 1, 1, 2, 2, 2]);
    let washed =
        lines(&dir, "r")[1..].iter().map(|line| line.contains("\"wash\"")).collect::<Vec<_>>();
    assert_eq!(washed, [true, false, true, false, true, false, false]);
}

/// Is slow in every second session: counts how often its file changes.
const BY_SESSION: &str = r#"here=$(stat -c %i "$0") me=$(basename "$0")
[ "$here" = "$(cat "$me.last" 2>/dev/null)" ] || { echo "$here" > "$me.last"; echo >> "$me.count"; }
[ $(($(wc -l < "$me.count") % 2)) = SLOW ] && sleep 0.05; true"#;

#[test]
fn what_differs_by_session_has_no_verdict_and_is_said() {
    let _attack = Attack::on("answers", "a program that is slow where its file lies badly");
    let dir = TempDir::new().unwrap();
    script(&dir, "old.sh", &BY_SESSION.replace("SLOW", "0"));
    script(&dir, "new.sh", &BY_SESSION.replace("SLOW", "1"));
    let arguments = ["./old.sh", "./new.sh", "--sessions", "6", "--runs", "18", "-n", "old", "-n"];
    let said = lab(&dir, &[&arguments[..], &["new", "--export-markdown", "page.md"]].concat());
    let said = text(&{ said }.assert().code(11));
    assert!(said.contains("\ncannot tell new from old: "), "{said}");
    let line = said.lines().find(|line| line.starts_with("new over 6 sessions: ")).unwrap();
    assert!(line.contains("): differs by session; the next session will find -"), "{line}");
    assert!(
        said.contains("\neach session ran new copies of programs and --data; host, "),
        "{said}"
    );
    let page = fs::read_to_string(dir.path().join("page.md")).unwrap();
    assert!(page.contains(&format!("- {line}\n")), "{page}");
}

#[test]
fn what_holds_in_all_sessions_is_the_verdict() {
    let dir = TempDir::new().unwrap();
    let arguments = ["true", "sleep 0.05", "--sessions", "6", "--runs", "18", "--json"];
    let result = json(&lab(&dir, &arguments).assert().code(10));
    let candidate = &result["state"]["candidates"][0];
    assert_eq!(candidate["verdict"]["outcome"], "slower");
    let over = &result["sessions"]["each"][0];
    assert_eq!(
        (&over["is_verdict"], &result["sessions"]["no_verdict"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(candidate["metrics"][0]["estimate"]["interval"], over["over"]["interval"]);
    assert_eq!(result["state"]["next"], "out_of_budget");
}

#[test]
fn fewer_than_six_sessions_have_no_verdict_of_their_own() {
    let dir = TempDir::new().unwrap();
    let said = lab(&dir, &["true", "true", "--sessions", "5", "--runs", "10"]).assert().code(11);
    let sentence = "\n5 sessions: too few for a verdict about sessions, 6 are needed\n";
    said.stdout(contains(sentence).and(contains("true over 5 sessions: ")));
}

#[test]
fn sessions_that_cannot_be_are_one_sentence() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| lab(&dir, &[&["true", "true"], more].concat()).assert();
    for wrong in ["0", "1", "65", "x"] {
        let _attack = Attack::on("options", &format!("--sessions {wrong}"));
        with(&["--sessions", wrong]).code(2).stderr(contains("for '--sessions <N>'"));
    }
    with(&["--sessions", "3", "--runs", "5"]).code(2).stderr(contains(
        "--runs 5 is less than two rounds for each of 3 sessions; give at least 6, or fewer",
    ));
    with(&["--sessions", "3", "--budget", "0.0001", "--record", "r"]).code(2).stderr(
        contains("3 sessions of two pairs each take about ").and(contains(
            " s, as the first round shows, and --budget is 0.0001 s; give --budget ",
        )),
    );
    assert_eq!(sessions(&dir, "r"), [0], "what was measured is kept");
    with(&["--sessions", "2", "--runs", "4", "--record", "two"]).code(11);
    for other in [&["--sessions", "3"][..], &[]] {
        let refused = with(&[&["--resume", "two"], other].concat()).code(4);
        refused.stderr(contains("two: holds another comparison, by --sessions; give the same"));
    }
}

#[test]
fn a_comparison_goes_on_in_the_session_in_which_it_was_cut() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| {
        lab(&dir, &[&["true", "true", "--sessions", "3", "--runs", "6"], more].concat()).assert()
    };
    with(&["--record", "all"]).code(11);
    for (rounds, expected) in [(1, 0), (3, 1), (4, 2), (6, 2)] {
        let _attack = Attack::on("kills", &format!("sessions that are cut after round {rounds}"));
        let kept: String =
            lines(&dir, "all")[..=rounds].iter().map(|line| format!("{line}\n")).collect();
        fs::write(dir.path().join("r"), kept).unwrap();
        with(&["--resume", "r"]).code(11);
        assert_eq!(sessions(&dir, "r"), [0, 0, 1, 1, 2, 2], "{rounds} {expected}");
    }
}

#[test]
fn files_that_do_not_stay_what_they_are_end_the_sessions() {
    for (what, does, sentence) in [
        ("its data is removed", "rm data", "data was removed after "),
        ("its data is another file", "cp data t; mv t data", "data was changed after "),
        ("its program is another", "cp new.sh t; mv t new.sh", "new.sh was changed after "),
        ("a copy is written to", "echo b >> \"$1\"", "data has other bytes after the rounds"),
        ("a copy of a program is written to", "echo : >> \"$0\"", "old.sh was changed after "),
    ] {
        let _attack = Attack::on("programs", &format!("amid sessions: {what}"));
        let dir = world("true");
        let body = format!("echo >> runs; test $(wc -l < runs) = 6 && {{ {does}; }}; true");
        script(&dir, "old.sh", &body);
        let arguments = ["./old.sh data", "./new.sh", "--data", "data", "--sessions", "6"];
        let ended = lab(&dir, &[&arguments[..], &["--runs", "12"]].concat()).assert().code(1);
        assert_eq!(text(&ended.stderr(contains(sentence))), "", "no verdict is printed: {what}");
    }
}

#[test]
fn commands_that_keep_their_program_are_named() {
    let dir = world("true");
    let with = |arguments: &[&str]| {
        lab(&dir, &[arguments, &["--sessions", "2", "--runs", "4"]].concat()).assert()
    };
    let builtin = with(&["cd . && ./old.sh", "./new.sh"]).code(11);
    builtin.stderr(contains(
        "note: `cd . && ./old.sh` keeps the place of its program in all sessions: it begins with \
         no program that can be copied\n",
    ));
    let prepare = "cp new.sh t && mv t old.sh";
    let prepared = with(&["./old.sh", "./new.sh", "--prepare", prepare]).code(11);
    prepared.stderr(
        contains("`./old.sh` keeps the place of its program in all sessions: --prepare makes it")
            .and(contains("`./new.sh` keeps").not()),
    );
    // What it needs lies beside it.
    script(&dir, "lib", "true");
    script(&dir, "old.sh", ". \"$(dirname \"$0\")/lib\"");
    let failed = with(&["./old.sh", "./new.sh"]).code(1);
    failed.stderr(contains(
        "; --sessions ran a copy of its program, and a command that begins with `: &&` keeps its",
    ));
    with(&[": && ./old.sh", "./new.sh"]).code(11);
}
