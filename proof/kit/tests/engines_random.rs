//! Random corpora of a fixed seed, every engine against the plainest search.

use std::fs;

use lab_protocol::engines::{Advise, Granularity, Parser, Query, Read, Workload};
use proof_kit::engines::{Found, Status, Variant, Wanted, engines, outcome, search};
use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

/// Draws that depend on the seed alone.
struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        (xxh64(&self.drawn.to_le_bytes(), self.seed) % limit as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

const WORDS: [&str; 14] = [
    "narwhal",
    "NARWHAL",
    "narwha",
    "arwhal",
    "größe",
    "GRÖẞE",
    "gröss",
    "日本語",
    "日本",
    "кенгуру",
    "КЕНГУРУ",
    "dead",
    "u00e9",
    "a b",
];
/// What stands between them.
const BETWEEN: [&str; 12] =
    [" ", " ", "\n", "\t", "\\", "\\\\", "\"", "/", "é", "\u{1f600}", "\u{7f}", "\u{1b}["];

/// A text as JSON, each character spelled in one of the ways that it may be.
fn spelled(text: &str, random: &mut Random) -> String {
    let escapes = [0, 0, 5, 50][random.below(4)];
    let mut json = String::from("\"");
    for letter in text.chars() {
        let is_escaped = random.below(100) < escapes;
        match letter {
            '\n' if !is_escaped => json.push_str("\\n"),
            '"' | '\\' if !is_escaped => json.extend(['\\', letter]),
            '/' if random.below(2) == 0 => json.push_str("\\/"),
            letter if is_escaped || letter < ' ' || letter == '"' || letter == '\\' => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let digits = format!("{unit:04x}");
                    let upper = random.below(2) == 0;
                    let digits = if upper { digits.to_uppercase() } else { digits };
                    json.push_str(&format!("\\u{digits}"));
                }
            }
            letter => json.push(letter),
        }
    }
    json + "\""
}

fn text(random: &mut Random) -> String {
    let long = random.below(40) == 0;
    let words = if long { 30_000 } else { random.below(30) };
    (0..words).map(|_| random.pick(&WORDS).to_owned() + random.pick(&BETWEEN)).collect()
}

fn line(random: &mut Random) -> String {
    let content = match random.below(3) {
        0 => {
            let blocks: Vec<_> = (0..random.below(4))
                .map(|_| {
                    let text = text(random);
                    format!("{{\"type\":\"text\",\"text\":{}}}", spelled(&text, random))
                })
                .collect();
            format!("[{}]", blocks.join(","))
        }
        _ => {
            let text = text(random);
            spelled(&text, random)
        }
    };
    let role = spelled(random.pick(&["user", "assistant"]), random);
    let (day, hour) = (1 + random.below(28), random.below(24));
    let decoy = spelled(random.pick(&WORDS), random);
    format!(
        "{{\"type\":\"x\",\"cwd\":{decoy},\"message\":{{\"role\":{role},\"content\":{content}}},\
         \"n\":[1,-2.5e3,{{}}],\"timestamp\":\"2026-01-{day:02}T{hour:02}:00:00Z\"}}"
    )
}

fn file(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    if random.below(3) == 0 {
        bytes.extend_from_slice("\u{feff}".as_bytes());
    }
    let end = random.pick(&["\n", "\n", "\r\n"]);
    for _ in 0..random.below(80) {
        let mut line = line(random).into_bytes();
        match random.below(30) {
            0 => line.truncate(random.below(line.len())),
            1 => line.clear(),
            2 => {
                let at = random.below(line.len());
                line[at] = [0xff, b'\\', b'"', 1][random.below(4)];
            }
            _ => {}
        }
        bytes.extend_from_slice(&line);
        bytes.extend_from_slice(end.as_bytes());
    }
    if random.below(2) == 0 {
        bytes.truncate(bytes.len().saturating_sub(end.len()));
    }
    bytes
}

/// A query, and the same told in Rust.
type Question = (Query, Box<dyn Fn(&str) -> bool>, Box<dyn Fn(&Value) -> bool>);

