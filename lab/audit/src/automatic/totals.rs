//! Rows and columns that sum up or average the others, and products that are one number.

use super::found::Found;
use super::grid::Grid;
use super::role::{self, Role};
use crate::checks::{Mismatch, Span, bounds, moments, spans};
use crate::document::header;
use crate::{Place, Printed, Severity, Table};

/// Checks total and average rows, and time × throughput.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let mut found = summary_rows(grid);
    found.extend(products(grid));
    found
}

/// What a row says it is of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summary {
    Total,
    Average,
}

fn summary(name: &str) -> Option<Summary> {
    match name.to_lowercase().trim_end_matches(':') {
        "total" | "sum" | "totals" => Some(Summary::Total),
        "average" | "mean" | "avg" | "arithmetic mean" => Some(Summary::Average),
        _ => None,
    }
}

/// A last row of totals or averages against the rows above it.
fn summary_rows(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    let names = table.row_names();
    // Below other statistics, `Mean` is one of them and no average of the rows.
    if grid.transposed || names.iter().filter(|name| is_statistic(name)).count() > 1 {
        return Vec::new();
    }
    let Some(last) = table.rows.len().checked_sub(1).filter(|last| *last >= 2) else {
        return Vec::new();
    };
    let Some(kind) = summary(&names[last]) else { return Vec::new() };
    // Above it must stand plain rows alone.
    if names[..last].iter().any(|name| summary(name).is_some()) {
        return Vec::new();
    }
    let mut fits = 0;
    let mut misses = Vec::new();
    for (column, meaning) in grid.columns().iter().enumerate().skip(1) {
        let plain = matches!(meaning.role, Role::Value | Role::Sum | Role::Count | Role::Run(_));
        if kind == Summary::Total && !plain {
            continue;
        }
        let Some((stated, rows)) = column_of(table, column, last) else { continue };
        match wrong_summary(kind, stated, &rows) {
            Some(mismatch) => misses.push((column, stated, rows, mismatch)),
            None => fits += 1,
        }
    }
    let mut found = Vec::new();
    for (column, stated, rows, mismatch) in misses {
        let check = if kind == Summary::Total { "total_row" } else { "average_row" };
        // Whatever is weighted how, an average lies between the smallest and the largest.
        let outside = kind == Summary::Average && {
            let low = rows.iter().min_by(|a, b| a.value.total_cmp(&b.value));
            let high = rows.iter().max_by(|a, b| a.value.total_cmp(&b.value));
            bounds::value_outside(stated, low, high).is_some()
        };
        let sure = outside || kind == Summary::Total && fits > 0;
        let severity = if sure { Severity::Impossible } else { Severity::Doubtful };
        let place = place(grid, last, column, &names[last]);
        found.push(Found::mismatch(check, severity, place, stated, &mismatch));
    }
    found
}

fn is_statistic(name: &str) -> bool {
    role::meaning(&header::name(name, header::unit(name).as_deref())).role.is_statistic()
}

/// A column's last number and those above it, all in one unit.
fn column_of(table: &Table, column: usize, last: usize) -> Option<(&Printed, Vec<Printed>)> {
    let stated = table.rows[last].cells[column].number.as_ref()?;
    let rows: Option<Vec<Printed>> =
        table.rows[..last].iter().map(|row| row.cells[column].number.clone()).collect();
    let rows = rows.filter(|rows| rows.iter().all(|row| row.unit == stated.unit))?;
    let additive = !matches!(stated.unit.as_deref(), Some("x"));
    additive.then_some((stated, rows))
}

fn wrong_summary(kind: Summary, stated: &Printed, rows: &[Printed]) -> Option<Mismatch> {
    let inputs = spans(rows);
    let sum = moments::sum(stated, &inputs);
    let mean = moments::mean(stated, &inputs);
    // Shares of different wholes have no sum, and some print the mean under "total".
    if kind == Summary::Total && matches!(stated.unit.as_deref(), Some("%" | "pp")) {
        return None;
    }
    let geometric = || {
        let logs: Option<Vec<Span>> = inputs.iter().map(|span| logarithm(*span)).collect();
        let mean = moments::mean_of(&logs?)?;
        Some(Span { low: mean.low.exp(), high: mean.high.exp() }.meets(Span::of(stated)))
    };
    let harmonic = || {
        let inverse: Option<Vec<Span>> =
            inputs.iter().map(|span| Span::exact(1.0).over(*span)).collect();
        let mean = Span::exact(1.0).over(moments::mean_of(&inverse?)?)?;
        Some(mean.meets(Span::of(stated)))
    };
    let other_mean = || geometric() == Some(true) || harmonic() == Some(true);
    match kind {
        Summary::Total => sum.filter(|_| mean.is_some()),
        Summary::Average => mean.filter(|_| !other_mean()),
    }
}

