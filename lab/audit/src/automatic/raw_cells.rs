//! What raw runs show within the cells of a design: every combination of labels by itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::found::Found;
use super::link::Labelled;
use super::raw_alone::{ALPHA, decimals, is_order, is_text, number, place};
use crate::checks::{identities, lattice, variance};
use crate::{Check, Place, Severity, Value};

/// Groups beyond which identities are not searched one by one.
const MOST_GROUPS: usize = 12;

/// Rows of a group that identities are searched on.
const ROWS: std::ops::RangeInclusive<usize> = 8..=400;

/// Checks the cells of every metric.
pub(crate) fn check(file: &Labelled<'_>, metrics: &[&str]) -> Vec<Found> {
    let mut found = Vec::new();
    let all = design(file, "");
    for metric in metrics {
        // A metric with a text in it is no label of itself.
        let own = all.labels.contains(metric).then(|| design(file, metric));
        let cells = cells(file, metric, own.as_ref().unwrap_or(&all));
        found.extend(lattices(file, metric, &cells, metrics.len()));
        found.extend(pinned(file, metric, &cells));
    }
    found.extend(partial_identities(file, metrics));
    found
}

/// Rows by the texts of all labels that repeat, with these labels.
struct Design<'a> {
    labels: Vec<&'a str>,
    rows: BTreeMap<String, Vec<usize>>,
}

fn design<'a>(file: &Labelled<'a>, without: &str) -> Design<'a> {
    let raw = file.raw;
    let subject = |label: &str, groups: &BTreeMap<String, Vec<usize>>| {
        label != without && is_text(raw, label) && !is_order(label) && 2 * groups.len() <= raw.rows
    };
    let labels: Vec<&str> = file
        .columns()
        .filter(|(label, groups)| subject(label, groups))
        .map(|(label, _)| label)
        .collect();
    let columns: Vec<&[Value]> = labels.iter().map(|label| raw.values(label)).collect();
    let mut groups: BTreeMap<Vec<Cow<'_, str>>, Vec<usize>> = BTreeMap::new();
    for row in 0..raw.rows {
        let names = columns.iter().filter_map(|values| values[row].shown()).collect();
        groups.entry(names).or_default().push(row);
    }
    let mut rows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (names, own) in groups {
        rows.entry(names.join(" / ")).or_default().extend(own);
    }
    Design { labels, rows }
}

/// A metric's values in every cell of a design that has any, with how many labels there are.
fn cells(file: &Labelled<'_>, metric: &str, design: &Design<'_>) -> Cells {
    let values = file.raw.values(metric);
    let of = |(name, rows): (&String, &Vec<usize>)| {
        let own: Vec<f64> = rows.iter().filter_map(|row| number(&values[*row])).collect();
        (!own.is_empty()).then(|| (name.clone(), own))
    };
    (design.labels.len(), design.rows.iter().filter_map(of).collect())
}

type Cells = (usize, BTreeMap<String, Vec<f64>>);

/// A lattice that the runs of each cell lie on; where the cells lie is no evidence.
fn lattices(file: &Labelled<'_>, metric: &str, cells: &Cells, tried: usize) -> Option<Found> {
    let groups: Vec<&[f64]> = cells.1.values().map(Vec::as_slice).collect();
    let all: Vec<f64> = groups.concat();
    let half = 0.5 * 10f64.powi(-decimals(&all));
    let alpha = (ALPHA / tried.max(1) as f64).max(5e-4);
    let lattice = lattice::find_within(&groups, half, alpha, 7).filter(|l| l.levels >= 3)?;
    let sentence = format!(
        "the runs of `{metric}` lie on multiples of {:.4} (from {:.4} on) within their groups: \
         something ticks or polls at that step, and differences below it are not resolved",
        lattice.step, lattice.offset
    );
    let how = format!(
        "Rayleigh's test of the phases over all steps, p = {:.1e} by simulation of values that \
         are smooth within their groups, resultant {:.3}",
        lattice.p, lattice.resultant
    );
    let at = place(file.raw, metric);
    Some(Found::remark(Check::Lattice, Severity::Doubtful, at, sentence, &how))
}

/// Cells that hardly vary while the others do; a single label's are found without this.
fn pinned(file: &Labelled<'_>, metric: &str, (labels, cells): &Cells) -> Vec<Found> {
    if *labels < 2 {
        return Vec::new();
    }
    let names: Vec<&String> = cells.keys().collect();
    let groups: Vec<&[f64]> = cells.values().map(Vec::as_slice).collect();
    let describe = |pinned: variance::Pinned| {
        let name = names[pinned.group].clone();
        let sentence = format!(
            "`{metric}` of {name} varies by {:.4} % where the others vary by {:.2} %: it is \
             pinned by its definition there, not by calm",
            100.0 * pinned.cv,
            100.0 * pinned.others
        );
        let how = "coefficient of variation against the median of the other groups";
        let at = Place { row: Some(name), ..place(file.raw, metric) };
        Found::remark(Check::PinnedVariance, Severity::Doubtful, at, sentence, how)
            .values(pinned.cv, pinned.others)
    };
    let pinned = variance::pinned(&groups);
    // Where a third of the cells is, it is a property of some group of them, said elsewhere.
    if 10 * pinned.len() > groups.len().max(10) {
        return Vec::new();
    }
    pinned.into_iter().map(describe).collect()
}

/// Metrics that are an expression of other columns in most groups of a label, but not in all.
fn partial_identities(file: &Labelled<'_>, metrics: &[&str]) -> Vec<Found> {
    let raw = file.raw;
    let mut found = Vec::new();
    let labels = file.columns().filter(|(label, groups)| {
        is_text(raw, label)
            && (2..=MOST_GROUPS).contains(&groups.len())
            && groups.values().all(|rows| ROWS.contains(&rows.len()))
    });
    for (label, groups) in labels {
        for metric in metrics {
            let mut formulas: BTreeMap<String, (usize, f64)> = BTreeMap::new();
            for rows in groups.values() {
                for identity in in_group(file, metrics, metric, rows) {
                    let known = formulas.entry(identity.formula).or_insert((0, 0.0));
                    *known = (known.0 + 1, known.1.max(identity.unexplained));
                }
            }
            let most = formulas.into_iter().filter(|(_, (count, _))| {
                *count >= 2 && 2 * count > groups.len() && *count < groups.len()
            });
            for (formula, (count, unexplained)) in most {
                let sentence = format!(
                    "`{metric}` is {formula} in {count} of {} `{label}`, but for {:.3} % of its \
                     spread: it measures little that these columns do not",
                    groups.len(),
                    100.0 * unexplained
                );
                let how = "expressions of other columns, searched in every group by itself";
                let at = Place { row: Some(formula), ..place(raw, metric) };
                found.push(Found::remark(Check::Identity, Severity::Note, at, sentence, how));
            }
        }
    }
    found
}

fn in_group(
    file: &Labelled<'_>,
    metrics: &[&str],
    metric: &str,
    rows: &[usize],
) -> Vec<identities::Identity> {
    let column = |name: &str| -> Vec<f64> {
        let values = file.raw.values(name);
        rows.iter().map(|row| number(&values[*row]).unwrap_or(f64::NAN)).collect()
    };
    let others: Vec<(&str, Vec<f64>)> =
        metrics.iter().filter(|name| **name != metric).map(|name| (*name, column(name))).collect();
    let others: Vec<(&str, &[f64])> =
        others.iter().map(|(name, values)| (*name, values.as_slice())).collect();
    identities::find(&column(metric), &others)
}
