//! What raw runs show by themselves.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::found::Found;
use super::link::Labelled;
use crate::checks::{drift, lattice};
use crate::{Check, Place, Raw, Severity, Value};

/// Chance below which a pattern counts, before it is shared among the columns tried.
const ALPHA: f64 = 0.001;

/// Metrics that are looked at in one file.
const MOST_METRICS: usize = 16;

/// Checks every raw file alone.
pub(crate) fn check(labelled: &[Labelled<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    for file in labelled {
        let metrics = metrics(file);
        found.extend(lattices(file, &metrics));
        found.extend(in_time(file, &metrics));
    }
    found
}

/// Columns that were measured: numbers, many of them different, and no order or count.
fn metrics<'a>(file: &Labelled<'a>) -> Vec<&'a str> {
    let raw = file.raw;
    let measured = |column: &&str| {
        let values: Vec<f64> = raw.numbers(column).into_iter().map(|(_, value)| value).collect();
        let mut distinct: Vec<u64> = values.iter().take(2_000).map(|v| v.to_bits()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        values.len() >= 5
            && distinct.len() >= 5
            && values.iter().any(|value| value.fract() != 0.0)
            && !is_order(column)
    };
    raw.order.iter().map(String::as_str).filter(measured).take(MOST_METRICS).collect()
}

pub(super) fn is_order(column: &str) -> bool {
    let column = column.to_lowercase();
    let names = ["run", "order", "seq", "index", "iteration", "iter", "time_stamp", "timestamp"];
    names.contains(&column.as_str()) || ["ts", "start", "started", "date"].contains(&&*column)
}

fn place(raw: &Raw, column: &str) -> Place {
    let column = Some(column.to_owned());
    Place { document: raw.name.clone(), column, ..Place::default() }
}

/// Outcomes on multiples of a step: polling intervals, timer ticks.
fn lattices(file: &Labelled<'_>, metrics: &[&str]) -> Vec<Found> {
    let raw = file.raw;
    let alpha = ALPHA / metrics.len().max(1) as f64;
    let mut found = Vec::new();
    let subjects = subjects(file);
    for column in metrics {
        let values = per_subject(raw, column, &subjects);
        let half = 0.5 * 10f64.powi(-decimals(&values));
        let Some(lattice) = lattice::find(&values, half, alpha.max(5e-4), 7) else { continue };
        if lattice.levels < 3 {
            continue;
        }
        let sentence = format!(
            "the {} values of `{column}` lie on multiples of {:.4} (from {:.4} on): something \
             ticks or polls at that step, and differences below it are not resolved",
            values.len(),
            lattice.step,
            lattice.offset
        );
        let how = format!(
            "Rayleigh's test of the phases over all steps, p = {:.1e} by simulation of smooth \
             values, resultant {:.3}",
            lattice.p, lattice.resultant
        );
        let remark =
            Found::remark(Check::Lattice, Severity::Doubtful, place(raw, column), sentence, &how);
        found.push(remark);
    }
    found
}

/// The rows of every combination of labels.
fn subjects(file: &Labelled<'_>) -> Vec<Vec<usize>> {
    let raw = file.raw;
    let subject = |label: &str| is_text(raw, label) && !is_order(label);
    let texts = || file.columns().filter(|(label, _)| subject(label));
    // A time stamp names a run and no subject, where something else is repeated.
    let repeated = |groups: &BTreeMap<String, Vec<usize>>| groups.len() < raw.rows;
    let any = texts().any(|(_, groups)| repeated(groups));
    let labels: Vec<&[Value]> = texts()
        .filter(|(_, groups)| !any || repeated(groups))
        .map(|(label, _)| raw.values(label))
        .collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let mut subjects: BTreeMap<Vec<Option<Cow<'_, str>>>, Vec<usize>> = BTreeMap::new();
    for row in 0..raw.rows {
        let key = labels.iter().map(|values| values[row].shown()).collect();
        subjects.entry(key).or_default().push(row);
    }
    subjects.into_values().collect()
}

/// The median of every subject: repeats of one lie close to each other, which is no lattice.
fn per_subject(raw: &Raw, column: &str, subjects: &[Vec<usize>]) -> Vec<f64> {
    let values = raw.values(column);
    let median = |rows: &Vec<usize>| {
        let own: Vec<f64> = rows.iter().filter_map(|row| number(&values[*row])).collect();
        lab_stats::describe::median(&own)
    };
    subjects.iter().filter_map(median).collect()
}

fn decimals(values: &[f64]) -> i32 {
    let of = |value: &f64| value.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    i32::try_from(values.iter().take(200).map(of).max().unwrap_or(0)).unwrap_or(0).min(12)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

fn is_text(raw: &Raw, column: &str) -> bool {
    raw.values(column).iter().any(|value| matches!(value, Value::Text(_)))
}

/// Groups that ran one after the other, and metrics that drift.
fn in_time(file: &Labelled<'_>, metrics: &[&str]) -> Vec<Found> {
    let raw = file.raw;
    let Some(clock) = raw.order.iter().find(|column| stamps(raw, column)) else {
        return Vec::new();
    };
    let mut rows: Vec<usize> = (0..raw.rows).collect();
    let stamps = raw.values(clock);
    rows.sort_by(|a, b| match (&stamps[*a], &stamps[*b]) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    let mut found = Vec::new();
    let subject = file.columns().filter(|(column, groups)| {
        is_text(raw, column) && column != clock && (2..=50).contains(&groups.len())
    });
    for (column, _) in subject {
        let groups: Vec<Option<String>> =
            rows.iter().map(|row| raw.values(column)[*row].label()).collect();
        if drift::order(&groups).is_some_and(|order| order.is_blocked()) {
            let sentence = format!(
                "all runs of one `{column}` come before the next one's (by `{clock}`): whatever \
                 drifts is counted as a difference between them"
            );
            let how = "stretches of one group in the order of time against a random order";
            let at = place(raw, column);
            found.push(Found::remark(Check::BlockedOrder, Severity::Note, at, sentence, how));
            found.extend(metrics.iter().filter_map(|metric| {
                let values = raw.values(metric);
                let values: Option<Vec<f64>> =
                    rows.iter().map(|row| number(&values[*row])).collect();
                let trend = drift::trend_within(&groups, &values?)?;
                (trend.p < ALPHA / metrics.len() as f64).then(|| {
                    let sentence = format!(
                        "`{metric}` drifts over `{clock}` within each `{column}` (Kendall's tau \
                         {:.2}, p = {:.1e})",
                        trend.tau, trend.p
                    );
                    let how = "Mann and Kendall's test after each group's median is taken away";
                    Found::remark(Check::Drift, Severity::Note, place(raw, metric), sentence, how)
                })
            }));
        }
    }
    found
}

/// Whether a column holds time stamps: RFC 3339 texts, or a name that says so.
fn stamps(raw: &Raw, column: &str) -> bool {
    let values = raw.values(column);
    let dated = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() >= 16 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[13] == b':'
    };
    let texts = values.iter().all(|value| matches!(value, Value::Text(text) if dated(text)));
    let named = ["timestamp", "start_ns", "started_at", "start_time", "order", "seq"];
    let numbers = values.iter().all(|value| matches!(value, Value::Number(_)));
    texts || numbers && named.contains(&column.to_lowercase().as_str())
}
