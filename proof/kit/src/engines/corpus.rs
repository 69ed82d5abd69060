//! A small corpus of everything that breaks careless readers.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

/// A corpus in a folder of its own, which goes when this is dropped.
#[derive(Debug)]
pub struct Corpus {
    dir: TempDir,
}

impl Corpus {
    /// Writes it.
    ///
    /// # Errors
    /// Where the folder for temporary files cannot be written to.
    pub fn hostile() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let root = dir.path();
        fs::create_dir_all(root.join("b/deep"))?;
        let write = |name: &str, bytes: &[u8]| fs::write(root.join(name), bytes);
        write("a.jsonl", ordinary(40, "2026-01-01").as_bytes())?;
        write("b/crlf.jsonl", ordinary(9, "2026-01-02").replace('\n', "\r\n").as_bytes())?;
        write("b/deep/escapes.jsonl", escapes().as_bytes())?;
        let marked = "\u{feff}".to_owned() + &message("\"a needle behind a mark\"");
        write("b/bom.jsonl", (marked + &message("\"\u{feff}needle\"")).as_bytes())?;
        write("b/empty.jsonl", b"")?;
        write("b/invalid.jsonl", &invalid())?;
        write("b/torn.jsonl", torn().as_bytes())?;
        // Sorts before `b/` by its bytes, and behind it by its components.
        write("b-long.jsonl", long().as_bytes())?;
        write("unicode.jsonl", unicode().as_bytes())?;
        write("z-many.jsonl", ordinary(3000, "2026-01-03").as_bytes())?;
        write("notes.txt", br#"{"message":{"content":"needle in no session"}}"#)?;
        // Nobody can read these, not even a user who may read everything.
        fs::create_dir(root.join("folder.jsonl"))?;
        symlink("nowhere", root.join("dangling.jsonl"))?;
        Ok(Self { dir })
    }

    /// Two well-formed lines, one of which has a needle: what peers can be asked about.
    ///
    /// # Errors
    /// As [`Self::hostile`].
    pub fn plain() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let line =
            |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
        fs::write(dir.path().join("a.jsonl"), line("a Needle here") + &line("hay"))?;
        Ok(Self { dir })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn ordinary(lines: usize, day: &str) -> String {
    let line = |number: usize| {
        let (hour, minute) = (number % 24, number % 60);
        let role = ["user", "assistant", "system"][number % 3];
        let word = if number % 10 == 3 { "a needle" } else { "hay" };
        let cwd = ["/src/lab", "/src/lab/deep", "/src/labour"][number % 3];
        let content = match number % 4 {
            0 => format!(r#"[{{"type":"text","text":"{word}"}},{{"type":"x","input":[1,null]}}]"#),
            1 => format!(r#"[{{"type":"text","text":"Error: {word}"}},{{"text":"so what"}}]"#),
            _ => format!(r#""{word} number {number}""#),
        };
        format!(
            "{{\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}},\
             \"uuid\":\"u{number}\",\"timestamp\":\"{day}T{hour:02}:{minute:02}:00.5Z\",\
             \"sessionId\":\"s{}\",\"cwd\":\"{cwd}\",\"version\":1.5e3}}\n",
            number % 7
        )
    };
    (0..lines).map(line).collect()
}

fn message(content: &str) -> String {
    format!("{{\"message\":{{\"content\":{content}}},\"timestamp\":\"2026-02-01T00:00:00Z\"}}\n")
}

fn escapes() -> String {
    [
        r#""a n\u0065edle""#,
        r#""\u006E\u0065\u0065\u0064\u006c\u0065""#,
        r#"[{"te\u0078t":"nee\u0064le"}]"#,
        r#""not a n\\u0065edle""#,
        r#""nee\/dle \"needle\" so\\what""#,
        r#""\ud83e\udd8e Err\u006fr:\nneedle\t""#,
        r#""} , {\"message\":{\"content\":\"needle\"}""#,
        r#""\u001b[31mhay\u001b[0m caf\u00e9""#,
        r#""gr\u00f6\u00DFe gr\u00f6ße GR\u00d6\u1e9eE \u65e5本""#,
        r#""\u65e5\u672C gr\\u00f6ße nee\u0064l\u0065""#,
    ]
    .map(message)
    .concat()
}

fn invalid() -> Vec<u8> {
    let mut bytes = Vec::new();
    let lines: [&[u8]; 16] = [
        b"a needle in plain words",
        br#"{"message":{"content":"needle"}"#,
        br#"{"message":{"content":"needle"}}}"#,
        br#"{"message":{"content":"needle"},}"#,
        br#"{"message":{"content":"needle \x61"}}"#,
        br#"{"message":{"content":"needle \ud800"}}"#,
        br#"{"message":{"content":"needle"},"n":1e999}"#,
        br#"{"message":{"content":"needle"},"n":01}"#,
        br#"{'message':{'content':'needle'}}"#,
        b"{\"message\":{\"content\":\"needle \xff\"}}",
        b"{\"message\":{\"content\":\"needle\"},\"x\":\"\xc3\"}",
        b"{\"message\":{\"content\":\"needle \x01\"}}",
        br#"["needle"]"#,
        b"\"needle\"",
        b"",
        b" \t ",
    ];
    for line in lines {
        bytes.extend_from_slice(message("\"a needle between\"").as_bytes());
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes
}

fn long() -> String {
    let filler = |bytes: usize| "a very long line ".repeat(bytes / 17);
    let lines = [0, (64 << 10) - 60, 256 << 10, 1 << 20, 3 << 20].map(|bytes| {
        let filler = filler(bytes);
        message(&format!("\"{filler} needle {filler}\"")) + &message("\"hay\"")
    });
    lines.concat()
}

fn torn() -> String {
    let mut text = message("\"a needle\"") + &message("\"so what: a needle\"");
    text.truncate(text.len() - 10);
    text
}

fn unicode() -> String {
    [
        "\"NEEDLE größe STRAẞE\"",
        "\"needle \u{2028}\u{85}\u{0} 日本語\"",
        "\"GRÖSSE straße \u{212a}elvin\"",
        "\"\u{5d0} needle \u{202e} \u{10ffff}\"",
    ]
    .map(|content| message(&content.replace('\u{0}', "\\u0000")))
    .concat()
}
