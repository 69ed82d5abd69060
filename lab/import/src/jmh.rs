//! `primaryMetric.rawData`: an array a fork, of a score an iteration. In the mode `sample` there is
//! `rawDataHistogram` instead, of `[time, calls]`, and an iteration counts with its mean. The unit
//! is `us/op` or, of the mode `thrpt`, `ops/us`; kotlinx-benchmark says `sec` for seconds.

use crate::{Benchmark, ImportError, Sample, Tool, node::Node, reading::Reading, units::time_ns};

/// The mode of rates.
const RATE: &str = "thrpt";
const MACHINE: [&str; 4] = ["jvm", "jdkVersion", "vmName", "vmVersion"];

pub(crate) fn read(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    for result in root.items()? {
        let benchmark = benchmark(&result, into);
        into.whole(benchmark);
    }
    Ok(())
}

fn benchmark(result: &Node<'_>, into: &mut Reading<'_>) -> Result<Benchmark, ImportError> {
    let metric = result.at("primaryMetric", "an object")?;
    let unit = metric.at("scoreUnit", "a string")?;
    let (ns, is_rate) = unit_ns(&unit)?;
    let ns = |score: f64| if is_rate { ns / score } else { ns * score };
    let usual = if is_rate { RATE } else { "avgt" };
    let mode = result.find("mode").map_or(Ok(usual), |mode| mode.text())?;
    let name = name(result, mode)?;
    if is_rate != (mode == RATE) {
        let (unit, read) = (unit.text()?, if is_rate { "a rate" } else { "a time" });
        into.note(format!("{name}: the mode is {mode} and the unit {unit}, read as {read}"));
    }
    let mut samples = Vec::new();
    for (fork, iterations) in forks(&metric, into)?.into_iter().enumerate() {
        let scores = iterations.into_iter().filter(|score| score.is_finite());
        samples.extend(scores.map(|score| Sample { ns: ns(score), fork: Some(fork) }));
    }
    let new = if samples.is_empty() {
        let mean = ns(metric.at("score", "a number above 0")?.positive()?);
        Benchmark::summary(Tool::Jmh, result.file(), name, mean)
    } else {
        Benchmark::new(Tool::Jmh, result.file(), name, samples)
    };
    Ok(Benchmark { machine: result.texts(&MACHINE), ..new })
}

/// The scores of each fork's iterations; NaN for one that cannot be used.
fn forks(metric: &Node<'_>, into: &mut Reading<'_>) -> Result<Vec<Vec<f64>>, ImportError> {
    if let Some(histograms) = metric.find("rawDataHistogram") {
        let mean = |iteration: &Node<'_>, into: &mut Reading<'_>| {
            let mean = histogram_mean(iteration, into);
            into.usable(mean).unwrap_or(f64::NAN)
        };
        let fork = |fork: &Node<'_>, into: &mut Reading<'_>| {
            Ok(fork.items()?.iter().map(|iteration| mean(iteration, into)).collect())
        };
        return histograms.items()?.iter().map(|one| fork(one, into)).collect();
    }
    let forks = metric.find("rawData").map_or(Ok(Vec::new()), |data| data.items())?;
    forks.iter().map(|fork| fork.positives(into)).collect()
}

fn histogram_mean(histogram: &Node<'_>, into: &mut Reading<'_>) -> Result<f64, ImportError> {
    let (mut time, mut calls) = (0.0, 0.0);
    for entry in histogram.items()? {
        let [value, count] = entry.positives(into)?[..] else {
            return Err(entry.broken("`[time, calls]`"));
        };
        time += value * count;
        calls += count;
    }
    if calls > 0.0 { Ok(time / calls) } else { Err(histogram.broken("times with their calls")) }
}

/// The nanoseconds of the time in a unit, and whether it is a rate.
fn unit_ns(unit: &Node<'_>) -> Result<(f64, bool), ImportError> {
    let text = unit.text()?;
    let per_call = text.strip_suffix("/op").and_then(time_ns).map(|ns| (ns, false));
    let rate = || text.strip_prefix("ops/").and_then(time_ns).map(|ns| (ns, true));
    per_call.or_else(rate).ok_or_else(|| unit.broken("a unit such as `us/op` or `ops/s`"))
}

/// The method with its parameters. The mode belongs to it: one method may be measured in several.
/// So do threads: what each gets done depends on how many there are.
fn name(result: &Node<'_>, mode: &str) -> Result<String, ImportError> {
    let method = result.at("benchmark", "a string")?.text()?;
    let mut words = vec![mode.to_owned()];
    words.extend(result.find("params").map_or(Ok(Vec::new()), |params| params.settings())?);
    if let Some(threads) = result.find("threads").and_then(|it| it.positive().ok())
        && threads > 1.0
    {
        words.push(format!("threads={threads}"));
    }
    Ok(format!("{method} ({})", words.join(", ")))
}
