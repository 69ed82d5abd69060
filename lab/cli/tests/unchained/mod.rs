//! Records as they were before chains.

use std::{fs, path::Path};

use serde_json::Value;

/// Makes a record one from before chains, in which not every change is told.
pub fn unchain(record: &Path) {
    let _ = fs::remove_file(record.join("manifest.json"));
    let path = record.join("run.json");
    let mut file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    file.as_object_mut().unwrap().remove("chain").expect("it is chained");
    fs::write(&path, file.to_string()).unwrap();
    for name in ["runs.jsonl", "sessions.jsonl", "windows.jsonl"] {
        let path = record.join(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let plain = text.lines().map(|line| line.rsplit_once(",\"chain\"").unwrap().0);
        let plain = plain.map(|row| row.split(",\"recorded\"").next().unwrap());
        fs::write(&path, plain.map(|row| format!("{row}}}\n")).collect::<String>()).unwrap();
    }
}
