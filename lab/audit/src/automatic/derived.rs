//! Columns of changes and ratios against the columns and rows that their names say they are of.
//!
//! Which those are is read from names alone, never from what fits. Where names leave it open, the
//! column is untied; where they do not, every cell is checked, however many disagree.

use crate::automatic::lone;
use std::collections::BTreeSet;

use super::book::Book;
use super::column::{is_change, is_setting, number, qualifier, values};
use super::found::{Found, allowed};
use super::grid::{Grid, in_unit};
use super::role::Role;
use super::stems::{is_rate, stem, stems};
use super::words::{says, tokens};
use crate::checks::ratios::{Reading, wrong_ratio};
use crate::checks::{Mismatch, Span};
use crate::{Check, Printed, Severity, Table};

use Reading::{
    Difference, DifferenceReversed, PercentChange, PercentOfMean, PercentOfOther, PercentReversed,
    PercentReversedOfOther, Ratio, RatioInPercent, RatioReversed, RatioReversedInPercent,
};

/// More columns or rows than this are no table that people wrote.
const MOST_COLUMNS: usize = 24;
const MOST_ROWS: usize = 400;

/// Where the two values of a row come from.
enum Source {
    /// Two columns.
    Columns(usize, usize),
    /// One column, against any of these rows.
    Rows { column: usize, bases: Vec<usize> },
    /// One column, against the base of each row's group: the next above or below, or the one with
    /// the same labels and settings.
    Groups { column: usize, bases: Vec<usize> },
}

/// What a cell's values say of it.
struct Judged {
    row: usize,
    wrong: Option<Mismatch>,
}

/// Checks every column whose header says that it is a change or ratio.
pub(crate) fn check(grid: &Grid<'_>, lists: &[Table], book: &mut Book) {
    let table = grid.table;
    if table.columns.len() > MOST_COLUMNS || table.rows.len() > MOST_ROWS {
        return;
    }
    let values = values(grid);
    let is_target = |column: &usize| is_change(&table.columns[*column]) || is_factor(grid, *column);
    for column in (1..table.columns.len()).filter(is_target) {
        let values: Vec<usize> = values.iter().copied().filter(|own| *own != column).collect();
        let rows = (0..table.rows.len()).filter(|row| number(grid, *row, column).is_some());
        let rows: Vec<usize> = rows.collect();
        match source(grid, column, &values) {
            Some(source) => judge(grid, column, &source, &rows, book),
            None if values.is_empty() && from_lists(grid, column, lists, book) => {}
            None => rows.iter().for_each(|row| book.untied(table.rows[*row].line, column)),
        }
    }
}

/// Whether a column says of every row how many times another one it is: factors, of which one row
/// has 1. An interval beside that 1 says that it was measured: of itself a row is 1 by definition.
fn is_factor(grid: &Grid<'_>, column: usize) -> bool {
    let rows = 0..grid.table.rows.len();
    let numbers: Vec<&Printed> = rows.clone().filter_map(|row| number(grid, row, column)).collect();
    let factors = numbers.iter().all(|number| number.unit.as_deref() == Some("x"));
    let is_one = |row: &usize| {
        let alone = grid.table.rows[*row].cells[column].numbers.len() == 1;
        alone && number(grid, *row, column).is_some_and(|number| number.value == 1.0)
    };
    let ones = rows.filter(is_one).count();
    factors && numbers.len() >= 3 && ones == 1 && numbers.len() == grid.table.rows.len()
}

/// A table `relative to X` without values of its own, against the list of its section that has
/// them. Whether there is one.
fn from_lists(grid: &Grid<'_>, column: usize, lists: &[Table], book: &mut Book) -> bool {
    let table = grid.table;
    let caption = table.caption.replace("(baseline)", "");
    let Some((_, base)) = caption.trim_end_matches([':', ' ']).split_once(" vs ") else {
        return false;
    };
    let value = |list: &Table, name: &str| {
        let wanted = tokens(name);
        let row = list.rows.iter().find(|row| tokens(&row.cells[0].text) == wanted)?;
        row.cells[1].numbers.first().cloned()
    };
    let near = lists.iter().filter(|list| list.headings == table.headings);
    let Some(list) = lone(near.filter(|list| value(list, base).is_some())) else { return false };
    let Some(of) = value(list, base) else { return false };
    for (row, name) in table.row_names().iter().enumerate() {
        let (Some(stated), Some(new)) = (number(grid, row, column), value(list, name)) else {
            continue;
        };
        if new.unit != of.unit {
            continue;
        }
        let readings = readings(stated, &new, &table.columns[column]);
        let mismatch = match_pair(stated, (Span::of(&new), Span::of(&of)), &readings, "");
        let wrong = mismatch
            .and_then(|mismatch| found(grid, (row, column), &mismatch, Severity::Inconsistent));
        book.cell(table.rows[row].line, column, wrong);
    }
    true
}

