//! What a committed record must not say of the machine: names of hosts, paths, and variables of its
//! environment. They stand in the command line, the addresses of servers, and the last words of a
//! program that failed.

use std::net::IpAddr;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Run, RunFile, Session, Window};

/// What separates the words of a text.
const BETWEEN: &[char] = &[' ', '\t', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', ',', ';'];
/// What stands behind the host and port of an address. Brackets are part of a host.
const AFTER_HOST: &[char] =
    &[' ', '\t', '\n', '"', '\'', '`', '(', ')', '{', '}', ',', ';', '/', '?', '#', '\\', '<'];
/// Where people have their folders, by names of their own.
const HOMES: &[&str] = &["/home", "/Users"];
/// Of a text: a piece that goes may lay bare another one.
const MOST_PASSES: usize = 64;

/// The texts of a piece of JSON that may name what must go.
pub(crate) type Texts = fn(&[u8]) -> Vec<String>;

/// A row of a record's file.
pub(crate) trait Row: DeserializeOwned {
    /// Those of its texts that may name what must go.
    fn texts(&self) -> Vec<String>;
}

impl Row for Session {
    fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut values: Vec<&Value> = self.environment.values().collect();
        while let Some(value) = values.pop() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(items) => values.extend(items),
                Value::Object(entries) => values.extend(entries.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts
    }
}

impl Row for Run {
    fn texts(&self) -> Vec<String> {
        self.reason.iter().chain(&self.gpu_reason).cloned().collect()
    }
}

impl Row for Window {
    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Of a line with such a row; none of a line that holds none.
pub(crate) fn of_row<R: Row>(json: &[u8]) -> Vec<String> {
    serde_json::from_slice(json).map_or_else(|_| Vec::new(), |row: R| row.texts())
}

/// Of `run.json`.
pub(crate) fn of_run_file(json: &[u8]) -> Vec<String> {
    let file: Option<RunFile> = serde_json::from_slice(json).ok();
    let texts = |file: RunFile| [file.servers, file.arguments, vec![file.experiment_file]].concat();
    file.map(texts).unwrap_or_default()
}

/// The JSON with such texts redacted, and the rest as it was written; `None` where none has to be.
pub(crate) fn json(json: &[u8], texts: Texts) -> Option<Vec<u8>> {
    replaced(json, texts(json))
}

/// The same, where the texts are known. What it gives is redacted no further: the chain of a record
/// and of its export rest on that.
pub(crate) fn replaced(json: &[u8], mut texts: Vec<String>) -> Option<Vec<u8>> {
    texts.retain(|text| redacted(text) != *text);
    if texts.is_empty() {
        return None;
    }
    let written = |text: &str| serde_json::to_string(text).expect("a text serialises");
    let mut kept = String::from_utf8_lossy(json).into_owned();
    for text in texts {
        kept = kept.replace(&written(&text), &written(&redacted(&text)));
    }
    Some(kept.into_bytes())
}

/// All lines, those with something to redact without it, and how many these were.
pub(crate) fn lines(text: &[u8], texts: Texts) -> (Vec<u8>, usize) {
    let (mut kept, mut redacted) = (Vec::with_capacity(text.len()), 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match json(line, texts) {
            Some(line) => {
                kept.extend(line);
                redacted += 1;
            }
            None => kept.extend_from_slice(line),
        }
    }
    (kept, redacted)
}

/// The text with absolute paths cut down to their last part, and without values of variables and
/// hosts of addresses, where these are not this machine. Of what it gives it leaves all.
fn redacted(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MOST_PASSES {
        let once = redacted_once(&text);
        if once == text {
            return text;
        }
        text = once;
    }
    // No text is known that comes here: nothing of it is kept.
    "<redacted>".to_owned()
}

fn redacted_once(text: &str) -> String {
    let text = without_hosts(text);
    let mut kept = String::with_capacity(text.len());
    let mut rest = &text[..];
    while !rest.is_empty() {
        let end = rest.find(BETWEEN).unwrap_or(rest.len());
        kept.push_str(&word(&rest[..end]));
        let mut after = rest[end..].chars();
        kept.extend(after.next());
        rest = after.as_str();
    }
    kept
}

fn without_hosts(text: &str) -> String {
    let mut parts = text.split("://");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, behind) = part.split_at(part.find(AFTER_HOST).unwrap_or(part.len()));
        kept.push_str("://");
        kept.push_str(&without_host(place));
        kept.push_str(behind);
    }
    kept
}

/// Of `USER@HOST:PORT` the port, and the host where it is this machine.
fn without_host(place: &str) -> String {
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let end = match place.find(']') {
        Some(end) if place.starts_with('[') => end + 1,
        _ => place.find([':', ']']).unwrap_or(place.len()),
    };
    let (host, port) = place.split_at(end);
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_own = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    if host.is_empty() || is_own { place.to_owned() } else { format!("<host>{port}") }
}

