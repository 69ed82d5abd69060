//! In which order commands run, what a run leaves to the next, and the control by a copy.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{json, lab, text};

pub(crate) fn script(dir: &TempDir, name: &str, body: &str) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn lines(dir: &TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn rounds(dir: &TempDir, name: &str) -> Vec<Value> {
    lines(dir, name)[1..].iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Works less where it was the last to run: what caches do, and larger than they do.
const WARM_AFTER_ITSELF: &str = r#"last=$(cat last 2>/dev/null)
echo "$0" > last
[ "$last" = "$0" ] || sleep 0.004
sleep 0.004"#;

#[test]
fn equal_programs_that_are_warm_after_themselves_are_not_told_apart() {
    for reversed in [false, true] {
        let _attack = Attack::on(
            "answers",
            &format!("programs that are fast after themselves, turned: {reversed}"),
        );
        let dir = TempDir::new().unwrap();
        let mut names = ["./one.sh", "./two.sh"];
        names.iter().for_each(|name| script(&dir, name, WARM_AFTER_ITSELF));
        if reversed {
            names.reverse();
        }
        let arguments = [names[0], names[1], "--runs", "120", "--margin", "0.1", "--json"];
        let result = json(&lab(&dir, &[&arguments[..], &["--seed", "5"]].concat()).assert());
        let outcome = &result["state"]["candidates"][0]["verdict"]["outcome"];
        assert!(outcome != "faster" && outcome != "slower", "{outcome}");
        let shift = result["after_itself"]["all"]["shift"].as_f64().unwrap();
        assert!(shift < -0.2, "{shift}");
        let said = lab(&dir, &arguments[..6]).assert();
        let said = text(&said);
        assert!(said.contains("./one.sh right after itself: -"), "{said}");
        assert!(said.contains("a machine that runs all in turns; --order blocks:N"), "{said}");
    }
}

#[test]
fn runs_of_a_block_are_after_themselves_and_the_first_does_not_count() {
    let dir = TempDir::new().unwrap();
    script(&dir, "one.sh", WARM_AFTER_ITSELF);
    let arguments = ["./one.sh", "sleep 0.001", "--order", "blocks:3", "--runs", "4"];
    let more = ["--record", "r", "--json", "--check", "status"];
    let result = json(&lab(&dir, &[&arguments[..], &more].concat()).assert().code(11));
    assert_eq!(result["settings"]["in_a_row"], 3);
    assert_eq!(result["after_itself"]["all"], Value::Null);
    for round in rounds(&dir, "r") {
        assert!(round.get("wash").is_none(), "{round}");
        let row = round["in_a_row"][0].as_array().unwrap();
        let wall = |run: usize| row[run][0].as_f64().unwrap();
        assert_eq!(row.len(), 3);
        let typical = (wall(1) + wall(2)) / 2.0;
        assert!((round["runs"][0][0].as_f64().unwrap() - typical).abs() < 1e-6, "{round}");
    }
    for wrong in ["blocks", "blocks:1", "blocks:x", "turn"] {
        let refused = lab(&dir, &["true", "true", "--order", wrong]).assert().code(2);
        refused.stderr(contains("give turns, or blocks:N with N from 2 to 10000"));
    }
}

#[test]
fn the_first_round_is_washed_by_one_of_its_own_commands_and_so_is_the_first_after_a_resume() {
    let dir = TempDir::new().unwrap();
    let commands = ["echo a >> runs", "echo b >> runs", "--check", "status"];
    let with = |more: &[&str]| {
        lab(&dir, &[&commands[..], more].concat()).assert().code(11);
        let _ = fs::remove_file(dir.path().join("runs"));
    };
    with(&["--record", "r", "--runs", "3"]);
    with(&["--resume", "r", "--runs", "6"]);
    let washed: Vec<usize> = (rounds(&dir, "r").iter().enumerate())
        .filter_map(|(number, round)| round.get("wash").map(|_| number))
        .collect();
    assert_eq!(washed, [0, 3]);
}

#[test]
fn recordings_with_the_reference_twice_in_a_round_are_refused() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| lab(&dir, &[&["true", "true"], more].concat()).assert();
    with(&["--record", "new", "--runs", "3"]).code(11);
    let text = fs::read_to_string(dir.path().join("new")).unwrap();
    for (version, sentence) in [
        (1, "has version 1, whose rounds held the first command twice"),
        (3, "nothing is added to them: begin again with --record"),
        (99, "old: has version 99, and this lab reads 4; use a newer one"),
    ] {
        let _attack = Attack::on("records", &format!("a recording of version {version}"));
        let old = text.replace("\"version\":4", &format!("\"version\":{version}"));
        fs::write(dir.path().join("old"), &old).unwrap();
        with(&["--resume", "old"]).code(4).stderr(contains(sentence));
        assert_eq!(fs::read_to_string(dir.path().join("old")).unwrap(), old);
    }
}

/// Tells under which name and inode it runs, and of which data.
const TELLS: &str = r#"echo "$(stat -c %i "$0") $0 $1" >> told; cat "$1""#;

fn told(dir: &TempDir) -> BTreeSet<String> {
    lines(dir, "told").into_iter().collect()
}

#[test]
fn the_control_is_a_copy_of_the_program_and_of_its_data_in_rounds_of_its_own() {
    for command in ["./old.sh data", "./old.sh data | cat"] {
        let dir = TempDir::new().unwrap();
        script(&dir, "old.sh", TELLS);
        script(&dir, "new.sh", TELLS);
        fs::write(dir.path().join("data"), "x\n").unwrap();
        let new = command.replace("old", "new");
        let arguments = [command, &new, "--control", "--data", "data", "--runs", "40"];
        let more = ["--record", "r", "--seed", "3", "-n", "old", "-n", "new"];
        let said = text(&lab(&dir, &[&arguments[..], &more].concat()).assert());
        assert!(said.contains("control, old against a copy of its program: "), "{said}");
        let inode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().ino().to_string();
        let told = told(&dir);
        assert_eq!(told.len(), 3, "{told:?}");
        let copies: Vec<&String> = told.iter().filter(|line| !line.contains(" ./")).collect();
        let [copy] = copies[..] else { panic!("{told:?}") };
        assert!(!copy.starts_with(&inode("old.sh")) && copy.contains("/old.sh "), "{copy}");
        assert!(copy.ends_with("/data") && copy.contains("/data0/"), "{copy}");
        assert!(!Path::new(copy.split(' ').nth(2).unwrap()).exists(), "it is gone afterwards");
        let held: BTreeSet<String> = rounds(&dir, "r")
            .iter()
            .map(|round| {
                let mut order: Vec<u64> =
                    round["order"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
                order.sort_unstable();
                json!(order).to_string()
            })
            .collect();
        assert_eq!(held, ["[0,1]", "[0,2]"].map(str::to_owned).into());
        assert!(rounds(&dir, "r").iter().all(|round| {
            let order = round["order"].as_array().unwrap();
            round.get("wash").is_none_or(|wash| order.contains(&wash[0]))
        }));
    }
}

#[test]
fn a_copy_that_differs_withholds_the_verdict() {
    let _attack = Attack::on("programs", "a program that is slow wherever it is not at home");
    let dir = TempDir::new().unwrap();
    // Slow wherever it is not at home.
    let body = r#"case "$0" in ./*) ;; *) sleep 0.02 ;; esac"#;
    script(&dir, "old.sh", body);
    script(&dir, "new.sh", body);
    let arguments = ["./old.sh", "./new.sh", "--control", "--budget", "60", "--margin", "0.01"];
    let withheld = lab(&dir, &arguments).assert().code(11);
    withheld.stdout(
        contains("./new.sh against ./old.sh: withheld")
            .and(contains("the place of the file matters")),
    );
}

#[test]
fn what_cannot_be_copied_is_one_sentence() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("data"), "").unwrap();
    for (arguments, code, sentence) in [
        (
            vec!["cd / && true", "true", "--control"],
            2,
            "--control copies the program that a command begins with, and `cd / && true` begins \
             with none",
        ),
        (vec!["true", "true", "--data", "gone"], 4, "--data: cannot read gone: "),
        (vec!["true", "true", "--data", "data"], 2, "no command has the word data of --data"),
    ] {
        lab(&dir, &arguments).assert().code(code).stderr(contains(sentence));
    }
    // Calls of before go on.
    lab(&dir, &["true", "true", "--no-control", "--runs", "1"]).assert().code(11);
}

