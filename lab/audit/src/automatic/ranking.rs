//! Ranks and superlatives that their own numbers reverse.

use super::found::Found;
use super::grid::Grid;
use super::role::{Role, better};
use crate::checks::ranking::{Better, inversions, surpassed};
use crate::{Place, Printed, Severity};

/// Checks rank columns, `fastest` and `slowest`, and columns that name a winner.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = ranks(grid).into_iter().collect();
    found.extend(superlatives(grid));
    found.extend(winners(grid));
    found
}

/// A column's numbers in the order of the rows; `None` where one is missing or in another unit.
fn column(grid: &Grid<'_>, column: usize) -> Option<Vec<Printed>> {
    let cells = grid.table.rows.iter().map(|row| row.cells.get(column)?.number.clone());
    let numbers: Vec<Printed> = cells.collect::<Option<_>>()?;
    let one_unit = numbers.windows(2).all(|pair| pair[0].unit == pair[1].unit);
    (one_unit && numbers.len() >= 2).then_some(numbers)
}

/// Ranks 1 to n that are the order of no column.
fn ranks(grid: &Grid<'_>) -> Option<Found> {
    let (rank, _) = grid.columns().iter().enumerate().find(|(_, m)| m.role == Role::Rank)?;
    let ranks = column(grid, rank)?;
    let n = ranks.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| ranks[*a].value.total_cmp(&ranks[*b].value));
    let whole =
        order.iter().enumerate().all(|(place, row)| ranks[*row].value == place as f64 + 1.0);
    if !whole || n < 3 {
        return None;
    }
    let columns = (0..grid.table.columns.len()).filter(|index| *index != rank);
    let mut closest: Option<(usize, usize, usize)> = None;
    for index in columns {
        let Some(numbers) = column(grid, index) else { continue };
        let ordered: Vec<Printed> = order.iter().map(|row| numbers[*row].clone()).collect();
        let wrong = inversions(&ordered, Some(Better::Higher)).len();
        let wrong = wrong.min(inversions(&ordered, Some(Better::Lower)).len());
        if wrong == 0 {
            return None;
        }
        if closest.is_none_or(|(least, ..)| wrong < least) {
            let first = inversions(&ordered, None).first().map_or(0, |inversion| inversion.behind);
            closest = Some((wrong, index, order[first]));
        }
    }
    let (wrong, index, row) = closest.filter(|(wrong, ..)| *wrong <= n / 3)?;
    let sentence = format!(
        "the ranks are the order of no column; `{}` comes closest, with {wrong} neighbours \
         reversed",
        grid.table.columns[index]
    );
    let how = "ranks against the order of every numeric column";
    Some(Found::remark("rank_order", Severity::Doubtful, place(grid, row, rank), sentence, how))
}

/// `fastest` and `slowest` against the table's times.
fn superlatives(grid: &Grid<'_>) -> Vec<Found> {
    let times: Vec<usize> = (1..grid.table.columns.len())
        .filter(|index| {
            let unit = column(grid, *index).and_then(|numbers| numbers[0].unit.clone());
            let spread = matches!(
                grid.columns()[*index].role,
                Role::Sd | Role::StandardError | Role::Ratio | Role::Sum
            );
            unit.is_some_and(|unit| ["ns", "us", "ms", "s", "min"].contains(&unit.as_str()))
                && !spread
        })
        .collect();
    let mut found = Vec::new();
    for (word, direction) in [("fastest", Better::Lower), ("slowest", Better::Higher)] {
        let says = |text: &str| {
            let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
            // Said of this row alone, not compared with another.
            text.len() <= 40 && words.next().is_some_and(|first| first.eq_ignore_ascii_case(word))
        };
        let rows: Vec<usize> = (0..grid.table.rows.len())
            .filter(|row| grid.table.rows[*row].cells.iter().skip(1).any(|cell| says(&cell.text)))
            .collect();
        let [row] = rows[..] else { continue };
        let beaten = times.iter().map(|index| {
            column(grid, *index).and_then(|numbers| surpassed(&numbers, row, direction))
        });
        let beaten: Option<Vec<usize>> = beaten.collect();
        let Some(by) = beaten.as_ref().and_then(|beaten| beaten.first()) else { continue };
        let severity = if times.len() == 1 { Severity::Impossible } else { Severity::Doubtful };
        let names = grid.table.row_names();
        let sentence = format!(
            "{} is called {word}, but {} is by `{}`",
            names[row], names[*by], grid.table.columns[times[0]]
        );
        let how = "the word against every column of times";
        found.push(Found::remark(
            "superlative",
            severity,
            place(grid, row, times[0]),
            sentence,
            how,
        ));
    }
    found
}

/// A column that names the better of two columns.
fn winners(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    let is_winner = |name: &String| ["winner", "better", "faster"].contains(&&*name.to_lowercase());
    let Some(winner) = table.columns.iter().position(is_winner) else { return Vec::new() };
    let mut found = Vec::new();
    let names = table.row_names();
    for (index, row) in table.rows.iter().enumerate() {
        let says = |column: &usize| {
            let name = table.columns[*column].to_lowercase();
            let named = row.cells[winner].text.to_lowercase();
            !named.is_empty() && (name == named || name.starts_with(&format!("{named} (")))
        };
        let numeric = |column: &usize| {
            *column != winner
                && row.cells[*column].number.is_some()
                && grid.columns()[*column].role != Role::Ratio
        };
        let columns: Vec<usize> = (1..table.columns.len()).filter(numeric).collect();
        let [a, b] = columns[..] else { continue };
        let claimed = [a, b].iter().position(says);
        let (Some(claimed), true) = (claimed, says(&a) != says(&b)) else { continue };
        let numbers: Vec<Printed> =
            [a, b].iter().filter_map(|column| row.cells[*column].number.clone()).collect();
        let words = names[index].to_lowercase();
        let spread = ["cv", "deviation", "stddev", "variance", "consistency", "error"];
        let direction = if spread.iter().any(|word| words.contains(word)) {
            Some(Better::Lower)
        } else {
            better(&words, numbers[0].unit.as_deref())
        };
        let Some(direction) = direction else { continue };
        if surpassed(&numbers, claimed, direction).is_some() {
            let sentence = format!(
                "{} names {} the winner, with {} against {}",
                names[index],
                row.cells[winner].text,
                numbers[claimed].value,
                numbers[1 - claimed].value
            );
            let at = place(grid, index, winner);
            let how = "the better of the two numbers, by what the metric's name says is better";
            found.push(Found::remark("winner", Severity::Doubtful, at, sentence, how));
        }
    }
    found
}

fn place(grid: &Grid<'_>, row: usize, column: usize) -> Place {
    Place {
        document: grid.document.to_owned(),
        line: Some(grid.table.rows[row].line).filter(|line| *line > 0),
        section: grid.table.section(),
        row: Some(grid.table.row_names()[row].clone()),
        column: Some(grid.table.columns[column].clone()),
    }
}
