//! Shares that make up a whole, and rates beside the counts that they are of.

use crate::automatic::lone;
use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::column::{is_change, number};
use super::found::Found;
use super::grid::Grid;
use super::stems::stems;
use super::tie::unit_of;
use super::words::says;
use crate::automatic::lexicon::{Words, class};
use crate::checks::{Mismatch, Span};
use crate::{Check, Printed, Severity};

/// Words that make percentages the parts of one whole.
const WHOLE: [&str; 5] = ["breakdown", "distribution", "composition", "share", "shares"];

/// Words of a percentage that counts give.
static RATES: Words = Words::new(|| class("parts.rates"));

/// Words of a column that counts all.
const ALL: [&str; 10] =
    ["total", "runs", "tests", "trials", "samples", "requests", "attempts", "all", "n", "configs"];

/// A sum of shares further from 100 is one of something else.
const REACH: f64 = 12.0;

/// Longer tables are listings.
const MOST_ROWS: usize = 60;

static FRACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(\d{1,7})\s?/\s?(\d{1,7})(?:$|\s|\()").ok());

/// Checks every table that people wrote.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.table.rows.len() <= MOST_ROWS && !grid.transposed {
        whole(grid, book);
        of_fractions(grid, book);
        of_counts(grid, book);
    }
}

/// A column of shares of one whole, which add up to 100 %.
fn whole(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let titled = says(&table.caption, &WHOLE[..3])
        || table.headings.last().is_some_and(|heading| says(heading, &WHOLE[..3]));
    let partial = says(&table.above(), &["top", "selected", "main", "other", "overlap", "some"]);
    let is_share = |column: &usize| {
        let header = &table.columns[*column];
        let named = says(header, &WHOLE) || header.to_lowercase().contains("% of total");
        let alone = titled && (says(header, &["percentage", "percent"]) || header == "%");
        (named || alone) && !is_change(&header.replace("% of total", "share"))
    };
    let Some(column) = lone((1..table.columns.len()).filter(is_share)) else { return };
    let names = table.row_names();
    let is_total = |row: &usize| says(&names[*row], &["total", "sum", "all", "overall"]);
    let percent = unit_of(table, column).as_deref() == Some("%");
    let total = (0..table.rows.len()).find(|row| is_total(row));
    let parts: Option<Vec<&Printed>> = (0..table.rows.len())
        .filter(|row| !is_total(row))
        .map(|row| number(grid, row, column))
        .collect();
    let Some(parts) = parts.filter(|parts| parts.len() >= 3 && percent && !partial) else { return };
    let is_all = |row: usize| number(grid, row, column).is_some_and(|n| n.value == 100.0);
    let of_all = total.is_none_or(is_all);
    let Some(sum) = parts.iter().map(|part| Span::of(part)).reduce(Span::plus) else { return };
    // Beside the only column of values each share is checked by itself.
    let numeric = |other: &usize| {
        *other != column
            && table.rows.iter().filter(|r| r.cells[*other].number.is_some()).count() > 1
    };
    if total.is_none() && (1..table.columns.len()).filter(numeric).count() == 1 {
        return;
    }
    // Below 100 a part may be left out, unless a row says that it is all.
    let near = (sum.middle() - 100.0).abs() <= REACH;
    let wrong = !sum.meets(Span::exact(100.0)) && (sum.low > 100.0 || total.is_some());
    if !of_all || !near {
        return;
    }
    let row = total.unwrap_or(table.rows.len() - 1);
    let found = wrong.then(|| {
        let shown: f64 = parts.iter().map(|part| part.value).sum();
        let text = format!("the {} parts of one whole add up to {shown:.1} %", parts.len());
        let how = "the sum of the column's shares";
        let place = grid.spot(row, column);
        Found::remark(Check::PartsOfWhole, Severity::Inconsistent, place, text, how)
            .values(100.0, shown)
    });
    book.cell(table.rows[row].line, column, found);
}

