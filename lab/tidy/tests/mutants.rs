//! `tools/trust/mutants` with a cargo-mutants of ten mutants that only says what was found.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use lab_tidy::repository::Repository;

/// `cargo mutants --list …` names the mutants; without it those that `--re` chose, or all, are
/// caught. The survivor `m3` is missed.
const CARGO: &str = r#"#!/usr/bin/env python3
import json, os, sys
names = [f"m{number}" for number in range(10)]
if "--list" in sys.argv:
    print("\n".join(names))
    sys.exit()
given = dict(zip(sys.argv, sys.argv[1:]))
pairs = zip(sys.argv, sys.argv[1:])
chosen = [after.strip("^$") for word, after in pairs if word == "--re"] or names
missed = {"m3"} & set(chosen) if os.path.exists("survivor") else set()
summary = {True: "MissedMutant", False: "CaughtMutant"}
found = [{"scenario": {"Mutant": {"name": name}}, "summary": summary[name in missed]}
         for name in chosen]
os.makedirs(given["--output"] + "/mutants.out", exist_ok=True)
with open(given["--output"] + "/mutants.out/outcomes.json", "w") as file:
    json.dump({"outcomes": [{"scenario": "Baseline", "summary": "Success"}, *found]}, file)
sys.exit(2 if missed else 0)
"#;

/// The tool on the area `judge`, in a repository that is a folder with nothing else.
fn mutants(folder: &Path, kept: &str, words: &[&str]) -> Output {
    let path = env::var_os("PATH").unwrap();
    let places = [folder.to_owned()].into_iter().chain(env::split_paths(&path));
    Command::new("python3")
        .arg(folder.join("tools/trust/mutants"))
        .arg(folder.join(kept))
        .arg("judge")
        .args(words)
        .env("PATH", env::join_paths(places).unwrap())
        .output()
        .expect("python3 is one of the tools of every environment")
}

/// The one row, by the head of the table.
fn cell(output: &Output, name: &str) -> String {
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    let rows: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2, "{said}{}", String::from_utf8_lossy(&output.stderr));
    let place = rows[0].iter().position(|column| *column == name).unwrap();
    rows[1][place].to_owned()
}

fn tried(folder: &Path, kept: &str) -> BTreeSet<String> {
    let lines = fs::read_to_string(folder.join(kept).join("judge/outcomes.jsonl")).unwrap();
    lines.lines().map(|line| line.split('"').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn a_share_of_caught_mutants_says_how_well_it_is_known() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    fs::create_dir_all(folder.join("tools/trust")).unwrap();
    fs::copy(ours.root().join("tools/trust/mutants"), folder.join("tools/trust/mutants")).unwrap();
    fs::write(folder.join("cargo"), CARGO).unwrap();
    fs::set_permissions(folder.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();

    // Four caught of four: by Wilson's interval the share is 51 % or more.
    let four = mutants(folder, "sample", &["--sample", "4"]);
    assert_eq!(four.status.code(), Some(1));
    let known = ["untested", "caught", "measured", "from", "met"].map(|name| cell(&four, name));
    assert_eq!(known, ["6", "4", "1.000", "0.510", "cannot tell"]);
    let first = tried(folder, "sample");
    let more = mutants(folder, "sample", &["--sample", "6"]);
    assert_eq!(cell(&more, "untested"), "4");
    assert!(first.is_subset(&tried(folder, "sample")), "a larger sample has the smaller in it");

    let all = mutants(folder, "all", &[]);
    assert_eq!(all.status.code(), Some(0));
    assert_eq!(["untested", "from", "met"].map(|name| cell(&all, name)), ["0", "1.000", "yes"]);

    fs::write(folder.join("survivor"), "").unwrap();
    let one_survives = mutants(folder, "survivor-kept", &[]);
    assert_eq!(one_survives.status.code(), Some(1));
    assert_eq!(["caught", "missed", "met"].map(|name| cell(&one_survives, name)), ["9", "1", "no"]);
    assert!(String::from_utf8(one_survives.stderr).unwrap().contains("survived: m3"));
}
