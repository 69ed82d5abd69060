//! Names of cells: a row and a column, either way round.

use std::collections::BTreeSet;

use super::known::{Known, Name, is_name, is_word};
use super::{Form, Quantity, Scope, named, place};
use crate::automatic::column::{is_change, is_setting, values};
use crate::automatic::role::{self, Role};
use crate::automatic::tie::{Tied, meaning, unit_of};
use crate::automatic::words::{says, tokens};
use crate::{Document, Place, Table};

/// What the first header of a table of metrics says.
const METRICS: [&str; 6] = ["metric", "measure", "statistic", "aspect", "criterion", "indicator"];

pub(super) fn is_of_metrics(table: &Table) -> bool {
    table.columns.len() == 2 && says(&table.columns[0], &METRICS)
}

/// A table whose rows are named by their first cell alone.
pub(super) fn of_table(document: &Document, tied: &Tied<'_, '_>, all: &mut Vec<Quantity>) {
    let table = tied.table();
    // A size in GB says what a row is; a number of threads is one of several rows' settings.
    let settings = (1..table.columns.len())
        .any(|c| is_setting(&table.columns[c]) && unit_of(table, c).is_none());
    let names = table.row_names();
    let distinct: BTreeSet<&String> = names.iter().collect();
    let metrics = says(&table.columns[0], &METRICS);
    if tied.grid.transposed || settings || metrics || distinct.len() < names.len() {
        return;
    }
    let around = tokens(&table.above());
    for column in values(tied.grid) {
        let own = &tied.grid.columns()[column];
        for (row, name) in table.rows.iter().zip(&names) {
            let subject = tokens(name);
            let summary = says(name, &["total", "mean", "average", "overall", "all", "sum"]);
            let telling = is_name(&subject) || is_word(&subject) && own.role.is_statistic();
            let Some(number) = row.cells[column].number.as_ref() else { continue };
            if summary || !telling {
                continue;
            }
            let Some((metric, number)) = named(own, number) else { continue };
            all.push(Quantity {
                form: Form::Cell,
                subject,
                around: around.clone(),
                scope: Scope::Open,
                role: own.role,
                metric,
                number,
                place: Place {
                    row: Some(name.clone()),
                    column: Some(table.columns[column].clone()),
                    ..place(document, row.line, table)
                },
                column,
            });
        }
    }
}

/// `Metric | A | B`: rows of statistics of what the columns name.
pub(super) fn of_comparison(
    document: &Document,
    tied: &Tied<'_, '_>,
    known: &mut Known,
    all: &mut Vec<Quantity>,
) {
    let table = tied.table();
    let metrics = says(&table.columns[0], &METRICS) || table.columns[0].is_empty();
    if table.columns.len() < 3 || !metrics {
        return;
    }
    let mut names = BTreeSet::new();
    for column in (1..table.columns.len()).filter(|column| !is_change(&table.columns[*column])) {
        // `smol (8 KB)`: the brackets say how it was built.
        let subject: Name = tokens(table.columns[column].split(" (").next().unwrap_or_default());
        if !is_name(&subject) && !is_word(&subject) {
            continue;
        }
        names.insert(subject.clone());
        for row in &table.rows {
            let [first, ..] = &row.cells[..] else { continue };
            let own = role::statistic(&first.text).unwrap_or_else(|| meaning(&first.text));
            let number = row.cells[column].number.as_ref();
            let Some(number) = number.filter(|_| own.role.is_statistic()) else { continue };
            let Some((metric, number)) = named(&own, number) else { continue };
            if matches!(own.role, Role::Ratio) {
                continue;
            }
            all.push(Quantity {
                form: Form::Cell,
                subject: subject.clone(),
                around: tokens(&table.above()),
                scope: Scope::Open,
                role: own.role,
                metric,
                number,
                place: Place {
                    row: Some(first.text.clone()),
                    column: Some(table.columns[column].clone()),
                    ..place(document, row.line, table)
                },
                column,
            });
        }
    }
    known.add(names);
}
