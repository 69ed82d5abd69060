//! The table that Google Benchmark prints where no format is asked for: name, time, CPU time and
//! iterations, a row for each repetition. Below the repetitions, or alone with
//! `--benchmark_report_aggregates_only`, stand rows of `NAME_mean`, `NAME_median` and more. A time
//! has three or four digits; the JSON has all.

use std::collections::BTreeSet;

use crate::{
    ImportError, Machine,
    google::{DEBUG, SCALING},
    reading::Reading,
    units::time_ns,
};

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

pub(crate) fn read(text: &str, into: &mut Reading<'_>) {
    text.lines().for_each(|line| above(line, into));
    let rows: Vec<TableLine> = text.lines().enumerate().filter_map(TableLine::of).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    for row in &rows {
        let expected = "a time above 0 before its unit";
        let broken = ImportError::Line { file: into.file.to_owned(), line: row.line, expected };
        let statistic = statistic(&row.name, &names);
        if statistic.is_some_and(|(_, statistic)| statistic != "_mean") {
            continue;
        }
        let Some(ns) = into.usable(row.ns.ok_or(broken)) else { continue };
        match statistic {
            Some((base, _)) => into.mean(base, ns),
            None => into.sample(&row.name, ns, None),
        }
    }
    for (name, message) in text.lines().filter_map(|line| line.split_once("ERROR OCCURRED:")) {
        into.failed(name.trim(), &format!("the error {}", message.trim().replace('\'', "`")));
    }
}

/// What stands above the table: the machine, and warnings.
fn above(line: &str, into: &mut Reading<'_>) {
    if let Some(machine) = machine(line) {
        into.on(machine);
    }
    let line = line.trim();
    let is_warning = line.starts_with("***WARNING***");
    if is_warning && line.contains("DEBUG") {
        into.note(DEBUG);
    }
    if is_warning && line.contains("scaling") {
        into.note(SCALING);
    }
}

/// `Run on (8 X 3000 MHz CPU s)`.
fn machine(line: &str) -> Option<Machine> {
    let inside = line.trim().strip_prefix("Run on (")?;
    let [cpus, "X", mhz, ..] = inside.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let entry = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Some(Machine::from([entry("num_cpus", cpus), entry("MHz", mhz)]))
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
            time_ns(words[at]).is_some() && words.get(at + 2) == Some(&words[at]) && iterations
        };
        let unit = (2..words.len()).find(|at| is_row(*at))?;
        let time = words[unit - 1].parse::<f64>().ok().filter(|time| *time > 0.0);
        let ns = time.zip(time_ns(words[unit])).map(|(time, ns)| time * ns);
        let name = words[..unit - 1].join(" ");
        Some(Self { line: place + 1, name, ns: ns.filter(|ns| ns.is_finite()) })
    }
}
