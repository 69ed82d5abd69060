//! `306x faster than other`: a cell that states a factor, against the table that has both sides as
//! rows, in the document or a results file.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::sides::is_time;
use crate::automatic::book::Book;
use crate::automatic::column::is_change;
use crate::automatic::found::Found;
use crate::automatic::lexicon;
use crate::automatic::sentence::shown;
use crate::automatic::stems::{is_rate, stems};
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::{says, tokens};
use crate::checks::Span;
use crate::printed::unit;
use crate::{Check, Document, Place, Printed, Severity, Table};

static FACTOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(~?\d[\d,]*(?:\.\d+)?)\s?(?:x|×|times)\s+(faster|slower|quicker|less|more|fewer|
        smaller|larger|lower|higher|cheaper) (?:\s+(?:than|vs\.?)\s+([^|()]{2,40}?))?\s*$",
    )
    .ok()
});

/// Two rows that a factor is of.
struct Sides<'t> {
    table: &'t Table,
    file: &'t str,
    new: usize,
    base: usize,
}

/// Checks every cell of a factor of two things.
pub(super) fn check(
    document: &Document,
    tables: &[Tied<'_, '_>],
    results: &[Tied<'_, '_>],
    book: &mut Book,
) {
    for tied in tables {
        for row in 0..tied.table().rows.len() {
            of_row(document, tied, row, tables.iter().chain(results), book);
        }
    }
}

fn of_row<'x, 'g: 'x, 'a: 'g>(
    document: &Document,
    tied: &Tied<'_, '_>,
    row: usize,
    others: impl Iterator<Item = &'x Tied<'g, 'a>>,
    book: &mut Book,
) {
    let table = tied.table();
    let factor = |text: &str| {
        let groups = FACTOR.as_ref()?.captures(text)?;
        let whom = groups.get(3).map(|group| group.as_str().to_owned());
        Some((Printed::parse(&format!("{}x", &groups[1]))?, whom))
    };
    let cells = &table.rows[row].cells;
    let stated: Vec<(usize, Printed, Option<String>)> = cells
        .iter()
        .enumerate()
        .filter_map(|(column, cell)| {
            factor(&cell.text).map(|(number, whom)| (column, number, whom))
        })
        .collect();
    // One cell of a row names the other side for all.
    let Some(whom) = stated.iter().find_map(|(.., whom)| whom.clone()) else { return };
    let known = others.filter(|other| !std::ptr::eq(other.table(), table));
    let all: Vec<Sides<'_>> =
        known.filter_map(|other| sides(other, tied.name(row), &whom)).collect();
    let [sides] = &all[..] else { return };
    book.tie(sides.file);
    for (column, number, _) in &stated {
        let column_name = Some(table.columns[*column].clone());
        let place = Place { column: column_name, ..row_place(document, table, row) };
        if let Some(judged) = judge(sides, &table.columns[*column], number, &place) {
            book.cell(table.rows[row].line, *column, judged);
        }
    }
    book.found.extend(failed(sides, &row_place(document, table, row)));
}

fn row_place(document: &Document, table: &Table, row: usize) -> Place {
    Place {
        document: document.name.clone(),
        line: Some(table.rows[row].line),
        section: table.section(),
        row: table.rows[row].cells.first().map(|cell| cell.text.clone()),
        column: None,
    }
}

/// The row of a name and of the other side, and the only other row of that name.
fn sides<'t>(tied: &Tied<'_, 't>, name: &str, whom: &str) -> Option<Sides<'t>> {
    let (table, file) = (tied.table(), tied.grid.document);
    let (name, whom) = (tokens(name), tokens(whom));
    let labels = |row: usize| -> Vec<BTreeSet<String>> {
        let cells = table.rows[row].cells.iter().filter(|cell| cell.numbers.is_empty());
        cells.map(|cell| tokens(&cell.text)).collect()
    };
    let of_name = (0..table.rows.len()).filter(|row| labels(*row).contains(&name));
    let (base, new): (Vec<usize>, Vec<usize>) =
        of_name.partition(|row| labels(*row).contains(&whom));
    match (&base[..], &new[..]) {
        ([base], [new]) => Some(Sides { table, file, new: *new, base: *base }),
        _ => None,
    }
}

/// The column that a header means: by a shared word, or times and rates for speed.
fn column(table: &Table, header: &str) -> Option<usize> {
    let words = stems(header);
    let numeric = |column: &usize| {
        table.rows.iter().all(|row| row.cells[*column].number.is_some())
            && !is_change(&table.columns[*column])
    };
    let all: Vec<usize> = (1..table.columns.len()).filter(numeric).collect();
    let shared = |column: &&usize| {
        stems(&table.columns[**column]).intersection(&words).any(|word| word.len() > 3)
    };
    let speed = |column: &&usize| {
        let own = table.rows[0].cells[**column].number.as_ref().and_then(|n| n.unit.clone());
        let own = own.or_else(|| unit_of(table, **column));
        own.is_some_and(|unit| is_time(&unit) || is_rate(&unit))
    };
    let named: Vec<&usize> = all.iter().filter(shared).collect();
    let of_speed = lexicon::says(header, "speed");
    let meant =
        if named.is_empty() && of_speed { all.iter().filter(speed).collect() } else { named };
    match meant[..] {
        [one] => Some(*one),
        _ => None,
    }
}

/// What both rows say of a factor; `None` where it is not clear which column is meant.
fn judge(
    sides: &Sides<'_>,
    header: &str,
    stated: &Printed,
    place: &Place,
) -> Option<Option<Found>> {
    let table = sides.table;
    let column = column(table, header)?;
    let cell = |row: usize| table.rows[row].cells[column].number.as_ref();
    let (new, base) = (cell(sides.new)?, cell(sides.base)?);
    let factor = match (&base.unit, &new.unit) {
        (Some(from), Some(to)) => unit::factor(from, to)?,
        (None, None) => 1.0,
        _ => return None,
    };
    let (a, b) = (Span::of(new), Span::of(base).times(factor));
    let (large, small) = if a.middle() >= b.middle() { (a, b) } else { (b, a) };
    let ratio = large.over(small)?;
    let own = Span::of(stated);
    if own.meets(ratio) || own.meets(ratio.minus(Span::exact(1.0))) {
        return Some(None);
    }
    let line = table.rows[sides.new].line;
    let text = format!(
        "{} is stated; `{}` is {} against {} (line {line} of the table of both), which gives \
         {:.1}x",
        shown(stated),
        table.columns[column],
        shown(new),
        shown(base),
        ratio.middle()
    );
    let how = "the two rows that the cell's row and the other side name";
    let found =
        Found::remark(Check::ComparedWith, Severity::Inconsistent, place.clone(), text, how)
            .values(stated.value, ratio.middle());
    Some(Some(found))
}

/// A factor against what did not succeed at all.
fn failed(sides: &Sides<'_>, place: &Place) -> Option<Found> {
    let table = sides.table;
    let success = (1..table.columns.len()).find(|column| {
        says(&table.columns[*column], &["success", "succeeded", "passed", "pass"])
    })?;
    let cell = &table.rows[sides.base].cells[success];
    let none = cell.number.as_ref().is_some_and(|number| number.value == 0.0);
    none.then(|| {
        let text = format!(
            "it is of {}, whose `{}` is {}",
            table.row_name(sides.base),
            table.columns[success],
            cell.text
        );
        let how = "the row of the other side";
        Found::remark(Check::ComparedWith, Severity::Doubtful, place.clone(), text, how)
    })
}