/// What a column is of, where its name and its neighbours' leave one answer.
fn source(grid: &Grid<'_>, column: usize, values: &[usize]) -> Option<Source> {
    let header = &grid.table.columns[column];
    let words = |other: &usize| stems(&grid.table.columns[*other]);
    let qualifier: BTreeSet<String> = qualifier(header).iter().map(|word| stem(word)).collect();
    let pair = |of: &[usize]| match of {
        [a, b] if one_unit(grid, *a, *b) => Some(Source::Columns(*a, *b)),
        _ => None,
    };
    // "A vs B": two columns, or one column against the row B.
    let named: Vec<usize> = values
        .iter()
        .copied()
        .filter(|other| {
            let own = super::column::qualifier(&grid.table.columns[*other]);
            !own.is_empty() && own.iter().all(|word| qualifier.contains(&stem(word)))
        })
        .collect();
    if let Some(source) = pair(&named) {
        return Some(source);
    }
    let sharing: Vec<usize> = values
        .iter()
        .copied()
        .filter(|other| !qualifier.is_empty() && qualifier.is_subset(&words(other)))
        .collect();
    if let Some(source) = pair(&sharing) {
        return Some(source);
    }
    // Counts beside two times are not what changes.
    let united: Vec<usize> = values
        .iter()
        .copied()
        .filter(|column| super::tie::unit_of(grid.table, *column).is_some())
        .collect();
    for of in [values, &united] {
        if qualifier.is_empty()
            && !statistics(grid, of)
            && comparable(grid, of)
            && let Some(source) = pair(of)
        {
            return Some(source);
        }
    }
    if let Some(source) = quotient(grid, header, values) {
        return Some(source);
    }
    let differs = says(header, &["diff", "difference", "delta", "δ", "gap", "divergence"]);
    if let Some(source) = siblings(grid, values).filter(|_| differs) {
        return Some(source);
    }
    let sharing = if sharing.is_empty() { named } else { sharing };
    of_rows(grid, column, values, &sharing)
}

/// `R/W Ratio` beside `Read` and `Write`: two columns that begin like the sides of a quotient.
fn quotient(grid: &Grid<'_>, header: &str, values: &[usize]) -> Option<Source> {
    let side = header.split_whitespace().find(|word| word.contains('/'))?.to_lowercase();
    let (over, under) = side.split_once('/')?;
    let of = |start: &str| {
        let begins = |column: &&usize| {
            !start.is_empty() && grid.table.columns[**column].to_lowercase().starts_with(start)
        };
        lone(values.iter().filter(begins)).copied()
    };
    let (a, b) = (of(over)?, of(under)?);
    (a != b && one_unit(grid, a, b)).then_some(Source::Columns(a, b))
}

/// `Time A | Time B | Cohen's d`: of several columns the only two that differ in one word each.
fn siblings(grid: &Grid<'_>, values: &[usize]) -> Option<Source> {
    let words = |column: usize| tokens(&grid.table.columns[column]);
    let alike = |a: usize, b: usize| {
        let (a, b) = (words(a), words(b));
        let named = |word: &String| word.chars().all(char::is_alphabetic);
        let (own, other): (Vec<&String>, Vec<&String>) =
            (a.difference(&b).collect(), b.difference(&a).collect());
        let single = own.len() == 1 && other.len() == 1 && a.len() >= 2;
        single && named(own[0]) && named(other[0])
    };
    let mut pairs = Vec::new();
    for (index, a) in values.iter().enumerate() {
        for b in values[index + 1..].iter().filter(|b| alike(*a, **b)) {
            pairs.push((*a, *b));
        }
    }
    match pairs[..] {
        [(a, b)] if one_unit(grid, a, b) && !statistics(grid, &[a, b]) => {
            Some(Source::Columns(a, b))
        }
        _ => None,
    }
}