/// `Passed 20/30 | Rate 66.7 %`.
fn of_fractions(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let counts = |row: usize, column: usize| {
        let groups = FRACTION.as_ref()?.captures(&table.rows[row].cells[column].text)?;
        let (part, of): (f64, f64) = (groups[1].parse().ok()?, groups[2].parse().ok()?);
        (of >= 1.0 && part <= of).then_some((part, of))
    };
    let fractions = |column: &usize| {
        let with = (0..table.rows.len()).filter(|row| counts(*row, *column).is_some()).count();
        with >= 2 && 2 * with >= table.rows.len()
    };
    let Some(of) = lone((1..table.columns.len()).filter(fractions)) else { return };
    let Some(rate) = rate(grid) else { return };
    let expected = |row: usize| {
        let (part, of) = counts(row, of)?;
        Some((Span::exact(part), Span::exact(of)))
    };
    judge(grid, rate, &expected, book);
}

/// `Passed | Total | Rate`: whole numbers of which one is all.
fn of_counts(grid: &Grid<'_>, book: &mut Book) {
    let table = grid.table;
    let whole = |column: &usize| {
        let mut numbers = table.rows.iter().filter_map(|row| row.cells[*column].number.as_ref());
        numbers.all(|number| number.unit.is_none() && number.decimals == 0)
            && table.rows.iter().any(|row| row.cells[*column].number.is_some())
    };
    let counts: Vec<usize> = (1..table.columns.len()).filter(whole).collect();
    let [a, b] = counts[..] else { return };
    let is_all = |column: usize| says(&table.columns[column], &ALL);
    let is_total = |column: usize| says(&table.columns[column], &["total", "all"]);
    let (part, of) = match (is_all(a), is_all(b), is_total(a), is_total(b)) {
        (true, false, ..) | (true, true, true, false) => (b, a),
        (false, true, ..) | (true, true, false, true) => (a, b),
        _ => return,
    };
    // "Outlier %" beside "Outliers" is a rate by that word.
    let Some(rate) = rate(grid).or_else(|| percent_of(grid, part)) else { return };
    let expected = |row: usize| {
        let (part, of) = (number(grid, row, part)?, number(grid, row, of)?);
        (part.value <= of.value).then(|| (Span::exact(part.value), Span::exact(of.value)))
    };
    judge(grid, rate, &expected, book);
}

/// The only column of percentages, where its name is that of a rate.
fn rate(grid: &Grid<'_>) -> Option<usize> {
    let table = grid.table;
    let percent = |column: &usize| {
        unit_of(table, *column).as_deref() == Some("%") && !is_change(&table.columns[*column])
    };
    let named = |column: &usize| says(&table.columns[*column], &RATES);
    lone((1..table.columns.len()).filter(percent).filter(named))
}

/// The only column of percentages that is named by a word of a count.
fn percent_of(grid: &Grid<'_>, part: usize) -> Option<usize> {
    let table = grid.table;
    let words = stems(&table.columns[part]);
    let named = |column: &usize| {
        let shared = stems(&table.columns[*column]);
        unit_of(table, *column).as_deref() == Some("%")
            && shared.iter().any(|word| word.len() > 3 && words.contains(word))
    };
    lone((1..table.columns.len()).filter(named))
}

/// Reports the rows that do not follow where at least one other row does.
fn judge(
    grid: &Grid<'_>,
    rate: usize,
    expected: &dyn Fn(usize) -> Option<(Span, Span)>,
    book: &mut Book,
) {
    let judged: Vec<(usize, &Printed, Span)> = (0..grid.table.rows.len())
        .filter_map(|row| {
            let stated = number(grid, row, rate)?;
            let (part, of) = expected(row)?;
            Some((row, stated, part.over(of)?.times(100.0)))
        })
        .collect();
    // What did not happen is counted as often.
    let fits = |stated: &Printed, share: Span| {
        let rest = Span::exact(100.0).minus(share);
        Span::of(stated).meets(share) || Span::of(stated).meets(rest)
    };
    let fitting = judged.iter().filter(|(_, stated, share)| fits(stated, *share)).count();
    if fitting == 0 || 2 * fitting < judged.len() {
        return;
    }
    for (row, stated, share) in judged {
        let found = (!fits(stated, share)).then(|| {
            let wrong = Mismatch::of(
                stated,
                share,
                "100 · part / whole of the counts beside it".to_owned(),
            );
            let place = grid.spot(row, rate);
            Found::mismatch(Check::RateOfCounts, Severity::Inconsistent, place, stated, &wrong)
        });
        book.cell(grid.table.rows[row].line, rate, found);
    }
}
