//! What benchmark tools write: those that `lab import` reads, k6, and texts of BenchmarkDotNet.

use lab_import::{Benchmark, ImportError, Source};
use serde_json::Value as Json;

use super::table::Builder;
use super::{Raw, RawError, Value};

/// Statistics of k6 by the names that headers have for them.
const K6: [(&str, &str); 7] = [
    ("avg", "mean"),
    ("min", "min"),
    ("med", "median"),
    ("max", "max"),
    ("p(90)", "p90"),
    ("p(95)", "p95"),
    ("p(99)", "p99"),
];

/// Reads a file of a known tool; `None` for anything else, also where the tool's reader refuses.
pub(super) fn read(name: &str, text: &str) -> Result<Option<Vec<Raw>>, RawError> {
    if let Some(raw) = k6(name, text)? {
        return Ok(Some(vec![raw]));
    }
    // Repeats of hyperfine and of criterion's samples are read with all that stands beside them.
    let own = text.contains("\"results\"") || text.contains("\"iters\"");
    if own && text.starts_with('{') {
        return Ok(None);
    }
    match lab_import::read(&Source { file: name, text, beside: None }) {
        Ok(benchmarks) => Ok(Some(vec![samples(name, &benchmarks)?])),
        Err(ImportError::Unknown { .. } | ImportError::Json { .. }) => Ok(None),
        Err(ImportError::Broken { .. } | ImportError::Line { .. } | ImportError::Empty { .. }) => {
            Ok(None)
        }
    }
}

/// One row a sample; a benchmark with nothing but a mean is one row.
fn samples(name: &str, benchmarks: &[Benchmark]) -> Result<Raw, RawError> {
    let mut table = Builder::new(name);
    for benchmark in benchmarks {
        let times: Vec<f64> = benchmark.samples.iter().map(|sample| sample.ns).collect();
        for time in times.into_iter().chain(benchmark.mean_ns) {
            table.push([
                ("benchmark".to_owned(), Value::Text(benchmark.name.clone())),
                ("time_ns".to_owned(), Value::Number(time)),
            ])?;
        }
    }
    Ok(table.finish())
}

/// The summary of k6, by `--summary-export` or `handleSummary`.
fn k6(name: &str, text: &str) -> Result<Option<Raw>, RawError> {
    if !text.starts_with('{') || !text.contains("\"metrics\"") {
        return Ok(None);
    }
    let Ok(json) = serde_json::from_str::<Json>(text) else { return Ok(None) };
    let Some(metrics) = json.get("metrics").and_then(Json::as_object) else { return Ok(None) };
    let mut table = Builder::new(name);
    let mut known = false;
    for (metric, values) in metrics {
        let values = values.get("values").unwrap_or(values);
        let time =
            metric.contains("duration") || metric.ends_with("ing") || metric.contains("wait");
        let unit = if time { " (ms)" } else { "" };
        let stats = K6.iter().filter_map(|(key, statistic)| {
            let number = values.get(key)?.as_f64()?;
            Some((format!("{statistic}{unit}"), Value::Number(number)))
        });
        let stats: Vec<(String, Value)> = stats.collect();
        known |= stats.len() >= 3;
        let label = ("metric".to_owned(), Value::Text(metric.clone()));
        table.push(std::iter::once(label).chain(stats))?;
    }
    Ok(known.then(|| table.finish()))
}
