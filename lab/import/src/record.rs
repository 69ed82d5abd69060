//! The lab's unpaired records: JSON Lines, one sample a line, each line with its schema, so that
//! files may be joined by `cat`.

use serde::{Deserialize, Serialize};

use crate::{Benchmark, ImportError, Sample, Tool};

/// Of each line.
pub const SCHEMA: &str = "lab-unpaired-1";

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    schema: String,
    tool: Tool,
    /// Where the sample was read first.
    file: String,
    benchmark: String,
    /// Of one call; of a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ns: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fork: Option<usize>,
    /// Of one call; of a benchmark without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_ns: Option<f64>,
}

/// The benchmarks as lines, one at a time: together they are many times as long as what was read.
pub fn records(benchmarks: &[Benchmark]) -> impl Iterator<Item = String> {
    let line = |benchmark: &Benchmark, sample: Option<&Sample>| Line {
        schema: SCHEMA.to_owned(),
        tool: benchmark.tool,
        file: benchmark.file.clone(),
        benchmark: benchmark.name.clone(),
        ns: sample.map(|sample| sample.ns),
        fork: sample.and_then(|sample| sample.fork),
        mean_ns: sample.map_or(benchmark.mean_ns, |_| None),
    };
    let lines = benchmarks.iter().flat_map(move |benchmark| {
        let samples = benchmark.samples.iter().map(move |sample| line(benchmark, Some(sample)));
        samples.chain(benchmark.mean_ns.map(|_| line(benchmark, None)))
    });
    lines.map(|line| serde_json::json!(line).to_string() + "\n")
}

/// What a line of any version has.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

/// Whether the text begins as records do.
pub(crate) fn is_record(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let version = serde_json::from_str::<Version>(first);
    version.is_ok_and(|version| version.schema.starts_with("lab-unpaired"))
}

pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Benchmark>, ImportError> {
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for (place, content) in text.lines().enumerate() {
        let broken =
            |expected| ImportError::Line { file: file.to_owned(), line: place + 1, expected };
        let line: Line = serde_json::from_str(content)
            .map_err(|_| broken("one sample as `lab import` prints it"))?;
        if line.schema != SCHEMA {
            return Err(broken("the schema lab-unpaired-1"));
        }
        if !line.ns.or(line.mean_ns).is_some_and(|ns| ns > 0.0) {
            return Err(broken("`ns` or `mean_ns`, above 0"));
        }
        let known = benchmarks.iter().rposition(|known| {
            let of_line = (&line.benchmark, line.tool, &line.file);
            (&known.name, known.tool, &known.file) == of_line
        });
        let at = known.unwrap_or_else(|| {
            benchmarks.push(Benchmark::new(line.tool, &line.file, line.benchmark, Vec::new()));
            benchmarks.len() - 1
        });
        match line.ns {
            Some(ns) => benchmarks[at].samples.push(Sample { ns, fork: line.fork }),
            None => benchmarks[at].mean_ns = line.mean_ns,
        }
    }
    Ok(benchmarks)
}
