//! `Best config: … (+0.19 %)` of a group, beside a table that has a better one of the same group.

use crate::automatic::lone;
use std::collections::BTreeSet;

use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::role;
use crate::automatic::stems::stems;
use crate::automatic::tie::Tied;
use crate::checks::Span;
use crate::document::header;
use crate::{Check, Place, Printed, Severity, Table};

/// Checks every column of best configurations by the value of the first column.
pub(super) fn check(tables: &[Tied<'_, '_>], book: &mut Book) {
    for tied in tables {
        let table = tied.table();
        let is_best = |column: &usize| {
            let words = stems(&table.columns[*column]);
            words.contains("best") && (words.contains("configuration") || words.contains("setting"))
        };
        for best in (1..table.columns.len()).filter(is_best) {
            let metrics: BTreeSet<BTreeSet<String>> = (1..table.columns.len())
                .filter(|column| *column != best)
                .map(|column| metric(table, column))
                .filter(|metric| !metric.is_empty())
                .collect();
            for row in 0..table.rows.len() {
                of_cell(tied, (row, best), &metrics, tables, book);
            }
        }
    }
}

/// A header's stems without its unit and statistic.
fn metric(table: &Table, column: usize) -> BTreeSet<String> {
    let text = &table.columns[column];
    match role::statistic(text) {
        Some(meaning) => stems(&meaning.metric),
        None => stems(&header::name(text, table.units[column].as_deref())),
    }
}

fn of_cell(
    tied: &Tied<'_, '_>,
    (row, best): (usize, usize),
    metrics: &BTreeSet<BTreeSet<String>>,
    tables: &[Tied<'_, '_>],
    book: &mut Book,
) {
    let table = tied.table();
    let cells = &table.rows[row].cells;
    let Some(group) = cells[0].number.as_ref().map(|number| number.value) else { return };
    // The value in brackets behind the settings.
    let text = &cells[best].text;
    let Some((_, bracket)) = text.rsplit_once('(') else { return };
    let Some(stated) = Printed::parse(bracket.trim_end_matches(')')) else { return };
    let group_name = stems(&table.columns[0]);
    let better = tables.iter().filter(|other| other.table().line != table.line).find_map(|other| {
        let other = other.table();
        let of_group = |column: &usize| {
            let own = stems(&other.columns[*column]);
            own.is_subset(&group_name) || group_name.is_subset(&own)
        };
        let setting = lone((0..other.columns.len()).filter(of_group))?;
        let of_metric = |column: &usize| metrics.contains(&metric(other, *column));
        let value = lone((1..other.columns.len()).filter(of_metric))?;
        other.rows.iter().find_map(|row| {
            let own = row.cells[setting].number.as_ref()?.value;
            let number = row.cells[value].number.as_ref()?;
            let unit = number.unit == stated.unit;
            let above = Span::of(&stated).below(Span::of(number));
            (own == group && unit && above).then(|| (row.line, number.clone()))
        })
    });
    let found = better.map(|(line, number)| {
        let place = tied.grid.spot(row, best);
        let against = Place { line: Some(line), row: None, column: None, ..place.clone() };
        let sentence = format!(
            "the best of {} is said to have {}; line {line} has {}",
            tied.name(row),
            stated.value,
            number.value
        );
        let how = "rows of other tables with the same setting and metric";
        Found::remark(Check::Superlative, Severity::Inconsistent, place, sentence, how)
            .against(against)
            .values(stated.value, number.value)
    });
    book.cell(table.rows[row].line, best, found);
}
