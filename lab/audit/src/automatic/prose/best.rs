//! `Best config: GPU=80, CTX=512 → 90.5 %`: a row that is called the best, told by its settings.

use super::Page;
use crate::Sentence;
use crate::automatic::book::Book;
use crate::automatic::chosen;
use crate::automatic::column::{number, values};
use crate::automatic::role::better;
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::{list, says};
use crate::checks::bounds;
use crate::checks::ranking::{Better, surpassed};
use crate::{Check, Printed};

/// Words that call a row the best.
const BEST: [&str; 5] = ["best", "optimal", "fastest", "highest", "peak"];

/// Words of a sentence about some of the rows, or of a choice for other reasons.
const OTHER: [&str; 20] = [
    "for",
    "when",
    "if",
    "balance",
    "balanced",
    "trade",
    "recommended",
    "expected",
    "except",
    "among",
    "second",
    "next",
    "than",
    "not",
    "most",
    "average",
    "efficient",
    "consistent",
    "stable",
    "reliable",
];

/// Numbers closer than this share a place.
const TIE: f64 = 0.005;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let words = list(&sentence.text);
    let first = words.iter().take(4).any(|word| BEST.contains(&word.as_str()));
    if !first || says(&sentence.text, &OTHER) {
        return;
    }
    let Some(settings) = chosen::settings(&sentence.text) else { return };
    let mut near = page.beside(sentence).into_iter();
    let of_settings = |tied| Some((tied, chosen::row(tied, &settings)?));
    let Some((tied, row)) = near.find_map(of_settings) else { return };
    let table = tied.table();
    let measured: Vec<(usize, Better)> = values(tied.grid)
        .into_iter()
        .filter_map(|column| {
            let header = format!("{} {}", table.columns[column], table.above());
            Some((column, better(&header, unit_of(table, column).as_deref())?))
        })
        .collect();
    // The numbers that are stated with it say by what it is the best.
    let is_stated = |column: usize| {
        number(tied.grid, row, column).is_some_and(|own| {
            let of_unit = sentence.numbers.iter().filter(|stated| stated.unit == own.unit);
            own.unit.is_some() && of_unit.clone().any(|one| bounds::differ(one, own).is_none())
        })
    };
    let stated: Vec<(usize, Better)> =
        measured.iter().copied().filter(|(column, _)| is_stated(*column)).collect();
    let beaten: Vec<Option<(usize, usize)>> =
        stated.iter().map(|(column, way)| beaten(tied, row, *column, *way)).collect();
    let found = beaten.first().copied().flatten().filter(|_| beaten.iter().all(Option::is_some));
    let found = found.map(|(column, by)| {
        let text = format!(
            "the row in line {} is called the best; `{}` is {} there and {} in line {}",
            table.rows[row].line,
            table.columns[column],
            table.rows[row].cells[column].text,
            table.rows[by].cells[column].text,
            table.rows[by].line
        );
        let how = "every column of which the sentence states the row's number";
        page.found(Check::Superlative, sentence, table.rows[by].line, text, how)
    });
    if !stated.is_empty() {
        book.claim(found);
    }
}

/// The column, and the row that has a better number in it.
fn beaten(tied: &Tied<'_, '_>, row: usize, column: usize, way: Better) -> Option<(usize, usize)> {
    let rows: Vec<usize> = (0..tied.table().rows.len())
        .filter(|row| number(tied.grid, *row, column).is_some())
        .filter(|row| !says(tied.name(*row), &["total", "mean", "average", "overall"]))
        .collect();
    let numbers: Vec<Printed> =
        rows.iter().filter_map(|row| number(tied.grid, *row, column).cloned()).collect();
    let own = rows.iter().position(|known| *known == row)?;
    let by = surpassed(&numbers, own, way)?;
    let (a, b) = (numbers[own].value, numbers[by].value);
    ((a - b).abs() > TIE * a.abs().max(b.abs())).then_some((column, rows[by]))
}
