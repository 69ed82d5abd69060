//! Ranks and superlatives against the numbers they are of.

mod groups;
mod marked;

use std::collections::BTreeSet;

use super::book::Book;
use super::column::{is_change, values};
use super::found::Found;
use super::grid::Grid;
use super::role::{Role, better};
use super::stems::stems;
use super::tie::{Tied, meaning, metric_words};
use super::words::{list, says, tokens};
use crate::checks::ranking::{Better, inversions, surpassed};
use crate::{Check, Document, Place, Printed, Severity, Table};

/// Words that call a row the best or the worst, and which end of the numbers that is; `None` for
/// what depends on the metric.
const ENDS: [(&str, Option<Better>); 8] = [
    ("best", None),
    ("fastest", None),
    ("highest", Some(Better::Higher)),
    ("largest", Some(Better::Higher)),
    ("peak", Some(Better::Higher)),
    ("lowest", Some(Better::Lower)),
    ("smallest", Some(Better::Lower)),
    ("shortest", Some(Better::Lower)),
];

/// Checks rank columns, and list items that name the best row of a column.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    for tied in tables {
        ranks(tied.grid, book);
        winners(tied.grid, book);
        marked::check(tied, book);
    }
    groups::check(tables, book);
    for list in &document.lists {
        ranked_list(document, list, book);
        marked::of_list(document, list, book);
        let same = |tied: &&Tied<'_, '_>| {
            tied.table().line < list.line && tied.table().headings == list.headings
        };
        let Some(tied) = tables.iter().rev().find(same) else { continue };
        for item in &list.rows {
            let [name, value, ..] = &item.cells[..] else { continue };
            superlative(document, tied, item.line, &name.text, &value.text, book);
        }
    }
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
    let [up, down] = [Better::Higher, Better::Lower].map(|way| inversions(&ordered, Some(way)));
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

/// `Best median: plain GPU` and its like against the column and the rows of the table above.
fn superlative(
    document: &Document,
    tied: &Tied<'_, '_>,
    line: usize,
    name: &str,
    value: &str,
    book: &mut Book,
) {
    let words = list(name);
    let Some((word, end)) = ENDS.iter().find(|(word, _)| words.first().is_some_and(|w| w == word))
    else {
        return;
    };
    let rest = words[1..].join(" ");
    let subject = value.split(['(', ',', '←', '→', ';']).next().unwrap_or_default();
    let Some(row) = tied.row(subject).filter(|_| !rest.is_empty()) else { return };
    let wanted = meaning(&rest);
    let metric = metric_words(&wanted.metric);
    let grid = tied.grid;
    let named = |index: &usize| {
        let header = tokens(&grid.table.columns[*index]);
        let role = wanted.role == Role::Value || grid.columns()[*index].role == wanted.role;
        role && metric.is_subset(&header) && (!metric.is_empty() || wanted.role != Role::Value)
    };
    let mut columns = values(grid).into_iter().filter(named);
    let Some(index) = columns.next().filter(|_| columns.next().is_none()) else { return };
    let measured: Vec<(usize, Printed)> = (0..grid.table.rows.len())
        .filter_map(|row| Some((row, super::column::number(grid, row, index)?.clone())))
        .collect();
    let Some(claimed) = measured.iter().position(|(own, _)| *own == row) else { return };
    let numbers: Vec<Printed> = measured.iter().map(|(_, number)| number.clone()).collect();
    let direction =
        end.or_else(|| better(&grid.table.columns[index], numbers[claimed].unit.as_deref()));
    let Some(direction) = direction else { return };
    let found = surpassed(&numbers, claimed, direction).map(|by| {
        let sentence = format!(
            "{subject} is called {word}, with {} in `{}`; {} has {}",
            numbers[claimed].value,
            grid.table.columns[index],
            tied.name(measured[by].0),
            numbers[by].value
        );
        let place = Place {
            document: document.name.clone(),
            line: Some(line),
            section: grid.table.section(),
            ..Place::default()
        };
        let against = grid.spot(measured[by].0, index);
        let how = "the word against the column of its metric";
        Found::remark(Check::Superlative, Severity::Inconsistent, place, sentence, how)
            .against(against)
            .values(numbers[claimed].value, numbers[by].value)
    });
    book.stated(line, numbers[claimed].value, found);
}

