//! `lab corpus` by its exit codes and sentences; its generator has tests of what is in a corpus.

use std::{fs, process::Command};

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::str::contains;
use tempfile::TempDir;

fn lab(dir: &TempDir, arguments: &[&str]) -> Assert {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.arg("corpus").arg(dir.path().join("c")).args(arguments).assert()
}

#[test]
fn a_corpus_is_made_once_checked_and_its_damage_is_told() {
    let dir = TempDir::new().unwrap();
    let small = ["--files", "2", "--lines", "30"];
    lab(&dir, &small).code(0).stdout(contains("generated, 2 files, 60 lines"));
    lab(&dir, &small).code(0).stdout(contains("exists already, 2 files"));
    lab(&dir, &["--check"]).code(0).stdout(contains("matches its manifest"));
    lab(&dir, &["--files", "3"]).code(2).stderr(contains("has a corpus of other arguments"));
    fs::write(dir.path().join("c/projects/more.jsonl"), "{}\n").unwrap();
    lab(&dir, &["--check"]).code(1).stderr(contains("more.jsonl is not in the manifest"));
    lab(&dir, &small).code(4).stderr(contains("delete it and run again"));
}

#[test]
fn what_is_no_corpus_is_neither_written_to_nor_checked() {
    let dir = TempDir::new().unwrap();
    lab(&dir, &["--check"]).code(4).stderr(contains("has no corpus.json"));
    fs::create_dir(dir.path().join("c")).unwrap();
    fs::write(dir.path().join("c/letter.txt"), "dear").unwrap();
    lab(&dir, &[]).code(2).stderr(contains("it has letter.txt"));
    lab(&dir, &["--bytes", "much"]).code(2);
}
