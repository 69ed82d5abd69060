//! What `cargo criterion --message-format=json` prints: a line a message, of which
//! `benchmark-complete` has totals, the calls that each is of, and their unit.

use crate::{
    Benchmark, ImportError, Sample, Tool, json::Json, node::Node, reading::Reading, units::time_ns,
};

const COMPLETE: &str = "\"benchmark-complete\"";

/// Whether one of its lines is such a message.
pub(crate) fn is_messages(text: &str) -> bool {
    messages(text).any(|message| message.get("measured_values").is_some())
}

pub(crate) fn read(text: &str, into: &mut Reading<'_>) {
    for message in messages(text) {
        let benchmark = benchmark(&Node::root(into.file, &message), into);
        into.whole(benchmark);
    }
}

fn messages(text: &str) -> impl Iterator<Item = Json> {
    let lines = text.lines().filter(|line| line.starts_with('{') && line.contains(COMPLETE));
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

fn benchmark(message: &Node<'_>, into: &mut Reading<'_>) -> Result<Benchmark, ImportError> {
    let name = message.at("id", "a string")?.text()?;
    let unit = message.at("unit", "a string")?;
    let ns = time_ns(unit.text()?).ok_or_else(|| unit.broken("a unit of time such as `ns`"))?;
    let calls = message.at("iteration_count", "an array of numbers")?.positives(into)?;
    let totals = message.at("measured_values", "an array of numbers")?;
    let values = totals.positives(into)?;
    if calls.len() != values.len() {
        return Err(totals.broken("as long as `iteration_count`"));
    }
    let sample = |(total, calls): (&f64, &f64)| Sample { ns: total * ns / calls, fork: None };
    let all = values.iter().zip(&calls).map(sample);
    let samples: Vec<Sample> = all.filter(|sample| sample.ns.is_finite()).collect();
    match samples.is_empty() {
        true => Err(totals.broken("an array with a number above 0")),
        false => Ok(Benchmark::new(Tool::Criterion, message.file(), name, samples)),
    }
}
