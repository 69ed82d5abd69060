//! The text of `go test -bench`: a line a sample, `BenchmarkName-8 2000 1165 ns/op …`. The format
//! is golang.org/design/14313-benchmark-format.

use std::borrow::Cow;

use serde::{Deserialize, de::IgnoredAny};

use crate::{Benchmark, ImportError, Sample, Tool, json::Json};

/// A line of `go test -json`, as far as it matters here.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "Action")]
    action: Option<IgnoredAny>,
    #[serde(rename = "Output")]
    output: Option<Json>,
}

/// The text, where this is one: as it is, or put together from the events of `go test -json`.
pub(crate) fn text(text: &str) -> Option<Cow<'_, str>> {
    let event = |line: &str| serde_json::from_str::<Event>(line).ok();
    let first = text.lines().next().and_then(event);
    let plain = match first {
        Some(Event { action: Some(_), .. }) => {
            let output = |line| match event(line)?.output? {
                Json::Text(output) => Some(output),
                _ => None,
            };
            text.lines().filter_map(output).collect()
        }
        _ => Cow::Borrowed(text),
    };
    plain.lines().any(|line| result(line).is_some()).then_some(plain)
}

pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Benchmark>, ImportError> {
    let mut package = "";
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for (line, content) in text.lines().enumerate() {
        if let Some(name) = content.strip_prefix("pkg: ") {
            package = name.trim();
        }
        // A benchmark may report other units alone.
        let Some((name, time)) = result(content) else { continue };
        let Ok(ns) = time.parse::<f64>() else {
            return Err(broken(file, line));
        };
        if !(ns > 0.0 && ns.is_finite()) {
            return Err(broken(file, line));
        }
        let name = if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") };
        let sample = Sample { ns, fork: None };
        match benchmarks.iter_mut().find(|benchmark| benchmark.name == name) {
            Some(benchmark) => benchmark.samples.push(sample),
            None => benchmarks.push(Benchmark::new(Tool::GoTest, file, name, vec![sample])),
        }
    }
    Ok(benchmarks)
}

/// The name and what stands before `ns/op`.
fn result(line: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = words.first().filter(|name| name.starts_with("Benchmark"))?;
    let unit = words.iter().position(|word| *word == "ns/op")?;
    (unit >= 3).then(|| (*name, words[unit - 1]))
}

fn broken(file: &str, line: usize) -> ImportError {
    let expected = "a number of nanoseconds above 0 before `ns/op`";
    ImportError::Line { file: file.to_owned(), line: line + 1, expected }
}
