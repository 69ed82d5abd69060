//! A document against a results file that holds statistics: one of them has drifted where the
//! same statistic of the same thing differs.

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, Record, Stat, in_unit};
use super::role::{self, Meaning, Role};
use super::sentence::shown;
use super::tie::{meaning, metric_words};
use super::words::tokens;
use crate::checks::bounds;
use crate::{Check, Document, Place, Printed, Severity};

/// A number of the document and what it says it is.
struct Stated<'a> {
    name: String,
    meaning: Meaning,
    number: &'a Printed,
    place: Place,
    column: Option<usize>,
}

/// Compares every number of the document with the statistics of the results files.
pub(crate) fn check(
    document: &Document,
    own: &[&Grid<'_>],
    results: &[&Grid<'_>],
    book: &mut Book,
) {
    if results.is_empty() {
        return;
    }
    let mut stated = of_lists(document);
    stated.extend(own.iter().flat_map(|grid| of_grid(grid)));
    for one in &stated {
        let mut same = results
            .iter()
            .flat_map(|grid| grid.records.iter().map(move |record| (*grid, record)))
            .flat_map(|(grid, record)| record.stats.iter().map(move |stat| (grid, record, stat)))
            .filter(|(_, record, stat)| is_same(one, record, stat));
        let Some((grid, record, stat)) = same.next() else { continue };
        if same.next().is_none() {
            compare(one, grid, record, stat, book);
        }
    }
}

fn of_lists(document: &Document) -> Vec<Stated<'_>> {
    let metrics = |table: &&crate::Table| table.columns.len() == 2;
    let tables = document.tables.iter().filter(metrics).chain(&document.lists);
    let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    rows.filter_map(|(table, row)| {
        let [name, value] = &row.cells[..] else { return None };
        let place = Place {
            document: document.name.clone(),
            line: Some(row.line),
            section: table.section(),
            row: Some(name.text.clone()),
            column: None,
        };
        Some(Stated {
            name: String::new(),
            meaning: role::statistic(&name.text).unwrap_or_else(|| meaning(&name.text)),
            number: value.number.as_ref()?,
            place,
            column: Some(1),
        })
    })
    .collect()
}

fn of_grid<'g>(grid: &'g Grid<'_>) -> Vec<Stated<'g>> {
    let of = |record: &'g Record<'_>| {
        let stats = record.stats.iter().filter(|stat| stat.sure && stat.role != Role::Ratio);
        stats.filter_map(|stat| {
            Some(Stated {
                name: record.name(),
                meaning: Meaning { role: stat.role, metric: stat.metric.to_string() },
                number: stat.cell.number.as_ref()?,
                place: grid.place(record, stat),
                column: Some(stat.index),
            })
        })
    };
    let whole = |stated: &Stated<'_>| stated.place.line.is_some();
    grid.records.iter().flat_map(of).filter(whole).collect()
}

/// Whether names, statistic and unit are the same.
fn is_same(stated: &Stated<'_>, record: &Record<'_>, stat: &Stat<'_>) -> bool {
    let name = record.name();
    let (theirs, ours) = (tokens(&name), tokens(&stated.name));
    let metric = metric_words(&stated.meaning.metric);
    let known = metric_words(&stat.metric);
    // A file of one summary has no name; a file by metric has the metric as its name.
    let named = if !name.chars().any(char::is_alphabetic) {
        metric == known && !metric.is_empty()
    } else {
        theirs == ours && (metric == known || metric.is_empty() || known.is_empty())
            || ours.is_empty() && theirs == metric
    };
    named
        && stat.role == stated.meaning.role
        && (stat.role != Role::Value || !metric.is_empty())
        && aligned(&stat.number, stated.number).is_some()
}

/// The result in the document's unit; a result without a unit is in the document's.
fn aligned(result: &Printed, stated: &Printed) -> Option<Printed> {
    match (&result.unit, &stated.unit) {
        (Some(_), Some(unit)) => in_unit(result, unit),
        (None, _) => Some(result.clone()),
        (Some(_), None) => None,
    }
}

fn compare(
    stated: &Stated<'_>,
    grid: &Grid<'_>,
    record: &Record<'_>,
    stat: &Stat<'_>,
    book: &mut Book,
) {
    let Some(result) = aligned(&stat.number, stated.number) else { return };
    book.tie(grid.document);
    let wrong = bounds::differ(stated.number, &result).map(|mismatch| {
        let sentence = format!(
            "{} is stated; `{}` in {} is {}",
            shown(stated.number),
            stat.header,
            grid.document,
            result.value
        );
        let check = Check::DiffersFromResults;
        let place = stated.place.clone();
        Found::mismatch(check, Severity::Impossible, place, stated.number, &mismatch)
            .sentence(sentence)
            .against(grid.place(record, stat))
    });
    match (stated.place.line, stated.column) {
        (Some(line), Some(column)) => book.cell(line, column, wrong),
        _ => book.found.extend(wrong),
    }
}
