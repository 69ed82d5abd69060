//! Ranks and superlatives against the numbers they are of.

mod groups;

use std::collections::BTreeSet;

use super::book::Book;
use super::column::{is_change, values};
use super::found::Found;
use super::grid::Grid;
use super::role::Role;
use super::stems::stems;
use super::tie::Tied;
use super::words::{list, tokens};
use crate::checks::ranking::{Better, inversions};
use crate::{Check, Printed, Severity};

/// Checks rank columns, and columns that name the best row of a group.
pub(crate) fn check(tables: &[Tied<'_, '_>], book: &mut Book) {
    for tied in tables {
        ranks(tied.grid, book);
    }
    groups::check(tables, book);
}

/// A column's numbers in the order of the rows; `None` where one is missing or in another unit.
fn column(grid: &Grid<'_>, column: usize) -> Option<Vec<Printed>> {
    let cells = grid.table.rows.iter().map(|row| row.cells.get(column)?.number.clone());
    let numbers: Vec<Printed> = cells.collect::<Option<_>>()?;
    let one_unit = numbers.windows(2).all(|pair| pair[0].unit == pair[1].unit);
    (one_unit && numbers.len() >= 2).then_some(numbers)
}

/// Ranks 1 to n against the column that the caption, or else the only measured one, says.
fn ranks(grid: &Grid<'_>, book: &mut Book) {
    let ranked = grid.columns().iter().position(|meaning| meaning.role == Role::Rank);
    let Some((rank, ranks)) = ranked.and_then(|rank| Some((rank, column(grid, rank)?))) else {
        return;
    };
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|a, b| ranks[*a].value.total_cmp(&ranks[*b].value));
    let whole =
        order.iter().enumerate().all(|(place, row)| ranks[*row].value == place as f64 + 1.0);
    if !whole || ranks.len() < 3 {
        return;
    }
    let Some(index) = ranked_by(grid) else {
        order.iter().for_each(|row| book.untied(grid.table.rows[*row].line, rank));
        return;
    };
    let Some(numbers) = column(grid, index) else { return };
    let ordered: Vec<Printed> = order.iter().map(|row| numbers[*row].clone()).collect();
    // Whatever is better, the numbers rise or fall throughout.
    let [up, down] = [Better::Higher, Better::Lower].map(|way| inversions(&ordered, way));
    let wrong = if up.len() <= down.len() { up } else { down };
    // Where a third of the places and more are turned round, they are ranked by something else.
    if 3 * wrong.len() > order.len() && !is_said(grid, index) {
        order.iter().for_each(|row| book.untied(grid.table.rows[*row].line, rank));
        return;
    }
    for (place, row) in order.iter().enumerate() {
        let reversed = wrong.iter().find(|inversion| inversion.behind == place);
        let found = reversed.map(|inversion| {
            let ahead = order[inversion.ahead];
            let sentence = format!(
                "rank {} has {} in `{}`, better than rank {} with {}",
                place + 1,
                numbers[*row].value,
                grid.table.columns[index],
                place,
                numbers[ahead].value
            );
            let how = "the numbers in the order of the ranks";
            let at = grid.spot(*row, rank);
            Found::remark(Check::RankOrder, Severity::Inconsistent, at, sentence, how)
                .values(numbers[*row].value, numbers[ahead].value)
        });
        book.cell(grid.table.rows[*row].line, rank, found);
    }
}

/// Whether the caption or the heading speaks of a column.
fn is_said(grid: &Grid<'_>, index: usize) -> bool {
    let metric = stems(&grid.columns()[index].metric);
    let last = grid.table.headings.last().map_or("", String::as_str);
    let mut spoken = stems(&grid.table.caption);
    spoken.extend(stems(last));
    metric.iter().any(|word| spoken.contains(word))
}

/// The column that the caption names behind "by", the only one that is measured, or the only one
/// that the title speaks of.
fn ranked_by(grid: &Grid<'_>) -> Option<usize> {
    let above = [grid.table.caption.as_str(), grid.table.headings.last().map_or("", |h| h)];
    let said = above.iter().find_map(|text| {
        let words = list(text);
        let by = words.iter().position(|word| word == "by")?;
        let ranked = by > 0 && ["ranked", "sorted", "ordered"].contains(&words[by - 1].as_str());
        Some((words[by + 1..].to_vec(), ranked))
    });
    let measured = values(grid);
    let lone = |named: &dyn Fn(usize) -> bool| {
        let mut columns = measured.iter().copied().filter(|index| named(*index));
        (columns.next(), columns.next().is_some())
    };
    if let Some((words, ranked)) = said {
        let (first, more) = lone(&|index| {
            tokens(&grid.table.columns[index]).iter().any(|word| words.contains(word))
                && !is_change(&grid.table.columns[index])
        });
        // "Throughput by configuration" says what the rows are, and no order.
        if first.is_some() || ranked {
            return first.filter(|_| !more);
        }
    }
    if let [one] = measured[..] {
        return Some(one);
    }
    // "Top 5 by name": of several, the one that the title speaks of.
    let spoken: BTreeSet<String> = above.iter().flat_map(|text| stems(text)).collect();
    let (first, more) = lone(&|index| {
        stems(&grid.columns()[index].metric).iter().any(|word| spoken.contains(word))
    });
    first.filter(|_| !more)
}