/// Whether two columns measure one thing: in one unit, by a word that they share, as two states
/// of it, or in a table of metrics.
fn comparable(grid: &Grid<'_>, values: &[usize]) -> bool {
    let [a, b] = values[..] else { return false };
    let table = grid.table;
    let states = ["before", "after", "old", "new", "baseline", "base", "current", "previous"];
    let words = |column: usize| tokens(&table.columns[column]);
    let units = [a, b].map(|column| super::tie::unit_of(table, column));
    let metrics = ["metric", "metrics", "measure", "statistic", "indicator"];
    units[0].is_some() && units[0] == units[1]
        || words(a).intersection(&words(b)).next().is_some()
        || [a, b].iter().any(|column| words(*column).iter().any(|w| states.contains(&w.as_str())))
        || table.columns.first().is_some_and(|first| says(first, &metrics))
}

/// One column of values against the rows that are the base.
fn of_rows(grid: &Grid<'_>, column: usize, values: &[usize], sharing: &[usize]) -> Option<Source> {
    let table = grid.table;
    let mean = |of: &[usize]| {
        let means: Vec<usize> =
            of.iter().copied().filter(|c| grid.columns()[*c].role == Role::Mean).collect();
        let located = |c: &usize| match grid.columns()[*c].role {
            Role::Percentile(p) => (p - 0.5).abs() < 1e-9,
            Role::Sd | Role::StandardError | Role::Cv | Role::Min | Role::Max => false,
            _ => !says(&table.columns[*c], &["error"]),
        };
        let of: Vec<usize> = of.iter().copied().filter(located).collect();
        // Speed is what a factor is of, where nothing else is said.
        let speed = |c: &usize| super::tie::unit_of(table, *c).is_some_and(|unit| is_speed(&unit));
        let speeds: Vec<usize> = of.iter().copied().filter(speed).collect();
        match (&of[..], &means[..], &speeds[..]) {
            ([one], ..) | (_, [one], _) | (_, [], [one]) => Some(*one),
            _ => None,
        }
    };
    let value = mean(sharing).or_else(|| mean(values))?;
    let header = tokens(&table.columns[column]);
    let names = table.row_names();
    let named: Vec<usize> = (0..table.rows.len())
        .filter(|row| {
            let name = tokens(&names[*row]);
            !name.is_empty() && name.is_subset(&header)
        })
        .collect();
    if let [_] = named[..] {
        return Some(Source::Rows { column: value, bases: named });
    }
    let bases: Vec<usize> =
        (0..table.rows.len()).filter(|row| neutral(grid, *row, column)).collect();
    if bases.len() == 1 && labels(grid) == 1 {
        return Some(Source::Rows { column: value, bases });
    }
    // One group each; where most rows call themselves the base, they are no groups.
    let grouped = !bases.is_empty() && 2 * bases.len() <= table.rows.len();
    grouped.then_some(Source::Groups { column: value, bases })
}

/// The bases that a row can be of.
fn group_bases(grid: &Grid<'_>, row: usize, value: usize, bases: &[usize]) -> Vec<usize> {
    let table = grid.table;
    let named = |column: &usize| {
        *column != value
            && !is_change(&table.columns[*column])
            && (is_setting(&table.columns[*column])
                || table.rows[row].cells[*column].number.is_none())
    };
    let alike = |base: usize| {
        let same = |column: &usize| {
            table.rows[base].cells[*column].text == table.rows[row].cells[*column].text
        };
        (0..table.columns.len()).filter(named).filter(same).count()
    };
    let most = bases.iter().map(|base| alike(*base)).max().unwrap_or(0);
    let above = bases.iter().copied().filter(|base| *base <= row).max();
    let below = bases.iter().copied().filter(|base| *base >= row).min();
    let same = bases.iter().copied().filter(|base| most > 0 && alike(*base) == most);
    same.chain(above).chain(below).collect()
}

fn is_speed(unit: &str) -> bool {
    crate::printed::unit::factor(unit, "s").is_some() || is_rate(unit)
}

/// How many columns of texts name a row.
fn labels(grid: &Grid<'_>) -> usize {
    grid.records.first().map_or(1, |record| record.labels.len())
}

/// Whether some values are different statistics of one sample, which have no ratio of interest.
fn statistics(grid: &Grid<'_>, values: &[usize]) -> bool {
    let roles: Vec<Role> = values.iter().map(|column| grid.columns()[*column].role).collect();
    roles.iter().any(|role| role.is_statistic()) && roles.windows(2).any(|pair| pair[0] != pair[1])
}

