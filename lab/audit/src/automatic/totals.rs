//! Rows that sum up or average the rows above them.

use super::book::Book;
use super::column::is_change;
use super::found::Found;
use super::grid::Grid;
use super::role::{self, Role};
use crate::checks::{Mismatch, Span, bounds, moments, spans};
use crate::document::header;
use crate::{Check, Printed, Severity, Table};

/// What a row says it is of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summary {
    Total,
    Average,
    /// The geometric mean.
    Geometric,
    /// Of all, in whatever way: a sum, or a mean with weights.
    Overall,
}

/// What a row's name says: `Total`, `Mean (all)`, `Geo. mean`.
fn summary(name: &str) -> Option<Summary> {
    let bare = name.split(['(', ',']).next().unwrap_or_default().to_lowercase();
    match bare.trim_matches([':', ' ', '.']) {
        "total" | "sum" | "totals" | "grand total" | "in total" => Some(Summary::Total),
        "average" | "mean" | "avg" | "arithmetic mean" | "overall average" | "overall mean" => {
            Some(Summary::Average)
        }
        "geomean" | "geo mean" | "geo. mean" | "geometric mean" | "geo-mean" | "gmean" => {
            Some(Summary::Geometric)
        }
        "overall" | "all" | "all rows" | "aggregate" => Some(Summary::Overall),
        _ => None,
    }
}

/// Checks a last row of totals or averages.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let Some(last) = table.rows.len().checked_sub(1).filter(|last| *last >= 2) else { return };
    let Some(kind) = summary(table.row_name(last)).filter(|_| !grid.transposed) else { return };
    let names = table.row_names();
    // Below other statistics, `Mean` is one of them and no average of the rows.
    if names.iter().filter(|name| is_statistic(name)).count() > 1 {
        return;
    }
    // Above it must stand plain rows alone.
    if names[..last].iter().any(|name| summary(name).is_some()) {
        return;
    }
    for (column, meaning) in grid.columns().iter().enumerate().skip(1) {
        let plain = matches!(meaning.role, Role::Value | Role::Sum | Role::Count | Role::Run(_));
        let weighted = plain || meaning.role == Role::Mean;
        if kind == Summary::Total && !plain || kind == Summary::Overall && !weighted {
            continue;
        }
        let Some((stated, rows)) = column_of(table, column, last) else { continue };
        // Factors have no sum, and their mean may be the factor of the means.
        if stated.unit.as_deref() == Some("x") && kind != Summary::Geometric {
            continue;
        }
        if kind == Summary::Average && is_change(&table.columns[column]) {
            book.found.extend(average_of_changes(grid, (last, column), stated, &rows));
        }
        let wrong = wrong_summary(kind, stated, &rows)
            .filter(|_| kind != Summary::Average || !is_weighted(table, column, (stated, &rows)))
            .map(|mismatch| found(grid, kind, (last, column), (stated, &rows), &mismatch));
        book.cell(table.rows[last].line, column, wrong);
    }
}

fn found(
    grid: &Grid<'_>,
    kind: Summary,
    (row, column): (usize, usize),
    (stated, rows): (&Printed, &[Printed]),
    mismatch: &Mismatch,
) -> Found {
    let low = rows.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let high = rows.iter().max_by(|a, b| a.value.total_cmp(&b.value));
    // However an average is weighted, it lies between the extremes; parts never exceed a total.
    let (check, sure) = match kind {
        Summary::Average | Summary::Geometric => {
            (Check::AverageRow, bounds::value_outside(stated, low, high).is_some())
        }
        Summary::Overall => (Check::OverallRow, false),
        Summary::Total => {
            let positive = low.is_some_and(|low| low.value >= 0.0);
            let exceeded = bounds::value_outside(stated, high, None).is_some();
            (Check::TotalRow, positive && exceeded)
        }
    };
    let severity = if sure { Severity::Impossible } else { Severity::Inconsistent };
    let place = grid.spot(row, column);
    Found::mismatch(check, severity, place, stated, mismatch)
}

