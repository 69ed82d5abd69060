//! The table that Google Benchmark prints where no format is asked for: name, time, CPU time and
//! iterations, a row for each repetition. Below the repetitions, or alone with
//! `--benchmark_report_aggregates_only`, stand rows of `NAME_mean`, `NAME_median` and more. A time
//! has three or four digits; the JSON has all.

use std::collections::BTreeSet;

use crate::{Benchmark, ImportError, Sample, Tool, google::unit_ns};

/// The table's head.
const HEAD: [&str; 4] = ["Benchmark", "Time", "CPU", "Iterations"];
/// What the statistics over repetitions end with, as far as they are times.
const STATISTICS: [&str; 3] = ["_mean", "_median", "_stddev"];

/// Whether the text holds such a table.
pub(crate) fn is_table(text: &str) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        HEAD.iter().all(|word| words.next() == Some(*word))
    })
}

pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Benchmark>, ImportError> {
    let tool = Tool::GoogleBenchmark;
    let rows: Vec<TableLine> = text.lines().enumerate().filter_map(TableLine::of).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    let mut means = Vec::new();
    for row in &rows {
        let ns = row.ns.ok_or_else(|| {
            let expected = "a time above 0 before its unit";
            ImportError::Line { file: file.to_owned(), line: row.line, expected }
        });
        if let Some((base, statistic)) = statistic(&row.name, &names) {
            if statistic == "_mean" {
                means.push(Benchmark::summary(tool, file, base, ns?));
            }
            continue;
        }
        let sample = Sample { ns: ns?, fork: None };
        match benchmarks.iter_mut().find(|benchmark| benchmark.name == row.name) {
            Some(benchmark) => benchmark.samples.push(sample),
            None => benchmarks.push(Benchmark::new(tool, file, row.name.clone(), vec![sample])),
        }
    }
    means.retain(|mean| benchmarks.iter().all(|benchmark| benchmark.name != mean.name));
    benchmarks.extend(means);
    Ok(benchmarks)
}

/// The benchmark whose statistic this is: all three of it are in the table.
fn statistic<'a>(name: &'a str, names: &BTreeSet<&str>) -> Option<(&'a str, &'static str)> {
    let found = STATISTICS.iter().find_map(|end| Some((name.strip_suffix(*end)?, *end)))?;
    let all = STATISTICS.iter().all(|end| names.contains(format!("{}{end}", found.0).as_str()));
    all.then_some(found)
}

/// A row: `BM_Fill/64   30.1 ns   29.9 ns   23302101`, and counters.
struct TableLine {
    /// From 1.
    line: usize,
    name: String,
    /// `None` where no number above 0 stands there.
    ns: Option<f64>,
}

impl TableLine {
    /// Of a line and its place; `None` of a line that is no row, as of a benchmark that failed. The
    /// name may have spaces.
    fn of((place, text): (usize, &str)) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_row = |at: usize| {
            let iterations = words.get(at + 3).is_some_and(|count| count.parse::<u64>().is_ok());
            unit_ns(words[at]).is_some() && words.get(at + 2) == Some(&words[at]) && iterations
        };
        let unit = (2..words.len()).find(|at| is_row(*at))?;
        let time = words[unit - 1].parse::<f64>().ok().filter(|time| *time > 0.0);
        let ns = time.zip(unit_ns(words[unit])).map(|(time, ns)| time * ns);
        let name = words[..unit - 1].join(" ");
        Some(Self { line: place + 1, name, ns: ns.filter(|ns| ns.is_finite()) })
    }
}
