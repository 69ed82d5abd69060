//! The kernel by its public door, against the plainest thing that could give the answer.

use engines_kit::{
    Advise, Answer, CHUNKS, Granularity, Job, Parser, Read, Search, Stream, Workload,
};
use lab_protocol::engines::Query;
use proptest::prelude::*;
use xxhash_rust::xxh64::xxh64;

fn search(corpus: &str, query: Query, prefilter: bool, parser: Parser) -> Search {
    let workload = Workload {
        corpus: corpus.to_owned(),
        query,
        threads: None,
        read: Read::Buffered,
        chunk: Granularity::Own,
        buffer_bytes: None,
        buffer_adapts: false,
        channel_bound: None,
        semaphore: None,
        result_capacity: 0,
        prefilter,
        parser,
        advise: Advise::None,
        cold: false,
    };
    Search::new(workload).unwrap()
}

fn text_query(text: &str, case_sensitive: bool) -> Query {
    Query { text: text.to_owned(), case_sensitive, ..Query::default() }
}

fn places(answer: &Answer) -> Vec<(u64, u64)> {
    answer.hits().map(|hit| (hit.offset, hit.hash)).collect()
}

/// A query that can be told by hand, and as the language writes it.
#[derive(Debug, Clone)]
enum Told {
    Literal(String),
    /// A literal as a regex without regard to case.
    Regex(String),
    And(Vec<Told>),
    Or(Vec<Told>),
    Not(Box<Told>),
}

impl Told {
    fn text(&self) -> String {
        let join = |list: &[Told], word: &str| {
            let texts: Vec<_> = list.iter().map(Told::text).collect();
            format!("({})", texts.join(word))
        };
        match self {
            Self::Literal(text) => {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Self::Regex(text) => format!("/{}/i", regex::escape(text).replace('/', "\\/")),
            Self::And(all) => join(all, " AND "),
            Self::Or(any) => join(any, " OR "),
            Self::Not(one) => format!("NOT {}", one.text()),
        }
    }

    fn holds(&self, text: &str, case_sensitive: bool) -> bool {
        let folded = |fold: fn(char) -> char, part: &str| {
            let fold = |text: &str| text.chars().map(fold).collect::<String>();
            fold(text).contains(&fold(part))
        };
        match self {
            Self::Literal(part) if case_sensitive => text.contains(part),
            Self::Literal(part) => {
                // An ASCII letter of the query is itself in either case and nothing else.
                let chars: Vec<char> = text.chars().collect();
                let part: Vec<char> = part.chars().collect();
                chars.windows(part.len()).any(|window| {
                    window.iter().zip(&part).all(|(found, wanted)| {
                        let ascii = found.eq_ignore_ascii_case(wanted);
                        ascii || (!wanted.is_ascii() && unicode(*found) == unicode(*wanted))
                    })
                })
            }
            Self::Regex(part) => folded(unicode, part),
            Self::And(all) => all.iter().all(|one| one.holds(text, case_sensitive)),
            Self::Or(any) => any.iter().any(|one| one.holds(text, case_sensitive)),
            Self::Not(one) => !one.holds(text, case_sensitive),
        }
    }
}

/// Simple case folding of the alphabet below.
fn unicode(letter: char) -> char {
    match letter {
        'É' => 'é',
        'ẞ' => 'ß',
        'ſ' => 's',
        '\u{212a}' => 'k',
        _ => letter.to_ascii_lowercase(),
    }
}

fn letters(most: usize) -> impl Strategy<Value = String> {
    let letter = prop::sample::select(
        "aAkKsSzZ0. \"\\/\n\téÉßẞſ\u{212a}日\u{1f600}\u{7f}".chars().collect::<Vec<_>>(),
    );
    prop::collection::vec(letter, 1..most).prop_map(String::from_iter)
}

fn told() -> impl Strategy<Value = Told> {
    let leaf = prop_oneof![
        4 => letters(4).prop_map(Told::Literal),
        1 => letters(4).prop_map(Told::Regex),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Told::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Told::Or),
            prop::collection::vec(letters(4).prop_map(Told::Literal), 33..40).prop_map(Told::Or),
            inner.prop_map(|one| Told::Not(Box::new(one))),
        ]
    })
}

/// How to spell each letter.
fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..9)
}

