//! `12.3 ms → 10.1 ms` in one column, and the change of the two in another.

use super::book::Book;
use super::column::{is_change, number};
use super::derived::{match_pair, readings};
use super::found::{Found, allowed};
use super::grid::Grid;
use super::sentence::shown;
use super::tie::aligned;
use crate::checks::Span;
use crate::{Cell, Check, Printed, Severity};

/// Longer tables are listings.
const MOST_ROWS: usize = 100;

/// Checks the only column of changes beside the only column of arrows.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    if table.rows.len() > MOST_ROWS {
        return;
    }
    let arrows = |column: &usize| {
        let with = table.rows.iter().filter(|row| pair(&row.cells[*column]).is_some()).count();
        with >= 2 && 2 * with >= table.rows.len()
    };
    let lone = |of: &dyn Fn(&usize) -> bool| {
        crate::automatic::lone((1..table.columns.len()).filter(|column| of(column)))
    };
    let changes = |column: &usize| is_change(&table.columns[*column]) && !arrows(column);
    let (Some(from), Some(change)) = (lone(&arrows), lone(&changes)) else { return };
    let mut judged = Vec::new();
    for (row, cells) in table.rows.iter().enumerate() {
        let Some((base, new)) = pair(&cells.cells[from]) else { continue };
        let Some(stated) = number(grid, row, change) else { continue };
        let spans = (Span::of(&new), Span::of(&base));
        let header = &table.columns[change];
        let allowed = readings(stated, &new, header);
        judged.push((row, stated, match_pair(stated, spans, &allowed, header)));
    }
    let fits = judged.iter().filter(|(.., wrong)| wrong.is_none()).count();
    // Where no row bears it out the change is of something else.
    if fits == 0 {
        return;
    }
    for (row, stated, wrong) in judged {
        let found = wrong.map(|wrong| {
            let name = table.row_name(row);
            let text = format!(
                "`{}` of {name} is {}; {} gives {}",
                table.columns[change],
                shown(stated),
                table.rows[row].cells[from].text,
                allowed(stated, &wrong)
            );
            let place = grid.spot(row, change);
            Found::mismatch(Check::Ratio, Severity::Inconsistent, place, stated, &wrong)
                .sentence(text)
        });
        book.cell(table.rows[row].line, change, found);
    }
}

/// What stands before and behind an arrow, in one unit.
fn pair(cell: &Cell) -> Option<(Printed, Printed)> {
    let (from, to) = cell.range.as_ref().filter(|_| cell.text.contains('→'))?;
    Some((from.clone(), aligned(to, from)?))
}
