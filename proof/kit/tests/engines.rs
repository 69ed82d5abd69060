//! Every engine through the door that the driver takes: standard input, standard output, exit code.

use std::path::Path;

use lab_protocol::engines::{Advise, Granularity, Parser, Query, Read, Workload};
use lab_protocol::{RunOutcome, Status};
use proof_kit::engines::{
    Corpus, FAMILY, Found, Variant, Wanted, check_identities, check_refusals, check_refusals_of,
    engines, line, outcome, search, skipped, tagged, variants,
};
use serde_json::Value;

const PARSERS: [Parser; 6] = [
    Parser::Spans,
    Parser::SerdeLazy,
    Parser::SerdeCopied,
    Parser::SerdeWhole,
    Parser::Sonic,
    Parser::Simd,
];

fn workload(corpus: &Path, query: Query) -> Workload {
    Workload {
        corpus: corpus.to_str().unwrap().to_owned(),
        query,
        threads: Some(1),
        read: Read::Buffered,
        chunk: Granularity::Own,
        buffer_bytes: None,
        buffer_adapts: false,
        channel_bound: None,
        semaphore: None,
        result_capacity: 0,
        prefilter: true,
        parser: Parser::SerdeLazy,
        advise: Advise::None,
        cold: false,
    }
}

fn text(text: &str) -> Query {
    Query { text: text.to_owned(), ..Query::default() }
}

fn rows(outcome: &RunOutcome) -> Vec<(i64, i64, i64)> {
    let column = |name: &str| outcome.samples[name].iter().copied();
    let places = column("answer_file").zip(column("answer_offset_bytes"));
    let rows = places.zip(column("answer_hash"));
    rows.map(|((file, offset), hash)| (file, offset, hash)).collect()
}

/// Asserts that an engine that can do this workload gives this answer; says whether it can.
fn check(variant: &Variant, workload: &Workload, expected: &Found) -> bool {
    let name = &variant.name;
    let outcome = outcome(variant, workload);
    if outcome.status == Status::Unsupported {
        return false;
    }
    assert_eq!(outcome.status, Status::Ok, "{name}: {:?}", outcome.reason);
    let limit = workload.query.limit.map_or(usize::MAX, |limit| limit as usize);
    let reported = &expected.rows[..expected.rows.len().min(limit)];
    assert_eq!(rows(&outcome), reported, "{name}: {workload:?}");
    let counter = |key: &str| outcome.counters[key];
    for (key, value) in [
        ("matches", expected.rows.len() as u64),
        ("files", expected.files),
        ("files_unreadable", expected.unreadable),
        ("bytes", expected.bytes),
        ("lines", expected.lines),
    ] {
        assert_eq!(counter(key), value, "{name}: {key}, {workload:?}");
    }
    if !workload.prefilter {
        assert_eq!(counter("lines_invalid"), expected.invalid, "{name}: {workload:?}");
    }
    assert!(counter("lines_parsed") >= counter("matches"), "{name}");
    assert!(counter("bytes_parsed") <= expected.bytes, "{name}: {workload:?}");
    // Every byte is read, and some by two who share a line.
    assert!(counter("bytes_read") >= expected.bytes, "{name}: {workload:?}");
    for key in ["wall_ns", "cpu_total_ns", "walk_ns", "threads", "rss_high_water_bytes"] {
        assert!(counter(key) > 0, "{name}: {key}");
    }
    for key in ["read_ns", "scan_ns", "parse_ns", "merge_ns", "cpu_user_ns", "cpu_system_ns"] {
        assert!(outcome.counters.contains_key(key), "{name}: {key}");
    }
    for key in ["page_faults_minor", "voluntary_switches", "involuntary_switches"] {
        assert!(outcome.counters.contains_key(key), "{name}: {key}");
    }
    let busy = &outcome.samples["worker_busy_ns"];
    assert!(!busy.is_empty() && busy.iter().all(|&busy_ns| busy_ns >= 0), "{name}: {busy:?}");
    true
}

/// A query, and the same told in Rust, of a message's text and of its line.
type Question = (Query, Box<dyn Fn(&str) -> bool>, Box<dyn Fn(&Value) -> bool>);

