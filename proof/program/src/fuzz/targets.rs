//! The readers, each with good input to begin from and what must hold of any.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use engines_kit::{Query, Wanted};
use lab_audit::{Document, Mapping, Raw, audit_document};
use lab_claims::Claims;
use lab_family::Family;
use lab_plan::Experiment;
use lab_protocol::{RunOutcome, RunSpec};
use lab_record::Results;
use runtimes_kit::{AgentRun, Meter, Part, ResponseParser, Workload};
use serde_json::{Value, json};

/// A reader.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Panics where the reader does, or where what it read contradicts itself.
    pub(crate) feed: fn(&[u8]),
}

pub(crate) const TARGETS: &[Target] = &[
    Target { name: "http", seeds: responses, feed: http },
    Target { name: "ndjson", seeds: streams, feed: ndjson },
    Target { name: "spec", seeds: specs, feed: spec },
    Target { name: "outcome", seeds: outcomes, feed: outcome },
    Target { name: "experiment", seeds: experiments, feed: experiment },
    Target { name: "claims", seeds: claim_files, feed: claims },
    Target { name: "record", seeds: records, feed: record },
    Target { name: "query", seeds: queries, feed: query },
    Target { name: "report", seeds: reports, feed: report },
];

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn responses() -> Vec<Vec<u8>> {
    texts(&[
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
    ])
}

/// However the bytes are cut, the same body comes out, or the same error.
fn http(bytes: &[u8]) {
    let whole = body(bytes, bytes.len().max(1));
    assert_eq!(whole, body(bytes, 1), "cut at every byte");
    assert_eq!(whole, body(bytes, 7), "cut at every seventh byte");
}

fn body(bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<u16>, Option<String>) {
    let mut parser = ResponseParser::default();
    let (mut body, mut heads) = (Vec::new(), Vec::new());
    for mut piece in bytes.chunks(piece) {
        loop {
            match parser.next(&mut piece) {
                Ok(Some(Part::Head(status))) => heads.push(status),
                Ok(Some(Part::Body(part))) => body.extend_from_slice(part),
                Ok(Some(Part::End)) => {}
                Ok(None) => break,
                Err(error) => return (body, heads, Some(error.to_string())),
            }
        }
    }
    (body, heads, None)
}

fn streams() -> Vec<Vec<u8>> {
    texts(&[
        "{\"model\":\"m\",\"response\":\" a\",\"done\":false,\"sent_ns\":1}\n\
         {\"response\":\"\\u00e9\"}\n\
         {\"model\":\"m\",\"response\":\"\",\"done\":true,\"eval_count\":2,\"eval_duration\":9}\n",
        "{\"error\":\"boom\"}\n",
        "\r\n{\"response\":\"x\",\"done\":true}",
    ])
}

/// However the bytes are cut, an agent sees the same tokens and ends alike.
fn ndjson(bytes: &[u8]) {
    let whole = reply(bytes, bytes.len().max(1));
    assert_eq!(whole, reply(bytes, 1), "cut at every byte");
}

fn reply(bytes: &[u8], piece: usize) -> (usize, i64, Option<String>) {
    let workload: Workload = serde_json::from_str(
        r#"{"arrangement":"solo","stall_timeout_ms":5,"ingest_dir":null,"agents":[
            {"server":"http://h:1","model":"m","calls":[
             {"prompt":"one","options":{"seed":1,"num_predict":4}}]}]}"#,
    )
    .expect("a workload");
    let mut agent = AgentRun::all(&workload, &Arc::new(Meter::start())).remove(0);
    agent.start();
    agent.next_request();
    agent.head(200);
    let fed = bytes.chunks(piece).try_for_each(|piece| agent.feed(piece));
    let error = fed.and_then(|()| agent.end_of_body()).err().map(|error| error.to_string());
    let call = agent.finish().calls.remove(0);
    (call.received_ns.len(), call.text_hash, error)
}

fn specs() -> Vec<Vec<u8>> {
    texts(&[r#"{"protocol":1,"run":"r","workload":{"arrangement":"solo","stall_timeout_ms":5,
        "ingest_dir":null,"agents":[]}}"#])
}

/// What is read is written and read again as the same, but for fractions: of some serde_json reads
/// the last bit wrongly.
fn spec(bytes: &[u8]) {
    let Ok(spec) = serde_json::from_slice::<RunSpec<Value>>(bytes) else { return };
    let written = serde_json::to_string(&spec).expect("a spec serialises");
    let again: RunSpec<Value> = serde_json::from_str(&written).expect("what was written is read");
    assert_eq!((again.protocol, &again.run), (spec.protocol, &spec.run));
    let workload = |value| {
        let mut workload: Workload = serde_json::from_value(value).ok()?;
        let calls = workload.agents.iter_mut().flat_map(|agent| &mut agent.calls);
        calls.for_each(|call| call.options.temperature = None);
        Some(format!("{workload:?}"))
    };
    assert_eq!(workload(spec.workload), workload(again.workload));
}

