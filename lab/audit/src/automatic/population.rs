//! Statistics of all rows of several tables.
//!
//! Which rows those are, a range says that begins and ends with theirs, or a name that is the
//! heading above them.

mod section;

use super::book::Book;
use super::found::{Found, allowed};
use super::role::{self, Role};
use super::runs;
use super::sentence::shown;
use super::stems::stems;
use super::tie::{Tied, unit_of};
use super::words::says;
use crate::checks::{Mismatch, Span, moments, order_statistics, spans};
use crate::{Check, Document, Place, Printed, Severity, Table, TableRow};

use std::collections::BTreeSet;

/// A column of one metric, with a number in every row.
struct Column<'a> {
    table: &'a Table,
    role: Role,
    numbers: Vec<Printed>,
}

/// Checks every list and table of metrics.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let of_metrics = document.tables.iter().filter(|table| table.columns.len() == 2);
    for list in of_metrics.chain(&document.lists) {
        of_ranges(document, list, tables, book);
    }
    section::check(document, tables, book);
}

/// The statistic that a header names, of whatever kind the column is, and the metric's stems.
fn named(table: &Table, column: usize) -> (Role, BTreeSet<String>) {
    let header = &table.columns[column];
    match role::statistic(header) {
        Some(meaning) => (meaning.role, stems(&meaning.metric)),
        None => {
            let unit = table.units[column].as_deref();
            (Role::Value, stems(&crate::document::header::name(header, unit)))
        }
    }
}

/// The columns that are named by a metric's words alone, in a unit.
fn columns<'a>(
    tables: &[Tied<'_, 'a>],
    metric: &BTreeSet<String>,
    unit: Option<&str>,
) -> Vec<Column<'a>> {
    let mut all = Vec::new();
    for tied in tables.iter().filter(|tied| !tied.grid.transposed) {
        let table = tied.table();
        let fits = |column: &usize| {
            let (role, own) = named(table, *column);
            matches!(role, Role::Value | Role::Mean)
                && own == *metric
                && unit_of(table, *column).as_deref() == unit
        };
        let mut fitting = (1..table.columns.len()).filter(fits);
        let Some(column) = fitting.next().filter(|_| fitting.next().is_none()) else { continue };
        let plain = |row: &&TableRow| {
            let name = row.cells.first().map_or("", |cell| cell.text.as_str());
            !says(name, &["total", "mean", "average", "overall", "all"])
        };
        let rows = table.rows.iter().filter(plain);
        let numbers: Option<Vec<Printed>> =
            rows.map(|row| row.cells[column].number.clone()).collect();
        if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
            all.push(Column { table, role: named(table, column).0, numbers });
        }
    }
    all
}

/// The sets of columns that a text can mean: each one, those of each section, all.
fn sets<'c, 'a>(columns: &'c [Column<'a>]) -> Vec<Vec<&'c Column<'a>>> {
    let mut sets: Vec<Vec<&Column<'a>>> = Vec::new();
    for one in columns {
        sets.push(vec![one]);
        for depth in (0..one.table.headings.len()).rev() {
            let above = &one.table.headings[..depth];
            let within = |other: &&Column<'a>| other.table.headings.starts_with(above);
            sets.push(columns.iter().filter(within).collect());
        }
    }
    sets
}

/// A list with the range of a metric and its other statistics.
fn of_ranges(document: &Document, list: &Table, tables: &[Tied<'_, '_>], book: &mut Book) {
    for row in &list.rows {
        let [name, value, ..] = &row.cells[..] else { continue };
        let Some((low, high)) = value.range.as_ref().filter(|_| says(&name.text, &["range"]))
        else {
            continue;
        };
        let mut metric = stems(&name.text);
        metric.remove("range");
        let unit = low.unit.as_deref();
        if metric.is_empty() || unit.is_none() {
            continue;
        }
        let columns = columns(tables, &metric, unit);
        let columns: Vec<Column<'_>> =
            columns.into_iter().filter(|one| one.role == Role::Value).collect();
        let spanned = |set: &Vec<&Column<'_>>| {
            let numbers: Vec<Printed> =
                set.iter().flat_map(|one| one.numbers.iter().cloned()).collect();
            let spans = spans(&numbers);
            let ends = order_statistics::min(low, &spans).is_none()
                && order_statistics::max(high, &spans).is_none();
            (numbers.len() >= 3 && ends).then_some((set[0].table.line, numbers))
        };
        let mut fitting: Vec<(usize, Vec<Printed>)> =
            sets(&columns).iter().filter_map(spanned).collect();
        // The largest set with this range holds the others.
        fitting.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.len()));
        let Some((line, numbers)) = fitting.first() else { continue };
        let single = list.rows.iter().filter(|row| ranged(row)).count() == 1;
        for other in &list.rows {
            of_statistic(document, list, other, (&metric, unit, single), (*line, numbers), book);
        }
    }
}

fn ranged(row: &TableRow) -> bool {
    row.cells.get(1).is_some_and(|cell| cell.range.is_some())
}

/// A row of a list whose range is that of known numbers.
fn of_statistic(
    document: &Document,
    list: &Table,
    row: &TableRow,
    (metric, unit, single): (&BTreeSet<String>, Option<&str>, bool),
    (line, numbers): (usize, &[Printed]),
    book: &mut Book,
) {
    let [name, value, ..] = &row.cells[..] else { return };
    let (Some(own), Some(stated)) = (role::statistic(&name.text), value.number.as_ref()) else {
        return;
    };
    let words = stems(&own.metric);
    let points = |unit: Option<&str>| unit.map(|unit| unit.replace("pp", "%"));
    let same = words == *metric || words.is_empty() && single;
    if !same || points(stated.unit.as_deref()) != points(unit) {
        return;
    }
    let values = spans(numbers);
    let Some(wrong) = wrong(own.role, stated, &values) else { return };
    let found = wrong.map(|wrong| {
        let place = Place {
            document: document.name.clone(),
            line: Some(row.line),
            section: list.section(),
            row: Some(name.text.clone()),
            column: None,
        };
        found(place, stated, (line, numbers), &wrong)
    });
    book.stated(row.line, stated.value, found);
}

fn wrong(role: Role, stated: &Printed, values: &[Span]) -> Option<Option<Mismatch>> {
    Some(match role {
        Role::Mean => moments::mean(stated, values),
        Role::Sd => moments::sd(stated, values),
        Role::Percentile(p) if (p - 0.5).abs() < 1e-9 => runs::median(stated, values),
        _ => return None,
    })
}

/// `line` is that of the first table.
fn found(
    place: Place,
    stated: &Printed,
    (line, numbers): (usize, &[Printed]),
    wrong: &Mismatch,
) -> Found {
    let against = Place { line: Some(line), row: None, ..place.clone() };
    let sentence = format!(
        "`{}` is {}; the {} rows from line {line} on that it is of give {}",
        place.row.clone().unwrap_or_default(),
        shown(stated),
        numbers.len(),
        allowed(stated, wrong)
    );
    Found::mismatch(Check::StatisticOfTables, Severity::Inconsistent, place, stated, wrong)
        .sentence(sentence)
        .against(against)
}
