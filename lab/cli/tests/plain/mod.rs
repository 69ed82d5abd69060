//! A committed record as a sweep leaves it, with its rows in plain files.

use std::{fs, path::Path, process::Command};

/// Unpacks the rows of a copy, which has no chain, and leaves its windows out.
pub fn unpack(record: &Path) {
    let packed = record.join("rows.pack.zst");
    if !packed.exists() {
        return;
    }
    fs::write(record.join("runs.jsonl"), lines(record)).unwrap();
    fs::remove_file(packed).unwrap();
}

/// The lines of the runs of a record.
pub fn lines(record: &Path) -> String {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let output = lab.arg("export").arg(record).arg("--jsonl").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
