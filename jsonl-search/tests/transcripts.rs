//! Transcripts as agents write them, and as crashes leave them.

use std::fs;
use std::path::Path;

use program::ask;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

mod program;
mod reference;

/// A line of each kind that agents and chat servers write: what was said is SAID, what a tool was
/// given GIVEN, what it printed PRINTED, what a model thought THOUGHT.
const SHAPES: &str = include_str!("shapes.tsv");

fn shapes() -> Vec<(&'static str, &'static str)> {
    SHAPES.lines().map(|line| line.split_once('\t').unwrap()).collect()
}

fn found(dir: &Path, arguments: &[&str]) -> Vec<Value> {
    let root = dir.to_str().unwrap();
    let all = ["--limit", "all", "--output", "jsonl", "--", root];
    let finished = ask(&[arguments, &all].concat());
    assert!(matches!(finished.code, Some(0..=2)), "{}", finished.stderr);
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_shape_has_its_text_where_it_belongs() {
    for (name, line) in shapes() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.jsonl"), format!("{line}\n")).unwrap();
        let kinds =
            [("text", "SAID"), ("tools", "GIVEN"), ("tools", "PRINTED"), ("thinking", "THOUGHT")];
        for scope in ["text", "tools", "thinking", "all"] {
            for (kind, word) in kinds {
                let is_there = line.contains(word) && (scope == kind || scope == "all");
                let hits = found(dir.path(), &[word, "--case-sensitive", "--in", scope]);
                assert_eq!(!hits.is_empty(), is_there, "{name}: {word} in {scope}: {hits:?}");
            }
        }
        assert!(found(dir.path(), &["SECRET"]).is_empty(), "{name}");
    }
}

