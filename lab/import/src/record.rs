//! The lab's unpaired records: JSON Lines, one sample a line, each line with its schema, so that
//! files may be joined by `cat`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Benchmark, Contents, ImportError, Machine, Sample, Tool, goodput::Requests};

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
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    machine: Machine,
    /// Of all runs, on a line of its own, where one failed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    endings: BTreeMap<String, usize>,
}

/// The benchmarks as lines, one at a time: together they are many times as long as what was read.
pub fn records(benchmarks: &[Benchmark]) -> impl Iterator<Item = String> {
    let line = |benchmark: &Benchmark| Line {
        schema: SCHEMA.to_owned(),
        tool: benchmark.tool,
        file: benchmark.file.clone(),
        benchmark: benchmark.name.clone(),
        ns: None,
        fork: None,
        mean_ns: None,
        machine: benchmark.machine.clone(),
        endings: BTreeMap::new(),
    };
    let lines = benchmarks.iter().flat_map(move |benchmark| {
        let sample = move |sample: &Sample| Line {
            ns: Some(sample.ns),
            fork: sample.fork,
            ..line(benchmark)
        };
        let mean = benchmark.mean_ns.map(|ns| Line { mean_ns: Some(ns), ..line(benchmark) });
        let endings = benchmark.endings.clone();
        let failed = benchmark.is_failed().then(|| Line { endings, ..line(benchmark) });
        benchmark.samples.iter().map(sample).chain(mean).chain(failed)
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

pub(crate) fn read(file: &str, text: &str) -> Result<Contents, ImportError> {
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    let mut places = BTreeMap::new();
    for (place, content) in text.lines().enumerate() {
        let broken =
            |expected| ImportError::Line { file: file.to_owned(), line: place + 1, expected };
        let line: Line = serde_json::from_str(content)
            .map_err(|_| broken("one sample as `lab import` prints it"))?;
        if line.schema != SCHEMA {
            return Err(broken("the schema lab-unpaired-1"));
        }
        let is_time = line.ns.or(line.mean_ns).is_some_and(|ns| ns > 0.0);
        if !is_time && line.endings.is_empty() {
            return Err(broken("`ns` or `mean_ns`, above 0"));
        }
        let key = (line.file.clone(), line.tool, line.benchmark.clone(), line.machine.clone());
        let at = *places.entry(key).or_insert_with(|| {
            let new = Benchmark::new(line.tool, &line.file, line.benchmark, Vec::new());
            benchmarks.push(Benchmark { machine: line.machine, ..new });
            benchmarks.len() - 1
        });
        let benchmark = &mut benchmarks[at];
        match line.ns {
            Some(ns) => benchmark.samples.push(Sample { ns, fork: line.fork }),
            None => benchmark.mean_ns = line.mean_ns.or(benchmark.mean_ns),
        }
        benchmark.endings.extend(line.endings);
    }
    Ok(Contents { benchmarks, notes: Vec::new(), requests: Requests::default() })
}
