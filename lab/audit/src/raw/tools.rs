//! What benchmark tools write: those that `lab import` reads, k6 and BenchmarkDotNet.

use lab_import::{Benchmark, Source};
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

/// The same of BenchmarkDotNet, all in nanoseconds.
const DOTNET: [(&str, &str); 6] = [
    ("Mean", "Mean (ns)"),
    ("StandardError", "StdErr (ns)"),
    ("StandardDeviation", "StdDev (ns)"),
    ("Median", "Median (ns)"),
    ("Min", "Min (ns)"),
    ("Max", "Max (ns)"),
];

/// Reads a file of a known tool; `None` for anything else, also where the tool's reader refuses.
pub(super) fn read(name: &str, text: &str) -> Result<Option<Vec<Raw>>, RawError> {
    if let Some(raw) = k6(name, text)? {
        return Ok(Some(vec![raw]));
    }
    if let Some(raw) = dotnet(name, text)? {
        return Ok(Some(vec![raw]));
    }
    // Repeats of hyperfine and of criterion's samples are read with all that stands beside them.
    let own = text.contains("\"results\"") || text.contains("\"iters\"");
    if own && text.starts_with('{') {
        return Ok(None);
    }
    match lab_import::read(&Source { file: name, text, beside: None }) {
        Ok(contents) => Ok(Some(vec![samples(name, &contents.benchmarks)?])),
        Err(_) => Ok(None),
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
    let Ok(json) = super::json::parsed(text) else { return Ok(None) };
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

/// A row a benchmark of BenchmarkDotNet's JSON; one that failed has no statistics. Its class and
/// its parameters name it where the method does not.
fn dotnet(name: &str, text: &str) -> Result<Option<Raw>, RawError> {
    if !text.starts_with('{') || !text.contains("\"Statistics\"") {
        return Ok(None);
    }
    let Ok(json) = super::json::parsed(text) else { return Ok(None) };
    let all = json.get("Benchmarks").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let label = |one: &Json, key: &str| one.get(key)?.as_str().map(str::to_owned);
    let measured = all.iter().filter(|one| one.get("Statistics").is_some_and(Json::is_object));
    let measured: Vec<&Json> = measured.filter(|one| label(one, "Method").is_some()).collect();
    let mut table = Builder::new(name);
    for one in &measured {
        let is_one_method = |other: &&&Json| label(other, "Method") == label(one, "Method");
        let mut names = vec![("Method".to_owned(), label(one, "Method"))];
        for key in ["Type", "Parameters"] {
            let mut same = measured.iter().filter(is_one_method);
            if same.any(|other| label(other, key) != label(one, key)) {
                names.push((key.to_owned(), label(one, key)));
            }
        }
        let names = names.into_iter().map(|(key, text)| {
            let value = text.filter(|text| !text.is_empty()).map_or(Value::Missing, Value::Text);
            (key, value)
        });
        let statistics = DOTNET.iter().filter_map(|(key, column)| {
            let number = one.get("Statistics")?.get(key)?.as_f64()?;
            Some(((*column).to_owned(), Value::Number(number)))
        });
        table.push(names.chain(statistics))?;
    }
    Ok((!measured.is_empty()).then(|| table.finish()))
}