#[test]
fn messages_of_one_line_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let first = r#"{"role":"user","content":"one SAID"}"#;
    let time = r#""timestamp":"2026-01-02T03:04:06Z""#;
    let second = format!(r#"{{"role":"model",{time},"content":"two SAID"}}"#);
    let own = r#""sessionId":"s","timestamp":"2026-01-02T03:04:05Z""#;
    let line = format!(r#"{{{own},"messages":[{first},{second}]}}"#);
    fs::write(dir.path().join("a.jsonl"), line).unwrap();
    let hits = found(dir.path(), &["SAID"]);
    let fields = |hit: &Value| {
        [&hit["role"], &hit["timestamp"], &hit["session"], &hit["text"]]
            .map(|it| it.as_str().unwrap().to_owned())
    };
    let shown: Vec<_> = hits.iter().map(fields).collect();
    assert_eq!(shown[0], ["model", "2026-01-02T03:04:06Z", "s", "two SAID"]);
    assert_eq!(shown[1], ["user", "2026-01-02T03:04:05Z", "s", "one SAID"]);
    assert_eq!(found(dir.path(), &["", "--role", "model"]).len(), 1);
}

#[test]
fn what_a_record_holds_says_what_it_is_in_whatever_order() {
    let dir = tempfile::tempdir().unwrap();
    let lines = r#"{"payload":{"type":"function_call","arguments":"one"},"type":"response_item"}
{"type":"response_item","payload":{"type":"function_call","arguments":"one"}}"#;
    fs::write(dir.path().join("a.jsonl"), lines).unwrap();
    assert_eq!(found(dir.path(), &["one", "--role", "function_call"]).len(), 2);
}

/// Codex and OpenAI have what a tool is given as JSON in a string.
#[test]
fn text_of_json_in_a_string_is_found_as_it_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    let call = |arguments: &str| {
        let payload = serde_json::json!({"type": "function_call", "arguments": arguments});
        format!("{}\n", serde_json::json!({"type": "response_item", "payload": payload}))
    };
    let lines = [
        call(r#"{"command":["echo \"Gr\u00f6\u00dfe\" \u043a\u0435нгуру\nls"]}"#),
        call(r#"{"inner":"{\"q\":\"deep \\u0065cho\"}"}"#),
        call(r#"{"no JSON: echo"#),
    ];
    fs::write(dir.path().join("a.jsonl"), lines.concat()).unwrap();
    for (query, count) in [
        ("größe", 1),
        ("кенгуру", 1),
        (r#""echo \"größe\"""#, 1),
        ("'deep echo'", 1),
        ("echo", 3),
        ("command", 0),
        ("/^ls$/m", 1),
        ("JSON", 1),
    ] {
        assert_eq!(found(dir.path(), &[query]).len(), count, "{query}");
    }
}

/// How a line is broken.
#[derive(Debug, Clone)]
enum Harm {
    None,
    /// Cut at a part of it, and the next one goes on behind it.
    Spliced(f64),
    /// The next one goes on behind its end.
    Joined,
    Zeros(usize),
    /// At a part of it these bytes are put in.
    Inside(f64, &'static [u8]),
    Lost(f64, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let inside = prop::sample::select(vec![
        &br"\ud83d"[..],
        br"\udc00\ud800",
        b"\0\0\0",
        b"\x01",
        b"\x1b[0m",
        b"\xff",
        b"\xf0\x9f",
        br"\x",
        br"\u12",
        b"\"",
        b"{",
        b"}",
        b"{\"",
        b"\\",
        b",",
        b"]",
    ]);
    prop_oneof![
        4 => Just(Harm::None),
        2 => (0.0..1.0).prop_map(Harm::Spliced),
        1 => Just(Harm::Joined),
        1 => (1_usize..700).prop_map(Harm::Zeros),
        5 => (0.0..1.0, inside).prop_map(|(at, bytes)| Harm::Inside(at, bytes)),
        2 => (0.0..1.0, 1_usize..20).prop_map(|(at, bytes)| Harm::Lost(at, bytes)),
    ]
}

fn harmed(line: &str, harm: &Harm) -> Vec<u8> {
    let bytes = line.as_bytes();
    let at = |part: f64| (part * bytes.len() as f64) as usize;
    match harm {
        Harm::None => [bytes, b"\n"].concat(),
        Harm::Spliced(part) => bytes[..at(*part)].to_vec(),
        Harm::Joined => bytes.to_vec(),
        Harm::Zeros(count) => [&vec![0; *count][..], bytes, b"\n"].concat(),
        Harm::Inside(part, inside) => {
            [&bytes[..at(*part)], inside, &bytes[at(*part)..], b"\n"].concat()
        }
        Harm::Lost(part, count) => {
            let end = (at(*part) + count).min(bytes.len());
            [&bytes[..at(*part)], &bytes[end..], b"\n"].concat()
        }
    }
}

/// 10,000 lines, of which most are broken, and every message that a slow reader finds in them.
#[test]
fn broken_lines_have_the_messages_that_a_slow_reader_finds() {
    let lines = prop::collection::vec((0..shapes().len(), harm()), 200);
    let mut runner =
        TestRunner::new(Config { cases: 50, failure_persistence: None, ..Config::default() });
    let check = |lines: Vec<(usize, Harm)>| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let line = |(shape, harm): &(usize, Harm)| harmed(shapes()[*shape].1, harm);
        fs::write(&path, lines.iter().flat_map(line).collect::<Vec<_>>()).unwrap();
        let wanted = reference::messages(&path);
        for (query, word) in [("", ""), ("SAID", "SAID"), ("printed OR given", "GIVEN")] {
            let is_wanted = |text: &str| {
                let text = text.to_lowercase();
                match word {
                    "GIVEN" => text.contains("given") || text.contains("printed"),
                    word => text.contains(&word.to_lowercase()),
                }
            };
            let text = |message: &reference::Message| {
                let texts: Vec<_> = message.texts.iter().map(|(_, text)| text.as_str()).collect();
                texts.join("\n")
            };
            let rows = wanted.iter().filter(|(_, _, message)| is_wanted(&text(message)));
            let mut rows: Vec<_> = rows.map(|(offset, repaired, message)| serde_json::json!({
                "path": path, "offset_bytes": offset, "repaired": repaired,
                "timestamp": message.timestamp, "role": message.role, "session": message.session,
                "project": message.project, "text": text(message),
            })).collect();
            let key = |row: &Value| (row["offset_bytes"].as_u64(), row.to_string());
            rows.sort_by_key(key);
            for read in [&["--read", "buffered", "--threads", "1"][..], &["--read", "mmap"]] {
                let mut hits = found(dir.path(), &[&[query], read].concat());
                hits.sort_by_key(key);
                for (hit, row) in hits.iter().zip(&rows) {
                    prop_assert_eq!(hit, row);
                }
                prop_assert_eq!(hits.len(), rows.len());
            }
        }
        Ok(())
    };
    runner.run(&lines, check).unwrap();
}