#[test]
fn a_program_that_is_replaced_amid_the_comparison_ends_it() {
    let replace = "echo >> runs; test $(wc -l < runs) = 9 && cp other new.tmp && mv new.tmp new.sh";
    for (new, command) in [("./new.sh", "./new.sh"), ("sh new.sh", "new.sh")] {
        let _attack = Attack::on("programs", &format!("{new} is replaced, and resumed"));
        let dir = TempDir::new().unwrap();
        script(&dir, "old.sh", &format!("{replace}; true"));
        script(&dir, command, "sleep 0.01");
        script(&dir, "other", "true");
        let arguments = ["./old.sh", new, "--budget", "60", "--record", "r"];
        let ended = lab(&dir, &arguments).assert().code(1);
        ended.stderr(contains("new.sh was changed after "));
        let text = fs::read_to_string(dir.path().join("r")).unwrap();
        assert!((2..12).contains(&text.lines().count()), "what was measured before is kept");
        // What was recorded before is not gone on with.
        let resumed = lab(&dir, &["./old.sh", new, "--resume", "r"]).assert().code(4);
        resumed.stderr(contains("by the bytes of a program"));
    }
}

#[test]
fn what_setup_makes_is_what_is_compared_and_copied() {
    let dir = TempDir::new().unwrap();
    script(&dir, "old.sh", "echo stale >> ran");
    script(&dir, "new.sh", "echo stale >> ran");
    script(&dir, "made", "echo \"$0\" >> ran");
    let setup = "cp made old.sh && cp made new.sh";
    let arguments = ["./old.sh", "./new.sh", "--control", "--setup", setup, "--runs", "30"];
    lab(&dir, &arguments).assert().code(predicates::ord::ne(1));
    let ran: BTreeSet<String> = lines(&dir, "ran").into_iter().collect();
    assert!(ran.len() == 3 && !ran.contains("stale"), "{ran:?}");
}

