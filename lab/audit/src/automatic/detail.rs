//! A row of statistics and the table of the values that they are of, below a heading that names
//! the row.
//!
//! Which table that is, a mean that its values give shows; the row's other statistics of the same
//! metric are then checked against them.

use crate::automatic::lone;
use std::collections::BTreeSet;

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, Record, Stat};
use super::role::Role;
use super::statistic;
use super::stems::{stems, unit};
use super::tie::Tied;
use super::words::tokens;
use crate::checks::{moments, spans};
use crate::{Check, Place, Printed, Severity, Table};

/// Fewer values have no statistics worth checking.
const FEWEST: usize = 3;

/// Checks every record of statistics against the tables that its name stands above.
pub(crate) fn check(tables: &[Tied<'_, '_>], book: &mut Book) {
    for tied in tables {
        for record in &tied.grid.records {
            let words = tokens(&record.name());
            let named = words.iter().any(|word| word.chars().any(char::is_alphabetic));
            if named && record.stats.iter().filter(|stat| stat.role.is_statistic()).count() >= 2 {
                of_record(tied.grid, record, &words, tables, book);
            }
        }
    }
}

fn of_record(
    grid: &Grid<'_>,
    record: &Record<'_>,
    words: &BTreeSet<String>,
    tables: &[Tied<'_, '_>],
    book: &mut Book,
) {
    for mean in record.stats.iter().filter(|stat| stat.role == Role::Mean && stat.sure) {
        let values: Vec<(&Table, Vec<Printed>)> = tables
            .iter()
            .map(Tied::table)
            .filter(|table| table.line != grid.table.line && is_of(table, words))
            .filter_map(|table| Some((table, values(table, mean)?)))
            .filter(|(_, values)| moments::mean(&mean.number, &spans(values)).is_none())
            .collect();
        let [(table, values)] = &values[..] else { continue };
        let of = |stat: &&Stat<'_>| stat.metric == mean.metric && stat.sure;
        for stat in record.stats.iter().filter(of) {
            judge(grid, record, stat, (table, values), book);
        }
    }
}

/// Whether the heading or the caption of a table names what the words name.
fn is_of(table: &Table, words: &BTreeSet<String>) -> bool {
    let heading = table.headings.last().map_or("", String::as_str);
    words.is_subset(&tokens(heading)) || words.is_subset(&tokens(&table.caption))
}

/// The numbers of the one column that is of a statistic's metric, in its unit.
fn values(table: &Table, stat: &Stat<'_>) -> Option<Vec<Printed>> {
    let metric = stems(&stat.metric);
    let own = stat.number.unit.as_deref().map(unit)?;
    let fits = |column: &usize| {
        let header = &table.columns[*column];
        let bare = crate::document::header::name(header, table.units[*column].as_deref());
        // "Tokens/s" as a header is the unit of numbers without one.
        let known = super::tie::unit_of(table, *column).unwrap_or_else(|| header.clone());
        let same_unit = unit(&known) == own;
        let words = stems(&bare);
        let rate = metric.is_empty() && super::stems::is_rate(&own);
        same_unit && (words == metric || rate && stems(header) == stems(&own))
    };
    let column = lone((1..table.columns.len()).filter(fits))?;
    let numbers: Option<Vec<Printed>> =
        table.rows.iter().map(|row| row.cells[column].number.clone()).collect();
    numbers.filter(|numbers| numbers.len() >= FEWEST)
}

fn judge(
    grid: &Grid<'_>,
    record: &Record<'_>,
    stat: &Stat<'_>,
    (table, values): (&Table, &[Printed]),
    book: &mut Book,
) {
    let Some(wrong) = statistic::wrong(stat.role, &stat.number, &spans(values)) else { return };
    let found = wrong.map(|wrong| {
        let place = grid.place(record, stat);
        let against = Place { line: Some(table.line), row: None, column: None, ..place.clone() };
        let sentence = format!(
            "`{}` of {} is {}; the {} values below line {}, whose mean agrees, give {}",
            stat.header,
            record.name(),
            super::sentence::shown(&stat.number),
            values.len(),
            table.line,
            super::found::allowed(&stat.number, &wrong)
        );
        Found::mismatch(Check::StatisticOfRows, Severity::Inconsistent, place, &stat.number, &wrong)
            .sentence(sentence)
            .against(against)
    });
    book.cell(stat.line, stat.index, found);
}
