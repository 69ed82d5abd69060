//! The plainest search there could be: every line as a `serde_json::Value`, every query as two
//! closures.

use std::cmp::Reverse;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

/// What a query looks for, told in Rust.
pub struct Wanted<'a> {
    /// Of a message's text.
    pub text: &'a dyn Fn(&str) -> bool,
    /// Of the whole line.
    pub line: &'a dyn Fn(&Value) -> bool,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// File, offset and hash of each message, newest first.
    pub rows: Vec<(i64, i64, i64)>,
    /// Lines.
    pub lines: u64,
    /// Lines that are neither blank nor a message.
    pub invalid: u64,
    /// Files, with those that cannot be read.
    pub files: u64,
    /// Files that cannot be read.
    pub unreadable: u64,
    /// Bytes of the others.
    pub bytes: u64,
}

/// Searches a corpus.
///
/// Times are compared as text, so all of them must be UTC with the same number of digits, but for
/// the fraction of a second.
pub fn search(corpus: &Path, wanted: &Wanted<'_>) -> Found {
    let mut paths = Vec::new();
    sessions(corpus, &mut paths);
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    let (files, unreadable) = (paths.len() as u64, 0);
    let mut found = Found { rows: vec![], lines: 0, invalid: 0, files, unreadable, bytes: 0 };
    let mut hits = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        let Ok(bytes) = fs::read(path) else {
            found.unreadable += 1;
            continue;
        };
        found.bytes += bytes.len() as u64;
        let mut offset = 0;
        for whole in bytes.split_inclusive(|&byte| byte == b'\n') {
            found.lines += 1;
            let line = whole.strip_suffix(b"\n").unwrap_or(whole);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // A byte order mark at a file's start is not part of its first line's JSON.
            let mark = if offset == 0 { "\u{feff}".as_bytes() } else { b"" };
            match serde_json::from_slice::<Value>(line.strip_prefix(mark).unwrap_or(line)) {
                Ok(value) if value.is_object() => {
                    if (wanted.text)(&text(&value)) && (wanted.line)(&value) {
                        let time = value["timestamp"].as_str().map(str::to_owned);
                        let hash = xxh64(line, 0).cast_signed();
                        hits.push((Reverse(time), file as i64, offset as i64, hash));
                    }
                }
                _ => found.invalid += u64::from(!line.trim_ascii().is_empty()),
            }
            offset += whole.len();
        }
    }
    hits.sort();
    found.rows = hits.into_iter().map(|(_, file, offset, hash)| (file, offset, hash)).collect();
    found
}

fn sessions(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the test's own folder can be read");
    for path in entries.map(|entry| entry.expect("so can its entries").path()) {
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        } else if path.is_dir() {
            sessions(&path, paths);
        }
    }
}

fn text(line: &Value) -> String {
    match &line["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