/// JSON of a text, in which each letter is as it is or escaped one way or another.
fn spelled(text: &str, choices: &[u8]) -> String {
    let mut json = String::from("\"");
    for (letter, choice) in text.chars().zip(choices.iter().cycle()) {
        let must = letter.is_control() && letter != '\u{7f}' || "\"\\".contains(letter);
        match (letter, choice % 8) {
            ('\n', 0..4) => json.push_str("\\n"),
            ('"' | '\\' | '/', 0..4) => json.extend(['\\', letter]),
            _ if must || choice % 8 == 7 => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    json.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => json.push(letter),
        }
    }
    json + "\""
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_prefilter_misses_nothing(
        told in told(),
        texts in prop::collection::vec((letters(12), choices()), 1..8),
        case_sensitive: bool,
    ) {
        let mut bytes = String::new();
        let mut expected = Vec::new();
        for (text, choices) in &texts {
            let line = format!(r#"{{"message":{{"content":{}}}}}"#, spelled(text, choices));
            if told.holds(text, case_sensitive) {
                expected.push((bytes.len() as u64, xxh64(line.as_bytes(), 0)));
            }
            bytes.push_str(&line);
            bytes.push('\n');
        }
        for (prefilter, parser) in [
            (false, Parser::SerdeLazy),
            (true, Parser::SerdeLazy),
            (false, Parser::Spans),
            (true, Parser::Spans),
        ] {
            let query = text_query(&told.text(), case_sensitive);
            let search = search("", query, prefilter, parser);
            let mut worker = search.worker();
            worker.search(0, 0, bytes.as_bytes());
            let mut merger = search.merger();
            merger.add(worker.finish());
            let answer = merger.finish();
            let (text, tally) = (told.text(), answer.tally);
            let how = (prefilter, parser);
            prop_assert_eq!(places(&answer), &expected[..], "{} {:?}", text, how);
            prop_assert_eq!(tally.lines, texts.len() as u64);
            prop_assert_eq!(tally.matches, expected.len() as u64);
            prop_assert!(tally.matches <= tally.lines_parsed);
        }
    }

    #[test]
    fn no_line_of_a_time_that_is_asked_for_is_missed(
        lines in prop::collection::vec(
            prop::collection::vec((0..7usize, 0..6usize, choices()), 0..5),
            1..8,
        ),
        (after, before) in (prop::option::of(0..4usize), prop::option::of(0..4usize)),
        word in prop::option::of("[ab]"),
    ) {
        const DAYS: [&str; 4] = [
            "2025-01-01T00:00:00Z",
            "2025-06-01T02:00:00+02:00",
            "2025-06-01T00:00:00.5Z",
            "2026-01-01T00:00:00z",
        ];
        // Keys and values come twice, in other places, in other spellings, and with spaces.
        let bytes: String = lines.iter().map(|fields| {
            let fields = fields.iter().map(|(key, value, choices)| {
                let key = match key {
                    0..3 => spelled("timestamp", &[0]),
                    3 => spelled("timestamp", choices),
                    4 => "\"cwd\"".to_owned(),
                    5 => "\"summary\" ".to_owned(),
                    _ => "\"message\"".to_owned(),
                };
                let value = match value {
                    0..4 if key.contains("message") => {
                        format!("{{\"timestamp\": \"{}\", \"content\": \"a\"}}", DAYS[*value])
                    }
                    0..3 => format!("\"{}\"", DAYS[*value]),
                    3 => spelled(DAYS[3], choices),
                    4 => "\"timestamp\"".to_owned(),
                    _ => "7".to_owned(),
                };
                format!("{key}: {value}")
            });
            format!("{{{}}}\n", fields.collect::<Vec<_>>().join(" ,"))
        }).collect();
        let day = |day: Option<usize>| day.map(|day| DAYS[day].to_owned());
        let query = Query { after: day(after), before: day(before), ..Query::default() };
        let query = Query { text: word.unwrap_or_default(), ..query };
        let answers = [false, true].map(|prefilter| {
            let search = search("", query.clone(), prefilter, Parser::Spans);
            let mut worker = search.worker();
            worker.search(0, 0, bytes.as_bytes());
            let mut merger = search.merger();
            merger.add(worker.finish());
            let answer = merger.finish();
            (places(&answer), answer.tally.lines, answer.tally.matches)
        });
        prop_assert_eq!(&answers[0], &answers[1], "{}", bytes);
    }

    #[test]
    fn lines_are_the_same_in_pieces_of_any_size(
        lines in prop::collection::vec("(|x|\r|.{3,9}|\\{\\})(\n|\r\n)", 0..30),
        torn in "(|\\{\\}|\\{\"a)",
        sizes in prop::collection::vec(1usize..40, 1..9),
        cuts in prop::collection::btree_set(1u64..120, 0..6),
    ) {
        let bytes = (lines.concat() + &torn).into_bytes();
        let search = search("", text_query("", false), true, Parser::SerdeLazy);
        let mut whole = search.worker();
        whole.search(0, 0, &bytes);
        let mut merger = search.merger();
        merger.add(whole.finish());
        let expected = merger.finish();
        let mut merger = search.merger();
        let ends: Vec<u64> = cuts.into_iter().chain([u64::MAX]).collect();
        for (number, &end) in ends.iter().enumerate() {
            let start = if number == 0 { 0 } else { ends[number - 1] };
            let mut worker = search.worker();
            feed(&bytes, &engines_kit::Chunk { file: 0, start, end }, &sizes, &mut worker);
            merger.add(worker.finish());
        }
        let found = merger.finish();
        prop_assert_eq!(places(&found), places(&expected));
        let counted = |answer: &Answer| (answer.tally.lines, answer.tally.bytes);
        prop_assert_eq!(counted(&found), counted(&expected));
        prop_assert_eq!(found.tally.bytes, bytes.len() as u64);
    }
}

fn feed(
    bytes: &[u8],
    chunk: &engines_kit::Chunk,
    sizes: &[usize],
    worker: &mut engines_kit::Worker,
) {
    let mut stream = Stream::chunk(chunk);
    for size in sizes.iter().cycle() {
        let from = (stream.position() as usize).min(bytes.len());
        let piece = &bytes[from..(from + size).min(bytes.len())];
        if piece.is_empty() {
            return stream.finish(worker);
        }
        if !stream.feed(worker, piece) {
            return;
        }
    }
}

#[test]
fn chunks_of_files_hold_every_line_once() {
    let dir = tempfile::tempdir().unwrap();
    let line = |number: usize| {
        let padding = "x".repeat(number * 7919 % 900);
        format!("{{\"summary\":\"{padding}\",\"timestamp\":\"2026-01-01T00:00:00Z\"}}\n")
    };
    let text: String = (0..30_000).map(line).collect();
    assert!(text.len() > 12 << 20);
    std::fs::write(dir.path().join("b.jsonl"), &text).unwrap();
    std::fs::write(dir.path().join("a.jsonl"), "").unwrap();
    std::fs::write(dir.path().join("c.txt"), "{}\n").unwrap();
    for read in [Read::Buffered, Read::Mmap, Read::Auto] {
        let made = search(dir.path().to_str().unwrap(), text_query("", false), true, Parser::Simd);
        let workload = Workload { read, ..made.workload().clone() };
        // Each run walks once.
        let search = || Search::new(workload.clone()).unwrap();
        let files = search().walk().unwrap();
        let names: Vec<_> = files.iter().map(|file| file.path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.jsonl", "b.jsonl"]);
        let run = |jobs: &[Job]| {
            let mut worker = search().worker();
            jobs.iter().for_each(|job| worker.search_job(job));
            let mut merger = search().merger();
            merger.add(worker.finish());
            merger.finish()
        };
        let whole = run(&search().jobs(Granularity::File).unwrap());
        let jobs = search().jobs(CHUNKS).unwrap();
        assert!(jobs.len() > 4);
        let chunks = run(&jobs);
        assert_eq!(places(&whole), places(&chunks));
        assert_eq!((whole.tally.lines, whole.tally.bytes), (30_000, text.len() as u64));
        assert_eq!((chunks.tally.lines, chunks.tally.bytes), (30_000, text.len() as u64));
        assert!(whole.unreadable.is_empty() && whole.tally.matches == 30_000);
    }
}

#[test]
fn filters_look_at_their_own_fields() {
    let lines = [
        r#"{"type":"user","sessionId":"s1","cwd":"/p/x","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"type":"a","message":{"role":"user"},"sessionId":"s\u0031","cwd":"\/p"}"#,
        r#"{"type":"user","message":{"role":"b"},"cwd":"/px","timestamp":"2026-01-02T00:00:00Z"}"#,
        r#"{"type":"b","cwd":"/s1","content":"sessionId s1","timestamp":"soon"}"#,
    ];
    let bytes = lines.join("\n");
    let filter = |change: fn(&mut Query)| {
        let mut query = text_query("", false);
        change(&mut query);
        let search = search("", query, true, Parser::Sonic);
        let mut worker = search.worker();
        worker.search(0, 0, bytes.as_bytes());
        let mut merger = search.merger();
        merger.add(worker.finish());
        let answer = merger.finish();
        let line = |offset: u64| bytes[..offset as usize].matches('\n').count();
        answer.hits().map(|hit| line(hit.offset)).collect::<Vec<_>>()
    };
    assert_eq!(filter(|_| ()), [2, 0, 1, 3]);
    assert_eq!(filter(|query| query.role = Some("user".into())), [0, 1]);
    assert_eq!(filter(|query| query.session = Some("s1".into())), [0, 1]);
    assert_eq!(filter(|query| query.project = Some("/p/".into())), [0, 1]);
    assert_eq!(filter(|query| query.after = Some("2026-01-02T01:00:00+01:00".into())), [2]);
    assert_eq!(filter(|query| query.before = Some("2026-01-02T00:00:00Z".into())), [0]);
    assert_eq!(filter(|query| query.limit = Some(2)), [2, 0]);
}