/// Whether what a row says of itself is nothing or one.
fn neutral(grid: &Grid<'_>, row: usize, column: usize) -> bool {
    let cell = &grid.table.rows[row].cells[column];
    let text = cell.text.to_lowercase();
    let spoken = ["baseline", "reference", "base", "ref"].iter().any(|word| text.contains(word));
    // A column that leaves one cell empty leaves it to the base.
    let empty = |row: &usize| grid.table.rows[*row].cells[column].text.is_empty();
    let blank = (0..grid.table.rows.len()).filter(empty).count() == 1 && empty(&row);
    let alone = cell.number.as_ref().is_some_and(|number| {
        let percent = number.unit.as_deref() == Some("%");
        number.value == 0.0 || number.value == 1.0 && !percent || number.value == 100.0 && percent
    });
    alone || blank || spoken && cell.number.is_none()
}

fn one_unit(grid: &Grid<'_>, a: usize, b: usize) -> bool {
    (0..grid.table.rows.len()).all(|row| match (number(grid, row, a), number(grid, row, b)) {
        (Some(a), Some(b)) => match (&a.unit, &b.unit) {
            (Some(x), Some(_)) => in_unit(b, x).is_some(),
            (None, None) => true,
            _ => false,
        },
        _ => true,
    })
}

/// The readings that a cell's unit allows.
pub(super) fn readings(stated: &Printed, of: &Printed, header: &str) -> Vec<Reading> {
    let points = matches!(of.unit.as_deref(), Some("%" | "pp"));
    let changes = [
        PercentChange,
        PercentOfOther,
        PercentReversed,
        PercentReversedOfOther,
        PercentOfMean,
        RatioInPercent,
        RatioReversedInPercent,
    ];
    let differences = [Difference, DifferenceReversed];
    let ratios = [Ratio, RatioReversed];
    match stated.unit.as_deref() {
        Some("%") if points => [&changes[..], &differences].concat(),
        Some("%") => changes.to_vec(),
        Some("pp") => differences.to_vec(),
        Some("x") => ratios.to_vec(),
        None if header.contains('%') => changes.to_vec(),
        None => [&ratios[..], &differences, &changes].concat(),
        Some(_) => differences.to_vec(),
    }
}

fn judge(grid: &Grid<'_>, column: usize, source: &Source, rows: &[usize], book: &mut Book) {
    let judged: Vec<Judged> =
        rows.iter().filter_map(|row| judge_row(grid, column, source, *row)).collect();
    let fits = judged.iter().filter(|one| one.wrong.is_none()).count();
    let table = grid.table;
    // A bare `Ratio` beside speeds is as often of sizes that the table does not have.
    let words = tokens(&table.columns[column]);
    let of_sizes = |word: &String| ["ratio", "compression", "comp"].contains(&word.as_str());
    if words.iter().all(of_sizes) && 2 * fits < judged.len() {
        judged.iter().for_each(|one| book.untied(table.rows[one.row].line, column));
        return;
    }
    // A name alone is the plain reading; a name that most rows bear out leaves no other.
    let grouped = matches!(source, Source::Groups { .. });
    let sure = !grouped && fits >= 2 && 3 * (judged.len() - fits) <= fits;
    for Judged { row, wrong } in judged {
        let line = table.rows[row].line;
        let severity = if sure { Severity::Impossible } else { Severity::Inconsistent };
        let found = wrong.and_then(|wrong| found(grid, (row, column), &wrong, severity));
        book.cell(line, column, found);
    }
}

fn judge_row(grid: &Grid<'_>, target: usize, source: &Source, row: usize) -> Option<Judged> {
    let stated = number(grid, row, target)?;
    let header = &grid.table.columns[target];
    let pairs: Vec<(&Printed, Printed)> = match source {
        Source::Columns(a, b) => {
            let (a, b) = (number(grid, row, *a)?, number(grid, row, *b)?);
            vec![(a, aligned(a, b)?)]
        }
        Source::Rows { column, bases, .. } => {
            let new = number(grid, row, *column)?;
            let base = |base: &usize| Some((new, aligned(new, number(grid, *base, *column)?)?));
            // Below an empty cell, releases are often compared with the one before.
            let first = &grid.table.rows[0].cells[target];
            let above = row.checked_sub(1).filter(|above| first.text.is_empty() && *above > 0);
            bases.iter().chain(&above).filter(|base| **base != row).filter_map(base).collect()
        }
        Source::Groups { column, bases } => {
            let new = number(grid, row, *column)?;
            let bases = group_bases(grid, row, *column, bases);
            let base = |base: &usize| Some((new, aligned(new, number(grid, *base, *column)?)?));
            // A base is what it is of itself.
            let own = bases.contains(&row);
            bases.iter().filter(|_| !own).filter_map(base).collect()
        }
    };
    let tolerance = mean_of_ratios(grid, row, stated)?;
    let mut closest: Option<Mismatch> = None;
    for (new, base) in &pairs {
        let readings = readings(stated, new, header);
        let spans = (widened(new, tolerance), widened(base, tolerance));
        match match_pair(stated, spans, &readings, header) {
            None => return Some(Judged { row, wrong: None }),
            Some(mismatch) => closest = closest.or(Some(mismatch)),
        }
    }
    closest.map(|mismatch| Judged { row, wrong: Some(mismatch) })
}

