//! Rows and list items that are marked as the best or the worst, and are neither.

use crate::automatic::book::Book;
use crate::automatic::column::values;
use crate::automatic::found::Found;
use crate::automatic::tie::{Tied, unit_of};
use crate::checks::ranking::{Better, surpassed};
use crate::{Check, Document, Place, Printed, Severity, Table};

/// Fewer rows have no middle.
const FEWEST: usize = 3;

/// Words that say a row stands at one end of the numbers.
const ENDS: [&str; 8] =
    ["best", "worst", "fastest", "slowest", "highest", "lowest", "largest", "smallest"];

/// Checks a column of remarks: a row called `Best` has the largest or the smallest number of some
/// column.
pub(super) fn check(tied: &Tied<'_, '_>, book: &mut Book) {
    let table = tied.table();
    let remarks = (1..table.columns.len()).filter(|column| is_remark(table, *column));
    let columns: Vec<usize> = (1..table.columns.len())
        .filter(|column| values(tied.grid).contains(column) || unit_of(table, *column).is_some())
        .collect();
    for remark in remarks {
        for (index, row) in table.rows.iter().enumerate() {
            let Some(word) = mark(&row.cells[remark].text) else { continue };
            let ends: Vec<bool> =
                columns.iter().filter_map(|column| is_end(tied, index, *column)).collect();
            if ends.is_empty() {
                continue;
            }
            let found = (!ends.contains(&true)).then(|| {
                let text = format!(
                    "{} is marked {word}; it has the largest or smallest number of no column",
                    tied.name(index)
                );
                let place = Place {
                    document: tied.grid.document.to_owned(),
                    line: Some(row.line).filter(|line| *line > 0),
                    section: table.section(),
                    row: Some(tied.name(index).to_owned()),
                    column: Some(table.columns[remark].clone()),
                };
                let how = "the row against all others, in every column of numbers";
                Found::remark(Check::Superlative, Severity::Inconsistent, place, text, how)
            });
            book.cell(row.line, remark, found);
        }
    }
}

/// Whether a column holds remarks on the numbers: its header judges nothing by itself.
fn is_remark(table: &Table, column: usize) -> bool {
    let header = table.columns[column].to_lowercase();
    let named = ["note", "notes", "remark", "remarks", "comment", "comments", ""];
    let texts = table.rows.iter().all(|row| row.cells[column].number.is_none());
    named.contains(&header.as_str()) && texts
}

/// Whether a text says that its row does not count.
pub(super) fn is_out(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["fail", "invalid", "broken", "excluded", "unusable"].iter().any(|word| lower.contains(word))
}

/// The word of a remark that is nothing else, but for brackets behind it.
fn mark(text: &str) -> Option<&'static str> {
    let bare = text.split('(').next().unwrap_or_default().trim().to_lowercase();
    ENDS.iter().copied().find(|word| *word == bare)
}

/// Whether a row has the largest or the smallest number of a column; `None` where it has none, or
/// too few others have one.
fn is_end(tied: &Tied<'_, '_>, row: usize, column: usize) -> Option<bool> {
    let rows = &tied.table().rows;
    let numbers: Vec<(usize, Printed)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.cells.iter().any(|cell| is_out(&cell.text)))
        .filter_map(|(index, row)| Some((index, row.cells[column].number.clone()?)))
        .collect();
    let own = numbers.iter().position(|(index, _)| *index == row)?;
    let numbers: Vec<Printed> = numbers.into_iter().map(|(_, number)| number).collect();
    (numbers.len() >= FEWEST).then(|| end(&numbers, own))
}

fn end(numbers: &[Printed], own: usize) -> bool {
    surpassed(numbers, own, Better::Higher).is_none()
        || surpassed(numbers, own, Better::Lower).is_none()
}

/// `- 40: 78.4 MB/s (BEST)` among items of one unit.
pub(super) fn of_list(document: &Document, list: &Table, book: &mut Book) {
    let numbers: Option<Vec<Printed>> =
        list.rows.iter().map(|row| row.cells[1].number.clone()).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() >= FEWEST) else { return };
    if numbers.windows(2).any(|pair| pair[0].unit != pair[1].unit) || numbers[0].unit.is_none() {
        return;
    }
    for (index, row) in list.rows.iter().enumerate() {
        let bracket = row.cells[1].text.split_once('(').map_or("", |(_, bracket)| bracket);
        let bracket = bracket.trim_end_matches(')').to_lowercase();
        let Some(word) = ENDS.iter().find(|word| **word == bracket) else { continue };
        let found = (!end(&numbers, index)).then(|| {
            let place = Place {
                document: document.name.clone(),
                line: Some(row.line),
                section: list.section(),
                ..Place::default()
            };
            let text = format!("marked {word}; it is neither the largest nor the smallest here");
            let how = "the item against all others of the list";
            Found::remark(Check::Superlative, Severity::Inconsistent, place, text, how)
        });
        book.stated(row.line, numbers[index].value, found);
    }
}
