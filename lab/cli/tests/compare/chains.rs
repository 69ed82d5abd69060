//! Files that `lab compare` goes on with, changed by hand: recordings and attempts.

use std::fs;

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use tempfile::TempDir;

use crate::{lab, text};

/// As it was written before lines had chains.
pub(crate) fn unchained(text: &str) -> String {
    let without =
        |line: &str| line.rsplit_once(",\"chain\":").map(|(line, _)| format!("{line}}}\n"));
    text.lines().map(|line| without(line).unwrap()).collect()
}

fn read(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

fn write(dir: &TempDir, name: &str, text: &str) {
    fs::write(dir.path().join(name), text).unwrap();
}

fn resume(dir: &TempDir, runs: &str) -> Assert {
    lab(dir, &["true", "sleep 0.001", "--resume", "r", "--runs", runs]).assert()
}

/// A recording of five rounds.
fn recorded() -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let arguments = ["true", "sleep 0.001", "--record", "r", "--runs", "5", "--seed", "1"];
    lab(&dir, &arguments).assert().code(11);
    let text = read(&dir, "r");
    assert_eq!(text.lines().count(), 6);
    (dir, text)
}

/// The lines with those of one place changed.
fn with_line(text: &str, place: usize, change: impl Fn(&str) -> String) -> String {
    let changed = |(at, line): (usize, &str)| {
        if at == place { change(line) } else { format!("{line}\n") }
    };
    text.lines().enumerate().map(changed).collect()
}

/// A line with the first number after a key made another one.
fn with_number(line: &str, key: &str) -> String {
    let at = line.find(key).unwrap() + key.len();
    let digit = at + line[at..].find(|letter: char| letter.is_ascii_digit()).unwrap();
    let other = if &line[digit..=digit] == "7" { "8" } else { "7" };
    format!("{}{other}{}\n", &line[..digit], &line[digit + 1..])
}

