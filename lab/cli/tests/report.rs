//! `lab report` outside of a checkout, and on what is no results folder.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;

/// In a folder that is no checkout.
fn report(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let lab = std::env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"));
    let mut lab = Command::new(lab);
    lab.env_remove("BUILD_WORKSPACE_DIRECTORY").current_dir(dir).arg("report").args(args).assert()
}

#[test]
fn what_is_no_results_folder_is_said_in_words() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let cases = [
        (
            ".",
            ". is no results folder: it holds no run.json; give a folder of results/ or reports/",
        ),
        ("file", "file is no results folder: it is a file; give"),
        ("none", "none is no results folder: it does not exist; give"),
    ];
    for (given, sentence) in cases {
        report(dir.path(), &[given]).code(4).stderr(contains(sentence));
        report(dir.path(), &[given, "--check"]).code(4).stderr(contains(sentence));
    }
}

#[test]
fn a_report_needs_no_checkout_and_draws_where_there_is_gnuplot() {
    let dir = tempfile::tempdir().unwrap();
    let reports =
        std::env::current_dir().unwrap().join(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let recorded = |folder: &Path| folder.join("run.json").exists();
    let mut folders = fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().path());
    let records = folders.find(|folder| recorded(folder)).unwrap();
    let records = records.to_str().unwrap();
    report(dir.path(), &[records, "--check"]).code(0);
    let run = report(dir.path(), &[records, "--out", "r"]).code(0).stdout("r/report.md\n");
    let page = fs::read_to_string(dir.path().join("r/report.md")).unwrap();
    let line = page.lines().find(|line| line.starts_with("![")).unwrap();
    let (_, file) = line.split_once("](").unwrap();
    let picture = dir.path().join("r").join(file.trim_end_matches(')'));
    if Command::new("gnuplot").arg("--version").output().is_ok() {
        let drawn = fs::read_to_string(&picture).unwrap();
        assert!(drawn.contains("<svg"), "{}", picture.display());
    } else {
        run.stderr(contains("gnuplot cannot be started"));
        assert!(!picture.exists());
    }
}

fn committed(name: &str) -> std::path::PathBuf {
    std::env::current_dir()
        .unwrap()
        .join(env!("CARGO_MANIFEST_DIR"))
        .join("../../reports")
        .join(name)
}

#[test]
fn a_sweep_against_itself_has_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = committed("tr115-sim");
    let sweep = sweep.to_str().unwrap();
    let end = report(dir.path(), &[sweep, "--against", sweep]).code(0);
    let end = end.stderr(contains("the same bytes ran both times: "));
    let text = String::from_utf8(end.get_output().stdout.clone()).unwrap();
    assert!(text.lines().filter(|line| line.starts_with("| `")).count() > 10, "{text}");
    // What all rows of a table have in common stands below it; each of the metrics has a table.
    assert!(text.matches("In every row above: change 0.0000 %").count() > 1, "{text}");
    assert!(!text.contains("faster") && !text.contains("slower"), "{text}");
}

#[test]
fn a_variant_in_the_place_of_another_is_slower_than_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = committed("tr115-ollama");
    let swapped = dir.path().join("swapped");
    copy(&sweep, &swapped);
    // `floor` gets the runs of `smol`, which cost more, and the other way round.
    let runs = fs::read_to_string(swapped.join("runs.jsonl")).unwrap();
    let name = |variant: &str| format!("\"variant\":\"{variant}\"");
    let runs = runs.replace(&name("floor"), "\"variant\":0").replace(&name("smol"), &name("floor"));
    let runs = runs.replace("\"variant\":0", &name("smol"));
    fs::write(swapped.join("runs.jsonl"), runs).unwrap();
    let end = report(dir.path(), &["swapped", "--against", sweep.to_str().unwrap()]).code(10);
    let text = String::from_utf8(end.get_output().stdout.clone()).unwrap();
    let outcome = |variant: &str, outcome: &str| {
        let start = format!("| `{variant}` |");
        text.lines().any(|line| line.starts_with(&start) && line.ends_with(&format!("{outcome} |")))
    };
    assert!(outcome("floor", "slower") && outcome("smol", "faster"), "{text}");
    assert!(!outcome("tokio_localset", "slower"), "{text}");
}

#[test]
fn sweeps_of_different_families_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let [one, other] = ["tr115-sim", "offload-wake"].map(committed);
    let arguments = [one.to_str().unwrap(), "--against", other.to_str().unwrap()];
    report(dir.path(), &arguments).code(2).stderr(contains("different families"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_page_a_table_or_an_object_instead_of_markdown() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = committed("tr113-ollama");
    let sweep = sweep.to_str().unwrap();
    let written = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();

    let args = [sweep, "--out", "page", "--format", "html", "--no-plots"];
    report(dir.path(), &args).code(0).stdout("page/index.html\n");
    let page = written("page/index.html");
    assert!(page.contains("id=\"run-data\"") && !page.contains("href=\"index.html\""));
    assert_eq!(
        written("page/report.md"),
        fs::read_to_string(format!("{sweep}/report.md")).unwrap()
    );

    report(dir.path(), &[sweep, "--out", "tables", "--format", "tsv"])
        .code(0)
        .stdout(contains("tables: tables"));
    let header = written("tables/figures.tsv");
    assert!(
        header.starts_with("figure\ttime_scale\n") && !dir.path().join("tables/report.md").exists()
    );

    let end = report(dir.path(), &[sweep, "--format", "json"]).code(0);
    let object: serde_json::Value = serde_json::from_slice(&end.get_output().stdout).unwrap();
    let asked = object["question"].as_str().unwrap();
    assert!(object["version"] == 1 && written("page/report.md").contains(asked), "{object}");
    assert!(written("page/report.md").contains(object["answer"].as_str().unwrap()));
    let rows = object["tables"]["figures"].as_array().unwrap();
    assert_eq!(rows.len() + 1, header.lines().count());
}

#[test]
fn a_check_finds_what_is_of_no_report() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = committed("tr113-ollama");
    let copied = Command::new("cp")
        .args(["-rL", "--no-preserve=mode"])
        .arg(sweep.join("."))
        .arg(dir.path())
        .status();
    assert!(copied.unwrap().success());
    report(dir.path(), &[".", "--check"]).code(0).stdout(contains("every page and table"));
    fs::write(dir.path().join("details/older.md"), "# Older\n").unwrap();
    report(dir.path(), &[".", "--check"])
        .code(1)
        .stderr(contains("of no report on the records; remove them: details/older.md"));
}

#[test]
fn a_page_is_handed_to_the_desktop() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = committed("tr113-ollama");
    let lab = std::env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"));
    let open = |path: &Path| {
        let mut lab = Command::new(&lab);
        lab.env_remove("BUILD_WORKSPACE_DIRECTORY").env("PATH", path).current_dir(dir.path());
        lab.arg("report").arg(&sweep).args(["--out", "r", "--open", "--no-plots"]).assert()
    };
    open(dir.path()).code(4).stderr(contains("xdg-open cannot be started"));
    let program = dir.path().join("xdg-open");
    fs::write(&program, "#!/bin/sh\necho \"$1\" > opened\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    open(dir.path()).code(0).stdout("r/index.html\n");
    assert_eq!(fs::read_to_string(dir.path().join("opened")).unwrap(), "r/index.html\n");
}
