//! `lab report` outside of a checkout, and on what is no results folder.

mod plain;

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use plain::unpack;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;

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
    for (file, space, next) in [("runs.jsonl", "", "cell"), ("run.json", " ", "family")] {
        let text = fs::read_to_string(swapped.join(file)).unwrap();
        let lines = if space.is_empty() { "" } else { "\n      " };
        let name = |variant: &str| format!("\"variant\":{space}\"{variant}\",{lines}\"{next}\"");
        let [floor, smol] = ["floor", "smol"].map(name);
        let text = text.replace(&floor, "\"variant\":0").replace(&smol, &floor);
        fs::write(swapped.join(file), text.replace("\"variant\":0", &smol)).unwrap();
    }
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
    unpack(to);
}

#[test]
fn a_committed_report_lacks_tables_that_no_page_links_to_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
    lab.current_dir(dir.path()).arg("export").arg(committed("offload-wake")).arg("r");
    lab.assert().success();
    let path = |name: &str| dir.path().join("r").join(name);
    let check = || report(dir.path(), &["r", "--check"]);
    check().success();
    assert!(path("wake.tsv").exists() && !path("rows.tsv").exists());
    for (file, changed) in [("tables.sha256", "0"), ("rows.tsv", "a\n1\n")] {
        let honest = fs::read(path(file)).ok();
        fs::write(path(file), changed).unwrap();
        check().code(1).stderr(contains(file));
        fs::remove_file(path(file)).unwrap();
        honest.map_or(Ok(()), |honest| fs::write(path(file), honest)).unwrap();
    }
    fs::remove_file(path("wake.tsv")).unwrap();
    check().code(1).stderr(contains("wake.tsv"));
    report(dir.path(), &["r", "--format", "tsv"]).success();
    check().success();
}

#[test]
fn a_load_is_answered_from_the_nearest_cell() {
    let streams = committed("streams");
    let choose = |load: &str| report(&streams, &[".", "--choose", load]);
    // 1,000 streams at 40 tokens a second: a third of a core and more, so the choice matters; the
    // floor is nobody's choice.
    choose("streams=900,tokens_per_s=40")
        .success()
        .stdout(contains("Take `tokio_sockets`: it takes 0."))
        .stdout(contains("Measured at agents 1000"))
        .stdout(contains("| `async_std` |"))
        .stdout(contains("`floor`").not())
        .stdout(contains("[dependencies]\ntokio = { version = \"="));
    choose("streams=2,tokens_per_s=40,cores=1")
        .success()
        .stdout(contains("The choice does not matter here"));
    choose("streams=1000,tokens_per_s=40,work_us=5000,cores=2")
        .success()
        .stdout(contains("2 cores do not serve this load"));
    choose("streams=100000,tokens_per_s=1")
        .success()
        .stdout(contains("That is 100 times away from this load: a guess"));
    let refused = [
        ("streams=5", "--choose: `tokens_per_s` is missing: write streams, tokens_per_s"),
        ("streams=0,tokens_per_s=1", "--choose: `streams` is 0: write a number above 0"),
        ("agents=5", "--choose: `agents` says nothing of a load: write streams"),
        ("streams", "write KEY=NUMBER"),
        ("streams=many", "`many` is no number"),
    ];
    for (load, says) in refused {
        choose(load).code(2).stderr(contains(says));
    }
    // Of 10,000 streams the cheapest client, on one thread, has a fifth of its tokens late.
    report(&committed("scale"), &[".", "--choose", "streams=10000,tokens_per_s=10"])
        .success()
        .stdout(contains("Take `tokio_default`: it takes 1."))
        .stdout(contains("Nothing else that keeps up is as cheap there"))
        .stdout(contains("`epoll_c`").not());
    report(&committed("threads"), &[".", "--choose", "streams=5"])
        .code(2)
        .stderr(contains("the family ledgers gives no advice by load"));
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

/// A change of one file of a record from before chains, and what is said of it.
const LAWS: [(&str, &str, &str, &str, &str); 14] = [
    ("alpha", "run.json", "\"alpha\": 0.05", "\"alpha\": 0.5", "`analysis` is not what"),
    ("a margin", "run.json", "\"margin\": ", "\"margin\": 9", "`analysis` is not what"),
    ("pairing", "run.json", "\"paired\"", "\"unpaired\"", "`analysis` is not what"),
    ("a bound", "run.json", "\"at_least\": ", "\"at_least\": 9", "`expectations` is not what"),
    (
        "afterwards",
        "run.json",
        "\"kind\": \"",
        "\"declared_after_run\": true, \"kind\": \"",
        "`expectations` is not what",
    ),
    ("the seed", "run.json", "\"seed\": ", "\"seed\": 9", "`seed` is not what"),
    ("blocks", "run.json", "\"blocks\": ", "\"blocks\": 9", "`blocks` is not what"),
    (
        "the name",
        "run.json",
        "\"experiment\": \"",
        "\"experiment\": \"x",
        "`experiment` is not what",
    ),
    (
        "the experiment",
        "run.json",
        "\\nalpha = 0.05",
        "\\nalpha = 0.5",
        "`experiment_sha256` is not",
    ),
    (
        "a hash",
        "run.json",
        "\"experiment_sha256\": \"",
        "\"experiment_sha256\": \"0",
        "`experiment_sha256` is not",
    ),
    (
        "a twin",
        "run.json",
        "\"twin_of\": \"tokio_default\"",
        "\"twin_of\": \"smol\"",
        "is no copy of",
    ),
    (
        "a program",
        "runs.jsonl",
        "\"binary_sha256\":\"",
        "\"binary_sha256\":\"0",
        "runs.jsonl, line 1: `binary_sha256` is not that of",
    ),
    ("a variant", "runs.jsonl", "\"variant\":\"", "\"variant\":\"x", "line 1: `variant` is x"),
    (
        "a number twice",
        "runs.jsonl",
        "\"counters\":{",
        "\"counters\":{\"wall_ns\":1,",
        "line 1: the key `wall_ns` stands twice",
    ),
];

#[test]
fn a_record_without_a_chain_must_agree_with_itself() {
    let dir = tempfile::tempdir().unwrap();
    copy(&committed("tr115-ollama"), &dir.path().join("r"));
    report(dir.path(), &["r", "--no-plots"]).code(0).stderr(contains("unchained"));
    for (name, file, from, to, said) in LAWS {
        let _attack = Attack::on("records", &format!("without a chain: {name}"));
        let path = dir.path().join("r").join(file);
        let honest = fs::read_to_string(&path).unwrap();
        let changed = honest.replacen(from, to, 1);
        assert_ne!(honest, changed, "{name}");
        fs::write(&path, changed).unwrap();
        report(dir.path(), &["r", "--no-plots"]).code(4).stderr(contains(said));
        fs::write(&path, honest).unwrap();
    }
}
