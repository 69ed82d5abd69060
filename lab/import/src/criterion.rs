//! `sample.json`: totals in nanoseconds beside the calls that each is of. `estimates.json` has the
//! mean alone. The name stands in `benchmark.json`.

use serde_json::Value;

use crate::{Benchmark, ImportError, Sample, Tool, node::Node};

pub(crate) fn sample(root: &Node<'_>, beside: Option<&str>) -> Result<Vec<Benchmark>, ImportError> {
    let calls = root.at("iters", "an array of numbers")?.positives()?;
    let times = root.at("times", "an array of numbers")?;
    let totals = times.positives()?;
    if calls.len() != totals.len() {
        return Err(times.broken("as long as `iters`"));
    }
    let sample = |(total, calls): (&f64, &f64)| Sample { ns: total / calls, fork: None };
    let samples = totals.iter().zip(&calls).map(sample).collect();
    Ok(vec![Benchmark::new(Tool::Criterion, root.file(), name(root.file(), beside), samples)])
}

pub(crate) fn estimates(
    root: &Node<'_>,
    beside: Option<&str>,
) -> Result<Vec<Benchmark>, ImportError> {
    let mean = root.at("mean", "an object")?.at("point_estimate", "a number")?.positive()?;
    Ok(vec![Benchmark::summary(Tool::Criterion, root.file(), name(root.file(), beside), mean)])
}

/// `full_id`, or the folders of the benchmark: those below `criterion` and above the one of the
/// run, which is `new` or the name of a baseline.
fn name(file: &str, beside: Option<&str>) -> String {
    let benchmark: Option<Value> = beside.and_then(|text| serde_json::from_str(text).ok());
    if let Some(name) = benchmark.as_ref().and_then(|value| value["full_id"].as_str()) {
        return name.to_owned();
    }
    let folders: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
    let end = folders.len().saturating_sub(2);
    let above = folders[..end].iter().rposition(|part| *part == "criterion");
    let own = &folders[above.map_or(end.saturating_sub(1), |at| at + 1)..end];
    if own.is_empty() { file.to_owned() } else { own.join("/") }
}