/// Whether a column of weights or counts gives an average.
fn is_weighted(table: &Table, column: usize, (stated, rows): (&Printed, &[Printed])) -> bool {
    let of_weights = |other: usize| {
        let (_, weights) = table.rows.split_last()?;
        let weights: Option<Vec<&Printed>> =
            weights.iter().map(|row| row.cells[other].number.as_ref()).collect();
        let weights = weights.filter(|all| all.iter().all(|weight| weight.value >= 0.0))?;
        let total: f64 = weights.iter().map(|weight| weight.value).sum();
        let pairs = weights.iter().zip(rows);
        let sum =
            pairs.map(|(weight, row)| Span::of(row).times(weight.value)).reduce(Span::plus)?;
        (total > 0.0).then(|| sum.times(1.0 / total).meets(Span::of(stated)))
    };
    (1..table.columns.len()).any(|other| other != column && of_weights(other) == Some(true))
}

/// An arithmetic mean of changes, some of which double what others halve: it depends on the base.
fn average_of_changes(
    grid: &Grid<'_>,
    (row, column): (usize, usize),
    stated: &Printed,
    rows: &[Printed],
) -> Option<Found> {
    if stated.unit.as_deref() != Some("%") || moments::mean(stated, &spans(rows)).is_some() {
        return None;
    }
    let factors: Vec<f64> = rows.iter().map(|row| 1.0 + row.value / 100.0).collect();
    let apart = factors.iter().any(|f| *f >= 2.0) && factors.iter().any(|f| *f <= 0.5);
    if !apart || factors.iter().any(|factor| *factor <= 0.0) {
        return None;
    }
    let logs: f64 = factors.iter().map(|factor| factor.ln()).sum();
    let geometric = 100.0 * ((logs / factors.len() as f64).exp() - 1.0);
    let turned = factors.iter().map(|factor| 100.0 * (1.0 / factor - 1.0)).sum::<f64>();
    let sentence = format!(
        "{:+} % is the mean of changes, which depends on what they are of: the other way round it \
         is {:+.0} %; their geometric mean is {geometric:+.1} %",
        stated.value,
        turned / factors.len() as f64
    );
    let place = grid.spot(row, column);
    let how = "the factors of the changes, some of 2 and more, some of a half and less";
    let found = Found::remark(Check::AverageRow, Severity::Doubtful, place, sentence, how);
    Some(found.values(stated.value, geometric))
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
    Some((stated, rows))
}

fn wrong_summary(kind: Summary, stated: &Printed, rows: &[Printed]) -> Option<Mismatch> {
    let inputs = spans(rows);
    let mean = moments::mean(stated, &inputs);
    // Shares of different wholes have no sum, and some print the mean under "total".
    if kind == Summary::Total {
        let share = matches!(stated.unit.as_deref(), Some("%" | "pp"));
        return moments::sum(stated, &inputs).filter(|_| mean.is_some() && !share);
    }
    if kind == Summary::Overall {
        // Every mean lies between the extremes; what overlaps may come close to the sum.
        let share = matches!(stated.unit.as_deref(), Some("%" | "pp"));
        let hull = inputs.iter().copied().reduce(Span::hull)?;
        let sum = inputs.iter().copied().reduce(Span::plus)?;
        let allowed = if share { hull } else { hull.hull(sum) };
        return (!Span::of(stated).meets(allowed)).then(|| {
            Mismatch::of(
                stated,
                allowed,
                format!("between the least and the sum of {} rows", rows.len()),
            )
        });
    }
    let positive = inputs.iter().all(|span| span.low > 0.0);
    let geometric = moments::geometric(stated, &inputs);
    if kind == Summary::Geometric {
        return geometric;
    }
    let harmonic = moments::harmonic(stated, &inputs);
    mean.filter(|_| !positive || geometric.is_some() && harmonic.is_some())
}
