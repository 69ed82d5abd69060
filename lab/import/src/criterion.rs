//! `sample.json`: totals in nanoseconds beside the calls that each is of. `estimates.json` has the
//! mean alone; the one in `change/` has by how much it changed, which is no time. The name stands
//! in `benchmark.json`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Benchmark, ImportError, Sample, Tool, node::Node, reading::Reading};

/// The folder of the last run; others are named after baselines.
const LAST: &str = "new";
const SAMPLES: &str = "sample.json";

pub(crate) fn sample(
    root: &Node<'_>,
    beside: Option<&str>,
    into: &mut Reading<'_>,
) -> Result<(), ImportError> {
    let calls = root.at("iters", "an array of numbers")?.positives(into)?;
    let times = root.at("times", "an array of numbers")?;
    let totals = times.positives(into)?;
    if calls.len() != totals.len() {
        return Err(times.broken("as long as `iters`"));
    }
    let sample = |(total, calls): (&f64, &f64)| Sample { ns: total / calls, fork: None };
    let all = totals.iter().zip(&calls).map(sample);
    let samples: Vec<Sample> = all.filter(|sample| sample.ns.is_finite()).collect();
    if samples.is_empty() {
        return Err(times.broken("an array with a number above 0"));
    }
    let name = name(root.file(), beside);
    into.whole(Ok(Benchmark::new(Tool::Criterion, root.file(), name, samples)));
    Ok(())
}

pub(crate) fn estimates(
    root: &Node<'_>,
    beside: Option<&str>,
    into: &mut Reading<'_>,
) -> Result<(), ImportError> {
    let file = root.file();
    // A change has no deviations of its own; one may have been copied out of its folder.
    let is_change = root.find("std_dev").is_none() && root.find("median_abs_dev").is_none();
    if is_change || run(file).is_some_and(|(_, run)| run == "change") {
        return Err(ImportError::Change { file: file.to_owned() });
    }
    let mean = root.at("mean", "an object")?.at("point_estimate", "a number")?.positive()?;
    into.whole(Ok(Benchmark::summary(Tool::Criterion, file, name(file, beside), mean)));
    Ok(())
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

/// The folder of a benchmark and that of a run in it.
fn run(file: &str) -> Option<(&str, &str)> {
    let (folder, _) = file.rsplit_once('/')?;
    Some(folder.rsplit_once('/').unwrap_or(("", folder)))
}

/// Leaves out what would count a benchmark of criterion twice: runs before the last, and means
/// beside their samples. Gives the files that it left out.
pub fn last_runs(benchmarks: &mut Vec<Benchmark>) -> BTreeSet<String> {
    let own = |benchmark: &&Benchmark| benchmark.tool == Tool::Criterion;
    let files = |is_wanted: fn(&Benchmark) -> bool| -> BTreeSet<String> {
        let wanted = benchmarks.iter().filter(own).filter(|one| is_wanted(one));
        wanted.map(|one| one.file.clone()).collect()
    };
    let last = files(|one| run(&one.file).is_some_and(|(_, run)| run == LAST));
    let last: BTreeSet<&str> = last.iter().filter_map(|file| Some(run(file)?.0)).collect();
    let samples = files(|one| !one.samples.is_empty());
    let is_older = |benchmark: &Benchmark| {
        run(&benchmark.file).is_some_and(|(of, run)| run != LAST && last.contains(of))
    };
    let is_said = |benchmark: &Benchmark| {
        let folder = benchmark.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        benchmark.samples.is_empty() && samples.contains(&format!("{folder}/{SAMPLES}"))
    };
    let mut left_out = BTreeSet::new();
    benchmarks.retain(|one| {
        let is_left_out = one.tool == Tool::Criterion && (is_older(one) || is_said(one));
        if is_left_out {
            left_out.insert(one.file.clone());
        }
        !is_left_out
    });
    left_out
}