fn questions() -> Vec<Question> {
    fn lower(text: &str, part: &str) -> bool {
        text.to_ascii_lowercase().contains(part)
    }
    fn role(line: &Value) -> Option<&str> {
        line["message"]["role"].as_str().or(line["type"].as_str())
    }
    let any = || Box::new(|_: &Value| true) as Box<dyn Fn(&Value) -> bool>;
    vec![
        (text("needle"), Box::new(|t| lower(t, "needle")), any()),
        (
            Query { case_sensitive: true, ..text("needle \"so\\\\what\"") },
            Box::new(|t| t.contains("needle") && t.contains("so\\what")),
            any(),
        ),
        (
            text("\"so what\" OR (error AND NOT needle)"),
            Box::new(|t| lower(t, "so what") || lower(t, "error") && !lower(t, "needle")),
            any(),
        ),
        (text("NOT needle"), Box::new(|t| !lower(t, "needle")), any()),
        (text(r"/error:\s+(a )?needle/i"), Box::new(error_needle), any()),
        (
            text("größe OR 日本"),
            Box::new(|t| ["größe", "GRÖẞE"].iter().any(|g| t.contains(g)) || t.contains("日本")),
            any(),
        ),
        (
            Query {
                role: Some("assistant".to_owned()),
                session: Some("s3".to_owned()),
                project: Some("/src/lab".to_owned()),
                after: Some("2026-01-01T01:00:00Z".to_owned()),
                before: Some("2026-01-03T12:00:00Z".to_owned()),
                ..text("")
            },
            Box::new(|_| true),
            Box::new(|line| {
                let cwd = line["cwd"].as_str().unwrap_or_default();
                let time = line["timestamp"].as_str().unwrap_or_default();
                role(line) == Some("assistant")
                    && line["sessionId"] == "s3"
                    && (cwd == "/src/lab" || cwd.starts_with("/src/lab/"))
                    && ("2026-01-01T01:00:00Z".."2026-01-03T12:00:00Z").contains(&time)
            }),
        ),
        (Query { limit: Some(5), ..text("hay") }, Box::new(|t| lower(t, "hay")), any()),
        (Query { limit: Some(0), ..text("") }, Box::new(|_| true), any()),
    ]
}

fn error_needle(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.match_indices("error:").any(|(at, word)| {
        let rest = &text[at + word.len()..];
        let trimmed = rest.trim_start();
        trimmed.len() < rest.len()
            && (trimmed.starts_with("needle") || trimmed.starts_with("a needle"))
    })
}

#[test]
fn an_engine_is_what_its_manifest_and_the_lock_say() {
    check_identities(FAMILY);
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let good = line(&workload(Path::new("nowhere"), text("a b")));
    let noon = good.replace("\"before\":null", "\"before\":\"noon\"");
    check_refusals(FAMILY, &good, &[(noon, "`before` is no RFC 3339 time: noon")]);
    let open = good.replace("a b", "a AND (b");
    let (_, readers): (Vec<_>, Vec<_>) = variants(FAMILY).into_iter().partition(|v| v.is("word"));
    let expected = "column 7: this parenthesis is never closed";
    check_refusals_of(&readers, &good, &[(open, expected)]);
}

