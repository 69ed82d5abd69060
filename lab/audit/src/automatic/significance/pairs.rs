//! Tables whose rows are called `A vs B`, beside the table that has A and B.

use super::super::derived::{match_pair, readings};
use crate::automatic::book::Book;
use crate::automatic::column::{is_change, values};
use crate::automatic::found::{Found, allowed};
use crate::automatic::role::Role;
use crate::automatic::sentence::shown;
use crate::automatic::stems::stems;
use crate::automatic::tie::Tied;
use crate::checks::{Mismatch, Span};
use crate::{Check, Document, Place, Printed, Severity};

/// Checks every column of changes of such tables.
pub(super) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for tied in tables {
        let targets: Vec<usize> = (1..tied.table().columns.len())
            .filter(|column| is_change(&tied.table().columns[*column]))
            .collect();
        for row in 0..tied.table().rows.len() {
            for target in &targets {
                of_cell(document, tied, (row, *target), tables, book);
            }
        }
    }
}

/// The two sides of `A vs B`, `A → B` or `A / B`.
pub(super) fn sides(name: &str) -> Option<(&str, &str)> {
    let name = name.trim().trim_end_matches(':');
    [" vs. ", " vs ", " versus ", " → "].iter().find_map(|mark| name.split_once(mark))
}

fn of_cell(
    document: &Document,
    tied: &Tied<'_, '_>,
    (row, target): (usize, usize),
    tables: &[Tied<'_, '_>],
    book: &mut Book,
) {
    let table = tied.table();
    let Some((a, b)) = sides(tied.name(row)) else { return };
    let Some(stated) = table.rows[row].cells[target].number.as_ref() else { return };
    let header = &table.columns[target];
    let mut closest: Option<(usize, Mismatch)> = None;
    for other in tables.iter().filter(|other| other.table().line != table.line) {
        let (Some(a), Some(b)) = (other.row(a), other.row(b)) else { continue };
        for column in columns(other, header) {
            let cell = |row: usize| other.table().rows[row].cells[column].number.as_ref();
            let (Some(new), Some(base)) = (cell(a), cell(b)) else { continue };
            if new.unit != base.unit || a == b || !comparable(stated, new) {
                continue;
            }
            let allowed = readings(stated, new, header);
            match match_pair(stated, (Span::of(new), Span::of(base)), &allowed, header) {
                None => {
                    book.cell(table.rows[row].line, target, None);
                    return;
                }
                Some(wrong) => {
                    let line = other.table().rows[a].line;
                    closest.get_or_insert((line, wrong));
                }
            }
        }
    }
    let found =
        closest.map(|(line, wrong)| found(document, tied, (row, target), stated, (line, &wrong)));
    if let Some(found) = found {
        book.cell(table.rows[row].line, target, Some(found));
    }
}

/// The columns that a header can be of: those whose metric it names, else the only mean or value.
fn columns(tied: &Tied<'_, '_>, header: &str) -> Vec<usize> {
    let words = stems(header);
    let all: Vec<usize> = values(tied.grid)
        .into_iter()
        .filter(|column| {
            let role = tied.grid.columns()[*column].role;
            matches!(role, Role::Value | Role::Mean | Role::Percentile(_))
        })
        .collect();
    let named = |column: &usize| {
        let own = stems(&tied.grid.columns()[*column].metric);
        own.intersection(&words).next().is_some()
    };
    let named: Vec<usize> = all.iter().copied().filter(named).collect();
    if named.is_empty() { all } else { named }
}

/// A difference is in the unit of its values; factors and percentages are of any.
fn comparable(stated: &Printed, of: &Printed) -> bool {
    match stated.unit.as_deref() {
        Some("x" | "%") => true,
        Some("pp") => of.unit.as_deref() == Some("%"),
        unit => unit == of.unit.as_deref(),
    }
}

fn found(
    document: &Document,
    tied: &Tied<'_, '_>,
    (row, target): (usize, usize),
    stated: &Printed,
    (line, wrong): (usize, &Mismatch),
) -> Found {
    let table = tied.table();
    let place = Place {
        document: document.name.clone(),
        line: Some(table.rows[row].line),
        section: table.section(),
        row: Some(tied.name(row).to_owned()),
        column: Some(table.columns[target].clone()),
    };
    let against = Place { line: Some(line), row: None, column: None, ..place.clone() };
    let sentence = format!(
        "`{}` of {} is {}; the rows of both (line {line}) give {} in no column",
        table.columns[target],
        tied.name(row),
        shown(stated),
        allowed(stated, wrong)
    );
    Found::mismatch(Check::PairOfRows, Severity::Inconsistent, place, stated, wrong)
        .sentence(sentence)
        .against(against)
}
