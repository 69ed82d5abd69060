//! `primaryMetric.rawData`: an array a fork, of a score an iteration. In the mode `sample` there is
//! `rawDataHistogram` instead, of `[time, calls]`, and an iteration counts with its mean. The unit
//! is `us/op` or, of the mode `thrpt`, `ops/us`.

use crate::{Benchmark, ImportError, Sample, Tool, node::Node};

const UNITS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 6e10),
    ("hr", 3.6e12),
    ("day", 8.64e13),
];

pub(crate) fn read(root: &Node<'_>) -> Result<Vec<Benchmark>, ImportError> {
    root.items()?.iter().map(benchmark).collect()
}

fn benchmark(result: &Node<'_>) -> Result<Benchmark, ImportError> {
    let metric = result.at("primaryMetric", "an object")?;
    let ns = unit(&metric.at("scoreUnit", "a string")?)?;
    let name = name(result)?;
    let mut samples = Vec::new();
    for (fork, iterations) in forks(&metric)?.into_iter().enumerate() {
        let sample = |score: f64| Sample { ns: ns(score), fork: Some(fork) };
        samples.extend(iterations.into_iter().map(sample));
    }
    if samples.is_empty() {
        let mean = ns(metric.at("score", "a number above 0")?.positive()?);
        return Ok(Benchmark::summary(Tool::Jmh, result.file(), name, mean));
    }
    Ok(Benchmark::new(Tool::Jmh, result.file(), name, samples))
}

/// The scores of each fork's iterations.
fn forks(metric: &Node<'_>) -> Result<Vec<Vec<f64>>, ImportError> {
    if let Some(histograms) = metric.find("rawDataHistogram") {
        let fork = |fork: &Node<'_>| fork.items()?.iter().map(histogram_mean).collect();
        return histograms.items()?.iter().map(fork).collect();
    }
    let forks = metric.find("rawData").map_or(Ok(Vec::new()), |data| data.items())?;
    forks.iter().map(Node::positives).collect()
}

fn histogram_mean(histogram: &Node<'_>) -> Result<f64, ImportError> {
    let (mut time, mut calls) = (0.0, 0.0);
    for entry in histogram.items()? {
        let [value, count] = entry.positives()?[..] else {
            return Err(entry.broken("`[time, calls]`"));
        };
        time += value * count;
        calls += count;
    }
    if calls > 0.0 { Ok(time / calls) } else { Err(histogram.broken("times with their calls")) }
}

/// From a score to nanoseconds a call.
fn unit(unit: &Node<'_>) -> Result<impl Fn(f64) -> f64 + use<>, ImportError> {
    let text = unit.text()?;
    let per_call = text.strip_suffix("/op");
    let known = per_call.or(text.strip_prefix("ops/"));
    let found = known.and_then(|known| UNITS.iter().find(|(name, _)| *name == known));
    let Some((_, ns)) = found else {
        return Err(unit.broken("a unit such as `us/op` or `ops/s`"));
    };
    let (ns, inverse) = (*ns, per_call.is_none());
    Ok(move |score: f64| if inverse { ns / score } else { ns * score })
}

/// The method with its parameters. The mode belongs to it: one method may be measured in several.
fn name(result: &Node<'_>) -> Result<String, ImportError> {
    let method = result.at("benchmark", "a string")?.text()?;
    let mode = result.at("mode", "a string")?.text()?;
    let parameters = result.find("params").map_or(Ok(Vec::new()), |params| params.entries())?;
    let mut words = vec![mode.to_owned()];
    for (key, value) in parameters {
        words.push(format!("{key}={}", value.text()?));
    }
    Ok(format!("{method} ({})", words.join(", ")))
}