#[test]
fn a_corpus_that_is_not_there_is_named() {
    for variant in variants(FAMILY) {
        let outcome = outcome(&variant, &workload(Path::new("no/such/folder"), text("a")));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        let expected = "cannot walk the corpus no/such/folder: No such file or directory";
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn the_floor_finds_what_the_plainest_search_finds() {
    let floors = tagged(FAMILY, "floor");
    if floors.is_empty() {
        return;
    }
    let corpus = Corpus::hostile().unwrap();
    for (query, text, line) in questions() {
        let expected = search(corpus.path(), &Wanted { text: &*text, line: &*line });
        assert!(!expected.rows.is_empty(), "{query:?} finds nothing, and so shows nothing");
        for parser in PARSERS {
            for prefilter in [false, true] {
                let workload = workload(corpus.path(), query.clone());
                let workload = Workload { parser, prefilter, ..workload };
                for floor in &floors {
                    assert!(check(floor, &workload, &expected));
                }
            }
        }
    }
}

#[test]
fn every_engine_finds_the_same() {
    let corpus = Corpus::hostile().unwrap();
    let questions = questions();
    for variant in engines() {
        let mut turn = 0;
        for (query, text, line) in &questions {
            let expected = search(corpus.path(), &Wanted { text, line });
            // One thread and a buffer is what each of them can do, and who takes a word alone says
            // so of other queries.
            let is_done = check(&variant, &workload(corpus.path(), query.clone()), &expected);
            let is_asked = is_word(query) || !variant.is("word");
            assert_eq!(is_done, is_asked, "{}: {query:?}", variant.name);
            for threads in [1, 2, 5] {
                for read in [Read::Buffered, Read::Mmap, Read::Auto] {
                    turn += 1;
                    let asked = varied(turn, workload(corpus.path(), query.clone()));
                    let asked = Workload { threads: Some(threads), read, ..asked };
                    check(&variant, &asked, &expected);
                }
            }
        }
    }
}

/// Whether a query has one plain word, or nothing, and no filter.
fn is_word(query: &Query) -> bool {
    let Query { text, limit, .. } = query.clone();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain && *query == Query { text, limit, ..Query::default() }
}

/// sonic-rs, buffers of 128 KiB, room for 32 results, threads as each chooses; with jemalloc in the
/// variants that have it, and without in the others.
#[test]
fn the_published_program_finds_the_same_whatever_its_allocator() {
    let corpus = Corpus::hostile().unwrap();
    let questions = questions();
    for variant in tagged(FAMILY, "search-published") {
        for (query, text, line) in &questions {
            let expected = search(corpus.path(), &Wanted { text, line });
            let asked = Workload {
                threads: None,
                parser: Parser::Sonic,
                buffer_bytes: Some(131_072),
                result_capacity: 32,
                ..workload(corpus.path(), query.clone())
            };
            assert!(check(&variant, &asked, &expected), "{} cannot", variant.name);
        }
    }
}

#[test]
fn a_peer_counts_the_lines_with_a_word_or_says_why_not() {
    tagged(FAMILY, "peer").iter().for_each(counts_the_lines);
}

fn counts_the_lines(peer: &Variant) {
    let dir = Corpus::plain().unwrap();
    let name = &peer.name;
    let outcome = outcome(peer, &workload(dir.path(), text("needle")));
    if outcome.status == Status::Unsupported {
        let reason = outcome.reason.unwrap();
        let absent = ["cannot be started", "lacks what it needs"];
        assert!(absent.iter().any(|said| reason.contains(said)), "{name}: {reason}");
        skipped(&format!("{name}: {reason}"));
        return;
    }
    let expected = u64::from(!peer.is("ceiling"));
    assert_eq!(outcome.status, Status::Ok, "{name}: {:?}", outcome.reason);
    assert_eq!(outcome.counters["matches"], expected, "{name}");
    assert!(outcome.samples["answer_hash"].is_empty(), "{name}");
}

#[test]
fn a_peer_is_asked_for_a_plain_word_only() {
    for peer in tagged(FAMILY, "peer").iter().filter(|peer| !peer.is("ceiling")) {
        let outcome = outcome(peer, &workload(Path::new("."), text("a AND b")));
        assert_eq!(outcome.status, Status::Unsupported);
        assert!(outcome.reason.unwrap().contains("a single plain word"));
    }
}

/// What may change nothing about an answer, in turn; the numbers of choices share no factor that
/// would keep two of them in step with threads and reads.
fn varied(turn: usize, workload: Workload) -> Workload {
    let parsers = PARSERS;
    let chunks = [Granularity::Own, Granularity::File, Granularity::Bytes(300_000)];
    let buffers = [None, Some(700), Some(4096), Some(65_536), Some(1 << 20)];
    let advice = [Advise::None, Advise::Sequential, Advise::WillNeed];
    Workload {
        parser: parsers[turn / 6 % 6],
        chunk: chunks[turn / 4 % 3],
        buffer_adapts: turn.is_multiple_of(4),
        prefilter: turn % 7 > 2,
        buffer_bytes: buffers[turn % 5],
        advise: advice[turn / 2 % 3],
        result_capacity: [0, 100][turn / 3 % 2],
        cold: turn.is_multiple_of(11),
        ..workload
    }
}
