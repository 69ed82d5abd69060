//! Statistics that stand beside a table, of its rows.

use crate::automatic::lone;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::found::Found;
use super::role::{self, Meaning, Role};
use super::statistic;
use super::tie::{Tied, metric_words};
use super::words::{says, tokens};
use crate::checks::{Mismatch, moments, spans};
use crate::{Check, Document, Place, Printed, Severity, Table, TableRow};

/// A list further below its table is about something else.
const REACH: usize = 6;

/// Words of a table that has not all rows.
const PARTIAL: [&str; 9] =
    ["top", "selected", "sample", "excerpt", "examples", "example", "best", "worst", "notable"];

static DEVIATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:σ|SD|std|stddev)\s*[=:]\s*(\d+(?:\.\d+)?)").ok());

/// Checks every list that stands right below a table, and every table of metrics right beside
/// one.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for list in &document.lists {
        let above = tables.iter().rev().find(|tied| tied.table().line < list.line);
        let Some(tied) = above.filter(|tied| follows(tied.table(), list)) else { continue };
        for row in &list.rows {
            of_item(document, tied, list, row, book);
        }
    }
    for pair in tables.windows(2) {
        for (metrics, tied) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            let (beside, table) = (metrics.table(), tied.table());
            let is_metrics = beside.columns.len() == 2 && says(&beside.columns[0], &["metric"]);
            let single = table.columns.len() > 2 && beside.headings == table.headings;
            if is_metrics && single && !is_partial(table) {
                beside.rows.iter().for_each(|row| of_item(document, tied, beside, row, book));
            }
        }
    }
}

fn is_partial(table: &Table) -> bool {
    says(&table.caption, &PARTIAL)
        || table.headings.last().is_some_and(|heading| says(heading, &PARTIAL))
}

/// Whether a list is about all rows of the table above it.
fn follows(table: &Table, list: &Table) -> bool {
    let last = table.rows.last().map_or(table.line, |row| row.line);
    let between = list.line.saturating_sub(last);
    between <= REACH
        && table.headings == list.headings
        && !is_partial(table)
        && table.rows.len() >= 2
}

fn of_item(
    document: &Document,
    tied: &Tied<'_, '_>,
    list: &Table,
    row: &TableRow,
    book: &mut Book,
) {
    let [name, value, ..] = &row.cells[..] else { return };
    let Some(wanted) = role::statistic(&name.text) else { return };
    let Some(stated) = value.numbers.first() else { return };
    let Some(column) = column(tied, &wanted, stated) else { return };
    let numbers: Option<Vec<Printed>> =
        tied.table().rows.iter().map(|row| row.cells.get(column)?.number.clone()).collect();
    let Some(numbers) = numbers else { return };
    let place = Place {
        document: document.name.clone(),
        line: Some(row.line),
        section: list.section(),
        row: Some(name.text.clone()),
        column: None,
    };
    let against = Place { line: Some(tied.table().line), row: None, ..place.clone() };
    let mut judge = |what: &str, stated: &Printed, wrong: Option<Mismatch>| {
        let found = wrong.map(|wrong| {
            let check = Check::StatisticOfRows;
            Found::mismatch(check, Severity::Inconsistent, place.clone(), stated, &wrong)
                .sentence(format!(
                    "{what} `{}` is {}; `{}` of the table in line {} gives {} ({})",
                    name.text,
                    super::sentence::shown(stated),
                    tied.table().columns[column],
                    tied.table().line,
                    super::found::allowed(stated, &wrong),
                    wrong.how
                ))
                .against(against.clone())
        });
        book.stated(row.line, stated.value, found);
    };
    if let Some(wrong) = statistic::wrong(wanted.role, stated, &spans(&numbers)) {
        judge("the", stated, wrong);
        let deviation = DEVIATION.as_ref().and_then(|regex| regex.captures(&value.text));
        let printed = deviation.and_then(|groups| Printed::parse(&groups[1]));
        if let Some(printed) = printed.filter(|_| wanted.role == Role::Mean) {
            judge("the deviation beside", &printed, moments::sd(&printed, &spans(&numbers)));
        }
    }
}

/// The column of plain values that a statistic is of.
fn column(tied: &Tied<'_, '_>, wanted: &Meaning, stated: &Printed) -> Option<usize> {
    let words = metric_words(&wanted.metric);
    let table = tied.table();
    let fits = |column: &usize| {
        let header = &table.columns[*column];
        let plain = matches!(tied.grid.columns()[*column].role, Role::Value | Role::Ratio);
        let unit = super::tie::unit_of(table, *column);
        plain
            && (!words.is_empty() || unit.is_some())
            && (words.is_subset(&tokens(header)) || is_rate(&words, unit.as_deref()))
            && unit == stated.unit
    };
    lone((1..table.columns.len()).filter(fits))
}

/// Whether words mean throughput and a unit is of a rate.
fn is_rate(words: &BTreeSet<String>, unit: Option<&str>) -> bool {
    words.len() == 1
        && words.contains("throughput")
        && unit.is_some_and(|unit| unit.ends_with("/s") || unit.ends_with("/sec"))
}