#[test]
fn commands_that_share_files_with_some_alone_are_compared_apart() {
    let dir = TempDir::new().unwrap();
    for name in ["a/data", "b/data"] {
        fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(name), "x").unwrap();
    }
    // Which other a round holds is drawn, so one may be told before the last has its six.
    let apart = |commands: &[&str]| {
        let more = ["--json", "--runs", "6", "--check", "status"];
        let result = json(&lab(&dir, &[commands, &more].concat()).assert());
        result["settings"]["apart"] == true
    };
    assert!(!apart(&["cat a/data", "cat b/data"]));
    assert!(!apart(&["cat a/data", "wc a/data", "head a/data"]));
    assert!(!apart(&["cat a/data", "cat --number a/data", "cat -E a/data"]));
    assert!(apart(&["cat a/data", "wc b/data", "head b/data"]));
    assert!(apart(&["cat a/data", "cat b/data", "date --reference=b/data"]));
    // A round then holds the first and one other.
    let arguments = ["cat a/data", "wc b/data", "head b/data", "--runs", "6", "--record", "r"];
    let said = lab(&dir, &arguments).assert();
    said.stderr(contains("compared with the first in rounds of its own"));
    let rounds = rounds(&dir, "r");
    assert!(rounds.len() >= 12);
    assert!(rounds.iter().all(|round| round["order"].as_array().unwrap().len() == 2));
}
