//! The commands of docs/TUTORIAL.md, run as they stand there.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// What `lab compare` ends with when it has an answer: equal or faster, slower, not known.
const ANSWERS: [i32; 3] = [0, 10, 11];

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The blocks of the page that are marked to be run, in order.
fn blocks(page: &str) -> Vec<&str> {
    let after = page.split("```sh\n").skip(1);
    after.map(|rest| rest.split_once("```").expect("a block ends").0).collect()
}

/// A checkout with the pictures and the variants of ours, and no experiment yet.
fn checkout() -> TempDir {
    let (ours, dir) = (repository(), tempfile::tempdir().unwrap());
    fs::create_dir(dir.path().join("experiments")).unwrap();
    for folder in ["ledgers", "plots"] {
        symlink(ours.join(folder), dir.path().join(folder)).unwrap();
    }
    dir
}

#[test]
fn the_commands_of_the_tutorial_do_what_it_says() {
    let page = fs::read_to_string(repository().join("docs/TUTORIAL.md")).unwrap();
    let lab = fs::canonicalize(env!("CARGO_BIN_EXE_lab")).unwrap();
    let before = env::var_os("PATH").unwrap_or_default();
    let path = [lab.parent().unwrap().to_owned()].into_iter().chain(env::split_paths(&before));
    let path = env::join_paths(path).unwrap();
    let checkout = checkout();
    let blocks = blocks(&page);
    assert_eq!(blocks.len(), 2, "a comparison and an experiment");
    for block in blocks {
        let mut shell = Command::new("bash");
        shell.args(["-euc", block]).current_dir(checkout.path()).env("PATH", &path);
        shell.env_remove("BUILD_WORKSPACE_DIRECTORY").env_remove("BUILD_WORKING_DIRECTORY");
        let output = shell.output().expect("bash is one of the tools of every environment");
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code().unwrap_or(-1);
        assert!(ANSWERS.contains(&code), "ended with {code}: {said}\n{block}");
    }
    let report = fs::read_to_string(checkout.path().join("results/mine/report.md")).unwrap();
    // What the page shows of it, but for the numbers.
    let shown = page.split("\n# mine\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for line in ["**Is owned faster", "* Elapsed time against `dashmap`: ", "| against `dashmap` |"]
    {
        assert!(shown.contains(line) && report.contains(line), "{line}: {report}");
    }
}
