//! Every engine through the door that the driver takes: standard input, standard output, exit code.

use std::fs;
use std::path::Path;

use engines_conformance::{
    Corpus, Found, Variant, Wanted, engines, engines_dir, is_peer, run, search, skipped, variants,
};
use lab_protocol::search::{Advise, Granularity, Parser, Query, Read, Workload};
use lab_protocol::{Identity, PROTOCOL, RunOutcome, RunSpec, Status, exit};
use serde_json::Value;

const PARSERS: [Parser; 5] =
    [Parser::SerdeLazy, Parser::SerdeCopied, Parser::SerdeWhole, Parser::Sonic, Parser::Simd];
const ORACLE: &str = "sequential";

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

fn line(workload: &Workload) -> String {
    let (run, workload) = ("test".to_owned(), workload.clone());
    let spec = RunSpec { protocol: PROTOCOL, run, workload };
    format!("{}\n", serde_json::to_string(&spec).unwrap())
}

fn outcome(variant: &Variant, workload: &Workload) -> RunOutcome {
    let name = &variant.manifest.name;
    let finished = run(variant, &[], &line(workload));
    assert_eq!(finished.stdout.lines().count(), 1, "{name}: {finished:?}");
    let outcome: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
    let failed = outcome.status == Status::Failed;
    let expected = if failed { exit::FAILED } else { exit::DONE };
    assert_eq!(finished.code, Some(expected), "{name}: {}", finished.stderr);
    assert_eq!(outcome.run, "test", "{name}");
    assert_eq!(outcome.reason.is_some(), outcome.status != Status::Ok, "{name}");
    outcome
}

fn rows(outcome: &RunOutcome) -> Vec<(i64, i64, i64)> {
    let column = |name: &str| outcome.samples[name].iter().copied();
    let places = column("answer_file").zip(column("answer_offset_bytes"));
    let rows = places.zip(column("answer_hash"));
    rows.map(|((file, offset), hash)| (file, offset, hash)).collect()
}

fn oracle() -> Variant {
    variants().into_iter().find(|variant| variant.manifest.name == ORACLE).unwrap()
}

/// Asserts that an engine that can do this workload gives this answer; says whether it can.
fn check(variant: &Variant, workload: &Workload, expected: &Found) -> bool {
    let name = &variant.manifest.name;
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
    let lock = fs::read_to_string(engines_dir().join("../Cargo.lock")).ok();
    for variant in variants() {
        let manifest = &variant.manifest;
        let finished = run(&variant, &["--describe"], "");
        let expected = Identity {
            protocol: PROTOCOL,
            family: "engines".to_owned(),
            variant: manifest.name.clone(),
            measures: manifest.measures.clone(),
            version: manifest.version.clone(),
            features: manifest.features.clone(),
        };
        let found: Identity = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((found, finished.code), (expected, Some(exit::DONE)));
        assert!(manifest.tags.iter().any(|tag| tag == "search"), "{}", manifest.name);
        let package =
            format!("name = \"{}\"\nversion = \"{}\"\n", manifest.measures, manifest.version);
        // Bazel may run this test without the lock; a peer is what the machine has installed.
        let lock = lock.as_ref().filter(|_| manifest.version != "installed");
        assert!(lock.is_none_or(|lock| lock.contains(&package)), "{package}");
    }
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let good = line(&workload(Path::new("nowhere"), text("a b")));
    let cases: [(&[&str], String, &str); 6] = [
        (&[], String::new(), "standard input ended before a run spec"),
        (&[], good.replacen("\"run\"", "\"hurry\":1,\"run\"", 1), "unknown field `hurry`"),
        (&[], good.replace("\"protocol\":1", "\"protocol\":9"), "protocol 9"),
        (&[], good.replace("a b", "a AND (b"), "column 7: this parenthesis is never closed"),
        (
            &[],
            good.replace("\"before\":null", "\"before\":\"noon\""),
            "`before` is no RFC 3339 time: noon",
        ),
        (&["--fast"], good.clone(), "the only arguments are --describe, --search and --help"),
    ];
    for variant in variants() {
        for (arguments, input, sentence) in &cases {
            let finished = run(&variant, arguments, input);
            assert_eq!(finished.code, Some(exit::BAD_SPEC), "{finished:?}");
            assert_eq!(finished.stdout, "");
            assert!(finished.stderr.contains(sentence), "{}", finished.stderr);
        }
    }
}

#[test]
fn a_corpus_that_is_not_there_is_named() {
    for variant in variants() {
        let outcome = outcome(&variant, &workload(Path::new("no/such/folder"), text("a")));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        let expected = "cannot walk the corpus no/such/folder: No such file or directory";
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn the_oracle_finds_what_the_plainest_search_finds() {
    let (corpus, oracle) = (Corpus::hostile().unwrap(), oracle());
    for (query, text, line) in questions() {
        let expected = search(corpus.path(), &Wanted { text: &*text, line: &*line });
        assert!(!expected.rows.is_empty(), "{query:?} finds nothing, and so shows nothing");
        for parser in PARSERS {
            for prefilter in [false, true] {
                let workload = workload(corpus.path(), query.clone());
                let workload = Workload { parser, prefilter, ..workload };
                assert!(check(&oracle, &workload, &expected));
            }
        }
    }
}

#[test]
fn every_engine_finds_the_same() {
    let corpus = Corpus::hostile().unwrap();
    let questions = questions();
    for variant in engines() {
        let (mut turn, mut done) = (0, 0);
        for (query, text, line) in &questions {
            let expected = search(corpus.path(), &Wanted { text, line });
            for threads in [1, 2, 5] {
                for read in [Read::Buffered, Read::Mmap] {
                    turn += 1;
                    let asked = varied(turn, workload(corpus.path(), query.clone()));
                    let asked = Workload { threads: Some(threads), read, ..asked };
                    done += usize::from(check(&variant, &asked, &expected));
                }
            }
        }
        // One thread and a buffer is what each of them can do.
        assert!(done >= questions.len(), "{} did {done}", variant.manifest.name);
    }
}

/// The only peer that Debian does not have.
const DUCKDB: &str = "duckdb";

#[test]
fn a_peer_counts_the_lines_with_a_word_or_says_why_not() {
    let is_one = |variant: &Variant| is_peer(variant) && variant.manifest.name != DUCKDB;
    variants().iter().filter(|variant| is_one(variant)).for_each(counts_the_lines);
}

#[test]
fn duckdb_counts_the_lines_with_a_word_or_says_why_not() {
    variants().iter().filter(|variant| variant.manifest.name == DUCKDB).for_each(counts_the_lines);
}

fn counts_the_lines(peer: &Variant) {
    let dir = Corpus::plain().unwrap();
    let name = &peer.manifest.name;
    let outcome = outcome(peer, &workload(dir.path(), text("needle")));
    if outcome.status == Status::Unsupported {
        let reason = outcome.reason.unwrap();
        let absent = ["cannot be started", "lacks what it needs"];
        assert!(absent.iter().any(|said| reason.contains(said)), "{name}: {reason}");
        skipped(&format!("{name}: {reason}"));
        return;
    }
    let expected = if name == "newline_scan" { 0 } else { 1 };
    assert_eq!(outcome.status, Status::Ok, "{name}: {:?}", outcome.reason);
    assert_eq!(outcome.counters["matches"], expected, "{name}");
    assert!(outcome.samples["answer_hash"].is_empty(), "{name}");
}

#[test]
fn a_peer_is_asked_for_a_plain_word_only() {
    for peer in variants().iter().filter(|variant| variant.manifest.name.contains("grep")) {
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
        parser: parsers[turn / 6 % 5],
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
