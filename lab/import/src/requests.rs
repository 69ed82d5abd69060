//! What load generators of language models keep of each request: one sample is one request, and all
//! of a file are of one process, for they met the same server in the same minutes.
//!
//! * aiperf: `profile_export.jsonl`, a request a line
//! * guidellm: `benchmarks[].requests`
//! * k6: `--out json=FILE`, a point a line
//! * vLLM: `ttfts` and `itls` of `vllm bench serve --save-result --save-detailed`
//!
//! Benchmarks are named as the quantities of `generators.tsv`; rates and counts are left to it.

use crate::{ImportError, Tool, json::Json, node::Node, reading::Reading};

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
/// Of a point: the metric that it is of.
const OF_K6: [(&str, &str); 2] =
    [("http_req_waiting", "first_token"), ("http_req_duration", "reply")];

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
            _ if root.find("error").is_some() => failed(&OF_AIPERF, into),
            _ => times(&root, &OF_AIPERF, into),
        }
    }
}

fn point(root: &Node<'_>, into: &mut Reading<'_>) {
    let metric = root.find("metric").and_then(|metric| metric.text().ok());
    let Some((_, name)) = OF_K6.iter().find(|(own, _)| Some(*own) == metric) else { return };
    // Else it is the line that tells what the metric is.
    if let Some(value) = root.find("data").and_then(|data| data.find("value"))
        && let Some(ms) = into.usable(value.positive())
    {
        into.sample(name, ms * NS_PER_MS, None);
    }
}

fn times(request: &Node<'_>, places: &[Time], into: &mut Reading<'_>) {
    for (name, ns, way) in places {
        let value = way.iter().try_fold(request.clone(), |node, key| node.find(key));
        // Of a reply without tokens, or of one, there is no such time.
        let Some(value) = value.and_then(|value| into.usable(value.positive())) else { continue };
        into.sample(name, value * ns, None);
    }
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
    }
    Ok(())
}

pub(crate) fn vllm(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    // A request that failed has 0 here.
    for first in root.at("ttfts", "an array")?.numbers()?.into_iter().flatten() {
        match first > 0.0 {
            true => into.sample("first_token", first * NS_PER_SECOND, None),
            false => into.failed("first_token", FAILED),
        }
    }
    for gaps in root.at("itls", "an array")?.items()? {
        let gaps: Vec<f64> = gaps.numbers()?.into_iter().flatten().collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        if mean > 0.0 {
            into.sample("mean_chunk_gap", mean * NS_PER_SECOND, None);
        }
    }
    Ok(())
}
