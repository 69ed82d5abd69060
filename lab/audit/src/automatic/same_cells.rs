//! Two tables that repeat a column: the same rows, header and unit, and the same numbers in most.
//!
//! Names alone do not say that two columns are of one measurement. Numbers of three digits and more
//! that agree in two rows and in most of them do.

use std::collections::{BTreeMap, BTreeSet};

use super::book::Book;
use super::column::values;
use super::found::Found;
use super::sentence::shown;
use super::stems::stems;
use super::tie::{Tied, unit_of};
use super::words::tokens;
use crate::checks::bounds;
use crate::document::header;
use crate::{Check, Document, Place, Printed, Severity};

/// More columns are not compared with each other.
const MOST: usize = 1_500;

/// A column with the numbers of its rows by their names.
struct Column<'a> {
    line: usize,
    section: String,
    /// Words with digits above it, which tell one thing from another.
    names: BTreeSet<String>,
    header: String,
    key: String,
    rows: BTreeMap<String, (usize, &'a Printed)>,
    index: usize,
}

/// Checks every pair of columns of one name in two tables.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let mut all: Vec<Column<'_>> = tables.iter().flat_map(columns).collect();
    all.truncate(MOST);
    let mut others: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for (index, one) in all.iter().enumerate() {
        for earlier in all[..index].iter().filter(|earlier| is_same(one, earlier)) {
            let lines = (one.line, earlier.line);
            let other = *others.entry(lines).or_insert_with(|| is_of_another_run(&all, lines));
            if !other {
                of_pair(document, one, earlier, book);
            }
        }
    }
}

/// Whether two columns have one name; "Model 7B" and "Model 13B" above them are two things.
fn is_same(one: &Column<'_>, other: &Column<'_>) -> bool {
    other.key == one.key
        && other.line != one.line
        && (other.names.is_subset(&one.names) || one.names.is_subset(&other.names))
}

/// Whether two tables share a column that differs in most rows: what agrees in others is then the
/// same in both runs.
fn is_of_another_run(all: &[Column<'_>], (later, earlier): (usize, usize)) -> bool {
    let of = |line: usize| all.iter().filter(move |one| one.line == line);
    let known: Vec<&Column<'_>> = of(earlier).collect();
    let pairs = of(later).flat_map(|a| known.iter().map(move |b| (a, *b)));
    pairs.filter(|(a, b)| is_same(a, b)).any(|(a, b)| {
        let (mut right, mut wrong) = (0, 0);
        for (name, (_, number)) in &a.rows {
            let Some((_, known)) = b.rows.get(name) else { continue };
            let differs = bounds::differ(number, known).is_some();
            (right, wrong) = (right + usize::from(!differs), wrong + usize::from(differs));
        }
        wrong > right
    })
}

/// The columns of measured values of a table whose rows have names of their own.
fn columns<'a>(tied: &Tied<'_, 'a>) -> Vec<Column<'a>> {
    let table = tied.table();
    let mut names: Vec<String> = Vec::new();
    for (row, record) in table.rows.iter().enumerate() {
        // What is text names a row, and so do settings.
        let labels = record.cells.iter().enumerate().filter(|(column, cell)| {
            *column == 0
                || cell.numbers.is_empty()
                || super::column::is_setting(&table.columns[*column])
        });
        let words: Vec<String> = labels.flat_map(|(_, cell)| tokens(&cell.text)).collect();
        let letters = tied.name(row).chars().any(char::is_alphabetic);
        names.push(if letters { words.join(" ") } else { String::new() });
    }
    let distinct = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let of = |index: usize| {
        let rows: BTreeMap<String, (usize, &'a Printed)> = names
            .iter()
            .enumerate()
            .filter(|(_, name)| !name.is_empty() && distinct(name))
            .filter_map(|(row, name)| {
                let number = table.rows[row].cells[index].number.as_ref()?;
                Some((name.clone(), (table.rows[row].line, number)))
            })
            .collect();
        let unit = unit_of(table, index);
        let bare = header::name(&table.columns[index], table.units[index].as_deref());
        let words: Vec<String> = stems(&bare).into_iter().collect();
        let key = format!("{} [{}]", words.join(" "), unit.unwrap_or_default());
        Column {
            line: table.line,
            section: table.section(),
            names: tokens(&format!(
                "{} {}",
                table.caption,
                table.headings.last().map_or("", |h| h)
            ))
            .into_iter()
            .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
            .collect(),
            header: table.columns[index].clone(),
            key,
            rows,
            index,
        }
    };
    values(tied.grid).into_iter().map(of).collect()
}

/// Whether a number has enough digits not to be the same by chance.
fn is_telling(number: &Printed) -> bool {
    number.value.abs() * 10f64.powi(number.decimals) >= 100.0
}

fn of_pair(document: &Document, later: &Column<'_>, earlier: &Column<'_>, book: &mut Book) {
    let shared = later.rows.iter().filter_map(|(name, (line, number))| {
        let (other, known) = earlier.rows.get(name)?;
        Some((name, *line, *number, *other, *known))
    });
    let shared: Vec<_> = shared.filter(|(_, _, number, ..)| is_telling(number)).collect();
    let differ = |number: &Printed, known: &Printed| bounds::differ(number, known).is_some();
    let wrong = shared.iter().filter(|(_, _, number, _, known)| differ(number, known)).count();
    let right = shared.len() - wrong;
    if right < 2 || right < 2 * wrong {
        return;
    }
    for (name, line, number, other, known) in shared {
        let found = differ(number, known).then(|| {
            let place = Place {
                document: document.name.clone(),
                line: Some(line),
                section: later.section.clone(),
                row: Some(name.clone()),
                column: Some(later.header.clone()),
            };
            let against =
                Place { line: Some(other), section: earlier.section.clone(), ..place.clone() };
            let text = format!(
                "`{}` of {name} is {} here and {} in line {other}; {right} other rows are the same",
                later.header,
                shown(number),
                shown(known)
            );
            let how = "two columns of one name and unit that agree in most rows";
            // Two measurements look the same to it: 18 of its first 18 findings on documents that
            // nobody had looked at were such.
            Found::remark(Check::SameCells, Severity::Doubtful, place, text, how)
                .against(against)
                .values(number.value, known.value)
        });
        book.cell(line, later.index, found);
    }
}
