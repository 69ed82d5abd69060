//! A chain over the lines of a record, so that a line that was changed, dropped, added or moved is
//! told by whoever reads it.
//!
//! `run.json` and each row end in a key `chain`. That of `run.json` is a hash of the file; that of
//! a row is a hash of the value before it and of the row. What is hashed is redacted first, as an
//! export is: a record and its export have the same values. Expectations that came after the run
//! are left out of the hash of `run.json`, for they may be replaced.
//!
//! What this module gives is stored in records. A change of it, or of what redaction leaves, needs
//! another value of [`RULES`], by which records of the older rules are told apart.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{redact, sha256_hex};

/// Hashed first, so that a chain of other rules is another one.
const RULES: &str = "lab record, chain 1";
/// Of a value, in hexadecimal: nobody finds a second text for 128 bits, and hashes do not compress,
/// so that whole ones would be a tenth of a packed record.
const DIGITS: usize = 32;
/// Before a value, at the end of a line.
const KEY: &str = r#","chain":""#;
/// Behind it.
const END: &str = "\"}";

/// How far one file of a record is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Rows.
    pub rows: u64,
    /// The value of the last one; before the first row, where the file's chain begins.
    pub chain: String,
}

/// How far the files of a record are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    /// Of `runs.jsonl`.
    pub runs: Head,
    /// Of `sessions.jsonl`.
    pub sessions: Head,
    /// Of `windows.jsonl`.
    pub windows: Head,
}

impl Heads {
    /// One value for all rows of all files: who keeps it can tell another record from this one.
    pub fn whole(&self) -> String {
        let parts = [&self.runs, &self.sessions, &self.windows].map(|head| head.chain.as_str());
        hash(&parts)
    }
}

/// What the last row of a session says of the other files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) runs: Head,
    pub(crate) windows: Head,
}

/// The first digits of the hash of some texts and of where each begins.
fn hash(parts: &[&str]) -> String {
    let mut text = RULES.to_owned();
    for part in parts {
        text.push_str(&format!("\n{}\n", part.len()));
        text.push_str(part);
    }
    let mut hash = sha256_hex(text.as_bytes());
    hash.truncate(DIGITS);
    hash
}

/// The value of `run.json`, from its text with that value or without.
///
/// # Errors
/// Where the text is no object.
pub(crate) fn of_run_file(text: &[u8]) -> Result<String, serde_json::Error> {
    let mut fields: Map<String, Value> = serde_json::from_slice(text)?;
    fields.remove("chain");
    if let Some(Value::Array(expectations)) = fields.get_mut("expectations") {
        expectations.retain(|one| one["declared_after_run"] != true);
        if expectations.is_empty() {
            fields.remove("expectations");
        }
    }
    let mut sorted = in_order(Value::Object(fields)).to_string();
    // A key may be redacted too, and belongs elsewhere then.
    while let Some(redacted) = redact::json(sorted.as_bytes(), redact::of_run_file) {
        sorted = in_order(serde_json::from_slice(&redacted)?).to_string();
    }
    Ok(hash(&["run.json", &sorted]))
}

/// The value with the keys of every object in the order of the alphabet.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields.into_iter().map(|(key, value)| (key, in_order(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        other => other,
    }
}

/// The value that `run.json` holds; none in a record from before chains.
pub(crate) fn stored(text: &[u8]) -> Result<Option<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Stored {
        chain: Option<String>,
    }
    Ok(serde_json::from_slice::<Stored>(text)?.chain)
}

impl Head {
    /// Before the first row of a file; `begin` is the value of `run.json`.
    pub(crate) fn of_file(begin: &str, name: &str) -> Self {
        Self { rows: 0, chain: hash(&[begin, name]) }
    }

    /// A row's line, and the head behind it. `texts` are those of the row that may be redacted.
    pub(crate) fn line(&self, row: &[u8], texts: Vec<String>) -> (Vec<u8>, Self) {
        let next = self.next(row, texts);
        let mut line = row.strip_suffix(b"}").unwrap_or(row).to_vec();
        line.extend_from_slice(format!("{KEY}{}{END}\n", next.chain).as_bytes());
        (line, next)
    }

    fn next(&self, row: &[u8], texts: Vec<String>) -> Self {
        let redacted = redact::replaced(row, texts);
        let row = String::from_utf8_lossy(redacted.as_deref().unwrap_or(row));
        Self { rows: self.rows + 1, chain: hash(&[&self.chain, &row]) }
    }
}

