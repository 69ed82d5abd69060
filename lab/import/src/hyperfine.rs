//! `results[].times`, in seconds; one sample is one process.

use crate::{Benchmark, ImportError, Sample, Tool, node::Node};

const NS_PER_SECOND: f64 = 1e9;

pub(crate) fn read(root: &Node<'_>) -> Result<Vec<Benchmark>, ImportError> {
    root.at("results", "an array")?.items()?.iter().map(benchmark).collect()
}

fn benchmark(result: &Node<'_>) -> Result<Benchmark, ImportError> {
    let name = result.at("command", "a string")?.text()?;
    let Some(times) = result.find("times") else {
        let mean = result.at("mean", "a number above 0")?.positive()?;
        return Ok(Benchmark::summary(Tool::Hyperfine, result.file(), name, mean * NS_PER_SECOND));
    };
    let times = times.positives()?;
    let sample =
        |(fork, time): (usize, &f64)| Sample { ns: time * NS_PER_SECOND, fork: Some(fork) };
    let samples = times.iter().enumerate().map(sample).collect();
    Ok(Benchmark::new(Tool::Hyperfine, result.file(), name, samples))
}
