//! The program by what it writes: tries on this machine, and tables of the committed ones.

use std::{fs, path::Path};

use assert_cmd::Command;
use tempfile::TempDir;

fn trial(folder: &Path) -> Command {
    // Relative to the workspace's root where Bazel runs this.
    let program = std::path::absolute(env!("CARGO_BIN_EXE_compare-trial")).unwrap();
    let mut trial = Command::new(program);
    trial.current_dir(folder);
    trial
}

fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines().map(|line| line.split('\t').map(str::to_owned));
    let place = lines.next().unwrap().position(|column| column == name).unwrap();
    lines.map(|mut line| line.nth(place).unwrap()).collect()
}

#[test]
fn tries_are_made_once_and_counted() {
    let dir = TempDir::new().unwrap();
    let run = ["run", "tries.jsonl", "--tries", "1", "--only", "same", "--pairs", "12"];
    trial(dir.path()).args(run).assert().success();
    let tries = || fs::read_to_string(dir.path().join("tries.jsonl")).unwrap();
    assert_eq!(tries().lines().count(), 2, "one alone and one beside a neighbour");
    trial(dir.path()).args(run).assert().success();
    assert_eq!(tries().lines().count(), 2, "both were made already");
    trial(dir.path()).args(["tables", "."]).assert().success();
    let same = fs::read_to_string(dir.path().join("same.tsv")).unwrap();
    assert_eq!(column(&same, "tries"), ["1"; 16]);
}

/// The files of a folder, and of its folders, copied.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copied(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn the_committed_page_follows_from_the_committed_tries() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/compare");
    let dir = TempDir::new().unwrap();
    copied(&committed, dir.path());
    let made = ["same.tsv", "planted.tsv", "real.tsv", "report.md", "details/same.md"];
    made.iter().for_each(|name| fs::remove_file(dir.path().join(name)).unwrap());
    trial(dir.path()).args(["tables", "."]).assert().success();
    for name in made {
        let [made, stored] =
            [dir.path(), &committed].map(|folder| fs::read_to_string(folder.join(name)).unwrap());
        assert_eq!(made, stored, "{name}");
    }
    let same = fs::read_to_string(committed.join("same.tsv")).unwrap();
    assert!(column(&same, "met").iter().all(|met| met != "no"), "{same}");
}
