//! `tools/rerun` in a repository of one report, with a lab that only writes what it was asked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use lab_tidy::repository::Repository;

const RUN: &str = r#"{"experiment_file": "experiments/e.toml", "profile": "small", "servers": [],
    "model": null, "git": {"commit": "c"},
    "analysis": {"comparisons": [{"metric": "wall_ns", "cells": {"load": ["a", "b"]}}]}}"#;

/// `run … --out DIR …` makes a record; `export FROM TO` puts another verdict there.
const LAB: &str = r#"#!/bin/sh
echo "$@" >> "$0.calls"
case "$1" in
run) mkdir -p results/rerun/r && touch results/rerun/r/run.json; exit 1 ;;
export)
    printf 'variant\toutcome\nv\tslower\nw\tequivalent\n' > "$3/verdicts-1.tsv"
    printf 'id\toutcome\nc\tfaster\n' > "$3/contrasts.tsv"
    printf 'variant\tload\truns\tblocks\nv\ta\t9\t9\nw\ta\t0\t0\n' > "$3/rows.tsv" ;;
esac
"#;

fn git(folder: &Path, words: &[&str]) {
    let me = ["-c", "user.name=me", "-c", "user.email=me@example.org"];
    let status = Command::new("git").args(me).args(words).current_dir(folder).status();
    assert!(status.expect("git is one of the tools of every environment").success());
}

fn rerun(folder: &Path, report: &str) -> Output {
    let mut rerun = Command::new("python3");
    rerun.arg(folder.join("tools/rerun")).arg("--lab").arg(folder.join("lab")).arg(report);
    rerun.output().expect("python3 is one of the tools of every environment")
}

#[test]
fn a_report_is_taken_anew_and_its_changed_verdicts_are_told() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let write = |name: &str, text: &str| {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    };
    write("tools/rerun", &fs::read_to_string(ours.root().join("tools/rerun")).unwrap());
    write("reports/r/run.json", RUN);
    write("reports/r/verdicts-1.tsv", "variant\toutcome\nv\tfaster\nw\tequivalent\n");
    write("reports/r/contrasts.tsv", "id\toutcome\nc\tcannot tell\n");
    write("reports/r/rows.tsv", "variant\tload\truns\tblocks\nv\ta\t6\t6\nw\ta\t6\t6\n");
    write(".gitignore", "results/\nlab*\n");
    write("lab", LAB);
    fs::set_permissions(folder.join("lab"), fs::Permissions::from_mode(0o755)).unwrap();
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "c"]);

    assert_eq!(rerun(folder, "other").status.code(), Some(2), "there is no such report");
    let done = rerun(folder, "r");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("r: 2 of 3 verdicts changed"), "{said}");
    assert!(said.contains("wall_ns in load a/b: v: faster -> slower"), "{said}");
    assert!(said.contains("contrast c: cannot tell -> faster"), "{said}");
    assert!(said.contains("w has no runs any more in 1 cells"), "{said}");
    assert!(!said.contains("v has no runs"), "{said}");
    let calls = fs::read_to_string(folder.join("lab.calls")).unwrap();
    let new = "run experiments/e.toml --out ";
    assert!(calls.starts_with(new) && calls.contains(" --profile small --no-report"), "{calls}");

    let refused = rerun(folder, "r");
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && why.contains("the work tree has changes"), "{why}");

    git(folder, &["commit", "--quiet", "-am", "c"]);
    assert!(!folder.join("results/rerun/r").exists(), "a whole record is in the way of the next");
    write("results/rerun/r/run.json", "");
    assert!(rerun(folder, "r").status.success());
    let calls = fs::read_to_string(folder.join("lab.calls")).unwrap();
    assert!(calls.contains("run --resume "), "{calls}");
}