/// A column that names the best of the other columns.
fn winners(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let is_winner = |name: &String| {
        ["winner", "better", "faster", "fastest", "best"].contains(&&*name.to_lowercase())
    };
    let Some(winner) = table.columns.iter().position(is_winner) else { return };
    let names = table.row_names();
    for (index, row) in table.rows.iter().enumerate() {
        let named = tokens(&row.cells[winner].text);
        let number = |column: usize| row.cells[column].number.as_ref();
        let sides: Vec<usize> = (1..table.columns.len())
            .filter(|column| *column != winner && number(*column).is_some())
            .filter(|column| !is_change(&table.columns[*column]))
            .collect();
        let one_unit = sides
            .windows(2)
            .all(|pair| number(pair[0]).map(|n| &n.unit) == number(pair[1]).map(|n| &n.unit));
        let says =
            |column: usize| !named.is_empty() && named.is_subset(&tokens(&table.columns[column]));
        let said: Vec<usize> = (0..sides.len()).filter(|side| says(sides[*side])).collect();
        let [claimed] = said[..] else { continue };
        if sides.len() < 2 || !one_unit {
            continue;
        }
        let numbers: Vec<Printed> = sides.iter().filter_map(|c| number(*c).cloned()).collect();
        let unit = numbers[0].unit.as_deref();
        let header = table.columns[winner].to_lowercase();
        let timed = unit.is_some_and(|unit| crate::printed::unit::factor(unit, "s").is_some());
        let fast = header.starts_with("fast") && timed;
        let way = direction(&names[index], unit).or(fast.then_some(Better::Lower));
        let Some(way) = way else { continue };
        let found = surpassed(&numbers, claimed, way).map(|by| {
            let sentence = format!(
                "{} names {} the winner, with {} against {} of `{}`",
                names[index],
                row.cells[winner].text,
                numbers[claimed].value,
                numbers[by].value,
                table.columns[sides[by]]
            );
            let how = "the best of the numbers, by what the metric's name says is better";
            let at = grid.spot(index, winner);
            Found::remark(Check::Winner, Severity::Inconsistent, at, sentence, how)
        });
        book.cell(row.line, winner, found);
    }
}

/// A list under the word "ranking" whose numbers rise or fall in its order.
fn ranked_list(document: &Document, list: &Table, book: &mut Book) {
    let title = [list.caption.as_str(), list.headings.last().map_or("", |heading| heading)];
    let ranked = ["ranking", "rankings", "ranked", "leaderboard"];
    let rows: Vec<&crate::TableRow> =
        list.rows.iter().filter(|row| !marked::is_out(&row.cells[1].text)).collect();
    let numbers: Option<Vec<Printed>> =
        rows.iter().map(|row| row.cells[1].number.clone()).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() >= 3) else { return };
    let one_unit = numbers.windows(2).all(|pair| pair[0].unit == pair[1].unit);
    if !title.iter().any(|title| says(title, &ranked)) || !one_unit || numbers[0].unit.is_none() {
        return;
    }
    let wrong = inversions(&numbers, None);
    for (place, row) in rows.into_iter().enumerate() {
        let reversed = wrong.iter().find(|inversion| inversion.behind == place);
        let found = reversed.map(|inversion| {
            let (ahead, behind) = (numbers[inversion.ahead].value, numbers[place].value);
            let sentence = format!("place {} has {behind}, place {place} {ahead}", place + 1);
            let at = Place {
                document: document.name.clone(),
                line: Some(row.line),
                section: list.section(),
                ..Place::default()
            };
            let how = "the numbers in the order of the list";
            Found::remark(Check::RankOrder, Severity::Inconsistent, at, sentence, how)
                .values(behind, ahead)
        });
        book.stated(row.line, numbers[place].value, found);
    }
}

fn direction(name: &str, unit: Option<&str>) -> Option<Better> {
    let spread = ["cv", "deviation", "stddev", "std", "variance", "consistency", "error"];
    if says(name, &spread) { Some(Better::Lower) } else { better(name, unit) }
}
