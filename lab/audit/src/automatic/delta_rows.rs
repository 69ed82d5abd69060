//! Rows called `Delta` or `Speed-up` below two rows of values, and rows called `A / B ratio`.

use super::book::Book;
use super::column::{is_change, is_setting, number};
use super::derived::{match_pair, readings};
use super::found::{Found, allowed};
use super::grid::Grid;
use super::sentence::shown;
use super::tie::aligned;
use super::words::tokens;
use crate::automatic::lexicon::{Words, class};
use crate::automatic::lone;
use crate::checks::Span;
use crate::{Check, Severity};

/// What such a row is called, but for brackets behind it.
static NAMES: Words = Words::new(|| class("delta_rows.names"));

/// Longer tables are listings.
const MOST_ROWS: usize = 60;

/// Checks every such row whose two rows stand right above it, with nothing else or another such row
/// above them.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    if table.rows.len() > MOST_ROWS || table.rows.len() < 3 {
        return;
    }
    let names = table.row_names();
    let is_delta = |row: usize| {
        let bare = names[row].split('(').next().unwrap_or_default().to_lowercase();
        NAMES.contains(&bare.trim_matches([':', ' ']))
    };
    for row in (2..table.rows.len()).filter(|row| is_delta(*row)) {
        let pair = !is_delta(row - 1) && !is_delta(row - 2);
        let first = row == 2 || is_delta(row - 3);
        // A row behind it must begin another group.
        let last = row + 1 == table.rows.len() || row + 3 < table.rows.len() && is_delta(row + 3);
        if pair && first && last {
            of_row(grid, row, (row - 2, row - 1), book);
        }
    }
    for row in 2..table.rows.len() {
        let place = |name: &str| {
            let same = |other: &usize| *other != row && tokens(&names[*other]) == tokens(name);
            lone((0..table.rows.len()).filter(same))
        };
        if let Some((a, b)) = sides(&names[row]).and_then(|(a, b)| Some((place(&a)?, place(&b)?))) {
            of_row(grid, row, (b, a), book);
        }
    }
}

/// `alder / birch ratio`, `alder vs birch speed-up`: the two rows that a row is of.
fn sides(name: &str) -> Option<(String, String)> {
    let lower = name.to_lowercase();
    let bare = lower.split('(').next()?.trim_end_matches([':', ' ']);
    let rest = NAMES.iter().find_map(|word| bare.strip_suffix(word))?;
    let marks = [" / ", " vs. ", " vs ", " over ", "/"];
    let (a, b) = marks.iter().find_map(|mark| rest.split_once(mark))?;
    Some((a.trim().to_owned(), b.trim().to_owned()))
}

/// Checks a row against two others, of which the first is the base.
fn of_row(grid: &Grid<'_>, row: usize, (base, new): (usize, usize), book: &mut Book) {
    let table = grid.table;
    let columns = (1..table.columns.len()).filter(|column| {
        let header = &table.columns[*column];
        !is_change(header) && !is_setting(header)
    });
    for column in columns {
        let cell = |row: usize| number(grid, row, column);
        let (Some(stated), Some(a), Some(b)) = (cell(row), cell(base), cell(new)) else {
            continue;
        };
        let Some(b) = aligned(b, a) else { continue };
        let name = table.row_name(row);
        let readings = readings(stated, a, name);
        let Some(wrong) = match_pair(stated, (Span::of(&b), Span::of(a)), &readings, name) else {
            book.cell(table.rows[row].line, column, None);
            continue;
        };
        let text = format!(
            "`{}` of {name} is {}; the two rows that it is of give {}",
            table.columns[column],
            shown(stated),
            allowed(stated, &wrong)
        );
        let place = grid.spot(row, column);
        let found = Found::mismatch(Check::Ratio, Severity::Inconsistent, place, stated, &wrong);
        book.cell(table.rows[row].line, column, Some(found.sentence(text)));
    }
}
