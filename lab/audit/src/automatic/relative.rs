//! `12.3 ms (2.05x)`: cells that say of themselves what they are of another cell.
//!
//! Which cell that is, the one that calls itself 1.00x shows, or the one without brackets: of its
//! row in all rows, or of its column in all columns.

use super::book::Book;
use super::derived::{match_pair, readings};
use super::found::{Found, allowed};
use super::grid::{Grid, in_unit};
use super::sentence::shown;
use crate::checks::{Mismatch, Span};
use crate::{Cell, Check, Printed, Severity};

/// Fewer such cells show no scheme.
const FEWEST: usize = 4;

/// A value and what it says it is of another.
struct Relative<'a> {
    value: &'a Printed,
    /// Nothing where the value stands alone.
    stated: Option<&'a Printed>,
}

impl Relative<'_> {
    fn is_base(&self) -> bool {
        self.stated.is_none_or(|stated| match stated.unit.as_deref() {
            Some("x") => stated.value == 1.0,
            _ => stated.value == 0.0 || stated.value == 100.0,
        })
    }
}

/// Checks every table with such cells.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let cells: Vec<Vec<Option<Relative<'_>>>> =
        table.rows.iter().map(|row| row.cells.iter().map(relative).collect()).collect();
    let stated = cells.iter().flatten().flatten().filter(|cell| cell.stated.is_some()).count();
    if stated < FEWEST {
        return;
    }
    let rows: Vec<Vec<(usize, usize)>> = (0..cells.len())
        .map(|row| (1..table.columns.len()).map(|column| (row, column)).collect())
        .collect();
    let columns: Vec<Vec<(usize, usize)>> = (1..table.columns.len())
        .map(|column| (0..cells.len()).map(|row| (row, column)).collect())
        .collect();
    let bases = |lines: &[Vec<(usize, usize)>]| bases(&cells, lines);
    match (bases(&rows), bases(&columns)) {
        (Some(found), None) => judge(grid, &cells, &rows, &found, book),
        (None, Some(found)) => judge(grid, &cells, &columns, &found, book),
        _ => {}
    }
}

/// A number, and one in brackets behind it that is a factor or a percentage.
fn relative(cell: &Cell) -> Option<Relative<'_>> {
    let value = cell.number.as_ref()?;
    let stated = match &cell.numbers[..] {
        [_] => None,
        [_, second] if cell.text.contains('(') && cell.plus_minus.is_none() => Some(second),
        _ => return None,
    };
    let counts = stated.is_none_or(|stated| matches!(stated.unit.as_deref(), Some("x" | "%")));
    counts.then_some(Relative { value, stated })
}

/// The base of each line that has one to say; `None` where a line has several or none.
fn bases(
    cells: &[Vec<Option<Relative<'_>>>],
    lines: &[Vec<(usize, usize)>],
) -> Option<Vec<Option<(usize, usize)>>> {
    let of = |at: &(usize, usize)| cells[at.0].get(at.1).and_then(Option::as_ref);
    let mut all = Vec::new();
    for line in lines {
        let stating = line.iter().filter(|at| of(at).is_some_and(|one| one.stated.is_some()));
        let count = stating.clone().count();
        if count == 0 || count == 1 && line.iter().filter_map(of).count() < 2 {
            all.push(None);
            continue;
        }
        // One that calls itself the base goes before one that says nothing.
        let called =
            |at: &&(usize, usize)| of(at).is_some_and(|one| one.stated.is_some() && one.is_base());
        let silent = |at: &&(usize, usize)| of(at).is_some_and(|one| one.stated.is_none());
        let first: Vec<&(usize, usize)> = line.iter().filter(called).collect();
        let second: Vec<&(usize, usize)> = line.iter().filter(silent).collect();
        let base = match (&first[..], &second[..]) {
            ([], [one]) | ([one], _) => **one,
            // Several that tie for the first place are as good as one.
            ([one, rest @ ..], _) if rest.iter().all(|at| ties(of(one), of(at))) => **one,
            _ => return None,
        };
        all.push(Some(base));
    }
    all.iter().any(Option::is_some).then_some(all)
}

fn ties(a: Option<&Relative<'_>>, b: Option<&Relative<'_>>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    a.value.unit == b.value.unit && (a.value.value / b.value.value - 1.0).abs() < 0.02
}

fn judge(
    grid: &Grid<'_>,
    cells: &[Vec<Option<Relative<'_>>>],
    lines: &[Vec<(usize, usize)>],
    bases: &[Option<(usize, usize)>],
    book: &mut Book,
) {
    let of = |at: (usize, usize)| cells[at.0].get(at.1).and_then(Option::as_ref);
    let mut judged: Vec<((usize, usize), &Printed, Option<Mismatch>)> = Vec::new();
    for (line, base) in lines.iter().zip(bases) {
        let Some(base) = base.and_then(of) else { continue };
        for at in line {
            let Some(one) = of(*at) else { continue };
            let Some(stated) = one.stated else { continue };
            let of_base = match &one.value.unit {
                Some(unit) => in_unit(base.value, unit),
                None if base.value.unit.is_none() => Some(base.value.clone()),
                None => None,
            };
            let Some(of_base) = of_base else { continue };
            let allowed = readings(stated, one.value, "");
            let pair = (Span::of(one.value), Span::of(&of_base));
            judged.push((*at, stated, match_pair(stated, pair, &allowed, "faster")));
        }
    }
    let fits = judged.iter().filter(|(_, _, wrong)| wrong.is_none()).count();
    // A scheme that most cells do not follow is another one than we think.
    if fits < 2 || fits < 2 * (judged.len() - fits) {
        return;
    }
    for ((row, column), stated, wrong) in judged {
        let line = grid.table.rows[row].line;
        let found = wrong.map(|wrong| found(grid, (row, column), stated, &wrong));
        book.cell(line, column, found);
    }
}

fn found(
    grid: &Grid<'_>,
    (row, column): (usize, usize),
    stated: &Printed,
    wrong: &Mismatch,
) -> Found {
    let table = grid.table;
    let place = grid.spot(row, column);
    let sentence = format!(
        "`{}` of {} says {} of itself; the cell that the others are of gives {}",
        table.columns[column],
        table.row_name(row),
        shown(stated),
        allowed(stated, wrong)
    );
    Found::mismatch(Check::RelativeCell, Severity::Inconsistent, place, stated, wrong)
        .sentence(sentence)
}