fn word(word: &str) -> String {
    if let Some((name, _)) = word.split_once('=').filter(|(name, _)| is_variable(name)) {
        return format!("{name}=<value>");
    }
    // Before a path there may be the name of an option, behind it a line's number.
    let mut kept = String::with_capacity(word.len());
    let mut before = "";
    for part in word.split_inclusive([':', '=']) {
        kept.push_str(&without_folders(part, before));
        before = part;
    }
    kept
}

/// A part of a word, which is or ends with a path or has none. `before` is the part before it.
fn without_folders(part: &str, before: &str) -> String {
    let is_short_option = part.starts_with('-') && part.as_bytes().get(2) == Some(&b'/');
    let start = match part.strip_prefix("//").filter(|_| before.ends_with(':')) {
        Some(rest) if before == "file:" || rest.starts_with('/') => {
            part.len() - rest.trim_start_matches(|letter| letter != '/').len()
        }
        // The path of a server's address is its own.
        Some(_) => part.len(),
        None if is_short_option => 2,
        None => 0,
    };
    let (option, path) = part.split_at(start);
    match path.rsplit_once('/') {
        Some((folders, last)) if path.starts_with('/') && !folders.is_empty() => {
            let end = last.trim_start_matches(|letter: char| ![':', '='].contains(&letter));
            let last = if HOMES.contains(&folders) { end.to_owned() } else { format!("/{last}") };
            format!("{option}<path>{last}")
        }
        _ => part.to_owned(),
    }
}

fn is_variable(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    name.len() > 1
        && name.starts_with(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_are(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(redacted(text), *expected);
            assert_eq!(redacted(expected), *expected, "twice is as once");
        }
    }

    #[test]
    fn paths_and_variables_go_and_the_rest_stays() {
        all_are(&[
            ("cannot open /home/me/lab/x.so: no", "cannot open <path>/x.so: no"),
            ("at '/a/b/main.rs:9:1' `/c/d`", "at '<path>/main.rs:9:1' `<path>/d`"),
            ("HOME=/home/me TOKEN=abc x=1 N=1", "HOME=<value> TOKEN=<value> x=1 N=1"),
            (
                "call 0 on http://127.0.0.1:9/x: 5 / 3, /",
                "call 0 on http://127.0.0.1:9/x: 5 / 3, /",
            ),
            ("é\u{1F600}/a", "é\u{1F600}/a"),
        ]);
    }

    #[test]
    fn a_path_behind_an_option_a_colon_or_a_scheme_is_one() {
        all_are(&[
            ("--config=/home/me/x.toml --n=1", "--config=<path>/x.toml --n=1"),
            ("--config=\"/home/me/x\" -I/home/me/c", "--config=\"<path>/x\" -I<path>/c"),
            ("/a/b/c:/home/me/d:7: no", "<path>/c:<path>/d:7: no"),
            ("error:/home/me/d", "error:<path>/d"),
            ("file:///home/me/x file://localhost/a/b", "file://<path>/x file://localhost<path>/b"),
            (
                "in /home/me, x:/home/me and file:///home/me",
                "in <path>, x:<path> and file://<path>",
            ),
            ("http://localhost/a/b", "http://localhost/a/b"),
            ("std::fs a/b ../c -n/2 =/ :/x", "std::fs a/b ../c -n/2 =/ :/x"),
        ]);
    }

    #[test]
    fn hosts_of_addresses_go_unless_they_are_this_machine() {
        all_are(&[
            ("call 1 on http://gpu-box:11434/x: no", "call 1 on http://<host>:11434/x: no"),
            ("http://gpu-box,http://10.0.0.7:2", "http://<host>,http://<host>:2"),
            ("postgres://me:secret@db/x \"ws://a\"", "postgres://<host>/x \"ws://<host>\""),
            ("http://[2001:db8::5]:9/api/x", "http://<host>:9/api/x"),
            ("-s=http://localhost:1,http://[::1]:2", "-s=http://localhost:1,http://[::1]:2"),
            ("http://me:secret@127.0.0.1:3: no", "http://127.0.0.1:3: no"),
            ("[http://gpu-box] [http://gpu-box:9]", "[http://<host>] [http://<host>:9]"),
        ]);
    }

    use proptest::prelude::*;

    proptest! {
        /// Exports of exports rest on it, and the chain of every record.
        #[test]
        fn twice_is_as_once_of_any_text(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "/", "/home/me", "//", "http://", "file://", "me:secret@", "gpu-box", ":11434",
                    "[::1]", "[", "]", "=", "A=", "TOKEN=x", "<path>", "<host>", "<value>", "-I",
                    " ", "\"", "'", "\\", ",", "localhost", "é", "\n", "#", "?",
                ]),
                0..12,
            )
        ) {
            let once = redacted(&parts.concat());
            prop_assert_eq!(redacted(&once), once.clone());
            prop_assert!(once != "<redacted>", "{:?}", parts);
        }
    }
}
