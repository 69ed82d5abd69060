//! What the program answers, and its exit codes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use program::{Finished, ask, program};
use proof_kit::engines::{Corpus, Wanted, search};
use serde_json::Value;

mod program;

const FOUND: Option<i32> = Some(0);
const NOTHING: Option<i32> = Some(1);
const TROUBLE: Option<i32> = Some(2);

/// Root reads whatever it likes, unless this right is taken from it.
fn ask_without_override(arguments: &[&str]) -> Finished {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return ask(arguments);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    command.arg(program().get_program()).args(arguments).output().unwrap().into()
}

/// Three messages in two files, in a folder of their own.
fn sessions() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let line = |role: &str, day: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}},\
             \"timestamp\":\"2026-01-{day}T00:00:00Z\",\"sessionId\":\"s-{role}\",\
             \"cwd\":\"/src/{role}\"}}\n"
        )
    };
    let first = line("user", "02", "Out of\\nmemory") + &line("assistant", "01", "memory is fine");
    fs::write(dir.path().join("a.jsonl"), first).unwrap();
    fs::write(dir.path().join("b.jsonl"), line("user", "03", "more memory, no error")).unwrap();
    dir
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_newest_are_shown_first_and_the_exit_code_says_what_was_found() {
    let dir = sessions();
    let root = text(dir.path());
    let finished = ask(&["memory", root]);
    let expected = format!(
        "2026-01-03T00:00:00Z user s-user {root}/b.jsonl:0\n  more memory, no error\n\
         2026-01-02T00:00:00Z user s-user {root}/a.jsonl:0\n  Out of\n  memory\n\
         2026-01-01T00:00:00Z assistant s-assistant {root}/a.jsonl:143\n  memory is fine\n"
    );
    assert_eq!((finished.stdout, finished.code), (expected, FOUND));
    assert_eq!(finished.stderr, "");
    let finished = ask(&["absent", root]);
    assert_eq!((finished.stdout.as_str(), finished.code), ("", NOTHING));
}