fn logarithm(span: Span) -> Option<Span> {
    (span.low > 0.0).then(|| Span { low: span.low.ln(), high: span.high.ln() })
}

/// Time × throughput is the amount of work, which is the same in rows of one workload.
fn products(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    let columns = table.columns.len().min(24);
    let unit_of = |column: usize| -> Option<String> {
        let units = table.rows.iter().map(|row| row.cells[column].number.as_ref()?.unit.clone());
        let units: Option<Vec<String>> = units.collect();
        units.filter(|units| units.windows(2).all(|pair| pair[0] == pair[1]))?.first().cloned()
    };
    let times = ["ns", "us", "ms", "s"];
    let units: Vec<Option<String>> = (0..columns).map(unit_of).collect();
    let is_time = |unit: &Option<String>| unit.as_deref().is_some_and(|unit| times.contains(&unit));
    let is_rate = |unit: &Option<String>| {
        unit.as_deref().is_some_and(|unit| {
            unit.ends_with("/s") || unit.ends_with("/sec") || unit == "rps" || unit == "qps"
        })
    };
    let mut found = Vec::new();
    let count = |kind: &dyn Fn(&Option<String>) -> bool| units.iter().filter(|u| kind(u)).count();
    // Of several times, or rates, it is not known which belong together.
    if count(&is_time) != 1 || count(&is_rate) != 1 {
        return found;
    }
    let time = units.iter().position(&is_time).unwrap_or(0);
    let rate = units.iter().position(&is_rate).unwrap_or(0);
    let rows: Vec<Span> = table
        .rows
        .iter()
        .filter_map(|row| {
            let number = |column: usize| row.cells[column].number.as_ref().map(Span::of);
            Some(number(time)?.by(number(rate)?))
        })
        .collect();
    let Some((common, fits)) = common(&rows) else { return found };
    let misses = rows.len() - fits;
    if rows.len() != table.rows.len() || fits < 3 || misses == 0 || misses * 3 > fits {
        return found;
    }
    let names = table.row_names();
    for (row, span) in rows.iter().enumerate().filter(|(_, span)| !span.meets(common)) {
        let place = place(grid, row, rate, &names[row]);
        let sentence = format!(
            "`{}` × `{}` of {} is {:.4e}, but {:.4e} in {fits} other rows",
            table.columns[time],
            table.columns[rate],
            names[row],
            span.middle(),
            common.middle()
        );
        let how = "time × throughput is the amount of work, equal in rows of one workload";
        let found_here =
            Found::remark("time_times_throughput", Severity::Doubtful, place, sentence, how);
        found.push(found_here.values(span.middle(), common.middle()));
    }
    found
}

/// The narrowest span that most spans have in common, and how many have; `None` where it is too
/// wide to mean anything.
fn common(spans: &[Span]) -> Option<(Span, usize)> {
    let narrow = |span: &Span| span.half_width() <= 0.05 * span.middle().abs();
    let candidates = spans.iter().filter(|span| narrow(span)).take(200);
    let counted = candidates.map(|span| {
        let middle = Span::exact(span.middle());
        (*span, spans.iter().filter(|other| other.meets(middle)).count())
    });
    counted.max_by_key(|(_, count)| *count)
}

fn place(grid: &Grid<'_>, row: usize, column: usize, name: &str) -> Place {
    Place {
        document: grid.document.to_owned(),
        line: Some(grid.table.rows[row].line).filter(|line| *line > 0),
        section: grid.table.section(),
        row: Some(name.to_owned()),
        column: Some(grid.table.columns[column].clone()),
    }
}
