//! Columns of ranks against the numbers that they rank.

use super::found::Found;
use super::grid::Grid;
use super::role::{Role, better};
use crate::checks::ranking::{Better, Inversion, inversions};
use crate::{Place, Printed, Severity};

/// Checks the order of a table with a column of ranks.
///
/// What a ranking goes by is not stated. It goes by some column of the table, so nothing is said
/// where any column has its order; otherwise the one that comes closest is taken for it.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    let Some(rank) = grid.columns().iter().position(|meaning| meaning.role == Role::Rank) else {
        return Vec::new();
    };
    let Some(order) = order(grid, rank) else { return Vec::new() };
    let mut candidates = Vec::new();
    for column in (0..table.columns.len()).filter(|column| *column != rank) {
        let values: Option<Vec<Printed>> =
            order.iter().map(|row| table.rows[*row].cells[column].number.clone()).collect();
        let Some(values) = values else { continue };
        let unit = values[0].unit.clone();
        if values.iter().any(|value| value.unit != unit) {
            continue;
        }
        let words = format!("{} {}", table.columns[column], table.section());
        let known = better(&words, unit.as_deref());
        let inverted = |better: Better| inversions(&values, Some(better));
        // The words may be wrong about the direction, an order hardly is.
        let (up, down) = (inverted(Better::Lower), inverted(Better::Higher));
        if up.is_empty() || down.is_empty() {
            return Vec::new();
        }
        let fewer = if up.len() < down.len() { up.clone() } else { down.clone() };
        let chosen = match known {
            Some(Better::Lower) => up,
            Some(Better::Higher) => down,
            None => fewer,
        };
        candidates.push((column, values, chosen));
    }
    let alone = candidates.len() == 1;
    let Some((column, values, wrong)) = candidates.into_iter().min_by_key(|c| c.2.len()) else {
        return Vec::new();
    };
    // A ranking that has little to do with a column was not made from it.
    if 3 * wrong.len() > order.len() {
        return Vec::new();
    }
    let severity = if alone { Severity::Impossible } else { Severity::Doubtful };
    wrong.iter().map(|pair| found(grid, column, &order, &values, *pair, severity)).collect()
}

/// Rows by rank; `None` where the ranks are not 1, 2, 3, … with or without ties.
fn order(grid: &Grid<'_>, rank: usize) -> Option<Vec<usize>> {
    let rows = grid.table.rows.iter();
    let ranks: Option<Vec<f64>> =
        rows.map(|row| Some(row.cells[rank].numbers.first()?.value)).collect();
    let ranks = ranks?;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|a, b| ranks[*a].total_cmp(&ranks[*b]));
    let plain = order.iter().enumerate().all(|(place, row)| ranks[*row] == place as f64 + 1.0);
    (plain && order.len() >= 3).then_some(order)
}

fn found(
    grid: &Grid<'_>,
    column: usize,
    order: &[usize],
    values: &[Printed],
    pair: Inversion,
    severity: Severity,
) -> Found {
    let names = grid.table.row_names();
    // The first column may be the rank itself.
    let name = |place: usize| {
        let cells = &grid.table.rows[order[place]].cells;
        let label = cells.iter().find(|cell| cell.numbers.is_empty() && !cell.text.is_empty());
        label.map_or_else(|| names[order[place]].clone(), |cell| cell.text.clone())
    };
    let (ahead, behind) = (&values[pair.ahead], &values[pair.behind]);
    let sentence = format!(
        "{} is ranked {} with {}, ahead of {} with {}: `{}` reverses the two",
        name(pair.ahead),
        pair.ahead + 1,
        ahead.value,
        name(pair.behind),
        behind.value,
        grid.table.columns[column]
    );
    let line = grid.table.rows[order[pair.ahead]].line;
    let place = Place {
        document: grid.document.to_owned(),
        line: Some(line).filter(|line| *line > 0),
        section: grid.table.section(),
        row: Some(name(pair.ahead)),
        column: Some(grid.table.columns[column].clone()),
    };
    let how = "the column that the ranks follow best, in their order";
    Found::remark("ranking", severity, place, sentence, how).values(ahead.value, behind.value)
}