fn outcomes() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"protocol":1,"run":"r","status":"ok","counters":{"wall_ns":5},"samples":{"a":[1,-2]}}"#,
        r#"{"protocol":1,"run":"r","status":"failed","reason":"x"}"#,
    ])
}

fn outcome(bytes: &[u8]) {
    let Ok(outcome) = serde_json::from_slice::<RunOutcome>(bytes) else { return };
    let written = serde_json::to_string(&outcome).expect("an outcome serialises");
    let again: RunOutcome = serde_json::from_str(&written).expect("what was written is read");
    assert_eq!(serde_json::to_string(&again).expect("an outcome serialises"), written);
}

/// Files of this repository.
fn files(names: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    names.iter().map(|name| fs::read(root.join(name)).expect(name)).collect()
}

fn experiments() -> Vec<Vec<u8>> {
    files(&[
        "experiments/tr115.toml",
        "experiments/threads.toml",
        "experiments/offload.toml",
        "experiments/search.toml",
        "experiments/workflow.toml",
    ])
}

fn experiment(bytes: &[u8]) {
    let families: Vec<&'static dyn Family> =
        lab_families::ALL.iter().map(|family| *family as &dyn Family).collect();
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Err(error) = Experiment::parse("e.toml", text, &families) {
        assert!(error.to_string().starts_with("e.toml"), "{error}");
    }
}

fn claim_files() -> Vec<Vec<u8>> {
    files(&["claims/tr115.toml", "claims/ccms.toml"])
}

fn claims(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Err(error) = Claims::parse("c.toml", text, &BTreeMap::new()) {
        assert!(error.to_string().starts_with("c.toml"), "{error}");
    }
}

fn records() -> Vec<Vec<u8>> {
    let run = json!({
        "schema": 2, "order": 0, "attempt": 0, "block": 0, "warmup": true, "family": "f",
        "variant": "v", "cell": {"a": "b"}, "status": "ok", "verification": "verified",
        "binary_sha256": "", "start_ns": 1, "process_ns": 2, "counters": {"wall_ns": 1},
        "noise": {"steal_ns": null, "outside_cpu_ns": null, "pressure_cpu_ns": null,
            "run_queue_ns": null, "frequency_khz": null},
    });
    let session = json!({
        "schema": 1, "event": "start", "unix_s": 1, "environment": {"a": null, "a_reason": "b"},
    });
    [run, session].map(|row| format!("{row}\n").into_bytes()).to_vec()
}

/// A folder is read, or the file and the line are named.
fn record(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect(name);
    put("run.json", RUN_FILE.as_bytes());
    put("runs.jsonl", bytes);
    put("sessions.jsonl", bytes);
    match Results::load(folder.path()) {
        Ok(results) => {
            for run in &results.runs {
                let _ = results.samples(run);
            }
        }
        Err(error) => assert!(error.to_string().contains(".jsonl"), "{error}"),
    }
}

const RUN_FILE: &str = r#"{"schema":2,"experiment_sha256":
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "experiment":"e","experiment_toml":"","attachments":{},
    "arguments":[],"analysis":{"reference":"v","pairing":"paired",
    "alpha":0.05,"comparisons":[]},"seed":1,"blocks":1,"runs_planned":1,"git":null,"variants":[],
    "machine":{"cpu_model":"","cpus":1,"memory_bytes":1,"kernel":"","arch":""},
    "started_unix_s":1}"#;

fn queries() -> Vec<Vec<u8>> {
    texts(&[
        "\"out of memory\" AND NOT /re(try|set)/i",
        "(a OR b) c 'd e' /x{1,9}[^y]+\\/z$/ms",
        "NOT (NOT word)",
    ])
}

fn query(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let case_sensitive = bytes.len().is_multiple_of(2);
    let asked = Wanted { text: text.to_owned(), case_sensitive, ..Wanted::default() };
    if let Err(error) = Query::compile(&asked) {
        assert!(error.to_string().starts_with("column "), "{error}");
    }
}

fn reports() -> Vec<Vec<u8>> {
    texts(&[
        "# R\n\n**Latency**\n\n| n | mean (ms) | p50 | p95 | speed-up |\n|---|---|---|---|---|\n\
         | 1 | 10.5 ± 0.3 | 10 | 12 | 1.0x |\n| 2 | 5.2 ± 0.1 | 5 | 6 | 2.0x |\n\n\
         A is 50 % faster, t(18) = 2.1, p < 0.05.\n",
        "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>\n\n```\na  b\n1  2\n```\n",
        "a,b\n1,2\n",
    ])
}

fn report(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let document = Document::parse("r.md", &text);
    let mapping = Mapping::parse("m.toml", &text).unwrap_or_default();
    let raws: Vec<Raw> = Raw::tables("r.csv", &text).unwrap_or_default();
    audit_document(&document, &raws, &mapping);
}
