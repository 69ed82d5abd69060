//! Statistics that stand below a table, of its rows.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::found::Found;
use super::role::{self, Meaning, Role};
use super::runs;
use super::tie::{Tied, metric_words};
use super::words::{says, tokens};
use crate::checks::{Mismatch, moments, order_statistics, spans};
use crate::document::header;
use crate::{Document, Place, Printed, Severity, Table, TableRow};

/// A list further below its table is about something else.
const REACH: usize = 6;

/// Words of a table that has not all rows.
const PARTIAL: [&str; 9] =
    ["top", "selected", "sample", "excerpt", "examples", "example", "best", "worst", "notable"];

static DEVIATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:σ|SD|std|stddev)\s*[=:]\s*(\d+(?:\.\d+)?)").ok());

/// Checks every list that stands right below a table.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for list in &document.lists {
        let above = tables.iter().rev().find(|tied| tied.table().line < list.line);
        let Some(tied) = above.filter(|tied| follows(tied.table(), list)) else { continue };
        for row in &list.rows {
            of_item(document, tied, list, row, book);
        }
    }
}

/// Whether a list is about all rows of the table above it.
fn follows(table: &Table, list: &Table) -> bool {
    let last = table.rows.last().map_or(table.line, |row| row.line);
    let between = list.line.saturating_sub(last);
    let about_all = !says(&table.caption, &PARTIAL)
        && !table.headings.last().is_some_and(|heading| says(heading, &PARTIAL));
    between <= REACH && table.headings == list.headings && about_all && table.rows.len() >= 2
}

fn of_item(
    document: &Document,
    tied: &Tied<'_, '_>,
    list: &Table,
    row: &TableRow,
    book: &mut Book,
) {
    let [name, value, ..] = &row.cells[..] else { return };
    let unit = header::unit(&name.text);
    let bare = header::name(&name.text, unit.as_deref());
    let Some(wanted) = role::statistic(&bare) else { return };
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
    let mut judge = |stated: &Printed, wrong: Option<Mismatch>| {
        let found = wrong.map(|wrong| {
            let check = "statistic_of_rows";
            Found::mismatch(check, Severity::Inconsistent, place.clone(), stated, &wrong)
                .sentence(format!(
                    "`{}` is {}; `{}` of the table above gives {} ({})",
                    name.text,
                    super::sentence::shown(stated),
                    tied.table().columns[column],
                    super::found::allowed(stated, &wrong),
                    wrong.how
                ))
                .against(against.clone())
        });
        book.stated(row.line, stated.value, found);
    };
    if let Some(wrong) = summary(wanted.role, stated, &numbers) {
        judge(stated, wrong);
        let deviation = DEVIATION.as_ref().and_then(|regex| regex.captures(&value.text));
        let printed = deviation.and_then(|groups| Printed::parse(&groups[1]));
        if let Some(printed) = printed.filter(|_| wanted.role == Role::Mean) {
            judge(&printed, moments::sd(&printed, &spans(&numbers)));
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
            && words.is_subset(&tokens(header))
            && unit == stated.unit
    };
    let mut columns = (1..table.columns.len()).filter(fits);
    columns.next().filter(|_| columns.next().is_none())
}

/// The check for a statistic of rows, and its outcome.
fn summary(role: Role, stated: &Printed, rows: &[Printed]) -> Option<Option<Mismatch>> {
    let rows = spans(rows);
    Some(match role {
        Role::Mean => moments::mean(stated, &rows),
        Role::Sd => moments::sd(stated, &rows),
        Role::Min => order_statistics::min(stated, &rows),
        Role::Max => order_statistics::max(stated, &rows),
        Role::Sum => moments::sum(stated, &rows),
        Role::Percentile(p) if (p - 0.5).abs() < 1e-9 => runs::median(stated, &rows),
        _ => return None,
    })
}
