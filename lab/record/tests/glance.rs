//! A results folder at a glance: its question, its state and its rows.

use std::{fs, fs::OpenOptions, io::Write, path::Path};

use lab_record::{
    RecordError, Rows, Run, RunFile, SCHEMA, Samples, Session, SessionEvent, State, Writer,
    sha256_hex,
};
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

fn run(order: u64, attempt: u32, status: &str) -> Run {
    let run = json!({
        "schema": SCHEMA, "order": order, "attempt": attempt, "block": 1, "warmup": false,
        "family": "f", "variant": "v", "cell": {}, "status": status, "verification": "verified",
        "binary_sha256": "", "start_ns": 1, "process_ns": 1, "noise": {}, "counters": {},
    });
    serde_json::from_value(run).unwrap()
}

fn session(writer: &mut Writer, event: SessionEvent) {
    let environment = Default::default();
    writer.session(&Session { schema: SCHEMA, event, unix_s: 1, environment }).unwrap();
}

fn state(dir: &Path) -> State {
    State::of(dir).unwrap()
}

#[test]
fn a_sweep_goes_on_while_somebody_writes_and_stops_where_nobody_does() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    let mut writer = Writer::create(&dir, &run_file()).unwrap();
    assert_eq!(state(&dir), State::GoingOn);
    session(&mut writer, SessionEvent::Start);
    assert_eq!(state(&dir), State::GoingOn);
    // A look at the lock leaves it as it is.
    assert!(matches!(Writer::resume(&dir), Err(RecordError::InUse { .. })));
    drop(writer);
    assert_eq!(state(&dir), State::Stopped);
    let (mut writer, _) = Writer::resume(&dir).unwrap();
    session(&mut writer, SessionEvent::Resume);
    assert_eq!(state(&dir), State::GoingOn);
    session(&mut writer, SessionEvent::Stopped);
    assert_eq!(state(&dir), State::Stopped);
    session(&mut writer, SessionEvent::Finished);
    assert_eq!(state(&dir), State::Finished);
}

#[test]
fn rows_of_the_plan_are_told_from_further_ones() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    let mut writer = Writer::create(&dir, &run_file()).unwrap();
    assert_eq!(Rows::of(&dir, &run_file()).unwrap(), Rows::default());
    for (order, attempt, status) in [(0, 0, "ok"), (2, 0, "failed"), (2, 1, "ok"), (3, 0, "ok")] {
        writer.run(run(order, attempt, status), &Samples::default()).unwrap();
    }
    let expected = Rows { planned: 2, further: 2, failed: 1, last: Some(("v".to_owned(), 1)) };
    assert_eq!(Rows::of(&dir, &run_file()).unwrap(), expected);
    // A line that is being written is no row yet.
    let mut runs = OpenOptions::new().append(true).open(dir.join("runs.jsonl")).unwrap();
    runs.write_all(b"{\"schema\":2,\"ord").unwrap();
    assert_eq!(Rows::of(&dir, &run_file()).unwrap(), expected);
}

#[test]
fn the_question_is_read_alone() {
    let _attack = Attack::on("records", "a run.json that is cut, beside rows that are none");
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("r");
    drop(Writer::create(&dir, &run_file()).unwrap());
    fs::write(dir.join("runs.jsonl"), "no rows\n").unwrap();
    assert_eq!(RunFile::read(&dir).unwrap(), run_file());
    assert!(matches!(RunFile::read(home.path()), Err(RecordError::NoResults { .. })));
    fs::write(dir.join("run.json"), "{").unwrap();
    assert!(matches!(RunFile::read(&dir), Err(RecordError::Damaged { .. })));
}
