//! Columns of t, degrees of freedom and p.

use super::found::Found;
use super::grid::Grid;
use super::role::Role;
use crate::checks::Span;
use crate::checks::tests_of_hypotheses::{StatedP, p_of_t};
use crate::document::Bound;
use crate::{Cell, Place, Severity};

/// Checks every row of a table that has both a t and a p column.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    let column = |role: Role| -> Option<usize> {
        let mut columns = (1..table.columns.len()).filter(|c| grid.columns()[*c].role == role);
        let first = columns.next()?;
        columns.next().is_none().then_some(first)
    };
    let (Some(t), Some(p)) = (column(Role::T), column(Role::P)) else { return Vec::new() };
    let df = column(Role::Degrees);
    let names = table.row_names();
    let rows = table.rows.iter().enumerate();
    let found = rows.filter_map(|(row, cells)| {
        let stated = stated_p(&cells.cells[p])?;
        let t = cells.cells[t].number.as_ref()?;
        let own = df.and_then(|df| cells.cells[df].number.as_ref()).map(Span::of);
        // Without degrees of freedom, any from one on.
        let degrees = own.unwrap_or(Span { low: 1.0, high: 1e6 });
        let degrees = Span { low: degrees.low.max(1.0), high: degrees.high.max(1.0) };
        let mismatch = p_of_t(&stated, t, degrees)?;
        let place = Place {
            document: grid.document.to_owned(),
            line: Some(cells.line).filter(|line| *line > 0),
            section: table.section(),
            row: Some(names[row].clone()),
            column: Some(table.columns[p].clone()),
        };
        let severity = if own.is_some() { Severity::Impossible } else { Severity::Doubtful };
        let printed = cells.cells[p].numbers.first()?;
        Some(Found::mismatch("p_of_t", severity, place, printed, &mismatch))
    });
    found.collect()
}

/// A p-value of a cell; `None` for what cannot be one.
fn stated_p(cell: &Cell) -> Option<StatedP> {
    let first = cell.numbers.first()?;
    let is_p = (0.0..=1.0).contains(&first.value) && first.unit.is_none();
    match cell.bound.filter(|_| is_p) {
        Some(Bound::Below) => Some(StatedP::Below(first.value)),
        Some(Bound::Above) => Some(StatedP::Above(first.value)),
        None if is_p => cell.number.clone().map(StatedP::Equals),
        None => None,
    }
}
