//! The program by what it writes: tries on this machine, and tables of the committed ones.

use std::{fs, path::Path};

use assert_cmd::Command;
use serde_json::json;
use tempfile::TempDir;

fn trial(folder: &Path) -> Command {
    // Relative to the workspace's root where Bazel runs this.
    let program = std::path::absolute(env!("CARGO_BIN_EXE_proof")).unwrap();
    let mut trial = Command::new(program);
    trial
        .arg("compare")
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap());
    trial
}

/// A folder with a commit, which a try names.
fn checkout() -> TempDir {
    let dir = TempDir::new().unwrap();
    let me = ["-c", "user.name=me", "-c", "user.email=me@example.org"];
    for words in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "-m", "c"]] {
        let mut git = Command::new("git");
        git.args(me).args(words).current_dir(dir.path()).assert().success();
    }
    dir
}

fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines().map(|line| line.split('\t').map(str::to_owned));
    let place = lines.next().unwrap().position(|column| column == name).unwrap();
    lines.map(|mut line| line.nth(place).unwrap()).collect()
}

#[test]
fn tries_are_made_once_and_counted() {
    let dir = checkout();
    let run = ["run", "tries.jsonl", "--tries", "1", "--only", "same", "--pairs", "12"];
    trial(dir.path()).args(run).assert().success();
    let tries = || fs::read_to_string(dir.path().join("tries.jsonl")).unwrap();
    assert_eq!(tries().lines().count(), 2, "one alone and one beside a neighbour");
    trial(dir.path()).args(run).assert().success();
    assert_eq!(tries().lines().count(), 2, "both were made already");
    trial(dir.path()).args(["tables", "."]).assert().success();
    let same = fs::read_to_string(dir.path().join("same.tsv")).unwrap();
    assert_eq!(column(&same, "tries"), ["1"; 26]);
}

#[test]
fn a_try_that_could_name_no_commit_is_not_made() {
    let dir = TempDir::new().unwrap();
    let run = ["run", "tries.jsonl", "--tries", "1", "--only", "same", "--pairs", "12"];
    let said = trial(dir.path()).args(run).assert().failure().get_output().stderr.clone();
    assert!(String::from_utf8(said).unwrap().contains("no commit to record"));
    assert!(!dir.path().join("tries.jsonl").exists());
}

/// Tries of runs of one program that differ by 10 % and more, so that 1 % is not found in them.
fn noisy_tries(count: usize) -> String {
    let either = |is_long: bool| if is_long { 33_000_000 } else { 27_000_000 };
    let rounds: Vec<[u64; 2]> = (0..40).map(|round| [30_000_000, either(round % 4 < 2)]).collect();
    let made = |number: usize| {
        json!({
            "kind": "planted", "more_permille": 10, "neighbour": false,
            "number": number, "pairs": 20000, "commit": "c", "machine": "m", "loops": [1, 1],
            "load": 0.5,
            "settings": {
                "alpha": 0.01, "margin": 0.01, "budget_s": 15.0, "least_rounds": 25,
                "most_rounds": null, "candidates": 1, "control": false, "question": "direction",
            },
            "elapsed_s": 15.0, "wall_ns": rounds,
        })
    };
    (0..count).map(|number| format!("{}\n", made(number))).collect()
}

