//! Tables of single runs, summarised as if they were raw data.

use std::collections::BTreeMap;

use super::{Evidence, impossible, lines, shown, span};
use crate::{Comparator, Key, Statement, TableInfo};
use lab_audit::{
    Check, Finding, Severity,
    checks::{Span, moments},
};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in &evidence.claims.table {
        let Some(runs) = &table.runs else { continue };
        for over in &runs.over {
            findings.extend(summaries(evidence, table, over));
        }
        findings.extend(runs.promised.and_then(|promised| fewer(table, promised)));
    }
    findings
}

fn values(table: &TableInfo) -> impl Iterator<Item = &Statement> {
    table.cells.iter().filter(|cell| cell.key.statistic == "value" && span(cell).is_some())
}

/// Everything the document states of what these runs are all of.
fn summaries(evidence: &Evidence, table: &TableInfo, over: &[String]) -> Vec<Finding> {
    let mut groups: BTreeMap<Key, Vec<&Statement>> = BTreeMap::new();
    for cell in values(table) {
        let mut whole = Key { statistic: String::new(), ..cell.key.clone() };
        whole.scope.retain(|factor, _| !over.contains(factor));
        groups.entry(whole).or_default().push(cell);
    }
    let group = |(whole, cells): (&Key, &Vec<&Statement>)| {
        let stated = evidence.statements.iter().filter(|statement| {
            statement.comparator == Comparator::Equal
                && statement.key.metric == whole.metric
                && statement.key.subject == whole.subject
                && statement.key.scope == whole.scope
        });
        let wrong = |statement: &'_ &Statement| {
            let computed = summary(&statement.key.statistic, cells)?;
            let differs = span(statement).is_some_and(|stated| !stated.meets(computed));
            differs.then_some(computed)
        };
        let wrong: Vec<(&Statement, Span)> =
            stated.filter_map(|statement| Some((statement, wrong(&statement)?))).collect();
        finding(table, whole, cells.len(), &wrong)
    };
    groups.iter().filter_map(group).collect()
}

/// A statistic of printed runs; `None` for one that is not computed from them here.
fn summary(statistic: &str, cells: &[&Statement]) -> Option<Span> {
    let rows: Vec<Span> = cells.iter().filter_map(|cell| span(cell)).collect();
    if let Some((outer, inner)) = statistic.split_once("_cell_") {
        return of_cells(outer, inner, cells);
    }
    of_rows(statistic, &rows)
}

fn of_rows(statistic: &str, rows: &[Span]) -> Option<Span> {
    let ends = |pick: fn(f64, f64) -> f64| {
        rows.iter()
            .copied()
            .reduce(|a, b| Span { low: pick(a.low, b.low), high: pick(a.high, b.high) })
    };
    match statistic {
        "min" => ends(f64::min),
        "max" => ends(f64::max),
        "mean" => moments::mean_of(rows),
        "sd" => moments::sd_of(rows),
        "cv" => moments::sd_of(rows)?.over(moments::mean_of(rows)?).map(|cv| cv.times(100.0)),
        "median" => {
            let at = |end: fn(&Span) -> f64| {
                let mut ends: Vec<f64> = rows.iter().map(end).collect();
                ends.sort_by(f64::total_cmp);
                let n = ends.len();
                Some(f64::midpoint(*ends.get(n.checked_sub(1)? / 2)?, *ends.get(n / 2)?))
            };
            Some(Span { low: at(|span| span.low)?, high: at(|span| span.high)? })
        }
        _ => None,
    }
}

/// A statistic over cells of a statistic within cells: `mean_cell_sd`.
fn of_cells(outer: &str, inner: &str, cells: &[&Statement]) -> Option<Span> {
    let mut groups: BTreeMap<Vec<(&String, &String)>, Vec<Span>> = BTreeMap::new();
    for cell in cells {
        let place = cell.key.scope.iter().filter(|(factor, _)| *factor != "run").collect();
        groups.entry(place).or_default().push(span(cell)?);
    }
    let inside: Option<Vec<Span>> = groups.values().map(|rows| of_rows(inner, rows)).collect();
    of_rows(outer, &inside?)
}

fn finding(
    table: &TableInfo,
    whole: &Key,
    n: usize,
    wrong: &[(&Statement, Span)],
) -> Option<Finding> {
    let away = |(statement, computed): &&(&Statement, Span)| {
        let stated = statement.value.number().map_or(f64::NAN, |printed| printed.value);
        (stated - computed.middle()).abs()
    };
    let (worst, computed) = *wrong.iter().max_by(|a, b| away(a).total_cmp(&away(b)))?;
    let mut by_statistic: BTreeMap<&str, Vec<&(&Statement, Span)>> = BTreeMap::new();
    for entry in wrong {
        by_statistic.entry(&entry.0.key.statistic).or_default().push(entry);
    }
    let listed = by_statistic.iter().map(|(statistic, entries)| {
        let mut stated: Vec<_> = entries.iter().map(|(statement, _)| shown(statement)).collect();
        stated.dedup();
        let statements = entries.iter().map(|(statement, _)| *statement);
        let places = lines(statements);
        format!("{statistic} {:.2}, not {} ({places})", entries[0].1.middle(), stated.join(" or "))
    });
    let subject = Key { statistic: "runs'".to_owned(), ..whole.clone() };
    let sentence = format!(
        "the {n} single values printed in table `{}` give for the {subject}: {}",
        table.id,
        listed.collect::<Vec<_>>().join("; ")
    );
    let against = values(table).find(|cell| cell.key.subject == whole.subject);
    Some(
        impossible(
            Check::PrintedRuns,
            worst,
            Some(computed.middle()),
            sentence,
            "statistics of the printed runs, each with its rounding",
        )
        .against(against.map(|cell| cell.place.clone())),
    )
}

fn fewer(table: &TableInfo, promised: usize) -> Option<Finding> {
    let printed = values(table).count();
    let first = values(table).next()?;
    (printed < promised).then(|| {
        Finding::new(
            Check::RunsMissing,
            Severity::Doubtful,
            first.place.clone(),
            format!(
                "table `{}` is said to hold all {promised} runs and prints {printed} values",
                table.id
            ),
            "a count of its cells with single values",
        )
        .values(Some(promised as f64), Some(printed as f64))
    })
}
