//! `benchmarks[]`: an entry of run_type `iteration` for each repetition, and with
//! `--benchmark_report_aggregates_only` the entries of run_type `aggregate` alone.

use crate::{Benchmark, ImportError, Sample, Tool, node::Node};

pub(crate) fn read(root: &Node<'_>) -> Result<Vec<Benchmark>, ImportError> {
    let entries = root.at("benchmarks", "an array")?.items()?;
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    let mut means = Vec::new();
    for entry in &entries {
        // One that failed or was skipped has times that mean nothing.
        let failed = |key| entry.find(key).is_some_and(|flag| flag.is_true());
        if failed("error_occurred") || failed("skipped") {
            continue;
        }
        let name = entry.find("run_name").map_or(entry.at("name", "a string"), Ok)?.text()?;
        if let Some(aggregate) = entry.find("aggregate_name") {
            if aggregate.text()? == "mean" {
                means.push(Benchmark::summary(
                    Tool::GoogleBenchmark,
                    root.file(),
                    name,
                    ns(entry)?,
                ));
            }
            continue;
        }
        let sample = Sample { ns: ns(entry)?, fork: None };
        match benchmarks.iter_mut().find(|benchmark| benchmark.name == name) {
            Some(benchmark) => benchmark.samples.push(sample),
            None => {
                let tool = Tool::GoogleBenchmark;
                benchmarks.push(Benchmark::new(tool, root.file(), name, vec![sample]));
            }
        }
    }
    means.retain(|mean| benchmarks.iter().all(|benchmark| benchmark.name != mean.name));
    benchmarks.extend(means);
    Ok(benchmarks)
}

fn ns(entry: &Node<'_>) -> Result<f64, ImportError> {
    let time = entry.at("real_time", "a number above 0")?.positive()?;
    let unit = entry.at("time_unit", "a string")?;
    let unit_ns = unit_ns(unit.text()?).ok_or_else(|| unit.broken("one of ns, us, ms and s"))?;
    Ok(time * unit_ns)
}

/// The nanoseconds of a unit.
pub(crate) fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    })
}
