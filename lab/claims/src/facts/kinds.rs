//! The kinds of derivations: rows in, values by statistic out, for each subject and scope.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::{
    correlation::{pearson, spearman},
    unpaired::welch_t,
};

use super::{derive::Row, statistics::statistic, store::Number};
use crate::{Derive, Scope};
use lab_audit::checks::lattice;

type Groups = BTreeMap<(String, Scope), BTreeMap<String, Number>>;

fn groups(rows: &[Row]) -> BTreeMap<(String, Scope), Vec<&Row>> {
    let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.value.is_some()) {
        groups.entry((row.subject.clone(), row.scope.clone())).or_default().push(row);
    }
    groups
}

fn values(rows: &[&Row]) -> Vec<f64> {
    rows.iter().filter_map(|row| row.value).collect()
}

fn numbers<const N: usize>(named: [(&str, Option<f64>); N]) -> BTreeMap<String, Number> {
    let number =
        |(name, value): (&str, Option<f64>)| Some((name.to_owned(), Number::Number(value?)));
    named.into_iter().filter_map(number).collect()
}

pub(super) fn summary(derive: &Derive, rows: &[Row]) -> Groups {
    let describe = |rows: Vec<&Row>| {
        let sample = values(&rows);
        let one = |name: &String| {
            let value = match name.as_str() {
                "where_min" => extreme(&rows, -1.0).map(Number::Name),
                "where_max" => extreme(&rows, 1.0).map(Number::Name),
                name => match name.split_once("_cell_") {
                    Some((outer, inner)) => of_cells(outer, inner, &rows),
                    None => statistic(name, &sample).map(Number::Number),
                },
            };
            Some((name.clone(), value?))
        };
        derive.statistics.iter().filter_map(one).collect::<BTreeMap<_, _>>()
    };
    let described = groups(rows).into_iter().map(|(key, rows)| (key, describe(rows)));
    described.filter(|(_, values)| !values.is_empty()).collect()
}

/// A statistic over cells of a statistic within cells: `mean_cell_sd`, `where_max_cell_sd`.
fn of_cells(outer: &str, inner: &str, rows: &[&Row]) -> Option<Number> {
    let mut cells: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for row in rows {
        cells.entry(row.cell.as_ref()?).or_default().push(row.value?);
    }
    let inside = cells.into_iter().map(|(cell, values)| Some((cell, statistic(inner, &values)?)));
    let inside: Vec<(&String, f64)> = inside.collect::<Option<_>>()?;
    let sign = match outer {
        "where_max" => 1.0,
        "where_min" => -1.0,
        _ => {
            let values: Vec<f64> = inside.iter().map(|(_, value)| *value).collect();
            return statistic(outer, &values).map(Number::Number);
        }
    };
    let furthest = inside.iter().max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))?;
    Some(Number::Name(furthest.0.clone()))
}

/// The level at which the largest `sign` × value stands.
fn extreme(rows: &[&Row], sign: f64) -> Option<String> {
    let value = |row: &&&Row| sign * row.value.unwrap_or(f64::NAN);
    rows.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?.place.clone()
}

pub(super) fn identity(rows: &[Row]) -> Groups {
    let compare = |rows: Vec<&Row>| {
        let gaps = rows.iter().filter_map(|row| Some((row.value? - row.other?).abs()));
        let gaps: Vec<f64> = gaps.collect();
        let sample = values(&rows);
        numbers([
            ("n", Some(gaps.len() as f64)),
            ("largest_gap", gaps.iter().copied().reduce(f64::max)),
            ("median_gap", statistic("median", &gaps)),
            ("mean", statistic("mean", &sample)),
            ("sd", statistic("sd", &sample)),
        ])
    };
    groups(rows).into_iter().map(|(key, rows)| (key, compare(rows))).collect()
}

pub(super) fn correlation(rows: &[Row]) -> Groups {
    let correlate = |rows: Vec<&Row>| {
        let pairs = rows.iter().filter_map(|row| Some((row.value?, row.other?)));
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
        numbers([
            ("n", Some(x.len() as f64)),
            ("pearson", pearson(&x, &y)),
            ("spearman", spearman(&x, &y)),
        ])
    };
    groups(rows).into_iter().map(|(key, rows)| (key, correlate(rows))).collect()
}

/// Every ordered pair of subjects; the second is the level of the factor `versus`.
pub(super) fn welch(rows: &[Row]) -> Groups {
    let groups = groups(rows);
    let mut found = Groups::new();
    for ((a, scope), left) in &groups {
        let others = groups.iter().filter(|((b, other), _)| b != a && other == scope);
        for ((b, _), right) in others {
            let Some(test) = welch_t(&values(left), &values(right)) else { continue };
            let mut scope = scope.clone();
            scope.insert("versus".to_owned(), b.clone());
            let values = [("t", Some(test.t)), ("df", Some(test.df)), ("p", Some(test.p))];
            found.insert((a.clone(), scope), numbers(values));
        }
    }
    found
}

/// In how many stretches the subjects ran, in the order of the value's text.
pub(super) fn blocks(rows: &[Row]) -> Groups {
    let mut order: Vec<&Row> = rows.iter().collect();
    // Numbers in their own order, texts (times as ISO 8601) in the alphabet's.
    order.sort_by(|a, b| match (a.value, b.value) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.label.cmp(&b.label),
    });
    let changes = order.windows(2).filter(|pair| pair[0].subject != pair[1].subject).count();
    let subjects: BTreeSet<&str> = order.iter().map(|row| row.subject.as_str()).collect();
    let Some(first) = order.first() else { return Groups::new() };
    let values = numbers([
        ("n", Some(order.len() as f64)),
        ("subjects", Some(subjects.len() as f64)),
        ("stretches", Some(changes as f64 + 1.0)),
    ]);
    Groups::from([((String::new(), first.scope.clone()), values)])
}

/// Whether each group's values stand on multiples of a step, at 1 %.
pub(super) fn lattice(rows: &[Row]) -> Groups {
    let find = |rows: Vec<&Row>| {
        let sample = values(&rows);
        let found = lattice::find(&sample, 0.0, 0.01, 1);
        let of = |pick: fn(&lattice::Lattice) -> f64| found.as_ref().map(pick);
        numbers([
            ("n", Some(sample.len() as f64)),
            ("lattice_step", of(|found| found.step)),
            ("lattice_offset", of(|found| found.offset)),
            ("lattice_resultant", of(|found| found.resultant)),
            ("lattice_p", of(|found| found.p)),
        ])
    };
    groups(rows).into_iter().map(|(key, rows)| (key, find(rows))).collect()
}