/// `None` where a reading of the two values gives what is stated, in either direction.
pub(super) fn match_pair(
    stated: &Printed,
    (new, base): (Span, Span),
    readings: &[Reading],
    header: &str,
) -> Option<Mismatch> {
    let size = Printed { value: stated.value.abs(), ..stated.clone() };
    // "3x faster" is four times as fast to some.
    let more = says(header, &["faster", "slower", "higher", "lower"]);
    for one in [stated, &size] {
        let own = Span::of(one);
        let fits = |reading: &Reading| {
            reading.of(new, base).is_none_or(|value| {
                let ratio = matches!(reading, Ratio | RatioReversed);
                own.meets(value) || more && ratio && own.meets(value.minus(Span::exact(1.0)))
            })
        };
        if readings.iter().any(fits) {
            return None;
        }
    }
    wrong_ratio(stated, new, base, readings)
}

fn aligned(to: &Printed, number: &Printed) -> Option<Printed> {
    match &to.unit {
        Some(unit) if number.unit.is_some() => in_unit(number, unit),
        _ => Some(number.clone()),
    }
}

/// How far a mean of ratios may lie from the ratio of the means: the row's relative deviation,
/// where the table prints one (BenchmarkDotNet's `Ratio`).
fn spread(grid: &Grid<'_>, row: usize) -> f64 {
    let of = |role: Role| {
        let column = grid.columns().iter().position(|meaning| meaning.role == role)?;
        Some(number(grid, row, column)?.value)
    };
    match (of(Role::Sd), of(Role::Mean)) {
        (Some(sd), Some(mean)) if mean != 0.0 => (2.0 * sd / mean).abs().min(0.5),
        _ => 0.0,
    }
}

/// How far a mean of ratios may lie from the ratio of the means. BenchmarkDotNet's `Ratio` is one:
/// the two differ by the covariance of ratio and base over the base, which is at most the product
/// of their deviations; what `RatioSD` says is far more. `None` where that is so wide that they
/// have little to do with each other. Of other columns, the square of the relative deviation.
fn mean_of_ratios(grid: &Grid<'_>, row: usize, stated: &Printed) -> Option<f64> {
    let named = |name: &String| name.eq_ignore_ascii_case("RatioSD");
    let Some(column) = grid.table.columns.iter().position(named) else {
        // Without that column it has no spread worth printing, and still is a mean.
        let means = grid.columns().iter().any(|meaning| meaning.role == Role::Mean);
        let ratio = grid.table.columns.iter().any(|name| name == "Ratio");
        let wide = spread(grid, row);
        return Some(if means && ratio { wide.max(0.01) } else { wide * wide });
    };
    let sd = number(grid, row, column).map_or(0.0, |sd| sd.value);
    let share = sd / stated.value.abs().max(1e-9);
    (share <= 0.1).then_some(0.005 + 0.75 * share)
}

fn widened(number: &Printed, share: f64) -> Span {
    let span = Span::of(number);
    let more = share * number.value.abs();
    Span { low: span.low - more, high: span.high + more }
}

fn found(
    grid: &Grid<'_>,
    (row, column): (usize, usize),
    mismatch: &Mismatch,
    severity: Severity,
) -> Option<Found> {
    let table = grid.table;
    let stated = number(grid, row, column)?;
    let name = table.row_name(row);
    let place = grid.spot(row, column);
    let formula = mismatch.how.split(" with ").next().unwrap_or_default();
    let sentence = format!(
        "`{}` of {name} is {}; {formula} gives {}",
        table.columns[column],
        super::sentence::shown(stated),
        allowed(stated, mismatch),
    );
    Some(Found::mismatch(Check::Ratio, severity, place, stated, mismatch).sentence(sentence))
}
