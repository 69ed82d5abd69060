//! `benchmarks[].stats.data`, in seconds a call; `--benchmark-save-data` keeps it, and older
//! releases leave it out of `--benchmark-json` without that.

use crate::{Benchmark, ImportError, Sample, Tool, node::Node};

const NS_PER_SECOND: f64 = 1e9;

pub(crate) fn read(root: &Node<'_>) -> Result<Vec<Benchmark>, ImportError> {
    root.at("benchmarks", "an array")?.items()?.iter().map(benchmark).collect()
}

fn benchmark(benchmark: &Node<'_>) -> Result<Benchmark, ImportError> {
    let name = benchmark.at("fullname", "a string")?.text()?;
    let stats = benchmark.at("stats", "an object")?;
    let data = stats.find("data").map_or(Ok(Vec::new()), |data| data.positives())?;
    if data.is_empty() {
        let mean = stats.at("mean", "a number above 0")?.positive()?;
        let mean = mean * NS_PER_SECOND;
        return Ok(Benchmark::summary(Tool::PytestBenchmark, benchmark.file(), name, mean));
    }
    let sample = |time: &f64| Sample { ns: time * NS_PER_SECOND, fork: None };
    let samples = data.iter().map(sample).collect();
    Ok(Benchmark::new(Tool::PytestBenchmark, benchmark.file(), name, samples))
}