/// The chain of a file that is read.
#[derive(Debug)]
pub(crate) struct Walk {
    head: Head,
    /// The value before the first row, and after each one.
    values: Vec<String>,
}

impl Walk {
    /// `begin` is the value of `run.json`.
    pub(crate) fn of_file(begin: &str, name: &str) -> Self {
        let head = Head::of_file(begin, name);
        Self { values: vec![head.chain.clone()], head }
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Whether the file was so far once.
    pub(crate) fn passed(&self, head: &Head) -> bool {
        let value = usize::try_from(head.rows).ok().and_then(|rows| self.values.get(rows));
        value == Some(&head.chain)
    }

    /// Takes a line and what of its row may be redacted.
    ///
    /// # Errors
    /// In words, where the line does not follow.
    pub(crate) fn follow(&mut self, line: &str, texts: Vec<String>) -> Result<(), &'static str> {
        let (row, value) = taken_apart(line).ok_or("it has no `chain` at its end")?;
        let next = self.head.next(format!("{row}}}").as_bytes(), texts);
        if next.chain != value {
            return Err("its `chain` does not follow from it and what is before it");
        }
        self.take(next);
        Ok(())
    }

    /// Takes a row that has no value beside it: what is after it tells whether it follows.
    pub(crate) fn go_on(&mut self, row: &[u8], texts: Vec<String>) {
        self.take(self.head.next(row, texts));
    }

    fn take(&mut self, next: Head) {
        self.values.push(next.chain.clone());
        self.head = next;
    }
}

/// A line without its value and the last brace, and the value.
pub(crate) fn taken_apart(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_suffix('\n')?.strip_suffix(END)?;
    let (row, value) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    Some((row.strip_suffix(KEY)?, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"schema":2,"experiment":"e","experiment_toml":"","attachments":{},
        "experiment_file":"/home/me/e.toml","servers":["http://gpu-box:1"],"experiment_sha256":"",
        "arguments":["run","--out=/home/me/r"],"analysis":{"reference":"v","pairing":"paired",
        "alpha":0.05,"comparisons":[]},"seed":1,"blocks":1,"runs_planned":1,"git":null,
        "variants":[],"machine":{"cpu_model":"","cpus":1,"memory_bytes":1,"kernel":"","arch":""},
        "started_unix_s":1}"#;

    fn of(text: &str) -> String {
        of_run_file(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_start_is_that_of_the_export_and_knows_no_order_of_keys() {
        let begin = of(RUN);
        let export = redact::json(RUN.as_bytes(), redact::of_run_file).unwrap();
        assert!(!String::from_utf8_lossy(&export).contains("gpu-box"));
        assert_eq!(of_run_file(&export).unwrap(), begin);
        let moved =
            RUN.replace("\"schema\":2,", "").replace("\"seed\":1", "\"schema\":2,\"seed\":1");
        assert_eq!(of(&moved), begin);
        let after = r#""expectations":[{"declared_after_run":true,"id":"x"}],"seed":1"#;
        assert_eq!(of(&RUN.replace("\"seed\":1", after)), begin);
        let before = r#""expectations":[{"id":"x"}],"seed":1"#;
        assert_ne!(of(&RUN.replace("\"seed\":1", before)), begin);
        assert_ne!(of(&RUN.replace("0.05", "0.5")), begin);
    }

    #[test]
    fn a_known_chain_keeps_its_values() {
        // Those of committed records hang on these rules.
        let start = Head::of_file("begin", "runs.jsonl");
        let (line, next) = start.line(b"{\"a\":1}", Vec::new());
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, format!("{{\"a\":1,\"chain\":\"{}\"}}\n", next.chain));
        let text = format!("{RULES}\n32\n{}\n7\n{{\"a\":1}}", start.chain);
        assert_eq!(next.chain, sha256_hex(text.as_bytes())[..DIGITS]);
        assert_eq!(start.chain, "f396768452a14edb15127ca6315deef7");
        let mut walk = Walk::of_file("begin", "runs.jsonl");
        walk.follow(&line, Vec::new()).unwrap();
        assert_eq!(*walk.head(), next);
        assert!(walk.passed(&start) && walk.passed(&next));
        assert!(!walk.passed(&Head { rows: 2, ..next }));
        assert!(walk.follow(&line, Vec::new()).is_err() && walk.follow("{}\n", vec![]).is_err());
    }
}
