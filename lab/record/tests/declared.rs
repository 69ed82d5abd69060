//! Expectations from before the runs and from after them.

use std::fs;

use lab_record::{Expectation, Heads, Results, RunFile, SCHEMA, Writer, sha256_hex};
use proof_kit::Attack;
use serde_json::json;

fn run_file() -> RunFile {
    let machine =
        json!({"cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "a"});
    let analysis = json!({
        "reference": "a", "pairing": "paired", "alpha": 0.05, "comparisons": [],
    });
    let file = json!({
        "schema": SCHEMA, "experiment": "e", "experiment_toml": "", "attachments": {},
        "experiment_sha256": sha256_hex(b""), "arguments": [], "seed": 1, "blocks": 1,
        "analysis": analysis, "runs_planned": 3, "git": null, "variants": [], "machine": machine,
        "started_unix_s": 0,
    });
    serde_json::from_value(file).unwrap()
}

fn expectation(id: &str) -> Expectation {
    let value = serde_json::json!({
        "id": id, "kind": "bar", "says": "s", "at_least": 2.0,
        "value": { "variant": "a", "metric": "m" },
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn expectations_that_come_after_the_run_are_marked_so() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    Writer::create(&dir, &run_file()).unwrap();
    let mut results = Results::load(&dir).unwrap();
    results.declare_after_run(vec![expectation("one")]).unwrap();
    results.declare_after_run(vec![expectation("one"), expectation("two")]).unwrap();
    let stored = Results::load(&dir).unwrap().run_file;
    assert_eq!(stored.expectations.len(), 2);
    assert!(stored.expectations.iter().all(|one| one.declared_after_run));
    assert_eq!(RunFile { expectations: vec![], ..stored }, run_file());
}

#[test]
fn expectations_from_before_the_run_are_never_replaced() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    let declared = RunFile { expectations: vec![expectation("one")], ..run_file() };
    Writer::create(&dir, &declared).unwrap();
    let error = Results::load(&dir).unwrap().declare_after_run(vec![]).unwrap_err().to_string();
    assert!(error.contains("declared before its runs"), "{error}");
    assert_eq!(Results::load(&dir).unwrap().run_file, declared);
}

#[test]
fn the_head_knows_the_expectations_from_before_the_runs_alone() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    let head = || Results::load(&dir).map(|results| results.heads().map(Heads::whole).unwrap());
    let declared = RunFile { expectations: vec![expectation("one")], ..run_file() };
    Writer::create(&dir, &declared).unwrap();
    let before = head().unwrap();
    let path = dir.join("run.json");
    let honest = fs::read_to_string(&path).unwrap();
    for (name, from, to) in [
        ("a bound", "2.0", "1.0"),
        ("what it says", "\"says\": \"s\"", "\"says\": \"t\""),
        ("declared afterwards", "\"id\": \"one\"", "\"id\": \"one\", \"declared_after_run\": true"),
    ] {
        let _attack = Attack::on("records", &format!("an expectation from before: {name}"));
        let changed = honest.replacen(from, to, 1);
        assert_ne!(changed, honest, "{name}");
        fs::write(&path, changed).unwrap();
        let told = head().unwrap_err().to_string();
        assert!(told.contains("run.json: its `chain` does not follow"), "{name}: {told}");
    }
    fs::remove_dir_all(&dir).unwrap();
    Writer::create(&dir, &run_file()).unwrap();
    let none = head().unwrap();
    assert_ne!(none, before);
    Results::load(&dir).unwrap().declare_after_run(vec![expectation("one")]).unwrap();
    assert_eq!(head().unwrap(), none);
}