#[test]
fn json_is_one_object_and_jsonl_one_a_message() {
    let dir = sessions();
    let root = text(dir.path());
    let finished = ask(&["memory", root, "--output", "json", "--limit", "2"]);
    let whole: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((&whole["matches"], &whole["files"]), (&3.into(), &2.into()));
    assert_eq!(whole["unreadable"], Value::Array(vec![]));
    assert_eq!((&whole["lines_repaired"], &whole["lines_unreadable"]), (&0.into(), &0.into()));
    let finished = ask(&["memory", root, "--limit", "2", "--output", "jsonl"]);
    let lines: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(whole["messages"].as_array(), Some(&lines));
    let times: Vec<_> = lines.iter().map(|line| line["timestamp"].as_str().unwrap()).collect();
    assert_eq!(times, ["2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z"]);
    let (path, text) = (format!("{root}/a.jsonl"), "Out of\nmemory");
    let message = serde_json::json!({
        "path": path, "offset_bytes": 0, "timestamp": times[1], "role": "user",
        "session": "s-user", "project": "/src/user", "repaired": false, "text": text,
    });
    assert_eq!(lines[1], message);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_exit_code_says_so() {
    let corpus = Corpus::hostile().unwrap();
    let lower = |text: &str| text.to_ascii_lowercase().contains("needle");
    let expected = search(corpus.path(), &Wanted { text: &lower, line: &|_| true });
    let root = text(corpus.path());
    let arguments = ["needle", root, "--limit", "all", "--output", "json"];
    let finished = ask(&arguments);
    assert_eq!(finished.code, TROUBLE, "{finished:?}");
    let whole: Value = serde_json::from_str(&finished.stdout).unwrap();
    // What strict JSON has, in its order, and between that what was repaired.
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(whole["matches"], messages.len());
    let strict = messages.iter().filter(|one| one["repaired"] == false);
    let offsets: Vec<_> = strict.map(|one| one["offset_bytes"].as_i64().unwrap()).collect();
    let places = expected.rows.iter().map(|row| row.1).collect::<Vec<_>>();
    assert_eq!(offsets, places);
    let repaired = messages.len() - places.len();
    assert_eq!(whole["lines_repaired"], repaired);
    // Of the lines that no strict reader takes, three are no message: words, an array of one and
    // a string.
    assert_eq!((repaired, &whole["lines_unreadable"]), (11, &4.into()));
    assert!(finished.stderr.contains("invalid.jsonl:2: the line holds"), "{}", finished.stderr);
    let unreadable = whole["unreadable"].as_array().unwrap();
    for (file, reason) in [("dangling", "No such file"), ("folder", "not a regular file")] {
        let path = format!("{root}/{file}.jsonl");
        let listed = unreadable.iter().find(|one| one["path"] == path.as_str()).unwrap();
        assert!(listed["reason"].as_str().unwrap().contains(reason), "{listed}");
        assert!(finished.stderr.contains(&format!("{path}: {reason}")), "{}", finished.stderr);
    }
    assert_eq!(unreadable.len() as u64, expected.unreadable);
    // Nothing found does not hide it.
    assert_eq!(ask(&["nowhere-in-them", root]).code, TROUBLE);
}

#[test]
fn a_folder_that_cannot_be_read_takes_nothing_from_the_others() {
    let dir = sessions();
    let root = text(dir.path());
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let finished = ask_without_override(&["memory", root, "--output", "json"]);
    assert_eq!(finished.code, TROUBLE, "{finished:?}");
    let whole: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(whole["matches"], 3);
    let listed = &whole["unreadable"][0];
    assert_eq!(listed["path"], text(&closed), "{whole}");
    let reason = listed["reason"].as_str().unwrap();
    assert!(reason.contains("Permission denied"), "{reason}");
}

#[test]
fn filters_and_operators_are_taken_together() {
    let dir = sessions();
    let root = text(dir.path());
    let file = format!("{root}/a.jsonl");
    for (arguments, days) in [
        (&["memory AND NOT error"][..], &["02", "01"][..]),
        (&["'out of' OR /FINE$/i"], &["02", "01"]),
        (&["/out of\\smemory/is", "--case-sensitive"], &["02"]),
        (&["Memory", "--case-sensitive"], &[]),
        (&["", "--role", "assistant"], &["01"]),
        (&["", "--session", "s-user", "--before", "2026-01-03T00:00:00Z"], &["02"]),
        (&["", "--since", "2026-01-02T00:00:00Z", "--project", "/src"], &["03", "02"]),
        (&["(fine OR error) memory", "--limit", "1"], &["03"]),
    ] {
        let arguments = [arguments, &["--output", "jsonl", "--", root]].concat();
        let finished = ask(&arguments);
        let lines = finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let found: Vec<String> =
            lines.map(|one: Value| one["timestamp"].as_str().unwrap()[8..10].to_owned()).collect();
        assert_eq!(found, days, "{arguments:?}: {finished:?}");
        assert_eq!(finished.code, if days.is_empty() { NOTHING } else { FOUND });
    }
    // A file beside its folder is searched once, and one of another name if it is named.
    let other = dir.path().join("notes.txt");
    fs::copy(&file, &other).unwrap();
    let count = |paths: &[&str]| ask(&[&["fine"], paths].concat()).stdout.lines().count();
    assert_eq!((count(&[root, &file]), count(&[&file, text(&other)])), (2, 4));
}

#[test]
fn what_is_asked_wrongly_is_pointed_at() {
    for (arguments, sentence) in [
        (
            &["größe AND (b"][..],
            ": column 11: this parenthesis is never closed\n  größe AND (b\n            ^\n",
        ),
        (
            &["a", "--after", "noon"],
            "'noon' for '--after <TIME>': write it as 2026-01-31, 2026-01-31T12:00,",
        ),
        (&["a", "-C", "few"], "'few' for '--context <N>': give a number\n"),
        (&["a", "--limit", "few"], "'few' for '--limit <N>': give a number or `all`\n"),
        (&["a", "--output", "xml"], "'xml' for '--output <FORMAT>'\n  [possible values: text,"),
        (&["a", "--threads", "0"], "'0' for '--threads <N>': give a number from 1\n"),
        (&["a", "--hurry"], "'--hurry' found\n"),
        (&["-x y"], "'-x' found\n\n  tip: to pass '-x' as a value, use '-- -x'\n"),
        (&["a", "--role"], "'--role <ROLE>' but none was supplied\n"),
        (&["a", "--json", "--output", "text"], "'--json' cannot be used with '--output <FORMAT>'"),
        (&[], "jsonl-search: a query is missing; \"\" finds every message\n"),
        (&["a", "no/such/folder"], ": cannot walk no/such/folder: No such file"),
    ] {
        let finished = ask(arguments);
        assert!(finished.stderr.contains(sentence), "{}", finished.stderr);
        assert_eq!((finished.stdout.as_str(), finished.code), ("", TROUBLE), "{arguments:?}");
    }
    let help = ask(&["--help"]).stdout;
    assert!(help.contains("  0  something was found\n  1  nothing was found\n"), "{help}");
}
