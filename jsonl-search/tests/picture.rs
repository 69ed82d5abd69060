//! The picture of the README is what the program prints.
//!
//! After a change of what it prints `WRITE_PICTURE=1 cargo test -p jsonl-search --test picture`
//! draws it anew.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// As a shell reads it, and as the program is given it.
const COMMAND: &str = r#"jsonl-search '"connection refused"' logs -m 2 -C 1"#;
const ARGUMENTS: [&str; 6] = [r#""connection refused""#, "logs", "-m", "2", "-C", "1"];

/// A session of each of two agents, made up.
const SESSIONS: [(&str, &str); 2] = [
    (
        "logs/claude/41c7.jsonl",
        concat!(
            r#"{"type":"user","sessionId":"41c7","timestamp":"2026-11-20T10:00:01Z","#,
            r#""message":{"role":"user","content":"the tests of the queue fail since Monday"}}"#,
            "\n",
            r#"{"type":"assistant","sessionId":"41c7","timestamp":"2026-11-20T10:00:04Z","#,
            r#""message":{"role":"assistant","content":[{"type":"tool_use","id":"t","#,
            r#""name":"Bash","input":{"command":"cargo test -p queue"}}]}}"#,
            "\n",
            r#"{"type":"user","sessionId":"41c7","timestamp":"2026-11-20T10:00:09Z","#,
            r#""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","#,
            r#""content":"test it_reconnects ... FAILED\n"#,
            r#"Error: Connection refused (os error 111) \ud83d"}]}}"#,
            "\n",
            r#"{"type":"assistant","sessionId":"41c7","timestamp":"2026-11-20T10:00:12Z","#,
            r#""message":{"role":"assistant","#,
            r#""content":"The broker is not up when the test begins."}}"#,
            "\n",
        ),
    ),
    (
        "logs/codex/rollout.jsonl",
        concat!(
            r#"{"timestamp":"2026-11-19T18:20:00Z","type":"response_item","payload":"#,
            r#"{"type":"message","role":"user","#,
            r#""content":[{"type":"input_text","text":"why is staging down?"}]}}"#,
            "\n",
            r#"{"timestamp":"2026-11-19T18:20:07Z","type":"response_item","payload":"#,
            r#"{"type":"function_call_output","call_id":"c","#,
            r#""output":"curl: (7) port 8080: Connection refused"}}"#,
            "\n",
        ),
    ),
];

/// What the program prints of these, as a terminal with colours gets it.
fn printed() -> String {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in SESSIONS {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // Relative to the workspace's root where Bazel runs this.
    let program = std::path::absolute(env!("CARGO_BIN_EXE_jsonl-search")).unwrap();
    let mut command = Command::new(program);
    command.args(ARGUMENTS).args(["--color", "always"]);
    let output = command.current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// The class of the picture's that a colour has.
fn class(code: &str) -> &'static str {
    match code {
        "2" => "dim",
        "36" => "role",
        "35" => "path",
        "32" => "place",
        "1;31" => "match",
        _ => panic!("the picture knows no colour {code}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A line with its colours as spans.
fn spans(line: &str) -> String {
    let mut pieces = line.split("\x1b[");
    let mut spans = escaped(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (code, text) = piece.split_once('m').unwrap();
        if text.is_empty() {
            continue;
        }
        match code {
            "0" => spans += &escaped(text),
            _ => spans += &format!("<tspan class=\"{}\">{}</tspan>", class(code), escaped(text)),
        }
    }
    spans
}

fn picture() -> String {
    const STYLE: &str = "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d4d4d4;\
                         white-space:pre}.dim{fill:#8a8a8a}.role{fill:#56b6c2}.path{fill:#c678dd}\
                         .place{fill:#98c379}.match{fill:#ff6b6b;font-weight:bold}";
    let command = format!("$ {COMMAND}");
    let printed = printed();
    let lines: Vec<String> =
        std::iter::once(command.as_str()).chain(printed.lines()).map(spans).collect();
    let height = 20 * lines.len() + 24;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 {height}\" role=\"img\" \
         aria-label=\"A search in a terminal\">\n<style>{STYLE}</style>\n\
         <rect width=\"800\" height=\"{height}\" rx=\"8\" fill=\"#1e1e1e\"/>\n"
    );
    for (line, number) in lines.iter().zip(1..) {
        svg += &format!(
            "<text x=\"14\" y=\"{}\" xml:space=\"preserve\">{line}</text>\n",
            20 * number + 8
        );
    }
    svg + "</svg>\n"
}

#[test]
fn the_picture_is_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("terminal.svg");
    let made = picture();
    if env::var_os("WRITE_PICTURE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|text| text == made),
        "terminal.svg is not what the program prints: WRITE_PICTURE=1 cargo test -p jsonl-search \
         --test picture draws it"
    );
}