#[test]
fn missing_tries_are_said_and_the_noise_of_a_missed_target() {
    let dir = TempDir::new().unwrap();
    let replays = [
        "noise\twhat\tmet",
        "calm\tA/A, margin 1.0 %: equivalent\t-",
        "calm\tA/A, margin 0.6 %: equivalent\t-",
        "calm\t+1.0 %: found (half by 9)\tyes",
        "calm\t+2.0 %: found (half by 5)\tyes",
        "busy\tA/A, margin 1.0 %: equivalent\t-",
        "busy\tA/A, margin 9.1 %: equivalent\t-",
        "busy\t+1.0 %: found (half by 90)\tyes",
    ];
    fs::write(dir.path().join("replays.tsv"), replays.join("\n") + "\n").unwrap();
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let cause = "* 1.0 % alone: the machine's noise. Two runs of one program differed by ";
    for (count, met, found) in
        [(39, "too few tries", "0 of 39 tries; 40 are asked."), (40, "no", "0 of 40 tries.")]
    {
        fs::write(dir.path().join("tries.jsonl"), noisy_tries(count)).unwrap();
        trial(dir.path()).args(["tables", "."]).assert().success();
        let planted = read("planted.tsv");
        assert_eq!(column(&planted, "asked"), ["40"; 8]);
        let tries = count.to_string();
        assert_eq!(column(&planted, "tries"), ["0", &tries, "0", "0", "0", "0", "0", "0"]);
        assert_eq!(column(&planted, "met")[..3], ["not tried", met, "-"]);
        let noise: f64 = column(&planted, "noise_percent")[1].parse().unwrap();
        assert!((10.0..20.0).contains(&noise), "{noise}");
        // All of one call, which calibrated its work once.
        let calls = column(&planted, "calls_percent");
        assert!(calls[0] == "-" && calls[1].parse::<f64>().is_ok(), "{calls:?}");
        let page = read("report.md");
        for part in [
            &format!("1.0 % more work is found within 15 s in {found}"),
            "0.3 % more work is not tried yet; 40 tries are asked.",
            "| half by (s) | 80 % by (s) | met |",
            "7 rows, 3 of 3 targets are met",
            "\n  The recording \"busy\" has no row \"+2.0 %: found\".\n",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert_eq!(page.contains(cause), met == "no", "{page}");
        assert_eq!(page.matches("has no row").count(), 1, "{page}");
    }
}

/// Tries of equal files whose pairs differ by a per cent of noise, and by `more` of the second.
fn copied_tries(count: usize, more: f64) -> String {
    let noise = |at: usize| 0.01 * (((at * 7919) % 101) as f64 / 50.0 - 1.0);
    let made = |number: usize| {
        let wall = |round: usize| {
            let second = 1e7 * (1.0 + noise(round + number) + more);
            [10_000_000, second.round() as u64]
        };
        let first: Vec<usize> = (0..120).map(|round| (round * 7 % 3) % 2).collect();
        json!({
            "class": "git", "number": number, "commit": "c", "machine": "m", "load": 0.5,
            "elapsed_s": 4.0, "first": first, "wall_ns": (0..120).map(wall).collect::<Vec<_>>(),
        })
    };
    (0..count).map(|number| format!("{}\n", made(number))).collect()
}

#[test]
fn equal_files_that_are_called_different_are_counted() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("tries.jsonl"), noisy_tries(1)).unwrap();
    for (equal, different, met) in
        [(399, 0, "too few tries"), (400, 0, "yes"), (400, 8, "yes"), (400, 10, "no")]
    {
        let all = copied_tries(equal, 0.0) + &copied_tries(different, 0.02);
        fs::write(dir.path().join("copies.jsonl"), all).unwrap();
        trial(dir.path()).args(["tables", "."]).assert().success();
        let table = fs::read_to_string(dir.path().join("copies.tsv")).unwrap();
        assert_eq!(column(&table, "false"), [different.to_string(), different.to_string()]);
        assert_eq!(column(&table, "met"), ["-", met], "{table}");
        let page = fs::read_to_string(dir.path().join("report.md")).unwrap();
        let of_kinds = match different {
            0 => String::new(),
            _ => format!(", by kind: {different} git"),
        };
        let said = format!(
            "Of {} real comparisons of equal files, 1 kinds of program in 200 rounds each, \
             {different} called the two different{of_kinds} (1 % is allowed)",
            equal + different
        );
        assert!(page.contains(&said), "{page}");
    }
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
    let pages = [
        "report.md",
        "details/same.md",
        "details/real.md",
        "details/bars.md",
        "details/fair.md",
        "details/left.md",
        "details/runs.md",
    ];
    let tables = ["same.tsv", "planted.tsv", "real.tsv", "copies.tsv", "copies-twice.tsv"];
    let made = [&tables[..], &pages[..]].concat();
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

#[test]
fn the_committed_page_on_tokio_follows_from_the_committed_rounds() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/tokio-versions");
    let dir = TempDir::new().unwrap();
    copied(&committed, dir.path());
    let made = ["report.md", "details/workloads.md", "claims.tsv"];
    made.iter().for_each(|name| fs::remove_file(dir.path().join(name)).unwrap());
    trial(dir.path()).args(["tokio", "."]).assert().success();
    for name in made {
        let [made, stored] =
            [dir.path(), &committed].map(|folder| fs::read_to_string(folder.join(name)).unwrap());
        assert_eq!(made, stored, "{name}");
    }
}