fn questions() -> Vec<Question> {
    let any = || Box::new(|_: &Value| true) as Box<dyn Fn(&Value) -> bool>;
    let none = || Box::new(|_: &str| true) as Box<dyn Fn(&str) -> bool>;
    let query = |text: &str| Query { text: text.to_owned(), ..Query::default() };
    let question = |words: &[&'static str], exactly: bool| -> Question {
        let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let query = Query { case_sensitive: exactly, ..query(&quoted.join(" OR ")) };
        let words = words.to_owned();
        // Unicode's lower case is that of every word here, but for ß, which has none.
        let fold = move |text: &str| if exactly { text.to_owned() } else { text.to_lowercase() };
        let holds = move |text: &str| words.iter().any(|word| fold(text).contains(&fold(word)));
        (query, Box::new(holds), any())
    };
    let many: Vec<&str> =
        (0..40).map(|number| ["narwhal", "dead", "кенгуру"][number % 3]).collect();
    vec![
        question(&["narwhal"], false),
        question(&["narwhal"], true),
        question(&["größe"], false),
        question(&["größe"], true),
        question(&["日本語"], false),
        question(&["кенгуру"], false),
        question(&["КЕНГУРУ"], true),
        question(&["dead", "u00e9"], false),
        question(&["a b", "日本語", "narwhal", "gröss"], true),
        question(&many, false),
        (
            query("narwhal AND NOT größe"),
            Box::new(|text| {
                let text = text.to_lowercase();
                text.contains("narwhal") && !text.contains("größe")
            }),
            any(),
        ),
        (
            Query { role: Some("assistant".to_owned()), ..query("") },
            none(),
            Box::new(|line| line["message"]["role"] == "assistant"),
        ),
        (
            Query { after: Some("2026-01-15T00:00:00Z".to_owned()), ..query("") },
            none(),
            Box::new(|line| line["timestamp"].as_str() >= Some("2026-01-15T00:00:00Z")),
        ),
    ]
}

fn check(engine: &Variant, workload: &Workload, expected: &Found) {
    let (name, outcome) = (&engine.name, outcome(engine, workload));
    if outcome.status == Status::Unsupported {
        return;
    }
    assert_eq!(outcome.status, Status::Ok, "{name}: {:?}", outcome.reason);
    let column = |name: &str| outcome.samples[name].iter().copied();
    let places = column("answer_file").zip(column("answer_offset_bytes"));
    let found = places.zip(column("answer_hash"));
    let found: Vec<_> = found.map(|((file, offset), hash)| (file, offset, hash)).collect();
    assert_eq!(found, expected.rows, "{name}: {workload:?}");
    let counted = (outcome.counters["lines"], outcome.counters["bytes"]);
    assert_eq!(counted, (expected.lines, expected.bytes), "{name}: {workload:?}");
}

#[test]
fn every_engine_finds_what_the_plainest_search_finds_in_random_files() {
    for seed in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        let mut random = Random { seed, drawn: 0 };
        for number in 0..12 {
            fs::write(dir.path().join(format!("{number}.jsonl")), file(&mut random)).unwrap();
        }
        let reads = [Read::Auto, Read::Buffered, Read::Mmap];
        let parsers = [Parser::Spans, Parser::SerdeLazy];
        for (turn, (query, text, line)) in questions().into_iter().enumerate() {
            let expected = search(dir.path(), &Wanted { text: &*text, line: &*line });
            assert!(!expected.rows.is_empty(), "{query:?} finds nothing, and so shows nothing");
            let workload = Workload {
                corpus: dir.path().to_str().unwrap().to_owned(),
                query,
                threads: Some([1, 2][turn % 2]),
                read: reads[(turn + seed as usize) % 3],
                chunk: Granularity::Own,
                buffer_bytes: None,
                buffer_adapts: false,
                channel_bound: None,
                semaphore: None,
                result_capacity: 0,
                prefilter: true,
                parser: parsers[usize::from(turn % 4 == 3)],
                advise: Advise::None,
                cold: false,
            };
            engines().iter().for_each(|engine| check(engine, &workload, &expected));
        }
    }
}
