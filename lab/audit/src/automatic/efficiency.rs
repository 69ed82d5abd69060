//! A parallel efficiency beside the speed-up that it is of: speed-up over the number of workers.

use super::book::Book;
use super::column::{number, qualifier};
use super::found::Found;
use super::grid::Grid;
use super::lexicon;
use super::words::tokens;
use crate::automatic::lone;
use crate::checks::{Mismatch, Span};
use crate::{Check, Printed, Severity};

/// More workers than this are no count of them.
const MOST_WORKERS: f64 = 4_096.0;

/// Checks every column of efficiencies in percent.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let columns = || 1..grid.table.columns.len();
    for column in columns().filter(|column| is_named(grid, *column, "efficiency")) {
        let rest = rest(grid, column);
        let same =
            |other: &usize| is_named(grid, *other, "speedup") && self::rest(grid, *other) == rest;
        let Some(speedup) = lone(columns().filter(same)) else { continue };
        of_pair(grid, (column, speedup), book);
    }
}

fn is_named(grid: &Grid<'_>, column: usize, word: &str) -> bool {
    let header = &grid.table.columns[column].to_lowercase().replace("speed-up", "speedup");
    tokens(header).contains(word)
}

/// What a header says besides: `Mean` of `Mean Efficiency`.
fn rest(grid: &Grid<'_>, column: usize) -> std::collections::BTreeSet<String> {
    let header = grid.table.columns[column].split('(').next().unwrap_or_default();
    let mut words = qualifier(header);
    words.retain(|word| !["efficiency", "parallel", "concurrency"].contains(&word.as_str()));
    words
}

fn of_pair(grid: &Grid<'_>, (column, speedup): (usize, usize), book: &mut Book) {
    let pairs: Vec<(usize, &Printed, Span)> = (0..grid.table.rows.len())
        .filter_map(|row| {
            let stated = number(grid, row, column)?;
            let factor = number(grid, row, speedup)?;
            (stated.unit.as_deref() == Some("%")).then_some((row, stated, Span::of(factor)))
        })
        .collect();
    let workers = grid.table.columns.iter().position(|header| lexicon::says(header, "workers"));
    let common = common(&pairs);
    for (row, stated, factor) in pairs {
        let counted = workers.and_then(|workers| number(grid, row, workers)).map(|n| n.value);
        let Some(of) = counted.or(common).filter(|of| *of >= 1.0) else { continue };
        let allowed = factor.times(100.0 / of);
        let wrong = (!Span::of(stated).meets(allowed)).then(|| {
            Mismatch::of(stated, allowed, format!("100 · `{}` / {of}", grid.table.columns[speedup]))
        });
        let found = wrong.map(|wrong| {
            let place = grid.spot(row, column);
            Found::mismatch(Check::Efficiency, Severity::Inconsistent, place, stated, &wrong)
        });
        book.cell(grid.table.rows[row].line, column, found);
    }
}

/// The whole number of workers that most rows have, where no column says it.
fn common(pairs: &[(usize, &Printed, Span)]) -> Option<f64> {
    let fits = |of: f64| {
        let same = |(_, stated, factor): &&(usize, &Printed, Span)| {
            Span::of(stated).meets(factor.times(100.0 / of))
        };
        pairs.iter().filter(same).count()
    };
    let guess = |(_, stated, factor): &(usize, &Printed, Span)| {
        (100.0 * factor.middle() / stated.value).round()
    };
    let guesses = pairs.iter().map(guess).filter(|of| (2.0..MOST_WORKERS).contains(of));
    let best = guesses.max_by_key(|of| fits(*of))?;
    (fits(best) >= 2 && 3 * fits(best) >= 2 * pairs.len()).then_some(best)
}
