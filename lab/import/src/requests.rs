//! What load generators of language models keep of each request: one sample is one request, and all
//! of a file are of one process, for they met the same server in the same minutes.
//!
//! * aiperf: `profile_export.jsonl`, a request a line
//! * guidellm: `benchmarks[].requests`
//! * k6: `--out json=FILE`, a point a line
//! * vLLM: `ttfts` and `itls` of `vllm bench serve --save-result --save-detailed`
//!
//! Benchmarks are named as the quantities of `generators.tsv`; rates and counts are left to it.

use humantime::parse_rfc3339_weak;

use crate::{ImportError, Tool, goodput::Times, json::Json, node::Node, reading::Reading};

const NS_PER_MS: f64 = 1e6;
const NS_PER_SECOND: f64 = 1e9;
const FAILED: &str = "an error";

/// A time of a request: its name, its unit in nanoseconds, and the way to it.
type Time = (&'static str, f64, &'static [&'static str]);

const OF_AIPERF: [Time; 3] = [
    ("first_token", NS_PER_MS, &["metrics", "time_to_first_token", "value"]),
    ("mean_gap", NS_PER_MS, &["metrics", "inter_token_latency", "value"]),
    ("reply", NS_PER_MS, &["metrics", "request_latency", "value"]),
];
const OF_GUIDELLM: [Time; 3] = [
    ("first_token", NS_PER_MS, &["time_to_first_token_ms"]),
    ("mean_gap", NS_PER_MS, &["inter_token_latency_ms"]),
    ("reply", NS_PER_SECOND, &["request_latency"]),
];
/// Of a point: the metric that it is of. Of a request the duration comes first.
const OF_K6: [(&str, &str); 2] =
    [("http_req_waiting", "first_token"), ("http_req_duration", "reply")];
/// How long a date is to the second, as in `2026-11-28T12:19:18`.
const TO_THE_SECOND: usize = 19;

/// The generator that writes such lines, by the first of them.
pub(crate) fn tool_of_lines(text: &str) -> Option<Tool> {
    let first: Json = serde_json::from_str(text.lines().next()?).ok()?;
    let has = |keys: [&str; 2]| keys.iter().all(|key| first.get(key).is_some());
    if has(["metadata", "metrics"]) {
        return Some(Tool::Aiperf);
    }
    // A line of k6 is a metric's, or a point's.
    (has(["type", "metric"]) && has(["type", "data"])).then_some(Tool::K6)
}

pub(crate) fn lines(text: &str, into: &mut Reading<'_>) {
    for (line, text) in (1..).zip(text.lines()) {
        let Ok(value) = serde_json::from_str::<Json>(text) else {
            let (file, expected) = (into.file.to_owned(), "a line of JSON");
            into.leave_out(ImportError::Line { file, line, expected });
            continue;
        };
        let root = Node::root(into.file, &value);
        match into.tool {
            Tool::K6 => point(&root, into),
            _ => of_aiperf(&root, into),
        }
    }
}

fn point(root: &Node<'_>, into: &mut Reading<'_>) {
    let metric = root.find("metric").and_then(|metric| metric.text().ok());
    let Some((_, name)) = OF_K6.iter().find(|(own, _)| Some(*own) == metric) else { return };
    let Some(data) = root.find("data") else { return };
    // Else it is the line that tells what the metric is.
    let Some(value) = data.find("value") else { return };
    let Some(ns) = into.usable(value.positive()).map(|ms| ms * NS_PER_MS) else { return };
    let is_whole = *name == "reply";
    if let Some(end_ns) = data.find("time").and_then(|time| since_1970_ns(time.text().ok()?))
        && is_whole
    {
        into.requests.was_under_way(end_ns - ns, end_ns);
    }
    let expected = data.find("tags").and_then(|tags| tags.find("expected_response"));
    if expected.is_some_and(|is| is.text() == Ok("false")) {
        return into.failed(name, FAILED);
    }
    into.sample(name, ns, None);
    if is_whole {
        into.requests.answered.push([None, None, Some(ns)]);
    } else if let Some(request) = into.requests.answered.last_mut() {
        request[0] = Some(ns);
    }
}

/// Of a date, whose offset from UTC is left out: within a run it stays.
fn since_1970_ns(date: &str) -> Option<f64> {
    let fraction = date.get(TO_THE_SECOND..)?;
    let is_offset = |letter: char| letter != '.' && !letter.is_ascii_digit();
    let end = TO_THE_SECOND + fraction.find(is_offset).unwrap_or(fraction.len());
    let [origin, time] = ["1970-01-01T00:00:00", &date[..end]].map(parse_rfc3339_weak);
    Some(time.ok()?.duration_since(origin.ok()?).ok()?.as_nanos() as f64)
}

fn of_aiperf(request: &Node<'_>, into: &mut Reading<'_>) {
    let metadata = request.find("metadata");
    let ns = |key| metadata.as_ref()?.find(key)?.positive().ok();
    if let (Some(start_ns), Some(end_ns)) = (ns("request_start_ns"), ns("request_end_ns")) {
        into.requests.was_under_way(start_ns, end_ns);
    }
    match request.find("error") {
        Some(_) => failed(&OF_AIPERF, into),
        None => times(request, &OF_AIPERF, into),
    }
}

fn times(request: &Node<'_>, places: &[Time; 3], into: &mut Reading<'_>) {
    let times = places.each_ref().map(|(name, ns, way)| {
        let value = way.iter().try_fold(request.clone(), |node, key| node.find(key));
        // Of a reply without tokens, or of one, there is no such time.
        let time = into.usable(value?.positive())? * ns;
        into.sample(name, time, None);
        Some(time)
    });
    into.requests.answered.push(times);
}

fn failed(places: &[Time], into: &mut Reading<'_>) {
    places.iter().for_each(|(name, ..)| into.failed(name, FAILED));
}

pub(crate) fn guidellm(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    for benchmark in root.at("benchmarks", "an array")?.items()? {
        let requests = benchmark.at("requests", "an object")?;
        for request in requests.at("successful", "an array")?.items()? {
            times(&request, &OF_GUIDELLM, into);
        }
        for _ in requests.find("errored").map_or(Ok(Vec::new()), |all| all.items())? {
            failed(&OF_GUIDELLM, into);
        }
        let seconds = benchmark.find("duration").and_then(|duration| duration.positive().ok());
        into.requests.took_ns += seconds.unwrap_or(0.0) * NS_PER_SECOND;
    }
    Ok(())
}

pub(crate) fn vllm(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    let firsts = root.at("ttfts", "an array")?.numbers()?;
    // A request that failed has 0 here.
    for first in firsts.iter().flatten() {
        match *first > 0.0 {
            true => into.sample("first_token", first * NS_PER_SECOND, None),
            false => into.failed("first_token", FAILED),
        }
    }
    let tokens = root.find("output_lens").map_or(Ok(Vec::new()), |lens| lens.numbers())?;
    for (at, gaps) in root.at("itls", "an array")?.items()?.iter().enumerate() {
        let gaps: Vec<f64> = gaps.numbers()?.into_iter().flatten().collect();
        let streamed = gaps.iter().sum::<f64>();
        let mean = streamed / gaps.len() as f64;
        if mean > 0.0 {
            into.sample("mean_chunk_gap", mean * NS_PER_SECOND, None);
        }
        let [first, tokens] = [&firsts, &tokens].map(|all| all.get(at).copied().flatten());
        into.requests.answered.extend(vllms_request(first, streamed, tokens));
    }
    let seconds = root.find("duration").and_then(|duration| duration.positive().ok());
    into.requests.took_ns = seconds.unwrap_or(0.0) * NS_PER_SECOND;
    Ok(())
}

/// As vLLM itself counts: what follows the first token is shared by the tokens, not by the chunks.
/// A request that failed has no tokens.
fn vllms_request(first: Option<f64>, streamed: f64, tokens: Option<f64>) -> Option<Times> {
    let (first, tokens) = (first?, tokens.filter(|tokens| *tokens > 0.0)?);
    let gap = (tokens > 1.0).then(|| streamed / (tokens - 1.0));
    Some([Some(first), gap, Some(first + streamed)].map(|time| Some(time? * NS_PER_SECOND)))
}
