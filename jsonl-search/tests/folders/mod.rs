//! Folders of a few messages.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::program::{Finished, ask};

pub(crate) fn line(role: &str, second: u64, text: &str) -> String {
    let line = json!({
        "type": role, "sessionId": format!("s-{role}"), "message": {"content": text},
        "timestamp": format!("2026-01-02T03:04:{second:02}Z"),
    });
    format!("{line}\n")
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, String)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// One file whose messages are these texts, a second apart.
pub(crate) fn texts(texts: &[&str]) -> TempDir {
    let lines = texts.iter().zip(0..).map(|(text, second)| line("user", second, text));
    folder(&[("a.jsonl", lines.collect())])
}

pub(crate) fn asked(dir: &TempDir, arguments: &[&str]) -> Finished {
    ask(&[arguments, &["--", root(dir)]].concat())
}

pub(crate) fn root(dir: &TempDir) -> &str {
    dir.path().to_str().unwrap()
}