#[test]
fn no_line_of_a_recording_is_changed_unseen() {
    let (dir, text) = recorded();
    let refused = |what: &str, changed: &str, said: &str| {
        let _attack = Attack::on("records", &format!("a recording of a comparison: {what}"));
        assert_ne!(changed, text);
        write(&dir, "r", changed);
        let refused = resume(&dir, "6").code(4).stderr(contains(format!("lab: r: {said}")));
        let refused = refused.stderr(contains("begin again with --record"));
        assert_eq!(crate::text(&refused), "");
        assert_eq!(read(&dir, "r"), changed, "it is left as it is");
    };
    let line = |number: usize| format!("line {number} is not what was written there");
    for key in ["\"seed\":", "\"margin\":", "\"alpha\":", "\"budget_s\":", "\"inner\":"] {
        let changed = with_line(&text, 0, |line| with_number(line, key));
        refused(&format!("another {key} in its head"), &changed, &line(1));
    }
    for key in
        ["\"elapsed_s\":", "\"runs\":", "\"statuses\":", "\"environment_bytes\":", "\"order\":"]
    {
        for place in [1, 3, 5] {
            let changed = with_line(&text, place, |line| with_number(line, key));
            refused(&format!("another {key} in line {}", place + 1), &changed, &line(place + 1));
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    for place in 1..5 {
        let gone = with_line(&text, place, |_| String::new());
        refused(&format!("without line {}", place + 1), &gone, &line(place + 1));
        let twice = with_line(&text, place, |line| format!("{line}\n{line}\n"));
        refused(&format!("line {} twice", place + 1), &twice, &line(place + 2));
        let mut swapped = lines.clone();
        swapped.swap(place, place + 1);
        let swapped = swapped.join("\n") + "\n";
        refused(&format!("lines {} and the next in turn", place + 1), &swapped, &line(place + 1));
    }
    let bare = with_line(&text, 3, unchained);
    refused("a line without a chain", &bare, "line 4 has no chain");
    let added = text.clone() + &unchained(lines[5]);
    refused("a line more, without a chain", &added, "line 7 has no chain");
    let other = with_line(&text, 2, |line| {
        let (content, _) = line.rsplit_once(",\"chain\":").unwrap();
        format!("{content},\"chain\":\"{}\"}}\n", "0".repeat(64))
    });
    refused("a chain of zeros", &other, &line(3));
    let (foreign, _) = recorded();
    let foreign = read(&foreign, "r");
    let mixed = with_line(&text, 4, |_| foreign.lines().nth(4).unwrap().to_owned() + "\n");
    refused("a line of another recording", &mixed, &line(5));
    let spaced = with_line(&text, 2, |line| line.replace("\"order\":", "\"order\": ") + "\n");
    refused("a space more", &spaced, &line(3));
}

#[test]
fn a_torn_line_is_no_change_and_older_recordings_are_gone_on_with_chained() {
    let (dir, text) = recorded();
    write(&dir, "r", &text[..text.len() - 9]);
    resume(&dir, "5").code(11).stderr(contains("chained").not());
    resume(&dir, "6").code(11).stdout(contains("\n6 rounds in "));
    write(&dir, "r", &unchained(&text));
    let said = resume(&dir, "7").code(11).stdout(contains("\n7 rounds in "));
    let note = "note: r: 6 of its lines are from before lines were chained, so whether they are as \
                they were written is not known";
    said.stderr(contains(note));
    resume(&dir, "8").code(11).stdout(contains("8 rounds in ")).stderr(contains(note));
    // What is there by now is held by what was added.
    let chained = read(&dir, "r");
    let _attack = Attack::on("records", "a line of an older recording, after it was gone on with");
    write(&dir, "r", &with_line(&chained, 3, |line| with_number(line, "\"elapsed_s\":")));
    resume(&dir, "9")
        .code(4)
        .stderr(contains("line 7 is not what was written there, or lines before"));
}

const SPEND: [&str; 6] = ["true", "true", "--spend", "s", "--runs", "1"];

/// A file of three attempts.
fn spent() -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    for attempt in ["attempt 1: ", "attempt 2: ", "attempt 3: "] {
        lab(&dir, &SPEND).assert().code(11).stdout(contains(attempt));
    }
    let text = read(&dir, "s");
    (dir, text)
}

#[test]
fn no_attempt_is_removed_or_changed_unseen() {
    let (dir, text) = spent();
    let refused = |what: &str, changed: &str, said: &str| {
        let _attack = Attack::on("records", &format!("a file of attempts: {what}"));
        assert_ne!(changed, text);
        write(&dir, "s", changed);
        let refused = lab(&dir, &SPEND).assert().code(4).stderr(contains(format!("s: {said}")));
        assert_eq!(crate::text(&refused), "");
        assert_eq!(read(&dir, "s"), changed, "it is left as it is");
    };
    let lines: Vec<&str> = text.lines().collect();
    let first = |count: usize| lines[..count].join("\n") + "\n";
    refused("without its last attempt", &first(3), "holds 2 attempts, and its first line says 3");
    refused("without its last two", &first(2), "holds 1 attempts, and its first line says 3");
    refused("without all", &first(1), "holds 0 attempts, and its first line says 3");
    refused("emptied", "", "is empty, and was not when it was written");
    for place in [1, 2] {
        let gone = with_line(&text, place, |_| String::new());
        refused(
            &format!("without line {}", place + 1),
            &gone,
            &format!("line {} should be", place + 1),
        );
    }
    let line = |number: usize| format!("line {number} is not what was written there");
    for (what, from, to) in [
        ("another level for all", "\"alpha\":0.01", "\"alpha\":0.5"),
        ("fewer attempts said", "\"attempts\":3", "\"attempts\":2"),
        ("none from before", "\"attempts\":3", "\"unchained\":3,\"attempts\":3"),
    ] {
        let shorter = what.starts_with("fewer");
        let changed = with_line(&text, 0, |line| line.replace(from, to) + "\n");
        let changed = if shorter {
            changed.lines().take(3).map(|line| format!("{line}\n")).collect()
        } else {
            changed
        };
        refused(what, &changed, &line(1));
    }
    for place in [1, 2, 3] {
        for key in ["\"alpha\":", "\"time\":"] {
            let changed = with_line(&text, place, |line| with_number(line, key));
            refused(&format!("another {key} in line {}", place + 1), &changed, &line(place + 1));
        }
        let changed = with_line(&text, place, |line| line.replace("cannot tell", "slower") + "\n");
        refused(&format!("another outcome in line {}", place + 1), &changed, &line(place + 1));
        let changed = with_line(&text, place, |line| line.replace("true", "false") + "\n");
        refused(&format!("another command in line {}", place + 1), &changed, &line(place + 1));
        let changed = with_line(&text, place, unchained);
        refused(&format!("no chain in line {}", place + 1), &changed, &line(place + 1));
    }
    let (other, _) = spent();
    let other = read(&other, "s");
    let mixed = with_line(&text, 2, |_| {
        other.lines().nth(2).unwrap().replace("\"true\",", "\"true\", ") + "\n"
    });
    refused("a line of another file", &mixed, &line(3));
}

#[test]
fn older_attempts_are_counted_said_and_chained() {
    let dir = TempDir::new().unwrap();
    let attempt = |number: u32| {
        let rest = r#""time":"","commands":[],"alpha":0.1,"outcome":null}"#;
        format!("{{\"attempt\":{number},{rest}\n")
    };
    let head = "{\"schema\":\"lab-spend-1\",\"alpha\":0.01}\n";
    write(&dir, "s", &format!("{head}{}{}", attempt(1), attempt(2)));
    let note = "s: its first 2 attempts are from before lines were chained, so whether some \
                were removed is not known\n";
    for attempt in ["attempt 3: ", "attempt 4: "] {
        let told = lab(&dir, &SPEND).assert().code(11).stdout(contains(attempt));
        told.stderr(contains(note));
    }
    let chained = read(&dir, "s");
    let lines: Vec<&str> = chained.lines().collect();
    let _attack = Attack::on("records", "a file of attempts from before chains is shortened later");
    write(&dir, "s", &(lines[..3].join("\n") + "\n"));
    let said = lab(&dir, &SPEND).assert().code(4);
    let said =
        said.stderr(contains("s: holds 2 attempts, and its first line says 4; restore the file"));
    assert_eq!(text(&said), "");
}
